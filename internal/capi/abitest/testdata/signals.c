/* A program's own signal handlers, and children: what the library leaves alone. */
#define _GNU_SOURCE
#include <mpi.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <sys/wait.h>
#include <unistd.h>

static sigjmp_buf back;
static volatile sig_atomic_t faults, alarms, quits;

static void on_fault(int signal)
{
	(void)signal;
	faults++;
	siglongjmp(back, 1);
}

/* It was set without SA_ONSTACK, so it runs on a stack of the library in most cases, where
 * there is room for what it has. */
static void on_alarm(int signal)
{
	volatile char frame[48 << 10];
	for (size_t i = 0; i < sizeof frame; i++)
		frame[i] = 0x5a;
	(void)signal;
	alarms++;
}

static void on_quit(int signal)
{
	(void)signal;
	quits++;
}

/* Set before MPI_Init or after it, a handler is the program's. */
static void handle(int signal, void (*handler)(int), int flags)
{
	struct sigaction action;
	memset(&action, 0, sizeof action);
	action.sa_handler = handler;
	action.sa_flags = flags;
	sigaction(signal, &action, NULL);
}

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

/* SIGALRM comes to this thread every 200 us: one that is the process's may come to a thread
 * of the library, which has less room for a handler without SA_ONSTACK. */
static timer_t start_alarms(void)
{
	struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGALRM};
	struct itimerspec often = {{0, 200000}, {0, 200000}};
	timer_t timer;
	event.sigev_notify_thread_id = (pid_t)syscall(SYS_gettid);
	if (timer_create(CLOCK_MONOTONIC, &event, &timer) || timer_settime(timer, 0, &often, NULL))
		abort();
	return timer;
}

/* least returns the least of what the ranks have. */
static int least(int mine)
{
	int all = -1;
	MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
	return all;
}

/* The handler leaves by a jump. */
static void fault(void)
{
	if (sigsetjmp(back, 1) == 0)
		*(volatile int *)8 = 1;
}

static int child(void)
{
	int status;
	pid_t pid = fork();
	if (pid == 0) {
		execl("/bin/sh", "sh", "-c", "exit 7", (char *)NULL);
		_exit(1);
	}
	return pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 7;
}

/* wrong says what is not as it should be. */
static int wrong(const char *what)
{
	fprintf(stderr, "signals: %s\n", what);
	return 1;
}

int main(int argc, char **argv)
{
	timer_t timer;
	int failed = 0, before = argc > 1;
	if (before)
		handle(SIGSEGV, on_fault, SA_ONSTACK);
	handle(SIGALRM, on_alarm, SA_RESTART);
	handle(SIGQUIT, on_quit, SA_RESTART);
	MPI_Init(&argc, &argv);
	if (!before)
		handle(SIGSEGV, on_fault, 0);
	for (int i = 1; i <= 100 && !failed; i++) {
		fault();
		if (least(i) != i || faults != i)
			failed += wrong("faults go astray");
	}
	raise(SIGQUIT);
	if (quits != 1)
		failed += wrong("SIGQUIT is not the program's");
	timer = start_alarms();
	while (least(alarms) < 200)
		;
	timer_delete(timer);
	if (!child() || system("exit 0") != 0)
		failed += wrong("a child that calls exec does not come back");
	if (least(7) != 7)
		failed += wrong("the library does not go on");
	MPI_Finalize();
	return failed;
}

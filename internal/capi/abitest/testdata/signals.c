/* A program's own signal handlers, and children: what the library leaves alone. */
#define _GNU_SOURCE
#include <mpi.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
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

/* SIGALRM comes to the process every so many us; 0 ends that. */
static void alarms_every(long us)
{
	struct itimerval often = {{0, us}, {0, us}};
	setitimer(ITIMER_REAL, &often, NULL);
}

/* What all threads of the program block is there to be waited for. */
static int waited(void)
{
	struct timespec long_enough = {60, 0};
	sigset_t set;
	int got = 1;
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, NULL);
	for (int i = 0; i < 100 && got; i++)
		got = kill(getpid(), SIGUSR1) == 0 && sigtimedwait(&set, NULL, &long_enough) == SIGUSR1;
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	return got;
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
	if (!waited())
		failed += wrong("a signal that is blocked goes elsewhere");
	alarms_every(200);
	while (least(alarms) < 200)
		;
	alarms_every(0);
	if (!child() || system("exit 0") != 0)
		failed += wrong("a child that calls exec does not come back");
	if (least(7) != 7)
		failed += wrong("the library does not go on");
	MPI_Finalize();
	return failed;
}

/* Signals stay with the program's threads. One to the whole process comes to any thread that
 * does not block it: one of Go's runtime would have a few KB of stack for the program's
 * handler, and would take what the program waits for with sigwait.
 *
 * The runtime's threads inherit the mask of the thread that loads the library. So that mask
 * is full while the runtime starts, between the two constructors: the linker puts those with
 * a priority before the runtime's, which has none, and Go's object file comes first of those
 * without (testdata/signals.c finds out). */
#include <signal.h>

#include "weft.h"

static sigset_t program;

/* The runtime needs SIGURG, and unblocks SIGCHLD, SIGPROF, SIGRTMIN and faults whatever the
 * mask. */
__attribute__((constructor(101))) static void hold_signals(void)
{
	sigset_t all;
	sigfillset(&all);
	sigdelset(&all, SIGURG);
	pthread_sigmask(SIG_SETMASK, &all, &program);
}

__attribute__((constructor)) static void let_signals(void)
{
	pthread_sigmask(SIG_SETMASK, &program, NULL);
}

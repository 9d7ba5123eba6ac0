/* The floor of a ping-pong over TCP: two processes, each bound to a core of its
 * own, spin on a socket without waiting. Prints what latency prints.
 *
 *   socket_latency [-m MIN:MAX] [-i ITERATIONS] [-x WARM-UP]   over loopback
 *   socket_latency -l ADDRESS:PORT ...                         the one that listens
 *   socket_latency -c ADDRESS:PORT ...                         the one that connects
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e6 + t.tv_nsec * 1e-3;
}

static void all(int fd, char *b, size_t n, int out)
{
	while (n > 0) {
		ssize_t k = out ? send(fd, b, n, MSG_DONTWAIT | MSG_NOSIGNAL) : recv(fd, b, n, MSG_DONTWAIT);
		if (k > 0) {
			b += k;
			n -= k;
		} else if (k == 0 || errno != EAGAIN) {
			die("the other process has gone");
		}
	}
}

static void bind_to(int nth)
{
	cpu_set_t have, one;
	sched_getaffinity(0, sizeof have, &have);
	for (int c = 0; c < CPU_SETSIZE; c++)
		if (CPU_ISSET(c, &have) && nth-- == 0) {
			CPU_ZERO(&one);
			CPU_SET(c, &one);
			sched_setaffinity(0, sizeof one, &one);
		}
}

static void ping_pong(int fd, int first, size_t min, size_t max, int iterations, int warm_up)
{
	char *b = calloc(1, max);
	int yes = 1;
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
	if (first)
		printf("# Datatype: MPI_CHAR.\n# Size       Avg Latency(us)\n");
	for (size_t n = min; n <= max; n *= 2) {
		int rounds = n > 8192 ? iterations / 10 : iterations;
		double start = 0;
		for (int i = -warm_up; i < rounds; i++) {
			if (i == 0)
				start = now();
			all(fd, b, n, first);
			all(fd, b, n, !first);
		}
		if (first)
			printf("%-10zu%18.4f\n", n, (now() - start) / rounds / 2);
	}
	free(b);
}

static struct sockaddr_in address(char *s)
{
	struct sockaddr_in a = {.sin_family = AF_INET};
	char *colon = strchr(s, ':');
	if (!colon)
		die("ADDRESS:PORT");
	*colon = 0;
	a.sin_port = htons(atoi(colon + 1));
	if (inet_pton(AF_INET, s, &a.sin_addr) != 1)
		die(s);
	return a;
}

int main(int argc, char **argv)
{
	size_t min = 1, max = 4 << 20;
	int iterations = 10000, warm_up = 100, opt;
	char *listens = NULL, *connects = NULL;
	while ((opt = getopt(argc, argv, "m:i:x:l:c:")) != -1)
		switch (opt) {
		case 'm':
			if (sscanf(optarg, "%zu:%zu", &min, &max) != 2 || min < 1)
				die("-m MIN:MAX");
			break;
		case 'i': iterations = atoi(optarg); break;
		case 'x': warm_up = atoi(optarg); break;
		case 'l': listens = optarg; break;
		case 'c': connects = optarg; break;
		default: return 2;
		}
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof a;
	if (listens || connects)
		a = address(listens ? listens : connects);
	int fd = socket(AF_INET, SOCK_STREAM, 0), yes = 1;
	if (!connects) {
		int l = fd;
		setsockopt(l, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
		if (bind(l, (struct sockaddr *)&a, len) || listen(l, 1) || getsockname(l, (struct sockaddr *)&a, &len))
			die("listen");
		if (!listens && fork() == 0) {
			close(l);
			fd = socket(AF_INET, SOCK_STREAM, 0);
			connects = "";
		} else {
			fd = accept(l, NULL, NULL);
			if (fd < 0)
				die("accept");
		}
	}
	if (connects && connect(fd, (struct sockaddr *)&a, len))
		die("connect");
	int alone = listens != NULL || (connects && *connects);
	bind_to(alone ? 0 : connects != NULL);
	ping_pong(fd, !connects, min, max, iterations, warm_up);
	close(fd);
	if (!alone && !connects)
		wait(NULL);
	return 0;
}

/* The one-sided benchmarks of OSU: the time of an operation on a window with its
 * synchronization, or the bandwidth of a window of operations. The Makefile builds it
 * once for each name, which is BENCH. README.md says where it leaves OSU. */
#include "ddt.h"

#define BENCH_put_latency 1
#define BENCH_get_latency 2
#define BENCH_put_bw 3
#define BENCH_get_bw 4
#define BENCH_put_bibw 5
#define BENCH_acc_latency 6
#define BENCH_get_acc_latency 7
#define BENCH_fop_latency 8
#define BENCH_cas_latency 9
#define JOINED(a, b) a##b
#define NUMBER(bench) JOINED(BENCH_, bench)
#define THIS NUMBER(BENCH)
#define IS(bench) (THIS == BENCH_##bench)

#define RATE (IS(put_bw) || IS(get_bw) || IS(put_bibw))
#define ATOMIC (IS(fop_latency) || IS(cas_latency)) /* of one element */
#define SUMS (IS(acc_latency) || IS(get_acc_latency))
#define FETCHES (ATOMIC || IS(get_acc_latency))

static const char *const titles[] = {
	[BENCH_put_latency] = "MPI_Put Latency",
	[BENCH_get_latency] = "MPI_Get latency",
	[BENCH_put_bw] = "MPI_Put Bandwidth",
	[BENCH_get_bw] = "MPI_Get Bandwidth",
	[BENCH_put_bibw] = "MPI_Put Bi-directional Bandwidth",
	[BENCH_acc_latency] = "MPI_Accumulate latency",
	[BENCH_get_acc_latency] = "MPI_Get_accumulate latency",
	[BENCH_fop_latency] = "MPI_Fetch_and_op latency",
	[BENCH_cas_latency] = "MPI_Compare_and_swap latency",
};

static MPI_Win win;
static MPI_Aint at; /* displacement of the peer's part */
static char *out, *got, *old;
static MPI_Datatype type;
static int peer;

/* Operation k of a round. The compiler leaves one. */
static inline void operation(size_t size, int n, int k)
{
	MPI_Aint disp = at + (MPI_Aint)(k * size);
	switch (THIS) {
	case BENCH_put_latency:
	case BENCH_put_bw:
	case BENCH_put_bibw:
		MPI_Put(out + k * size, n, type, peer, disp, n, type, win);
		break;
	case BENCH_get_latency:
	case BENCH_get_bw:
		MPI_Get(out + k * size, n, type, peer, disp, n, type, win);
		break;
	case BENCH_acc_latency:
		MPI_Accumulate(out, n, type, peer, at, n, type, MPI_SUM, win);
		break;
	case BENCH_get_acc_latency:
		MPI_Get_accumulate(out, n, type, got, n, type, peer, at, n, type, MPI_SUM, win);
		break;
	case BENCH_fop_latency:
		MPI_Fetch_and_op(out, got, type, peer, at, MPI_SUM, win);
		break;
	case BENCH_cas_latency:
		MPI_Compare_and_swap(out, old, got, type, peer, at, win);
		break;
	}
}

static inline void operations(size_t size, int n)
{
	for (int k = 0; k < (RATE ? osu.window : 1); k++)
		operation(size, n, k);
}

/* Makes the window, with `bytes` of memory in the part of each rank. */
static char *expose(size_t bytes)
{
	char *base = NULL;
	at = 0;
	switch (osu.creation) {
	case OSU_ALLOCATE:
		MPI_Win_allocate(bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
		memset(base, 'b', bytes);
		break;
	case OSU_CREATE:
		base = osu_buffer(bytes, 'b');
		MPI_Win_create(base, bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
		break;
	case OSU_DYNAMIC:
		base = osu_buffer(bytes, 'b');
		MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
		MPI_Win_attach(win, base, bytes);
		MPI_Aint mine;
		MPI_Get_address(base, &mine);
		MPI_Sendrecv(&mine, 1, MPI_AINT, peer, 107, &at, 1, MPI_AINT, peer, 107,
		             MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		break;
	}
	return base;
}

static void hide(char *base)
{
	if (osu.creation == OSU_DYNAMIC)
		MPI_Win_detach(win, base);
	MPI_Win_free(&win);
	if (osu.creation != OSU_ALLOCATE)
		osu_buffer_free(base);
}

static double start;

static inline void clock_at(int i, int skip)
{
	if (i == skip)
		start = MPI_Wtime();
}

/* The rounds of rank 0 where rank 1 makes no calls. */
static void passive(size_t size, int n, int rounds, int skip)
{
	int kind = IS(get_acc_latency) ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED; /* so in OSU */
	int around = osu.sync == OSU_FLUSH || osu.sync == OSU_FLUSH_LOCAL;
	double end;
	if (around)
		MPI_Win_lock(kind, peer, 0, win);
	for (int i = 0; i < rounds; i++) {
		clock_at(i, skip);
		switch (osu.sync) {
		case OSU_LOCK:
			MPI_Win_lock(kind, peer, 0, win);
			operations(size, n);
			MPI_Win_unlock(peer, win);
			break;
		case OSU_LOCK_ALL:
			MPI_Win_lock_all(0, win);
			operations(size, n);
			MPI_Win_unlock_all(win);
			break;
		case OSU_FLUSH_LOCAL:
			operations(size, n);
			MPI_Win_flush_local(peer, win);
			break;
		default:
			operations(size, n);
			MPI_Win_flush(peer, win);
		}
	}
	end = MPI_Wtime();
	if (around)
		MPI_Win_unlock(peer, win);
	start = end - start;
}

/* The rounds with fences: of a latency, rank 1's operation comes behind the second. */
static void fences(size_t size, int n, int rounds, int skip)
{
	int acts = osu_rank == 0 || IS(put_bibw);
	for (int i = 0; i < rounds; i++) {
		clock_at(i, skip);
		MPI_Win_fence(0, win);
		if (acts)
			operations(size, n);
		MPI_Win_fence(0, win);
		if (RATE)
			continue;
		if (!acts)
			operations(size, n);
		MPI_Win_fence(0, win);
	}
	start = MPI_Wtime() - start;
}

/* The rounds with post, start, complete and wait. */
static void pscw(size_t size, int n, int rounds, int skip)
{
	MPI_Group all, group;
	MPI_Comm_group(MPI_COMM_WORLD, &all);
	MPI_Group_incl(all, 1, &peer, &group);
	for (int i = 0; i < rounds; i++) {
		if (IS(put_bibw)) {
			clock_at(i, skip);
			MPI_Win_post(group, 0, win);
			MPI_Win_start(group, 0, win);
			operations(size, n);
			MPI_Win_complete(win);
			MPI_Win_wait(win);
		} else if (osu_rank == 0) {
			MPI_Win_start(group, 0, win);
			clock_at(i, skip);
			operations(size, n);
			MPI_Win_complete(win);
			if (RATE)
				continue;
			MPI_Win_post(group, 0, win);
			MPI_Win_wait(win);
		} else {
			MPI_Win_post(group, 0, win);
			MPI_Win_wait(win);
			if (RATE)
				continue;
			MPI_Win_start(group, 0, win);
			operations(size, n);
			MPI_Win_complete(win);
		}
	}
	start = MPI_Wtime() - start;
	MPI_Group_free(&group);
	MPI_Group_free(&all);
}

static void measure(size_t size)
{
	int iters, skip, n = size / osu.width;
	type = osu.type;
	if (osu.ddt != OSU_PLAIN) {
		if (!osu_message_in(size))
			return;
		type = osu_message.type, n = osu_message.count;
	}
	osu_counts(size, &iters, &skip);
	char *base = expose(size * (RATE ? osu.window : 1));
	MPI_Barrier(MPI_COMM_WORLD);
	switch (osu.sync) {
	case OSU_PSCW: pscw(size, n, iters + skip, skip); break;
	case OSU_FENCE: fences(size, n, iters + skip, skip); break;
	default:
		if (osu_rank == 0)
			passive(size, n, iters + skip, skip);
	}
	MPI_Barrier(MPI_COMM_WORLD);
	hide(base);
	if (RATE)
		osu_row(size, (osu.ddt == OSU_PLAIN ? size : osu_message.sent) / 1e6 * iters * osu.window * (IS(put_bibw) ? 2 : 1) / start);
	else
		osu_fine_row(size, start * 1e6 / iters / (osu.sync == OSU_PSCW || osu.sync == OSU_FENCE ? 2 : 1));
}

int main(int argc, char **argv)
{
	enum osu_kind kind = IS(put_bibw) ? OSU_ACTIVE : RATE ? OSU_RATES : IS(get_acc_latency) ? OSU_GET_ACC : OSU_ACCESS;
	osu_start(argc, argv, kind, RATE ? "m:i:x:w:s:D:W:" : ATOMIC ? "i:x:w:s:T:" : SUMS ? "m:i:x:w:s:T:" : "m:i:x:w:s:D:",
	          MPI_THREAD_SINGLE, 2);
	if (!SUMS && !ATOMIC)
		osu.type = MPI_CHAR, osu.width = 1;
	if (IS(cas_latency) && osu.type == MPI_FLOAT)
		osu_fail("MPI_Compare_and_swap takes no MPI_FLOAT");
	if (ATOMIC)
		osu.min = osu.max = osu.width;
	size_t most = osu.max * (RATE ? osu.window : 1);
	peer = 1 - osu_rank;
	out = osu_buffer(most, 'a');
	if (FETCHES)
		got = osu_buffer(most, 'c');
	if (IS(cas_latency))
		old = osu_buffer(most, 'a');

	osu_preamble_of_windows(titles[THIS]);
	osu_heads("# Size", RATE ? "Bandwidth (MB/s)" : "Latency (us)", NULL);
	for (size_t size = osu.min; size <= osu.max; size *= 2)
		if (size >= osu.width)
			measure(size);
	osu_finish();
}

// Package boot is how a rank finds its job, and the launcher that starts a job
// on this machine.
//
// It serves two callers. Inside a rank, package mpi calls Discover once at
// MPI_Init and Job.Close at MPI_Finalize, and package job calls Job.Exchange for
// fabric addresses. The tools weft and osu-go fill in a Launch and call Run.
// boot is set-up code only, off the path of a message. It imports nothing of
// Weft.
//
// # Ways into a job
//
// Discover takes the first of these that the environment names:
//
//   - WEFT_BOOT=none: a world of one, at the user's request.
//   - PMI_FD or PMI_PORT: PMI-1, as spoken by Hydra's mpiexec, Slurm's
//     --mpi=pmi2 and Flux (pmi1.go, pmi1_join.go).
//   - WEFT_FD: the local launcher of this package, over an inherited socket
//     (frame.go, client.go; the launcher's side is serve.go, rendezvous.go).
//   - no variable that indicates ranks: a world of one.
//
// An environment that indicates several ranks and offers none of these is an
// EnvError: a job never falls apart silently into N worlds of one. In a
// launcher within a launcher the inner one counts; Launch therefore removes the
// variables of outer launchers, except Slurm's, from its ranks' environment.
//
// # PMI-1
//
// A process manager keeps values for the ranks, one get at a time. If each rank
// got that of each other, 512 ranks would make 261,632 gets. So the ranks of a
// host meet (pmi1_meet.go) and form a group (pmi1_group.go). One of them, the
// leader, puts one value for all and gets one from each other leader; on 8 hosts
// that makes 56 gets (pmi1_leader.go, pmi1_member.go). Every rank takes part in
// the process manager's barriers, which count ranks.
//
// # The local launcher
//
// Every rank gets one end of a socket pair as file descriptor WEFT_FD, and
// WEFT_RANK and WEFT_SIZE. The job's id and key travel over that socket only:
// they are on no command line and in no environment. One collective operation
// is served, Exchange, which is the put, fence and get of PMI in one: N
// requests in place of N².
//
// What the launcher starts may be a command that moves to another host before it
// becomes the rank: into a container, or by scripts/hosts. The socket goes along.
// So the ranks tell each other where they are (card.go), in an Exchange within
// Discover, as they do under PMI-1.
//
// Two kinds of frames come unrequested. The launcher sees the exit of every
// process by its pidfd and tells all ranks of a death at once (news.go): a
// transport alone sees only the ranks that it is connected to. A rank may ask
// the launcher to end the job, also in the middle of an Exchange (Job.Abort).
//
// When a rank fails the others are stopped in steps (stop.go), unless the job
// is to keep going. Ctrl-Z stops the ranks with the launcher (jobcontrol.go).
// Each rank leads a process group. When the rank exits, the rest of its group
// is killed; when the launcher dies, the rank is killed. Two kinds of processes
// escape: those that have left the group (setsid), and, if the launcher is
// killed with SIGKILL, those that a rank or a wrapper script has started. The
// kernel's parent-death signal reaches children only.
package boot

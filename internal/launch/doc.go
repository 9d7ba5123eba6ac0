// Package launch is how a rank finds its job, and the launcher that starts a job,
// on this machine or on several.
//
// It serves two callers. Inside a rank, package mpi calls Discover once at
// MPI_Init and Job.Close at MPI_Finalize, and package transports calls Job.Exchange for
// fabric addresses. The tools weft and osu-go fill in a Launch and call Run.
// launch is set-up code only, off the path of a message. It imports nothing of
// the engine.
//
// # Ways into a job
//
// Discover takes the first of these that the environment names:
//
//   - WEFT_BOOT=none: a world of one, at the user's request.
//   - PMI_FD or PMI_PORT: PMI-1, as spoken by Hydra's mpiexec, Slurm's
//     --mpi=pmi2 and Flux (pmi1.go, pmi1_join.go).
//   - WEFT_FD: the launcher of this package or its agent, over an inherited socket
//     (frame.go, client.go; the launcher's side is serve.go, rendezvous.go).
//   - WEFT_ROOT: the ranks meet at rank 0, for launchers that set variables only
//     (root.go, root_address.go).
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
// # The launcher
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
//
// # Agents
//
// On other hosts an agent (agent.go) stands between the launcher (fleet.go, remote.go)
// and the ranks, who can't tell it from the launcher. A Starter names the command that
// starts it, such as ssh. All goes over the standard streams of that command, as frames
// (link.go, agent_frames.go): first the setup with the job's key, which is on no command
// line and in no environment.
//
// There is one connection for each host. What its ranks bring to an Exchange goes up in
// one frame when all of them have come, and the table comes down once. A rank that is gone is
// told to all agents, with the first round that the rank does not join: so each agent
// knows by itself which rounds fail. Output goes up in lines, each stream with credit
// (relay.go), so that a reader who stops reads nothing more and still hears of deaths.
//
// Both ends send pings. An agent that hears nothing of the launcher, or whose connection
// ends, kills its ranks; the launcher takes a host for lost whose agent is silent or
// gone, with all its ranks. The launcher alone decides when ranks are to be stopped.
package launch

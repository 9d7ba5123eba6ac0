// Package oracle says whether a run of point-to-point communication was right.
//
// It is for tests: they tell a [Checker] everything that a job did, event by
// event and in one total order, and the Checker says which event breaks the
// rules of MPI-4.0 chapter 3. It knows nothing of engines, packets or
// transports and imports only the standard library.
//
// The Checker is the plainest model of matching there is: per rank a list of
// posted receives and a list of unexpected messages, searched from the front.
// An arrival is an event like others, told when the first packet of a message
// is handed to its destination, so which message goes to which receive is known
// exactly. What is checked:
//
//   - Messages of one source, destination and context arrive in the order in
//     which they were sent, and are what was sent (MPI-4.0 §3.5).
//   - A message goes to the earliest posted receive that it matches, a receive
//     takes the earliest message: status, bytes, length and truncation of each
//     receive are those of its message, and nothing beyond them is written.
//   - A request ends once; a receive never without its message; a synchronous
//     send never before its receive has been started (§3.4).
//   - What is cancelled was not matched, and what was matched is not cancelled
//     (§3.8.4). A probe finds what a receive would get (§3.8.1).
//   - Nothing fails but for a death, a fault or a cancel that was told.
//   - When the job has come to rest, no receive and message that match are
//     left over, and no request that has all it needs ([Checker.Rest]). At the
//     end nothing is left at all ([Checker.End]).
package oracle

// Package metrics shows the counters of ranks to Prometheus.
//
// A program serves its own:
//
//	addr, err := metrics.Serve(ctx, ":9464", world.Snapshot)
//
// [Serve] listens on the loopback interface unless the address names a host, and
// replies to /metrics only. [ServeRanks] is for several ranks of a host, as one
// target of Prometheus with a label rank. [WriteFile] writes the same text for the
// textfile collector of the node exporter. [Collector] is for programs that have a
// registry of their own. weft run --metrics serves a job without the program's doing; it
// reads what the ranks tell with a [Reader].
//
// Metrics are named weft_..., with units as Prometheus wants them. Their labels have
// few values, known beforehand: transports, protocols, operations, reasons; never a
// peer, a tag or a communicator. A rank has at most 400 series. Lengths of messages
// and the times of requests are histograms, classic ones of powers of four and, for
// a Prometheus that takes those, native ones of powers of two.
//
// A scrape copies the counters when the rank's engine lets it, which may take as long
// as the operation that it is at. Where it takes longer than a scrape may, and after
// Finalize, the last copy is shown; weft_snapshot_age_seconds says how old it is.
//
// The directory deploy has a dashboard for Grafana and rules for alerts;
// docs/metrics.md lists the metrics.
//
// The package knows the counters as progress/counters has them, and nothing else of
// Weft.
package metrics

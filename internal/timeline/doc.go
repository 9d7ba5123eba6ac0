// Package timeline keeps what a rank has done in time, as spans, and writes the spans
// of a job as one file that Perfetto and chrome://tracing open: the Trace Event Format,
// which is JSON. It is pure: it knows no protocol, and sends nothing.
//
// A Log is what a rank records into; it is bounded and keeps the last spans. Part makes
// the text of a rank's spans, File joins the parts of ranks, and Merge files.
//
// Package progress records requests and waits (recorder.go there), pt2pt messages
// (timeline.go), and mpi gathers the parts behind the last barrier (tool_trace.go). Both
// ends of a message number it by counting those of their pair of ranks, which stay in
// order: an arrow needs no byte in a message.
//
// The format is JSON and not Perfetto's protobuf: one reads it without tools, parts are
// joined by a comma, and the file is five times as long, which a bounded log can afford.
package timeline

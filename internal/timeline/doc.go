// Package timeline keeps what a rank has done in time, as spans, and writes the spans
// of a job as one file that Perfetto and chrome://tracing open: the Trace Event Format,
// which is JSON. It is pure: it knows no protocol, and sends nothing.
//
// A Log is what a rank records into; it is bounded and keeps the last spans. Part makes
// the text of a rank's spans, File joins the parts of ranks, and Merge files.
//
// The format is JSON and not Perfetto's protobuf: one reads it without tools, parts are
// joined by a comma, and the file is five times as long, which a bounded log can afford.
package timeline

package timeline

import (
	"encoding/json"
	"fmt"
	"strconv"
)

// Info tells about the part of a rank in a file.
type Info struct {
	Rank    int    `json:"rank"`
	Host    string `json:"host,omitempty"`
	PID     int    `json:"pid,omitempty"`
	Spans   int    `json:"spans"`
	Dropped uint64 `json:"dropped"` // older spans, for which there was no room
	Limit   int    `json:"limit"`
	// Offset is what was added to the rank's clock, CLOCK_MONOTONIC of its host, in
	// nanoseconds, and Within by how much that may be wrong.
	Offset int64  `json:"clock_offset_ns"`
	Within int64  `json:"clock_error_ns"`
	Clock  string `json:"clock,omitempty"`   // how it is known
	Absent string `json:"missing,omitempty"` // why there are no spans of the rank
}

// Rows of a rank: the first number of each kind. A rank's threads have numbers of their
// own among those of the job.
const (
	rowCalls = iota * 10_000
	rowThread
	rowSends
	rowRecvs
	rowOps
	rowsOfRank
)

// pidOf is the process of a rank: 0 has a meaning of its own to viewers.
func pidOf(rank int) int64 { return int64(rank) + 1 }

// encoder makes the text of a rank's spans.
type encoder struct {
	b     []byte
	rank  int
	names []string // as JSON, without quotes
	clock Clock
}

// Part makes the text of what a Log has: events of the Trace Event Format with commas
// between. It completes info, whose Rank, Host, PID and Clock are the caller's.
func (l *Log) Part(info Info, clock Clock) (Info, []byte) {
	all, names, dropped := l.Spans()
	monotonic, _ := Monotonic()
	info.Spans, info.Dropped, info.Limit = len(all), dropped, l.limit
	info.Offset, info.Within = clock.Add[1]-monotonic, clock.Within
	if clock.At[1] == 0 {
		info.Offset = 0 // the clock of the host itself
	}
	e := &encoder{rank: info.Rank, clock: clock, b: make([]byte, 0, 400*len(all)+1000)}
	for _, n := range names {
		e.names = append(e.names, escaped(n))
	}
	for i := range all {
		all[i].End = max(all[i].End, all[i].Begin+1) // so that arrows find it
	}
	order(all)
	e.process(info)
	by := map[Kind][]*Span{}
	for i := range all {
		s := &all[i]
		k := s.Kind
		if k == Call || k == Park {
			k = Wait
		}
		by[k] = append(by[k], s)
	}
	lanes, used := goroutines(by[Wait])
	for i, s := range by[Wait] {
		e.slice(rowCalls+lanes[i], s)
	}
	e.rows(rowCalls, used, "calls")
	for _, s := range by[Look] {
		e.slice(rowThread, s)
	}
	if len(by[Look]) > 0 {
		e.rows(rowThread, 1, "progress thread")
	}
	for _, row := range []struct {
		kind  Kind
		first int
		title string
	}{{Send, rowSends, "sends"}, {Recv, rowRecvs, "receives"}, {Op, rowOps, "operations"}} {
		var list []*lane
		for _, s := range by[row.kind] {
			e.slice(row.first+min(place(&list, s), rowThread-1), s)
		}
		e.rows(row.first, len(list), row.title)
	}
	return info, e.b
}

// escaped is s inside the quotes of JSON.
func escaped(s string) string {
	b, err := json.Marshal(s)
	if err != nil { // a string always can be
		return ""
	}
	return string(b[1 : len(b)-1])
}

// event begins an event of a row.
func (e *encoder) event(ph string, row int) {
	if len(e.b) > 0 {
		e.b = append(e.b, ",\n"...)
	}
	e.b = append(e.b, `{"ph":"`...)
	e.b = append(e.b, ph...)
	e.b = append(e.b, `","pid":`...)
	e.b = strconv.AppendInt(e.b, pidOf(e.rank), 10)
	e.b = append(e.b, `,"tid":`...)
	e.b = strconv.AppendInt(e.b, pidOf(e.rank)*rowsOfRank+int64(row), 10)
}

func (e *encoder) text(s string) { e.b = append(e.b, s...) }

func (e *encoder) printf(format string, args ...any) { e.b = fmt.Appendf(e.b, format, args...) }

// time appends microseconds, which the format counts in.
func (e *encoder) time(key string, ns int64) {
	e.text(key)
	if ns < 0 {
		e.b, ns = append(e.b, '-'), -ns
	}
	e.b = strconv.AppendInt(e.b, ns/1000, 10)
	e.b = append(e.b, '.', byte('0'+ns/100%10), byte('0'+ns/10%10), byte('0'+ns%10))
}

func (e *encoder) number(key string, n int64) {
	e.text(key)
	e.b = strconv.AppendInt(e.b, n, 10)
}

// process describes the rank.
func (e *encoder) process(info Info) {
	at := ""
	if info.Host != "" {
		at = " (" + escaped(info.Host) + ")"
	}
	e.event("M", 0)
	e.printf(`,"name":"process_name","args":{"name":"rank %d%s"}}`, e.rank, at)
	e.event("M", 0)
	e.printf(`,"name":"process_sort_index","args":{"sort_index":%d}}`, e.rank)
	if info.Dropped > 0 {
		all, _ := json.Marshal(info) // numbers and strings can be
		e.event("M", 0)
		e.printf(`,"name":"process_labels","args":{"labels":"%d earlier spans were dropped","info":%s}}`, info.Dropped, all)
	}
}

// rows names the rows of a kind.
func (e *encoder) rows(first, n int, title string) {
	for i := range min(n, rowThread) {
		name := title
		if i > 0 {
			name = fmt.Sprintf("%s %d", title, i+1)
		}
		e.event("M", first+i)
		e.printf(`,"name":"thread_name","args":{"name":"%s"}}`, name)
		e.event("M", first+i)
		e.printf(`,"name":"thread_sort_index","args":{"sort_index":%d}}`, first+i)
	}
}

// begin begins a slice, up to the end of its name.
func (e *encoder) begin(row int, begin, end int64, category string) {
	from, to := e.clock.To(begin), e.clock.To(end)
	e.event("X", row)
	e.time(`,"ts":`, from)
	e.time(`,"dur":`, max(to-from, 1))
	e.text(`,"cat":"`)
	e.text(category)
	e.text(`","name":"`)
}

// slice writes a span.
func (e *encoder) slice(row int, s *Span) {
	switch s.Kind {
	case Send:
		e.message(row, s, "send", " to ")
	case Recv:
		e.message(row, s, "receive", " from ")
	case Wait:
		e.begin(row, s.Begin, s.End, "wait")
		e.text("wait for ")
		e.text(e.names[s.Name])
		e.arguments(s)
	case Park:
		e.begin(row, s.Begin, s.End, "wait")
		e.text("asleep")
		e.text(`"}`)
	case Call:
		e.begin(row, s.Begin, s.End, "collective")
		e.text(e.names[s.Name])
		e.arguments(s)
	case Op:
		e.begin(row, s.Begin, s.End, "operation")
		e.text(e.names[s.Name])
		e.arguments(s)
	case Look:
		e.begin(row, s.Begin, s.End, "progress")
		e.text("progress")
		e.arguments(s)
	}
}

// arguments ends a slice.
func (e *encoder) arguments(s *Span) {
	e.text(`","args":{`)
	sep := `"`
	add := func(key string, n int64) {
		e.text(sep)
		sep = `,"`
		e.number(key+`":`, n)
	}
	word := func(key, v string) {
		e.text(sep)
		sep = `,"`
		e.text(key + `":"` + v + `"`)
	}
	message := s.Kind == Send || s.Kind == Recv
	if s.Peer >= 0 && s.Kind != Call && s.Kind != Look {
		add("peer", int64(s.Peer))
	}
	if message || s.Kind == Wait && s.Tag >= 0 && s.Peer >= 0 {
		add("tag", int64(s.Tag))
	}
	if s.Kind != Look && s.Context > 0 || message {
		add("context", int64(s.Context))
	}
	if message || s.Bytes > 0 {
		add("bytes", int64(s.Bytes))
	}
	if message && s.Seq > 0 {
		add("message", int64(s.Seq))
	}
	switch {
	case s.Kind == Call:
		add("call", int64(s.Count))
	case s.Count > 0:
		add("count", int64(s.Count))
	}
	if s.Path != 0 {
		key := "protocol"
		if s.Kind == Call {
			key = "algorithm"
		}
		word(key, e.names[s.Path])
	}
	if s.Kind == Recv && s.Announced > 0 && s.Announced < s.Begin {
		e.text(sep)
		sep = `,"`
		e.time(`unexpected_us":`, s.Begin-s.Announced)
	}
	if s.Failed {
		word("outcome", "failed")
	}
	e.text("}}")
}

// message writes a message of the rank, its phases, and its end of the arrow.
func (e *encoder) message(row int, s *Span, what, to string) {
	e.begin(row, s.Begin, s.End, what)
	e.text(what)
	if s.Peer >= 0 {
		e.text(to)
		e.number("", int64(s.Peer))
	}
	e.arguments(s)
	announced := clamp(s.Announced, s)
	moving := max(clamp(s.Moving, s), announced)
	phase := func(begin, end int64, name string) {
		if end > begin {
			e.begin(row, begin, end, what)
			e.text(name)
			e.text(`"}`)
		}
	}
	switch {
	case s.Kind == Send && s.Moving > 0:
		phase(s.Begin, announced, "queued")
		phase(announced, moving, "announced")
		phase(moving, s.End, e.names[s.Path])
	case s.Kind == Send && s.Announced > 0:
		phase(s.Begin, announced, "queued")
		phase(announced, s.End, e.names[s.Path])
	case s.Kind == Recv && s.Announced > 0:
		phase(s.Begin, announced, "posted")
		if s.Moving > 0 {
			phase(announced, moving, "matched")
			phase(moving, s.End, e.names[s.Path])
		}
	}
	if s.Seq == 0 || s.Peer < 0 {
		return
	}
	source, dest, ph, at := int32(e.rank), s.Peer, "s", s.Begin
	if s.Kind == Recv {
		source, dest, ph, at = s.Peer, int32(e.rank), "f", announced
	}
	e.event(ph, row)
	if s.Kind == Recv {
		e.text(`,"bp":"e"`)
	}
	e.time(`,"ts":`, e.clock.To(at))
	e.printf(`,"cat":"message","name":"message","id":"0x%x"}`, flow(source, dest, s.Seq))
}

// clamp is a time within a span: its last nanosecond at most.
func clamp(t int64, s *Span) int64 { return max(min(t, s.End-1), s.Begin) }

// flow is the number of an arrow: of the ranks, and of the message between them as far
// as there is room for it.
func flow(source, dest int32, seq uint64) uint64 {
	return uint64(source)&(1<<20-1)<<44 | uint64(dest)&(1<<20-1)<<24 | seq&(1<<24-1)
}

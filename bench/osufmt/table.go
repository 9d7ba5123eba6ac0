package osufmt

import (
	"fmt"
	"strings"
)

// Version is the release of the OSU Micro-Benchmarks whose layout, defaults
// and methods this module follows.
const Version = "7.4"

// Widths of OSU 7.4 as its build sets them: util/osu_util.h says 20 unless
// the Makefile says 18, and the Makefile does.
const (
	sizeWidth  = 10
	fieldWidth = 18
	iterWidth  = 12
	soleWidth  = 17 // the first value of a table that has no size column
	decimals   = 2
)

// Better says which direction of a column is the good one.
type Better uint8

// The directions a column can have.
const (
	Neither Better = iota // not a measurement: iterations, validation
	Lower
	Higher
)

func (b Better) String() string {
	switch b {
	case Lower:
		return "lower is better"
	case Higher:
		return "higher is better"
	}
	return ""
}

// Kind is how the values of a column are printed.
type Kind uint8

// The kinds of columns.
const (
	Float    Kind = iota // two decimals
	Float4               // four
	Integer              // iterations
	Bytes                // a number of bytes
	PassFail             // the number of errors: Pass if it is zero
)

// Column is one column of values.
type Column struct {
	Name   string // as printed: "Avg Latency(us)"
	Key    string // name in JSON: "avg_latency_us"
	Kind   Kind
	Better Better

	Decimals int // most decimals that Parse has read; 0 elsewhere
}

func (c Column) width() int {
	if c.Kind == Integer {
		return iterWidth
	}
	return fieldWidth
}

// Identity is the same for a column in all versions of OSU: 7.1 says "Latency
// (us)" where 7.4 says "Avg Latency(us)".
func (c Column) Identity() string {
	return strings.TrimPrefix(strings.ReplaceAll(c.Key, "_", ""), "avg")
}

// The columns that OSU prints.
var (
	AvgLatency = Column{Name: "Avg Latency(us)", Key: "avg_latency_us", Better: Lower}
	Latency    = Column{Name: "Latency (us)", Key: "latency_us", Better: Lower} // of the one-sided benchmarks
	MinLatency = Column{Name: "Min Latency(us)", Key: "min_latency_us", Better: Lower}
	MaxLatency = Column{Name: "Max Latency(us)", Key: "max_latency_us", Better: Lower}
	Iterations = Column{Name: "Iterations", Key: "iterations", Kind: Integer}
	Validation = Column{Name: "Validation", Key: "valid", Kind: PassFail}
	Bandwidth  = Column{Name: "Bandwidth (MB/s)", Key: "bandwidth_mb_s", Better: Higher}
	MBs        = Column{Name: "MB/s", Key: "mb_s", Better: Higher}
	MessagesS  = Column{Name: "Messages/s", Key: "messages_s", Better: Higher}
)

// The columns of the benchmarks that OSU does not have.
var (
	MatchTime = Column{Name: "Time(ns)", Key: "time_ns", Better: Lower}
	Overall   = Column{Name: "Overall(us)", Key: "overall_us", Better: Lower}
	Compute   = Column{Name: "Compute(us)", Key: "compute_us"}
	PureComm  = Column{Name: "Pure Comm.(us)", Key: "pure_comm_us"}
	Overlap   = Column{Name: "Overlap(%)", Key: "overlap_percent", Better: Higher}
	Median    = Column{Name: "Median(us)", Key: "median_us", Better: Lower}
	Max       = Column{Name: "Max(us)", Key: "max_us", Better: Lower}
	Round     = Column{Name: "Round(us)", Key: "round_us", Better: Lower}
	Plain     = Column{Name: "Plain(us)", Key: "plain_us"}
	OnePart   = Column{Name: "One Part(us)", Key: "one_part_us"}
	Last      = Column{Name: "Last(us)", Key: "last_us", Better: Lower}
	PlainLast = Column{Name: "Plain Last(us)", Key: "plain_last_us"}
	Perceived = Column{Name: "Perceived(MB/s)", Key: "perceived_mb_s", Better: Higher}
	WallTime  = Column{Name: "Wall(s)", Key: "wall_s"}
	CPUTime   = Column{Name: "CPU(s)", Key: "cpu_s", Kind: Float4, Better: Lower}
	CoreShare = Column{Name: "Core(%)", Key: "core_percent", Better: Lower}
)

// TransmitSize is the column of what is sent of a size with gaps.
var TransmitSize = Column{Name: "Transmit Size", Key: "transmit_size", Kind: Bytes}

// TailLatency is the column of the p-th percentile of a latency.
func TailLatency(p int) Column {
	return Column{Name: fmt.Sprintf("P%d Tail Lat(us)", p), Key: fmt.Sprintf("p%d_latency_us", p), Better: Lower}
}

// TailBandwidth is the column of the p-th percentile of a bandwidth.
func TailBandwidth(p int) Column {
	return Column{Name: fmt.Sprintf("P%d Tail BW(MB/s)", p), Key: fmt.Sprintf("p%d_bandwidth_mb_s", p), Better: Higher}
}

// Title is the head of a benchmark's output. It is a plain value.
type Title struct {
	Name   string   // "OSU MPI Latency Test"
	Own    bool     // not one of OSU's, so without OSU's version
	Before []string // comment lines above the title, without the "# "
	After  []string // comment lines below it
	Tight  bool     // no empty line above the title
}

// Section is a run of rows under one header line: one for each datatype.
type Section struct {
	Datatype string // "MPI_CHAR"; empty where OSU prints none
	First    string // header of the first column, "Size" unless it says otherwise
	NoSize   bool   // the table has one row and no size column
	Left     bool   // with NoSize: the first value stands where the size would
	Columns  []Column
	Rows     []Row
}

// FirstName is the header of the first column.
func (s *Section) FirstName() string {
	if s.First == "" {
		return "Size"
	}
	return s.First
}

// Row is one line: a value for each column of its section.
type Row struct {
	Size   int
	Values []float64
}

// direction guesses which direction is the good one from a column's name, for
// tables of other programs.
func direction(name string) Better {
	n := strings.ToLower(name)
	switch {
	case n == "iterations", n == "validation", strings.HasPrefix(n, "transmit"), strings.HasPrefix(n, "wall"),
		strings.HasPrefix(n, "compute"), strings.HasPrefix(n, "pure comm"), strings.HasPrefix(n, "plain"), strings.HasPrefix(n, "one part"):
		return Neither
	case strings.Contains(n, "b/s") || strings.Contains(n, "messages/s"), strings.Contains(n, "bandwidth"), n == "overlap(%)":
		return Higher
	case strings.Contains(n, "lat"), strings.Contains(n, "time"), strings.Contains(n, "cpu"), n == "core(%)",
		strings.Contains(n, "us)"), strings.Contains(n, "ns)"), strings.Contains(n, "ns/"):
		return Lower
	}
	return Neither
}

// SizeName is a short name of a size: 64K.
func SizeName(n int) string {
	for _, u := range []struct {
		name string
		bits int
	}{{"G", 30}, {"M", 20}, {"K", 10}} {
		if n >= 1<<u.bits && n%(1<<u.bits) == 0 {
			return fmt.Sprint(n>>u.bits) + u.name
		}
	}
	return fmt.Sprint(n)
}

package timeline

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"slices"
)

// other is what a file tells beside its events.
type other struct {
	Tool  string `json:"tool"`
	Clock string `json:"clock"`
	Ranks []Info `json:"ranks"`
}

// file is a whole file.
type file struct {
	Events []json.RawMessage `json:"traceEvents"`
	Other  *other            `json:"otherData"`
}

// File writes the parts of ranks, one after another, as they come.
type File struct {
	w     *bufio.Writer
	ranks []Info
	begun bool
}

// NewFile begins a file.
func NewFile(w io.Writer) *File {
	f := &File{w: bufio.NewWriterSize(w, 1<<16)}
	f.w.WriteString(`{"displayTimeUnit":"ns","traceEvents":[` + "\n")
	return f
}

// Add adds the part of a rank, which may be empty. Errors are those of Close.
func (f *File) Add(info Info, part []byte) {
	f.ranks = append(f.ranks, info)
	f.add(part)
}

func (f *File) add(events []byte) {
	if len(events) == 0 {
		return
	}
	if f.begun {
		f.w.WriteString(",\n")
	}
	f.begun = true
	f.w.Write(events)
}

// Close ends the file. What it was written to is the caller's.
func (f *File) Close() error {
	slices.SortFunc(f.ranks, func(a, b Info) int { return a.Rank - b.Rank })
	b, err := json.Marshal(other{"weft", "CLOCK_MONOTONIC of the host of rank 0", f.ranks})
	if err != nil {
		return err
	}
	f.w.WriteString("\n],\"otherData\":")
	f.w.Write(b)
	f.w.WriteString("}\n")
	return f.w.Flush()
}

// Merge writes the spans of several files as one: that of a job and those of ranks that
// could not hand theirs over. Of a rank that is in several files the first that has spans
// of it counts. It returns the ranks that there are spans of.
func Merge(w io.Writer, files ...io.Reader) (ranks []int, err error) {
	out, have, absent := NewFile(w), map[int]bool{}, map[int]Info{}
	for i, r := range files {
		var in file
		if err := json.NewDecoder(r).Decode(&in); err != nil {
			return nil, fmt.Errorf("file %d is no trace: %w", i+1, err)
		}
		if in.Other == nil || len(in.Other.Ranks) == 0 {
			return nil, fmt.Errorf("file %d is no trace of weft: it names no ranks", i+1)
		}
		takes := map[int64]bool{}
		for _, info := range in.Other.Ranks {
			switch {
			case info.Absent != "":
				absent[info.Rank] = info
			case !have[info.Rank]:
				have[info.Rank], takes[pidOf(info.Rank)] = true, true
				out.ranks = append(out.ranks, info)
				ranks = append(ranks, info.Rank)
			}
		}
		for k, raw := range in.Events {
			var of struct{ Pid int64 }
			if err := json.Unmarshal(raw, &of); err != nil {
				return nil, fmt.Errorf("event %d of file %d: %w", k+1, i+1, err)
			}
			if takes[of.Pid] {
				out.add(raw)
			}
		}
	}
	for rank, info := range absent {
		if !have[rank] {
			out.ranks = append(out.ranks, info)
		}
	}
	slices.Sort(ranks)
	return ranks, out.Close()
}

package osufmt

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestParseAllReadsRunsThatFollowOneAnother(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) < 10 {
		t.Fatalf("%v, %d files", err, len(files))
	}
	var all, titles []string
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		one, err := Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		all, titles = append(all, string(text)), append(titles, one.Title)
	}
	got, err := ParseAll([]byte("a launcher says hello\n" + strings.Join(all, "[node1] a warning\n")))
	if err != nil || len(got) != len(files) {
		t.Fatalf("%v, %d tables, want %d", err, len(got), len(files))
	}
	for i, table := range got {
		if table.Title != titles[i] {
			t.Errorf("%s: title %q, want %q", files[i], table.Title, titles[i])
		}
	}
}

func TestParseAllTakesOneTableWithoutATitle(t *testing.T) {
	got, err := ParseAll([]byte("# Size       Avg Latency(us)\n8 1.5"))
	if err != nil || len(got) != 1 || got[0].Sections[0].Rows[0].Size != 8 {
		t.Errorf("%v, %+v", err, got)
	}
}

func TestParseAllLeavesOutARunThatFailedAndNamesLines(t *testing.T) {
	const good, failed = "# OSU MPI Latency Test v7.4\n# Size       Avg Latency(us)\n8 1.5\n", "# OSU MPI Latency Test v7.4\nrank 0 has died\n"
	got, err := ParseAll([]byte(failed + good + failed + good))
	if err != nil || len(got) != 2 {
		t.Errorf("%v, %+v", err, got)
	}
	if _, err := ParseAll([]byte(failed + failed)); !errors.Is(err, ErrNoTable) {
		t.Error(err)
	}
	if _, err := ParseAll(nil); !errors.Is(err, ErrNoTable) {
		t.Error(err)
	}
	if _, err := ParseAll([]byte(good + good + "8 1.5 2.5\n")); err == nil || !strings.Contains(err.Error(), "line 7:") {
		t.Error(err)
	}
}

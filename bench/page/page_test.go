package page

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"
	"time"
)

var update = flag.Bool("update", false, "write the golden page; read the diff")

// titles are those of the benchmarks in testdata.
var titles = map[string]string{
	"latency": "OSU MPI Latency Test", "bw": "OSU MPI Bandwidth Test", "barrier": "OSU MPI Barrier Latency Test",
	"cpu": "Weft MPI Idle CPU Test", "allreduce": "OSU MPI Allreduce Latency Test", "overlap": "Weft MPI Overlap Test",
	"mbw_mr": "OSU MPI Multiple Bandwidth / Message Rate Test", "matching": "Weft MPI Matching Test",
}

func config() Config { return Config{Title: "Results in results", Version: "v0.4.0", Titles: titles} }

// pageOf is the page of a directory.
func pageOf(t testing.TB, dir fs.FS) (string, *Results) {
	t.Helper()
	r, err := Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := r.WriteHTML(&out, config()); err != nil {
		t.Fatal(err)
	}
	return out.String(), r
}

func TestThePageOfTestdataIsTheGoldenOne(t *testing.T) {
	const golden = "testdata/report.html"
	got, _ := pageOf(t, os.DirFS("testdata/results"))
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if got == string(want) {
		return
	}
	a, b := strings.Split(got, "\n"), strings.Split(string(want), "\n")
	for i := range a {
		if i >= len(b) || a[i] != b[i] {
			t.Fatalf("line %d differs (go test ./bench/page -update, then read the diff):\n%s", i+1, a[i])
		}
	}
	t.Fatalf("%d lines, want %d", len(a), len(b))
}

func TestThePageLoadsNothing(t *testing.T) {
	got, _ := pageOf(t, os.DirFS("testdata/results"))
	for _, bad := range []string{"<script", "<link", "<img", "<iframe", "@import", "url(", " src=", "http:", "https:", "javascript:"} {
		if strings.Contains(got, bad) {
			t.Errorf("the page has %q", bad)
		}
	}
	if !strings.Contains(got, `content="default-src 'none'; style-src 'unsafe-inline'"`) {
		t.Error("the page's policy lets it load things")
	}
	for _, href := range regexp.MustCompile(`href="([^"]*)"`).FindAllStringSubmatch(got, -1) {
		if id, ok := strings.CutPrefix(href[1], "#"); !ok || !strings.Contains(got, ` id="`+id+`"`) {
			t.Errorf("a link leads to %q, which is not on the page", href[1])
		}
	}
}

func TestEachDrawingHasATitleADescriptionAndATable(t *testing.T) {
	got, _ := pageOf(t, os.DirFS("testdata/results"))
	drawings := regexp.MustCompile(`(?s)<svg [^>]*class="drawing".*?</svg>`).FindAllString(got, -1)
	if len(drawings) < 10 {
		t.Fatalf("%d drawings only", len(drawings))
	}
	named := regexp.MustCompile(`role="img" aria-labelledby="(d[0-9]+t) (d[0-9]+d)"`)
	ids := map[string]bool{}
	for _, d := range drawings {
		m := named.FindStringSubmatch(d)
		if m == nil {
			t.Fatalf("a drawing without a name: %.200s", d)
		}
		title, desc := `<title id="`+m[1]+`">`, `<desc id="`+m[2]+`">`
		if !strings.Contains(d, title) || strings.Contains(d, title+"<") || !strings.Contains(d, desc) || strings.Contains(d, desc+"<") {
			t.Errorf("%s has no title or no description", m[1])
		}
		if ids[m[1]] || ids[m[2]] {
			t.Errorf("%s is there twice", m[1])
		}
		ids[m[1]], ids[m[2]] = true, true
	}
	for _, article := range regexp.MustCompile(`(?s)<article.*?</article>`).FindAllString(got, -1) {
		if strings.Contains(article, `class="drawing"`) && !strings.Contains(article, "<table") {
			t.Errorf("drawings without a table: %.200s", article)
		}
	}
}

func TestWhatIsNoResultIsNamedWithTheReason(t *testing.T) {
	big := make([]byte, maxFile+1)
	got, r := pageOf(t, fstest.MapFS{
		"latency.a.txt":      {Data: []byte("# OSU MPI Latency Test v7.4\n# Size       Avg Latency(us)\n8  1.5\n16 1.6\n")},
		"prose.txt":          {Data: []byte("hello")},
		"sub/empty.txt":      {},
		"half.json":          {Data: []byte(`{"kind":`)},
		"other.json":         {Data: []byte(`{"kind":"recipe"}`)},
		"array.json":         {Data: []byte(`[1]`)},
		"norows.json":        {Data: []byte(`{"kind":"run","benchmark":"latency","columns":[{"key":"a","name":"A(us)","better":"lower is better"}],"rows":[]}`)},
		"columns.json":       {Data: []byte(`{"kind":"run","benchmark":"latency","first":"Size","columns":[{"key":"a","name":"A(us)","better":"lower is better"}],"rows":[{"size":1}]}`)},
		"upside.json":        {Data: []byte(`{"kind":"comparison","benchmark":"latency","metrics":[{"name":"A(us)","better":"lower is better","points":[{"size":1,"ours":{"n":1,"min":2,"q1":1,"median":1,"q3":1,"max":1}}]}]}`)},
		"comparison.txt":     {Data: []byte("# osu-go compare latency: 7 rounds, the two in turns.\n# A(us): lower is better, x\n# Size  Ours\n1 2 3\n")},
		"twice.json":         {Data: []byte(`{"kind":"floor","floor":{"line_ns":{"n":0}}}`)},
		"both.txt":           {Data: []byte("# Size       Avg Latency(us)\n8  1.5\n")},
		"both.json":          {Data: []byte("{}")},
		"big.txt":            {Data: big},
		"pipe.txt":           {Mode: fs.ModeNamedPipe},
		"picture.svg":        {Data: []byte("<svg/>")},
		".hidden.txt":        {Data: []byte("# Size       Avg Latency(us)\n8  x\n")},
		".git/objects/x.txt": {Data: []byte("blob")},
	})
	want := map[string]string{
		"prose.txt": "no OSU table", "sub/empty.txt": "empty", "half.json": "no JSON object", "other.json": "no \"kind\"",
		"array.json": "no OSU table", "norows.json": "no rows", "columns.json": "row 1 has no a", "upside.json": "no measurement",
		"comparison.txt": "line 4: 3 figures", "twice.json": "can't have been measured",
		"both.json": "no \"kind\"", "big.txt": "results are at most", "pipe.txt": "not a regular file",
	}
	for _, l := range r.Left {
		if !strings.Contains(l.Reason.Error(), want[l.Name]) || want[l.Name] == "" {
			t.Errorf("%s: %v, want %q", l.Name, l.Reason, want[l.Name])
		}
		if !strings.Contains(got, "<dt>"+l.Name+"</dt>") {
			t.Errorf("%s is not on the page", l.Name)
		}
		delete(want, l.Name)
	}
	for name := range want {
		t.Errorf("%s is not named", name)
	}
	if r.Files() != 2 {
		t.Errorf("%d files are results, want 2", r.Files())
	}
}

// What a comparison prints is read where there is no document of it.
func TestTheDocumentOfAComparisonStandsForItsText(t *testing.T) {
	printed, err := os.ReadFile("testdata/results/latency.mpich.txt")
	if err != nil {
		t.Fatal(err)
	}
	document, err := os.ReadFile("testdata/results/latency.openmpi.json")
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		json, txt   string
		files, left int
	}{
		"both":                      {string(document), string(printed), 1, 0},
		"the text alone":            {"", string(printed), 1, 1},
		"a broken document":         {"{", string(printed), 1, 1},
		"the output of one program": {string(document), "# Size       Avg Latency(us)\n8  1.5\n", 2, 0},
	} {
		r, err := Read(fstest.MapFS{"a.json": {Data: []byte(c.json)}, "a.txt": {Data: []byte(c.txt)}})
		if err != nil || r.Files() != c.files || len(r.Left) != c.left {
			t.Errorf("%s: %v, %d files, left %v", name, err, r.Files(), r.Left)
		}
	}
}

// closed is a file system in which a file can't be opened, and a directory not
// be read.
type closed struct{ fs.FS }

func (c closed) Open(name string) (fs.File, error) {
	if name == "a.txt" || name == "dir" {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrPermission}
	}
	return c.FS.Open(name)
}

func TestWhatCannotBeOpenedIsNamed(t *testing.T) {
	table := &fstest.MapFile{Data: []byte("# Size       Avg Latency(us)\n8  1.5\n")}
	r, err := Read(closed{fstest.MapFS{"a.txt": table, "dir/b.txt": table, "z.txt": table}})
	if err != nil || r.Files() != 1 || len(r.Left) != 2 {
		t.Fatalf("%v, %+v", err, r)
	}
	for _, l := range r.Left {
		if !errors.Is(l.Reason, fs.ErrPermission) || strings.Contains(l.Reason.Error(), l.Name) {
			t.Errorf("%s: %v", l.Name, l.Reason)
		}
	}
}

func TestADirectoryWithoutResultsIsAnError(t *testing.T) {
	r, err := Read(fstest.MapFS{"a.txt": {Data: []byte("x")}})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.WriteHTML(&bytes.Buffer{}, config()); !errors.Is(err, ErrNoResults) {
		t.Error(err)
	}
	if _, err := Dir(filepath.Join(t.TempDir(), "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	if _, err := Dir("doc.go"); err == nil {
		t.Error("a file is taken for a directory")
	}
}

// tags are a page's elements without their contents.
func tags(page string) string { return strings.Join(tag.FindAllString(page, -1), "") }

var tag = regexp.MustCompile(`</?[a-zA-Z][a-zA-Z0-9]*`)

// hostile makes results in which every text is s.
func hostile(s string) fstest.MapFS {
	q := fmt.Sprintf("%q", strings.ToValidUTF8(s, "?"))
	for _, c := range []string{`\x`, `\a`, `\v`, `\U`} { // Go's quotes are no JSON
		if strings.Contains(q, c) {
			q = `"x"`
		}
	}
	file := "f" + strings.Map(func(r rune) rune {
		if r == '/' || r == 0 || r == '.' {
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "?"))
	machine := `"machine":{"host":` + q + `,"os":` + q + `,"arch":` + q + `,"kernel":` + q + `,"cpu":` + q + `,"cores":2,"go":` + q + `}`
	line := `{"min":1,"q1":2,"median":3,"q3":4,"max":5,"n":3}`
	return fstest.MapFS{
		"bad." + file + ".json": {Data: []byte(`{"kind":` + q + `}`)},
		file + ".txt":           {Data: []byte("# OSU MPI Latency Test v7.4\n# Size       Avg Latency(us)\n8  1.5\n16 1.6\n")},
		"comparison.json": {Data: []byte(`{"kind":"comparison","when":"2026-05-04T10:00:00Z","version":` + q + `,` + machine + `,
			"benchmark":` + q + `,"rounds":3,"names":[` + q + `,` + q + `],"ours":` + q + `,"theirs":` + q + `,"notes":[` + q + `],
			"metrics":[{"name":` + q + `,"better":"lower is better","first":` + q + `,"points":[
				{"datatype":` + q + `,"size":1,"ours":` + line + `,"theirs":` + line + `,"ratio":` + line + `},
				{"datatype":` + q + `,"size":2,"ours":` + line + `,"theirs":` + line + `,"ratio":` + line + `}]}],
			"ranks":2,"fabric":` + q + `,"progress":` + q + `,"places":[{"host":` + q + `,"cores":` + q + `},{"host":"b","cores":"1"}]}`)},
	}
}

// Names come from files, programs and other machines. None becomes a part of the
// page's structure.
func FuzzNames(f *testing.F) {
	for _, s := range []string{"mpich", `<script>alert(1)</script>`, `"><img src=x onerror=alert(1)>`, `' onload='x`, `</title></svg><b>`,
		`]]><!--`, `{{.}}`, "javascript:x", "a\nb", "é世界🎈", "\u202e", "&lt;b&gt;", "", strings.Repeat("W", 500), "</style><style>*{display:none}"} {
		f.Add(s)
	}
	// A name that is clipped has a title, an empty one no line.
	named := regexp.MustCompile(`(?s)<text class="label".*?</text>|<code>[^<]*</code>|<text class="name( x)?"[^>]*>[^<]*</text>`)
	cut := func(page string) string { return tags(named.ReplaceAllString(page, "")) }
	text, p := pageOf(f, hostile("name"))
	plain := cut(text)
	f.Fuzz(func(t *testing.T, s string) {
		got, r := pageOf(t, hostile(s))
		if r.Files() != p.Files() {
			t.Skip("the name makes the document another one")
		}
		if a, b := cut(got), plain; a != b && strings.TrimSpace(s) != "" {
			i := 0
			for i < min(len(a), len(b)) && a[i] == b[i] {
				i++
			}
			t.Errorf("%q changes the page: …%s…", s, a[max(0, i-40):min(len(a), i+60)])
		}
	})
}

// Whatever a file says, the page has it or names it, and no drawing has a number
// that is none.
func FuzzResults(f *testing.F) {
	files, err := filepath.Glob("testdata/results/*")
	if err != nil {
		f.Fatal(err)
	}
	for _, name := range append(files, "testdata/results/runs/bw.openmpi.txt", "testdata/results/runs/bw.shm.1.json") {
		if text, err := os.ReadFile(name); err == nil {
			f.Add(text)
		}
	}
	for _, text := range []string{"0 1\n1 0\n2 1e308\n3 1e-308", "1 5\n1125899906842624 5", "7 5\n7 6", "2 -1\n4 -2", "5 1\n6 1", "1 1\n2 1e-29\n3 1e29"} {
		f.Add([]byte("# Size       Avg Latency(us)\n" + text + "\n"))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		r, err := Read(fstest.MapFS{"a.json": {Data: text}})
		if err != nil {
			t.Fatal(err)
		}
		if r.Files()+len(r.Left) != 1 {
			t.Fatalf("%+v", r)
		}
		if r.Files() == 0 {
			return
		}
		var out bytes.Buffer
		if err := r.WriteHTML(&out, config()); err != nil {
			t.Fatal(err)
		}
		for _, number := range regexp.MustCompile(` (?:x|y|d|width|height|transform)="([^"]*)"`).FindAllStringSubmatch(out.String(), -1) {
			if strings.Contains(number[1], "NaN") || strings.Contains(number[1], "Inf") {
				t.Fatalf("a length of a drawing is %s", number[1])
			}
		}
		for _, h := range regexp.MustCompile(`(?:width|height)="([^"]*)"`).FindAllStringSubmatch(out.String(), -1) {
			if strings.HasPrefix(h[1], "-") {
				t.Fatalf("%s", h[0])
			}
		}
	})
}

func TestASourceSaysWhenItWasMeasured(t *testing.T) {
	_, r := pageOf(t, hostile("x"))
	if got := span(r.sources); got != "2026-05-04" {
		t.Errorf("%q", got)
	}
	if when(source{}) != (time.Time{}) {
		t.Error("a source without a document has a time")
	}
}

package page

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"html"
	"image/color"
	"image/png"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/weft-mpi/weft/internal/testkit/tier"
	"golang.org/x/sys/unix"
)

var shots = flag.String("shots", "", "keep the screenshots in this directory")

// patience is how long a browser may take for a page.
const patience = 5 * time.Minute

// chromium runs the browser on a URL and returns what it prints. The test is
// skipped where there is none.
func chromium(t *testing.T, dark bool, url string, args ...string) string {
	t.Helper()
	tier.Long(t, "it needs a browser")
	var program string
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			program = path
			break
		}
	}
	if program == "" {
		if os.Getenv("WEFT_CI") != "" {
			t.Fatal("chromium is missing: scripts/setup installs it")
		}
		t.Skip("chromium is missing, so no browser looks at the page: scripts/setup installs it")
	}
	// Not t.TempDir: what the browser leaves running may still write.
	home, err := os.MkdirTemp("", "weft-chromium-")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(home)
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	all := []string{"--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars", "--no-first-run",
		"--disable-background-networking", "--disable-component-update", "--disable-sync", "--user-data-dir=" + home}
	if dark {
		all = append(all, "--blink-settings=preferredColorScheme=0")
	}
	cmd := exec.CommandContext(ctx, program, append(append(all, args...), url)...)
	cmd.Env = append(os.Environ(), "HOME="+home, "XDG_CONFIG_HOME="+home, "XDG_CACHE_HOME="+home)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	cmd.SysProcAttr = &unix.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return unix.Kill(-cmd.Process.Pid, unix.SIGKILL) }
	cmd.WaitDelay = time.Second
	err = cmd.Run()
	if cmd.Process != nil {
		unix.Kill(-cmd.Process.Pid, unix.SIGKILL)
	}
	if err != nil {
		t.Fatalf("%s: %v\n%s", program, err, stderr.Bytes())
	}
	return stdout.String()
}

// serve serves pages by their paths, and the page that checks them.
func serve(t *testing.T, pages map[string]string) string {
	mux := http.NewServeMux()
	for path, text := range pages {
		mux.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) {
			kind := "text/html; charset=utf-8"
			if strings.HasPrefix(text, "<svg") {
				kind = "image/svg+xml"
			}
			w.Header().Set("Content-Type", kind)
			fmt.Fprint(w, text)
		})
	}
	mux.HandleFunc("/check", func(w http.ResponseWriter, r *http.Request) { http.ServeFile(w, r, "testdata/check.html") })
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s.URL
}

// layoutCheck is what check.html says.
type layoutCheck struct {
	Dark                   bool
	Drawings, Marks, Texts int
	Problems               []string
}

// checked has the browser check pages at three widths.
func checked(t *testing.T, dark bool, pages map[string]string) (c layoutCheck) {
	t.Helper()
	url := serve(t, pages) + "/check?width=390&width=768&width=1280"
	for path := range pages {
		url += "&page=" + path
	}
	dom := chromium(t, dark, url, "--window-size=1400,900", "--dump-dom")
	m := regexp.MustCompile(`(?s)<pre id="result">(.*?)</pre>`).FindStringSubmatch(dom)
	if m == nil {
		t.Fatalf("no result in\n%.2000s", dom)
	}
	if err := json.Unmarshal([]byte(html.UnescapeString(m[1])), &c); err != nil {
		t.Fatalf("%v in %s", err, m[1])
	}
	return c
}

// many are results of many sizes, peers and extremes.
func many() fstest.MapFS {
	dir := fstest.MapFS{}
	for i, name := range []string{"mpich", "openmpi", "a program of another sort with a long name", "x1", "x2", "x3", "x4", "x5", "x6"} {
		var rate, time strings.Builder
		time.WriteString("# OSU MPI Latency Test v7.4\n# Size       Avg Latency(us)\n")
		rate.WriteString("# OSU MPI Multiple Bandwidth / Message Rate Test v7.4\n# Size                  MB/s        Messages/s\n")
		for n := 1; n <= 1<<30; n *= 2 {
			fmt.Fprintf(&time, "%d %f\n", n, float64(i+1)*(0.1+float64(n)/1e4))
			fmt.Fprintf(&rate, "%d %f %f\n", n, float64(n)*3/float64(i+1), 3e9/float64(i+n))
		}
		dir[name+"/latency.txt"] = &fstest.MapFile{Data: []byte(time.String() + rate.String())}
	}
	dir["odd/latency.txt"] = &fstest.MapFile{Data: []byte("# OSU MPI Latency Test v7.4\n# Size       Avg Latency(us)\n0 1\n3 0\n5 1e-300\n6 1e300\n7 123456789\n11 0.000123\n")}
	dir["flat/overlap.txt"] = &fstest.MapFile{Data: []byte("# Weft MPI Overlap Test\n# Size           Overall(us)       Overlap(%)\n8 5 0\n64 5 0\n512 5 100\n")}
	dir["zero/cpu.txt"] = &fstest.MapFile{Data: []byte("# Weft MPI Idle CPU Test\n# Wall(s)             CPU(s)           Core(%)\n5.0 0.0000 0.00\n")}
	return dir
}

func TestTheLayoutHoldsInABrowser(t *testing.T) {
	pages := map[string]string{}
	pages["/testdata"], _ = pageOf(t, os.DirFS("testdata/results"))
	pages["/many"], _ = pageOf(t, many())
	pages["/wide"], _ = pageOf(t, hostile(strings.Repeat("W", 300)))
	pages["/foreign"], _ = pageOf(t, hostile(strings.Repeat("漢字", 60)+" \"<b>&'"))
	pages["/comparison"] = svgOf(t, sample("osu-go", "theirs", "Avg Latency(us)", "MB/s"))
	pages["/names"] = svgOf(t, sample(strings.Repeat("W", 300), strings.Repeat("漢字", 60), strings.Repeat("M", 200)))
	for _, dark := range []bool{false, true} {
		c := checked(t, dark, pages)
		for _, p := range c.Problems {
			t.Errorf("dark %t: %s", dark, p)
		}
		if c.Dark != dark || c.Drawings < 60 || c.Marks < 1000 || c.Texts < 500 {
			t.Errorf("dark %t, seen: dark %t, %d drawings, %d marks, %d texts", dark, c.Dark, c.Drawings, c.Marks, c.Texts)
		}
	}
}

func TestABrowserSeesABrokenLayout(t *testing.T) {
	good, _ := pageOf(t, os.DirFS("testdata/results"))
	place := regexp.MustCompile(`(class="mark s0" transform="translate\()[0-9.]+ [0-9.]+\)("[^>]*>\n<path)`)
	faults := map[string]struct{ from, to, want string }{
		"mark":     {place.FindString(good), place.ReplaceAllString(place.FindString(good), "${1}30 30)$2"), "outside of the frame"},
		"text":     {`</text>`, `</text><text class="tick" x="180" y="100">one</text><text class="tick" x="185" y="102">two</text>`, "overlap"},
		"overflow": {"<main>", `<main><p style="width:3000px">x</p>`, "wide in"},
		"name":     {`<text class="name" x="4"`, `<text class="name" x="300"`, "leaves the drawing"},
		"pale":     {"--ink: #1b1f24", "--ink: #cccccc", "contrast"},
	}
	pages := map[string]string{}
	for name, f := range faults {
		if f.from == "" || !strings.Contains(good, f.from) {
			t.Fatalf("%s: the page has no %q", name, f.from)
		}
		pages["/"+name] = strings.Replace(good, f.from, f.to, 1)
	}
	sheet := svgOf(t, sample("osu-go", "theirs", "Avg Latency(us)"))
	faults["sheet"] = struct{ from, to, want string }{"", "", "overlap"}
	pages["/sheet"] = strings.Replace(sheet, `y="44"`, `y="28"`, 1)
	problems := checked(t, false, pages).Problems
	for name, f := range faults {
		seen := slices.ContainsFunc(problems, func(p string) bool { return strings.HasPrefix(p, "/"+name+" at ") && strings.Contains(p, f.want) })
		if !seen {
			t.Errorf("%s: the problems are %q, want %q", name, problems, f.want)
		}
	}
}

// A screenshot has the colours of the curves on the card's ground.
func TestAScreenshotShowsCurves(t *testing.T) {
	text, _ := pageOf(t, os.DirFS("testdata/results"))
	url := serve(t, map[string]string{"/report": text}) + "/report"
	dir := *shots
	if dir == "" {
		dir = t.TempDir()
	}
	for name, c := range map[string]struct {
		dark   bool
		width  int
		ground color.RGBA
		curves []color.RGBA
	}{
		"light": {false, 1280, color.RGBA{255, 255, 255, 255}, []color.RGBA{{0, 0x72, 0xb2, 255}, {0xd5, 0x5e, 0, 255}, {0x35, 0x61, 0x1c, 255}}},
		"dark":  {true, 700, color.RGBA{0x18, 0x1c, 0x22, 255}, []color.RGBA{{0x56, 0xb4, 0xe9, 255}, {0xff, 0x8a, 0x3d, 255}, {0xa5, 0xe0, 0x75, 255}}},
	} {
		file := filepath.Join(dir, "report-"+name+".png")
		chromium(t, c.dark, url, fmt.Sprintf("--window-size=%d,3000", c.width), "--screenshot="+file)
		f, err := os.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		img, err := png.Decode(f)
		f.Close()
		if err != nil {
			t.Fatal(err)
		}
		seen := map[color.RGBA]int{}
		for y := range img.Bounds().Dy() {
			for x := range img.Bounds().Dx() {
				seen[color.RGBAModel.Convert(img.At(x, y)).(color.RGBA)]++
			}
		}
		if seen[c.ground] < 100_000 {
			t.Errorf("%s: %d pixels of the cards' ground", name, seen[c.ground])
		}
		for _, of := range c.curves {
			if seen[of] < 200 {
				t.Errorf("%s: %d pixels of the curve %v", name, seen[of], of)
			}
		}
	}
}

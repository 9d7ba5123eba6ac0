package metrics_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/weft-mpi/weft/internal/testkit/tier"
	"github.com/weft-mpi/weft/metrics"
	"github.com/weft-mpi/weft/progress/counters"
)

// needs returns the path of a program of Debian's package prometheus.
func needs(t *testing.T, program string) string {
	t.Helper()
	path, err := exec.LookPath(program)
	switch {
	case err == nil:
	case os.Getenv("WEFT_CI") == "1":
		t.Fatalf("%v: apt-get install prometheus", err)
	default:
		t.Skipf("%v: apt-get install prometheus", err)
	}
	return path
}

// text is what a scrape of two ranks gets.
func text(t *testing.T) string {
	t.Helper()
	s := everything(t)
	addr, err := metrics.ServeRanks(t.Context(), ":0", func() map[int]counters.Snapshot {
		return map[int]counters.Snapshot{0: s, 1: s}
	})
	if err != nil {
		t.Fatal(err)
	}
	_, page := get(t, "GET", "http://"+addr.String()+"/metrics")
	return page
}

// promtool finds nothing to say about names, units and help.
func TestPromtoolPassesTheNames(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), needs(t, "promtool"), "check", "metrics")
	cmd.Stdin = strings.NewReader(text(t))
	if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("%v:\n%s", err, out)
	}
}

// The alerts are rules, and each does what its test in deploy says.
func TestPromtoolPassesTheAlerts(t *testing.T) {
	promtool := needs(t, "promtool")
	for _, args := range [][]string{{"check", "rules", "alerts.yml"}, {"test", "rules", "alerts_test.yml"}} {
		cmd := exec.CommandContext(t.Context(), promtool, args...)
		cmd.Dir = "../deploy"
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("promtool %v: %v:\n%s", args, err, out)
		}
	}
	rules, err := os.ReadFile("../deploy/alerts.yml")
	if err != nil {
		t.Fatal(err)
	}
	tests, err := os.ReadFile("../deploy/alerts_test.yml")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile(`alert: (\w+)`).FindAllStringSubmatch(string(rules), -1) {
		if !strings.Contains(string(tests), "alertname: "+m[1]+"\n") {
			t.Errorf("%s has no test", m[1])
		}
	}
}

// server is a running Prometheus.
type server struct {
	url string
	log *strings.Builder // what it has printed until it listened
}

// startPrometheus starts one that scrapes a target.
func startPrometheus(t *testing.T, target string, args ...string) *server {
	t.Helper()
	program, dir := needs(t, "prometheus"), t.TempDir()
	alerts, err := filepath.Abs("../deploy/alerts.yml")
	if err != nil {
		t.Fatal(err)
	}
	config := filepath.Join(dir, "prometheus.yml")
	if err := os.WriteFile(config, fmt.Appendf(nil, `
global: {scrape_interval: 200ms, evaluation_interval: 200ms}
rule_files: [%q]
scrape_configs:
  - job_name: weft
    static_configs: [{targets: [%q]}]
`, alerts, target), 0o644); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	cmd := exec.CommandContext(ctx, program, append([]string{"--config.file=" + config, "--storage.tsdb.path=" + filepath.Join(dir, "data"),
		"--web.listen-address=127.0.0.1:0"}, args...)...)
	out, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		stop()
		cmd.Wait()
	})
	s := &server{log: &strings.Builder{}}
	lines, listens := bufio.NewScanner(out), regexp.MustCompile(`msg="Listening on" address=([0-9.:]+)`)
	for lines.Scan() {
		fmt.Fprintln(s.log, lines.Text())
		if m := listens.FindStringSubmatch(lines.Text()); m != nil {
			s.url = "http://" + m[1]
			break
		}
	}
	if s.url == "" {
		t.Fatalf("prometheus does not listen:\n%s", s.log)
	}
	go func() { // or it would block
		for lines.Scan() {
		}
	}()
	return s
}

// ask returns the value of a query with one result, or "" if it has none yet.
func (s *server) ask(t *testing.T, query string) string {
	t.Helper()
	code, body := get(t, "GET", s.url+"/api/v1/query?query="+url.QueryEscape(query))
	var reply struct {
		Data struct {
			Result []struct{ Value [2]any }
		}
		Error string
	}
	if code == 503 { // it is not ready
		return ""
	}
	if err := json.Unmarshal([]byte(body), &reply); err != nil || reply.Error != "" {
		t.Fatalf("%s: status %d: %s", query, code, body)
	}
	if len(reply.Data.Result) == 0 {
		return ""
	}
	return fmt.Sprint(reply.Data.Result[0].Value[1])
}

// becomes waits until a query has a value.
func (s *server) becomes(t *testing.T, query, want string) {
	t.Helper()
	each := time.NewTicker(50 * time.Millisecond)
	defer each.Stop()
	got := ""
	for end := time.Now().Add(patience); ; <-each.C {
		if got = s.ask(t, query); got == want {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("%s is %q, not %q", query, got, want)
		}
	}
}

// A Prometheus that scrapes a running job knows what it has done.
func TestPrometheusScrapesARunningJob(t *testing.T) {
	tier.Long(t, "it needs another program's daemon")
	needs(t, "prometheus")
	j := start(t, "shm")
	addr, err := metrics.ServeRanks(t.Context(), ":0", j.all)
	if err != nil {
		t.Fatal(err)
	}
	for _, native := range []bool{false, true} {
		t.Run(fmt.Sprintf("native histograms %t", native), func(t *testing.T) {
			args, count := []string{}, `sum(weft_message_size_bytes_count{rank="0",direction="sent"})`
			if native {
				args, count = append(args, "--enable-feature=native-histograms"), `sum(histogram_count(weft_message_size_bytes{rank="0",direction="sent"}))`
			}
			p := startPrometheus(t, addr.String(), args...)
			p.becomes(t, `up{job="weft"}`, "1")
			for _, c := range []struct{ query, want string }{
				{`weft_ranks`, "2"},
				{`count(weft_build_info)`, "1"},
				{`sum(weft_coll_calls_total{op="Allreduce",rank="0"})`, fmt.Sprint(allreduces)},
				{`sum(weft_coll_calls_total{op="Iallreduce"})`, fmt.Sprint(ranks * begunRounds)},
				{`sum(weft_part_rounds_total{direction="sent"})`, fmt.Sprint(partRounds)},
				{`sum(weft_bytes_total{rank="0",direction="sent"}) >= bool ` + fmt.Sprint(longMessages*longBytes), "1"},
				{`sum(weft_messages_total{rank="1",direction="received"}) == bool sum(weft_messages_total{rank="0",direction="sent"})`, "1"},
				{`count({__name__=~"weft_.*",rank="0"}) <= bool 400`, "1"},
				{count + ` == bool sum(weft_messages_total{rank="0",direction="sent"})`, "1"},
				{`count(ALERTS{alertname="WeftPeerDied"}) or vector(0)`, "0"},
			} {
				p.becomes(t, c.query, c.want)
			}
			if native {
				// Messages of 1 MB are in one bucket with no others of this job that are longer than 512 KB.
				p.becomes(t, `sum(histogram_fraction(524288, 1048576, weft_message_size_bytes{rank="0",direction="sent"}) * histogram_count(weft_message_size_bytes{rank="0",direction="sent"}))`, fmt.Sprint(longMessages))
				return
			}
			p.becomes(t, `sum(weft_message_size_bytes_bucket{rank="0",direction="sent",le="1.048576e+06"}) - sum(weft_message_size_bytes_bucket{rank="0",direction="sent",le="262144"})`, fmt.Sprint(longMessages))
		})
	}
}

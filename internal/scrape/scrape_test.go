package scrape

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/weft-mpi/weft/internal/peek"
	"github.com/weft-mpi/weft/progress/counters"
)

const patience = 5 * time.Minute

func newJob() string {
	var id [16]byte
	rand.Read(id[:])
	return hex.EncodeToString(id[:])
}

// counts are those of a rank.
func counts(n, posted, most uint64) counters.Snapshot {
	var s counters.Snapshot
	s.Add(counters.Family{Name: "weft_messages_total", Help: "A."}, n)
	s.Add(counters.Family{Name: "weft_posted_receives", Help: "B.", Gauge: true}, posted)
	s.Add(counters.Family{Name: "weft_unexpected_messages_max", Help: "C.", Gauge: true}, most)
	return s
}

// listen has a rank reply.
func listen(t *testing.T, job string, rank int, now, last func() (any, error)) *peek.Server {
	t.Helper()
	s, err := peek.Serve(peek.Config{About: peek.About{Job: job, Rank: rank}, Answers: map[string]peek.Answer{
		"snapshot": {Patience: 100 * time.Millisecond, Give: now},
	}, Last: peek.Answer{Patience: patience, Give: last}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

func say(s counters.Snapshot) func() (any, error) { return func() (any, error) { return s, nil } }

// command is a command that shows a job.
type command struct {
	*Server
	file string
	url  string
	mu   sync.Mutex
	text bytes.Buffer
}

func (c *command) Write(b []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.text.Write(b)
}

func (c *command) said() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.text.String()
}

func show(t *testing.T) *command {
	t.Helper()
	c := &command{file: filepath.Join(t.TempDir(), "weft.prom")}
	s, err := Start(Config{Command: "test", Addr: ":0", File: c.file, Messages: c})
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile(`^test: metrics at (http://127.0.0.1:\d+/metrics)\n$`).FindStringSubmatch(c.said())
	if m == nil {
		t.Fatalf("it says %q", c.said())
	}
	c.Server, c.url = s, m[1]
	t.Cleanup(func() {
		if c.ctx.Err() == nil {
			c.Close()
		}
	})
	return c
}

// page is what a scrape gets, without comments.
func (c *command) page(t *testing.T) string {
	t.Helper()
	resp, err := http.Get(c.url)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != 200 {
		t.Fatalf("status %d, %v: %s", resp.StatusCode, err, b)
	}
	return string(b)
}

// has tells what the page lacks, and what it has and should not.
func has(page string, want, not []string) (wrong string) {
	for _, w := range want {
		if !strings.Contains(page, "\n"+w+"\n") {
			wrong += fmt.Sprintf("%q is missing\n", w)
		}
	}
	for _, n := range not {
		if strings.Contains(page, "\n"+n) {
			wrong += fmt.Sprintf("%q is there\n", n)
		}
	}
	return wrong
}

// becomes scrapes until the page is right: on a slow machine a rank may miss a scrape.
func (c *command) becomes(t *testing.T, want, not []string) {
	t.Helper()
	for end := time.Now().Add(patience); ; time.Sleep(time.Millisecond) {
		page := c.page(t)
		wrong := has(page, want, not)
		if wrong == "" {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("%sin:\n%s", wrong, page)
		}
	}
}

func TestTheRanksOfAJobAreShown(t *testing.T) {
	c, job := show(t), newJob()
	if page := c.page(t); has(page, []string{"weft_ranks 0"}, []string{"weft_up"}) != "" {
		t.Errorf("before the job: %s", page)
	}
	c.Begun(job, peek.Key{}, 3)
	c.becomes(t, []string{`weft_up{rank="0"} 0`, `weft_up{rank="2"} 0`, "weft_ranks 3"}, []string{"weft_messages_total"})
	for rank := range 2 {
		s := counts(uint64(10+rank), 3, 4)
		listen(t, job, rank, say(s), say(s))
	}
	c.becomes(t, []string{`weft_up{rank="0"} 1`, `weft_up{rank="1"} 1`, `weft_up{rank="2"} 0`, `weft_messages_total{rank="0"} 10`,
		`weft_messages_total{rank="1"} 11`, `weft_posted_receives{rank="1"} 3`}, []string{`weft_messages_total{rank="2"}`})
}

// A rank that has left keeps what it has done, as it says in the end; what there was at a
// moment is gone. When it comes back it counts on.
func TestARankThatHasLeftKeepsItsCounters(t *testing.T) {
	for _, told := range []bool{true, false} {
		t.Run(fmt.Sprintf("with last words %t", told), func(t *testing.T) {
			c, job := show(t), newJob()
			c.Begun(job, peek.Key{}, 1)
			s := listen(t, job, 0, say(counts(10, 3, 4)), say(counts(12, 0, 6)))
			c.becomes(t, []string{`weft_up{rank="0"} 1`, `weft_messages_total{rank="0"} 10`, `weft_posted_receives{rank="0"} 3`}, nil)
			n, most := 10, 4
			if told {
				n, most = 12, 6
				s.Farewell()
				c.hears.Close()
			}
			s.Close()
			c.becomes(t, []string{`weft_up{rank="0"} 0`, fmt.Sprintf(`weft_messages_total{rank="0"} %d`, n), fmt.Sprintf(`weft_unexpected_messages_max{rank="0"} %d`, most)},
				[]string{"weft_posted_receives"})
			listen(t, job, 0, say(counts(20, 1, 6)), say(counts(21, 0, 6)))
			c.becomes(t, []string{`weft_up{rank="0"} 1`, `weft_messages_total{rank="0"} 20`, `weft_posted_receives{rank="0"} 1`}, nil)
		})
	}
}

// What is shown of a rank follows what it has told, and whether it listens.
func TestWhatIsShownOfARank(t *testing.T) {
	told := func(n, posted, most uint64) *peek.Result {
		b, err := json.Marshal(counts(n, posted, most))
		if err != nil {
			t.Fatal(err)
		}
		return &peek.Result{Reply: peek.Reply{Body: b}}
	}
	r := ranks{warn: func(err error) { t.Error(err) }}
	r.begin(newJob(), peek.Key{}, 1) // nobody listens
	for _, step := range []struct {
		what string
		does func() counters.Snapshot
		want string // the families and their values
	}{
		{"before", func() counters.Snapshot { return r.snapshots()[0] }, "weft_up 0 "},
		{"a reply", func() counters.Snapshot { return r.rank[0].shown(r.take(0, told(10, 3, 4))) },
			"weft_messages_total 10 weft_posted_receives 3 weft_unexpected_messages_max 4 weft_up 1 "},
		{"it has ended", func() counters.Snapshot { return r.snapshots()[0] }, "weft_messages_total 10 weft_unexpected_messages_max 4 weft_up 0 "},
		{"it is back", func() counters.Snapshot { return r.rank[0].shown(r.take(0, told(12, 1, 4))) },
			"weft_messages_total 12 weft_posted_receives 1 weft_unexpected_messages_max 4 weft_up 1 "},
		{"it leaves", func() counters.Snapshot { r.leave(*told(15, 2, 5)); return r.rank[0].shown(false) },
			"weft_messages_total 15 weft_unexpected_messages_max 5 weft_up 0 "},
		{"the end", func() counters.Snapshot { return r.left()[0] }, "weft_messages_total 15 weft_unexpected_messages_max 5 weft_up 0 "},
	} {
		got := ""
		for _, f := range step.does().Families {
			got += fmt.Sprintln(f.Name, f.Rows[0].Value)
		}
		if got = strings.ReplaceAll(got, "\n", " "); got != step.want {
			t.Errorf("%s: %q instead of %q", step.what, got, step.want)
		}
	}
}

// Only a rank that has replied with its counters is up.
func TestUpIsThatOfTheReply(t *testing.T) {
	body := func(v any) []byte {
		b, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	for _, c := range []struct {
		name string
		r    peek.Result
		up   bool
	}{
		{"a snapshot", peek.Result{Reply: peek.Reply{Body: body(counts(1, 2, 3))}}, true},
		{"a snapshot of the same user", peek.Result{UID: uint32(os.Geteuid()), Reply: peek.Reply{Body: body(counts(1, 2, 3))}}, true},
		{"a snapshot of another user", peek.Result{UID: uint32(os.Geteuid()) + 7, Reply: peek.Reply{Body: body(counts(1, 2, 3))}}, false},
		{"a busy owner", peek.Result{Reply: peek.Reply{Busy: 3}}, false},
		{"an error", peek.Result{Reply: peek.Reply{Error: "none", Body: body(counts(1, 2, 3))}}, false},
		{"no reply", peek.Result{Err: os.ErrDeadlineExceeded}, false},
		{"nonsense", peek.Result{Reply: peek.Reply{Body: body("x")}}, false},
	} {
		r := ranks{warn: func(error) {}}
		r.begin(newJob(), peek.Key{}, 1)
		if up := r.take(0, &c.r); up != c.up {
			t.Errorf("%s: up is %t", c.name, up)
		}
	}
}

// A reply that was on its way while the rank has left is older than its last words.
func TestLastWordsAreNotUndoneByAnOlderReply(t *testing.T) {
	c, job, asked, goOn := show(t), newJob(), make(chan struct{}), make(chan struct{})
	s, err := peek.Serve(peek.Config{About: peek.About{Job: job}, Answers: map[string]peek.Answer{
		"snapshot": {Give: func() (any, error) { close(asked); <-goOn; return counts(10, 3, 4), nil }},
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	c.ranks.begin(job, peek.Key{}, 1)
	told := make(chan map[int]counters.Snapshot)
	go func() { told <- c.ranks.snapshots() }()
	<-asked
	body, err := json.Marshal(counts(12, 0, 4))
	if err != nil {
		t.Fatal(err)
	}
	c.ranks.leave(peek.Result{Reply: peek.Reply{Body: body}})
	close(goOn)
	got := (<-told)[0]
	if n, up := got.Value("weft_messages_total"), got.Value("weft_up"); n != 12 || up != 0 {
		t.Errorf("%d messages, up %d", n, up)
	}
}

// A scrape waits neither for a rank whose process is stopped nor for one whose owner is
// busy: it has what they said before.
func TestAStuckRankHoldsUpNobody(t *testing.T) {
	c, job, free := show(t), newJob(), make(chan struct{})
	defer close(free)
	c.Begun(job, peek.Key{}, 3)
	listen(t, job, 0, say(counts(10, 0, 0)), say(counts(10, 0, 0)))
	stuck := make(chan struct{})
	listen(t, job, 1, func() (any, error) {
		select {
		case <-stuck:
			<-free
		default:
		}
		return counts(11, 5, 0), nil
	}, say(counts(11, 5, 0)))
	silent, err := net.ListenUnix("unix", &net.UnixAddr{Name: "@weft/" + job + "/2", Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	c.becomes(t, []string{`weft_up{rank="1"} 1`, `weft_posted_receives{rank="1"} 5`, `weft_up{rank="2"} 0`}, nil)
	close(stuck)
	c.becomes(t, []string{`weft_up{rank="0"} 1`, `weft_up{rank="1"} 0`, `weft_up{rank="2"} 0`, `weft_messages_total{rank="0"} 10`,
		`weft_messages_total{rank="1"} 11`, `weft_posted_receives{rank="1"} 5`}, nil)
}

// A rank that sends nonsense leaves the others alone, and is named once.
func TestNonsenseOfARankIsNotShown(t *testing.T) {
	for name, nonsense := range map[string]func() (any, error){
		"no snapshot":     anything("x"),
		"a name":          anything(map[string]any{"Families": []any{map[string]any{"Name": "go_threads", "Rows": []any{map[string]any{"Value": 1}}}}}),
		"another family":  anything(map[string]any{"Families": []any{map[string]any{"Name": "weft_messages_total", "Help": "Z.", "Rows": []any{map[string]any{"Value": 1}}}}}),
		"far too much":    anything(strings.Repeat("x", 2<<20)),
		"a label's value": anything(map[string]any{"Families": []any{map[string]any{"Name": "weft_x", "Labels": []string{"y"}, "Rows": []any{map[string]any{"Values": []string{"\x00"}}}}}}),
	} {
		t.Run(name, func(t *testing.T) {
			c, job := show(t), newJob()
			listen(t, job, 0, say(counts(10, 0, 0)), say(counts(10, 0, 0)))
			c.Begun(job, peek.Key{}, 2)
			c.becomes(t, []string{`weft_up{rank="0"} 1`, `weft_up{rank="1"} 0`}, nil)
			listen(t, job, 1, nonsense, nonsense)
			for !strings.Contains(c.said(), "test: the counters of rank 1 are not shown: ") {
				c.page(t)
			}
			c.becomes(t, []string{`weft_up{rank="0"} 1`, `weft_up{rank="1"} 0`}, []string{`weft_messages_total{rank="1"}`, "weft_x", "go_threads"})
			if n := strings.Count(c.said(), "not shown"); n != 1 {
				t.Errorf("it is said %d times: %s", n, c.said())
			}
		})
	}
}

func anything(v any) func() (any, error) { return func() (any, error) { return v, nil } }

// The file is there from the start, and has in the end what all ranks have done, also
// those that nobody has asked before.
func TestTheFileHasTheCountersOfTheEnd(t *testing.T) {
	c, job := show(t), newJob()
	read := func() string {
		b, err := os.ReadFile(c.file)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	if text := read(); !strings.Contains(text, "\nweft_ranks 0\n") {
		t.Errorf("at the start: %s", text)
	}
	c.Begun(job, peek.Key{}, 2)
	var all []*peek.Server
	for rank := range 2 {
		all = append(all, listen(t, job, rank, say(counts(1, 1, 1)), say(counts(uint64(20+rank), 1, 1))))
	}
	stranger := listen(t, job, 2, say(counts(1, 1, 1)), say(counts(22, 1, 1)))
	for _, s := range append(all, stranger) {
		s.Farewell()
		s.Close()
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	text := read()
	if wrong := has(text, []string{`weft_messages_total{rank="0"} 20`, `weft_messages_total{rank="1"} 21`, `weft_up{rank="0"} 0`, `weft_up{rank="1"} 0`}, []string{"weft_posted_receives"}); wrong != "" {
		t.Errorf("%sin:\n%s", wrong, text)
	}
	if files, _ := os.ReadDir(filepath.Dir(c.file)); len(files) != 1 {
		t.Errorf("the directory has %v", files)
	}
}

// Close waits for no rank.
func TestCloseEndsTheServer(t *testing.T) {
	c, job := show(t), newJob()
	listen(t, job, 0, say(counts(1, 0, 0)), say(counts(1, 0, 0)))
	c.Begun(job, peek.Key{}, 2)
	c.becomes(t, []string{`weft_up{rank="0"} 1`}, nil)
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	for end := time.Now().Add(patience); ; time.Sleep(time.Millisecond) {
		if _, err := http.Get(c.url); err != nil {
			return
		}
		if time.Now().After(end) {
			t.Fatal("it still serves")
		}
	}
}

func TestWhatCanNotBeServedIsAnErrorAtOnce(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for _, c := range []struct {
		cfg  Config
		want string
	}{
		{Config{Addr: "9464"}, "HOST:PORT"}, {Config{Addr: l.Addr().String()}, "address already in use"},
		{Config{File: filepath.Join(t.TempDir(), "missing", "weft.prom")}, "no such file"},
	} {
		c.cfg.Messages = io.Discard
		if s, err := Start(c.cfg); s != nil || err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v", c.cfg, err)
		}
	}
	if s, err := Start(Config{}); s != nil || err != nil || s.Close() != nil {
		t.Errorf("nothing to show: %v", err)
	}
}

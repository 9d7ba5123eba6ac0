package launch

import (
	"bytes"
	"errors"
	"io"
	"reflect"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/weft-mpi/weft/mpi/cause"
)

func aSetup() *setup {
	s := &setup{size: 5, ranks: []int{1, 2, 4}, dir: "/tmp/x", path: "./p", args: []string{"", "a b"}, env: []string{"A=1", "B=\xff"},
		bound: true, stdin: true, slack: time.Millisecond, grace: time.Second, silence: time.Hour}
	s.id[0], s.key[31], s.early[1] = 1, 2, true
	return s
}

func TestAnAgentReadsWhatTheLauncherWrites(t *testing.T) {
	if got, err := parseSetup(aSetup().append(nil)); err != nil || !reflect.DeepEqual(got, aSetup()) {
		t.Errorf("%+v, %v", got, err)
	}
	for _, r := range []report{
		{rank: 3, order: 7, ended: true},
		{rank: theJob, order: 1, err: &told{text: "words"}},
		{rank: 1, order: 2, err: &cause.AbortError{Rank: 1, Code: 255, Why: "why"}},
		{rank: 1, order: 2, err: &ExitError{Rank: 1, Code: 3}, ended: true},
		{rank: 1, order: 2, err: &ExitError{Rank: 1, Code: -1, Signal: syscall.SIGKILL}, ended: true},
		{rank: 1, order: 2, err: &ExitError{Rank: 1, Err: ErrNotFinalized}, ended: true},
		{rank: 1, order: 2, err: &ExitError{Rank: 1, Code: -1, Err: &told{"garbage", ErrProtocol}}},
		{rank: 1, order: 2, err: &ExitError{Rank: 1, Code: -1, Err: errors.New("wait: no child")}},
	} {
		if got, err := parseReport(appendReport(nil, r)); err != nil || !reflect.DeepEqual(got, r) {
			t.Errorf("%+v comes back as %+v, %v", r, got, err)
		}
	}
	for _, s := range []said{{1, 2, false, []byte("x\n")}, {0, 2, true, []byte{}}} {
		if got, err := parseSaid(s.append(nil)); err != nil || !reflect.DeepEqual(got, s) {
			t.Errorf("%+v comes back as %+v, %v", s, got, err)
		}
	}
	if got, err := parseSignalTo(signalTo{9, true, noRank}.append(nil)); err != nil || got != (signalTo{9, true, noRank}) {
		t.Errorf("%+v, %v", got, err)
	}
	if got, err := parseGone(gone{2, 9, "why"}.append(nil), 3); err != nil || got != (gone{2, 9, "why"}) {
		t.Errorf("%+v, %v", got, err)
	}
	if got, err := parseCredit(credit{creditIn, 1 << 20}.append(nil)); err != nil || got != (credit{creditIn, 1 << 20}) {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestWhatIsNoFrameOfAnAgentIsRefused(t *testing.T) {
	whole := aSetup().append(nil)
	unsorted, tooMany, none := aSetup(), aSetup(), aSetup()
	unsorted.ranks, tooMany.ranks, none.ranks = []int{2, 1}, []int{1, 5}, nil
	for name, p := range map[string][]byte{
		"cut":                    whole[:len(whole)-1],
		"longer":                 append(whole[:len(whole):len(whole)], 0),
		"empty":                  nil,
		"ranks out of order":     unsorted.append(nil),
		"a rank beyond the job":  tooMany.append(nil),
		"no ranks":               none.append(nil),
		"more ranks than memory": append(make([]byte, 48), 0xff, 0xff, 0xff, 0xff, 0xff, 1),
	} {
		if _, err := parseSetup(p); !errors.Is(err, ErrProtocol) {
			t.Errorf("setup, %s: %v", name, err)
		}
	}
	for name, err := range map[string]error{
		"report of no class":        second(parseReport(make([]byte, 14)[:13])),
		"report of class 9":         second(parseReport(append(make([]byte, 13), 9))),
		"output of stream 2":        second(parseSaid([]byte{2, 0, 0, 0, 0, 0, 'x'})),
		"output without text":       second(parseSaid([]byte{1, 0, 0, 0, 0, 0})),
		"text behind the end":       second(parseSaid([]byte{1, 0, 0, 0, 0, 1, 'x'})),
		"credit for stream 3":       second(parseCredit([]byte{3, 0, 0, 0, 0})),
		"signal, cut":               second(parseSignalTo([]byte{9, 1, 0})),
		"signal that is told 2":     second(parseSignalTo([]byte{9, 2, 0, 0, 0, 0})),
		"gone, a rank of elsewhere": second(parseGone(gone{rank: 3}.append(nil), 3)),
	} {
		if !errors.Is(err, ErrProtocol) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func second[T any](_ T, err error) error { return err }

func FuzzAgentFrames(f *testing.F) {
	f.Add(byte(kindSetup), aSetup().append(nil))
	f.Add(byte(kindReport), appendReport(nil, report{rank: 1, order: 2, err: &ExitError{Rank: 1, Code: 3, Err: ErrNotFinalized}}))
	f.Add(byte(kindOutput), said{1, 2, false, []byte("x")}.append(nil))
	f.Add(byte(kindGone), gone{2, 9, "why"}.append(nil))
	f.Add(byte(kindSignal), signalTo{9, true, 1}.append(nil))
	f.Add(byte(kindCredit), credit{1, 2}.append(nil))
	f.Fuzz(func(t *testing.T, kind byte, p []byte) {
		var back []byte
		var err error
		switch frameKind(kind) {
		case kindSetup:
			var s *setup
			if s, err = parseSetup(p); err == nil { // a number has several forms as a uvarint
				again, err := parseSetup(s.append(nil))
				if err != nil || !reflect.DeepEqual(again, s) {
					t.Fatalf("%+v comes back as %+v, %v", s, again, err)
				}
			}
			return
		case kindReport:
			var r report
			if r, err = parseReport(p); err == nil && r.err != nil {
				_ = r.err.Error()
			}
			return
		case kindOutput:
			var s said
			s, err = parseSaid(p)
			back = s.append(nil)
		case kindGone:
			var g gone
			g, err = parseGone(p, 3)
			back = g.append(nil)
			back = append(back, p[min(len(back), len(p)):]...) // a long reason is cut off
		case kindSignal:
			var s signalTo
			s, err = parseSignalTo(p)
			back = s.append(nil)
		case kindCredit:
			var c credit
			c, err = parseCredit(p)
			back = c.append(nil)
		default:
			return
		}
		if err == nil && !bytes.Equal(back, p) {
			t.Fatalf("%x was read, %x written", p, back)
		}
	})
}

// What a link sends comes as it was sent, whatever a host says first.
func TestLinksSkipWhatComesBeforeTheAgent(t *testing.T) {
	for _, c := range []struct{ before, says string }{
		{"", ""},
		{"\n", ""},
		{"Welcome\nto host a\n", ""},
		{"no newline at the end", ""},
		{strings.Repeat("long ", 10<<10), ""},
		{preamble[:5], ""},
		{strings.Repeat("x", maxNoise) + "\n", "no agent, but"},
		{strings.Repeat("x\n", maxNoise), "no agent, but"},
	} {
		r, w := io.Pipe()
		go func() { // the rest of what is too long is not read
			io.WriteString(w, c.before)
			b := newLink(strings.NewReader(""), w, 3)
			b.post([]byte(preamble))
			b.send(kindPing, nil)
			b.send(kindOffers, appendOffer(nil, 3, []byte("\n\nx")))
		}()
		a := newLink(r, nowhere{}, 3)
		err := a.skip()
		if c.says != "" {
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%.20q: %v", c.before, err)
			}
			r.Close()
			continue
		}
		one, _, err1 := a.read()
		two, p, err2 := a.read()
		if err = errors.Join(err, err1, err2); err != nil || one != kindPing || two != kindOffers || string(p[8:]) != "\n\nx" {
			t.Errorf("%.20q: kinds %d, %d, %q, %v", c.before, one, two, p, err)
		}
		a.cut()
		r.Close()
	}
}

package peek

import (
	"errors"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
)

// What a rank says is printable when it is decoded, wherever it stands, and otherwise as
// it was said.
func TestTextOfARankIsPrintable(t *testing.T) {
	const bad, good = "a\x1b[2J\n=> b\u202e", `a\x1b[2J\n=> b\u202e`
	type body struct {
		Text  string
		Rows  []body
		Named map[string]string
		Big   uint64
	}
	say := func(text string) body {
		return body{text, []body{{Text: text}, {Text: "Größe <\"\\>"}}, map[string]string{text: text}, 1<<64 - 1}
	}
	job := jobOf(t)
	serve(t, Config{About: About{Job: job, Fabric: bad}, Answers: map[string]Answer{
		"body": give(say(bad)), "stacks": give("main.main()\n\tmain.go:1\n\x1b[2J"),
		"number": give(strings.Repeat("\x1b", 9)), "error": {Give: func() (any, error) { return nil, errors.New(bad) }},
	}})
	ask := func(what string) Result { return Ask(within(t), []Name{NameOf(Key{}, job, 0)}, what)[0] }
	var got body
	if r := ask("body"); r.Unmarshal(&got) != nil || !reflect.DeepEqual(got, say(good)) || r.Fabric != good {
		t.Errorf("%#v\n%q", got, r.Fabric)
	}
	var stacks string
	if r := ask("stacks"); r.Unmarshal(&stacks) != nil || stacks != "main.main()\n\tmain.go:1\n\\x1b[2J" {
		t.Errorf("%q", stacks)
	}
	if r := ask("error"); r.Error != good {
		t.Errorf("%q", r.Error)
	}
	if r := ask("number"); r.Unmarshal(new(int)) == nil || strings.Contains(r.Unmarshal(new(int)).Error(), "\x1b") {
		t.Errorf("%q", r.Unmarshal(new(int)))
	}
}

func TestAllRepliesHaveOneLimitTogether(t *testing.T) {
	job := jobOf(t)
	serve(t, Config{About: About{Job: job}, Answers: map[string]Answer{"long": give(strings.Repeat("x", 60<<10))}})
	var room atomic.Int64
	room.Store(150 << 10)
	for i, want := range []error{nil, nil, errTooMuch, errTooMuch} {
		r := Result{Name: NameOf(Key{}, job, 0)}
		if err := r.ask(within(t), "long", &room); !errors.Is(err, want) {
			t.Errorf("reply %d: %v, want %v", i, err, want)
		}
	}
}

package lint

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A test that KIND makes fail at its first run, and pass at its second.
const unlucky = `package unlucky

import ("fmt"; "os"; "testing"; "time")

func TestIt(t *testing.T) {
	if _, err := os.Stat("again"); err == nil && os.Getenv("KIND") != "always" {
		return
	}
	os.WriteFile("again", nil, 0o600)
	switch os.Getenv("KIND") {
	case "once", "always":
		t.Error("out of luck")
	case "in a subtest":
		t.Run("of it", func(t *testing.T) { t.Error("out of luck") })
	case "race":
		n, done := 0, make(chan bool)
		go func() { n++; close(done) }()
		n++
		<-done
	case "panic":
		panic(1)
	case "a rank's panic":
		t.Error("rank 1 said:\npanic: 1")
	case "fatal error":
		m := map[int]int{}
		for range 8 {
			go func() { for { m[1]++ } }()
		}
		time.Sleep(time.Minute)
	case "hang":
		select {}
	case "exit":
		fmt.Println("bye")
		os.Exit(1)
	}
}
`

// What scripts/test makes of tests that fail once: bad luck is listed, and what is a bug
// whatever a second run says is not excused.
func TestOnlyBadLuckIsExcused(t *testing.T) {
	script, err := filepath.Abs("../../../scripts/test")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ kind, says string }{
		{"once", "\nflaky: unlucky TestIt\n"}, {"in a subtest", "\nflaky: unlucky TestIt\n"},
		{"always", ""}, {"race", "WARNING: DATA RACE"}, {"panic", "panic: 1"}, {"a rank's panic", "panic: 1"},
		{"fatal error", "fatal error: concurrent map writes"}, {"hang", "panic: test timed out"},
		{"exit", "unlucky: the package failed, none of its tests did"},
	} {
		t.Run(c.kind, func(t *testing.T) {
			dir := t.TempDir()
			for name, text := range map[string]string{"go.mod": "module unlucky\ngo 1.26\n", "it_test.go": unlucky} {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			args := []string{"-vet=off", "./..."}
			switch c.kind {
			case "race":
				args = append(args, "-race")
			case "hang":
				args = append(args, "-timeout=1s")
			}
			cmd := exec.Command(script, args...)
			cmd.Dir, cmd.Env = dir, append(os.Environ(), "CGO_ENABLED=1", "KIND="+c.kind, "FLAKY_LIST="+filepath.Join(dir, "flaky"))
			out, err := cmd.CombinedOutput()
			told, _ := os.ReadFile(filepath.Join(dir, "flaky"))
			lucky := strings.HasPrefix(c.says, "\nflaky")
			if !strings.Contains(string(out), c.says) || (err == nil) != lucky || (len(told) > 0) != lucky {
				t.Errorf("%v, listed %q, want %q:\n%s", err, told, c.says, out)
			}
		})
	}
}

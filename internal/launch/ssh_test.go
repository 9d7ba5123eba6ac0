package launch

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/weft-mpi/weft/internal/testkit/hosts"
	"github.com/weft-mpi/weft/internal/testkit/tier"
)

// over has a Launch start agents over ssh on the hosts of a kit, with so many ranks each.
func over(k *hosts.Kit, ssh []string, slots int) func(*Launch) {
	return func(l *Launch) {
		for _, name := range k.Names {
			l.Hosts = append(l.Hosts, Host{name, slots})
		}
		l.Starter = SSH(ssh, "env", roleVar+"=agent", os.Args[0])
	}
}

func TestSSHStartsRanksOnHosts(t *testing.T) {
	tier.Long(t, "it needs another program's daemon")
	k := hosts.Up(t, 3)
	ssh := k.SSH()
	out, err := launch(t, 6, "places", over(k, ssh, 2))
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	cores, err := AllowedCores()
	if err != nil {
		t.Fatal(err)
	}
	for rank := range 6 {
		first := rank / 2 * 2
		want := fmt.Sprintf("rank %d: hosts [0 0 1 1 2 2] local [%d %d] cores %d\n", rank, first, first+1, min(2, len(cores)))
		if !strings.Contains(out, want) {
			t.Errorf("nothing says %q:\n%s", want, out)
		}
	}
}

// A host whose cable is pulled says nothing: the launcher and the agent find out, each for
// itself.
func TestAHostThatIsCutOffIsLost(t *testing.T) {
	tier.Long(t, "it waits for time limits to pass")
	k := hosts.Up(t, 2)
	ssh := k.SSH()
	lines := make(chan string, 8)
	l := Launch{N: 4, Path: os.Args[0], Env: roleEnv("hear of a host"), Stdout: lineWriter(lines), KeepGoing: true, Silence: DefaultSilence / 5}
	over(k, ssh, 2)(&l)
	done := make(chan error, 1)
	go func() { done <- l.Run(deadline(t)) }()
	out := ""
	for range l.N {
		out += <-lines
	}
	k.Cut(k.Names[1])
	err := <-done
	host, ok := errors.AsType[*HostError](err)
	if !ok || host.Host != k.Names[1] || !errors.Is(err, errSilent) || len(exits(err)) > 0 {
		t.Errorf("Run: %v", err)
	}
	noneLeftSoon(t, out)
	close(lines)
	for line := range lines {
		if !strings.HasPrefix(line, "lost 2, lost 3") && !strings.HasPrefix(line, "lost 3, lost 2") {
			t.Errorf("a survivor says %q", line)
		}
	}
}

// playHearOfAHost: ranks 0 and 1 hear of the death of two others.
func playHearOfAHost() error {
	j, err := Discover(context.Background())
	if err != nil {
		return err
	}
	fmt.Println("hanging", os.Getpid())
	a, b := <-j.Events(), <-j.Events()
	fmt.Printf("lost %d, lost %d\n", a.Rank, b.Rank)
	return leaveQuietly(j)
}

func TestSSHSaysWhyAHostIsNotReached(t *testing.T) {
	tier.Long(t, "it needs another program's daemon")
	k := hosts.Up(t, 1)
	ssh := k.SSH()
	for host, says := range map[string]string{
		"no-such-host": "no-such-host",
		k.Names[0]:     "the host needs weft at the path /no/such/weft",
	} {
		_, err := launch(t, 1, "greet", func(l *Launch) {
			l.Hosts, l.Starter = []Host{{host, 1}}, SSH(ssh, "/no/such/weft", "agent")
		})
		if err == nil || !strings.Contains(err.Error(), "launch: host "+host+": ") || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", host, err)
		}
	}
}

package launch

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"sync"
	"testing"
	"time"
)

// roleVar makes the test binary play a rank, or a launcher, instead of
// running tests.
const roleVar = "BOOT_TEST_ROLE"

// enough is for a test that lets a time pass before which all processes are to have
// done something: machines are slow.
const enough = 10 * time.Second

func TestMain(m *testing.M) {
	eofPatience *= 10 // in the roles, too
	if role := os.Getenv(roleVar); role != "" {
		play, ok := roles[role]
		if !ok {
			fmt.Fprintln(os.Stderr, "no role", role)
			os.Exit(99)
		}
		if err := play(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

var roles map[string]func() error

func init() { // breaks the cycle through playLauncher
	roles = map[string]func() error{
		"agent": func() error { return Agent(os.Stdin, os.Stdout) },
		"greet": playGreet,

		"agent killer":       playAgentKiller,
		"abort at":           playAbortAt,
		"root dies":          playRootDies,
		"hang parent":        playHangParent,
		"hear of a host":     playHearOfAHost,
		"launcher of agents": playLauncherOfAgents,

		"discover": playDiscover,
		"killed":   playKilled,
		"early":    playEarly,
		"places":   playPlaces,
		"bad card": playBadCard,
		"closed":   playClosed,
		"failed":   playFailed,

		"early code": playEarlyCode,

		"deserter": playDeserter,
		"garbage":  playGarbage,
		"version":  playVersion,
		"twins":    playTwins,
		"impostor": playImpostor,
		"late":     playLate,
		"lines":    playLines,
		"long":     playLong,
		"huge":     playHuge,
		"prompt":   playPrompt,
		"chatter":  playChatter,
		"cat":      playCat,
		"hang":     playHang,
		"stubborn": playStubborn,
		"parent":   playParent,
		"env":      playEnv,
		"family":   playFamily,
		"process":  playProcess,
		"launcher": playLauncher,
		"shell":    playShell,

		"survive":       playSurvive,
		"survive late":  playSurviveLate,
		"orderly":       playOrderly,
		"stopped":       playStopped,
		"abort":         playAbort,
		"abort inside":  playAbortInside,
		"abort ignored": playAbortIgnored,

		"pmi rank":     playPMIRank,
		"pmi intruder": playPMIIntruder,
		"pmi squatter": playPMISquatter,

		"narrow":      playNarrow,
		"lowered":     playLowered,
		"show limits": playShowLimits,

		"keep going":    playKeepGoing,
		"garbage event": playGarbageEvent,
		"one fails":     playOneFails,

		"blames":                playBlames,
		"launcher of shells":    playLauncherOfShells,
		"launcher with signals": playLauncherWithSignals,
		"orphan":                playOrphan,
		"signals":               playSignals,
	}
}

// roleEnv is the environment of a process that plays a role, without the
// variables of a launcher that the test itself runs under.
func roleEnv(role string, more ...string) []string {
	env := append(os.Environ(),
		roleVar+"="+role,
		"GORACE=atexit_sleep_ms=0 "+os.Getenv("GORACE")) // or every rank sleeps for a second at exit
	return append(rankEnv(env), more...)
}

// launch runs n ranks of a role and returns their output and Run's error.
func launch(t *testing.T, n int, role string, set ...func(*Launch)) (string, error) {
	t.Helper()
	var out safeBuffer
	l := Launch{N: n, Path: os.Args[0], Env: roleEnv(role), Stdout: &out, Stderr: &out, KillGrace: patience}
	for _, f := range set {
		f(&l)
	}
	err := l.Run(deadline(t))
	return out.String(), err
}

func quick(l *Launch) { l.KillGrace = 10 * time.Millisecond }

// patience is the time limit of a wait that must succeed, many times what it
// takes: beyond it a test reports a hang.
const patience = 5 * time.Minute

func deadline(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	return ctx
}

// safeBuffer is a bytes.Buffer that a test may read while ranks write.
type safeBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *safeBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *safeBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

package mpi_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/weft-mpi/weft/internal/launch"
	"github.com/weft-mpi/weft/mpi"
)

// settingOf is the setting of a variable, or of an option.
func settingOf(t *testing.T, name string, opts ...mpi.Option) mpi.Setting {
	t.Helper()
	for _, s := range mpi.Settings(opts...) {
		if name != "" && (s.Variable == name || s.Option == name) {
			return s
		}
	}
	t.Fatalf("there is no setting %s", name)
	return mpi.Setting{}
}

func TestASettingHasItsValueAndItsOrigin(t *testing.T) {
	for _, c := range []struct {
		name, env string
		option    mpi.Option
		value     string
		origin    mpi.Origin
	}{
		{"WEFT_FABRIC", "", nil, "auto", mpi.FromDefault},
		{"WEFT_FABRIC", "shm+tcp", nil, "shm+tcp", mpi.FromEnvironment},
		{"WEFT_FABRIC", "shm+tcp", mpi.WithFabric("mem"), "mem", mpi.FromOption},
		{"WEFT_FABRIC", "shm+tcp", mpi.WithFabric("auto"), "shm+tcp", mpi.FromEnvironment},
		{"WEFT_CHECK", "", nil, "0", mpi.FromDefault},
		{"WEFT_CHECK", "coll", nil, "coll", mpi.FromEnvironment},
		{"WEFT_CHECK", "0", mpi.WithChecks(), "coll", mpi.FromOption},
		{"WEFT_TRACE", "", nil, "none", mpi.FromDefault},
		{"WEFT_TRACE", "a.json", mpi.WithTrace("b.json"), "b.json", mpi.FromOption},
		{"WEFT_TCP_DEADLINE", "", nil, "20s", mpi.FromDefault},
		{"WEFT_TCP_DEADLINE", "5s", nil, "5s", mpi.FromEnvironment},
		{"WEFT_SHM_GET_MIN", "5000", nil, "5000", mpi.FromEnvironment},
		{"WithLimits", "", nil, "4194304 bytes or 131072 messages of one peer, 67108864 bytes or 1310720 messages of all, 10s", mpi.FromDefault},
		{"WithLimits", "", mpi.WithLimits(mpi.Limits{PeerBytes: 1, PeerMessages: 2, Bytes: 3, Messages: 4, Stall: time.Second}), "1 bytes or 2 messages of one peer, 3 bytes or 4 messages of all, 1s", mpi.FromOption},
		{"WithWatchdog", "", nil, "never", mpi.FromDefault},
		{"WithWatchdog", "", mpi.WithWatchdog(time.Minute, nil), "after 1m0s", mpi.FromOption},
		{"WithoutProgressThread", "", mpi.WithoutProgressThread(), "no progress thread", mpi.FromOption},
		{"WithoutSIGQUIT", "", mpi.WithoutSIGQUIT(), "no report", mpi.FromOption},
		{"WithLogger", "", mpi.WithLogger(slog.New(slog.DiscardHandler)), "the program's", mpi.FromOption},
		{"WithLogger", "", nil, "slog.Default", mpi.FromDefault},
	} {
		if strings.HasPrefix(c.name, "WEFT_") {
			t.Setenv(c.name, c.env)
		}
		if s := settingOf(t, c.name, c.option); s.Value != c.value || s.Origin != c.origin || s.Err != nil || s.What == "" {
			t.Errorf("%s, in the environment %q: %+v, want %q from %s", c.name, c.env, s, c.value, c.origin)
		}
	}
}

// What the registry tells of the default limits is what they are.
func TestTheDefaultLimitsAreToldAsTheyAre(t *testing.T) {
	given := mpi.DefaultLimits
	given.Stall++
	def, opt := settingOf(t, "WithLimits"), settingOf(t, "WithLimits", mpi.WithLimits(given))
	if want := strings.Replace(opt.Value, given.Stall.String(), mpi.DefaultLimits.Stall.String(), 1); def.Value != want {
		t.Errorf("the default is told as %q, and is %q", def.Value, want)
	}
}

func TestTheThresholdOfSharedMemoryIsMeasured(t *testing.T) {
	t.Setenv("WEFT_SHM_GET_MIN", "")
	s := settingOf(t, "WEFT_SHM_GET_MIN")
	n, err := mpi.SharedGetMin()
	switch {
	case err != nil && s.Err == nil:
		t.Errorf("shared memory can't be used (%v) and has a threshold: %+v", err, s)
	case err == nil && (s.Origin == mpi.FromMeasurement) != (s.Err == nil):
		t.Errorf("%+v, but it is %d", s, n)
	case s.Value == "16384" || s.Value == "32768" || s.Value == "65536" || err != nil:
	default:
		t.Errorf("%+v is no result of a measurement", s)
	}
}

func TestAWrongValueIsAnErrorOfItsSetting(t *testing.T) {
	t.Setenv("WEFT_VERBS_SL", "16")
	t.Setenv("WEFT_TCP_PORT", "ssh")
	for _, s := range mpi.Settings() {
		if wrong := s.Variable == "WEFT_VERBS_SL" || s.Variable == "WEFT_TCP_PORT"; wrong != (s.Err != nil && strings.Contains(s.Err.Error(), s.Variable)) && s.Variable != "WEFT_SHM_GET_MIN" {
			t.Errorf("%+v", s)
		}
	}
}

// An environment that can't be is refused by every way to begin, and before anything
// else has been done.
func TestAnEnvironmentThatCannotBeIsRefused(t *testing.T) {
	ways := map[string]func() error{
		"CheckEnvironment": mpi.CheckEnvironment,
		"Run":              func() error { return mpi.Run(2, func(*mpi.World) error { return nil }) },
		"RunSessions":      func() error { return mpi.RunSessions(2, func(context.Context) error { return nil }) },
		"Init": func() error {
			w, err := mpi.Init(context.Background())
			if err == nil {
				w.Finalize()
			}
			return err
		},
		"NewSession": func() error {
			s, err := mpi.NewSession(context.Background())
			if err == nil {
				s.Finalize()
			}
			return err
		},
	}
	for _, c := range []struct{ name, value, says string }{
		{"WEFT_FABRIK", "shm", "did you mean WEFT_FABRIC?"},
		{"WEFT_SOMETHING_ELSE", "1", "weft info -c"},
		{"WEFT_FABRIC", "shmem", "use one of auto, mem, shm"},
		{"WEFT_CHECK", "all", `"coll"`},
		{"WEFT_BOOT", "ssh", `"none"`},
		{"WEFT_TCP_DEADLINE", "20", "such as 20s"},
		{"WEFT_VERBS_RNDV", "push", "read or write"},
		{"WEFT_SHM_GET_MIN", "12", "from 49 to 1048576"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Setenv(c.name, c.value)
			for way, begin := range ways {
				err := begin()
				var e *mpi.Error
				if !errors.As(err, &e) || e.Call != way || !strings.Contains(err.Error(), c.name) || !strings.Contains(err.Error(), c.says) {
					t.Errorf("%s with %s=%s: %v, want %q", way, c.name, c.value, err, c.says)
				}
			}
		})
	}
	t.Setenv("WEFT_TEST_OF_MINE", "1")
	if err := mpi.CheckEnvironment(); err != nil {
		t.Errorf("a name that is left to tests: %v", err)
	}
}

// Ranks that a launcher has started refuse it too, each with its error.
func TestLaunchedRanksRefuseAnUnknownVariable(t *testing.T) {
	out, err := program(t, "run: fabric", 2, 0, func(l *launch.Launch) { l.Env = append(l.Env, "WEFT_FABRIK=shm") })
	if err == nil || !strings.Contains(out, "did you mean WEFT_FABRIC?") || strings.Contains(out, "rank 0 of") {
		t.Errorf("%v\n%s", err, out)
	}
}

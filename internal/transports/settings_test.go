package transports

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/internal/setting"
)

// The registry has each option of each transport, and nothing else of it, and the
// transport checks them.
func TestTheRegistryHasTheOptionsOfTransports(t *testing.T) {
	for _, tr := range transports {
		var listed []string
		for _, s := range setting.List(setting.User) {
			if s.Reader == "fabric/"+tr.name {
				listed = append(listed, s.Name)
			}
		}
		have := slices.Sorted(slices.Values(tr.provider(1).Options()))
		if slices.Sort(listed); !slices.Equal(listed, have) {
			t.Errorf("%s has the options %v, and internal/setting %v", tr.name, have, listed)
		}
		if _, checks := tr.provider(1).(checker); !checks && len(have) > 0 {
			t.Errorf("%s has options and no Check", tr.name)
		}
	}
}

func TestSettingsAreCheckedWithoutTheirTransport(t *testing.T) {
	for _, c := range []struct {
		name        string
		good, wrong string // separated by blanks
	}{
		{"WEFT_FABRIC", "auto shm tcp mem shm+tcp shm+verbs+tcp", "shmem tcp+shm shm+"},
		{"WEFT_NODE", "a b", ""},
		{"WEFT_SHM_GET_MIN", "49 4096 1048576", "48 1048577 -1 many 0"},
		{"WEFT_TCP_IF", "eth0 10.0.0.0/8 eth0,10.0.0.0/8,fd00::/8", "10.0.0/8 eth0,1.2.3.4/99"},
		{"WEFT_TCP_PORT", "1 65535", "0 65536 -1 ssh"},
		{"WEFT_TCP_TLS", "0 1", "2 yes"},
		{"WEFT_TCP_DEADLINE", "0 1s 20s 2m", "20 1ms -1s soon"},
		{"WEFT_VERBS_DEV", "mlx5_0 mlx5_0:2 mlx5_0,mlx5_1:1", "mlx5_0:0 mlx5_0:x"},
		{"WEFT_VERBS_GID", "0 3 3,1", "-1 x 3,y"},
		{"WEFT_VERBS_RAILS", "1 2", "0 1000 two"},
		{"WEFT_VERBS_RNDV", "read write", "push"},
		{"WEFT_VERBS_SL", "0 15", "16 -1 x"},
		{"WEFT_VERBS_TC", "0 255 0x68", "256 -1 x"},
		{"WEFT_VERBS_CACHE", "0 1", "2 off"},
	} {
		for v := range strings.SplitSeq(c.good, " ") {
			t.Setenv(c.name, v)
			if err := CheckSetting(c.name); err != nil {
				t.Errorf("%s=%s: %v", c.name, v, err)
			}
		}
		for v := range strings.FieldsSeq(c.wrong) {
			t.Setenv(c.name, v)
			err := CheckSetting(c.name)
			if err == nil || !strings.Contains(err.Error(), c.name) {
				t.Errorf("%s=%s: %v, want an error that names it", c.name, v, err)
				continue
			}
			var name *NameError
			if bad, ok := errors.AsType[*fabric.Error](err); !(ok && bad.Remedy != "") && !errors.As(err, &name) {
				t.Errorf("%s=%s: %v has no remedy", c.name, v, err)
			}
		}
		t.Setenv(c.name, "")
		if err := CheckSetting(c.name); err != nil {
			t.Errorf("%s is empty: %v", c.name, err)
		}
		if _, ok := setting.Find(c.name); !ok {
			t.Errorf("%s is in no registry", c.name)
		}
	}
}

// A default that is told as a value is one that the variable takes.
func TestDefaultsCanBeSet(t *testing.T) {
	for _, s := range setting.List(setting.User) {
		if s.Name == "" || !s.Literal {
			continue
		}
		t.Setenv(s.Name, s.Default)
		if err := CheckSetting(s.Name); err != nil {
			t.Errorf("%s=%s: %v", s.Name, s.Default, err)
		}
	}
}

package allocation

import (
	"reflect"
	"strings"
	"testing"

	"github.com/weft-mpi/weft/internal/launch"
)

func TestListsOfHosts(t *testing.T) {
	for list, want := range map[string][]launch.Host{
		"a":                      {{Name: "a", Slots: 1}},
		"a:2,b:3":                {{Name: "a", Slots: 2}, {Name: "b", Slots: 3}},
		"a, b:2 ,a":              {{Name: "a", Slots: 1}, {Name: "b", Slots: 2}, {Name: "a", Slots: 1}},
		"me@a.example.org:4":     {{Name: "me@a.example.org", Slots: 4}},
		"[fd88::1]:2,10.0.0.1":   {{Name: "fd88::1", Slots: 2}, {Name: "10.0.0.1", Slots: 1}},
		"[fd88::1],me@[::1]:3":   {{Name: "fd88::1", Slots: 1}, {Name: "me@::1", Slots: 3}},
		"[fe80::1%eth0]:2":       {{Name: "fe80::1%eth0", Slots: 2}},
		"a:4096":                 {{Name: "a", Slots: 4096}},
		"node-1_x.example.com:1": {{Name: "node-1_x.example.com", Slots: 1}},
	} {
		got, err := Parse(list)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %v, %v", list, got, err)
		}
	}
	for list, says := range map[string]string{
		"":               "host 1 of the list: a host has no name",
		"a,,b":           "host 2 of the list: a host has no name",
		"a,b:two":        `host 2 of the list: "b:two": "two" slots`,
		"a:0":            `"0" slots: write a number from 1 to`,
		"a:-1":           `"-1" slots`,
		"a:4097":         `"4097" slots`,
		"a:":             `"" slots`,
		":2":             "a host has no name",
		"fd88::1:2":      "in brackets",
		"-oProxyCommand": "begins like an option",
		"a b":            "is no name of a host",
		"$(x)":           "is no name of a host",
	} {
		if _, err := Parse(list); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v, want %q", list, err, says)
		}
	}
}

func TestHostfilesOfOpenMPIAndMPICH(t *testing.T) {
	got, err := ReadFile(strings.NewReader(`
# the lab
a slots=2
b:3          # of MPICH
  c	slots=4 max_slots=3
d
a max-slots=8 slots=1
e:2 user=me
`), "hosts")
	want := []launch.Host{{Name: "a", Slots: 2}, {Name: "b", Slots: 3}, {Name: "c", Slots: 3}, {Name: "d", Slots: 1}, {Name: "a", Slots: 1}, {Name: "me@e", Slots: 2}}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v, %v", got, err)
	}
	for file, says := range map[string]string{
		"":                                 "hosts: no host in it",
		"# nothing\n":                      "hosts: no host in it",
		"a\nb slots=two":                   `hosts:2: "slots=two": "two" slots: write a number`,
		"a\n\n# x\nb:2 slots=2":            `hosts:4: host b has its slots twice`,
		"a slots=1 slots=1":                `hosts:1: host a has its slots twice`,
		"a slots":                          `hosts:1: "slots": "" slots`,
		"a slots = 2":                      `hosts:1: "slots": "" slots`,
		"a binding=user:0":                 `hosts:1: "binding=user:0": a line is a host and slots=N`,
		"a,b":                              `hosts:1: "a,b" is no name of a host`,
		"-a":                               "hosts:1: ",
		"a max_slots=no":                   `hosts:1: "max_slots=no"`,
		"me@a user=you":                    `hosts:1: host me@a has its user twice`,
		"a\n" + strings.Repeat("x", 1<<17): "hosts: bufio.Scanner: token too long",
	} {
		if _, err := ReadFile(strings.NewReader(file), "hosts"); err == nil || !strings.HasPrefix(err.Error(), says) {
			t.Errorf("%.40q: %v, want %q", file, err, says)
		}
	}
}

func FuzzHostfile(f *testing.F) {
	f.Add("a slots=2 # x\nb:3\n[::1]:2 max_slots=1")
	f.Fuzz(func(t *testing.T, file string) {
		hosts, err := ReadFile(strings.NewReader(file), "f")
		if err == nil && len(hosts) == 0 {
			t.Fatal("neither hosts nor an error")
		}
		for _, h := range hosts {
			if err == nil && (h.Slots < 1 || h.Slots > maxSlots || checkName(h.Name) != nil) {
				t.Fatalf("%+v", h)
			}
		}
	})
}

package transports

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/internal/launch"
)

// withTCP is a table with a second transport over the network.
func withTCP() (t table, mem, shm, verbs, tcp *kind) {
	mem, shm = &kind{name: "mem", reach: process}, &kind{name: "shm", reach: machine}
	verbs, tcp = &kind{name: "verbs", reach: network}, &kind{name: "tcp", reach: network}
	return tableOf(mem, shm, verbs, tcp), mem, shm, verbs, tcp
}

// The names are all ways to join transports between processes, in the order of the
// table, and no others.
func TestTheNamesOfFabrics(t *testing.T) {
	if got, want := fmt.Sprint(Fabrics()), "[auto mem shm verbs tcp shm+verbs shm+tcp shm+verbs+tcp verbs+tcp]"; got != want {
		t.Errorf("the fabrics are %s, want %s", got, want)
	}
	four, _, _, _, _ := withTCP()
	three := tableOf(&kind{name: "mem", reach: process}, &kind{name: "shm", reach: machine}, &kind{name: "verbs", reach: network})
	if got, want := fmt.Sprint(three.fabrics()), "[auto mem shm verbs shm+verbs]"; got != want {
		t.Errorf("with a row less the fabrics are %s, want %s", got, want)
	}
	for _, tr := range []table{transports, four, three} {
		for _, name := range tr.fabrics() {
			parts, err := tr.parse(name)
			if err != nil || name != Auto && parts.name() != name || name == Auto && len(parts) > 0 {
				t.Errorf("%s: %v, %v", name, parts.name(), err)
			}
		}
	}
	for _, wrong := range []string{"", "+", "shm+", "verbs+shm", "tcp+verbs", "shm+shm", "auto+shm", "mem+shm", "tcpip", "shm+verbs+"} {
		var unknown *NameError
		if _, err := four.parse(wrong); !errors.As(err, &unknown) || unknown.Name != wrong || !strings.Contains(err.Error(), "shm+verbs+tcp") {
			t.Errorf("%q: %v, want it refused with the names that there are", wrong, err)
		}
	}
	for i, tr := range transports {
		if p := tr.provider(1); p.Name() != tr.name {
			t.Errorf("%s is the name of %s in the table", tr.name, p.Name())
		}
		if i > 0 && tr.reach < transports[i-1].reach {
			t.Errorf("%s stands behind what reaches farther", tr.name)
		}
	}
}

// Each rank is reached over the first transport of the fabric that reaches it, and
// a fabric that can't reach all is refused.
func TestTheFirstTransportThatReachesWins(t *testing.T) {
	t.Setenv(fabricVar, "")
	t.Setenv(nodeVar, "")
	alone, near, far := hosts(0), hosts(0, 0, 0), hosts(0, 0, 1, 1)
	for _, c := range []struct {
		name string
		jobs []*launch.Job
		want string // of rank 0, "" if it is refused
		uses string
	}{
		{Auto, alone, "mem", "mem"}, {Auto, near, "shm shm shm", "shm"}, {Auto, far, "shm shm verbs verbs", "shm+verbs+tcp"},
		{"mem", alone, "mem", "mem"}, {"mem", near, "", ""}, {"mem", far, "", ""},
		{"shm", alone, "shm", "shm"}, {"shm", near, "shm shm shm", "shm"}, {"shm", far, "", ""},
		{"verbs", near, "verbs verbs verbs", "verbs"}, {"tcp", far, "tcp tcp tcp tcp", "tcp"},
		{"shm+verbs", near, "shm shm shm", "shm+verbs"}, {"shm+verbs", far, "shm shm verbs verbs", "shm+verbs"},
		{"shm+tcp", far, "shm shm tcp tcp", "shm+tcp"}, {"shm+verbs+tcp", far, "shm shm verbs verbs", "shm+verbs+tcp"},
		{"verbs+tcp", far, "verbs verbs verbs verbs", "verbs+tcp"},
	} {
		four, mem, shm, verbs, tcp := withTCP()
		all, errs := joinAll(t, c.jobs, c.name, func(int) table { return four })
		for rank, err := range errs {
			if c.want == "" && !errors.Is(err, fabric.ErrUnsupported) || c.want != "" && err != nil {
				t.Errorf("%s, rank %d of %d: %v", c.name, rank, len(errs), err)
			}
		}
		if c.want == "" || errs[0] != nil {
			if open := mem.open.Load() + shm.open.Load() + verbs.open.Load() + tcp.open.Load(); open > 0 {
				t.Errorf("%s: %d domains are left open", c.name, open)
			}
			continue
		}
		if got := ways(t, all[0]); got != c.want || all[0].Fabric != c.uses {
			t.Errorf("%s (%s) reaches the ranks over %s, want %s over %s", c.name, all[0].Fabric, got, c.uses, c.want)
		}
	}
}

// WEFT_FABRIC names the fabric where the program does not, and is told where it is
// wrong.
func TestTheEnvironmentNamesTheFabric(t *testing.T) {
	four, _, _, _, _ := withTCP()
	far := hosts(0, 1)
	t.Setenv(fabricVar, "shm+tcp")
	for name, want := range map[string]string{Auto: "shm+tcp", "verbs": "verbs"} {
		if c, err := four.choose(name, far[0]); err != nil || c.transports.name() != want || !c.named {
			t.Errorf("%s is %+v, %v", name, c, err)
		}
	}
	t.Setenv(fabricVar, "ether")
	var unknown *NameError
	if _, err := four.choose(Auto, far[0]); !errors.As(err, &unknown) || !strings.HasPrefix(err.Error(), `WEFT_FABRIC: unknown fabric "ether": use one of auto, mem,`) {
		t.Errorf("an unknown fabric in the environment: %v", err)
	}
}

// A transport that a rank lacks is passed over in auto, by it and by those that
// would reach it, and an error where it was named.
func TestATransportThatIsNotAvailableIsPassedOverInAutoOnly(t *testing.T) {
	t.Setenv(fabricVar, "")
	t.Setenv(nodeVar, "")
	far := hosts(0, 0, 1, 2)
	tables := make([]table, len(far))
	for r := range tables {
		four, _, _, verbs, _ := withTCP()
		if tables[r] = four; r == 3 {
			verbs.missing = errors.New("no device: install one")
		}
	}
	all, errs := joinAll(t, far, Auto, func(r int) table { return tables[r] })
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	for rank, want := range []string{"shm shm verbs tcp", "shm shm verbs tcp", "verbs verbs shm tcp", "tcp tcp tcp shm"} {
		if got := ways(t, all[rank]); got != want {
			t.Errorf("rank %d reaches the ranks over %s, want %s", rank, got, want)
		}
	}
	// One that is there and can't serve this job is passed over too.
	four, _, _, _, tcp := withTCP()
	tcp.broken = fmt.Errorf("no address %w", fabric.ErrUnsupported)
	if r, err := four.join(t.Context(), far[0], func(_ context.Context, mine []byte) ([][]byte, error) {
		return [][]byte{mine, mine, mine, mine}, nil
	}, Auto, Settings{Log: discard}); err != nil || r.Fabric != "shm+verbs" {
		t.Errorf("a rank without a network for tcp: %+v, %v", r, err)
	}
	if all[3].Fabric != "shm+tcp" || all[0].Fabric != "shm+verbs+tcp" {
		t.Errorf("the ranks use %s and %s", all[3].Fabric, all[0].Fabric)
	}

	for name, c := range map[string]struct {
		fabric string
		change func(shm, verbs, tcp *kind)
		want   string
	}{
		"it was named":                {"shm+verbs+tcp", func(_, verbs, _ *kind) {}, "fabric verbs is not available: no device: install one"},
		"nothing else reaches as far": {Auto, func(_, _, tcp *kind) { tcp.missing = errors.New("no interface") }, "no device: install one\nfabric tcp is not available: no interface"},
		"nothing stands in for it":    {Auto, func(shm, _, tcp *kind) { shm.missing, tcp.missing = errors.New("no memfd"), errors.New("no socket") }, "fabric shm is not available: no memfd"},
		"its settings are wrong": {Auto, func(_, verbs, _ *kind) {
			verbs.knows = []string{"WEFT_FAKE_DEV"}
		}, "fabric verbs is not available: no device: install one"},
		"it can't be used in this job":   {Auto, func(_, verbs, tcp *kind) { tcp.broken = fmt.Errorf("no address %w", fabric.ErrUnsupported) }, "no device: install one\nfabric tcp can't be used in this job: no address"},
		"it was named and can't be used": {"shm+tcp", func(_, _, tcp *kind) { tcp.broken = fmt.Errorf("no address %w", fabric.ErrUnsupported) }, "fabric tcp can't be used in this job: no address"},
		"it is there and fails":          {Auto, func(_, verbs, _ *kind) { verbs.missing = nil; verbs.broken = errors.New("queue pair") }, "queue pair"},
	} {
		t.Setenv("WEFT_FAKE_DEV", "mlx5_9")
		four, _, shm, verbs, tcp := withTCP()
		verbs.missing = errors.New("no device: install one")
		c.change(shm, verbs, tcp)
		_, err := four.join(t.Context(), far[0], nil, c.fabric, Settings{Log: discard})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
		if (verbs.broken == nil) != errors.Is(err, fabric.ErrUnsupported) {
			t.Errorf("%s: its class is wrong: %v", name, err)
		}
		if open := shm.open.Load() + verbs.open.Load() + tcp.open.Load(); open > 0 {
			t.Errorf("%s: %d domains are left open", name, open)
		}
	}
}

// Ranks of a host that can't share memory reach each other over the network, and one of
// them says so.
func TestTheNetworkStandsInForSharedMemory(t *testing.T) {
	t.Setenv(fabricVar, "")
	t.Setenv(nodeVar, "")
	for _, c := range []struct {
		jobs []*launch.Job
		want string // of rank 0
		said int
	}{
		{hosts(0, 0, 0), "tcp tcp tcp", 1},
		{hosts(0, 0, 1, 1), "verbs verbs verbs verbs", 2},
	} {
		four, _, shm, _, _ := withTCP()
		shm.missing = errors.New("no memfd: allow it")
		var log strings.Builder
		all, errs := joinLogged(t, c.jobs, Auto, func(int) table { return four }, slog.New(slog.NewTextHandler(&log, nil)))
		if err := errors.Join(errs...); err != nil {
			t.Fatal(err)
		}
		if got := ways(t, all[0]); got != c.want {
			t.Errorf("rank 0 reaches the ranks over %s, want %s", got, c.want)
		}
		if n := strings.Count(log.String(), "no memfd: allow it"); n != c.said {
			t.Errorf("it is said %d times, want %d:\n%s", n, c.said, log.String())
		}
	}
}

// Ranks that have no transport in common are told what they have.
func TestRanksWithoutACommonTransportAreToldSo(t *testing.T) {
	t.Setenv(fabricVar, "")
	tables := make([]table, 2)
	for r := range tables {
		four, _, _, verbs, tcp := withTCP()
		[]*kind{verbs, tcp}[r].missing = errors.New("it is missing")
		tables[r] = four
	}
	_, errs := joinAll(t, hosts(0, 1), Auto, func(r int) table { return tables[r] })
	for rank, err := range errs {
		if !errors.Is(err, fabric.ErrUnsupported) || !strings.Contains(err.Error(), "none of both joins the two") || !strings.Contains(err.Error(), "shm, tcp") || !strings.Contains(err.Error(), "it is missing") {
			t.Errorf("rank %d: %v", rank, err)
		}
	}
}

// WEFT_NODE makes ranks of one machine take each other for remote: a fabric that
// only reaches the machine is refused then, with the remedy.
func TestNodesDivideAMachine(t *testing.T) {
	t.Setenv(fabricVar, "")
	near := hosts(0, 0)
	for _, c := range []struct {
		name, nodes, want string // want is rank 0's ways, "" if it is refused
	}{
		{"shm", "a a", "shm shm"}, {"shm", "a b", ""}, {Auto, "a b", "shm verbs"}, {Auto, "b b", "shm shm"},
		{"shm+tcp", "a b", "shm tcp"}, {"shm+tcp", "b b", "shm shm"}, {"tcp", "a b", "tcp tcp"},
	} {
		four, _, shm, _, _ := withTCP()
		nodes := strings.Fields(c.nodes)
		t.Setenv(nodeVar, nodes[0])
		r, err := four.join(t.Context(), near[0], func(_ context.Context, mine []byte) ([][]byte, error) {
			other := card{}
			if err := json.Unmarshal(mine, &other); err != nil || other.Node != nodes[0] {
				t.Errorf("the card is %s, %v", mine, err)
			}
			other.Node = nodes[1]
			for name := range other.Ways {
				other.Ways[name] = []byte(name + " 1")
			}
			its, err := json.Marshal(other)
			return [][]byte{mine, its}, err
		}, c.name, Settings{Log: discard})
		switch {
		case c.want != "" && err != nil:
			t.Errorf("%s on the nodes %s: %v", c.name, c.nodes, err)
		case c.want != "":
			if got := ways(t, r); got != c.want {
				t.Errorf("%s on the nodes %s reaches the ranks over %s, want %s", c.name, c.nodes, got, c.want)
			}
		case !errors.Is(err, fabric.ErrUnsupported) || !strings.Contains(err.Error(), `rank 1 is on node "b" (WEFT_NODE) and this rank on "a"`) ||
			!strings.Contains(err.Error(), "such as shm+tcp, or leave WEFT_NODE alone"):
			t.Errorf("%s on the nodes %s: %v", c.name, c.nodes, err)
		case shm.open.Load() != 0:
			t.Errorf("%s on the nodes %s: a domain is left open", c.name, c.nodes)
		}
	}
}

// The job's secret, its hosts, and the settings that a transport knows reach it.
func TestTransportsAreToldOfTheJob(t *testing.T) {
	t.Setenv(fabricVar, "")
	t.Setenv("WEFT_FAKE_A", "1")
	t.Setenv("WEFT_FAKE_B", "2")
	t.Setenv("WEFT_FAKE_EMPTY", "")
	four, _, shm, verbs, tcp := withTCP()
	shm.knows, verbs.knows = []string{"WEFT_FAKE_A", "WEFT_FAKE_EMPTY", "WEFT_FAKE_MISSING"}, []string{"WEFT_FAKE_B"}
	jobs := hosts(0, 1)
	if _, errs := joinAll(t, jobs, Auto, func(int) table { return four }); errors.Join(errs...) != nil {
		t.Fatal(errs)
	}
	for k, want := range map[*kind]string{shm: "map[WEFT_FAKE_A:1]", verbs: "map[WEFT_FAKE_B:2]", tcp: "map[]"} {
		if len(k.configs) != len(jobs) {
			t.Errorf("%s was opened %d times", k.name, len(k.configs))
		}
		for _, c := range k.configs {
			if got := fmt.Sprint(c.Options); got != want {
				t.Errorf("%s is given the options %s, want %s", k.name, got, want)
			}
			if c.Key != (fabric.Key{1, 2, 3}) || !slices.Equal(c.Hosts, []uint32{0, 1}) || c.Size != 2 || c.Job != "job" {
				t.Errorf("%s is told of rank %d of %d on hosts %v", k.name, c.Rank, c.Size, c.Hosts)
			}
		}
	}
}

// Ranks of one process have a secret and an id too, and no two jobs the same.
func TestGoroutinesHaveASecretOfTheirOwn(t *testing.T) {
	k := &kind{name: "mem", reach: process}
	four := tableOf(k)
	for range 2 {
		all, err := four.goroutines(3, Auto, Settings{Log: discard, Unattended: true})
		if err != nil || len(all) != 3 {
			t.Fatal(all, err)
		}
		for _, r := range all {
			if got := ways(t, r); got != "mem mem mem" {
				t.Errorf("the ranks are reached over %s", got)
			}
		}
	}
	a, b := k.configs[0], k.configs[3]
	if a.Key == (fabric.Key{}) || a.Key != k.configs[2].Key || a.Key == b.Key || a.Job == b.Job || a.Hosts != nil || !a.Unattended {
		t.Errorf("the secrets are alike: %t, the ids %q and %q", a.Key == b.Key, a.Job, b.Job)
	}
	if _, err := Goroutines(2, "shm+verbs", Settings{Log: discard}); !errors.Is(err, fabric.ErrUnsupported) {
		t.Errorf("goroutines over two transports: %v", err)
	}
	k.broken = errors.New("no room")
	if _, err := four.goroutines(3, "mem", Settings{Log: discard}); !errors.Is(err, k.broken) {
		t.Errorf("a transport that can't be opened: %v", err)
	}
	k.missing = errors.New("nothing there")
	if _, err := four.goroutines(3, "mem", Settings{Log: discard}); !errors.Is(err, fabric.ErrUnsupported) || !errors.Is(err, k.missing) {
		t.Errorf("a transport that is not available: %v", err)
	}
}

// Each setting of each transport is checked when it is opened: the error names it,
// and a remedy.
func TestATransportRefusesSettingsThatCannotBe(t *testing.T) {
	n := 0
	for _, tr := range transports {
		p := tr.provider(1)
		for _, name := range p.Options() {
			n++
			if !strings.HasPrefix(name, "WEFT_"+strings.ToUpper(tr.name)+"_") {
				t.Errorf("%s has the option %s", tr.name, name)
			}
			d, err := p.Open(fabric.Config{Size: 1, Job: t.Name(), Log: discard, Options: map[string]string{name: "\x00 nonsense"}})
			var bad *fabric.Error
			if !errors.As(err, &bad) || !strings.Contains(err.Error(), name) || bad.Remedy == "" {
				t.Errorf("%s opens with nonsense as %s: %v", tr.name, name, err)
			}
			if err == nil {
				d.Close()
			}
		}
	}
	if n == 0 {
		t.Error("no transport has an option")
	}
}

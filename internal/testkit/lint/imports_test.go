package lint

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"
)

// allowed is what each package, or a pattern of packages, may import of this module,
// besides the standard library. Tests are not judged. An import that is missing here is
// a decision about the design: ARCHITECTURE.md has the floors.
var allowed = map[string][]string{
	"bench":                         {"bench/osufmt", "bench/spread", "mpi"},
	"bench/...":                     {"bench/..."},
	"cmd/osu-go":                    {"bench", "bench/...", "internal/atomicfile", "internal/launch", "internal/scrape", "metrics", "mpi"},
	"cmd/weft":                      {"internal/allocation", "internal/atomicfile", "internal/diagnose", "internal/doctor", "internal/launch", "internal/peek", "internal/scrape", "internal/setting", "internal/timeline", "mpi"},
	"examples/...":                  {"mpi"},
	"fabric":                        {"internal/limits"},
	"fabric/internal/bell":          {"fabric"},
	"fabric/internal/greet":         {"internal/limits", "internal/strangers"},
	"fabric/mem":                    {"fabric"},
	"fabric/shm":                    {"fabric", "internal/limits", "internal/membar", "internal/prefetch", "internal/procs", "internal/strangers"},
	"fabric/tcp":                    {"fabric", "fabric/internal/bell", "fabric/internal/greet", "internal/limits", "internal/strangers"},
	"fabric/verbs":                  {"fabric", "fabric/internal/bell", "fabric/internal/greet", "fabric/verbs/internal/ibv", "fabric/verbs/internal/pin"},
	"fabric/verbs/internal/ibv":     {},
	"fabric/verbs/internal/pin":     {"fabric", "fabric/verbs/internal/ibv"},
	"internal/allocation":           {"internal/launch"},
	"internal/atomicfile":           {"internal/limits"},
	"cmd/libmpi-abi":                {"internal/capi"},
	"internal/capi":                 {"internal/membar", "mpi"},
	"internal/capi/abitest":         {},
	"internal/capi/gen":             {"internal/atomicfile", "internal/capi/spec"},
	"internal/capi/spec":            {},
	"internal/coarseclock":          {},
	"internal/coll":                 {},
	"internal/comm":                 {"fabric", "internal/coarseclock", "internal/coll", "internal/diagnose", "internal/expiry", "internal/frames", "internal/group", "internal/membar", "internal/pt2pt", "internal/timeline", "internal/ulfm", "internal/wire", "mpi/cause", "partitioned", "progress", "progress/counters", "rma"},
	"progress/counters":             {},
	"internal/datatype":             {"internal/prefetch", "mpi/cause"},
	"internal/diagnose":             {},
	"internal/doctor":               {},
	"internal/expiry":               {},
	"internal/frames":               {},
	"internal/group":                {},
	"internal/hardware":             {},
	"internal/launch":               {"internal/limits", "internal/strangers", "mpi/cause"},
	"internal/limits":               {},
	"internal/membar":               {},
	"internal/op":                   {},
	"internal/peek":                 {"internal/strangers"},
	"internal/prefetch":             {},
	"internal/procs":                {},
	"internal/pt2pt":                {"fabric", "internal/coarseclock", "internal/datatype", "internal/expiry", "internal/frames", "internal/group", "internal/timeline", "internal/wire", "match", "mpi/cause", "progress", "progress/counters"},
	"internal/scrape":               {"internal/peek", "metrics", "progress/counters"},
	"internal/setting":              {},
	"internal/strangers":            {},
	"internal/testkit/examplerun":   {"internal/launch", "mpi"},
	"internal/testkit/fabrictest":   {"fabric", "internal/membar"},
	"internal/testkit/faults":       {"fabric", "internal/launch", "internal/testkit/killpoint", "internal/wire", "mpi"},
	"internal/testkit/faulty":       {"fabric"},
	"internal/testkit/firstmessage": {"mpi"},
	"internal/testkit/hosts":        {},
	"internal/testkit/killpoint":    {"fabric"},
	"internal/testkit/lint":         {},
	"internal/testkit/oracle":       {},
	"internal/testkit/planted":      {},
	"internal/testkit/seccomp":      {},
	"internal/testkit/tcpproxy":     {},
	"internal/testkit/tier":         {},
	"internal/timeline":             {},
	"internal/topo":                 {},
	"internal/transports":           {"fabric", "fabric/mem", "fabric/shm", "fabric/tcp", "fabric/verbs", "internal/launch", "internal/limits", "internal/wire"},
	"internal/ulfm":                 {},
	"internal/wire":                 {},
	"match":                         {},
	"metrics":                       {"fabric", "internal/atomicfile", "internal/limits", "internal/strangers", "progress/counters"},
	"mpi/cause":                     {},
	"mpi":                           {"fabric", "fabric/tcp", "fabric/verbs", "internal/atomicfile", "internal/coll", "internal/comm", "internal/datatype", "internal/diagnose", "internal/expiry", "internal/frames", "internal/group", "internal/hardware", "internal/launch", "internal/op", "internal/peek", "internal/pt2pt", "internal/setting", "internal/strangers", "internal/timeline", "internal/topo", "internal/transports", "internal/wire", "mpi/cause", "partitioned", "progress", "progress/counters", "rma"},
	"partitioned":                   {"fabric", "internal/datatype", "internal/diagnose", "internal/expiry", "internal/frames", "internal/group", "internal/wire", "match", "progress", "progress/counters"},
	"progress":                      {"fabric", "internal/coarseclock", "internal/datatype", "internal/expiry", "internal/frames", "internal/group", "internal/membar", "internal/procs", "internal/timeline", "internal/wire", "progress/counters"},
	"rma":                           {"fabric", "internal/datatype", "internal/diagnose", "internal/expiry", "internal/frames", "internal/group", "internal/membar", "internal/op", "internal/wire", "progress", "progress/counters"},
}

// modules is which packages may import another module, or packages of one. CONTRIBUTING.md
// says why each is there.
var modules = map[string][]string{
	"golang.org/x/sys/unix":                   {"bench/...", "cmd/osu-go", "fabric/internal/bell", "fabric/shm", "fabric/tcp", "fabric/verbs", "fabric/verbs/internal/ibv", "fabric/verbs/internal/pin", "internal/diagnose", "internal/doctor", "internal/launch", "internal/membar", "internal/procs", "internal/testkit/faults", "internal/testkit/seccomp", "internal/timeline", "mpi"},
	"github.com/spf13/pflag":                  {"cmd/osu-go", "cmd/weft"},
	"github.com/agnivade/levenshtein":         {"cmd/osu-go", "cmd/weft"},
	"github.com/prometheus/client_golang/...": {"metrics"},
	"github.com/prometheus/client_model/go":   {"metrics"},
	"golang.org/x/term":                       {"cmd/osu-go", "cmd/weft"},
	"github.com/libp2p/go-reuseport":          {"fabric/tcp"},
	"pgregory.net/rapid":                      {"internal/testkit/tier"},
}

// entry is the key of a list that a package is under: its name, or the longest pattern.
func entry[T any](list map[string]T, name string) (key string, ok bool) {
	if _, ok = list[name]; ok {
		return name, true
	}
	for dir := name; dir != "."; dir = path.Dir(dir) {
		if _, ok = list[dir+"/..."]; ok {
			return dir + "/...", true
		}
	}
	return "", false
}

// allows reports whether a list of packages, or patterns, has one.
func allows(list []string, name string) bool {
	return slices.ContainsFunc(list, func(a string) bool {
		dir, pattern := strings.CutSuffix(a, "/...")
		return name == a || pattern && (name == dir || strings.HasPrefix(name, dir+"/"))
	})
}

// violations is what packages import against the two lists. imports has, by package, all
// but the standard library.
func violations(allowed, modules map[string][]string, imports map[string][]string) (all []string) {
	complain := func(format string, args ...any) { all = append(all, fmt.Sprintf(format, args...)) }
	exists := map[string]bool{}
	for name, paths := range imports {
		key, ok := entry(allowed, name)
		if exists[key] = true; !ok {
			complain("%s is not in the list: add what it may import", name)
			continue
		}
		for _, path := range paths {
			if other, ours := strings.CutPrefix(path, module+"/"); ours {
				if !allows(allowed[key], other) {
					complain("%s imports %s, which the list does not allow", name, other)
				}
				continue
			}
			use := func(m string) bool { return allows([]string{m}, path) && allows(modules[m], name) }
			if !slices.ContainsFunc(slices.Collect(maps.Keys(modules)), use) {
				complain("%s imports %s, which is in no row of modules for it", name, path)
			}
		}
	}
	for name, others := range allowed {
		if !exists[name] {
			complain("%s is in the list and not there: remove it", name)
		}
		for _, other := range others {
			if _, ok := entry(allowed, other); !ok {
				complain("%s may import %s, which is not in the list", name, other)
			}
		}
	}
	for m, users := range modules {
		for _, user := range users {
			if _, ok := entry(allowed, user); !ok {
				complain("%s may use %s and is not in the list", user, m)
			}
		}
	}
	return all
}

func TestPackagesImportOnlyWhatIsAllowed(t *testing.T) {
	imports := map[string][]string{}
	for _, pkg := range goList(t) {
		if pkg.ImportPath != module {
			imports[pkg.name()] = slices.DeleteFunc(pkg.Imports, func(path string) bool {
				return path == "C" || standard(path) // see the test on cgo
			})
		}
	}
	for _, v := range violations(allowed, modules, imports) {
		t.Error(v)
	}
}

func TestViolationsAreSeen(t *testing.T) {
	allowed := map[string][]string{"wire": {}, "match": {}, "pt2pt": {"match", "wire"}, "bench/...": {"pt2pt"}}
	modules := map[string][]string{"golang.org/x/sys/unix": {"pt2pt"}, "example.org/v1/num/...": {"bench/..."}}
	good := func() map[string][]string {
		return map[string][]string{
			"wire": nil, "match": nil, "pt2pt": {module + "/match", "golang.org/x/sys/unix"},
			"bench": {"example.org/v1/num/stat"}, "bench/plot": {module + "/pt2pt", "example.org/v1/num"},
		}
	}
	if v := violations(allowed, modules, good()); len(v) > 0 {
		t.Errorf("what is right is a violation: %v", v)
	}
	for want, c := range map[string]struct {
		name    string
		imports []string // nil: the package is not there
	}{
		"helpers is not in the list":              {"helpers", []string{}},
		"match is in the list and not there":      {"match", nil},
		"match imports wire, which the list":      {"match", []string{module + "/wire"}},
		"bench/plot imports match, which the":     {"bench/plot", []string{module + "/match"}},
		"bench/plot imports golang.org/x/sys":     {"bench/plot", []string{"golang.org/x/sys/unix"}},
		"pt2pt imports pgregory.net/rapid":        {"pt2pt", []string{"pgregory.net/rapid"}},
		"bench imports example.org/v1/number, wh": {"bench", []string{"example.org/v1/number"}},
	} {
		bad := good()
		if bad[c.name] = c.imports; c.imports == nil {
			delete(bad, c.name)
		}
		if v := violations(allowed, modules, bad); len(v) != 1 || !strings.HasPrefix(v[0], want) {
			t.Errorf("the violations are %v, want %q", v, want)
		}
	}
	allowed["pt2pt"] = append(allowed["pt2pt"], "rma")
	modules["golang.org/x/sys/unix"] = append(modules["golang.org/x/sys/unix"], "rma")
	if v := violations(allowed, modules, good()); len(v) != 2 {
		t.Errorf("a list that names what it does not have: %v", v)
	}
	if standard("github.com/x/y") || !standard("encoding/json") || standard("golang.org/x/sys/unix") {
		t.Error("the standard library is not told from other modules")
	}
}

package metrics_test

import (
	"encoding/json"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	dto "github.com/prometheus/client_model/go"

	"github.com/weft-mpi/weft/metrics"
	"github.com/weft-mpi/weft/progress/counters"
)

// exposed are the names and labels that queries may use: of ranks that do everything.
func exposed(t *testing.T) map[string][]string {
	t.Helper()
	s := everything(t)
	all := gather(t, metrics.RanksCollector(func() map[int]counters.Snapshot { return map[int]counters.Snapshot{0: s} }, nil))
	out := map[string][]string{}
	for name, f := range all {
		labels := []string{"job", "instance"} // of Prometheus
		for _, l := range f.Metric[0].Label {
			labels = append(labels, l.GetName())
		}
		if f.GetType() == dto.MetricType_HISTOGRAM {
			out[name+"_bucket"], out[name+"_count"], out[name+"_sum"] = append(labels, "le"), labels, labels
			continue
		}
		out[name] = labels
	}
	return out
}

var (
	named    = regexp.MustCompile(`\bweft_[a-z0-9_]+`)
	selector = regexp.MustCompile(`\b(weft_[a-z0-9_]+)\{([^}]*)\}`)
	grouping = regexp.MustCompile(`\b(?:by|without) \(([^)]*)\)`)
	matcher  = regexp.MustCompile(`\b([a-z_]+)\s*(?:=~|!~|!=|=)`)
)

// check finds metrics and labels of a query that are not exposed.
func check(query string, exposed map[string][]string) (wrong []string) {
	known := []string{}
	for _, name := range named.FindAllString(query, -1) {
		if _, ok := exposed[name]; !ok {
			wrong = append(wrong, "there is no metric "+name)
		}
		known = append(known, exposed[name]...)
	}
	for _, m := range selector.FindAllStringSubmatch(query, -1) {
		for _, l := range matcher.FindAllStringSubmatch(m[2], -1) {
			if labels := exposed[m[1]]; labels != nil && !slices.Contains(labels, l[1]) {
				wrong = append(wrong, m[1]+" has no label "+l[1])
			}
		}
	}
	for _, m := range grouping.FindAllStringSubmatch(query, -1) {
		for l := range strings.SplitSeq(m[1], ",") {
			if l = strings.TrimSpace(l); !slices.Contains(known, l) {
				wrong = append(wrong, "no metric of the query has a label "+l)
			}
		}
	}
	return wrong
}

func TestQueriesAreChecked(t *testing.T) {
	exposed := map[string][]string{"weft_a_total": {"job", "x"}}
	for query, bad := range map[string]bool{
		"sum by (x) (rate(weft_a_total{x=~\"y\"}[5m]))": false,
		"weft_b_total":                         true,
		"weft_a_total{z=\"1\"}":                true,
		"sum by (job, z) (weft_a_total)":       true,
		"weft_a_total{job=\"1\"} / weft_b":     true,
		"sum without (x) (weft_a_total) > 0.5": false,
	} {
		if got := check(query, exposed); (len(got) > 0) != bad {
			t.Errorf("%s: %v", query, got)
		}
	}
}

// Grafana's dashboard is what it takes for one, and asks for what there is.
func TestTheDashboardAsksForWhatThereIs(t *testing.T) {
	text, err := os.ReadFile("../deploy/grafana.json")
	if err != nil {
		t.Fatal(err)
	}
	type panel struct {
		ID      int
		Type    string
		Title   string
		GridPos struct{ H, W, X, Y int }
		Targets []struct{ RefID, Expr string }
	}
	var dashboard struct {
		UID, Title    string
		SchemaVersion int
		Panels        []panel
		Templating    struct {
			List []struct {
				Name  string
				Query any
			}
		}
	}
	if err := json.Unmarshal(text, &dashboard); err != nil {
		t.Fatal(err)
	}
	if dashboard.UID == "" || dashboard.Title == "" || dashboard.SchemaVersion == 0 || len(dashboard.Panels) == 0 {
		t.Errorf("the dashboard is %+v", dashboard)
	}
	exposed, asked, ids := exposed(t), map[string]bool{}, map[int]bool{}
	taken := map[[2]int]string{}
	for _, p := range dashboard.Panels {
		if ids[p.ID] {
			t.Errorf("two panels have the id %d", p.ID)
		}
		ids[p.ID] = true
		for x := range p.GridPos.W {
			for y := range p.GridPos.H {
				at := [2]int{p.GridPos.X + x, p.GridPos.Y + y}
				if other := taken[at]; other != "" || at[0] >= 24 {
					t.Fatalf("%q and %q overlap, or leave the page", p.Title, other)
				}
				taken[at] = p.Title
			}
		}
		if p.Type != "row" && len(p.Targets) == 0 {
			t.Errorf("%q asks for nothing", p.Title)
		}
		for _, q := range p.Targets {
			for _, wrong := range check(q.Expr, exposed) {
				t.Errorf("%q: %s, in %s", p.Title, wrong, q.Expr)
			}
			for _, name := range named.FindAllString(q.Expr, -1) {
				asked[name] = true
			}
		}
	}
	for _, v := range dashboard.Templating.List {
		query, err := json.Marshal(v.Query)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range named.FindAllString(string(query), -1) {
			if _, ok := exposed[name]; !ok {
				t.Errorf("the variable %s asks for %s", v.Name, name)
			}
		}
	}
	t.Logf("of %d metrics the dashboard shows %d", len(exposed), len(asked))
}

// Alerts ask for what there is, and docs/metrics.md lists it all.
func TestAlertsAskForWhatThereIs(t *testing.T) {
	text, err := os.ReadFile("../deploy/alerts.yml")
	if err != nil {
		t.Fatal(err)
	}
	exposed, queries := exposed(t), 0
	for _, part := range strings.Split(string(text), "expr:")[1:] {
		query, _, _ := strings.Cut(part, "labels:")
		queries++
		for _, wrong := range check(strings.Join(strings.Fields(query), " "), exposed) {
			t.Errorf("%s, in %s", wrong, query)
		}
	}
	if queries == 0 {
		t.Error("there are no alerts")
	}
	page, err := os.ReadFile("../docs/metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	listed := map[string]bool{}
	for _, name := range regexp.MustCompile("`(weft_[a-z0-9_]+)").FindAllStringSubmatch(string(page), -1) {
		listed[name[1]] = true
	}
	for _, name := range slices.Sorted(maps.Keys(exposed)) {
		for _, part := range []string{"_bucket", "_count", "_sum"} {
			name = strings.TrimSuffix(name, part)
		}
		if !listed[name] {
			t.Errorf("docs/metrics.md does not list %s", name)
		}
	}
	for name := range listed {
		if _, ok := exposed[name]; !ok && exposed[name+"_bucket"] == nil {
			t.Errorf("docs/metrics.md lists %s, which does not exist", name)
		}
	}
}

package disruption_test

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/disruption"
	"github.com/drawknife/drawknife/scheduling"
	"github.com/drawknife/drawknife/scheduling/planning"
)

// wishWorld has a gang in zone b that prefers one zone. In zone a there is room for two of its three members, and new nodes are c2 in zone b. So a new
// node of 0.10 USD is enough if the zones may differ; in one zone it takes new nodes for all, which cost 0.30 USD as the present ones do.
func wishWorld() *world {
	w := newWorld()
	w.catalog("all", instanceType("c2", 2, "on-demand=0.1"), instanceType("old", 2, "on-demand=0.1"), instanceType("c4", 4, "on-demand=0.2"))
	w.pool("default", func(np *v1.NodePool) {
		np.Spec.Template.Spec.Requirements = []v1.NodeSelectorRequirementWithMinValues{
			{Key: corev1.LabelTopologyZone, Operator: corev1.NodeSelectorOpIn, Values: []string{"b"}},
			{Key: corev1.LabelInstanceTypeStable, Operator: corev1.NodeSelectorOpIn, Values: []string{"c2"}},
		}
	})
	zone := func(name string) nodeOption { return labelled(corev1.LabelTopologyZone, name) }
	w.node("n0", "c4", holding(pod("wide-0", asks("cpu=1500m")), pod("wide-1", asks("cpu=1500m"))), zone("b"))
	w.node("n1", "old", holding(pod("wide-2", asks("cpu=1500m"))), zone("b"))
	w.node("room", "c4", holding(pod("other", asks("cpu=500m"))), zone("a"), annotated(v1.DoNotDisruptAnnotationKey, "true"))
	gang := gangOf("wide", "wide-0", "wide-1", "wide-2")
	gang.Topology = []scheduling.GangTopology{{Key: corev1.LabelTopologyZone, Policy: scheduling.GangTopologyPreferred}}
	w.snapshot.Gangs = []scheduling.Gang{gang}
	return w
}

// A gang that is moved keeps the domains that it prefers as far as the premium reaches, as where it is placed. Consolidation does not give
// them up for a saving either.
func TestMovedGangsKeepPreferredDomains(t *testing.T) {
	premium := func(share float64) planning.Query { return planning.Query{PreferencePremium: &share} }
	ignored := planning.Query{Preferences: planning.PreferencesIgnore}
	for name, tt := range map[string]struct {
		query   planning.Query
		drifted bool
		// want are the nodes that take members; "new" stands for new ones.
		want string
	}{
		"drift, within the premium":               {planning.Query{}, true, "new"},
		"drift, beyond the premium":               {premium(0.2), true, "new room"},
		"drift, preferences ignored":              {ignored, true, "new room"},
		"consolidation, within the premium":       {planning.Query{}, false, ""},
		"consolidation, beyond the premium":       {premium(0.2), false, "new room"},
		"consolidation, with preferences ignored": {ignored, false, "new room"},
	} {
		global := thrifty()
		global.Query = tt.query
		for planner, p := range map[string]disruption.Planner{"reference": &disruption.Reference{Query: tt.query}, "global": global} {
			w := wishWorld()
			if tt.drifted {
				drifted(time.Hour)(&w.snapshot.Nodes[0])
			}
			plan, err := p.Plan(t.Context(), w.fleet(t))
			if err != nil {
				t.Fatal(err)
			}
			for _, why := range torn(w.snapshot, plan.Commands) {
				t.Errorf("%s, %s: %s", planner, name, why)
			}
			if got := takers(plan); got != tt.want {
				t.Errorf("%s, %s: pods go to %q, want %q: %v", planner, name, got, tt.want, plan.Verdicts[0])
			}
		}
	}
}

// takers are the nodes that take pods of the plan's commands; "new" stands for new ones.
func takers(plan *disruption.Plan) string {
	got := map[string]bool{}
	for _, cmd := range plan.Commands {
		for _, r := range cmd.Receivers {
			got[r.Name] = true
		}
		if len(cmd.Replacements) > 0 {
			got["new"] = true
		}
	}
	return strings.Join(slices.Sorted(maps.Keys(got)), " ")
}

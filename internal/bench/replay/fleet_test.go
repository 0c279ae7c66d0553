package replay

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/internal/bench/judge"
	"github.com/drawknife/drawknife/internal/workload"
	"github.com/drawknife/drawknife/scheduling"
)

func fleet(t *testing.T) *Fleet {
	t.Helper()
	f, err := New(workload.Fleet{Nodes: 6, Fill: 0.4}.Snapshot())
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func podsOf(n *scheduling.Node) []string {
	var out []string
	for _, p := range n.Pods {
		out = append(out, p.Namespace+"/"+p.Name)
	}
	return out
}

// swap replaces the first node by one of its own kind, bought as cheaply as its pods' plan leaves open.
func swap(f *Fleet) Step {
	n := &f.Snapshot.Nodes[0]
	labels := n.Object.Labels
	in := func(key string) v1.NodeSelectorRequirementWithMinValues {
		return v1.NodeSelectorRequirementWithMinValues{Key: key, Operator: corev1.NodeSelectorOpIn, Values: []string{labels[key]}}
	}
	l := Launch{Name: "new", InstanceType: labels[corev1.LabelInstanceTypeStable], Zone: labels[corev1.LabelTopologyZone], CapacityType: labels[v1.CapacityTypeLabelKey]}
	l.NewNode = judge.NewNode{
		Pool: workload.PoolName, InstanceTypes: []string{l.InstanceType}, Pods: podsOf(n),
		Requirements: []v1.NodeSelectorRequirementWithMinValues{in(corev1.LabelTopologyZone), in(v1.CapacityTypeLabelKey)},
	}
	return Step{Method: "test", Removed: []string{n.Name}, Launched: []Launch{l}}
}

// A node that is replaced by one of its own kind costs the same, and its pods are on the new one.
func TestApply(t *testing.T) {
	f := fleet(t)
	before, cost, pods := f.Snapshot, f.HourlyCost(), podsOf(&f.Snapshot.Nodes[0])
	step := swap(f)
	if wrong := f.Check(&step); len(wrong) > 0 {
		t.Fatalf("%q", wrong)
	}
	if err := f.Apply(&step); err != nil {
		t.Fatal(err)
	}
	if after := f.HourlyCost(); cost <= 0 || after != cost {
		t.Errorf("costs %v, cost %v", after, cost)
	}
	last := &f.Snapshot.Nodes[len(f.Snapshot.Nodes)-1]
	if last.Name != "new" || !slices.Equal(podsOf(last), pods) || last.Pods[0].Spec.NodeName != "new" || len(f.Snapshot.Nodes) != 6 {
		t.Errorf("%+v", last)
	}
	if f.Evictions != len(pods) || f.Launched != 1 || f.Removed != 1 || !f.Snapshot.Time.After(before.Time) {
		t.Errorf("%+v", f)
	}
	if before.Nodes[0].Pods[0].Spec.NodeName == "new" || len(before.Nodes) != 6 {
		t.Error("the fleet as it was has changed")
	}
	if _, err := scheduling.Compile(f.Snapshot); err != nil {
		t.Error(err)
	}
}

// Whatever is wrong with a step is told, and what can't be carried out is not.
func TestFaults(t *testing.T) {
	for name, c := range map[string]struct {
		change  func(f *Fleet, s *Step)
		check   string
		applies bool
	}{
		"forgotten pod": {func(_ *Fleet, s *Step) { s.Launched[0].Pods = s.Launched[0].Pods[1:] }, "is forgotten", false},
		"pod of another": {func(f *Fleet, s *Step) {
			s.Launched[0].Pods = append(slices.Clone(s.Launched[0].Pods), podsOf(&f.Snapshot.Nodes[1])[0])
		}, "does not wait", false},
		"pod twice": {func(f *Fleet, s *Step) {
			s.Existing = []judge.ExistingNode{{Name: f.Snapshot.Nodes[1].Name, Pods: s.Launched[0].Pods[:1]}}
		}, "planned 2 times", false},
		"onto what is removed": {func(_ *Fleet, s *Step) {
			s.Existing = []judge.ExistingNode{{Name: s.Removed[0], Pods: s.Launched[0].Pods}}
			s.Launched = nil
		}, "not there", false},
		"removed twice":    {func(_ *Fleet, s *Step) { s.Removed = append(s.Removed, "ghost") }, "are there", true},
		"not a cheapest":   {func(f *Fleet, s *Step) { s.Launched[0].InstanceTypes = typesOf(f) }, "allows", true},
		"not what is open": {func(_ *Fleet, s *Step) { s.Launched[0].Zone = "zone-x" }, "not an available offering", true},
		"no such type":     {func(_ *Fleet, s *Step) { s.Launched[0].InstanceType = "x" }, "not an available offering", false},
		"no such pool":     {func(_ *Fleet, s *Step) { s.Launched[0].Pool = "x" }, "which is not in the workload", false},
		"no room": {func(f *Fleet, s *Step) {
			all := []string{}
			s.Removed = nil
			for i := range f.Snapshot.Nodes {
				s.Removed = append(s.Removed, f.Snapshot.Nodes[i].Name)
				all = append(all, podsOf(&f.Snapshot.Nodes[i])...)
			}
			s.Launched[0].Pods = all
		}, "no room", true},
	} {
		t.Run(name, func(t *testing.T) {
			f := fleet(t)
			step := swap(f)
			c.change(f, &step)
			if wrong := strings.Join(f.Check(&step), "; "); !strings.Contains(wrong, c.check) {
				t.Errorf("%q, want %q", wrong, c.check)
			}
			before := f.Snapshot
			err := f.Apply(&step)
			if (err == nil) != c.applies {
				t.Errorf("applied: %v", err)
			}
			if err != nil && (f.Snapshot != before || f.Evictions+f.Launched+f.Removed > 0) {
				t.Error("it was carried out in part")
			}
		})
	}
}

func typesOf(f *Fleet) []string {
	var names []string
	for _, it := range f.Snapshot.Catalogs[workload.PoolName] {
		names = append(names, it.Name)
	}
	return names
}

func TestNew(t *testing.T) {
	s := workload.Fleet{Nodes: 2, Fill: 0.4}.Snapshot()
	waiting := Waiting(s)
	if len(waiting.Nodes) > 0 || len(waiting.Pods) != len(s.Nodes[0].Pods)+len(s.Nodes[1].Pods) || waiting.Pods[0].Spec.NodeName != "" || s.Nodes[0].Pods[0].Spec.NodeName == "" {
		t.Errorf("%d nodes, %d pods", len(waiting.Nodes), len(waiting.Pods))
	}
	if _, err := New(waiting); err == nil {
		t.Error("pods that wait are taken")
	}
	soldOut := func(s *scheduling.Snapshot) (n int) {
		for _, it := range s.Catalogs[workload.PoolName] {
			for i := range it.Offerings {
				if !it.Offerings[i].Available {
					n++
				}
			}
		}
		return n
	}
	if before, after := soldOut(s), soldOut(InStock(s)); before == 0 || after > 0 || soldOut(s) != before {
		t.Errorf("%d were sold out, %d are", before, after)
	}
	s.Nodes[1].Object = nil
	if _, err := New(s); err == nil {
		t.Error("a node without a Node is taken")
	}
}

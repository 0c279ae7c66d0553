package workload

import (
	"fmt"
	"slices"
	"strings"
	"time"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/scheduling"
)

// OrdinaryFleet is an ordinary cluster after some of its pods were deleted. Its nodes have existed for a long time and are two fifths full.
// Its pods keep their rules. The same OrdinaryFleet gives the same fleet.
type OrdinaryFleet struct {
	// Cluster has the families, rules, zones and seed. Its Pods must be 0, because the number of pods follows from the nodes.
	Cluster Ordinary
	// Nodes is the number of nodes, at least 1.
	Nodes int
}

// OrdinaryFill is the requested share of all nodes of an OrdinaryFleet: the larger of the share of their total CPU and the share of their
// total memory.
const OrdinaryFill = 0.4

// mostOrdinaryNodes is the largest number of nodes of an OrdinaryFleet.
const mostOrdinaryNodes = 5000

// Name returns the name of the cluster, with -NODESn appended.
func (f OrdinaryFleet) Name() string { return fmt.Sprintf("%s-%dn", f.Cluster.Name(), f.Nodes) }

// ParseOrdinaryFleet returns the OrdinaryFleet whose Name has the given value.
func ParseOrdinaryFleet(name string) (OrdinaryFleet, error) {
	last := max(strings.LastIndexByte(name, '-'), 0)
	o, err := ParseOrdinary(name[:last])
	if err != nil {
		return OrdinaryFleet{}, fmt.Errorf("fleet %q: %w", name, err)
	}
	f := OrdinaryFleet{Cluster: o}
	if _, err := fmt.Sscanf(name[last:], "-%dn", &f.Nodes); err != nil || f.Name() != name {
		return OrdinaryFleet{}, fmt.Errorf("fleet %q: give FAMILIES-RULES-ZONESz-SEED-NODESn, for example m5-none-3z-1-60n", name)
	}
	return f, f.check()
}

func (f OrdinaryFleet) check() error {
	switch {
	case f.Cluster.Pods != 0:
		return fmt.Errorf("fleet %s: the number of pods follows from the nodes: leave it 0", f.Name())
	case f.Nodes < 1 || f.Nodes > mostOrdinaryNodes:
		return fmt.Errorf("fleet %s: %d nodes: give 1 to %d", f.Name(), f.Nodes, mostOrdinaryNodes)
	}
	return nil
}

// Snapshot returns the fleet. It returns an error if Ordinary.Snapshot returns an error for the cluster.
func (f OrdinaryFleet) Snapshot() (*scheduling.Snapshot, error) {
	if err := f.check(); err != nil {
		return nil, err
	}
	if err := f.Cluster.check(); err != nil {
		return nil, fmt.Errorf("fleet %s: %w", f.Name(), err)
	}
	catalog := f.Cluster.types()
	nodes := f.fill(f.open(catalog))
	s := Snapshot(catalog, nil, nodes)
	pool := s.NodePools[0].Object
	pool.Spec.Template.Spec.Requirements = []v1.NodeSelectorRequirementWithMinValues{}
	pool.Spec.Disruption.Budgets = []v1.Budget{}
	pool.UID = "pool-default"
	for i := range s.Nodes {
		Settle(&s.Nodes[i], s.Time.Add(-24*time.Hour))
	}
	return s, nil
}

// open returns empty nodes of random sizes from xlarge to 8xlarge. The nodes are assigned to the zones in turn.
func (f OrdinaryFleet) open(catalog []*Type) []Node {
	sizes := slices.DeleteFunc(slices.Clone(catalog), func(t *Type) bool { return t.VCPU < 4 || t.VCPU > 32 })
	r := rng(f.Cluster.Seed, 77)
	nodes := make([]Node, f.Nodes)
	for i := range nodes {
		t := sizes[r.IntN(len(sizes))]
		nodes[i] = Node{Name: fmt.Sprintf("node-%04d", i), Type: t, Zone: t.Offerings[i%len(t.Offerings)].Zone}
	}
	return nodes
}

// fill draws deployments at random, and places each pod on the emptiest node that the pod's rules allow. It stops when the used share of
// the nodes' resources reaches OrdinaryFill.
func (f OrdinaryFleet) fill(nodes []Node) []Node {
	var haveCPU, haveMem, cpu, mem int64
	for i := range nodes {
		haveCPU += nodes[i].Type.AllocCPUm()
		haveMem += nodes[i].Type.AllocMemMi()
	}
	drawn := f.Cluster
	drawn.Pods = f.Nodes * 60 // more pods than fit in any fleet
	used := make([][2]int64, len(nodes))
	zones := map[string]map[string]int{}
	hosts := map[string]map[int]bool{}
	for _, p := range drawn.pods() {
		if zones[p.App] == nil {
			zones[p.App], hosts[p.App] = map[string]int{}, map[int]bool{}
		}
		at, least := -1, 1.0
		for i := range nodes {
			t := nodes[i].Type
			share := max(float64(used[i][0]+p.CPUm)/float64(t.AllocCPUm()), float64(used[i][1]+p.MemMi)/float64(t.AllocMemMi()))
			if share > least || len(nodes[i].Pods) >= t.MaxPods || (p.HostAnti && hosts[p.App][i]) || (p.ZoneSpread && !evenly(zones[p.App], t, nodes[i].Zone)) {
				continue
			}
			at, least = i, share
		}
		if at < 0 {
			continue // if the fleet has few nodes, the rules may leave no node for the pod
		}
		p.Node = nodes[at].Name
		nodes[at].Pods = append(nodes[at].Pods, p)
		used[at][0] += p.CPUm
		used[at][1] += p.MemMi
		zones[p.App][nodes[at].Zone]++
		hosts[p.App][at] = true
		if cpu, mem = cpu+p.CPUm, mem+p.MemMi; max(float64(cpu)/float64(haveCPU), float64(mem)/float64(haveMem)) >= OrdinaryFill {
			break
		}
	}
	return nodes
}

// evenly reports whether the pods of a deployment have a skew of at most 1 over all zones after one more pod is placed in the zone.
func evenly(counts map[string]int, t *Type, zone string) bool {
	for _, o := range t.Offerings {
		if counts[o.Zone] < counts[zone] {
			return false
		}
	}
	return true
}

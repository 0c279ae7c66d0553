package scheduling_test

import (
	"cmp"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/internal/seeded"
	"github.com/drawknife/drawknife/scheduling"
)

// shuffled lists everything in the snapshot in another order, which says nothing.
func shuffled(s *scheduling.Snapshot, seed uint64) *scheduling.Snapshot {
	r := rand.New(rand.NewPCG(seed, 0))
	o := *s
	o.Pods, o.Placeholders = mixed(r, s.Pods), mixed(r, s.Placeholders)
	o.Nodes, o.NodePools, o.DaemonSets = mixed(r, s.Nodes), mixed(r, s.NodePools), mixed(r, s.DaemonSets)
	for i := range o.Nodes {
		o.Nodes[i].Pods = mixed(r, o.Nodes[i].Pods)
	}
	o.Namespaces, o.StorageClasses, o.CSINodes = mixed(r, s.Namespaces), mixed(r, s.StorageClasses), mixed(r, s.CSINodes)
	o.VolumeAttachments = mixed(r, s.VolumeAttachments)
	o.PersistentVolumes, o.PersistentVolumeClaims = mixed(r, s.PersistentVolumes), mixed(r, s.PersistentVolumeClaims)
	o.Catalogs = map[string][]*cloudprovider.InstanceType{}
	for name, list := range s.Catalogs {
		types := mixed(r, list)
		for i := range types {
			it := *types[i]
			it.Offerings = mixed(r, it.Offerings)
			types[i] = &it
		}
		o.Catalogs[name] = types
	}
	return &o
}

func mixed[T any](r *rand.Rand, list []T) []T {
	out := slices.Clone(list)
	r.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	return out
}

// sortedText is the plan with all that follows the order of the input in a fixed order. Names of new nodes are numbers
// in the order of planning.
func sortedText(t *rapid.T, p *scheduling.Plan) string {
	sorted := func(keys []scheduling.PodKey) []scheduling.PodKey {
		return slices.SortedFunc(slices.Values(keys), func(a, b scheduling.PodKey) int { return cmp.Compare(a.String(), b.String()) })
	}
	o := *p
	o.NewNodes, o.Existing, o.Relaxations = slices.Clone(p.NewNodes), slices.Clone(p.Existing), slices.Clone(p.Relaxations)
	for i := range o.NewNodes {
		o.NewNodes[i].Name, o.NewNodes[i].Pods = "", sorted(o.NewNodes[i].Pods)
	}
	for i := range o.Existing {
		o.Existing[i].Pods = sorted(o.Existing[i].Pods)
	}
	for i := range o.Relaxations {
		o.Relaxations[i].Pods = sorted(o.Relaxations[i].Pods)
	}
	o.Order = sorted(o.Order)
	slices.SortFunc(o.NewNodes, func(a, b scheduling.NewNode) int { return cmp.Compare(a.Pods[0].String(), b.Pods[0].String()) })
	o.Unschedulable = slices.SortedFunc(slices.Values(p.Unschedulable), func(a, b scheduling.Unschedulable) int { return cmp.Compare(a.Pod.String(), b.Pod.String()) })
	return text(t, &o)
}

// The order in which anything is listed carries no meaning: pods, nodes and their pods, pools, instance types and their
// offerings, DaemonSets, volumes. The plan is the same, byte for byte, but for the order in which things are
// listed. OPP-13, SCH-126, SCH-173, SCH-174, SCH-175: nothing depends on chance, at any GOMAXPROCS.
//
//	go test ./scheduling -run TestOrderOfInputDoesNotChangeThePlan -rapid.checks 20000
func TestOrderOfInputDoesNotChangeThePlan(t *testing.T) {
	seeded.Times(t, seeded.Draws(120, 300), func(t *rapid.T) {
		s := randomRuledSnapshot(t)
		want := sortedText(t, solved(t, s))
		o := shuffled(s, rapid.Uint64().Draw(t, "order"))
		before := runtime.GOMAXPROCS(number(t, 1, 3))
		got := sortedText(t, solved(t, o))
		runtime.GOMAXPROCS(before)
		if diff := gocmp.Diff(want, got); diff != "" {
			show(t, s)
			t.Errorf("(-as it was +shuffled):\n%s", diff)
		}
	})
}

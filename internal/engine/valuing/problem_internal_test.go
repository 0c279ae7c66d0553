package valuing

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"pgregory.net/rapid"

	"github.com/drawknife/drawknife/api/requirements"
	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/fake/build"
	"github.com/drawknife/drawknife/internal/engine/market"
	"github.com/drawknife/drawknife/internal/engine/model"
	"github.com/drawknife/drawknife/internal/engine/pricing"
	"github.com/drawknife/drawknife/internal/engine/resources"
	"github.com/drawknife/drawknife/internal/seeded"
	"github.com/drawknife/drawknife/scheduling/planning"
)

// Whatever pools there are, each node that one of them could launch for a pod is an option or dominated by one: pools
// that are passed over because another covers them had nothing to add.
func TestNoPoolIsMissed(t *testing.T) {
	seeded.Check(t, func(t *rapid.T) {
		s := &planning.Snapshot{Vocabulary: requirements.CoreVocabulary(), Catalogs: map[string][]*cloudprovider.InstanceType{"x": nil, "y": nil}}
		for name := range s.Catalogs {
			for i := range 3 {
				s.Catalogs[name] = append(s.Catalogs[name], drawnType(t, fmt.Sprintf("%s%d", name, i)))
			}
		}
		for i := range rapid.IntRange(2, 5).Draw(t, "pools") {
			s.NodePools = append(s.NodePools, drawnPool(t, fmt.Sprintf("p%d", i)))
		}
		for i, zone := range []string{"", "a", "b"} {
			pod := build.Pod(fmt.Sprintf("pod-%d", i), build.CPU("1"))
			if zone != "" {
				pod.Spec.NodeSelector = map[string]string{corev1.LabelTopologyZone: zone}
			}
			s.Pods = append(s.Pods, pod)
		}
		m, err := model.Compile(s)
		if err != nil {
			t.Fatal(err)
		}
		var items []pricing.Item
		for i, c := range m.Classes {
			if len(c.Stages) > 0 {
				items = append(items, Provable(m, int32(i), c.Stages[0], 1))
			}
		}
		if len(items) == 0 {
			return
		}
		p := m.Shop().Choose(items, nil)
		narrowed := m.Shop().Anywhere(pricing.PlacesInUse(items)).Narrow(m.Shop(), items, nil)
		if diff := cmp.Diff(p.Options, narrowed.Options); diff != "" {
			t.Fatalf("narrowed from pods of any size (-chosen +narrowed):\n%s", diff)
		}
		for at, pl := range pricing.PlacesInUse(items) {
			for _, u := range m.Stages[pl.Stage].Uses {
				pool := m.Pools[u.Pool]
				f := &pool.Profiles[u.Profile]
				for r := range f.Rows.Members {
					alloc := pool.Table.AllocOf(r, p.Dims)
					if !resources.Fits(items[0].Need, alloc) { // all pods ask for the same
						continue
					}
					for slot := range f.Slots.Members {
						price := pool.Table.Catalog.Price(pool.Table.Rows[r].Variant, slot)
						if price == market.NoPrice || !pool.Table.Rows[r].Slots.Has(slot) {
							continue
						}
						if !slices.ContainsFunc(p.Options, func(k pricing.Option) bool {
							same := k.Pool == u.Pool && k.Row == int32(r)
							limits := m.Pools[k.Pool].Limits == nil || same || k.Pool == u.Pool && resources.Fits(m.Pools[k.Pool].RowCost(int(k.Row)), pool.RowCost(r))
							return k.Price <= price && k.Open.Has(at) && resources.Fits(alloc, k.Alloc) && limits
						}) {
							t.Fatalf("row %d in slot %d of pool %d is neither an option nor dominated by one", r, slot, u.Pool)
						}
					}
				}
			}
		}
	})
}

func drawnType(t *rapid.T, name string) *cloudprovider.InstanceType {
	it := build.InstanceType(name, build.CPU(fmt.Sprint(rapid.Int64Range(1, 4).Draw(t, "cpu"))), build.MaxPods(10))
	for _, zone := range []string{"a", "b"} {
		for _, capacityType := range []string{"spot", "on-demand"} {
			offering := build.Offering(zone, capacityType, float64(rapid.IntRange(1, 5).Draw(t, "price")))
			offering.Available = rapid.IntRange(0, 3).Draw(t, "available") > 0
			it.Offerings = append(it.Offerings, offering)
		}
	}
	return it
}

func drawnPool(t *rapid.T, name string) planning.NodePool {
	np := build.Pool(name)
	switch rapid.IntRange(0, 5).Draw(t, "kind") {
	case 0:
		np = build.Pool(name, build.Requires(corev1.LabelTopologyZone, "In", rapid.SampledFrom([]string{"a", "b"}).Draw(t, "zone")))
	case 1:
		np = build.Pool(name, build.Requires(v1.CapacityTypeLabelKey, "In", "on-demand"))
	case 2:
		np = build.Pool(name, build.Limit("cpu", "8"))
	case 3:
		np.Spec.Template.Labels = map[string]string{"team": name}
	}
	return planning.NodePool{Key: v1.NewPoolKey(name), Object: np, Catalog: rapid.SampledFrom([]string{"x", "y"}).Draw(t, "catalog")}
}

package overlay

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"pgregory.net/rapid"

	"github.com/drawknife/drawknife/api/requirements"
	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/internal/seeded"
)

func drawOverlays(t *rapid.T) []*v1.NodeOverlay {
	requirement := rapid.Custom(func(t *rapid.T) option {
		key := rapid.SampledFrom([]string{
			corev1.LabelTopologyZone, v1.CapacityTypeLabelKey, corev1.LabelInstanceTypeStable, corev1.LabelArchStable,
			v1.NodePoolLabelKey, "team", "example.com/reservation", "example.com/size",
		}).Draw(t, "key")
		operator := rapid.SampledFrom([]corev1.NodeSelectorOperator{"In", "In", "NotIn", "Exists", "DoesNotExist", "Gt"}).Draw(t, "operator")
		switch operator {
		case "Gt":
			return where(key, operator, "2")
		case "Exists", "DoesNotExist":
			return where(key, operator)
		}
		return where(key, operator, rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"a", "b", "spot", "on-demand", "t1", "t2", "amd64", "blue", "r1", "4"}), 1, 4, rapid.ID[string]).Draw(t, "values")...)
	})
	var overlays []*v1.NodeOverlay
	for i := range rapid.IntRange(0, 5).Draw(t, "overlays") {
		options := rapid.SliceOfN(requirement, 0, 2).Draw(t, "requirements")
		switch rapid.IntRange(0, 2).Draw(t, "price") {
		case 1:
			options = append(options, price(fmt.Sprint(rapid.IntRange(0, 9).Draw(t, "absolute"))))
		case 2:
			options = append(options, adjust(rapid.SampledFrom([]string{"+1", "-1", "+50%", "-100%"}).Draw(t, "adjustment")))
		}
		for _, name := range rapid.SliceOfNDistinct(rapid.SampledFrom([]corev1.ResourceName{fuse, "example.com/tap"}), 0, 2, rapid.ID[corev1.ResourceName]).Draw(t, "capacity") {
			options = append(options, adds(name, fmt.Sprint(i+1)))
		}
		if w := rapid.Int32Range(0, 2).Draw(t, "weight"); w > 0 {
			options = append(options, weight(w))
		}
		overlays = append(overlays, newOverlay(fmt.Sprint("o", i), options...))
	}
	return overlays
}

func drawPools(t *rapid.T) []Pool {
	types := make([]*cloudprovider.InstanceType, rapid.IntRange(0, 4).Draw(t, "types"))
	for i := range types {
		it := instance(fmt.Sprint("t", i), rapid.SampledFrom([]string{"amd64", "arm64"}).Draw(t, "arch"))
		if rapid.Bool().Draw(t, "sized") {
			it.Requirements = it.Requirements.With(requirements.In("example.com/size", "1", "4"))
		}
		if rapid.Bool().Draw(t, "type states zones") {
			it.Requirements = it.Requirements.With(requirements.In(corev1.LabelTopologyZone, "a", "b"))
		}
		for range rapid.IntRange(0, 3).Draw(t, "offerings") {
			o := offer(rapid.SampledFrom([]string{"a", "b"}).Draw(t, "zone"), rapid.SampledFrom([]string{"spot", "on-demand"}).Draw(t, "capacity type"), float64(rapid.IntRange(1, 5).Draw(t, "price")))
			if rapid.Bool().Draw(t, "reserved") {
				o.Requirements = o.Requirements.With(requirements.In("example.com/reservation", "r1"))
			}
			it.Offerings = append(it.Offerings, o)
		}
		types[i] = it
	}
	var pools []Pool
	for i := range rapid.IntRange(1, 3).Draw(t, "pools") {
		p := pool(rapid.SampledFrom([]string{"a", "blue"}).Draw(t, "name")+fmt.Sprint(i), types[rapid.IntRange(0, len(types)).Draw(t, "from"):])
		if rapid.Bool().Draw(t, "labelled") {
			p.Object.Spec.Template.Labels = rapid.SampledFrom([]map[string]string{
				{"team": "blue"}, {"team": "red"}, {"example.com/size": "4"}, {"example.com/size": "9", "team": "blue"},
			}).Draw(t, "labels")
		}
		pools = append(pools, p)
	}
	return pools
}

// naive applies overlays word by word as PRV-141 and PRV-142 read, without sharing anything: the outcome as text, and
// what was refused.
func naive(pools []Pool, overlays []*v1.NodeOverlay) (text string, conflicts []string) {
	order := slices.Clone(overlays)
	slices.SortFunc(order, func(a, b *v1.NodeOverlay) int {
		return cmp.Or(cmp.Compare(weightOf(b), weightOf(a)), strings.Compare(b.Name, a.Name))
	})
	// touches lists what an overlay states, each with where.
	touches := func(o *v1.NodeOverlay) (prices, resources map[string]bool) {
		prices, resources = map[string]bool{}, map[string]bool{}
		want, err := core().ParseSet(o.Spec.Requirements)
		if err != nil {
			return prices, resources
		}
		for _, p := range pools {
			labels := requirements.FromLabels(p.Object.Spec.Template.Labels).With(requirements.In(v1.NodePoolLabelKey, p.Key.Name))
			for _, it := range p.Types {
				for j := range it.Offerings {
					if it.MachineRequirements(&it.Offerings[j]).Merge(labels).Compatible(want, nil) != nil {
						continue
					}
					if o.Spec.Price != nil || o.Spec.PriceAdjustment != nil {
						prices[fmt.Sprint(p.Key, it.Name, j)] = true
					}
					for name := range o.Spec.Capacity {
						resources[fmt.Sprint(p.Key, it.Name, name)] = true
					}
				}
			}
		}
		return prices, resources
	}
	var accepted []*v1.NodeOverlay
	for _, o := range order {
		if requirementsInvalid(o) {
			conflicts = append(conflicts, o.Name)
			continue
		}
		prices, resources := touches(o)
		refused := false
		for _, earlier := range accepted {
			p, r := touches(earlier)
			for at := range prices {
				refused = refused || p[at] && weightOf(earlier) == weightOf(o)
			}
			for at := range resources {
				refused = refused || r[at] && weightOf(earlier) == weightOf(o)
			}
		}
		if refused {
			conflicts = append(conflicts, o.Name)
			continue
		}
		accepted = append(accepted, o)
	}
	var b strings.Builder
	for _, p := range pools {
		for _, it := range p.Types {
			fmt.Fprintf(&b, "%s %s:", p.Key, it.Name)
			for j := range it.Offerings {
				by := slices.IndexFunc(accepted, func(o *v1.NodeOverlay) bool { prices, _ := touches(o); return prices[fmt.Sprint(p.Key, it.Name, j)] })
				value := it.Offerings[j].Price
				switch {
				case by < 0:
				case accepted[by].Spec.Price != nil:
					value, _ = v1.ParsePrice(*accepted[by].Spec.Price)
				default:
					a, _ := v1.ParsePriceAdjustment(*accepted[by].Spec.PriceAdjustment)
					value = a.Apply(value)
				}
				fmt.Fprintf(&b, " %v", value)
			}
			for _, name := range []corev1.ResourceName{fuse, "example.com/tap"} {
				by := slices.IndexFunc(accepted, func(o *v1.NodeOverlay) bool { _, r := touches(o); return r[fmt.Sprint(p.Key, it.Name, name)] })
				if by >= 0 {
					q := accepted[by].Spec.Capacity[name]
					fmt.Fprintf(&b, " %s=%s", name, q.String())
				}
			}
			b.WriteString("\n")
		}
	}
	return b.String(), conflicts
}

func requirementsInvalid(o *v1.NodeOverlay) bool {
	return len(requirements.ValidateRequirements(o.Spec.Requirements, core(), nil)) > 0
}

func outcome(t *rapid.T, r *Result, pools []Pool) (text string, refused []string) {
	var b strings.Builder
	for _, p := range pools {
		types, err := r.InstanceTypes(p.Key)
		if err != nil {
			t.Fatal(err)
		}
		for _, it := range types {
			fmt.Fprintf(&b, "%s %s:", p.Key, it.Name)
			for j := range it.Offerings {
				fmt.Fprintf(&b, " %v", it.Offerings[j].Price)
			}
			for _, name := range []corev1.ResourceName{fuse, "example.com/tap"} {
				if q, ok := it.Capacity[name]; ok {
					fmt.Fprintf(&b, " %s=%s", name, q.String())
				}
			}
			b.WriteString("\n")
		}
	}
	for _, v := range r.Verdicts {
		if !v.Applied() {
			refused = append(refused, v.Overlay.Name)
		}
	}
	return b.String(), refused
}

// PRV-141, PRV-142 as written, whatever is shared and however columns are laid out.
func TestOutcomeIsThatOfTheNaiveReading(t *testing.T) {
	seeded.Check(t, func(t *rapid.T) {
		pools, overlays := drawPools(t), drawOverlays(t)
		wantText, wantRefused := naive(pools, overlays)
		gotText, gotRefused := outcome(t, apply(t, pools, overlays...), pools)
		if diff := gocmp.Diff(wantText, gotText); diff != "" {
			t.Errorf("types (-want +got):\n%s", diff)
		}
		if diff := gocmp.Diff(wantRefused, gotRefused); diff != "" {
			t.Errorf("refused (-want +got):\n%s", diff)
		}
	})
}

func TestOrderOfInputDoesNotMatter(t *testing.T) {
	seeded.Check(t, func(t *rapid.T) {
		pools, overlays := drawPools(t), drawOverlays(t)
		first := apply(t, pools, overlays...)
		second := Apply(Input{
			Overlays: rapid.Permutation(overlays).Draw(t, "overlays, shuffled"), Pools: rapid.Permutation(pools).Draw(t, "pools, shuffled"), Lookup: core(),
		})
		equal := gocmp.Comparer(func(a, b requirements.Set) bool { return a.Equal(b) })
		if diff := gocmp.Diff(first.Pools, second.Pools, equal); diff != "" {
			t.Errorf("pools:\n%s", diff)
		}
		if diff := gocmp.Diff(first.Verdicts, second.Verdicts); diff != "" {
			t.Errorf("verdicts:\n%s", diff)
		}
	})
}

// What no overlay touches stays the same object, and so does what came out the same before; the given types never
// change.
func TestIdentity(t *testing.T) {
	seeded.Check(t, func(t *rapid.T) {
		pools, overlays := drawPools(t), drawOverlays(t)
		equal := gocmp.Comparer(func(a, b requirements.Set) bool { return a.Equal(b) })
		var before [][]*cloudprovider.InstanceType
		for _, p := range pools {
			var copies []*cloudprovider.InstanceType
			for _, it := range p.Types {
				copies = append(copies, it.DeepCopy())
			}
			before = append(before, copies)
		}
		result := apply(t, pools, overlays...)
		again := Apply(Input{Overlays: overlays, Pools: pools, Lookup: core(), Previous: result})
		for i, p := range pools {
			got, err := result.InstanceTypes(p.Key)
			if err != nil {
				t.Fatal(err)
			}
			kept, _ := again.InstanceTypes(p.Key)
			if !slices.Equal(got, kept) {
				t.Error("repeated with the previous result, types lost their identity")
			}
			for j, it := range got {
				if diff := gocmp.Diff(before[i][j], p.Types[j], equal); diff != "" {
					t.Errorf("a given type was changed:\n%s", diff)
				}
				overlaid := result.Overlaid(it)
				if (overlaid.Base == nil) != (it == p.Types[j]) || overlaid.Base == nil != gocmp.Equal(it, p.Types[j], equal) {
					t.Errorf("type %s: overlaid %+v, same object %v", it.Name, overlaid, it == p.Types[j])
				}
			}
		}
	})
}

// Prices and capacities that are absolute come out the same when they are applied to what came out.
func TestAbsoluteOverlaysAreIdempotent(t *testing.T) {
	seeded.Check(t, func(t *rapid.T) {
		pools := drawPools(t)
		overlays := slices.DeleteFunc(drawOverlays(t), func(o *v1.NodeOverlay) bool { return o.Spec.PriceAdjustment != nil })
		first := apply(t, pools, overlays...)
		once, refused := outcome(t, first, pools)
		for i := range pools {
			types, err := first.InstanceTypes(pools[i].Key)
			if err != nil {
				t.Fatal(err)
			}
			pools[i].Types = types
		}
		twice, refusedTwice := outcome(t, apply(t, pools, overlays...), pools)
		if once != twice || !slices.Equal(refused, refusedTwice) {
			t.Errorf("once:\n%s%v\ntwice:\n%s%v", once, refused, twice, refusedTwice)
		}
	})
}

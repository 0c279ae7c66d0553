package overlay

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/drawknife/drawknife/api/requirements"
	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
)

// PRV-140, PRV-141, PRV-142: which prices come out.
func TestPrices(t *testing.T) {
	untouched := prices(ladder())
	for _, tc := range []struct {
		name     string
		overlays []*v1.NodeOverlay
		want     [][]float64
	}{
		{"none", nil, untouched},
		{"neither price nor capacity", []*v1.NodeOverlay{newOverlay("o")}, untouched},
		{"empty requirements select everything (PRV-140)",
			[]*v1.NodeOverlay{newOverlay("o", price("3"))},
			[][]float64{{3, 3, 3, 3}, {3, 3, 3, 3}, {3}}},
		{"an amount more", []*v1.NodeOverlay{newOverlay("o", onType("small"), adjust("+0.5"))},
			[][]float64{untouched[0], {1.5, 0.9, 1.5, 1}, untouched[2]}},
		{"an amount less, floored at 0 (PRV-140)", []*v1.NodeOverlay{newOverlay("o", onType("small"), adjust("-0.5"))},
			[][]float64{untouched[0], {0.5, 0, 0.5, 0}, untouched[2]}},
		{"a share less", []*v1.NodeOverlay{newOverlay("o", onType("small"), adjust("-50%"))},
			[][]float64{untouched[0], {0.5, 0.2, 0.5, 0.25}, untouched[2]}},
		{"all of it less (PRV-140)", []*v1.NodeOverlay{newOverlay("o", onType("arm"), adjust("-100%"))},
			[][]float64{untouched[0], untouched[1], {0}}},
		{"only matching offerings (PRV-141)",
			[]*v1.NodeOverlay{newOverlay("o", where(v1.CapacityTypeLabelKey, "In", "spot"), where(corev1.LabelTopologyZone, "In", "b"), price("0.1"))},
			[][]float64{{2, 0.8, 2, 0.1}, {1, 0.4, 1, 0.1}, {1.5}}},
		{"an undefined key matches nothing, well known or not (PRV-141)",
			[]*v1.NodeOverlay{newOverlay("o", where("example.com/rack", "In", "r1"), price("9")), newOverlay("p", where(corev1.LabelTopologyRegion, "Exists"), price("8"))},
			untouched},
		{"an undefined key meets what accepts its absence",
			[]*v1.NodeOverlay{newOverlay("o", where("example.com/rack", "NotIn", "r1"), onType("arm"), price("9"))},
			[][]float64{untouched[0], untouched[1], {9}}},
		{"a key stated as absent", []*v1.NodeOverlay{newOverlay("o", where("example.com/gpu", "DoesNotExist"), onType("arm"), price("9"))},
			[][]float64{untouched[0], untouched[1], {9}}},
		{"the heavier one first (PRV-142)",
			[]*v1.NodeOverlay{newOverlay("light", price("1")), newOverlay("heavy", weight(10), onType("arm"), price("7")), newOverlay("middle", weight(5), where(corev1.LabelTopologyZone, "In", "a"), adjust("+1"))},
			[][]float64{{3, 1.8, 1, 1}, {2, 1.4, 1, 1}, {7}}},
		{"adjustments don't add up: the first price wins (PRV-142)",
			[]*v1.NodeOverlay{newOverlay("a", weight(2), onType("arm"), adjust("+1")), newOverlay("b", weight(1), onType("arm"), adjust("+1"))},
			[][]float64{untouched[0], untouched[1], {2.5}}},
		{"of equal weight the last name is first, the other refused whole (PRV-142)",
			[]*v1.NodeOverlay{newOverlay("a", price("5")), newOverlay("b", onType("arm"), price("6"))},
			[][]float64{untouched[0], untouched[1], {6}}},
		{"equal weights that don't meet both apply (PRV-142)",
			[]*v1.NodeOverlay{newOverlay("a", onType("small"), price("5")), newOverlay("b", onType("arm"), price("6"))},
			[][]float64{untouched[0], {5, 5, 5, 5}, {6}}},
		{"a pool's label (PRV-141)", []*v1.NodeOverlay{newOverlay("o", where(v1.NodePoolLabelKey, "In", "default"), onType("arm"), price("6"))},
			[][]float64{untouched[0], untouched[1], {6}}},
		{"another pool's label (PRV-141)", []*v1.NodeOverlay{newOverlay("o", where(v1.NodePoolLabelKey, "In", "other"), onType("arm"), price("6"))}, untouched},
		{"an alias of a key", []*v1.NodeOverlay{newOverlay("o", where("beta.kubernetes.io/arch", "In", "arm64"), price("6"))},
			[][]float64{untouched[0], untouched[1], {6}}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, prices(one(t, tc.overlays...))); diff != "" {
				t.Errorf("prices (-want +got):\n%s", diff)
			}
		})
	}
}

// API-220, API-262: an overlay that asks about the label of later pools is not for a pool of the first generation that bears the name,
// and one that asks about the label of the first is for that alone.
func TestPoolsOfTwoGenerationsOfOneName(t *testing.T) {
	later, first := pool("web", ladder()), pool("web", ladder())
	first.Key.Generation = v1.GenerationV1Alpha5
	for key, want := range map[string]v1.PoolKey{v1.NodePoolLabelKey: later.Key, "karpenter.sh/provisioner-name": first.Key} {
		result := apply(t, []Pool{later, first}, newOverlay("o", where(key, "In", "web"), price("6")))
		for _, p := range []Pool{later, first} {
			types, err := result.InstanceTypes(p.Key)
			if err != nil {
				t.Fatal(err)
			}
			if changed := prices(types)[0][0] == 6; changed != (p.Key == want) {
				t.Errorf("%s: pool %s is changed: %t", key, p.Key, changed)
			}
		}
	}
}

// PRV-140, PRV-141, PRV-142: which resources come out.
func TestCapacity(t *testing.T) {
	for _, tc := range []struct {
		name     string
		overlays []*v1.NodeOverlay
		want     []string // fuse of large, small, arm
	}{
		{"the whole type if one offering matches (PRV-141)",
			[]*v1.NodeOverlay{newOverlay("o", where(corev1.LabelTopologyZone, "In", "b"), adds(fuse, "2"))}, []string{"2", "2", ""}},
		{"the first capacity per resource wins (PRV-142)",
			[]*v1.NodeOverlay{newOverlay("a", weight(9), onType("arm"), adds(fuse, "1")), newOverlay("b", weight(8), adds(fuse, "2"))}, []string{"2", "2", "1"}},
		{"of equal weight the later is refused whole (PRV-142)",
			[]*v1.NodeOverlay{newOverlay("b", onType("arm"), adds(fuse, "1")), newOverlay("a", adds(fuse, "2"))}, []string{"", "", "1"}},
		{"equal amounts of equal weight are a conflict too (PRV-142)",
			[]*v1.NodeOverlay{newOverlay("b", onType("arm"), adds(fuse, "1")), newOverlay("a", adds(fuse, "1"))}, []string{"", "", "1"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, amounts(one(t, tc.overlays...), fuse)); diff != "" {
				t.Errorf("%s of large, small, arm (-want +got):\n%s", fuse, diff)
			}
		})
	}
	t.Run("different resources merge, of equal weight too (PRV-142)", func(t *testing.T) {
		types := one(t, newOverlay("a", adds(fuse, "2")), newOverlay("b", adds("example.com/tap", "3")), newOverlay("c", price("1")))
		for _, name := range []corev1.ResourceName{fuse, "example.com/tap", "cpu"} {
			if got := amounts(types, name)[0]; got == "" {
				t.Errorf("no %s", name)
			}
		}
		if got := prices(types)[2][0]; got != 1 {
			t.Errorf("price %v", got)
		}
	})
}

// PRV-142: the later overlay is refused whole and for all pools, with who, where and what.
func TestConflict(t *testing.T) {
	types := ladder()
	pools := []Pool{pool("z", types), pool("a", types[2:])}
	for _, tc := range []struct {
		name     string
		overlays []*v1.NodeOverlay
		want     *Conflict
		text     string
	}{
		{"price",
			[]*v1.NodeOverlay{newOverlay("b", onType("small"), price("1")), newOverlay("a", where(corev1.LabelTopologyZone, "In", "b"), price("2"), adds(fuse, "1"))},
			&Conflict{With: "b", Pool: v1.NewPoolKey("z"), Offering: cloudprovider.OfferingKey{InstanceType: "small", Zone: "b", CapacityType: "on-demand"}},
			"overlay b has the same weight and states the price of small/b/on-demand in nodepool z as well: give one of them another weight or narrow its requirements"},
		{"resource",
			[]*v1.NodeOverlay{newOverlay("b", onType("arm"), adds(fuse, "1")), newOverlay("a", where(v1.NodePoolLabelKey, "In", "a"), adds(fuse, "2"))},
			&Conflict{With: "b", Pool: v1.NewPoolKey("a"), Offering: cloudprovider.OfferingKey{InstanceType: "arm"}, Resource: string(fuse)},
			"overlay b has the same weight and states the capacity example.com/fuse of arm in nodepool a as well: give one of them another weight or narrow its requirements"},
		{"even where a heavier one has the last word",
			[]*v1.NodeOverlay{newOverlay("top", weight(3), price("1")), newOverlay("b", onType("arm"), price("2")), newOverlay("a", onType("arm"), price("3"))},
			&Conflict{With: "b", Pool: v1.NewPoolKey("a"), Offering: cloudprovider.OfferingKey{InstanceType: "arm", Zone: "a", CapacityType: "on-demand"}},
			"overlay b has the same weight"},
		{"not with one that was refused itself",
			[]*v1.NodeOverlay{newOverlay("c", onType("arm"), price("1")), newOverlay("b", price("2")), newOverlay("a", onType("small"), price("3"))},
			nil, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			result := apply(t, pools, tc.overlays...)
			last := result.Verdicts[len(result.Verdicts)-1]
			if last.Overlay.Name != "a" {
				t.Fatalf("taken last: %s", last.Overlay.Name)
			}
			if diff := cmp.Diff(tc.want, last.Conflict); diff != "" {
				t.Errorf("conflict (-want +got):\n%s", diff)
			}
			if last.Applied() != (tc.want == nil) || !strings.HasPrefix(last.Message, tc.text) {
				t.Errorf("%s: %s", last.Reason, last.Message)
			}
			for _, p := range result.Pools {
				for _, it := range p.Types {
					if o := result.Overlaid(it); tc.want != nil && (strings.Contains(strings.Join(o.Price, " "), "a") || strings.Contains(strings.Join(o.Capacity, " "), "a")) {
						t.Errorf("overlay a was refused but applied to %s of pool %s", it.Name, p.Key)
					}
				}
			}
		})
	}
}

// PRV-142: the verdict becomes the condition ValidationSucceeded.
func TestVerdictIsRecordedAsCondition(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	result := apply(t, []Pool{pool("default", ladder())},
		newOverlay("c", weight(2), price("1")),
		newOverlay("b", weight(2), price("1")),
		newOverlay("a", price("1 $")),
		newOverlay("A", where("kubernetes.io/hostname", "In", "x"), price("1")),
		newOverlay("0", where("example.com/rack", "In", "x"), price("1")),
	)
	var got []string
	for _, v := range result.Verdicts {
		o := v.Overlay.DeepCopy()
		if !v.Record(o, now) || v.Record(o, now) {
			t.Errorf("%s: the first record changes the object, the second doesn't", o.Name)
		}
		c := o.Conditions().Get(v1.ConditionValidationSucceeded)
		got = append(got, o.Name+" "+string(c.Status)+" "+c.Reason)
		if (c.Status == metav1.ConditionTrue) != (c.Message == "") || (o.Conditions().Ready().Status == metav1.ConditionTrue) != v.Applied() {
			t.Errorf("%s: %+v", o.Name, c)
		}
		if len(v.Overlay.Status.Conditions) > 0 {
			t.Errorf("%s: the overlay given was written to", o.Name)
		}
	}
	want := []string{"c True ValidationSucceeded", "b False Conflict", "a False Invalid", "A False Invalid", "0 True ValidationSucceeded"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("conditions (-want +got):\n%s", diff)
	}
	for i, text := range []string{
		"overlay c is applied; offerings it matches: 9",
		"overlay b is not applied: overlay c has the same weight",
		"overlay a is not applied: spec.price: Invalid value",
		"overlay A is not applied: ",
		"overlay 0 is applied but matches no offering of any pool: check its requirements",
	} {
		if got := result.Verdicts[i].String(); !strings.HasPrefix(got, text) {
			t.Errorf("got  %s\nwant %s…", got, text)
		}
	}
}

func TestOverlaysOfOneNameAreBothRefused(t *testing.T) {
	result := apply(t, []Pool{pool("default", ladder())}, newOverlay("o", price("1")), nil, newOverlay("o", weight(2), price("2")))
	if len(result.Verdicts) != 2 {
		t.Fatalf("%d verdicts", len(result.Verdicts))
	}
	for _, v := range result.Verdicts {
		if v.Reason != ReasonInvalid || !strings.Contains(v.Message, "2 overlays are named") {
			t.Errorf("%s", v)
		}
	}
}

// PRV-144: a corrected type keeps everything it had.
func TestCopyKeepsEverything(t *testing.T) {
	base := ladder()[0]
	base.Overhead.KubeReserved = corev1.ResourceList{"cpu": resource.MustParse("100m")}
	o := &base.Offerings[1]
	o.Capacity = corev1.ResourceList{"memory": resource.MustParse("15Gi"), fuse: resource.MustParse("7")}
	o.Overhead = &cloudprovider.Overhead{SystemReserved: corev1.ResourceList{"cpu": resource.MustParse("1")}}
	o.Available, o.ReservationCapacity = false, 3
	before := base.DeepCopy()

	result := apply(t, []Pool{pool("default", []*cloudprovider.InstanceType{base})}, newOverlay("o", adjust("+1"), adds(fuse, "2")))
	got := result.Pools[0].Types[0]
	want := before.DeepCopy()
	want.Capacity[fuse] = resource.MustParse("2")
	want.Offerings[1].Capacity[fuse] = resource.MustParse("2") // PRV-141: capacity is the whole type's
	for i := range want.Offerings {
		want.Offerings[i].Price++
		want.Offerings[i].PriceSource = "overlay o over list"
	}
	equal := cmp.Comparer(func(a, b requirements.Set) bool { return a.Equal(b) })
	if diff := cmp.Diff(want, got, equal); diff != "" {
		t.Errorf("copy (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(before, base, equal); diff != "" {
		t.Errorf("the original was changed:\n%s", diff)
	}
}

// PRV-141: template labels count; the one list is shared as far as pools see it alike.
func TestPoolsShareWhatTheySeeAlike(t *testing.T) {
	types := ladder()
	pools := []Pool{
		pool("blue-1", types, "team", "blue"), pool("blue-2", append([]*cloudprovider.InstanceType(nil), types...), "team", "blue", "unasked", "x"),
		pool("red", types, "team", "red"), pool("none", types), pool("short", types[1:], "team", "blue"),
	}
	result := apply(t, pools, newOverlay("o", where("team", "In", "blue"), onType("small"), price("9")))
	list := map[string]int{}
	for _, p := range result.Pools {
		list[p.Key.Name] = p.List
		if len(p.Types) > 0 && &p.Types[0] != &result.Lists[p.List][0] {
			t.Errorf("pool %s: types are not those of list %d", p.Key, p.List)
		}
	}
	if list["blue-1"] != list["blue-2"] || list["red"] != list["none"] || list["red"] == list["blue-1"] || list["short"] == list["blue-1"] || len(result.Lists) != 3 {
		t.Errorf("lists: %v of %d", list, len(result.Lists))
	}
	of := func(name string) []*cloudprovider.InstanceType {
		types, err := result.InstanceTypes(v1.NewPoolKey(name))
		if err != nil {
			t.Fatal(err)
		}
		return types
	}
	if &of("red")[0] != &types[0] {
		t.Error("an untouched list is no longer the slice that was given")
	}
	if of("blue-1")[0] != types[0] || of("blue-1")[2] != types[2] {
		t.Error("untouched types lost their identity")
	}
	if of("blue-1")[1] == types[1] || of("blue-1")[1] != of("short")[0] {
		t.Error("a touched type is copied once for all pools that see it alike")
	}
	if got := result.Verdicts[0].Offerings; got != 12 {
		t.Errorf("matches %d offerings, want 4 in each of 3 pools", got)
	}
}

func TestPreviousKeepsIdentity(t *testing.T) {
	pools := []Pool{pool("default", ladder())}
	small, arm := newOverlay("small", onType("small"), price("9"), adds(fuse, "1")), newOverlay("arm", onType("arm"), price("8"))
	first := apply(t, pools, small, arm)
	heavier := small.DeepCopy()
	heavier.Spec.Weight = ptr(int32(7))
	costlier := arm.DeepCopy()
	costlier.Spec.Price = ptr("8.5")
	second := Apply(Input{Overlays: []*v1.NodeOverlay{heavier, costlier}, Pools: pools, Lookup: core(), Previous: first})
	a, b := first.Pools[0].Types, second.Pools[0].Types
	if a[1] != b[1] {
		t.Error("small came out the same, but is another object")
	}
	if a[2] == b[2] || b[2].Offerings[0].Price != 8.5 {
		t.Error("arm came out different, but is the same object")
	}
	if got := second.Overlaid(b[1]).Price; !cmp.Equal(got, []string{"small"}) {
		t.Errorf("kept type is overlaid by %v", got)
	}
}

// PRV-007: what a claim is told.
func TestAnnotations(t *testing.T) {
	result := apply(t, []Pool{pool("default", ladder())},
		newOverlay("a", onType("large"), weight(2), price("9")), newOverlay("b", where(corev1.LabelArchStable, "In", "amd64"), price("8")), newOverlay("c", onType("small"), adds(fuse, "1")))
	types := result.Pools[0].Types
	for _, tc := range []struct {
		name  string
		types []*cloudprovider.InstanceType
		want  map[string]string
	}{
		{"nothing overlaid", types[2:], nil},
		{"a price", types[:1], map[string]string{"karpenter.sh/price-overlay-applied": "true"}},
		{"both", types, map[string]string{"karpenter.sh/price-overlay-applied": "true", "karpenter.sh/capacity-overlay-applied": "true"}},
		{"types of elsewhere", ladder(), nil},
	} {
		if diff := cmp.Diff(tc.want, result.Annotations(tc.types)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.name, diff)
		}
	}
	if got := result.Overlaid(types[1]); got.Base.Name != "small" || !cmp.Equal(got.Price, []string{"b"}) || !cmp.Equal(got.Capacity, []string{"c"}) {
		t.Errorf("small: %+v", got)
	}
	if got := result.Overlaid(types[2]); got.Base != nil {
		t.Errorf("arm: %+v", got)
	}
}

// PRV-143.
func TestPoolThatWasNotThereIsUnevaluated(t *testing.T) {
	result := apply(t, []Pool{pool("default", nil)})
	if types, err := result.InstanceTypes(v1.NewPoolKey("default")); err != nil || len(types) > 0 {
		t.Errorf("a pool without types: %v, %v", types, err)
	}
	for _, r := range []*Result{result, nil} {
		if _, err := r.InstanceTypes(v1.PoolKey{Generation: v1.GenerationV1Alpha5, Name: "default"}); !cloudprovider.IsUnevaluatedNodePool(err) {
			t.Errorf("err = %v", err)
		}
	}
}

func TestOddInputDoesNotPanic(t *testing.T) {
	bare := &cloudprovider.InstanceType{Name: "bare"}
	sold := &cloudprovider.InstanceType{Name: "sold", Offerings: []cloudprovider.Offering{{Price: 1}}}
	pools := []Pool{{Types: []*cloudprovider.InstanceType{nil, bare, sold, nil}}, {}}
	result := Apply(Input{Pools: pools, Overlays: []*v1.NodeOverlay{newOverlay("o", price("2"), adds(fuse, "1"))}})
	types := result.Pools[0].Types
	if len(types) == 0 {
		types = result.Pools[1].Types
	}
	if types[1] != bare || types[2].Offerings[0].Price != 2 || types[2].Offerings[0].PriceSource != "overlay o" || len(types[2].Capacity) != 1 {
		t.Errorf("got %+v", types[2])
	}
	var none *Result
	if none.Annotations(types) != nil || none.Overlaid(sold).Base != nil {
		t.Error("a nil result knows something")
	}
}

// PRV-141: what the template says narrows what the type says.
func TestTemplateLabelNarrowsTheType(t *testing.T) {
	types := ladder()[2:]
	types[0].Requirements = types[0].Requirements.With(requirements.In("example.com/size", "1", "4"))
	pools := []Pool{pool("four", types, "example.com/size", "4"), pool("open", types)}
	result := apply(t, pools, newOverlay("o", where("example.com/size", "In", "1"), price("9")))
	for name, want := range map[string]float64{"four": 1.5, "open": 9} {
		types, err := result.InstanceTypes(v1.NewPoolKey(name))
		if err != nil || types[0].Offerings[0].Price != want {
			t.Errorf("pool %s: price %v, want %v (%v)", name, types[0].Offerings[0].Price, want, err)
		}
	}
}

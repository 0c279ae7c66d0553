package conformance

import (
	"reflect"
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
)

func createClauses() []clause {
	return []clause{
		{"CP-CREATE-01", Core, "exactly one instance, which meets the claim", (*lab).createMeetsClaim},
		{"CP-CREATE-02", Core, "a claim UID has at most one live instance", (*lab).createOnce},
		{"CP-CREATE-03", Core, "of what suits on demand, the cheapest", (*lab).createCheapest},
		{"CP-CREATE-04", Core, "nodes join with the unregistered taint and the claim's", (*lab).createTaints},
		{"CP-CREATE-05", Core, "the answer describes the instance completely", (*lab).createDescribes},
		{"CP-CREATE-06", Core, "claims handed in and out are not shared", (*lab).createSharesNothing},
		{"CP-CREATE-07", Core, "what is out of stock is named, and shown so for a while", (*lab).createOutOfStock},
		{"CP-CREATE-08", Core, "whose an instance is, is stored with it from the first", (*lab).createOwnership},
		{"CP-CREATE-09", Core, "a failed launch leaves nothing that can't be found", (*lab).createLeavesNoOrphan},
		{"CP-CREATE-10", Core, "no instance from a node class that is not ready", (*lab).createNodeClass},
		{"CP-CREATE-11", Core, "Create sells what InstanceTypes shows", (*lab).createSellsWhatIsShown},
	}
}

// randomClaim asks for some of the types, zones and capacity types, and for part of the capacity of one of them.
func (l *lab) randomClaim(t *rapid.T, candidates []cloudprovider.Candidate) *v1.NodeClaim {
	pick := func(label string, of func(cloudprovider.Candidate) string) []string {
		var values []string
		for _, i := range rapid.SliceOfN(rapid.IntRange(0, len(candidates)-1), 1, 4).Draw(t, label) {
			values = append(values, of(candidates[i]))
		}
		slices.Sort(values)
		return slices.Compact(values)
	}
	wants := []v1.NodeSelectorRequirementWithMinValues{
		in(corev1.LabelInstanceTypeStable, pick("types", func(c cloudprovider.Candidate) string { return c.Type.Name })...),
	}
	if rapid.Bool().Draw(t, "in zones") {
		wants = append(wants, in(corev1.LabelTopologyZone, pick("zones", func(c cloudprovider.Candidate) string { return c.Offering.Zone() })...))
	}
	if rapid.Bool().Draw(t, "as capacity types") {
		wants = append(wants, in(v1.CapacityTypeLabelKey, pick("capacity types", func(c cloudprovider.Candidate) string { return c.Offering.CapacityType() })...))
	}
	claim := l.claim(wants...)
	largest := candidates[rapid.IntRange(0, len(candidates)-1).Draw(t, "size")]
	share := rapid.Int64Range(1, 100).Draw(t, "share")
	for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
		has := largest.Type.AllocatableOf(largest.Offering)[name]
		claim.Spec.Resources.Requests[name] = *resource.NewMilliQuantity(has.MilliValue()/100*share, has.Format)
	}
	return claim
}

func (l *lab) createMeetsClaim() {
	candidates := l.withRoom(1)
	zones := map[string]bool{}
	for _, c := range l.order(l.claim()) {
		if c.Offering.HasRoom() && !zones[c.Offering.Zone()] && len(zones) < mostZones {
			zones[c.Offering.Zone()] = true
			l.launches(l.claim(in(corev1.LabelTopologyZone, c.Offering.Zone())))
		}
	}
	// Launch the largest of the types, with a claim that requests all of its cores.
	slices.SortStableFunc(candidates, func(a, b cloudprovider.Candidate) int { return -a.Type.Capacity.Cpu().Cmp(*b.Type.Capacity.Cpu()) })
	largest := l.claim()
	largest.Spec.Resources.Requests[corev1.ResourceCPU] = candidates[0].Type.AllocatableOf(candidates[0].Offering)[corev1.ResourceCPU]
	l.launches(largest)
	l.property(func(t *rapid.T) {
		claim := l.randomClaim(t, candidates)
		suits := slices.ContainsFunc(l.order(claim), func(c cloudprovider.Candidate) bool { return c.Offering.HasRoom() })
		created, err := l.tryCreate(claim)
		switch {
		case err != nil && suits:
			t.Fatalf("a claim that offerings with room suit was refused: %v\n%v", err, claim.Spec.Requirements)
		case err != nil:
			return
		}
		l.meets(t, claim, created)
		l.alone(t, claim.UID)
		_ = l.Provider.Delete(l.Context(), created)
	})
}

// mostZones is the largest number of zones in which createMeetsClaim launches instances: one in each zone.
const mostZones = 3

// launches creates the instance of a claim for which an offering has room, and checks that the instance meets the claim.
func (l *lab) launches(claim *v1.NodeClaim) {
	created := l.create(claim)
	l.meets(l, claim, created)
	l.alone(l, claim.UID)
	_ = l.Provider.Delete(l.Context(), created)
}

// meets compares an instance with its claim. CP-CREATE-05 covers labels that the instance lacks.
func (l *lab) meets(t fataler, claim, created *v1.NodeClaim) {
	want := l.wants(claim)
	for r := range want.All {
		if value, stated := created.Labels[r.Key()]; stated && !r.Has(value) {
			t.Fatalf("the instance has %s=%q, the claim asks for %s (CP-CREATE-01)", r.Key(), value, r)
		}
	}
	for name, wanted := range claim.Spec.Resources.Requests {
		if has := created.Status.Allocatable[name]; wanted.Cmp(has) > 0 {
			t.Fatalf("the instance has %s of %s, the claim asks for %s (CP-CREATE-01)", has.String(), name, wanted.String())
		}
	}
}

// alone fails if the cloud has more than one live instance of a claim.
func (l *lab) alone(t fataler, uid types.UID) {
	if l.Instances == nil {
		return
	}
	var ids []string
	for _, m := range l.instances() {
		if m.Live && m.ClaimUID == string(uid) {
			ids = append(ids, m.ProviderID)
		}
	}
	if len(ids) > 1 {
		t.Fatalf("%d instances were launched for one claim: %q", len(ids), ids)
	}
}

// fataler is implemented by lab, and by the *rapid.T of a property.
type fataler interface {
	Fatalf(format string, args ...any)
}

func (l *lab) createOnce() {
	claim := l.claim()
	first := l.create(claim)
	same := func(when string, provider cloudprovider.CloudProvider) {
		again, err := provider.Create(l.Context(), claim.DeepCopy())
		if err != nil {
			l.Fatalf("%s: %v", when, err)
		}
		if again.Status.ProviderID != first.Status.ProviderID {
			l.own(again)
			l.Fatalf("%s: instance %q, not %q: a second instance runs unseen", when, again.Status.ProviderID, first.Status.ProviderID)
		}
	}
	same("repeated at once", l.Provider)
	l.later()
	same("repeated later", l.Provider)
	if l.Restart != nil {
		same("repeated by the next process", l.Restart())
	}
	nameless := l.claim()
	nameless.UID = ""
	if got, err := l.tryCreate(nameless); err == nil {
		l.Errorf("a claim without UID was given instance %q: a repetition could not be told from another claim", got.Status.ProviderID)
	}
	l.onceAtOnce()
	l.end(first)
	next, err := l.tryCreate(claim)
	if err == nil && next.Status.ProviderID == first.Status.ProviderID {
		l.Errorf("the instance that is gone, %q, was given again", first.Status.ProviderID)
	}
}

// onceAtOnce calls Create for one claim many times in parallel, and checks that all calls return the same instance.
func (l *lab) onceAtOnce() {
	claim := l.claim()
	var mu sync.Mutex
	ids := map[string]bool{}
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			created, err := l.Provider.Create(l.Context(), claim.DeepCopy())
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				l.Errorf("one claim, many callers: %v", err)
				return
			}
			ids[created.Status.ProviderID] = true
			l.owned[created.Status.ProviderID] = created
		})
	}
	all.Wait()
	if len(ids) > 1 {
		l.Errorf("one claim with many callers was given %d instances, %q", len(ids), sortedKeys(ids))
	}
}

// createCheapest checks that an on-demand instance is bought at the lowest price. The levels Spot and Reserved test the other capacity
// types.
func (l *lab) createCheapest() {
	l.withRoom(1, v1.CapacityTypeOnDemand)
	claim := l.claim(in(v1.CapacityTypeLabelKey, v1.CapacityTypeOnDemand))
	var cheapest *cloudprovider.Candidate
	for _, c := range l.order(claim) {
		if c.Offering.HasRoom() && (cheapest == nil || c.Offering.Price < cheapest.Offering.Price) {
			cheapest = &c
		}
	}
	types := l.types()
	created := l.create(claim)
	bought, ok := boughtAs(types, created)
	if !ok {
		l.Skip("the answer's labels name no offering (CP-CREATE-05)")
	}
	if bought.Offering.Price > cheapest.Offering.Price {
		l.Errorf("bought was %s at %v USD/h, though %s at %v has room", bought.Key(), bought.Offering.Price, cheapest.Key(), cheapest.Offering.Price)
	}
}

func (l *lab) createTaints() {
	claim := l.claim()
	claim.Spec.Taints = []corev1.Taint{{Key: "conformance", Value: "a", Effect: corev1.TaintEffectNoSchedule}}
	claim.Spec.StartupTaints = []corev1.Taint{{Key: "conformance-start", Value: "b", Effect: corev1.TaintEffectNoExecute}}
	created := l.create(claim)
	want := slices.Concat(claim.Spec.Taints, claim.Spec.StartupTaints, []corev1.Taint{{Key: v1.UnregisteredTaintKey, Effect: corev1.TaintEffectNoExecute}})
	for _, m := range l.instances() {
		if m.ProviderID != created.Status.ProviderID {
			continue
		}
		if m.Taints == nil {
			l.Skip("the hook Instances does not report taints")
		}
		for _, taint := range want {
			if !slices.ContainsFunc(m.Taints, func(has corev1.Taint) bool { return has.MatchTaint(&taint) && has.Value == taint.Value }) {
				l.Errorf("the node joins without taint %s, with %v", taint.ToString(), m.Taints)
			}
		}
		return
	}
	l.Errorf("the cloud does not show instance %q", created.Status.ProviderID)
}

func (l *lab) createDescribes() {
	claim := l.claim()
	types := l.types()
	created := l.create(claim)
	if created.Name != claim.Name || created.UID != claim.UID {
		l.Errorf("the answer is about claim %q with UID %q, not %q with %q", created.Name, created.UID, claim.Name, claim.UID)
	}
	for what, missing := range map[string]bool{
		"status.providerID":  created.Status.ProviderID == "",
		"status.imageID":     created.Status.ImageID == "",
		"status.capacity":    len(created.Status.Capacity) == 0,
		"status.allocatable": len(created.Status.Allocatable) == 0,
	} {
		if missing {
			l.Errorf("the answer has no %s", what)
		}
	}
	bought, ok := boughtAs(types, created)
	if !ok {
		l.Fatalf("the answer's labels name no offering of any instance type: %v", created.Labels)
	}
	for r := range bought.Type.MachineRequirements(bought.Offering).All {
		if values := r.Values(); len(values) == 1 && !r.Complement() && created.Labels[r.Key()] != values[0] {
			l.Errorf("label %s is %q, and %q for all instances of %s", r.Key(), created.Labels[r.Key()], values[0], bought.Key())
		}
	}
}

func (l *lab) createSharesNothing() {
	claim := l.claim()
	claim.Annotations = map[string]string{"conformance": "a"}
	before := claim.DeepCopy()
	created := l.create(claim)
	if !reflect.DeepEqual(before, claim) {
		l.Errorf("the claim handed in was changed\nfrom %+v\nto   %+v", before, claim)
	}
	id := created.Status.ProviderID
	scribble(created)
	scribble(claim)
	got, err := l.Provider.Get(l.Context(), id)
	if err != nil {
		l.Fatalf("getting the instance: %v", err)
	}
	if _, spoilt := got.Labels["scribbled"]; spoilt {
		l.Error("Get returns a label that was written to the claim or to the answer of Create")
	}
	if q := got.Status.Capacity[corev1.ResourcePods]; q.Value() == scribbled {
		l.Error("Get returns an amount that was written to the answer of Create")
	}
}

// scribbled is an amount that no instance has.
const scribbled = 987654321

func scribble(c *v1.NodeClaim) {
	if c.Labels != nil {
		c.Labels["scribbled"] = "yes"
	}
	for _, list := range []corev1.ResourceList{c.Status.Capacity, c.Status.Allocatable} {
		if list != nil {
			list[corev1.ResourcePods] = *resource.NewQuantity(scribbled, resource.DecimalSI)
		}
	}
}

func (l *lab) createSellsWhatIsShown() {
	types := l.types()
	for _, c := range l.withRoom(1)[:1] {
		created := l.create(l.ofOffering(c))
		bought, ok := boughtAs(types, created)
		if !ok {
			l.Skip("the answer's labels name no offering (CP-CREATE-05)")
		}
		for what, pair := range map[string][2]corev1.ResourceList{
			"capacity":    {created.Status.Capacity, bought.Type.CapacityOf(bought.Offering)},
			"allocatable": {created.Status.Allocatable, bought.Type.AllocatableOf(bought.Offering)},
		} {
			for name, shown := range pair[1] {
				if has := pair[0][name]; has.Cmp(shown) != 0 {
					l.Errorf("%s of %s is %s, InstanceTypes shows %s for %s", what, name, has.String(), shown.String(), bought.Key())
				}
			}
		}
	}
}

package conformance

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
)

func createClauses() []clause {
	return []clause{
		{"CP-CREATE-01", Core, "exactly one machine, which meets the claim", (*lab).createMeetsClaim},
		{"CP-CREATE-02", Core, "a claim UID has at most one live machine", (*lab).createOnce},
		{"CP-CREATE-03", Core, "of what suits on demand, the cheapest", (*lab).createCheapest},
		{"CP-CREATE-04", Core, "nodes join with the unregistered taint and the claim's", (*lab).createTaints},
		{"CP-CREATE-05", Core, "the answer describes the machine completely", (*lab).createDescribes},
		{"CP-CREATE-06", Core, "claims handed in and out are not shared", (*lab).createSharesNothing},
		{"CP-CREATE-07", Core, "what is out of stock is named, and shown so for a while", (*lab).createOutOfStock},
		{"CP-CREATE-08", Core, "whose a machine is, is stored with it from the first", (*lab).createOwnership},
		{"CP-CREATE-09", Core, "a failed launch leaves nothing that can't be found", (*lab).createLeavesNoOrphan},
		{"CP-CREATE-10", Core, "no machine from a node class that is not ready", (*lab).createNodeClass},
		{"CP-CREATE-11", Core, "Create sells what InstanceTypes shows", (*lab).createSellsWhatIsShown},
	}
}

// randomClaim asks for some of the types, zones and capacity types, and for part of what one of them has.
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
	// The largest of a few types, and all of its cores.
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

// mostZones bounds how many zones machines are asked for in, one by one.
const mostZones = 3

// launches holds a claim that offerings with room suit to a machine that meets it.
func (l *lab) launches(claim *v1.NodeClaim) {
	created := l.create(claim)
	l.meets(l, claim, created)
	l.alone(l, claim.UID)
	_ = l.Provider.Delete(l.Context(), created)
}

// meets compares a machine with its claim. What its labels leave out is for CP-CREATE-05.
func (l *lab) meets(t fataler, claim, created *v1.NodeClaim) {
	want := l.wants(claim)
	for r := range want.All {
		if value, stated := created.Labels[r.Key()]; stated && !r.Has(value) {
			t.Fatalf("the machine has %s=%q, the claim asks for %s (CP-CREATE-01)", r.Key(), value, r)
		}
	}
	for name, wanted := range claim.Spec.Resources.Requests {
		if has := created.Status.Allocatable[name]; wanted.Cmp(has) > 0 {
			t.Fatalf("the machine has %s of %s, the claim asks for %s (CP-CREATE-01)", has.String(), name, wanted.String())
		}
	}
}

// alone finds more than one live machine of a claim, as the cloud sees it.
func (l *lab) alone(t fataler, uid types.UID) {
	if l.Machines == nil {
		return
	}
	var ids []string
	for _, m := range l.machines() {
		if m.Live && m.ClaimUID == string(uid) {
			ids = append(ids, m.ProviderID)
		}
	}
	if len(ids) > 1 {
		t.Fatalf("%d machines were launched for one claim: %q", len(ids), ids)
	}
}

// fataler is what is common to a property's T and a lab.
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
			l.Fatalf("%s: machine %q, not %q: a second machine runs unseen", when, again.Status.ProviderID, first.Status.ProviderID)
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
		l.Errorf("a claim without UID was given machine %q: a repetition could not be told from another claim", got.Status.ProviderID)
	}
	l.onceAtOnce()
	l.end(first)
	next, err := l.tryCreate(claim)
	if err == nil && next.Status.ProviderID == first.Status.ProviderID {
		l.Errorf("the machine that is gone, %q, was given again", first.Status.ProviderID)
	}
}

// onceAtOnce is one claim with many callers.
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
		l.Errorf("one claim with many callers was given %d machines, %q", len(ids), sortedKeys(ids))
	}
}

// createCheapest holds the choice on demand to the lowest price; other capacity types are for other levels.
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
		l.Skip("the answer's labels tell no offering (CP-CREATE-05)")
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
	for _, m := range l.machines() {
		if m.ProviderID != created.Status.ProviderID {
			continue
		}
		if m.Taints == nil {
			l.Skip("the hook Machines does not tell taints")
		}
		for _, taint := range want {
			if !slices.ContainsFunc(m.Taints, func(has corev1.Taint) bool { return has.MatchTaint(&taint) && has.Value == taint.Value }) {
				l.Errorf("the node joins without taint %s, with %v", taint.ToString(), m.Taints)
			}
		}
		return
	}
	l.Errorf("the cloud does not show machine %q", created.Status.ProviderID)
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
		l.Fatalf("the answer's labels tell no offering of any instance type: %v", created.Labels)
	}
	for r := range bought.Type.MachineRequirements(bought.Offering).All {
		if values := r.Values(); len(values) == 1 && !r.Complement() && created.Labels[r.Key()] != values[0] {
			l.Errorf("label %s is %q, and %q for all machines of %s", r.Key(), created.Labels[r.Key()], values[0], bought.Key())
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
		l.Fatalf("getting the machine: %v", err)
	}
	if _, spoilt := got.Labels["scribbled"]; spoilt {
		l.Error("a label written to the answer, or to the claim, is in what Get gives")
	}
	if q := got.Status.Capacity[corev1.ResourcePods]; q.Value() == scribbled {
		l.Error("an amount written to the answer is in what Get gives")
	}
}

// scribbled is an amount no machine has.
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

func (l *lab) createOutOfStock() {
	if l.SellOut == nil {
		l.Skip("needs the hook SellOut")
	}
	candidates := l.withRoom(2, v1.CapacityTypeOnDemand)
	chosen := candidates[:2]
	claim := l.claim(
		in(corev1.LabelInstanceTypeStable, chosen[0].Type.Name, chosen[1].Type.Name),
		in(v1.CapacityTypeLabelKey, v1.CapacityTypeOnDemand),
	)
	// One of the two first: what is found empty on the way to a success.
	first, second := chosen[0].Type.Name, chosen[1].Type.Name
	restock := l.SellOut(func(k cloudprovider.OfferingKey) bool {
		return k.InstanceType == first && k.CapacityType == v1.CapacityTypeOnDemand
	})
	before := shelf(l.types())
	created, err := l.tryCreate(claim)
	if err != nil {
		l.Fatalf("%q is out of stock and %q is not, but the launch failed: %v", first, second, err)
	}
	l.closed(before, l.NodePool, func(k cloudprovider.OfferingKey) bool {
		return k.InstanceType == first && k.CapacityType == v1.CapacityTypeOnDemand
	}, "after a launch that found them empty")
	restock()
	l.end(created)
	l.exhaust(claim)
}

// exhaust sells out all that suits a claim, and looks at what becomes of it.
func (l *lab) exhaust(claim *v1.NodeClaim) {
	suits := map[cloudprovider.OfferingKey]bool{}
	var names []cloudprovider.OfferingKey
	for _, c := range l.order(claim) {
		suits[c.Key()] = true
		names = append(names, c.Key())
	}
	slices.SortFunc(names, cloudprovider.OfferingKey.Compare)
	names = slices.Compact(names)
	isOne := func(k cloudprovider.OfferingKey) bool { return suits[k] }
	restock := l.SellOut(isOne)
	before := shelf(l.types())
	next := l.claim()
	next.Spec.Requirements = claim.Spec.Requirements
	_, err := l.tryCreate(next)
	if !cloudprovider.IsInsufficientCapacity(err) {
		l.Fatalf("nothing that suits has stock: got %v, want kind %s", err, cloudprovider.InsufficientCapacity)
	}
	if named := cloudprovider.ExhaustedOfferings(err); !slices.Equal(named, names) {
		l.Errorf("the error names %v, out of stock are %v", named, names)
	}
	l.closed(before, l.NodePool, isOne, "after a launch that found nothing")
	l.closed(before, l.otherPool("conformance-other"), isOne, "to another nodepool")
	restock()
	if l.Failed() || l.Advance == nil {
		return
	}
	// Long enough for any provider's memory of a stock-out.
	l.Advance(time.Hour)
	for key, available := range shelf(l.types()) {
		if suits[key] && before[key] && !available {
			l.Errorf("offering %s is still unavailable an hour later, for no reason", key)
		}
	}
}

// closed holds what InstanceTypes shows to what should have become unavailable since before.
func (l *lab) closed(before map[cloudprovider.OfferingKey]bool, pool *v1.NodePool, want func(cloudprovider.OfferingKey) bool, when string) {
	after := shelf(l.typesFor(pool))
	keys := make([]cloudprovider.OfferingKey, 0, len(before))
	for key := range before {
		keys = append(keys, key)
	}
	slices.SortFunc(keys, cloudprovider.OfferingKey.Compare)
	for _, key := range keys {
		switch available, listed := after[key]; {
		case !listed: // that is CP-CATALOG-01
		case want(key) && available:
			l.Errorf("%s: offering %s is still shown as available", when, key)
		case !want(key) && before[key] && !available:
			l.Errorf("%s: offering %s is shown as unavailable, though nobody found it so", when, key)
		}
	}
}

func (l *lab) createOwnership() {
	claim := l.claim()
	provider := l.Provider
	if heal, err := l.inject(Fault{Method: MethodCreate, Kind: cloudprovider.Transient, Lost: true}); err == nil {
		if created, err := l.Provider.Create(l.Context(), claim); err == nil {
			l.own(created)
		}
		heal()
	} else {
		l.create(claim)
	}
	if l.Restart != nil {
		provider = l.Restart()
	}
	l.lag()
	for _, c := range l.listBy(provider) {
		if c.UID == claim.UID {
			l.own(c)
			if c.Name != claim.Name || c.Labels[v1.NodePoolLabelKey] != l.NodePool.Name {
				l.Errorf("the machine is known as claim %q of nodepool %q, launched for %q of %q", c.Name, c.Labels[v1.NodePoolLabelKey], claim.Name, l.NodePool.Name)
			}
			return
		}
	}
	if l.Machines == nil {
		return
	}
	known := map[string]bool{}
	for _, m := range l.machines() {
		known[m.ClaimUID] = true
	}
	if c := l.create(claim); c != nil && known[""] {
		l.Errorf("the cloud has a machine that bears no claim's UID, launched just now")
	}
}

func (l *lab) createLeavesNoOrphan() {
	ended, cancel := context.WithCancel(l.Context())
	cancel()
	claim := l.claim()
	if _, err := l.Provider.Create(ended, claim); err == nil {
		l.Error("a context that has ended launched a machine")
	}
	l.findable(claim)

	claim = l.claim()
	if heal, err := l.inject(Fault{Method: MethodCreate, Kind: cloudprovider.Transient, Lost: true}); err == nil {
		if created, err := l.Provider.Create(l.Context(), claim); err == nil {
			l.own(created)
		}
		heal()
		l.findable(claim)
	}
	if l.Stall == nil {
		return
	}
	claim = l.claim()
	release, err := l.Stall(MethodCreate)
	if errors.Is(err, errors.ErrUnsupported) {
		return
	}
	if err != nil {
		l.Fatalf("stalling Create: %v", err)
	}
	soon, cancel := context.WithTimeout(l.Context(), 50*time.Millisecond)
	defer cancel()
	if created, err := l.Provider.Create(soon, claim); err == nil {
		l.own(created)
	}
	release()
	l.findable(claim)
}

// findable holds what there is of a claim, after a launch that failed, to what List shows and the next Create answers.
func (l *lab) findable(claim *v1.NodeClaim) {
	listed := l.list()
	if l.Machines != nil {
		for _, m := range l.machines() {
			if m.ClaimUID == string(claim.UID) && listed[m.ProviderID] == nil {
				l.Errorf("machine %q was left by a failed launch, and List does not show it", m.ProviderID)
			}
		}
	}
	var left string
	for id, c := range listed {
		if c.UID == claim.UID && c.DeletionTimestamp.IsZero() {
			left = id
			l.own(c)
		}
	}
	created, err := l.tryCreate(claim)
	if err != nil {
		l.Errorf("launching anew after a failure: %v", err)
		return
	}
	if left != "" && created.Status.ProviderID != left {
		l.Errorf("a failed launch left machine %q, and the next gave %q", left, created.Status.ProviderID)
	}
}

func (l *lab) createNodeClass() {
	if l.SetNodeClass == nil {
		l.Skip("needs the hook SetNodeClass")
	}
	for _, state := range []NodeClassState{NodeClassUnready, NodeClassMissing, NodeClassTerminating} {
		if err := l.SetNodeClass(l.NodeClass, state); errors.Is(err, errors.ErrUnsupported) {
			continue
		} else if err != nil {
			l.Fatalf("making node class %q %s: %v", l.NodeClass.Name, state, err)
		}
		if _, err := l.tryCreate(l.claim()); !cloudprovider.IsNodeClassNotReady(err) {
			l.Errorf("node class %q is %s: got %v, want kind %s", l.NodeClass.Name, state, err, cloudprovider.NodeClassNotReady)
		}
	}
	if err := l.SetNodeClass(l.NodeClass, NodeClassReady); err != nil {
		l.Fatalf("making node class %q ready: %v", l.NodeClass.Name, err)
	}
	l.create(l.claim())
}

func (l *lab) createSellsWhatIsShown() {
	types := l.types()
	for _, c := range l.withRoom(1)[:1] {
		created := l.create(l.ofOffering(c))
		bought, ok := boughtAs(types, created)
		if !ok {
			l.Skip("the answer's labels tell no offering (CP-CREATE-05)")
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

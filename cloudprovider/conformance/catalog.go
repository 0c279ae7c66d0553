package conformance

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"pgregory.net/rapid"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
)

func catalogClauses() []clause {
	all := []clause{
		{"CP-CATALOG-01", Core, "all types and offerings are listed, available or not", (*lab).catalogKeepsAll},
	}
	for _, c := range []struct{ id, says string }{
		{"CP-CATALOG-02", "names are unique, and the only value of the instance-type label"},
		{"CP-CATALOG-03", "every well-known label is stated for every type"},
		{"CP-CATALOG-04", "keys are canonical, values legal and declared"},
		{"CP-CATALOG-05", "the offerings of a type are unique"},
		{"CP-CATALOG-06", "an offering is one thing that can be bought"},
		{"CP-CATALOG-07", "prices are finite and positive"},
		{"CP-CATALOG-08", "capacity and what overhead leaves of it are positive"},
	} {
		all = append(all, clause{c.id, Core, c.says, func(l *lab) { l.catalogValid(c.id) }})
	}
	return append(all, []clause{
		{"CP-CATALOG-09", Core, "what was handed out is never changed, and keeps its identity", (*lab).catalogFrozen},
		{"CP-CATALOG-10", Core, "the slice is the caller's", (*lab).catalogSlice},
		{"CP-CATALOG-11", Core, "the same facts give the same list", (*lab).catalogDeterministic},
		{"CP-CATALOG-12", Core, "memory does not grow with NodePools and changes", (*lab).catalogMemory},
		{"CP-CATALOG-13", Core, "an unknown answer is an error, not an empty list", (*lab).catalogUnknown},
		{"CP-CATALOG-14", Core, "allocatable is at most what a node has", (*lab).catalogObserved},
		{"CP-CATALOG-15", Core, "volume limits are at most what a node has, and not negative", (*lab).catalogVolumes},
		{"CP-CATALOG-16", Core, "devices that drivers will publish are valid", func(l *lab) { l.catalogValid("CP-CATALOG-16") }},
	}...)
}

// property checks a rule with random inputs, Options.Trials times. When rapid shrinks a failing input, it checks the rule more often; these
// checks are not counted.
func (l *lab) property(law func(*rapid.T)) {
	tries, failing := 0, false
	rapid.Check(l.probe, func(t *rapid.T) {
		if !failing && tries >= l.options.Trials {
			return
		}
		tries++
		failing = true
		law(t)
		failing = false
	})
}

// catalogValid reports each fault of the catalogue under the clause that it breaks. It also checks the catalogue after the provider has
// found an offering out of stock.
func (l *lab) catalogValid(id string) {
	for _, types := range [][]*cloudprovider.InstanceType{l.types(), l.afterTrouble()} {
		for _, fault := range catalogFaults(types, l.caps) {
			if fault.Clause == id {
				l.Error(fault)
			}
		}
		if l.Failed() {
			return
		}
	}
}

// afterTrouble lets the provider find an offering out of stock, and then returns the catalogue.
func (l *lab) afterTrouble() []*cloudprovider.InstanceType {
	l.closeOne()
	return l.types()
}

// catalogFaults returns the faults that ValidateCatalog finds.
func catalogFaults(types []*cloudprovider.InstanceType, caps cloudprovider.Capabilities) []*cloudprovider.CatalogError {
	err := cloudprovider.ValidateCatalog(types, caps)
	if err == nil {
		return nil
	}
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return nil
	}
	var faults []*cloudprovider.CatalogError
	for _, each := range joined.Unwrap() {
		var fault *cloudprovider.CatalogError
		if errors.As(each, &fault) {
			faults = append(faults, fault)
		}
	}
	return faults
}

// shelf returns the offerings of the types, and whether each is available.
func shelf(types []*cloudprovider.InstanceType) map[cloudprovider.OfferingKey]bool {
	all := map[cloudprovider.OfferingKey]bool{}
	for _, t := range types {
		for i := range t.Offerings {
			all[cloudprovider.KeyOf(t, &t.Offerings[i])] = t.Offerings[i].Available
		}
	}
	return all
}

// catalogKeepsAll makes offerings unavailable and checks that the catalogue is otherwise the same.
func (l *lab) catalogKeepsAll() {
	if l.SellOut == nil {
		l.Skip("needs the hook SellOut")
	}
	before := shelf(l.types())
	types := l.withRoom(1)
	l.property(func(t *rapid.T) {
		chosen := types[rapid.IntRange(0, len(types)-1).Draw(t, "type")]
		restock := l.SellOut(func(k cloudprovider.OfferingKey) bool { return k.InstanceType == chosen.Type.Name })
		defer restock()
		l.tryCreate(l.claim(in(corev1.LabelInstanceTypeStable, chosen.Type.Name)))
		after := shelf(l.types())
		for _, key := range slices.SortedFunc(maps.Keys(before), cloudprovider.OfferingKey.Compare) {
			if _, listed := after[key]; !listed {
				t.Fatalf("offering %s is not listed any more, after %q was found out of stock", key, chosen.Type.Name)
			}
		}
		if len(after) != len(before) {
			t.Fatalf("there are %d offerings, were %d", len(after), len(before))
		}
	})
}

// written returns a type's content as text, for later comparison.
func written(t *cloudprovider.InstanceType) string {
	data, err := json.Marshal(t)
	if err != nil {
		return fmt.Sprintf("instance type %q can't be written: %v", t.Name, err)
	}
	return string(data)
}

func (l *lab) catalogFrozen() {
	first := l.types()
	content := make([]string, len(first))
	for i, t := range first {
		content[i] = written(t)
	}
	again := l.types()
	for i, t := range again {
		if i < len(first) && t.Name == first[i].Name && t != first[i] && written(t) == content[i] {
			l.Fatalf("instance type %q is another object at the second call, with the same content", t.Name)
		}
	}
	l.create(l.claim())
	closed := l.closeOne()
	later := l.types()
	for i, t := range first {
		if written(t) != content[i] {
			l.Fatalf("instance type %q was changed after it was handed out\nfrom %s\nto   %s", t.Name, content[i], written(t))
		}
	}
	if closed == (cloudprovider.OfferingKey{}) {
		return
	}
	known := map[string]*cloudprovider.InstanceType{}
	for _, t := range first {
		known[t.Name] = t
	}
	for _, t := range later {
		if was := known[t.Name]; t.Name != closed.InstanceType && was != nil && was != t && written(was) == written(t) {
			l.Errorf("instance type %q is another object, though only %s has changed", t.Name, closed)
		}
	}
}

func (l *lab) catalogSlice() {
	first := l.types()
	kept := slices.Clone(first)
	slices.Reverse(first)
	clear(first[:len(first)/2])
	for i, t := range l.types() {
		if i >= len(kept) || t == nil || t.Name != kept[i].Name {
			l.Fatal("a caller that changes its slice changes the next caller's")
		}
	}
}

func (l *lab) catalogDeterministic() {
	lists := map[string][]*cloudprovider.InstanceType{"": l.types()}
	lists["the second call"] = l.types()
	lists["another nodepool"] = l.typesFor(l.otherPool("conformance-other"))
	l.renew()
	lists["another provider of the factory"] = l.types()
	want := lists[""]
	for _, by := range slices.Sorted(maps.Keys(lists)) {
		if got := lists[by]; by != "" {
			l.sameList(by, want, got)
		}
	}
}

func (l *lab) sameList(by string, want, got []*cloudprovider.InstanceType) {
	if len(want) != len(got) {
		l.Fatalf("%s: %d instance types, not %d", by, len(got), len(want))
	}
	for i := range want {
		if want[i].Name != got[i].Name {
			l.Fatalf("%s: instance type %d is %q, not %q: the order differs", by, i, got[i].Name, want[i].Name)
		}
		if a, b := written(want[i]), written(got[i]); a != b {
			l.Fatalf("%s: instance type %q differs\nwas %s\nis  %s", by, want[i].Name, a, b)
		}
	}
}

// The numbers are so large that a provider exceeds the bound on memory if it keeps an answer for each NodePool, for each change, or for
// each pair of them.
const (
	poolsOfMemoryTest   = 40
	changesOfMemoryTest = 25
	// changesSeenByAll is the number of changes after which every NodePool is queried; it is small, because queries take time.
	changesSeenByAll = 3
)

func (l *lab) catalogMemory() {
	types := l.types()
	one := int64(0)
	for _, t := range types {
		one += int64(len(written(t)))
	}
	// Each change affects a different offering, so that no two catalogues are equal.
	candidates := slices.DeleteFunc(l.order(l.claim()), func(c cloudprovider.Candidate) bool { return !c.Offering.HasRoom() })
	if len(candidates) == 0 {
		l.Skip("no instance type has room")
	}
	pools := make([]*v1.NodePool, poolsOfMemoryTest)
	for i := range pools {
		pools[i] = l.otherPool(fmt.Sprint("conformance-", i))
	}
	round := func(revision int, pools []*v1.NodePool) {
		if l.SellOut != nil {
			c := candidates[revision%len(candidates)]
			restock := l.SellOut(only(c.Key()))
			l.tryCreate(l.ofOffering(c))
			restock()
		}
		for _, pool := range pools {
			l.typesFor(pool)
		}
	}
	round(0, pools[:1])
	before := liveBytes()
	for revision := range changesOfMemoryTest {
		asked := pools
		if revision >= changesSeenByAll {
			asked = pools[:1]
		}
		round(revision+1, asked)
	}
	// A separate catalogue for every NodePool, or for every change, would exceed this bound. The bound leaves some memory for the
	// provider's record of offerings out of stock, and for the tests themselves.
	if grown, most := liveBytes()-before, 4*one+512<<10+l.options.MemorySlack; grown > most {
		l.Errorf("%d nodepools and %d changes hold %d more bytes, allowed are %d: answers are kept for each", len(pools), changesOfMemoryTest, grown, most)
	}
}

func (l *lab) catalogUnknown() {
	heal, err := l.inject(Fault{Method: MethodInstanceTypes, Kind: cloudprovider.UnevaluatedNodePool})
	if err != nil {
		l.Skip(err)
	}
	defer heal()
	types, err := l.Provider.InstanceTypes(l.Context(), l.NodePool)
	if !cloudprovider.IsUnevaluatedNodePool(err) {
		l.Errorf("a nodepool that is not evaluated gives %d types and error %v, want kind %s", len(types), err, cloudprovider.UnevaluatedNodePool)
	}
}

func (l *lab) catalogObserved() {
	seen := l.observe(func(created *v1.NodeClaim, o *Observed) {
		corrections := Compare(created, o.Allocatable)
		l.session.report.learn(corrections)
		for _, c := range corrections {
			if excess := c.Excess(); excess.Sign() > 0 {
				l.Errorf("instance type %q: a node has %s of %s, modelled are %s: add %s to the overhead",
					c.InstanceType, c.Observed.String(), c.Resource, c.Modelled.String(), excess.String())
			}
		}
	})
	if seen == 0 {
		l.Skip("needs the hook Instances, with what nodes report")
	}
}

func (l *lab) catalogVolumes() {
	for _, t := range l.types() {
		for _, driver := range sortedKeys(t.VolumeLimits) {
			if n := t.VolumeLimits[driver]; n < 0 {
				l.Errorf("instance type %q: %d volumes of driver %q: it can't be negative", t.Name, n, driver)
			}
			if driver == "" || strings.TrimSpace(driver) != driver {
				l.Errorf("instance type %q: volume limits name driver %q", t.Name, driver)
			}
		}
	}
	types := l.types()
	l.observe(func(created *v1.NodeClaim, o *Observed) {
		bought, ok := boughtAs(types, created)
		if !ok || o.VolumeLimits == nil {
			return
		}
		for _, driver := range sortedKeys(o.VolumeLimits) {
			modelled, named := bought.Type.VolumeLimits[driver]
			if !named || modelled > o.VolumeLimits[driver] {
				l.Errorf("instance type %q: driver %q attaches %d volumes, modelled are %d (named: %v)",
					bought.Type.Name, driver, o.VolumeLimits[driver], modelled, named)
			}
		}
	})
}

// observe launches instances of a few types and calls the callback look with the values that their nodes report. It returns the number of
// these calls.
func (l *lab) observe(look func(created *v1.NodeClaim, o *Observed)) (seen int) {
	if l.Instances == nil {
		return 0
	}
	candidates := l.withRoom(1)
	created := map[string]*v1.NodeClaim{}
	for _, c := range candidates[:min(len(candidates), 3)] {
		instance := l.create(l.ofOffering(c))
		created[instance.Status.ProviderID] = instance
	}
	reported := map[string]*Observed{}
	l.within(l.patience(), func() bool {
		for _, m := range l.instances() {
			if created[m.ProviderID] != nil && m.Observed != nil {
				reported[m.ProviderID] = m.Observed
			}
		}
		return len(reported) == len(created)
	})
	for _, id := range sortedKeys(reported) {
		look(created[id], reported[id])
	}
	return len(reported)
}

func sortedKeys[K ~string, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }

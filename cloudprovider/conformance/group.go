package conformance

import (
	"errors"
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
)

func groupClauses() []clause {
	return []clause{
		{"CP-GROUP-01", Group, "each claim of a group has its instance", (*lab).groupEachItsOwn},
		{"CP-GROUP-02", Group, "without stock for all of a group, there is no instance", (*lab).groupAllOrNone},
		{"CP-GROUP-03", Group, "a group has the same instances whenever it is asked for", (*lab).groupOnce},
		{"CP-GROUP-04", Group, "after a lost answer, the instances of a group are found", (*lab).groupFound},
		{"CP-GROUP-05", Group, "a group that has lost an instance keeps the others and gets no more", (*lab).groupPartial},
	}
}

// groupSize is the number of claims in the groups that the kit launches.
const groupSize = 3

func (l *lab) groups() cloudprovider.GroupCreator {
	return ability[cloudprovider.GroupCreator](l, "GroupCreator")
}

// group returns equal claims for on-demand instances, which are not interrupted during the clause.
func (l *lab) group() []*v1.NodeClaim {
	claims := make([]*v1.NodeClaim, groupSize)
	for i := range claims {
		claims[i] = l.claim(in(v1.CapacityTypeLabelKey, v1.CapacityTypeOnDemand))
	}
	return claims
}

// createGroup launches a group, whose instances the lab ends after the clause. If the provider can't launch such a group, the clause is
// skipped.
func (l *lab) createGroup(claims []*v1.NodeClaim) []*v1.NodeClaim {
	created, err := l.tryCreateGroup(l.groups(), claims)
	if errors.Is(err, errors.ErrUnsupported) {
		l.Skipf("the provider can't launch %d claims that are alike as one: %v", len(claims), err)
	}
	if err != nil {
		l.Fatalf("launching a group of %d claims: %v", len(claims), err)
	}
	return created
}

func (l *lab) tryCreateGroup(groups cloudprovider.GroupCreator, claims []*v1.NodeClaim) ([]*v1.NodeClaim, error) {
	created, err := groups.CreateGroup(l.Context(), claims)
	if err != nil {
		return nil, err
	}
	if len(created) != len(claims) {
		l.Fatalf("CreateGroup gave %d instances for %d claims (CP-GROUP-01)", len(created), len(claims))
	}
	for _, c := range created {
		l.own(c)
	}
	return created, nil
}

func (l *lab) groupEachItsOwn() {
	claims := l.group()
	before := make([]*v1.NodeClaim, len(claims))
	for i, c := range claims {
		before[i] = c.DeepCopy()
	}
	seen := map[string]bool{}
	for i, created := range l.createGroup(claims) {
		if created.Name != claims[i].Name || created.UID != claims[i].UID {
			l.Errorf("the instance of claim %q (%s) is described as that of %q (%s)", claims[i].Name, claims[i].UID, created.Name, created.UID)
		}
		if seen[created.Status.ProviderID] {
			l.Errorf("two claims have instance %q", created.Status.ProviderID)
		}
		seen[created.Status.ProviderID] = true
		l.meets(l, claims[i], created)
		l.alone(l, claims[i].UID)
		if created.Status.ImageID == "" || len(created.Status.Capacity) == 0 || created.Labels[corev1.LabelTopologyZone] == "" {
			l.Errorf("the instance of claim %q is described without image, capacity or zone: %+v", claims[i].Name, created.Status)
		}
		if differ(before[i], claims[i]) {
			l.Errorf("CreateGroup changed claim %q", claims[i].Name)
		}
	}
}

func (l *lab) groupAllOrNone() {
	if l.SellOut == nil {
		l.Skip("needs the hook SellOut")
	}
	groups, claims := l.groups(), l.group()
	// All claims require the type of the first candidate, which is then sold out.
	candidates := l.withRoom(1, v1.CapacityTypeOnDemand)
	for _, c := range claims {
		c.Spec.Requirements = append(c.Spec.Requirements, in(corev1.LabelInstanceTypeStable, candidates[0].Type.Name))
	}
	restock := l.SellOut(func(k cloudprovider.OfferingKey) bool { return k.InstanceType == candidates[0].Type.Name })
	defer restock()
	live := len(l.live())
	created, err := l.tryCreateGroup(groups, claims)
	switch {
	case errors.Is(err, errors.ErrUnsupported):
		l.Skip(err)
	case !cloudprovider.IsInsufficientCapacity(err):
		l.Fatalf("nothing that suits has stock: got %d instances and %v, want kind %s", len(created), err, cloudprovider.InsufficientCapacity)
	case len(cloudprovider.ExhaustedOfferings(err)) == 0:
		l.Errorf("the error names no offering: %v", err)
	}
	if after := len(l.live()); after != live {
		l.Errorf("there were %d instances before a group that failed, and %d after it", live, after)
	}
}

// live returns the provider IDs of the cluster's instances that are not shutting down.
func (l *lab) live() []string {
	var ids []string
	for id, c := range l.list() {
		if c.DeletionTimestamp == nil {
			ids = append(ids, id)
		}
	}
	return ids
}

func (l *lab) groupOnce() {
	claims := l.group()
	first := l.createGroup(claims)
	want := map[string]string{}
	for i, c := range claims {
		want[string(c.UID)] = first[i].Status.ProviderID
	}
	same := func(how string, asked, got []*v1.NodeClaim) {
		for i, c := range asked {
			if got[i].Status.ProviderID != want[string(c.UID)] {
				l.Errorf("%s: claim %q has instance %q, and had %q", how, c.Name, got[i].Status.ProviderID, want[string(c.UID)])
			}
		}
	}
	l.lag()
	reversed := slices.Clone(claims)
	slices.Reverse(reversed)
	same("asked in another order", reversed, l.createGroup(reversed))
	var calling sync.WaitGroup
	answers := make([][]*v1.NodeClaim, 4)
	errs := make([]error, len(answers))
	groups := l.groups()
	for i := range answers {
		calling.Go(func() { answers[i], errs[i] = groups.CreateGroup(l.Context(), claims) })
	}
	calling.Wait()
	for i, got := range answers {
		if errs[i] != nil || len(got) != len(claims) {
			l.Fatalf("asked in parallel: %d instances, %v", len(got), errs[i])
		}
		same("asked in parallel", claims, got)
	}
	same("asked by Create", claims[:1], []*v1.NodeClaim{l.create(claims[0])})
	if l.Restart == nil {
		return
	}
	restarted, ok := cloudprovider.As[cloudprovider.GroupCreator](l.Restart())
	if !ok {
		l.Fatal("after a restart the provider does not implement GroupCreator")
	}
	got, err := l.tryCreateGroup(restarted, claims)
	if err != nil {
		l.Fatalf("asked by another process: %v", err)
	}
	same("asked by another process", claims, got)
}

func (l *lab) groupFound() {
	groups, claims := l.groups(), l.group()
	heal, err := l.inject(Fault{Method: MethodCreateGroup, Kind: cloudprovider.Transient, Lost: true})
	if err != nil {
		l.Skip(err)
	}
	if created, err := l.tryCreateGroup(groups, claims); errors.Is(err, errors.ErrUnsupported) {
		heal()
		l.Skip(err)
	} else if err == nil {
		l.Logf("the answer was not lost: %d instances", len(created))
	}
	heal()
	provider := l.Provider
	if l.Restart != nil {
		provider = l.Restart()
	}
	l.lag()
	found := map[string]string{}
	for id, c := range l.listBy(provider) {
		if slices.ContainsFunc(claims, func(claim *v1.NodeClaim) bool { return claim.UID == c.UID }) {
			l.own(c)
			found[string(c.UID)] = id
		}
	}
	if len(found) != 0 && len(found) != len(claims) {
		l.Fatalf("after a lost answer %d of %d claims have an instance in List", len(found), len(claims))
	}
	again, ok := cloudprovider.As[cloudprovider.GroupCreator](provider)
	if !ok {
		l.Fatal("after a restart the provider does not implement GroupCreator")
	}
	created, err := l.tryCreateGroup(again, claims)
	if err != nil {
		l.Fatalf("repeating a call whose answer was lost: %v", err)
	}
	for i, c := range claims {
		if id := found[string(c.UID)]; id != "" && id != created[i].Status.ProviderID {
			l.Errorf("claim %q had instance %q in List, and the repeated call gives %q", c.Name, id, created[i].Status.ProviderID)
		}
		l.alone(l, c.UID)
	}
}

func (l *lab) groupPartial() {
	groups, claims := l.groups(), l.group()
	created := l.createGroup(claims)
	l.lag()
	if err := l.Provider.Delete(l.Context(), created[0]); err != nil {
		l.Fatalf("ending an instance of a group: %v", err)
	}
	l.lag()
	provider := l.Provider
	if l.Restart != nil {
		provider = l.Restart()
		groups, _ = cloudprovider.As[cloudprovider.GroupCreator](provider)
	}
	if again, err := l.tryCreateGroup(groups, claims); !cloudprovider.IsInsufficientCapacity(err) {
		l.Fatalf("a group has lost an instance: got %d instances and %v, want kind %s", len(again), err, cloudprovider.InsufficientCapacity)
	}
	after := l.listBy(provider)
	for i, c := range claims[1:] {
		if has := after[created[i+1].Status.ProviderID]; has == nil || has.UID != c.UID {
			l.Errorf("instance %q was launched for claim %s and is listed as %v", created[i+1].Status.ProviderID, c.UID, has)
		}
	}
	if live := l.live(); len(live) != len(claims)-1 {
		l.Errorf("there are %d instances after one of %d was ended", len(live), len(claims))
	}
}

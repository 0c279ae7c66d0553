package conformance

import (
	"reflect"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
)

func deleteClauses() []clause {
	return []clause{
		{"CP-DELETE-01", Core, "nil is under way, NotFound is gone", (*lab).deleteEnds},
		{"CP-DELETE-02", Core, "Delete can be repeated at will", (*lab).deleteRepeats},
		{"CP-DELETE-03", Core, "what nobody has is NotFound to Delete", (*lab).deleteUnknown},
		{"CP-DELETE-04", Core, "only the provider ID counts, and only in this cluster", (*lab).deleteByID},
	}
}

func getClauses() []clause {
	return []clause{
		{"CP-GET-01", Core, "Get describes the instance as Create did", (*lab).getLikeCreate},
		{"CP-GET-02", Core, "shutting down is told from gone", (*lab).getEnding},
		{"CP-GET-03", Core, "what nobody has is NotFound to Get", (*lab).getUnknown},
	}
}

func listClauses() []clause {
	return []clause{
		{"CP-LIST-01", Core, "List has every instance of this cluster and none of another", (*lab).listComplete},
		{"CP-LIST-02", Core, "List lags by no more than is declared", (*lab).listInTime},
		{"CP-LIST-03", Core, "what shuts down is listed as such, what is gone is not", (*lab).listEnding},
		{"CP-LIST-04", Core, "List says whose each instance is", (*lab).listOwners},
		{"CP-LIST-05", Core, "an incomplete list is an error", (*lab).listWhole},
		{"CP-LIST-06", Core, "List is ordered by provider ID", (*lab).listOrdered},
	}
}

func (l *lab) deleteEnds() {
	instance := l.create(l.claim())
	id := instance.Status.ProviderID
	if err := l.Provider.Delete(l.Context(), instance); err != nil {
		l.Fatalf("the first Delete of a running instance: %v, want nil", err)
	}
	if l.Instances != nil {
		// Until Delete says that the instance is gone, compare its result with the cloud's instances.
		l.patiently(func() bool {
			gone := cloudprovider.IsNodeClaimNotFound(l.Provider.Delete(l.Context(), instance))
			for _, m := range l.instances() {
				if m.ProviderID == id && gone {
					l.Fatalf("Delete says that instance %q is gone; the cloud still has it", id)
				}
				if m.ProviderID == id && m.Live {
					l.Fatalf("Delete says that termination of instance %q is under way; the cloud knows nothing of it", id)
				}
			}
			return gone
		})
	}
	l.end(instance)
	l.deleteSpread()
}

// deleteSpread deletes one instance of each offering that spread returns. It calls Delete for all of them first, and then waits until all
// are gone.
func (l *lab) deleteSpread() {
	instances := l.launchSpread()
	for _, m := range instances {
		if err := l.Provider.Delete(l.Context(), m.instance); err != nil {
			l.Fatalf("the first Delete of running instance %s: %v, want nil", m, err)
		}
	}
	for _, m := range instances {
		l.end(m.instance)
	}
}

func (l *lab) deleteRepeats() {
	instance := l.create(l.claim())
	for n := range 5 {
		if err := l.Provider.Delete(l.Context(), instance); err != nil && !cloudprovider.IsNodeClaimNotFound(err) {
			l.Fatalf("Delete %d in a row: %v", n+1, err)
		}
	}
	l.end(instance)
	for n := range 3 {
		if err := l.Provider.Delete(l.Context(), instance); !cloudprovider.IsNodeClaimNotFound(err) {
			l.Fatalf("Delete %d of an instance that is gone: %v, want kind %s", n+1, err, cloudprovider.NodeClaimNotFound)
		}
		l.later()
	}
}

// strangers returns provider IDs that no instance of this cluster has. The keys are descriptions of the IDs.
func (l *lab) strangers() map[string]string {
	ids := map[string]string{
		"empty": "", "malformed": "no provider id", "of another provider": "other:///zone/i-1",
		"with odd characters": "://%zz\x00/\n", "of two slashes": "//",
	}
	known := l.create(l.claim()).Status.ProviderID
	ids["unknown"] = unlike(known)
	ids["half"] = known[:len(known)/2]
	if l.OtherCluster != nil {
		theirs, err := l.OtherCluster().Create(l.Context(), l.claim())
		if err != nil {
			l.Fatalf("launching an instance in another cluster: %v", err)
		}
		ids["of another cluster"] = theirs.Status.ProviderID
	}
	return ids
}

// unlike returns a provider ID of the same form with different digits.
func unlike(id string) string {
	at := strings.LastIndexByte(id, '/') + 1
	return id[:at] + strings.Map(func(r rune) rune {
		if r >= '0' && r <= '8' {
			return r + 1
		}
		return r
	}, id[at:])
}

func (l *lab) deleteUnknown() {
	ids := l.strangers()
	for _, what := range sortedKeys(ids) {
		claim := l.claim()
		claim.Status.ProviderID = ids[what]
		if err := l.Provider.Delete(l.Context(), claim); !cloudprovider.IsNodeClaimNotFound(err) {
			l.Errorf("Delete of provider ID %q (%s): %v, want kind %s", ids[what], what, err, cloudprovider.NodeClaimNotFound)
		}
	}
}

func (l *lab) deleteByID() {
	wanted, other := l.create(l.claim()), l.create(l.claim())
	// stale is a claim as an outdated cache may have it: with the name and UID of another claim, old labels, and no spec.
	stale := &v1.NodeClaim{ObjectMeta: *other.ObjectMeta.DeepCopy()}
	stale.Labels = map[string]string{}
	stale.Status.ProviderID = wanted.Status.ProviderID
	if err := l.Provider.Delete(l.Context(), stale); err != nil {
		l.Fatalf("Delete of a stale claim: %v", err)
	}
	if got, err := l.Provider.Get(l.Context(), other.Status.ProviderID); err != nil || !got.DeletionTimestamp.IsZero() {
		l.Errorf("the instance that the claim's name and UID point to was ended, not that of its provider ID: %v, %v", got, err)
	}
	if got, err := l.Provider.Get(l.Context(), wanted.Status.ProviderID); err == nil && got.DeletionTimestamp.IsZero() {
		l.Errorf("the instance of the claim's provider ID was not ended")
	}
	if l.OtherCluster == nil {
		return
	}
	theirs := l.OtherCluster()
	instance, err := theirs.Create(l.Context(), l.claim())
	if err != nil {
		l.Fatalf("launching an instance in another cluster: %v", err)
	}
	_ = l.Provider.Delete(l.Context(), instance)
	if got, err := theirs.Get(l.Context(), instance.Status.ProviderID); err != nil || !got.DeletionTimestamp.IsZero() {
		l.Errorf("an instance of another cluster was ended: %v, %v", got, err)
	}
	_ = theirs.Delete(l.Context(), instance)
}

// described returns the fields that must be equal in all descriptions of an instance.
func described(c *v1.NodeClaim) *v1.NodeClaim {
	d := &v1.NodeClaim{}
	d.Name, d.UID, d.Labels = c.Name, c.UID, c.Labels
	d.Status.ProviderID, d.Status.ImageID = c.Status.ProviderID, c.Status.ImageID
	d.Status.Capacity, d.Status.Allocatable = c.Status.Capacity, c.Status.Allocatable
	return d
}

func differ(a, b *v1.NodeClaim) bool {
	x, y := described(a), described(b)
	for _, lists := range [][2]map[string]string{{amounts(x.Status.Capacity), amounts(y.Status.Capacity)}, {amounts(x.Status.Allocatable), amounts(y.Status.Allocatable)}} {
		if !reflect.DeepEqual(lists[0], lists[1]) {
			return true
		}
	}
	return x.Name != y.Name || x.UID != y.UID || !reflect.DeepEqual(x.Labels, y.Labels) ||
		x.Status.ProviderID != y.Status.ProviderID || x.Status.ImageID != y.Status.ImageID
}

// amounts returns a list's quantities as text, because equal amounts may have different representations.
func amounts(list corev1.ResourceList) map[string]string {
	texts := make(map[string]string, len(list))
	for name, q := range list {
		texts[string(name)] = q.String()
	}
	return texts
}

func (l *lab) getLikeCreate() {
	for _, m := range l.launchSpread() {
		got, err := l.Provider.Get(l.Context(), m.instance.Status.ProviderID)
		if err != nil {
			l.Fatalf("getting instance %s, just launched: %v", m, err)
		}
		if differ(m.instance, got) {
			l.Fatalf("Get differs from Create for instance %s\nCreate %+v\nGet    %+v", m, described(m.instance), described(got))
		}
	}
}

func (l *lab) getEnding() {
	instance := l.create(l.claim())
	id := instance.Status.ProviderID
	if err := l.Provider.Delete(l.Context(), instance); err != nil {
		l.Fatalf("Delete: %v", err)
	}
	if !l.patiently(func() bool {
		if l.Instances == nil && cloudprovider.IsNodeClaimNotFound(l.Provider.Delete(l.Context(), instance)) {
			return true
		}
		if l.Instances != nil && !l.there(id) {
			return true
		}
		switch got, err := l.Provider.Get(l.Context(), id); {
		case err == nil && got.DeletionTimestamp.IsZero():
			l.Fatalf("instance %q is shutting down and Get shows no deletion timestamp", id)
		case cloudprovider.IsNodeClaimNotFound(err) && l.Instances != nil && l.there(id):
			l.Fatalf("instance %q is still shutting down, and Get says that it is gone", id)
		case err != nil && !cloudprovider.IsNodeClaimNotFound(err):
			l.Fatalf("Get of an instance that ends: %v", err)
		}
		return false
	}) {
		l.Fatalf("instance %q is still there %s", id, l.waited())
	}
	var last *v1.NodeClaim
	var err error
	if !l.patiently(func() bool { // a provider may notice the change a little later
		last, err = l.Provider.Get(l.Context(), id)
		return cloudprovider.IsNodeClaimNotFound(err)
	}) {
		l.Errorf("Get of an instance that is gone, %s: %v, %v, want kind %s", l.waited(), last, err, cloudprovider.NodeClaimNotFound)
	}
}

func (l *lab) getUnknown() {
	ids := l.strangers()
	for _, what := range sortedKeys(ids) {
		if got, err := l.Provider.Get(l.Context(), ids[what]); !cloudprovider.IsNodeClaimNotFound(err) {
			l.Errorf("Get of provider ID %q (%s): %v, %v, want kind %s", ids[what], what, got, err, cloudprovider.NodeClaimNotFound)
		}
	}
}

func (l *lab) listComplete() {
	// Launch several equal instances, and instances of every zone and kind.
	instances := map[string]string{}
	for range 3 {
		id := l.create(l.claim()).Status.ProviderID
		instances[id] = strconv.Quote(id)
	}
	for _, m := range l.launchSpread() {
		instances[m.instance.Status.ProviderID] = m.String()
	}
	theirs := ""
	if l.OtherCluster != nil {
		instance, err := l.OtherCluster().Create(l.Context(), l.claim())
		if err != nil {
			l.Fatalf("launching an instance in another cluster: %v", err)
		}
		theirs = instance.Status.ProviderID
	}
	l.has(l.Provider, instances, theirs)
	if l.Restart != nil {
		l.has(l.Restart(), instances, theirs)
	}
}

// has checks that List returns all instances of the map, whose keys are provider IDs. It also checks that List does not return the instance
// of another cluster whose provider ID is the parameter theirs.
func (l *lab) has(provider cloudprovider.CloudProvider, instances map[string]string, theirs string) {
	l.lag()
	listed := l.listBy(provider)
	for _, id := range sortedKeys(instances) {
		if listed[id] == nil {
			l.Errorf("List does not have instance %s", instances[id])
		}
	}
	if theirs != "" && listed[theirs] != nil {
		l.Errorf("List has instance %q of another cluster", theirs)
	}
}

func (l *lab) listInTime() {
	instance := l.create(l.claim())
	id := instance.Status.ProviderID
	if l.list()[id] == nil {
		l.Fatalf("instance %q was launched %s ago and List does not have it: declare how long it lags (consistencyWindow)", id, l.caps.ConsistencyWindow.Duration)
	}
	l.end(instance)
	if l.list()[id] != nil {
		l.Errorf("instance %q was gone %s ago and List still has it", id, l.caps.ConsistencyWindow.Duration)
	}
}

func (l *lab) listEnding() {
	instance, stays := l.create(l.claim()), l.create(l.claim())
	id := instance.Status.ProviderID
	if err := l.Provider.Delete(l.Context(), instance); err != nil {
		l.Fatalf("Delete: %v", err)
	}
	listed := l.list()
	got, listedStill := listed[id]
	_, err := l.Provider.Get(l.Context(), id)
	switch {
	case listedStill && got.DeletionTimestamp.IsZero():
		l.Errorf("instance %q is shutting down and List shows no deletion timestamp", id)
	case !listedStill && err == nil:
		l.Errorf("instance %q is shutting down and not listed", id)
	}
	if c := listed[stays.Status.ProviderID]; c != nil && !c.DeletionTimestamp.IsZero() {
		l.Errorf("instance %q is running, and List shows a deletion timestamp", stays.Status.ProviderID)
	}
}

func (l *lab) listOwners() {
	instances := l.launchSpread()
	listed := l.list()
	for _, m := range instances {
		got := listed[m.instance.Status.ProviderID]
		if got == nil {
			l.Skip("List does not have an instance (CP-LIST-01)")
		}
		if pool := v1.PoolOf(got.Labels); got.Name != m.claim.Name || got.UID != m.claim.UID || pool != l.NodePool.Key() {
			l.Fatalf("the entry of instance %s names claim %q, UID %q, nodepool %q; launched was it for %q, %q, %q",
				m, got.Name, got.UID, pool, m.claim.Name, m.claim.UID, l.NodePool.Key())
		}
	}
}

func (l *lab) listWhole() {
	l.create(l.claim())
	heal, err := l.inject(Fault{Method: MethodList, Kind: cloudprovider.Transient})
	if err != nil {
		l.Skip(err)
	}
	defer heal()
	provider := l.Provider
	if l.Restart != nil {
		provider = l.Restart() // a restarted provider, which has no cached instances
	}
	if all, err := provider.List(l.Context()); err == nil {
		l.Errorf("the cloud could not be read, but List returns %d instances without an error", len(all))
	}
}

func (l *lab) listOrdered() {
	for range 5 {
		l.create(l.claim())
	}
	l.lag()
	all, err := l.Provider.List(l.Context())
	if err != nil {
		l.Fatalf("listing: %v", err)
	}
	if !slices.IsSortedFunc(all, func(a, b *v1.NodeClaim) int { return strings.Compare(a.Status.ProviderID, b.Status.ProviderID) }) {
		l.Errorf("%d entries are not ordered by provider ID", len(all))
	}
}

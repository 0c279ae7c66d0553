package conformance

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/drawknife/drawknife/api/option"
	"github.com/drawknife/drawknife/api/requirements"
	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
)

// poolName is the name of the kit's NodePool and of its claims.
const poolName = "conformance"

// lab is the environment for testing one clause: a provider and tools for it.
type lab struct {
	*probe
	Subject
	session *session
	options Options
	caps    cloudprovider.Capabilities
	lookup  *requirements.Lookup
	// owned has the instances that the lab must terminate, by provider ID.
	owned map[string]*v1.NodeClaim
	// lastWait is the limit of the last wait.
	lastWait time.Duration
}

// counter numbers claims, so that their names and UIDs are unique in this process.
type counter struct{ n atomic.Int64 }

func (s *session) newLab(p *probe) *lab {
	l := &lab{probe: p, session: s, options: s.options}
	l.renew()
	p.Cleanup(l.clear)
	return l
}

// renew replaces the provider by a new one.
func (l *lab) renew() {
	l.Subject = l.session.factory(l.probe)
	if l.Provider == nil {
		l.Fatal("the factory gave no provider: set Subject.Provider")
	}
	l.owned = map[string]*v1.NodeClaim{}
	l.caps = l.Provider.Describe()
	l.lookup = l.caps.Vocabulary.Compile()
	if l.NodeClass == (v1.NodeClassReference{}) {
		kind := l.caps.DefaultNodeClass()
		l.NodeClass = v1.NodeClassReference{Group: kind.Group, Kind: kind.Kind, Name: "default"}
	}
	if l.NodePool == nil {
		l.NodePool = &v1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: poolName, UID: poolName + "-uid", Generation: 1}}
		l.NodePool.Spec.Template.Spec.NodeClassRef = l.NodeClass
	}
	if l.session.report.Provider == "" {
		l.session.report.Provider = l.Provider.Name()
	}
}

// otherPool returns a NodePool with the same instance types but another name and UID.
func (l *lab) otherPool(name string) *v1.NodePool {
	other := l.NodePool.DeepCopy()
	other.Name, other.UID = name, types.UID(name+"-uid")
	return other
}

// types returns the present instance types. It fails the clause if the provider returns none.
func (l *lab) types() []*cloudprovider.InstanceType {
	return l.typesFor(l.NodePool)
}

func (l *lab) typesFor(pool *v1.NodePool) []*cloudprovider.InstanceType {
	all, err := l.Provider.InstanceTypes(l.Context(), pool)
	if err != nil {
		l.Fatalf("instance types of nodepool %q: %v", pool.Name, err)
	}
	if len(all) == 0 {
		l.Fatalf("nodepool %q has no instance types: the kit needs some to launch", pool.Name)
	}
	return all
}

// claim asks for a small instance that meets the requirements. It has a unique name and UID.
func (l *lab) claim(more ...v1.NodeSelectorRequirementWithMinValues) *v1.NodeClaim {
	name := fmt.Sprintf("%s-%s-%d", poolName, l.options.RunID, l.session.counter.n.Add(1))
	return &v1.NodeClaim{
		ObjectMeta: metav1.ObjectMeta{
			Name: name, UID: types.UID(name + "-uid"), Generation: 1,
			Labels: map[string]string{l.NodePool.Key().LabelKey(): l.NodePool.Name},
		},
		Spec: v1.NodeClaimSpec{
			NodeClassRef: l.NodeClass,
			Requirements: slices.Concat(l.Requirements, more),
			Resources:    v1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("100m")}},
		},
	}
}

// in returns a requirement with operator In.
func in(key string, values ...string) v1.NodeSelectorRequirementWithMinValues {
	return v1.NodeSelectorRequirementWithMinValues{Key: key, Operator: corev1.NodeSelectorOpIn, Values: values}
}

// ofOffering returns a claim that requires the type and all label values of this offering.
func (l *lab) ofOffering(c cloudprovider.Candidate) *v1.NodeClaim {
	wants := []v1.NodeSelectorRequirementWithMinValues{in(corev1.LabelInstanceTypeStable, c.Type.Name)}
	for r := range c.Offering.Requirements.All {
		if len(r.Values()) > 0 {
			wants = append(wants, in(r.Key(), r.Values()...))
		}
	}
	return l.claim(wants...)
}

// order returns the offerings that suit a claim, in the order in which the contract prefers them.
func (l *lab) order(claim *v1.NodeClaim) []cloudprovider.Candidate {
	return cloudprovider.LaunchOrder(l.types(), l.wants(claim), claim.Spec.Resources.Requests)
}

func (l *lab) wants(claim *v1.NodeClaim) requirements.Set {
	set, err := l.lookup.ParseSet(claim.Spec.Requirements)
	if err != nil {
		l.Fatalf("the requirements of claim %q: %v", claim.Name, err)
	}
	return set
}

// withRoom returns the offerings with room that suit a small claim, at most one of each type. It skips the clause if the number of such
// offerings is below the parameter least.
func (l *lab) withRoom(least int, capacityTypes ...string) []cloudprovider.Candidate {
	var found []cloudprovider.Candidate
	seen := map[string]bool{}
	for _, c := range l.order(l.claim()) {
		wanted := len(capacityTypes) == 0 || slices.Contains(capacityTypes, c.Offering.CapacityType())
		if wanted && c.Offering.HasRoom() && !seen[c.Type.Name] {
			seen[c.Type.Name] = true
			found = append(found, c)
		}
	}
	if len(found) < least {
		l.Skipf("needs %d instance types with room%s; there are %d", least, ofTypes(capacityTypes), len(found))
	}
	return found
}

func ofTypes(capacityTypes []string) string {
	if len(capacityTypes) == 0 {
		return ""
	}
	return " as " + strings.Join(capacityTypes, " or ")
}

// create launches an instance, which the lab ends after the clause.
func (l *lab) create(claim *v1.NodeClaim) *v1.NodeClaim {
	created, err := l.Provider.Create(l.Context(), claim)
	if err != nil {
		l.Fatalf("launching claim %q: %v", claim.Name, err)
	}
	return l.own(created)
}

// tryCreate launches an instance; the launch may fail.
func (l *lab) tryCreate(claim *v1.NodeClaim) (*v1.NodeClaim, error) {
	created, err := l.Provider.Create(l.Context(), claim)
	if err != nil {
		return nil, err
	}
	return l.own(created), nil
}

// inject calls the hook Inject. It returns an error if the hook is missing or the cloud can't produce the fault.
func (l *lab) inject(f Fault) (heal func(), err error) {
	if l.Inject == nil {
		return nil, errors.New("needs the hook Inject")
	}
	heal, err = l.Inject(f)
	switch {
	case errors.Is(err, errors.ErrUnsupported):
		return nil, fmt.Errorf("the cloud can't produce the fault %s in %s", orUnexplained(f.Kind), f.Method)
	case err != nil:
		l.Fatalf("injecting %+v: %v", f, err)
	}
	return heal, nil
}

func orUnexplained(k cloudprovider.ErrorKind) string {
	if k == "" {
		return "an error without explanation"
	}
	return string(k)
}

func (l *lab) own(created *v1.NodeClaim) *v1.NodeClaim {
	if created == nil || created.Status.ProviderID == "" {
		l.Fatalf("Create gave no error and no instance: %+v (CP-CREATE-01)", created)
	}
	l.owned[created.Status.ProviderID] = created.DeepCopy()
	return created
}

// list returns the provider's list by provider ID, after the consistency window has passed.
func (l *lab) list() map[string]*v1.NodeClaim {
	l.lag()
	return l.listBy(l.Provider)
}

func (l *lab) listBy(provider cloudprovider.CloudProvider) map[string]*v1.NodeClaim {
	all, err := provider.List(l.Context())
	if err != nil {
		l.Fatalf("listing: %v", err)
	}
	byID := make(map[string]*v1.NodeClaim, len(all))
	for _, c := range all {
		if c == nil {
			l.Fatal("List has an entry that is nil (CP-LIST-04)")
		}
		byID[c.Status.ProviderID] = c
	}
	return byID
}

// lag waits until List shows all changes made so far.
func (l *lab) lag() {
	if window := l.caps.ConsistencyWindow.Duration; window > 0 {
		l.wait(window)
	}
}

// wait advances the clock with the hook Advance. Without this hook it waits in real time.
func (l *lab) wait(d time.Duration) {
	if l.Advance != nil {
		l.Advance(d)
		return
	}
	pass(l.Context(), d)
}

// later moves the clock by Options.Poll if the hook Advance exists.
func (l *lab) later() {
	if l.Advance != nil {
		l.Advance(l.options.Poll)
	}
}

// pass waits in real time.
func pass(ctx context.Context, d time.Duration) {
	timed, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	<-timed.Done()
}

// patience returns the maximum time to wait for an instance.
func (l *lab) patience() time.Duration {
	switch {
	case l.Advance != nil:
		return option.Or(l.options.Patience, DefaultPatience)
	case l.session.ranOut.Load():
		return max(option.Or(l.options.Patience, DefaultRealPatience)/10, 2*time.Duration(l.session.longest.Load()))
	}
	return option.Or(l.options.Patience, DefaultRealPatience)
}

// waited says how long l.patiently has waited without success, and which option makes l.patiently wait longer.
func (l *lab) waited() string {
	switch {
	case errors.Is(l.Context().Err(), context.DeadlineExceeded):
		return "when " + outOfTime
	case l.Advance == nil:
		return fmt.Sprintf("after %s of real time (if your instances take longer, give Options.Patience or the hook Advance)", l.lastWait)
	}
	return "after " + l.lastWait.String()
}

// patiently polls until done() is true, and reports whether this happened in time. After a wait in real time has timed out, later waits are
// shorter.
func (l *lab) patiently(done func() bool) bool {
	ok := l.within(l.patience(), done)
	if !ok && l.Advance == nil {
		l.session.ranOut.Store(true)
	}
	return ok
}

// within polls until done() is true, and reports whether this happened before the limit. In real time it polls often at first, because many
// clouds finish at once.
func (l *lab) within(limit time.Duration, done func() bool) bool {
	l.lastWait = limit
	pause := l.options.Poll
	if l.Advance == nil {
		pause = min(pause, time.Millisecond)
	}
	for waited := time.Duration(0); ; waited += pause {
		if done() {
			l.session.longest.Store(max(l.session.longest.Load(), int64(waited)))
			return true
		}
		if waited >= limit || l.Context().Err() != nil {
			return false
		}
		l.wait(pause)
		pause = min(2*pause, l.options.Poll)
	}
}

// end deletes an instance and waits until it is gone. Errors of Delete are checked by the clauses CP-DELETE.
func (l *lab) end(instance *v1.NodeClaim) {
	var last error
	if !l.patiently(func() bool {
		last = l.Provider.Delete(l.Context(), instance)
		// CP-DELETE-01 checks that Delete and the hook Instances agree. All other clauses wait until Delete and the hook say that the
		// instance is gone.
		return cloudprovider.IsNodeClaimNotFound(last) && (l.Instances == nil || !l.there(instance.Status.ProviderID))
	}) {
		l.Fatalf("instance %q is not gone %s, and the last Delete says %v (CP-DELETE-01)", instance.Status.ProviderID, l.waited(), last)
	}
	delete(l.owned, instance.Status.ProviderID)
}

// clear terminates the instances that the clause has left running. The clause's context has ended, so clear uses another one. It reports no
// failures, because other clauses check whether instances can be ended.
func (l *lab) clear() {
	ctx := context.WithoutCancel(l.Context())
	for _, id := range slices.Sorted(maps.Keys(l.owned)) {
		_ = l.Provider.Delete(ctx, l.owned[id])
	}
}

// instances returns the instances that the hook Instances shows. Without the hook, the clause is skipped.
func (l *lab) instances() []Instance {
	if l.Instances == nil {
		l.Skip("needs the hook Instances")
	}
	all, err := l.Instances(l.Context())
	if err != nil {
		l.Fatalf("looking at the cloud's instances: %v", err)
	}
	return all
}

// there reports whether the cloud has an instance. Without the hook Instances it asks the provider.
func (l *lab) there(id string) bool {
	if l.Instances == nil {
		_, err := l.Provider.Get(l.Context(), id)
		return !cloudprovider.IsNodeClaimNotFound(err)
	}
	return slices.ContainsFunc(l.instances(), func(m Instance) bool { return m.ProviderID == id })
}

// boughtAs finds the type and the offering that match an instance's labels. It returns false if no offering matches.
func boughtAs(types []*cloudprovider.InstanceType, instance *v1.NodeClaim) (cloudprovider.Candidate, bool) {
	for _, t := range types {
		if t.Name != instance.Labels[corev1.LabelInstanceTypeStable] {
			continue
		}
		for i := range t.Offerings {
			if o := &t.Offerings[i]; bears(instance.Labels, o) {
				return cloudprovider.Candidate{Type: t, Offering: o}, true
			}
		}
	}
	return cloudprovider.Candidate{}, false
}

// bears reports whether the labels agree with the offering: for each key with exactly one value in the offering, they must have this value.
func bears(labels map[string]string, o *cloudprovider.Offering) bool {
	for r := range o.Requirements.All {
		if values := r.Values(); len(values) == 1 && labels[r.Key()] != values[0] {
			return false
		}
	}
	return true
}

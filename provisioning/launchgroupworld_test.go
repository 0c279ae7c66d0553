package provisioning_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/fake"
	"github.com/drawknife/drawknife/fake/build"
	"github.com/drawknife/drawknife/internal/seeded"
	"github.com/drawknife/drawknife/provisioning"
	"github.com/drawknife/drawknife/scheduling"
	"github.com/drawknife/drawknife/scheduling/cluster"
)

// gangWorld is a world whose controller plans, too, and whose scheduler binds gangs whole.
type gangWorld struct {
	*world
	r      rapid.TB
	pool   *v1.NodePool
	gangs  map[string]int // members that each gang needs, by its Kueue group
	passes int
	// refuses is how many claims the store still takes before it fails once; negative for never.
	refuses int
	// paid is when each instance of a launch group was first seen, complete the groups that have come to be complete.
	paid     map[string]time.Time
	complete map[string]bool
}

// gangTypes are two types, of which a member takes one or half of the other.
func gangTypes() []*cloudprovider.InstanceType { return fake.GenericTypes(3)[1:] }

func newGangWorld(t *testing.T, r rapid.TB, crashAt int, answered bool) *gangWorld {
	w := &gangWorld{
		world: newWorld(t, crashAt, answered), r: r, gangs: map[string]int{}, refuses: -1,
		paid: map[string]time.Time{}, complete: map[string]bool{},
	}
	cloud, err := fake.New(gangTypes(), fake.Options{
		Clock: w.clock, LaunchLatency: 3 * time.Second, ShutdownLatency: 4 * time.Second,
		OnLaunch: func(i fake.Instance) {
			node := i.Node()
			node.UID = types.UID("node-" + i.ProviderID)
			w.store(node)
		},
		OnTerminate: func(i fake.Instance) {
			if n := w.nodes[i.NodeName]; n != nil {
				n = n.DeepCopy()
				n.Status.Conditions = nil
				w.store(n)
			}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	w.cloud, w.pool = cloud, passPool("default", build.Class("fake.drawknife.test", "FakeNodeClass", "default"))
	if w.estimate, err = provisioning.NewStockEstimate(provisioning.DefaultStockEstimateOptions()); err != nil {
		t.Fatal(err)
	}
	return w
}

// wants adds a pod that waits, in the gang if one is named.
func (w *gangWorld) wants(name, gang, cpu string, zonal bool) {
	p := build.Pod(name, build.CPU(cpu))
	p.UID, p.CreationTimestamp = types.UID(name), metav1.NewTime(w.clock.Now())
	if gang != "" {
		p.Labels = map[string]string{"kueue.x-k8s.io/pod-group-name": gang}
		p.Annotations = map[string]string{"kueue.x-k8s.io/pod-group-total-count": fmt.Sprint(w.gangs[gang])}
		if zonal {
			p.Annotations["kueue.x-k8s.io/podset-required-topology"] = corev1.LabelTopologyZone
		}
	}
	p.Status = corev1.PodStatus{Phase: corev1.PodPending, Conditions: []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable}}}
	w.pods[types.NamespacedName{Namespace: p.Namespace, Name: p.Name}] = p
}

// view is the cluster as a process that has just started sees it.
func (w *gangWorld) view(catalog []*cloudprovider.InstanceType) *scheduling.Snapshot {
	state, err := cluster.New(cluster.Options{Vocabulary: w.cloud.Describe().Vocabulary})
	if err != nil {
		w.t.Fatal(err)
	}
	var events []cluster.Event
	for _, c := range w.claims {
		events = append(events, cluster.Upsert(c))
	}
	for _, n := range w.nodes {
		events = append(events, cluster.Upsert(n))
	}
	for _, p := range w.pods {
		events = append(events, cluster.Upsert(p))
	}
	if err := state.Apply(events...); err != nil {
		w.t.Fatal(err)
	}
	q := cluster.Query{Time: w.clock.Now(), NodePools: []scheduling.NodePool{{Key: v1.NewPoolKey("default"), Object: w.pool, Catalog: "all"}}}
	q.Catalogs = map[string][]*cloudprovider.InstanceType{"all": catalog}
	return state.Snapshot(q).Snapshot
}

func (w *gangWorld) solve(s *scheduling.Snapshot) *scheduling.Plan {
	model, err := scheduling.Compile(s)
	if err != nil {
		w.t.Fatal(err)
	}
	plan, err := model.Solve(w.t.Context(), scheduling.Query{})
	if err != nil {
		w.t.Fatal(err)
	}
	return plan
}

// pass plans, and orders claims.
func (w *gangWorld) pass() {
	list, err := w.cloud.InstanceTypes(w.t.Context(), w.pool)
	if err != nil {
		w.t.Fatal(err)
	}
	s := w.view(w.estimate.Apply(list, w.clock.Now()))
	orders, err := provisioning.Decide(s, w.solve(s), provisioning.PassOptions{})
	if err != nil {
		w.t.Fatal(err)
	}
	one := 1
	launcher, err := provisioning.NewLauncher(provisioning.LauncherOptions{Claims: w, Parallelism: &one})
	if err != nil {
		w.t.Fatal(err)
	}
	w.passes++
	launcher.Launch(w.t.Context(), fmt.Sprint(w.passes), orders.Launches, w.clock.Now())
}

// CreateNodeClaim stores a claim, or fails.
func (w *gangWorld) CreateNodeClaim(_ context.Context, token string, claim *v1.NodeClaim) (*v1.NodeClaim, error) {
	if w.refuses == 0 {
		w.refuses = -1
		return nil, errors.New("the API server is away")
	}
	w.refuses--
	out := claim.DeepCopy()
	w.version++
	out.Name, out.ResourceVersion, out.CreationTimestamp = "claim-"+token[:1]+fmt.Sprint(w.version), fmt.Sprint(w.version), metav1.NewTime(w.clock.Now())
	out.UID = types.UID("uid-" + out.Name)
	w.claims[out.Name] = out
	return out.DeepCopy(), nil
}

// bind does what kube-scheduler does with gangs on the nodes that are ready.
func (w *gangWorld) bind() {
	s := w.view(nil)
	s.NodePools, s.Catalogs = nil, nil
	s.Nodes = slices.DeleteFunc(slices.Clone(s.Nodes), func(n scheduling.Node) bool {
		return n.Leaving || n.Object == nil || n.Object.Labels[v1.NodeInitializedLabelKey] != "true"
	})
	for _, node := range w.solve(s).Existing {
		for _, key := range node.Pods {
			p := w.pods[types.NamespacedName(key)].DeepCopy()
			p.Spec.NodeName, p.Status = node.Name, corev1.PodStatus{Phase: corev1.PodRunning}
			w.pods[types.NamespacedName(key)] = p
		}
	}
}

// step lets a second pass.
func (w *gangWorld) step() {
	before := len(w.log)
	w.round()
	w.check(before)
	w.bind()
}

// groupBound is how long instances of a group that is not complete may be there: the time in which nodes have to join, and what ending
// them takes.
const groupBound = provisioning.DefaultGroupTimeout + time.Minute

// check looks for what is paid without use.
func (w *gangWorld) check(before int) {
	now := w.clock.Now()
	for _, c := range w.claims {
		group, ok := v1.LaunchGroupOf(c)
		if ok && !group.Kept && c.DeepCopy().Conditions().IsTrue(v1.ConditionRegistered) && !w.complete[group.Name] {
			w.complete[group.Name] = true
			if n := w.launchedOf(group.Name); n != group.Claims {
				w.r.Fatalf("group %s: a node is registered with %d of %d instances: %v", group.Name, n, group.Claims, w.log[before:])
			}
		}
	}
	for _, i := range w.cloud.Instances() {
		group, ok := v1.LaunchGroupOf(w.claimOf(i.ProviderID))
		if !ok || group.Kept || w.complete[group.Name] {
			continue
		}
		if w.paid[i.ProviderID].IsZero() {
			w.paid[i.ProviderID] = now
		}
		if paid := now.Sub(w.paid[i.ProviderID]); paid > groupBound {
			w.r.Fatalf("an instance of group %s, which is not complete, is paid for since %s", group.Name, paid)
		}
	}
	bound := map[string]int{}
	for _, p := range w.pods {
		if gang := p.Labels["kueue.x-k8s.io/pod-group-name"]; gang != "" && p.Spec.NodeName != "" {
			bound[gang]++
		}
	}
	for gang, n := range bound {
		if n < w.gangs[gang] {
			w.r.Fatalf("%d of %d members of gang %s are bound", n, w.gangs[gang], gang)
		}
	}
}

func (w *gangWorld) launchedOf(group string) (n int) {
	for _, c := range w.claims {
		if g, ok := v1.LaunchGroupOf(c); ok && g.Name == group && c.Status.ProviderID != "" {
			n++
		}
	}
	return n
}

func (w *gangWorld) claimOf(providerID string) *v1.NodeClaim {
	for _, c := range w.claims {
		if c.Status.ProviderID == providerID {
			return c
		}
	}
	return nil
}

func (w *gangWorld) waiting() (names []string) {
	for _, key := range slices.SortedFunc(maps.Keys(w.pods), func(a, b types.NamespacedName) int { return cmpText(a.Name, b.Name) }) {
		if w.pods[key].Spec.NodeName == "" {
			names = append(names, key.Name)
		}
	}
	return names
}

func cmpText(a, b string) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// Whatever is out of stock at whichever launch, wherever the process dies, and whether or not all claims can be stored: no gang runs in
// part, no node of a group is registered before all have joined, and no instance of a group that is not complete is paid for beyond the
// bound. Pods of no gang get their nodes all the same, and once there is stock so do gangs.
func TestNoGangIsPaidForInPart(t *testing.T) {
	seeded.Check(t, func(r *rapid.T) {
		w := newGangWorld(t, r, rapid.IntRange(0, 60).Draw(r, "crash"), rapid.Bool().Draw(r, "crash after"))
		w.alone = rapid.Bool().Draw(r, "one by one")
		size := rapid.IntRange(2, 5).Draw(r, "members")
		zonal := rapid.Bool().Draw(r, "in one zone")
		w.gangs["train"] = size
		for i := range size {
			w.wants(fmt.Sprintf("train-%d", i), "train", "1500m", zonal)
		}
		singles := rapid.IntRange(0, 3).Draw(r, "singles")
		for i := range singles {
			w.wants(fmt.Sprintf("single-%d", i), "", oneCPU(r), false)
		}
		never := rapid.Bool().Draw(r, "a gang that never fits")
		if never {
			w.gangs["never"] = 2
			w.wants("never-0", "never", "1500m", false)
			w.wants("never-1", "never", "64", false)
		}
		if rapid.Bool().Draw(r, "store fails") {
			w.refuses = rapid.IntRange(0, 5).Draw(r, "claims that are stored")
		}
		left := 0
		if never {
			left = 2
		}
		const lean = 120 // seconds in which stock comes and goes
		for second := 0; len(w.waiting()) > left; second++ {
			switch {
			case second > lean+int(provisioning.DefaultGroupTimeout/time.Second)+300:
				r.Fatalf("waiting in the end: %v; claims %d; last %v", w.waiting(), len(w.claims), w.log[max(0, len(w.log)-20):])
			case second == lean:
				w.cloud.SetStock(100, all)
			case second < lean && second%7 == 0:
				w.cloud.SetStock(rapid.IntRange(0, 3).Draw(r, "stock"), someOf(r))
			}
			if second%5 == 0 {
				w.pass()
			}
			w.step()
		}
	})
}

func oneCPU(r *rapid.T) string { return rapid.SampledFrom([]string{"200m", "1", "3"}).Draw(r, "cpu") }

func all(cloudprovider.OfferingKey) bool { return true }

// someOf is a part of the offerings.
func someOf(r *rapid.T) func(cloudprovider.OfferingKey) bool {
	name := rapid.SampledFrom([]string{"m1.large", "m1.xlarge", ""}).Draw(r, "type")
	zone := rapid.SampledFrom([]string{"test-region-1a", "test-region-1b", "test-region-1c", ""}).Draw(r, "zone")
	return func(k cloudprovider.OfferingKey) bool {
		return (name == "" || k.InstanceType == name) && (zone == "" || k.Zone == zone)
	}
}

package drawknife_test

import (
	"context"
	"fmt"
	"log"
	"maps"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/disruption"
	"github.com/drawknife/drawknife/fake"
	"github.com/drawknife/drawknife/fake/build"
	"github.com/drawknife/drawknife/provisioning"
	"github.com/drawknife/drawknife/scheduling"
	"github.com/drawknife/drawknife/scheduling/cluster"
)

// The whole loop of a controller, on a cloud in memory and a clock that is set: pods wait, a plan orders NodeClaims, instances come
// up and join, and when most pods have gone, disruption finds what to save. What loop does itself is what a controller does with
// the Kubernetes API: it stores objects, and it informs State of every change.
func Example_loop() {
	ctx, l := context.Background(), newLoop()
	pods := map[string]*corev1.Pod{}
	for i := range 6 {
		name := fmt.Sprintf("web-%d", i)
		pod := build.Pod(name, build.Namespace("shop"), build.UID(name), build.CPU("1500m"), build.OwnedBy("apps/v1", "ReplicaSet", "web"), build.Unschedulable())
		l.see(cluster.Upsert(pod))
		pods[pod.Name] = pod.DeepCopy() // State keeps what it was given
	}
	orders := l.plan(ctx)
	for i, claim := range l.launch(ctx, orders) {
		for l.reconcile(ctx, claim) { // each minute, until nothing is left to do
			l.clock.Advance(time.Minute)
		}
		fmt.Println(claim, "is ready:", l.claims[claim].Conditions().Ready().Status)
		for _, key := range orders.Launches[i].Pods { // kube-scheduler binds the pods
			pods[key.Name].Spec.NodeName, pods[key.Name].Status = l.nodes[claim].Name, corev1.PodStatus{Phase: corev1.PodRunning}
		}
	}
	for name, pod := range pods {
		l.see(cluster.Upsert(pod))
		if name > "web-1" { // all but two end later
			l.see(cluster.Delete(pod))
		}
	}
	l.clock.Advance(time.Hour)
	l.disrupt(ctx)
	// Output:
	// launch for 5 pods, $0.0702/h
	// launch for 1 pods, $0.0185/h
	// default-1 is ready: True
	// default-2 is ready: True
	// delete node-default-2 (Empty), moving 0 pods, saving 0.0185 USD/h
	// replace node-default-1 (Underutilized), launch c1g.large/test-region-1a/spot of default, launch c1g.large/test-region-1a/spot of default, moving 2 pods, saving 0.0333 USD/h
}

// loop is a controller's memory.
type loop struct {
	clock     *fake.SimClock
	cloud     *fake.Cloud
	state     *cluster.State
	launcher  *provisioning.Launcher
	lifecycle *provisioning.Lifecycle
	pool      *v1.NodePool
	claims    map[string]*v1.NodeClaim
	nodes     map[string]*corev1.Node // by the name of their claim
}

func newLoop() *loop {
	l := &loop{clock: fake.NewSimClock(time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)), claims: map[string]*v1.NodeClaim{}, nodes: map[string]*corev1.Node{}}
	var err error
	l.cloud, err = fake.New(fake.GenericTypes(60), fake.Options{Clock: l.clock})
	check(err)
	l.state, err = cluster.New(cluster.Options{Vocabulary: l.cloud.Describe().Vocabulary})
	check(err)
	one := 1 // l has no lock
	l.launcher, err = provisioning.NewLauncher(provisioning.LauncherOptions{Claims: l, Parallelism: &one})
	check(err)
	l.lifecycle, err = provisioning.NewLifecycle(provisioning.DefaultLifecycleOptions())
	check(err)
	pool := build.Pool("default", build.UID("pool"), build.Budget("100%"))
	pool.Default()
	class := cloudprovider.NodeClassReadiness{Status: metav1.ConditionTrue}
	l.pool = provisioning.PoolStatus(provisioning.PoolState{Pool: pool, Capabilities: l.cloud.Describe(), Class: &class}, l.clock.Now())
	l.see(cluster.Upsert(l.pool))
	return l
}

// see is what informers do.
func (l *loop) see(e cluster.Event) { check(l.state.Apply(e.At(l.clock.Now()))) }

// view is the cluster with what may be launched now.
func (l *loop) view(ctx context.Context) *cluster.View {
	set, err := provisioning.ResolvePools(ctx, l.cloud, []*v1.NodePool{l.pool}, nil, l.clock.Now())
	check(err)
	return l.state.Snapshot(cluster.Query{Time: l.clock.Now(), NodePools: set.NodePools, Catalogs: set.Catalogs})
}

// plan decides what to launch for the pods that wait.
func (l *loop) plan(ctx context.Context) *provisioning.Orders {
	snapshot := l.view(ctx).Snapshot
	model, err := scheduling.Compile(snapshot)
	check(err)
	plan, err := model.Solve(ctx, scheduling.Query{})
	check(err)
	orders, err := provisioning.Decide(snapshot, plan, provisioning.PassOptions{})
	check(err)
	return orders
}

// launch stores claims of what was ordered, and gives their names.
func (l *loop) launch(ctx context.Context, orders *provisioning.Orders) (claims []string) {
	for _, launched := range l.launcher.Launch(ctx, "pass-1", orders.Launches, l.clock.Now()).Launched {
		check(launched.Err)
		fmt.Printf("launch for %d pods, $%.4f/h\n", len(launched.Launch.Pods), launched.Launch.Price)
		claims = append(claims, launched.Claim.Name)
	}
	return claims
}

// CreateNodeClaim implements provisioning.NodeClaimCreator.
func (l *loop) CreateNodeClaim(_ context.Context, _ string, claim *v1.NodeClaim) (*v1.NodeClaim, error) {
	stored := claim.DeepCopy()
	stored.Name = fmt.Sprintf("default-%d", len(l.claims)+1)
	stored.UID, stored.CreationTimestamp = types.UID(stored.Name), metav1.NewTime(l.clock.Now())
	l.store(stored)
	return stored, nil
}

func (l *loop) store(claim *v1.NodeClaim) {
	l.claims[claim.Name] = claim
	l.see(cluster.Upsert(claim))
}

// reconcile does what a claim needs next, and reports whether that was anything.
func (l *loop) reconcile(ctx context.Context, name string) bool {
	claim, state := l.claims[name], provisioning.ClaimState{Claim: l.claims[name]}
	if l.nodes[name] == nil && claim.Status.ProviderID != "" {
		l.join(ctx, claim)
	}
	if node := l.nodes[name]; node != nil {
		state.Nodes = []*corev1.Node{node}
	}
	step := l.lifecycle.Next(state, l.clock.Now())
	for _, effect := range step.Effects {
		check(provisioning.Do(ctx, effect, effects{loop: l}))
	}
	return len(step.Effects) > 0
}

// effects carries out what the loop's claims ask for. This example needs three kinds; a controller has them all, and leaves RefuseEffects out,
// so that one that is new does not compile without.
type effects struct {
	provisioning.RefuseEffects
	*loop
}

func (l effects) PutClaim(_ context.Context, e provisioning.PutClaim) error {
	l.store(e.Claim.DeepCopy())
	return nil
}

func (l effects) PutNode(_ context.Context, e provisioning.PutNode) error {
	l.put(e.Node.DeepCopy())
	return nil
}

func (l effects) CreateInstance(ctx context.Context, e provisioning.CreateInstance) error {
	answer, err := e.Launch(ctx, l.cloud)
	for _, next := range l.lifecycle.Created(e.Claim, answer, err, l.clock.Now()).Effects {
		check(provisioning.Do(ctx, next, l))
	}
	return nil
}

// join is what the kubelet of a new instance does.
func (l *loop) join(ctx context.Context, claim *v1.NodeClaim) {
	instance, err := l.cloud.Get(ctx, claim.Status.ProviderID)
	check(err)
	name := "node-" + claim.Name
	node := build.Node(name, build.UID(name), build.Created(l.clock.Now()), build.ProviderID(claim.Status.ProviderID), build.Taints(v1.UnregisteredTaintKey+":NoExecute"))
	maps.Copy(node.Labels, instance.Labels)
	node.Status.Capacity, node.Status.Allocatable = instance.Status.Capacity, instance.Status.Allocatable
	l.put(node)
}

func (l *loop) put(node *corev1.Node) {
	l.nodes[strings.TrimPrefix(node.Name, "node-")] = node
	l.see(cluster.Upsert(node))
}

// disrupt prints what is worth doing; disruption.Queue and Execution carry commands out.
func (l *loop) disrupt(ctx context.Context) {
	fleet, err := disruption.Survey(disruption.Input{View: l.view(ctx)})
	check(err)
	one := 1
	plan, err := (&disruption.Global{SpotToSpot: true, SpotToSpotTypes: &one}).Plan(ctx, fleet)
	check(err)
	for _, command := range plan.Commands {
		fmt.Println(command)
	}
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

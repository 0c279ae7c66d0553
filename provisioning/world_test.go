package provisioning_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/fake"
	"github.com/drawknife/drawknife/provisioning"
)

// world is an API server, a cloud and a controller in memory. The controller remembers nothing between rounds, and can be
// made to crash at any effect: before it is done, or after it is done and before its answer is seen.
type world struct {
	t         *testing.T
	clock     *fake.SimClock
	cloud     *fake.Cloud
	lifecycle *provisioning.Lifecycle
	estimate  *provisioning.StockEstimate
	claims    map[string]*v1.NodeClaim
	nodes     map[string]*corev1.Node
	pods      map[types.NamespacedName]*corev1.Pod
	version   int
	// done counts effects; crashAt is the one at which the controller crashes, and answered whether that one is done.
	done, crashAt int
	answered      bool
	crashed       bool
	log           []string
	// vanish takes an object away before the effect vanishAt is done; nil for none. vanished says that it did.
	vanish   func(*world)
	vanishAt int
	vanished bool
	// alone hides from the controller that the cloud can launch groups.
	alone bool
	// garbage is what the collector did.
	garbage []string
}

// provider is the cloud as the controller launches on it.
func (w *world) provider() cloudprovider.CloudProvider {
	if w.alone {
		return struct{ cloudprovider.CloudProvider }{w.cloud}
	}
	return w.cloud
}

// errGone is a write to an object that is not there any more.
var errGone = errors.New("gone")

// errCrash ends a round.
var errCrash = errors.New("crash")

func newWorld(t *testing.T, crashAt int, answered bool) *world {
	w := &world{
		t: t, clock: fake.NewSimClock(start), lifecycle: newLifecycle(t, provisioning.DefaultLifecycleOptions()),
		claims: map[string]*v1.NodeClaim{}, nodes: map[string]*corev1.Node{}, pods: map[types.NamespacedName]*corev1.Pod{},
		crashAt: crashAt, answered: answered,
	}
	cloud, err := fake.New(fake.GenericTypes(8), fake.Options{
		Clock: w.clock, LaunchLatency: 3 * time.Second, ShutdownLatency: 4 * time.Second,
		OnLaunch: func(i fake.Instance) {
			node := i.Node()
			node.UID = types.UID("node-" + i.ProviderID)
			w.store(node)
		},
		OnTerminate: func(i fake.Instance) { // its kubelet is heard of no more
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
	w.cloud = cloud
	return w
}

func (w *world) store(node *corev1.Node) {
	w.version++
	node.ResourceVersion = strconv.Itoa(w.version)
	w.nodes[node.Name] = node
}

func (w *world) order(name string) {
	claim := &v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{
		Name: name, UID: types.UID("uid-" + name), CreationTimestamp: metav1.Time{Time: w.clock.Now()},
		Labels: map[string]string{v1.NodePoolLabelKey: "default"},
	}}
	w.version++
	claim.ResourceVersion = strconv.Itoa(w.version)
	w.claims[name] = claim
}

// round lets the controller look at everything once, and the world go on by a second.
func (w *world) round() {
	for _, name := range slices.Sorted(maps.Keys(w.claims)) {
		if err := w.reconcileClaim(name); errors.Is(err, errCrash) {
			break // what was in memory is lost
		}
	}
	for _, name := range slices.Sorted(maps.Keys(w.nodes)) {
		if err := w.reconcileNode(name); errors.Is(err, errCrash) {
			break
		}
	}
	w.clock.Advance(time.Second)
	w.cloud.Settle()
}

func (w *world) nodesOf(claim *v1.NodeClaim) []*corev1.Node {
	var list []*corev1.Node
	for _, n := range w.nodes {
		if n.Spec.ProviderID == claim.Status.ProviderID {
			list = append(list, n)
		}
	}
	return list
}

func (w *world) reconcileClaim(name string) error {
	var term provisioning.ClaimTermination
	var gates map[string]provisioning.GateAnswer
	for range 20 {
		claim := w.claims[name]
		if claim == nil {
			return nil
		}
		var step provisioning.Step
		if claim.DeletionTimestamp != nil {
			term.Claim, term.Nodes = claim, w.nodesOf(claim)
			step = provisioning.TerminateClaim(term, w.clock.Now())
		} else {
			step = w.lifecycle.Next(provisioning.ClaimState{Claim: claim, Nodes: w.nodesOf(claim), Group: slices.Collect(maps.Values(w.claims)), HasGates: true, Gates: gates}, w.clock.Now())
		}
		if len(step.Effects) == 0 {
			return nil
		}
		term, gates = provisioning.ClaimTermination{}, nil
		for _, effect := range step.Effects {
			answer, err := w.do(effect)
			if errors.Is(err, errGone) {
				break // the rest of the step was decided on what is no more
			}
			if err != nil {
				return err
			}
			switch answer := answer.(type) {
			case provisioning.InstanceState:
				term.Instance = answer
			case string:
				term.Searched, term.Found = true, answer
			case map[string]provisioning.GateAnswer:
				gates = answer
			case provisioning.Step:
				for _, e := range answer.Effects {
					if _, err := w.do(e); err != nil && !errors.Is(err, errGone) {
						return err
					}
				}
				if answer.Again > 0 {
					return nil
				}
			}
		}
	}
	w.t.Fatalf("claim %s never settles: %v", name, w.log[max(0, len(w.log)-10):])
	return nil
}

func (w *world) reconcileNode(name string) error {
	state := provisioning.InstanceUnasked
	for range 20 {
		node := w.nodes[name]
		if node == nil {
			return nil
		}
		s := provisioning.NodeTermination{Node: node, Instance: state, DrainingSince: w.clock.Now().Add(-time.Hour)}
		for _, c := range w.claims {
			if c.Status.ProviderID == node.Spec.ProviderID {
				s.Claims = append(s.Claims, c)
			}
		}
		for _, p := range w.pods {
			if p.Spec.NodeName == name {
				s.Pods = append(s.Pods, p)
			}
		}
		step := provisioning.TerminateNode(s, w.clock.Now())
		if len(step.Effects) == 0 {
			return nil
		}
		state = provisioning.InstanceUnasked
		for _, effect := range step.Effects {
			answer, err := w.do(effect)
			if errors.Is(err, errGone) {
				break
			}
			if err != nil {
				return err
			}
			if got, ok := answer.(provisioning.InstanceState); ok {
				state = got
			}
		}
		if step.Again > 0 && state != provisioning.InstanceGone {
			return nil
		}
	}
	w.t.Fatalf("node %s never settles: %v", name, w.log[max(0, len(w.log)-10):])
	return nil
}

// do carries out one effect, unless the controller crashes at it.
func (w *world) do(effect provisioning.Effect) (any, error) {
	crash := !w.crashed && w.done == w.crashAt
	if w.vanish != nil && !w.vanished && w.done == w.vanishAt {
		w.vanished = true
		w.log = append(w.log, "(vanishes)")
		w.vanish(w)
	}
	w.done++
	if crash && !w.answered {
		w.crashed = true
		return nil, errCrash
	}
	w.log = append(w.log, effect.String())
	answer, err := w.carryOut(effect)
	if crash {
		w.crashed = true
		return nil, errCrash
	}
	return answer, err
}

func (w *world) carryOut(effect provisioning.Effect) (any, error) {
	ctx := context.Background()
	switch e := effect.(type) {
	case provisioning.PutClaim:
		err := w.putClaim(e.Claim)
		if errors.Is(err, errGone) {
			for _, instead := range e.IfGone {
				if _, err := w.carryOut(instead); err != nil {
					return nil, err
				}
			}
		}
		return nil, err
	case provisioning.PutNode:
		return nil, w.putNode(e.Node)
	case provisioning.DeleteClaim:
		w.deleteClaim(e.Name)
	case provisioning.DeleteNode:
		if n := w.nodes[e.Name]; n != nil && n.DeletionTimestamp == nil {
			n.DeletionTimestamp = &metav1.Time{Time: w.clock.Now()}
			if len(n.Finalizers) == 0 {
				delete(w.nodes, e.Name)
			}
		}
	case provisioning.CreateInstance:
		instance, err := e.Launch(ctx, w.provider())
		provisioning.Feedback(err, w.estimate, w.clock.Now())
		return w.lifecycle.Created(e.Claim, instance, err, w.clock.Now()), nil
	case provisioning.AskGates:
		result, err := w.cloud.Registered(ctx, e.Claim)
		return map[string]provisioning.GateAnswer{"fake": {GateResult: result, Err: err}}, nil
	case provisioning.TerminateInstance:
		if err := w.cloud.Delete(ctx, e.Claim); cloudprovider.IsNodeClaimNotFound(err) {
			return provisioning.InstanceGone, nil
		}
		return provisioning.InstanceEnding, nil
	case provisioning.AskInstance:
		if _, err := w.cloud.Get(ctx, e.Claim.Status.ProviderID); cloudprovider.IsNodeClaimNotFound(err) {
			return provisioning.InstanceGone, nil
		}
		return provisioning.InstanceThere, nil
	case provisioning.FindInstance:
		instances, err := w.cloud.List(ctx)
		if err != nil {
			return nil, err
		}
		for _, m := range instances {
			if m.UID == e.Claim.UID {
				return m.Status.ProviderID, nil
			}
		}
		return "", nil
	case provisioning.EvictPod:
		delete(w.pods, e.Key)
	case provisioning.DeletePod:
		delete(w.pods, e.Key)
	default:
		return nil, fmt.Errorf("unknown effect %T", effect)
	}
	return nil, nil
}

func (w *world) putClaim(claim *v1.NodeClaim) error {
	stored := w.claims[claim.Name]
	if stored == nil {
		return errGone
	}
	if stored.ResourceVersion != claim.ResourceVersion {
		return errors.New("conflict")
	}
	out := claim.DeepCopy()
	w.version++
	out.ResourceVersion = strconv.Itoa(w.version)
	if out.DeletionTimestamp != nil && len(out.Finalizers) == 0 {
		delete(w.claims, out.Name)
		return nil
	}
	w.claims[out.Name] = out
	return nil
}

func (w *world) putNode(node *corev1.Node) error {
	stored := w.nodes[node.Name]
	if stored == nil {
		return errGone
	}
	if stored.ResourceVersion != node.ResourceVersion {
		return errors.New("conflict")
	}
	out := node.DeepCopy()
	if out.DeletionTimestamp != nil && len(out.Finalizers) == 0 {
		delete(w.nodes, out.Name)
		return nil
	}
	w.store(out)
	return nil
}

func (w *world) deleteClaim(name string) {
	c := w.claims[name]
	switch {
	case c == nil || c.DeletionTimestamp != nil:
	case len(c.Finalizers) == 0:
		delete(w.claims, name)
	default:
		out := c.DeepCopy()
		out.DeletionTimestamp = &metav1.Time{Time: w.clock.Now()}
		w.version++
		out.ResourceVersion = strconv.Itoa(w.version)
		w.claims[name] = out
	}
}

// collect runs the garbage collector once, on what there is.
func (w *world) collect() {
	instances, err := w.cloud.List(context.Background())
	if err != nil {
		w.t.Fatal(err)
	}
	s := provisioning.GarbageState{Instances: instances, Claims: slices.Collect(maps.Values(w.claims)), Nodes: slices.Collect(maps.Values(w.nodes))}
	for _, g := range provisioning.CollectGarbage(s, w.clock.Now()) {
		for _, e := range g.Collect(s, w.clock.Now()).Effects {
			if _, err := w.carryOut(e); err != nil {
				w.t.Fatal(err)
			}
			w.garbage = append(w.garbage, e.String())
		}
	}
}

func (w *world) settle(rounds int, what string, until func() bool) {
	w.t.Helper()
	for i := range rounds {
		if until() {
			return
		}
		w.round()
		if i%30 == 29 {
			w.collect()
		}
	}
	w.t.Fatalf("crash at effect %d (done: %t): %s not reached: claims %v nodes %v instances %d; last %v", w.crashAt, w.answered, what,
		slices.Collect(maps.Keys(w.claims)), slices.Collect(maps.Keys(w.nodes)), len(w.cloud.Instances()), w.log[max(0, len(w.log)-12):])
}

func (w *world) up() bool {
	for _, c := range w.claims {
		if !c.DeepCopy().Conditions().IsTrue(v1.ConditionInitialized) {
			return false
		}
	}
	return true
}

func (w *world) empty() bool {
	return len(w.claims) == 0 && len(w.nodes) == 0 && len(w.cloud.Instances()) == 0 && len(w.pods) == 0
}

// eachCrash runs the story with a crash at each effect that it has, before and after it is done, until a run has
// come to its end without one; it has at least so many.
func eachCrash(t *testing.T, least int, story func(*world)) {
	t.Helper()
	for _, answered := range []bool{false, true} {
		for at := 0; ; at++ {
			w := newWorld(t, at, answered)
			story(w)
			if !w.crashed {
				if at < least {
					t.Fatalf("the story has %d effects, too few to say anything", at)
				}
				break
			}
		}
	}
}

// PRV-050, PRV-051, PRV-065, PRV-066, OPP-41: whatever the moment of a crash, each claim gets one instance, and when the
// claims are deleted nothing is left.
func TestCrashAtEveryStep(t *testing.T) {
	eachCrash(t, 20, func(w *world) {
		w.order("a")
		w.order("b")
		w.settle(60, "two nodes that are up", w.up)
		if n := len(w.cloud.Instances()); n != 2 {
			w.t.Fatalf("crash at effect %d (done: %t): %d instances for two claims: %v", w.crashAt, w.answered, n, w.log)
		}
		for name := range w.nodes {
			key := types.NamespacedName{Namespace: "default", Name: "on-" + name}
			p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name, UID: types.UID(key.Name)}}
			p.Spec.NodeName = name
			w.pods[key] = p
		}
		w.deleteClaim("a")
		w.deleteClaim("b")
		w.settle(120, "nothing left", w.empty)
	})
}

// A claim that is deleted at any moment of its launch leaves no instance behind, even if its launch was never answered.
func TestDeletedWhileLaunching(t *testing.T) {
	for rounds := 1; rounds < 12; rounds++ {
		eachCrash(t, 4, func(w *world) {
			w.order("a")
			for range rounds {
				w.round()
			}
			w.deleteClaim("a")
			w.settle(120, fmt.Sprintf("nothing left after %d rounds", rounds), w.empty)
		})
	}
}

// A claim whose object was removed by force leaves an instance that garbage collection finds; and a claim whose instance has
// vanished is collected too (PRV-081).
func TestGarbageBothWays(t *testing.T) {
	w := newWorld(t, -1, false)
	w.order("a")
	w.order("b")
	w.settle(60, "two nodes that are up", w.up)
	delete(w.claims, "a") // its finalizer was removed by hand
	for name, n := range w.nodes {
		if n.Labels[v1.NodePoolLabelKey] != "default" {
			t.Errorf("node %s lacks its pool's label", name)
		}
	}
	w.collect()
	if n := len(w.cloud.Instances()); n != 2 {
		t.Fatalf("%d instances: one was collected before it is old enough", n)
	}
	w.clock.Advance(time.Minute)
	w.collect()
	w.clock.Advance(time.Minute)
	w.cloud.Settle()
	if n := len(w.cloud.Instances()); n != 1 {
		t.Errorf("%d instances, want that of b alone", n)
	}
	var b *v1.NodeClaim
	for _, c := range w.claims {
		b = c
	}
	if err := w.cloud.Delete(t.Context(), b); err != nil { // taken away by hand
		t.Fatal(err)
	}
	w.clock.Advance(time.Minute)
	w.cloud.Settle()
	for _, n := range w.nodes { // as if its kubelet were still heard of
		if n.Spec.ProviderID == b.Status.ProviderID {
			n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
		}
	}
	w.collect()
	if w.claims["b"].DeletionTimestamp != nil {
		t.Error("collected though its node is ready")
	}
	for _, n := range w.nodes {
		n.Status.Conditions = nil
	}
	w.collect()
	if w.claims["b"].DeletionTimestamp == nil {
		t.Error("a claim without an instance stays")
	}
}

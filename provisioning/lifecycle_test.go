package provisioning_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/drawknife/drawknife/api/option"
	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/fake/build"
	"github.com/drawknife/drawknife/provisioning"
)

func newLifecycle(t *testing.T, o provisioning.LifecycleOptions) *provisioning.Lifecycle {
	t.Helper()
	l, err := provisioning.NewLifecycle(o)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// testClaim was made at start and has its finalizer.
func testClaim(edit ...func(*v1.NodeClaim)) *v1.NodeClaim {
	c := build.Claim("default-1", build.UID("claim-uid"), build.Created(start), build.Finalizers(v1.TerminationFinalizer),
		build.OfPool("default"), build.Labels("team", "a"), build.Annotations("who", "claim", "mine", "x"), build.Taints("dedicated=web:NoSchedule"))
	c.Spec.StartupTaints = []corev1.Taint{build.Taint("cni:NoExecute")}
	c.Spec.Resources.Requests = build.Amounts("cpu", "1", "example.com/gpu", "1")
	for _, e := range edit {
		e(c)
	}
	return c
}

func launchedAt(when time.Time) func(*v1.NodeClaim) {
	return func(c *v1.NodeClaim) {
		c.Status.ProviderID = "sim:///1"
		c.Conditions().SetTrue(v1.ConditionLaunched, when)
	}
}

func registeredAt(when time.Time) func(*v1.NodeClaim) {
	return func(c *v1.NodeClaim) {
		launchedAt(when)(c)
		c.Status.NodeName = "node-1"
		c.Conditions().SetTrue(v1.ConditionRegistered, when)
	}
}

// testJoined is the claim's node as it joins.
func testJoined(edit ...func(*corev1.Node)) *corev1.Node {
	n := build.Node("node-1", build.UID("node-uid"), build.ProviderID("sim:///1"))
	n.Labels, n.Status.Conditions = map[string]string{"team": "boot", "kubelet": "x"}, nil
	n.Spec.Taints = []corev1.Taint{v1.UnregisteredTaint(), build.Taint(corev1.TaintNodeNotReady)}
	for _, e := range edit {
		e(n)
	}
	return n
}

// readyNode is registered and has all that is asked of it.
func readyNode(edit ...func(*corev1.Node)) *corev1.Node {
	return testJoined(append([]func(*corev1.Node){func(n *corev1.Node) {
		n.Spec.Taints = []corev1.Taint{{Key: "dedicated", Value: "web", Effect: corev1.TaintEffectNoSchedule}}
		n.Labels[v1.NodeRegisteredLabelKey] = "true"
		n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
		n.Status.Allocatable = build.Amounts("cpu", "4", "example.com/gpu", "1")
	}}, edit...)...)
}

func texts(effects []provisioning.Effect) []string {
	var list []string
	for _, e := range effects {
		list = append(list, e.String())
	}
	return list
}

func storedClaim(t *testing.T, step provisioning.Step) *v1.NodeClaim {
	t.Helper()
	for _, e := range step.Effects {
		if put, ok := e.(provisioning.PutClaim); ok {
			return put.Claim
		}
	}
	t.Fatalf("no claim is stored by %v", texts(step.Effects))
	return nil
}

func storedNode(t *testing.T, step provisioning.Step) *corev1.Node {
	t.Helper()
	for _, e := range step.Effects {
		if put, ok := e.(provisioning.PutNode); ok {
			return put.Node
		}
	}
	t.Fatalf("no node is stored by %v", texts(step.Effects))
	return nil
}

// PRV-050: the finalizer is stored before anything is launched.
func TestFinalizerFirst(t *testing.T) {
	l := newLifecycle(t, provisioning.DefaultLifecycleOptions())
	bare := testClaim(func(c *v1.NodeClaim) { c.Finalizers = []string{"example.com/other"} })
	step := l.Next(provisioning.ClaimState{Claim: bare}, at(1))
	if diff := cmp.Diff([]string{"put nodeclaim default-1"}, texts(step.Effects)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"example.com/other", v1.TerminationFinalizer}, storedClaim(t, step).Finalizers); diff != "" {
		t.Error(diff)
	}
	step = l.Next(provisioning.ClaimState{Claim: storedClaim(t, step)}, at(1))
	if diff := cmp.Diff([]string{"create instance of default-1"}, texts(step.Effects)); diff != "" {
		t.Error(diff)
	}
	deleted := testClaim(func(c *v1.NodeClaim) { c.DeletionTimestamp = &metav1.Time{Time: start} })
	if step := l.Next(provisioning.ClaimState{Claim: deleted}, at(1)); len(step.Effects) != 0 {
		t.Errorf("a claim that is being deleted: %v", texts(step.Effects))
	}
}

// PRV-052: what is taken over from the provider's answer.
func TestLaunched(t *testing.T) {
	l := newLifecycle(t, provisioning.DefaultLifecycleOptions())
	answer := &v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{
		Labels: map[string]string{"team": "provider", "zone": "a"}, Annotations: map[string]string{"who": "provider", "image": "y"},
	}}
	answer.Status.ProviderID, answer.Status.ImageID = "sim:///1", "image-1"
	answer.Status.Capacity = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("4")}
	answer.Status.Allocatable = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("3")}
	got := storedClaim(t, l.Created(testClaim(), answer, nil, at(1)))
	if diff := cmp.Diff(map[string]string{v1.NodePoolLabelKey: "default", "team": "a", "zone": "a"}, got.Labels); diff != "" {
		t.Errorf("the claim's labels count (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]string{"who": "provider", "mine": "x", "image": "y"}, got.Annotations); diff != "" {
		t.Errorf("the provider's annotations count (-want +got):\n%s", diff)
	}
	if got.Status.ProviderID != "sim:///1" || got.Status.ImageID != "image-1" || !got.Conditions().IsTrue(v1.ConditionLaunched) {
		t.Errorf("%+v", got.Status)
	}
	if diff := cmp.Diff(answer.Status.Capacity, got.Status.Capacity) + cmp.Diff(answer.Status.Allocatable, got.Status.Allocatable); diff != "" {
		t.Error(diff)
	}
}

// PRV-053 to PRV-056, PRV-180: every fault of a launch has a named outcome.
func TestLaunchFaults(t *testing.T) {
	cause := errors.New("the cloud says no")
	for name, c := range map[string]struct {
		err     error
		age     float64
		effects string
		reason  string
		again   time.Duration
		planNow bool
	}{
		"PRV-053: insufficient capacity":   {err: cloudprovider.NewInsufficientCapacityError(cause), effects: "delete nodeclaim default-1 (insufficient_capacity)", planNow: true},
		"quota":                            {err: cloudprovider.NewQuotaExceededError("vCPUs", cause), effects: "delete nodeclaim default-1 (insufficient_capacity)", planNow: true},
		"PRV-054: node class not ready":    {err: cloudprovider.NewNodeClassNotReadyError("default", "no role", cause), effects: "delete nodeclaim default-1 (nodeclass_not_ready)", planNow: true},
		"PRV-055: create error":            {err: cloudprovider.NewCreateError("AMINotFound", "no image", cause), age: 4, effects: "put nodeclaim default-1", reason: "AMINotFound", again: 4 * time.Second},
		"PRV-056: untyped":                 {err: cause, age: 0.1, effects: "put nodeclaim default-1", reason: "LaunchFailed", again: time.Second},
		"PRV-050: back-off at most 60 s":   {err: cause, age: 200, effects: "put nodeclaim default-1", reason: "LaunchFailed", again: time.Minute},
		"throttled":                        {err: cloudprovider.NewThrottledError("CreateFleet", 7*time.Second, cause), effects: "put nodeclaim default-1", reason: "LaunchFailed", again: 7 * time.Second},
		"unauthorized":                     {err: cloudprovider.NewUnauthorizedError("ec2:CreateFleet", cause), effects: "put nodeclaim default-1", reason: "Unauthorized", again: time.Minute},
		"permanent":                        {err: cloudprovider.NewPermanentError(cause), age: 60, effects: "put nodeclaim default-1", reason: "Permanent", again: 4 * time.Minute},
		"no error, and no instance either": {effects: "put nodeclaim default-1", reason: "LaunchFailed", again: time.Second},
	} {
		l := newLifecycle(t, provisioning.DefaultLifecycleOptions())
		step := l.Created(testClaim(), nil, c.err, at(c.age))
		if got := strings.Join(texts(step.Effects), ","); got != c.effects || step.Again != c.again {
			t.Errorf("%s: %s, again in %s", name, got, step.Again)
			continue
		}
		if c.reason != "" {
			launched := storedClaim(t, step).Conditions().Get(v1.ConditionLaunched)
			if launched.Status != metav1.ConditionUnknown || launched.Reason != c.reason || len(launched.Message) > 300 {
				t.Errorf("%s: %+v", name, launched)
			}
		}
		if got := provisioning.Feedback(c.err, nil, start); got != c.planNow {
			t.Errorf("%s: plan at once: %t", name, got)
		}
	}
}

// A request that is at fault itself is not repeated; the claim waits for its time-out.
func TestPermanentFaultIsNotRepeated(t *testing.T) {
	l := newLifecycle(t, provisioning.DefaultLifecycleOptions())
	failed := storedClaim(t, l.Created(testClaim(), nil, cloudprovider.NewPermanentError(errors.New("no such shape")), at(1)))
	if step := l.Next(provisioning.ClaimState{Claim: failed}, at(2)); len(step.Effects) != 0 || step.Again != 298*time.Second {
		t.Errorf("%v, again in %s", texts(step.Effects), step.Again)
	}
}

// PRV-056: a message of any length and bytes fits a condition.
func TestLongMessages(t *testing.T) {
	l := newLifecycle(t, provisioning.DefaultLifecycleOptions())
	got := storedClaim(t, l.Created(testClaim(), nil, errors.New(strings.Repeat("ü", 400)), at(1))).Conditions().Get(v1.ConditionLaunched).Message
	if len(got) > 300 || !strings.HasPrefix(got, "ü") || strings.ContainsRune(got, '\uFFFD') {
		t.Errorf("%d bytes: %q", len(got), got)
	}
}

// OPP: what one launch finds out is known to the next plan.
func TestFeedback(t *testing.T) {
	estimate, key := newEstimate(t), spot("m5.large", "a")
	if !provisioning.Feedback(cloudprovider.NewInsufficientCapacityError(nil, key), estimate, start) {
		t.Error("not planned at once")
	}
	if p := estimate.Probability(key, start); p > 0.1 {
		t.Errorf("still believed in: %v", p)
	}
}

// PRV-061: who takes too long is given up.
func TestLiveness(t *testing.T) {
	for name, c := range map[string]struct {
		claim  *v1.NodeClaim
		nodes  []*corev1.Node
		change func(*provisioning.LifecycleOptions)
		before float64 // seconds after creation at which it is not given up yet
		want   string
	}{
		"PRV-061: not launched":                          {claim: testClaim(), before: 299.9, want: "delete nodeclaim default-1 (launch_timeout)"},
		"PRV-061: the provider's time-out":               {claim: testClaim(), change: func(o *provisioning.LifecycleOptions) { o.LaunchTimeout = time.Hour }, before: 3599.9, want: "delete nodeclaim default-1 (launch_timeout)"},
		"PRV-061: not registered, counted from creation": {claim: testClaim(launchedAt(at(290))), before: 899.9, want: "delete nodeclaim default-1 (registration_timeout)"},
		"OPP-34: not initialised": {
			claim: testClaim(registeredAt(at(100))), nodes: []*corev1.Node{testJoined()},
			change: func(o *provisioning.LifecycleOptions) { o.InitializationTimeout = 10 * time.Minute }, before: 699.9, want: "delete nodeclaim default-1 (initialization_timeout)",
		},
	} {
		options := provisioning.DefaultLifecycleOptions()
		if c.change != nil {
			c.change(&options)
		}
		l := newLifecycle(t, options)
		state := provisioning.ClaimState{Claim: c.claim, Nodes: c.nodes}
		early := l.Next(state, at(c.before))
		if got := strings.Join(texts(early.Effects), ","); strings.Contains(got, "delete") {
			t.Errorf("%s: too early: %s", name, got)
		}
		if len(c.nodes) > 0 && early.Again.Round(time.Millisecond) != 100*time.Millisecond {
			t.Errorf("%s: asks again in %s", name, early.Again)
		}
		if got := strings.Join(texts(l.Next(state, at(c.before+0.1)).Effects), ","); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
	l := newLifecycle(t, provisioning.DefaultLifecycleOptions())
	if step := l.Next(provisioning.ClaimState{Claim: testClaim(registeredAt(at(1))), Nodes: []*corev1.Node{testJoined()}}, at(1e6)); strings.Contains(fmt.Sprint(texts(step.Effects)), "delete") || step.Again != 0 {
		t.Errorf("PRV-060: there is no initialisation time-out unless asked for: %v, again in %s", texts(step.Effects), step.Again)
	}
}

// PRV-057: which node is the claim's.
func TestRegistrationFindsItsNode(t *testing.T) {
	l := newLifecycle(t, provisioning.DefaultLifecycleOptions())
	claim := testClaim(launchedAt(at(1)))
	step := l.Next(provisioning.ClaimState{Claim: claim}, at(2))
	if got := storedClaim(t, step).Conditions().Get(v1.ConditionRegistered); got.Status != metav1.ConditionUnknown || got.Reason != "NodeNotFound" {
		t.Errorf("none: %+v", got)
	}
	two := testJoined()
	two.Name = "node-2"
	step = l.Next(provisioning.ClaimState{Claim: claim, Nodes: []*corev1.Node{two, testJoined()}}, at(2))
	got := storedClaim(t, step).Conditions().Get(v1.ConditionRegistered)
	if got.Status != metav1.ConditionFalse || got.Reason != "MultipleNodesFound" || !strings.Contains(got.Message, "node-1, node-2") {
		t.Errorf("two: %+v", got)
	}
	again := l.Next(provisioning.ClaimState{Claim: storedClaim(t, step), Nodes: []*corev1.Node{two, testJoined()}}, at(3))
	if len(again.Effects) != 0 {
		t.Errorf("what is stored is stored again: %v", texts(again.Effects))
	}
	bare := testJoined(func(n *corev1.Node) { n.Spec.Taints = nil })
	step = l.Next(provisioning.ClaimState{Claim: claim, Nodes: []*corev1.Node{bare}}, at(2))
	if len(step.Events) != 1 || step.Events[0].Reason != provisioning.EventUnregisteredTaintMissing || len(step.Effects) != 2 {
		t.Errorf("without the taint: %+v %v", step.Events, texts(step.Effects))
	}
}

// PRV-058, PRV-059: what is put on the node, then on the claim.
func TestRegistration(t *testing.T) {
	l := newLifecycle(t, provisioning.DefaultLifecycleOptions())
	step := l.Next(provisioning.ClaimState{Claim: testClaim(launchedAt(at(1))), Nodes: []*corev1.Node{testJoined()}}, at(2))
	if diff := cmp.Diff([]string{"put node node-1", "put nodeclaim default-1"}, texts(step.Effects)); diff != "" {
		t.Fatalf("the node first (-want +got):\n%s", diff)
	}
	node, claim := storedNode(t, step), storedClaim(t, step)
	wantLabels := map[string]string{v1.NodePoolLabelKey: "default", "team": "a", "kubelet": "x", v1.NodeRegisteredLabelKey: "true"}
	if diff := cmp.Diff(wantLabels, node.Labels); diff != "" {
		t.Errorf("labels (-want +got):\n%s", diff)
	}
	if node.Annotations["mine"] != "x" || node.Finalizers[0] != v1.TerminationFinalizer || node.OwnerReferences[0].UID != "claim-uid" || node.OwnerReferences[0].Kind != "NodeClaim" {
		t.Errorf("%+v", node.ObjectMeta)
	}
	var taints []string
	for _, taint := range node.Spec.Taints {
		taints = append(taints, taint.Key)
	}
	if diff := cmp.Diff([]string{corev1.TaintNodeNotReady, "dedicated", "cni"}, taints); diff != "" {
		t.Errorf("taints (-want +got):\n%s", diff)
	}
	if !claim.Conditions().IsTrue(v1.ConditionRegistered) || claim.Status.NodeName != "node-1" {
		t.Errorf("%+v", claim.Status)
	}
	left := testJoined(func(n *corev1.Node) { n.Labels[v1.NodeDoNotSyncTaintsLabelKey] = "true" })
	node = storedNode(t, l.Next(provisioning.ClaimState{Claim: testClaim(launchedAt(at(1))), Nodes: []*corev1.Node{left}}, at(2)))
	if len(node.Spec.Taints) != 1 {
		t.Errorf("PRV-058: taints of a node that wants to be left alone: %v", node.Spec.Taints)
	}
}

// PRV-059: gates hold registration, the one that wants to be asked first counts, and the node is synced before.
func TestGates(t *testing.T) {
	l := newLifecycle(t, provisioning.DefaultLifecycleOptions())
	state := provisioning.ClaimState{Claim: testClaim(launchedAt(at(1))), Nodes: []*corev1.Node{testJoined()}, HasGates: true}
	step := l.Next(state, at(2))
	if diff := cmp.Diff([]string{"put node node-1", "ask gates of default-1"}, texts(step.Effects)); diff != "" {
		t.Fatalf("(-want +got):\n%s", diff)
	}
	if !cmp.Equal(storedNode(t, step).Spec.Taints[0], v1.UnregisteredTaint()) {
		t.Error("the taint is taken off before the gates are open")
	}
	state.Nodes = []*corev1.Node{storedNode(t, step)}
	state.Gates = map[string]provisioning.GateAnswer{
		"slow":   {GateResult: cloudprovider.GateResult{RetryAfter: time.Minute, Reason: "partition"}},
		"quick":  {GateResult: cloudprovider.GateResult{RetryAfter: 3 * time.Second}},
		"broken": {Err: errors.New("no answer")},
		"open":   {GateResult: cloudprovider.GateResult{Open: true}},
	}
	step = l.Next(state, at(3))
	got := storedClaim(t, step).Conditions().Get(v1.ConditionRegistered)
	if got.Reason != "RegistrationHookPending" || got.Message != "waiting for broken (no answer), quick, slow (partition)" || step.Again != 3*time.Second {
		t.Errorf("%+v, again in %s", got, step.Again)
	}
	state.Gates = map[string]provisioning.GateAnswer{"open": {GateResult: cloudprovider.GateResult{Open: true}}}
	step = l.Next(state, at(4))
	if !storedClaim(t, step).Conditions().IsTrue(v1.ConditionRegistered) {
		t.Errorf("not registered: %v", texts(step.Effects))
	}
}

// PRV-060, SCH-053: what keeps a node from being initialised.
func TestInitialization(t *testing.T) {
	l := newLifecycle(t, provisioning.DefaultLifecycleOptions())
	claim := testClaim(registeredAt(at(1)))
	for name, c := range map[string]struct {
		nodes  []*corev1.Node
		reason string
	}{
		"PRV-060: gone":            {nil, "NodeNotFound"},
		"PRV-060: not ready":       {[]*corev1.Node{readyNode(func(n *corev1.Node) { n.Status.Conditions = nil })}, "NodeNotReady"},
		"PRV-060: start-up taint":  {[]*corev1.Node{readyNode(func(n *corev1.Node) { n.Spec.Taints = claim.Spec.StartupTaints })}, "StartupTaintsExist"},
		"PRV-060: ephemeral taint": {[]*corev1.Node{readyNode(func(n *corev1.Node) { n.Spec.Taints = []corev1.Taint{{Key: "readiness.k8s.io/x"}} })}, "KnownEphemeralTaintsExist"},
		"PRV-060: device missing":  {[]*corev1.Node{readyNode(func(n *corev1.Node) { delete(n.Status.Allocatable, "example.com/gpu") })}, "ResourceNotRegistered"},
	} {
		step := l.Next(provisioning.ClaimState{Claim: claim, Nodes: c.nodes}, at(2))
		if got := storedClaim(t, step).Conditions().Get(v1.ConditionInitialized); got.Reason != c.reason || got.Status != metav1.ConditionUnknown || got.Message == "" {
			t.Errorf("%s: %+v", name, got)
		}
	}
	step := l.Next(provisioning.ClaimState{Claim: claim, Nodes: []*corev1.Node{readyNode()}}, at(2))
	if storedNode(t, step).Labels[v1.NodeInitializedLabelKey] != "true" || !storedClaim(t, step).Conditions().IsTrue(v1.ConditionInitialized) {
		t.Errorf("%v", texts(step.Effects))
	}
	done := storedClaim(t, step)
	if step := l.Next(provisioning.ClaimState{Claim: done, Nodes: []*corev1.Node{readyNode()}}, at(1e6)); len(step.Effects) != 0 || step.Again != 0 {
		t.Errorf("a claim that has come up: %v", texts(step.Effects))
	}
	if got := done.Conditions().Ready(); got.Status != metav1.ConditionTrue {
		t.Errorf("PRV-006: Ready is %+v", got)
	}
}

func TestLifecycleOptions(t *testing.T) {
	for name, change := range map[string]func(*provisioning.LifecycleOptions){
		"a negative launch time-out":         func(o *provisioning.LifecycleOptions) { o.LaunchTimeout = -1 },
		"no time for launches":               func(o *provisioning.LifecycleOptions) { o.LaunchTimeout = 0 },
		"no time for registration":           func(o *provisioning.LifecycleOptions) { o.RegistrationTimeout = 0 },
		"a negative initialization time-out": func(o *provisioning.LifecycleOptions) { o.InitializationTimeout = -1 },
	} {
		options := provisioning.DefaultLifecycleOptions()
		change(&options)
		var wrong *option.Error
		if _, err := provisioning.NewLifecycle(options); !errors.As(err, &wrong) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

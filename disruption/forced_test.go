package disruption_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/api/v1alpha5"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/disruption"
)

// unhealthyNodes are n nodes of a pool of which the first bad are unhealthy for so long.
func unhealthyNodes(n, bad int, ago time.Duration) (list []*corev1.Node, claim *v1.NodeClaim) {
	w := newWorld()
	w.fill("n", n)
	for i := range w.snapshot.Nodes {
		node := w.snapshot.Nodes[i].Object
		if i < bad {
			node.Status.Conditions[0].Status = corev1.ConditionFalse
		}
		node.Status.Conditions[0].LastTransitionTime = metav1.NewTime(now().Add(-ago))
		list = append(list, node)
	}
	return list, w.snapshot.Nodes[0].Claim
}

func repairPolicies() []cloudprovider.RepairPolicy {
	return []cloudprovider.RepairPolicy{
		{ConditionType: corev1.NodeReady, ConditionStatus: corev1.ConditionFalse, Toleration: 30 * time.Minute},
		{ConditionType: "KernelReady", ConditionStatus: corev1.ConditionFalse, Toleration: 10 * time.Minute},
	}
}

// API-220, API-262, DIS-266: nodes of a pool of the first generation are counted by its label, and apart from those of a later pool
// of its name.
func TestRepairBreakerOfTheFirstGeneration(t *testing.T) {
	born := func(labels map[string]string) {
		delete(labels, v1.NodePoolLabelKey)
		labels[v1alpha5.ProvisionerNameLabelKey] = "default"
	}
	list, claim := unhealthyNodes(3, 2, time.Hour)
	born(claim.Labels)
	for _, n := range list {
		born(n.Labels)
	}
	later, _ := unhealthyNodes(10, 0, time.Hour)
	state := disruption.RepairState{Node: list[0], Claim: claim, Policies: repairPolicies(), Nodes: append(later, list...)}
	want := disruption.RepairBlock{Pool: alphaKey, Unhealthy: 2, Nodes: 3, Allowed: 1}
	step := disruption.Repair(state, now())
	if step.Block == nil || *step.Block != want {
		t.Fatalf("%+v, want %+v", step.Block, want)
	}
	if got := step.Block.String(); !strings.Contains(got, "nodepool v1alpha5/default") {
		t.Error(got)
	}
	if events := step.Block.Events(list[0], claim); events[len(events)-1].Name != "v1alpha5/default" {
		t.Errorf("told on the pool %q", events[len(events)-1].Name)
	}
}

// DIS-266, PRV-088; DIS-319 scenario 21: a fifth, rounded up, may be unhealthy.
func TestRepairBreaker(t *testing.T) {
	for _, tt := range []struct {
		nodes, bad int
		repairs    bool
	}{{3, 1, true}, {3, 2, false}, {10, 2, true}, {10, 3, false}, {1, 1, true}} {
		list, claim := unhealthyNodes(tt.nodes, tt.bad, time.Hour)
		step := disruption.Repair(disruption.RepairState{Node: list[0], Claim: claim, Policies: repairPolicies(), Nodes: list}, now())
		if (step.Removal != nil) != tt.repairs || (step.Block == nil) != tt.repairs {
			t.Errorf("%d of %d: %+v", tt.bad, tt.nodes, step)
		}
		if !tt.repairs && (step.Again != 5*time.Minute || step.Block.String() != fmt.Sprintf("%d of %d nodes of nodepool default are unhealthy, more than the %d that are repaired", tt.bad, tt.nodes, (tt.nodes+4)/5)) {
			t.Errorf("%d of %d: %s, again in %s", tt.bad, tt.nodes, step.Block, step.Again)
		}
	}
	list, claim := unhealthyNodes(10, 3, time.Hour)
	for _, n := range list[1:] {
		n.Status.Conditions[0].LastTransitionTime = metav1.NewTime(now().Add(-time.Minute))
	}
	if step := disruption.Repair(disruption.RepairState{Node: list[0], Claim: claim, Policies: repairPolicies(), Nodes: list}, now()); step.Block == nil || step.Block.Unhealthy != 3 {
		t.Errorf("those whose patience has not run out count too: %+v", step)
	}
	list, claim = unhealthyNodes(3, 2, time.Hour)
	delete(claim.Labels, v1.NodePoolLabelKey)
	other, _ := unhealthyNodes(10, 0, time.Hour)
	for _, n := range other {
		n.Labels[v1.NodePoolLabelKey] = "other"
	}
	state := disruption.RepairState{Node: list[0], Claim: claim, Policies: repairPolicies(), Nodes: append(list, other...)}
	if step := disruption.Repair(state, now()); step.Removal == nil {
		t.Errorf("a claim without a pool counts all nodes: %+v", step)
	}
	claim.Labels[v1.NodePoolLabelKey] = "default"
	if step := disruption.Repair(state, now()); step.Removal != nil {
		t.Error("nodes of another pool count")
	}
}

// DIS-264, DIS-265, DIS-267, DIS-240: when, and with which deadline.
func TestRepair(t *testing.T) {
	list, claim := unhealthyNodes(10, 1, 20*time.Minute)
	state := disruption.RepairState{Node: list[0], Claim: claim, Policies: repairPolicies(), Nodes: list}
	if step := disruption.Repair(state, now()); step.Removal != nil || step.Again != 10*time.Minute {
		t.Errorf("before it is due: %+v", step)
	}
	list[0].Status.Conditions = append(list[0].Status.Conditions, corev1.NodeCondition{
		Type: "KernelReady", Status: corev1.ConditionFalse, LastTransitionTime: metav1.NewTime(now().Add(-10 * time.Minute)),
	})
	step := disruption.Repair(state, now())
	if step.Removal == nil || step.Removal.Reason != disruption.ReasonUnhealthy || step.Removal.Detail != "KernelReady is False for over 10m0s" {
		t.Fatalf("the earliest due counts: %+v", step.Removal)
	}
	deadline := func(c *v1.NodeClaim) string { return c.Annotations[v1.NodeClaimTerminationTimestampAnnotationKey] }
	for there, want := range map[string]string{
		"": "2026-05-04T10:00:00Z", "2026-05-04T09:00:00Z": "2026-05-04T09:00:00Z", "2026-05-04T11:00:00Z": "2026-05-04T10:00:00Z", "soon": "2026-05-04T10:00:00Z",
	} {
		step.Removal.Claim.Annotations = map[string]string{v1.NodeClaimTerminationTimestampAnnotationKey: there}
		if got, changed := step.Removal.WithDeadline(); deadline(got) != want || changed != (there != want) || deadline(step.Removal.Claim) != there {
			t.Errorf("deadline %q over %q, changed %v", deadline(got), there, changed)
		}
	}
	state.Policies = nil
	if step := disruption.Repair(state, now()); step != (disruption.RepairStep{}) {
		t.Errorf("without policies: %+v", step)
	}
	state.Policies = repairPolicies()
	state.Claim.DeletionTimestamp = &metav1.Time{Time: now()}
	if step := disruption.Repair(state, now()); step != (disruption.RepairStep{}) {
		t.Errorf("one that is being deleted: %+v", step)
	}
}

// DIS-235, DIS-236, DIS-237, API-439; DIS-319 scenario 16: at the hour, whatever budgets say.
func TestExpire(t *testing.T) {
	w := newWorld()
	w.pool("default", budgets(v1.Budget{Nodes: "0"}))
	claim := w.node("n", "c4").Claim
	if step := disruption.Expire(claim, now()); step.Removal != nil || step.Again != 0 {
		t.Errorf("Never: %+v", step)
	}
	claim.Spec.ExpireAfter = v1.NewNillableDuration(25 * time.Hour)
	if step := disruption.Expire(claim, now()); step.Removal != nil || step.Again != time.Hour {
		t.Errorf("an hour early: %+v", step)
	}
	claim.Spec.ExpireAfter = v1.NewNillableDuration(24 * time.Hour)
	step := disruption.Expire(claim, now())
	if step.Removal == nil || step.Removal.Reason != disruption.ReasonExpired || !step.Removal.Reason.Forced() || !step.Removal.Deadline.IsZero() {
		t.Fatalf("when it is due: %+v", step)
	}
	if got, changed := step.Removal.WithDeadline(); changed || len(got.Annotations) != 0 {
		t.Error("an expired node has a deadline that its claim does not give")
	}
	claim.Spec.ExpireAfter = v1.NillableDuration{}
	if step := disruption.Expire(claim, now().Add(720*time.Hour)); step.Removal == nil || step.Removal.Detail != "expireAfter 720h0m0s" {
		t.Errorf("by default: %+v", step.Removal)
	}
	if due, ok := disruption.ExpiryOf(claim); !ok || !due.At.Equal(claim.CreationTimestamp.Add(720*time.Hour)) {
		t.Errorf("by default: %+v", due)
	}
	claim.DeletionTimestamp = &metav1.Time{Time: now()}
	if _, ok := disruption.ExpiryOf(claim); ok {
		t.Error("one that is being deleted expires")
	}
}

// DIS-271, DIS-272: what messages do.
func TestInterrupted(t *testing.T) {
	claim := newWorld().node("n", "c4").Claim
	message := func(kind cloudprovider.InterruptionKind) cloudprovider.Interruption {
		return cloudprovider.Interruption{Kind: kind, ProviderID: claim.Status.ProviderID}
	}
	for kind, want := range map[cloudprovider.InterruptionKind]string{
		cloudprovider.InterruptionSpotReclaim: "deleted", cloudprovider.InterruptionReservationReclaim: "deleted",
		cloudprovider.InterruptionMaintenance: "deleted", cloudprovider.InterruptionStopped: "deleted", cloudprovider.InterruptionTerminated: "deleted",
		cloudprovider.InterruptionUnhealthy: "deleted at once", cloudprovider.InterruptionRebalance: "kept", "Rumour": "kept",
	} {
		got := "kept"
		if r := disruption.Interrupted(claim, message(kind), now()).Removal; r != nil {
			got = "deleted"
			if r.Deadline.Equal(now()) {
				got = "deleted at once"
			}
			if r.Reason != disruption.ReasonInterrupted {
				t.Errorf("%s: reason %s", kind, r.Reason)
			}
		}
		if got != want {
			t.Errorf("%s: %s, want %s", kind, got, want)
		}
	}
	notice := message(cloudprovider.InterruptionSpotReclaim)
	notice.Deadline = now().Add(2 * time.Minute)
	if r := disruption.Interrupted(claim, notice, now()).Removal; !r.Deadline.Equal(notice.Deadline) {
		t.Errorf("deadline %s, want that of the message", r.Deadline)
	}
	notice.ProviderID = "cloud://other"
	if step := disruption.Interrupted(claim, notice, now()); step.Removal != nil {
		t.Error("a message about another node removes it")
	}
	if step := disruption.Interrupted(nil, notice, now()); step.Removal != nil {
		t.Error("a node that nobody knows is removed")
	}
	claim.DeletionTimestamp = &metav1.Time{Time: now()}
	if step := disruption.Interrupted(claim, message(cloudprovider.InterruptionStopped), now()); step.Removal != nil {
		t.Error("one that is being deleted is removed again")
	}
}

// DIS-022, DIS-023: which reasons wait.
func TestReasons(t *testing.T) {
	for _, r := range []disruption.Reason{disruption.ReasonEmpty, disruption.ReasonDrifted, disruption.ReasonUnderutilized} {
		if as, ok := r.Budgeted(); !ok || string(as) != string(r) || r.Forced() {
			t.Errorf("%s: budgets know it as %q, forced %v", r, as, r.Forced())
		}
	}
	for _, r := range []disruption.Reason{disruption.ReasonExpired, disruption.ReasonInterrupted, disruption.ReasonUnhealthy} {
		if _, ok := r.Budgeted(); ok || !r.Forced() {
			t.Errorf("%s is held by budgets", r)
		}
	}
}

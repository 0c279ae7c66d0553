package provisioning_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/api/v1alpha5"
	"github.com/drawknife/drawknife/provisioning"
)

// API-220, API-408: the node of a Machine bears its Provisioner's label, and is owned by what is stored, the Machine: an owner of
// another kind would be one that is gone, and the node garbage.
func TestNodeOfAMachine(t *testing.T) {
	l := newLifecycle(t, provisioning.DefaultLifecycleOptions())
	claim := testClaim(launchedAt(at(1)))
	v1.SetGenerationOf(claim, v1.GenerationV1Alpha5)
	claim.Labels = map[string]string{v1alpha5.ProvisionerNameLabelKey: "default"}
	node := storedNode(t, l.Next(provisioning.ClaimState{Claim: claim, Nodes: []*corev1.Node{testJoined()}}, at(2)))
	if ref := node.OwnerReferences[0]; ref.APIVersion != "karpenter.sh/v1alpha5" || ref.Kind != "Machine" || ref.UID != claim.UID {
		t.Errorf("the node is owned by %+v", ref)
	}
	if v1.PoolOf(node.Labels).Generation != v1.GenerationV1Alpha5 || node.Namespace != "" {
		t.Errorf("labels %v, namespace %q", node.Labels, node.Namespace)
	}
}

// API-225, API-230: a Machine gets the hash of its Provisioner, not that of a NodePool of the same name, and no label of its node
// class: alpha has none.
func TestHydrationOfAInstance(t *testing.T) {
	pool, first := poolToShow(), poolToShow()
	v1.SetGenerationOf(first, v1.GenerationV1Alpha5)
	claim := &v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "c", Labels: map[string]string{v1alpha5.ProvisionerNameLabelKey: pool.Name}}}
	claim.Spec.NodeClassRef = v1.NodeClassReference{Group: "karpenter.k8s.aws", Kind: "EC2NodeClass", Name: "v1alpha5/blue"}
	v1.SetGenerationOf(claim, v1.GenerationV1Alpha5)
	if got := provisioning.HydrateClaim(claim, pool); got != nil {
		t.Errorf("with the NodePool: %v %v", got.Labels, got.Annotations)
	}
	got := provisioning.HydrateClaim(claim, first)
	if got == nil || got.Annotations[v1.NodePoolHashAnnotationKey] != first.Hash() || len(got.Labels) != 1 {
		t.Errorf("with the Provisioner: %+v", got)
	}
}

// API-001, API-337: releases before 0.28 stored no Machines, so that an instance whose node is of a Provisioner is no garbage for
// want of one; without the node it is.
func TestNodesWithoutInstancesAreNoGarbage(t *testing.T) {
	instance := &v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "i", CreationTimestamp: metav1.NewTime(at(0))}, Status: v1.NodeClaimStatus{ProviderID: "p"}}
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n", Labels: map[string]string{v1alpha5.ProvisionerNameLabelKey: "default"}}, Spec: corev1.NodeSpec{ProviderID: "p"}}
	state := provisioning.GarbageState{Instances: []*v1.NodeClaim{instance}, Nodes: []*corev1.Node{node}}
	if got := collected(state, at(1e5)); len(got) != 0 {
		t.Errorf("with its node: %v", got)
	}
	state.Nodes = nil
	if got := collected(state, at(1e5)); len(got) != 1 {
		t.Errorf("without: %v", got)
	}
}

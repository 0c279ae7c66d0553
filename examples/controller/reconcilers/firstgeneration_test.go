package reconcilers

import (
	"testing"
	"testing/synctest"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/api/v1alpha5"
	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	"github.com/drawknife/drawknife/fake"
	"github.com/drawknife/drawknife/fake/build"
)

// newFirstWorld is a world with a Provisioner and a NodePool, both "default" and ready.
func newFirstWorld(t *testing.T, change func(*Options)) *world {
	t.Helper()
	w := &world{t: t, known: map[string]client.Object{}, first: true}
	capabilities := fake.GenericCapabilities()
	capabilities.NodeClasses = append(capabilities.NodeClasses, metav1.GroupKind{Group: awsv1.Group, Kind: awsv1.KindEC2NodeClass})
	w.begin(change, capabilities)
	w.create(build.Pool("default"), newProvisioner("default"))
	w.pool("default")
	w.pool("v1alpha5/default")
	return w
}

func newProvisioner(name string) *v1alpha5.Provisioner {
	p := &v1alpha5.Provisioner{ObjectMeta: metav1.ObjectMeta{Name: name}}
	p.Spec.ProviderRef = &v1alpha5.MachineTemplateRef{Name: "default"}
	return p
}

// wanting is the pod that only takes nodes with the label.
func wanting(pod *corev1.Pod, key, value string) *corev1.Pod {
	pod.Spec.NodeSelector = map[string]string{key: value}
	return pod
}

// API-009 to API-011, API-220, API-262, API-408, SET-111: pods for a Provisioner and for a NodePool of the same name get nodes of
// each; what is stored for the one is a Machine, and it lives and ends like a NodeClaim.
func TestInstancesOfBothGenerations(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newFirstWorld(t, nil)
		w.create(wanting(newPod("new"), v1.NodePoolLabelKey, "default"), wanting(newPod("old"), v1alpha5.ProvisionerNameLabelKey, "default"))
		w.plan()
		w.live(8)
		var claims v1.NodeClaimList
		var instances v1alpha5.MachineList
		for _, list := range []client.ObjectList{&claims, &instances} {
			if err := w.client.List(t.Context(), list); err != nil {
				t.Fatal(err)
			}
		}
		if len(claims.Items) != 1 || len(instances.Items) != 1 || len(w.allNodes()) != 2 {
			t.Fatalf("%d nodeclaims, %d machines, %d nodes", len(claims.Items), len(instances.Items), len(w.allNodes()))
		}
		m := &instances.Items[0]
		if m.Namespace != "" || m.Labels[v1alpha5.ProvisionerNameLabelKey] != "default" || m.OwnerReferences[0].Kind != v1alpha5.KindProvisioner ||
			m.Spec.MachineTemplateRef.Name != "default" || m.Finalizers[0] != v1.TerminationFinalizer {
			t.Errorf("the Machine is %+v", m)
		}
		if _, labelled := m.Labels["karpenter.k8s.aws/ec2nodeclass"]; labelled {
			t.Errorf("API-225: the Machine has labels %v", m.Labels)
		}
		claim := get(w, &v1.NodeClaim{}, v1.QualifiedName(w.machine()))
		if !claim.Conditions().IsTrue(v1.ConditionInitialized) {
			t.Errorf("conditions of the Machine: %+v", m.Status.Conditions)
		}
		node := get(w, &corev1.Node{}, m.Status.NodeName)
		if node.OwnerReferences[0].Kind != v1alpha5.KindMachine || node.OwnerReferences[0].UID != m.UID || v1.PoolOf(node.Labels) != newProvisioner("default").Key() {
			t.Errorf("the Machine's node is %+v", node.ObjectMeta)
		}
		w.delete(m)
		w.live(15)
		if get(w, &v1.NodeClaim{}, "v1alpha5/"+m.Name) != nil || get(w, &corev1.Node{}, m.Status.NodeName) != nil || len(w.cloud.Instances()) != 1 {
			t.Errorf("after the Machine's deletion: nodes %d, instances %d", len(w.allNodes()), len(w.cloud.Instances()))
		}
	})
}

// machine is the claim of the only Machine.
func (w *world) machine() *v1.NodeClaim {
	w.t.Helper()
	for _, c := range w.allClaims() {
		if v1.GenerationOf(c) == v1.GenerationV1Alpha5 {
			return c
		}
	}
	w.t.Fatal("there is no Machine")
	return nil
}

package provisioning_test

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/fake"
	"github.com/drawknife/drawknife/fake/build"
	"github.com/drawknife/drawknife/provisioning"
)

func poolToShow() *v1.NodePool {
	pool := build.Pool("default", build.UID("pool"), build.MetaOption(func(m *metav1.ObjectMeta) { m.Generation = 3 }))
	pool.Default()
	return pool
}

func poolState(pool *v1.NodePool, class *cloudprovider.NodeClassReadiness) provisioning.PoolState {
	return provisioning.PoolState{Pool: pool, Capabilities: fake.GenericCapabilities(), Class: class}
}

var classReady = &cloudprovider.NodeClassReadiness{Status: metav1.ConditionTrue, ObservedGeneration: 7}

// PRV-003, PRV-085: a pool's conditions say what keeps it from launching; PRV-036 reads them.
func TestPoolConditions(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*v1.NodePool)
		class  *cloudprovider.NodeClassReadiness
		status metav1.ConditionStatus
		reason string
		ready  metav1.ConditionStatus
	}{
		"ready": {class: classReady, status: "True", reason: v1.ConditionNodeClassReady, ready: "True"},
		"class missing": {class: &cloudprovider.NodeClassReadiness{Status: "False", Reason: "NodeClassNotFound", Message: "create it"},
			status: "False", reason: "NodeClassNotFound", ready: "False"},
		"class being deleted": {class: &cloudprovider.NodeClassReadiness{Status: "False", Reason: "NodeClassTerminating", Message: "it goes"},
			status: "False", reason: "NodeClassTerminating", ready: "False"},
		"class not judged yet": {class: &cloudprovider.NodeClassReadiness{Status: "Unknown", Reason: "x", Message: "wait"},
			status: "Unknown", reason: "NodeClassReadinessUnknown", ready: "Unknown"},
		"class of a kind that is not served": {change: func(p *v1.NodePool) { p.Spec.Template.Spec.NodeClassRef.Kind = "Other" }, class: classReady,
			status: "False", reason: provisioning.PoolReasonClassUnsupported, ready: "False"},
		"not to be found out": {status: "Unknown", reason: "AwaitingReconciliation", ready: "Unknown"},
	} {
		t.Run(name, func(t *testing.T) {
			pool := poolToShow()
			if c.change != nil {
				c.change(pool)
			}
			got := provisioning.PoolStatus(poolState(pool, c.class), start)
			if got == nil {
				t.Fatal("nothing is shown")
			}
			condition := got.Conditions().Get(v1.ConditionNodeClassReady)
			if condition.Status != c.status || condition.Reason != c.reason {
				t.Errorf("NodeClassReady is %s/%s, want %s/%s", condition.Status, condition.Reason, c.status, c.reason)
			}
			if ready := got.Conditions().Ready().Status; ready != c.ready {
				t.Errorf("Ready is %s, want %s", ready, c.ready)
			}
			if again := provisioning.PoolStatus(poolState(got, c.class), start.Add(time.Hour)); again != nil {
				t.Errorf("shown again although nothing changed: %+v", again.Status)
			}
		})
	}
	// What was known stays while the provider does not know.
	known := provisioning.PoolStatus(poolState(poolToShow(), classReady), start)
	if changed := provisioning.PoolStatus(poolState(known, nil), start.Add(time.Minute)); changed != nil {
		t.Errorf("an unanswered question changed the pool: %+v", changed.Status)
	}
	if known.Status.NodeClassObservedGeneration != 7 {
		t.Errorf("node class generation %d, want 7", known.Status.NodeClassObservedGeneration)
	}
}

// A pool that breaks a rule says which, with the field's path.
func TestInvalidPoolSaysWhy(t *testing.T) {
	pool := poolToShow()
	pool.Spec.Template.Spec.Requirements = []v1.NodeSelectorRequirementWithMinValues{{Key: "karpenter.sh/nodepool", Operator: corev1.NodeSelectorOpIn, Values: []string{"x"}}}
	got := provisioning.PoolStatus(poolState(pool, classReady), start)
	c := got.Conditions().Get(v1.ConditionValidationSucceeded)
	if c.Status != "False" || c.Reason != provisioning.PoolReasonInvalid || !strings.Contains(c.Message, "spec.template.spec.requirements[0]") {
		t.Errorf("ValidationSucceeded is %+v", c)
	}
}

// A pool made in Go without requirements may have any instance: it is valid, as planning takes it. One that is not is left as it is.
func TestPoolWithoutRequirements(t *testing.T) {
	pool := poolToShow()
	pool.Spec.Template.Spec.Requirements = nil
	got := provisioning.PoolStatus(poolState(pool, classReady), start)
	if !got.Conditions().IsTrue(v1.ConditionValidationSucceeded) {
		t.Errorf("ValidationSucceeded is %+v", got.Conditions().Get(v1.ConditionValidationSucceeded))
	}
	if got.Spec.Template.Spec.Requirements != nil {
		t.Error("the spec was changed")
	}
}

// PRV-084: usage shows the entries that operators look for, also where there is nothing; PRV-004: status.nodes is the
// scale subresource's count.
func TestPoolUsage(t *testing.T) {
	s := poolState(poolToShow(), classReady)
	s.Usage, s.Nodes = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("6"), "example.com/gpu": resource.MustParse("2")}, 3
	got := provisioning.PoolStatus(s, start)
	for name, want := range map[corev1.ResourceName]string{"cpu": "6", "memory": "0", "pods": "0", "ephemeral-storage": "0", "nodes": "3", "example.com/gpu": "2"} {
		q, ok := got.Status.Resources[name]
		if !ok || q.Cmp(resource.MustParse(want)) != 0 {
			t.Errorf("resources[%s] is %s, want %s", name, q.String(), want)
		}
	}
	if got.Status.Nodes == nil || *got.Status.Nodes != 3 {
		t.Errorf("nodes is %v, want 3", got.Status.Nodes)
	}
	// Before the view is complete nothing is said of usage (PRV-084).
	if changed := provisioning.PoolStatus(poolState(got, classReady), start); changed != nil {
		t.Errorf("an unknown usage changed %+v", changed.Status)
	}
}

// PRV-009: the pool bears the hash of its template.
func TestPoolBearsItsHash(t *testing.T) {
	got := provisioning.PoolStatus(poolState(poolToShow(), classReady), start)
	if got.Annotations[v1.NodePoolHashAnnotationKey] != got.Hash() || got.Annotations[v1.NodePoolHashVersionAnnotationKey] != v1.NodePoolHashVersion {
		t.Errorf("annotations are %v", got.Annotations)
	}
}

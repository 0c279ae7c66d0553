package generations

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/api/v1alpha5"
	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	awsv1alpha1 "github.com/drawknife/drawknife/aws/api/v1alpha1"
)

// stored is a client for both generations on objects that are stored.
func stored(t *testing.T, objects ...client.Object) (*translating, client.Client) {
	t.Helper()
	base := fake.NewClientBuilder().WithScheme(newScheme(t)).WithObjects(objects...).WithStatusSubresource(&v1alpha5.Provisioner{}, &v1alpha5.Machine{}, &v1.NodePool{}).Build()
	return newClient(base, base, newTranslator(kinds{true, true, true}, nil)), base
}

var at = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func locked(base client.Object) client.Patch {
	return client.MergeFromWithOptions(base.DeepCopyObject().(client.Object), client.MergeFromWithOptimisticLock{})
}

func provisioned(t *testing.T) *v1alpha5.Provisioner {
	t.Helper()
	p := &v1alpha5.Provisioner{}
	read(t, "../../../api/v1alpha5/testdata/provisioner-full.yaml", p)
	p.Name, p.UID, p.Generation = "web", "uid-p", 3
	p.Spec.Consolidation, p.Spec.TTLSecondsAfterEmpty = nil, nil
	return p
}

// newClaim is a claim of the Provisioner as planning makes it, with everything that a Machine has no field for.
func newClaim() *v1.NodeClaim {
	claim := &v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{
		Name: "web-1", UID: "uid-m", Labels: map[string]string{v1alpha5.ProvisionerNameLabelKey: "web", "team": "a"}, Annotations: map[string]string{v1.NodePoolHashAnnotationKey: "1"},
	}}
	v1.SetGenerationOf(claim, v1.GenerationV1Alpha5)
	claim.Spec.NodeClassRef = v1.NodeClassReference{Group: awsv1.Group, Kind: awsv1.KindEC2NodeClass, Name: "v1alpha5/default/web"}
	claim.Spec.Requirements = []v1.NodeSelectorRequirementWithMinValues{
		{Key: corev1.LabelArchStable, Operator: corev1.NodeSelectorOpIn, Values: []string{"amd64", "arm64"}, MinValues: new(2)},
		{Key: corev1.LabelInstanceTypeStable, Operator: corev1.NodeSelectorOpIn, Values: []string{"m5.large"}},
	}
	claim.Spec.Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1")}
	claim.Spec.ExpireAfter = v1.NewNillableDuration(90 * time.Minute)
	period := v1.NewDuration(5 * time.Minute)
	claim.Spec.TerminationGracePeriod = &period
	return claim
}

// API-009, API-011, API-335, API-336: what is written of a claim of a Provisioner is stored as a Machine, metadata and status each by
// its own, and reads as it was written, with all that a Machine has no field for; who decided on another version is refused.
func TestClaimsComeBackAsWritten(t *testing.T) {
	c, base := stored(t, provisioned(t))
	claim := newClaim()
	wanted := claim.DeepCopy()
	if err := c.Create(t.Context(), claim); err != nil {
		t.Fatal(err)
	}
	same := func(what string, want *v1.NodeClaim) *v1.NodeClaim {
		t.Helper()
		got := &v1.NodeClaim{}
		if err := c.Get(t.Context(), client.ObjectKeyFromObject(want), got); err != nil {
			t.Fatal(err)
		}
		want = want.DeepCopy()
		want.ResourceVersion, want.TypeMeta = got.ResourceVersion, got.TypeMeta
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", what, diff)
		}
		return got
	}
	claim = same("created", wanted)
	m := &v1alpha5.Machine{}
	if err := base.Get(t.Context(), client.ObjectKey{Name: "web-1"}, m); err != nil {
		t.Fatal(err)
	}
	if m.Namespace != "" || m.Spec.MachineTemplateRef == nil || m.Spec.MachineTemplateRef.Name != "default" || m.Spec.MachineTemplateRef.Kind != awsv1alpha1.KindAWSNodeTemplate || m.Spec.Kubelet == nil {
		t.Errorf("the Machine is %+v", m)
	}
	next := claim.DeepCopy()
	next.Finalizers, next.Labels["more"], next.Annotations = []string{v1.TerminationFinalizer}, "b", map[string]string{"x": "y"}
	next.Status.ProviderID = "not metadata"
	want := next.DeepCopy()
	want.Status = claim.Status
	stale := claim
	if err := c.Patch(t.Context(), next, locked(claim)); err != nil {
		t.Fatal(err)
	}
	claim = same("metadata", want)
	next = claim.DeepCopy()
	next.Status = v1.NodeClaimStatus{
		NodeName: "n", ProviderID: "p", ImageID: "ami-1", LastPodEventTime: metav1.NewTime(at.Local()),
		Capacity: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("2")}, Allocatable: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1900m")},
	}
	for _, kind := range []string{v1.ConditionLaunched, v1.ConditionRegistered, v1.ConditionInitialized, v1.ConditionDrifted, v1.ConditionConsolidatable} {
		next.Conditions().SetTrue(kind, at.Local())
	}
	want = next.DeepCopy()
	if err := c.Status().Patch(t.Context(), next, locked(claim)); err != nil {
		t.Fatal(err)
	}
	claim = same("status", want)
	if err := c.Patch(t.Context(), stale.DeepCopy(), locked(stale)); !apierrors.IsConflict(err) {
		t.Errorf("a change of an older version gives %v", err)
	}
	if err := c.Delete(t.Context(), claim); err != nil {
		t.Fatal(err)
	}
	if err := base.Get(t.Context(), client.ObjectKey{Name: "web-1"}, m); err != nil || m.DeletionTimestamp == nil {
		t.Errorf("after its deletion: %+v, %v", m.DeletionTimestamp, err)
	}
}

// API-009, API-089: hashes and status of a pool go to its Provisioner, whose spec and Active stay as they were; a NodePool of its name
// is another object.
func TestPoolsComeBackAsWritten(t *testing.T) {
	p := provisioned(t)
	c, base := stored(t, p, &v1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: "web", UID: "later"}})
	key := client.ObjectKey{Namespace: string(v1.GenerationV1Alpha5), Name: "web"}
	pool := &v1.NodePool{}
	if err := c.Get(t.Context(), key, pool); err != nil {
		t.Fatal(err)
	}
	next := pool.DeepCopy()
	next.Annotations = map[string]string{v1.NodePoolHashAnnotationKey: "2"}
	if err := c.Patch(t.Context(), next, locked(pool)); err != nil {
		t.Fatal(err)
	}
	pool = next.DeepCopy()
	next.Conditions().SetTrue(v1.ConditionValidationSucceeded, at.Local())
	next.Conditions().SetFalse(v1.ConditionNodeClassReady, "NotReady", "why", at.Local())
	next.Status.Resources, next.Status.Nodes = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("4")}, new(int64(2))
	want := next.DeepCopy()
	if err := c.Status().Patch(t.Context(), next, locked(pool)); err != nil {
		t.Fatal(err)
	}
	got := &v1.NodePool{}
	if err := c.Get(t.Context(), key, got); err != nil {
		t.Fatal(err)
	}
	want.ResourceVersion = got.ResourceVersion
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	after := &v1alpha5.Provisioner{}
	if err := base.Get(t.Context(), client.ObjectKey{Name: "web"}, after); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(p.Spec, after.Spec); diff != "" {
		t.Errorf("the Provisioner's spec (-before +after):\n%s", diff)
	}
	later := &v1.NodePool{}
	if err := c.Get(t.Context(), client.ObjectKey{Name: "web"}, later); err != nil || later.UID != "later" || len(later.Status.Conditions) != 0 {
		t.Errorf("the NodePool: %+v, %v", later, err)
	}
	var list v1.NodePoolList
	if err := c.List(context.Background(), &list); err != nil || len(list.Items) != 2 {
		t.Errorf("%d pools are listed: %v", len(list.Items), err)
	}
}

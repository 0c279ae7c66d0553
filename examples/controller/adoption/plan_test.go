package adoption_test

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/drawknife/drawknife/api/requirements"
	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/examples/controller/adoption"
)

var ours = v1.NodeClassReference{Group: "karpenter.k8s.aws", Kind: "EC2NodeClass", Name: "default"}

func pool(name string, changes ...func(*v1.NodePool)) *v1.NodePool {
	p := &v1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: name}}
	p.Spec.Template.Spec.NodeClassRef, p.Spec.Template.Spec.Requirements = ours, []v1.NodeSelectorRequirementWithMinValues{}
	p.Default()
	for _, change := range changes {
		change(p)
	}
	return p
}

// stamped has a pool bear the hash of a version, as some release of Karpenter left it.
func stamped(version string) func(*v1.NodePool) {
	return func(p *v1.NodePool) {
		p.Annotations = map[string]string{v1.NodePoolHashAnnotationKey: p.Hash(), v1.NodePoolHashVersionAnnotationKey: version}
		if version != v1.NodePoolHashVersion {
			p.Annotations[v1.NodePoolHashAnnotationKey] = "1"
		}
	}
}

// claim is one that Karpenter has launched, registered and initialised for the pool.
func claim(name string, of *v1.NodePool, changes ...func(*v1.NodeClaim)) *v1.NodeClaim {
	c := &v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{
		Name: name, UID: types.UID("uid-" + name), CreationTimestamp: metav1.NewTime(now.Add(-time.Hour)), Finalizers: []string{v1.TerminationFinalizer},
		Labels: map[string]string{v1.NodePoolLabelKey: of.Name}, Annotations: map[string]string{},
	}}
	for key, value := range of.Annotations {
		c.Annotations[key] = value
	}
	c.Spec.NodeClassRef, c.Spec.ExpireAfter = ours, of.Spec.Template.Spec.ExpireAfter
	c.Status.ProviderID, c.Status.NodeName = "aws:///a/i-"+name, "node-"+name
	for _, kind := range []string{v1.ConditionLaunched, v1.ConditionRegistered, v1.ConditionInitialized} {
		c.Conditions().Set(kind, metav1.ConditionTrue, kind, "", now.Add(-time.Hour))
	}
	for _, change := range changes {
		change(c)
	}
	return c
}

func observed(pools []*v1.NodePool, claims []*v1.NodeClaim) adoption.Observation {
	o := adoption.Observation{
		Pools: pools, Claims: claims, Lookup: requirements.CoreVocabulary().Compile(), Drift: map[string]adoption.Drift{},
		Supports: func(ref v1.NodeClassReference) bool { return ref.Group == ours.Group && ref.Kind == ours.Kind },
	}
	for _, c := range claims {
		o.Drift[v1.QualifiedName(c)] = adoption.Drift{}
		if c.Status.ProviderID != "" {
			o.Instances = append(o.Instances, &v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Labels: c.Labels}, Status: v1.NodeClaimStatus{ProviderID: c.Status.ProviderID}})
		}
	}
	return o
}

// What Karpenter v1 leaves is taken over without a node being replaced, whatever version its hashes are of; what is told
// otherwise is told with its reason. API-220, API-230, API-231, API-245, API-248, API-370, API-419, API-420, API-421.
func TestPlan(t *testing.T) {
	web, old := pool("web", stamped("v3")), pool("old", stamped("v2"))
	foreign := pool("foreign", func(p *v1.NodePool) { p.Spec.Template.Spec.NodeClassRef.Kind = "Other" })
	kubelet := pool("kubelet", func(p *v1.NodePool) {
		p.Annotations = map[string]string{"compatibility.karpenter.sh/v1beta1-kubelet-conversion": "{}"}
	})
	bad := pool("bad", func(p *v1.NodePool) { p.Spec.Weight = new(int32(1000)) })
	changed := pool("changed", stamped("v3"))
	beforeChange := claim("changed", changed)
	changed.Spec.Template.Labels = map[string]string{"team": "blue"}

	o := observed([]*v1.NodePool{web, old, foreign, kubelet, bad, changed}, []*v1.NodeClaim{
		claim("fine", web), claim("of-v2", old), beforeChange,
		claim("leaving", web, func(c *v1.NodeClaim) { c.DeletionTimestamp = new(metav1.NewTime(now)) }),
		claim("expired", web, func(c *v1.NodeClaim) { c.CreationTimestamp = metav1.NewTime(now.Add(-1000 * time.Hour)) }),
		claim("image", web), claim("unsure", web),
		claim("foreign", foreign, func(c *v1.NodeClaim) { c.Spec.NodeClassRef.Kind = "Other" }),
		claim("unlaunched", web, func(c *v1.NodeClaim) { c.Status = v1.NodeClaimStatus{} }),
		claim("gone", web), claim("poolless", pool("none")),
	})
	o.Drift["image"] = adoption.Drift{Reason: "AMIDrift"}
	o.Drift["unsure"] = adoption.Drift{Err: errors.New("EC2 does not answer")}
	for i, m := range o.Instances {
		if m.Status.ProviderID == "aws:///a/i-gone" {
			o.Instances[i] = &v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{v1.NodePoolLabelKey: "web"}}, Status: v1.NodeClaimStatus{ProviderID: "aws:///a/i-orphan"}}
		}
	}
	o.Nodes = []*corev1.Node{
		{ObjectMeta: metav1.ObjectMeta{Name: "node-fine", Labels: map[string]string{v1.NodePoolLabelKey: "web"}}, Spec: corev1.NodeSpec{ProviderID: "aws:///a/i-fine"}},
		{ObjectMeta: metav1.ObjectMeta{Name: "node-alpha", Labels: map[string]string{"karpenter.sh/provisioner-name": "web"}}, Spec: corev1.NodeSpec{ProviderID: "aws:///a/i-alpha"}},
		{ObjectMeta: metav1.ObjectMeta{Name: "node-lost", Labels: map[string]string{v1.NodePoolLabelKey: "web"}}, Spec: corev1.NodeSpec{ProviderID: "aws:///a/i-lost"}},
		{ObjectMeta: metav1.ObjectMeta{Name: "node-else"}},
	}
	before := o.Claims[1].DeepCopy()
	findings := adoption.Plan(o, now)
	want := map[string]string{
		"NodePool/web": "taken over", "NodePool/old": "taken over", "NodePool/changed": "taken over",
		"NodePool/foreign": "refused: its node class is a Other of karpenter.k8s.aws", "NodePool/bad": "refused: nothing is launched for it until it is valid",
		"NodePool/kubelet": "taken over: annotation compatibility.karpenter.sh/v1beta1-kubelet-conversion counts for nodes launched from now on",
		"NodeClaim/fine":   "taken over", "NodeClaim/of-v2": "taken over", "NodeClaim/unsure": "taken over", "NodeClaim/leaving": "leaving",
		"NodeClaim/expired": "would be replaced: Expired", "NodeClaim/image": "would be replaced: Drifted: AMIDrift",
		"NodeClaim/changed": "would be replaced: Drifted: NodePoolDrifted", "NodeClaim/foreign": "refused: its node class",
		"NodeClaim/unlaunched": "taken over: it has no instance yet", "NodeClaim/gone": "would be ended: instance aws:///a/i-gone is gone",
		"NodeClaim/poolless": "taken over: NodePool none does not exist",
		"Node/node-alpha":    "refused: it is of Provisioner web of the first generation", "Node/node-lost": "refused: no NodeClaim has its provider ID",
		"Instance/aws:///a/i-orphan": "would be ended: it bears the tags",
	}
	for _, f := range findings {
		key := f.Kind + "/" + f.Name
		expected, ok := want[key]
		got := strings.TrimPrefix(f.String(), key+": ")
		if !ok || !strings.HasPrefix(got, expected) || (expected == "taken over" && f.Reason != "") {
			t.Errorf("%s: %s, want %s", key, got, expected)
		}
		delete(want, key)
	}
	if len(want) > 0 {
		t.Errorf("nothing is said of %v", want)
	}
	if adoption.Harmless(findings) {
		t.Error("harmless")
	}
	if diff := cmp.Diff(before, o.Claims[1]); diff != "" {
		t.Errorf("what was handed in is changed:\n%s", diff)
	}
	fine := adoption.Plan(observed([]*v1.NodePool{web, old}, []*v1.NodeClaim{claim("fine", web), claim("of-v2", old)}), now)
	if !adoption.Harmless(fine) {
		t.Errorf("not harmless: %v", fine)
	}
	var table bytes.Buffer
	if err := adoption.WriteTable(&table, fine); err != nil {
		t.Fatal(err)
	}
	const printed = `KIND       NAME   NODEPOOL  NODE        VERDICT     REASON
NodePool   old    old                   taken over  
NodePool   web    web                   taken over  
NodeClaim  fine   web       node-fine   taken over  
NodeClaim  of-v2  old       node-of-v2  taken over  

4 taken over, 0 leaving, 0 would be replaced, 0 would be ended, 0 refused, 0 would lose fields
`
	if diff := cmp.Diff(printed, table.String()); diff != "" {
		t.Errorf("table (-want +got):\n%s", diff)
	}
	unlisted := observed([]*v1.NodePool{web}, []*v1.NodeClaim{claim("fine", web)})
	unlisted.Instances, unlisted.InstancesErr = nil, errors.New("EC2 does not answer")
	if !adoption.Harmless(adoption.Plan(unlisted, now)) {
		t.Error("machines that could not be listed count as gone")
	}
}

// API-220, API-262: Provisioners and Machines are distinguished by their kinds and judged by what is theirs, also next to a NodePool and a
// NodeClaim of the same names.
func TestPlanOfTwoGenerations(t *testing.T) {
	web := pool("web", stamped("v3"))
	fine := claim("one", web)
	web.Spec.Template.Labels = map[string]string{"team": "blue"} // since: the claim of v1 has drifted
	born := pool("web", stamped("v3"))
	machine := claim("one", born, func(c *v1.NodeClaim) {
		c.UID, c.Status.ProviderID, c.Status.NodeName = "uid-machine", "aws:///a/i-machine", "node-machine"
	})
	lost := claim("lost", pool("gone"))
	for _, o := range []metav1.Object{born, machine, lost} {
		v1.SetGenerationOf(o, v1.GenerationV1Alpha5)
	}
	for _, c := range []*v1.NodeClaim{machine, lost} {
		c.Labels = map[string]string{"karpenter.sh/provisioner-name": c.Labels[v1.NodePoolLabelKey]}
	}
	o := observed([]*v1.NodePool{born, web}, []*v1.NodeClaim{machine, fine, lost})
	o.Drift["lost"] = adoption.Drift{Reason: "AMIDrift"} // of a claim that is not there
	o.Instances = append(o.Instances, &v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Labels: machine.Labels}, Status: v1.NodeClaimStatus{ProviderID: "aws:///a/i-orphan"}})
	var table bytes.Buffer
	if err := adoption.WriteTable(&table, adoption.Plan(o, now)); err != nil {
		t.Fatal(err)
	}
	var got []string
	for line := range strings.Lines(table.String()) {
		got = append(got, strings.Join(strings.Fields(line), " "))
	}
	want := []string{
		"KIND NAME NODEPOOL NODE VERDICT REASON",
		"NodePool web web taken over",
		"Provisioner web v1alpha5/web taken over",
		"Machine lost v1alpha5/gone node-lost taken over Provisioner gone does not exist: it stays until it is deleted or expires",
		"NodeClaim one web node-one would be replaced Drifted: NodePoolDrifted",
		"Machine one v1alpha5/web node-machine taken over",
		"Instance aws:///a/i-orphan v1alpha5/web would be ended it bears the tags of this cluster's nodes and no NodeClaim stands for it, as Karpenter would end it too: remove the tags to keep it",
		"", "4 taken over, 0 leaving, 1 would be replaced, 1 would be ended, 0 refused, 0 would lose fields",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// API-230: hashes of another version are written again before anything is compared, those of claims first; a claim that had drifted
// stays so. A second call writes nothing.
func TestApply(t *testing.T) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, v1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	web, old := pool("web", stamped("v3")), pool("old", stamped("v2"))
	objects := []client.Object{web, old, claim("fine", web), claim("of-v2", old), claim("drifted", old, func(c *v1.NodeClaim) {
		c.Conditions().Set(v1.ConditionDrifted, metav1.ConditionTrue, "NodePoolDrifted", "", now)
	})}
	c := fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).Build()
	written, err := adoption.Apply(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	if written < 3 {
		t.Errorf("%d objects were written", written)
	}
	for name, hash := range map[string]string{"fine": web.Hash(), "of-v2": old.Hash(), "drifted": "1"} {
		got := &v1.NodeClaim{}
		if err := c.Get(t.Context(), client.ObjectKey{Name: name}, got); err != nil {
			t.Fatal(err)
		}
		if got.Annotations[v1.NodePoolHashAnnotationKey] != hash || got.Annotations[v1.NodePoolHashVersionAnnotationKey] != v1.NodePoolHashVersion || len(got.Finalizers) != 1 {
			t.Errorf("%s bears %v", name, got.Annotations)
		}
	}
	got := &v1.NodePool{}
	if err := c.Get(t.Context(), client.ObjectKey{Name: "old"}, got); err != nil {
		t.Fatal(err)
	}
	if got.Annotations[v1.NodePoolHashAnnotationKey] != old.Hash() || got.Annotations[v1.NodePoolHashVersionAnnotationKey] != v1.NodePoolHashVersion {
		t.Errorf("the pool bears %v", got.Annotations)
	}
	if again, err := adoption.Apply(t.Context(), c); err != nil || again != 0 {
		t.Errorf("a second call wrote %d, %v", again, err)
	}
	var foreign *adoption.NotAdoptedError
	if err := adoption.Foreign(t.Context(), c, func(c *v1.NodeClaim) bool { return c.Name == "fine" }); !errors.As(err, &foreign) || foreign.Claims != 2 {
		t.Errorf("foreign: %v", err)
	}
	if err := adoption.Foreign(t.Context(), c, func(*v1.NodeClaim) bool { return true }); err != nil {
		t.Errorf("foreign: %v", err)
	}
}

// Conditions that Karpenter up to 0.36 wrote have no reason. They get one before anything else of the object is written, and a
// definition that insists on reasons takes every write from then on.
func TestApplyCompletesConditions(t *testing.T) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, v1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	web := pool("web", stamped("v2"))
	old := claim("old", web, func(c *v1.NodeClaim) {
		c.Status.Conditions = []metav1.Condition{{Type: v1.ConditionLaunched, Status: metav1.ConditionTrue, LastTransitionTime: metav1.NewTime(now)}}
	})
	var writes []string
	c := interceptor.NewClient(fake.NewClientBuilder().WithScheme(scheme).WithObjects(web, old).WithStatusSubresource(old, web).Build(), interceptor.Funcs{
		Patch: func(ctx context.Context, c client.WithWatch, o client.Object, patch client.Patch, options ...client.PatchOption) error {
			writes = append(writes, "metadata of "+o.GetName())
			return c.Patch(ctx, o, patch, options...)
		},
		SubResourcePatch: func(ctx context.Context, c client.Client, name string, o client.Object, patch client.Patch, options ...client.SubResourcePatchOption) error {
			writes = append(writes, name+" of "+o.GetName())
			return c.SubResource(name).Patch(ctx, o, patch, options...)
		},
	})
	if _, err := adoption.Apply(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"status of old", "metadata of old", "metadata of web"}, writes); diff != "" {
		t.Error(diff)
	}
	got := &v1.NodeClaim{}
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(old), got); err != nil {
		t.Fatal(err)
	}
	if len(got.Status.Conditions) != 1 || got.Status.Conditions[0].Reason != v1.ConditionLaunched || !got.Status.Conditions[0].LastTransitionTime.Time.Equal(now) {
		t.Errorf("%+v", got.Status.Conditions)
	}
	if again, err := adoption.Apply(t.Context(), c); err != nil || again != 0 {
		t.Errorf("a second call wrote %d, %v", again, err)
	}
}

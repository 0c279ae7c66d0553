package crds

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	buffersv1beta1 "github.com/drawknife/drawknife/api/autoscaling/v1beta1"
	"github.com/drawknife/drawknife/api/crds"
	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/cloudprovider/overlay"
	"github.com/drawknife/drawknife/fake"
	"github.com/drawknife/drawknife/provisioning"
	"github.com/drawknife/drawknife/scheduling"
	"github.com/drawknife/drawknife/scheduling/buffers"
	"github.com/drawknife/drawknife/scheduling/nodeclaims"
)

// Whatever a pool leaves out or asks for, an API server takes the NodeClaims that are planned of it, static ones too, and the
// pool with the status that is written to it.
func TestPlannedObjectsAreTaken(t *testing.T) {
	claims, pools := judgeOf(t, "NodeClaim", "v1"), judgeOf(t, "NodePool", "v1")
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	types := fake.GenericTypes(6)
	for name, change := range map[string]func(*v1.NodePool){
		"nothing but a class": func(*v1.NodePool) {},
		"requirements nil":    func(p *v1.NodePool) { p.Spec.Template.Spec.Requirements = nil },
		"labels and taints": func(p *v1.NodePool) {
			p.Spec.Template.Labels = map[string]string{"team": "a"}
			p.Spec.Template.Spec.Taints = []corev1.Taint{{Key: "a", Effect: corev1.TaintEffectNoSchedule}}
		},
		"a grace period": func(p *v1.NodePool) { d := v1.NewDuration(time.Hour); p.Spec.Template.Spec.TerminationGracePeriod = &d },
		"empty lists": func(p *v1.NodePool) {
			p.Spec.Template.Spec.Taints, p.Spec.Template.Spec.StartupTaints = []corev1.Taint{}, []corev1.Taint{}
		},
		"a requirement": func(p *v1.NodePool) {
			p.Spec.Template.Spec.Requirements = []v1.NodeSelectorRequirementWithMinValues{{Key: corev1.LabelArchStable, Operator: corev1.NodeSelectorOpIn, Values: []string{"amd64"}}}
		},
		"a key that must exist": func(p *v1.NodePool) {
			p.Spec.Template.Spec.Requirements = []v1.NodeSelectorRequirementWithMinValues{{Key: corev1.LabelInstanceTypeStable, Operator: corev1.NodeSelectorOpExists}}
		},
	} {
		t.Run(name, func(t *testing.T) {
			pool := &v1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: "p", UID: "uid"}}
			pool.Spec.Template.Spec.NodeClassRef = v1.NodeClassReference{Group: fake.NodeClassGroup, Kind: fake.NodeClassKind, Name: "default"}
			pool.Spec.Template.Spec.Requirements = []v1.NodeSelectorRequirementWithMinValues{}
			change(pool)
			planned := &scheduling.NodePool{Key: pool.Key(), Object: pool, Catalog: "c"}
			snapshot := &scheduling.Snapshot{
				Time: now, NodePools: []scheduling.NodePool{*planned}, Catalogs: map[string][]*cloudprovider.InstanceType{"c": types}, Pods: waiting(pool),
			}
			model, err := scheduling.Compile(snapshot)
			if err != nil {
				t.Fatal(err)
			}
			plan, err := model.Solve(t.Context(), scheduling.Query{})
			if err != nil {
				t.Fatal(err)
			}
			orders, err := provisioning.Decide(snapshot, plan, provisioning.PassOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if len(orders.Launches) == 0 {
				t.Fatalf("nothing is planned: %v", plan.Unschedulable)
			}
			for _, order := range orders.Launches {
				taken(t, claims, order.Claim, "karpenter.sh/v1", "NodeClaim")
			}
			static, err := nodeclaims.NewStatic(planned, nodeclaims.Options{})
			if err != nil {
				t.Fatal(err)
			}
			taken(t, claims, static, "karpenter.sh/v1", "NodeClaim")
			var health provisioning.LaunchHealth
			health.Ordered(pool.Key(), fmt.Errorf("refused"), now)
			shown := provisioning.PoolStatus(provisioning.PoolState{
				Pool: pool, Usage: corev1.ResourceList{}, Launches: &health, Health: provisioning.NewRegistrationHealth(),
			}, now)
			if pool.Spec.Template.Spec.Requirements != nil { // a stored pool has the field
				taken(t, pools, shown, "karpenter.sh/v1", "NodePool")
			}
		})
	}
}

// Whatever becomes of an overlay, an API server takes it with the status that is written to it.
func TestOverlaysWithStatusAreTaken(t *testing.T) {
	judge := judgeOf(t, "NodeOverlay", "v1alpha1")
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	ptr := func(text string) *string { return &text }
	anyType := []v1.NodeSelectorRequirementWithMinValues{{Key: corev1.LabelInstanceTypeStable, Operator: corev1.NodeSelectorOpExists}}
	nothing := []v1.NodeSelectorRequirementWithMinValues{{Key: corev1.LabelInstanceTypeStable, Operator: corev1.NodeSelectorOpIn, Values: []string{"none"}}}
	overlays := map[string]v1.NodeOverlaySpec{
		"applied":     {Requirements: anyType, Price: ptr("1.5")},
		"conflicting": {Requirements: anyType, Price: ptr("2.5")},
		"capacity":    {Requirements: anyType, Capacity: corev1.ResourceList{"example.com/a": resource.MustParse("1")}},
		"for-nobody":  {Requirements: nothing, PriceAdjustment: ptr("-10%")},
	}
	var in overlay.Input
	for _, name := range slices.Sorted(maps.Keys(overlays)) {
		in.Overlays = append(in.Overlays, &v1.NodeOverlay{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: overlays[name]})
	}
	in.Pools = []overlay.Pool{{Key: v1.NewPoolKey("p"), Types: fake.GenericTypes(6)}}
	// One that is invalid in Go alone is not judged here: no API server has it.
	reasons := map[string]bool{}
	for _, verdict := range overlay.Apply(in).Verdicts {
		out := verdict.Overlay.DeepCopy()
		if !verdict.Record(out, now) || len(out.Status.Conditions) == 0 {
			t.Errorf("%s: nothing is written", out.Name)
		}
		reasons[string(verdict.Reason)] = true
		taken(t, judge, out, "karpenter.sh/v1alpha1", "NodeOverlay")
	}
	if len(reasons) < 2 {
		t.Errorf("all overlays end alike: %v", reasons)
	}
}

// Likewise for buffers: those that can be planned for, those that have room, and those that name nothing.
func TestBuffersWithStatusAreTaken(t *testing.T) {
	judge := judgeOf(t, "CapacityBuffer", "v1beta1")
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	two, huge := int32(2), int32(2_000_000_000)
	template := &corev1.PodTemplate{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "t", Generation: 3}}
	template.Template.Spec.Containers = []corev1.Container{{Name: "c", Resources: corev1.ResourceRequirements{
		Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("500m")},
	}}}
	var in buffers.Input
	in.PodTemplates = []*corev1.PodTemplate{template}
	for name, spec := range map[string]buffersv1beta1.CapacityBufferSpec{
		"resolved":    {PodTemplateRef: &buffersv1beta1.LocalObjectRef{Name: "t"}, Replicas: &two},
		"too-many":    {PodTemplateRef: &buffersv1beta1.LocalObjectRef{Name: "t"}, Replicas: &huge},
		"no-template": {PodTemplateRef: &buffersv1beta1.LocalObjectRef{Name: "x"}, Replicas: &two},
		"no-workload": {ScalableRef: &buffersv1beta1.ScalableRef{APIGroup: "apps", Kind: "Deployment", Name: "x"}, Replicas: &two},
		"by-limits":   {PodTemplateRef: &buffersv1beta1.LocalObjectRef{Name: "t"}, Limits: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("3")}},
	} {
		in.Buffers = append(in.Buffers, &buffersv1beta1.CapacityBuffer{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: name, Generation: 1}, Spec: spec})
	}
	resolved := buffers.Resolve(in)
	reasons := map[string]bool{}
	for i, places := range buffers.Locate(resolved, &scheduling.Plan{}) {
		out := resolved[i].Buffer.DeepCopy()
		if !resolved[i].Record(out, now) || len(out.Status.Conditions) == 0 {
			t.Errorf("%s: nothing is written", out.Name)
		}
		taken(t, judge, out, "autoscaling.x-k8s.io/v1beta1", "CapacityBuffer")
		resolved[i].Provisioning(places).Record(out, now)
		reasons[resolved[i].Reason] = true
		taken(t, judge, out, "autoscaling.x-k8s.io/v1beta1", "CapacityBuffer")
	}
	if len(reasons) < 2 || !reasons[buffersv1beta1.ReasonResolved] {
		t.Errorf("all buffers end alike: %v", reasons)
	}
}

func waiting(pool *v1.NodePool) []*corev1.Pod {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "a", UID: "a"}}
	pod.Spec.Containers = []corev1.Container{{Name: "c", Resources: corev1.ResourceRequirements{
		Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("500m")},
	}}}
	for _, taint := range pool.Spec.Template.Spec.Taints {
		pod.Spec.Tolerations = append(pod.Spec.Tolerations, corev1.Toleration{Key: taint.Key, Operator: corev1.TolerationOpExists})
	}
	return []*corev1.Pod{pod}
}

func judgeOf(t *testing.T, kind, version string) *Judge {
	t.Helper()
	for _, definition := range crds.All() {
		if definition.Kind != kind {
			continue
		}
		crd, err := Read(definition.YAML())
		if err != nil {
			t.Fatal(err)
		}
		judge, err := NewJudge(crd, version)
		if err != nil {
			t.Fatal(err)
		}
		return judge
	}
	t.Fatalf("there is no definition of %s", kind)
	return nil
}

func taken(t *testing.T, judge *Judge, object any, apiVersion, kind string) {
	t.Helper()
	text, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	var sent unstructured.Unstructured
	if err := utiljson.Unmarshal(text, &sent.Object); err != nil {
		t.Fatal(err)
	}
	sent.SetAPIVersion(apiVersion)
	sent.SetKind(kind)
	if _, errs := judge.Admit(t.Context(), &sent, nil); len(errs) > 0 {
		t.Errorf("%s is refused: %v\n%s", kind, errs.ToAggregate(), text)
	}
}

package v1beta1

import (
	"bytes"
	"encoding/json"
	"flag"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"pgregory.net/rapid"
	"sigs.k8s.io/yaml"

	"github.com/drawknife/drawknife/api/conversion"
	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/internal/manifesttest"
	"github.com/drawknife/drawknife/internal/seeded"
)

var update = flag.Bool("update", false, "rewrite the golden files in their canonical form")

// object is what all kinds have in common.
type object interface {
	runtime.Object
	Default()
	Validate() field.ErrorList
}

// aws completes references as the AWS provider does.
func aws() ConvertOptions {
	return ConvertOptions{NodeClass: schema.GroupKind{Group: "karpenter.k8s.aws", Kind: "EC2NodeClass"}}
}

// API-002, API-008, API-024, API-042, API-044 to API-054, API-129 to API-134, API-136 to API-138, API-140 to API-147,
// API-149 to API-155: every field is read, and written as it was.
func TestManifestsRoundTrip(t *testing.T) {
	for file, newObject := range map[string]func() object{
		"nodepool-full.yaml": func() object { return &NodePool{} },
		"nodeclaim.yaml":     func() object { return &NodeClaim{} },
	} {
		t.Run(file, func(t *testing.T) {
			manifesttest.RoundTrip(t, file, newObject(), AddToScheme, *update)
		})
	}
}

// API-258, API-264, API-340, API-341, API-346, API-347, API-349, API-351, API-370, API-376, API-381: to v1 and back gives
// the pool back, with its defaults written out, but for what a warning says; the argument stays as it was.
func TestRandomPoolsSurviveV1(t *testing.T) {
	seeded.Check(t, func(t *rapid.T) {
		pool := drawPool(t)
		if errs := pool.Validate(); len(errs) > 0 {
			t.Fatalf("drawn invalid: %v", errs.ToAggregate())
		}
		before, _ := json.Marshal(pool)
		hub, warnings := pool.ToV1(aws())
		if err := warnings.Err(); err != nil {
			// API-269: what is valid converts.
			t.Fatal(err)
		}
		if after, _ := json.Marshal(pool); !bytes.Equal(before, after) {
			t.Fatalf("the argument was changed from\n%s\nto\n%s", before, after)
		}
		if errs := hub.Validate(); len(errs) > 0 {
			t.Fatal(errs.ToAggregate())
		}
		hubBefore, _ := json.Marshal(hub)
		back, backWarnings := NodePoolFromV1(hub, aws())
		if err := backWarnings.Err(); err != nil {
			t.Fatal(err)
		}
		if hubAfter, _ := json.Marshal(hub); !bytes.Equal(hubBefore, hubAfter) {
			t.Fatalf("the hub was changed from\n%s\nto\n%s", hubBefore, hubAfter)
		}
		want := pool.DeepCopy()
		want.APIVersion, want.Kind = APIVersion, KindNodePool
		defaultDisruption(&want.Spec.Disruption)
		if warnings.Has(conversion.CodeReferenceCompleted) || warnings.Has(conversion.CodeReferenceVersionDropped) {
			want.Spec.Template.Spec.NodeClassRef.Kind = back.Spec.Template.Spec.NodeClassRef.Kind
			want.Spec.Template.Spec.NodeClassRef.APIVersion = back.Spec.Template.Spec.NodeClassRef.APIVersion
		}
		if warnings.Has(conversion.CodeAnnotationRenamed) {
			want.Spec.Template.Annotations = back.Spec.Template.Annotations
		}
		if diff := cmp.Diff(want, back); diff != "" {
			t.Fatalf("(-before +after)\n%s", diff)
		}
		again, againWarnings := pool.ToV1(aws())
		if diff := cmp.Diff(hub, again) + cmp.Diff(warnings, againWarnings); diff != "" {
			t.Fatalf("a second conversion differs:\n%s", diff)
		}
	})
}

// API-370, API-381: with the annotations that Karpenter's webhook writes, a reference survives as it was written.
func TestRandomClaimsSurviveV1(t *testing.T) {
	seeded.Check(t, func(t *rapid.T) {
		pool := drawPool(t)
		claim := &NodeClaim{Spec: pool.Spec.Template.Spec}
		claim.Name, claim.Labels = pool.Name, pool.Spec.Template.Labels
		claim.Spec.Resources = v1.ResourceRequirements{Requests: corev1.ResourceList{"cpu": resource.MustParse("1")}}
		options := aws()
		options.ReferenceCompat = true
		hub, warnings := claim.ToV1(options)
		if err := warnings.Err(); err != nil {
			t.Fatal(err)
		}
		back, backWarnings := NodeClaimFromV1(hub, options)
		if err := backWarnings.Err(); err != nil {
			t.Fatal(err)
		}
		want := claim.DeepCopy()
		want.APIVersion, want.Kind = APIVersion, KindNodeClaim
		if diff := cmp.Diff(want, back); diff != "" {
			t.Fatalf("(-before +after)\n%s", diff)
		}
	})
}

func FuzzManifest(f *testing.F) {
	manifesttest.Seed(f)
	f.Fuzz(func(t *testing.T, manifest []byte) {
		for _, newObject := range []func() object{
			func() object { return &NodePool{} },
			func() object { return &NodeClaim{} },
		} {
			o := newObject()
			if !manifesttest.Reread(t, manifest, o, newObject()) {
				continue
			}
			convertBothWays(t, o)
			manifesttest.DefaultTwice(t, o)
		}
	})
}

// convertBothWays checks API-269: what is valid gives a valid v1 object or an error, and that comes back.
func convertBothWays(t *testing.T, o object) {
	valid := len(o.Validate()) == 0
	var warnings conversion.Warnings
	switch o := o.(type) {
	case *NodePool:
		hub, w := o.ToV1(aws())
		warnings = w
		if hub != nil {
			NodePoolFromV1(hub, aws())
		}
	case *NodeClaim:
		hub, w := o.ToV1(aws())
		warnings = w
		if hub != nil {
			NodeClaimFromV1(hub, aws())
		}
	}
	if err := warnings.Err(); valid && err != nil {
		text, _ := yaml.Marshal(o)
		t.Fatalf("valid but not converted: %v\n%s", err, text)
	}
}

func drawPool(t *rapid.T) *NodePool {
	name := rapid.StringMatching(`[a-z]{1,8}`)
	span := rapid.StringMatching(`([1-9]?[0-9]h)?[1-9]?[0-9]m`)
	nillable := func(label string) v1.NillableDuration {
		d, err := v1.ParseNillableDuration(rapid.OneOf(span, rapid.Just("Never")).Draw(t, label))
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	pool := &NodePool{}
	pool.Name = name.Draw(t, "name")
	if rapid.Bool().Draw(t, "annotated") {
		pool.Annotations = map[string]string{"example.com/note": name.Draw(t, "note")}
	}
	pool.Spec.Template.Labels = rapid.MapOfN(name, name, 0, 3).Draw(t, "labels")
	pool.Spec.Template.Annotations = rapid.MapOfN(rapid.OneOf(name, rapid.Just(DoNotConsolidateAnnotationKey)), name, 0, 3).Draw(t, "annotations")
	pool.Spec.Template.Spec = NodeClaimSpec{
		Taints:       []corev1.Taint{{Key: name.Draw(t, "taint"), Effect: corev1.TaintEffectNoSchedule}},
		Requirements: drawRequirements(t),
		NodeClassRef: NodeClassReference{
			Name:       name.Draw(t, "class"),
			Kind:       rapid.SampledFrom([]string{"", "EC2NodeClass", "Other"}).Draw(t, "kind"),
			APIVersion: rapid.SampledFrom([]string{"", "karpenter.k8s.aws/v1beta1", "example.com/v1", "example.com"}).Draw(t, "apiVersion"),
		},
	}
	if rapid.Bool().Draw(t, "kubelet") {
		pool.Spec.Template.Spec.Kubelet = &KubeletConfiguration{
			MaxPods:        rapid.Ptr(rapid.Int32Range(0, 500), true).Draw(t, "maxPods"),
			SystemReserved: rapid.SampledFrom([]map[string]Amount{nil, {}, {"cpu": "100m"}, {"pid": "1e3"}}).Draw(t, "systemReserved"),
			EvictionHard:   rapid.SampledFrom([]map[string]string{nil, {}, {"memory.available": "5%"}}).Draw(t, "evictionHard"),
			CPUCFSQuota:    rapid.Ptr(rapid.Bool(), true).Draw(t, "cpuCFSQuota"),
		}
	}
	d := &pool.Spec.Disruption
	switch rapid.IntRange(0, 3).Draw(t, "disruption") {
	case 1:
		d.ConsolidationPolicy, d.ConsolidateAfter = ConsolidationPolicyWhenEmpty, nillable("consolidateAfter")
	case 2:
		d.ConsolidationPolicy = ConsolidationPolicyWhenUnderutilized
	case 3:
		d.ConsolidateAfter = v1.Never()
	}
	if rapid.Bool().Draw(t, "expires") {
		d.ExpireAfter = nillable("expireAfter")
	}
	d.Budgets = rapid.SampledFrom([][]Budget{nil, {}, {{Nodes: "10%"}, {Nodes: "3"}}}).Draw(t, "budgets")
	pool.Spec.Weight = rapid.Ptr(rapid.Int32Range(1, 100), true).Draw(t, "weight")
	if rapid.Bool().Draw(t, "limited") {
		pool.Spec.Limits = corev1.ResourceList{"cpu": resource.MustParse("1k")}
	}
	return pool
}

func drawRequirements(t *rapid.T) []NodeSelectorRequirementWithMinValues {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) NodeSelectorRequirementWithMinValues {
		r := NodeSelectorRequirementWithMinValues{
			Key:      rapid.StringMatching(`[a-z]{1,8}`).Draw(t, "key"),
			Operator: rapid.SampledFrom([]corev1.NodeSelectorOperator{"In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"}).Draw(t, "operator"),
		}
		switch r.Operator {
		case corev1.NodeSelectorOpIn:
			r.Values = []string{"a", "b"}
			r.MinValues = rapid.Ptr(rapid.IntRange(1, 2), true).Draw(t, "minValues")
		case corev1.NodeSelectorOpNotIn:
			r.Values = []string{"a"}
		case corev1.NodeSelectorOpGt, corev1.NodeSelectorOpLt:
			r.Values = []string{"3"}
		}
		return r
	}), 0, 4).Draw(t, "requirements")
}

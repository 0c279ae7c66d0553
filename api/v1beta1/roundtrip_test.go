package v1beta1

import (
	"bytes"
	"cmp"
	"encoding/json"
	"flag"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"pgregory.net/rapid"
	"sigs.k8s.io/yaml"

	"github.com/drawknife/drawknife/api/conversion"
	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/internal/kindfields"
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
	var drawn kindfields.Seen
	seeded.Check(t, func(t *rapid.T) {
		pool := drawPool(t)
		drawn.Note(pool)
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
		if diff := gocmp.Diff(want, back); diff != "" {
			t.Fatalf("(-before +after)\n%s", diff)
		}
		again, againWarnings := pool.ToV1(aws())
		if diff := gocmp.Diff(hub, again) + gocmp.Diff(warnings, againWarnings); diff != "" {
			t.Fatalf("a second conversion differs:\n%s", diff)
		}
	})
	// A pool's template must not have resources.
	if !testing.Short() { // which draws a fifth
		drawn.Complete(t, &NodePool{}, append(manifesttest.UndrawnMetadata(), "spec.template.spec.resources")...)
	}
}

// API-335, API-340, API-368, API-369, API-370, API-381: with the annotations that Karpenter's webhook writes, a reference survives
// as it was written; of conditions only what v1 has no place for is lost.
func TestRandomClaimsSurviveV1(t *testing.T) {
	var drawn kindfields.Seen
	seeded.Check(t, func(t *rapid.T) {
		pool := drawPool(t)
		claim := &NodeClaim{ObjectMeta: pool.ObjectMeta, Spec: pool.Spec.Template.Spec}
		claim.Spec.Resources = v1.ResourceRequirements{Requests: manifesttest.Resources().Draw(t, "requests")}
		word := manifesttest.Word()
		claim.Status = NodeClaimStatus{
			NodeName: word.Draw(t, "node"), ProviderID: word.Draw(t, "provider"), ImageID: word.Draw(t, "image"),
			Capacity: manifesttest.Resources().Draw(t, "capacity"), Allocatable: manifesttest.Resources().Draw(t, "allocatable"),
			Conditions: drawConditions(t),
		}
		drawn.Note(claim)
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
		want.Status.Conditions = slices.DeleteFunc(want.Status.Conditions, func(c Condition) bool { return c.Type == ConditionEmpty || c.Type == ConditionExpired })
		for i := range want.Status.Conditions {
			c := &want.Status.Conditions[i]
			c.Severity, c.Reason = "", cmp.Or(c.Reason, c.Type)
		}
		if diff := gocmp.Diff(want, back, cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("(-before +after)\n%s", diff)
		}
	})
	if !testing.Short() { // which draws a fifth
		drawn.Complete(t, &NodeClaim{}, manifesttest.UndrawnMetadata()...)
	}
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

// drawPool draws a valid pool; which fields it can have is checked by the tests that use it.
func drawPool(t *rapid.T) *NodePool {
	word := manifesttest.Word()
	span := rapid.StringMatching(`([1-9]?[0-9]h)?[1-9]?[0-9]m`)
	nillable := func(label string) v1.NillableDuration {
		d, err := v1.ParseNillableDuration(rapid.OneOf(span, rapid.Just("Never")).Draw(t, label))
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	pool := &NodePool{ObjectMeta: manifesttest.Metadata().Draw(t, "metadata")}
	pool.Spec.Template.Labels = rapid.MapOfN(word, word, 0, 3).Draw(t, "labels")
	pool.Spec.Template.Annotations = rapid.MapOfN(rapid.OneOf(word, rapid.Just(DoNotConsolidateAnnotationKey)), word, 0, 3).Draw(t, "annotations")
	pool.Spec.Template.Spec = NodeClaimSpec{
		Taints: manifesttest.Taints("taint").Draw(t, "taints"), StartupTaints: manifesttest.Taints("startup").Draw(t, "startupTaints"),
		Requirements: drawRequirements(t),
		NodeClassRef: NodeClassReference{
			Name:       word.Draw(t, "class"),
			Kind:       rapid.SampledFrom([]string{"", "EC2NodeClass", "Other"}).Draw(t, "kind"),
			APIVersion: rapid.SampledFrom([]string{"", "karpenter.k8s.aws/v1beta1", "example.com/v1", "example.com"}).Draw(t, "apiVersion"),
		},
	}
	if rapid.Bool().Draw(t, "kubelet") {
		pool.Spec.Template.Spec.Kubelet = drawKubelet(t)
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
	nightly, long := "@daily", v1.Duration{}
	if err := json.Unmarshal([]byte(`"8h"`), &long); err != nil {
		t.Fatal(err)
	}
	d.Budgets = rapid.SampledFrom([][]Budget{nil, {}, {{Nodes: "10%"}, {Nodes: "3"}}, {{Nodes: "0", Schedule: &nightly, Duration: &long}}}).Draw(t, "budgets")
	pool.Spec.Weight = rapid.Ptr(rapid.Int32Range(1, 100), true).Draw(t, "weight")
	pool.Spec.Limits, pool.Status.Resources = manifesttest.Resources().Draw(t, "limits"), manifesttest.Resources().Draw(t, "resources")
	return pool
}

func drawKubelet(t *rapid.T) *KubeletConfiguration {
	number := rapid.Ptr(rapid.Int32Range(0, 500), true)
	reserved := rapid.SampledFrom([]map[string]Amount{nil, {}, {"cpu": "100m"}, {"memory": "1Gi", "pid": "1e3"}})
	thresholds := rapid.SampledFrom([]map[string]string{nil, {}, {"memory.available": "5%"}, {"nodefs.available": "1Gi", "pid.available": "3%"}})
	k := &KubeletConfiguration{
		ClusterDNS: rapid.SampledFrom([][]string{nil, {}, {"10.0.0.10", "fd00::a"}}).Draw(t, "clusterDNS"),
		MaxPods:    number.Draw(t, "maxPods"), PodsPerCore: number.Draw(t, "podsPerCore"),
		SystemReserved: reserved.Draw(t, "systemReserved"), KubeReserved: reserved.Draw(t, "kubeReserved"),
		EvictionHard: thresholds.Draw(t, "evictionHard"), EvictionSoft: thresholds.Draw(t, "evictionSoft"),
		EvictionMaxPodGracePeriod: number.Draw(t, "evictionMaxPodGracePeriod"),
		CPUCFSQuota:               rapid.Ptr(rapid.Bool(), true).Draw(t, "cpuCFSQuota"),
	}
	if len(k.EvictionSoft) > 0 {
		k.EvictionSoftGracePeriod = make(map[string]string)
		for signal := range k.EvictionSoft {
			k.EvictionSoftGracePeriod[signal] = "90s"
		}
	}
	if rapid.Bool().Draw(t, "collects") {
		low, high := rapid.Int32Range(0, 49).Draw(t, "low"), rapid.Int32Range(50, 100).Draw(t, "high")
		k.ImageGCLowThresholdPercent, k.ImageGCHighThresholdPercent = &low, &high
	}
	return k
}

func drawRequirements(t *rapid.T) []NodeSelectorRequirementWithMinValues {
	out := []NodeSelectorRequirementWithMinValues{}
	for _, r := range manifesttest.Requirements().Draw(t, "requirements") {
		with := NodeSelectorRequirementWithMinValues{Key: r.Key, Operator: r.Operator, Values: r.Values}
		if r.Operator == corev1.NodeSelectorOpIn {
			with.MinValues = rapid.Ptr(rapid.IntRange(1, len(r.Values)), true).Draw(t, "minValues")
		}
		out = append(out, with)
	}
	return out
}

// drawConditions draws conditions as some release wrote them.
func drawConditions(t *rapid.T) []Condition {
	var out []Condition
	for _, kind := range []string{ConditionLaunched, ConditionRegistered, ConditionEmpty, ConditionExpired, ConditionDrifted, "Own"} {
		if rapid.Bool().Draw(t, kind) {
			out = append(out, Condition{
				Type: kind, Status: rapid.SampledFrom([]metav1.ConditionStatus{"True", "False", "Unknown"}).Draw(t, "status"),
				Severity: rapid.SampledFrom([]string{"", "Info"}).Draw(t, "severity"), Reason: rapid.SampledFrom([]string{"", "Why"}).Draw(t, "reason"),
				Message: rapid.SampledFrom([]string{"", "it is so"}).Draw(t, "message"), ObservedGeneration: rapid.Int64Range(0, 3).Draw(t, "generation"),
				LastTransitionTime: manifesttest.Time().Draw(t, "since"),
			})
		}
	}
	return out
}

package v1

import (
	"bytes"
	"encoding/json"
	"flag"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"pgregory.net/rapid"
	"sigs.k8s.io/yaml"

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

// PRV-001, PRV-002, PRV-003, PRV-005, PRV-140, API-175 to API-198: every field is read, and written as it was.
func TestManifestsRoundTrip(t *testing.T) {
	for file, newObject := range map[string]func() object{
		"nodepool-full.yaml":   func() object { return &NodePool{} },
		"nodepool-static.yaml": func() object { return &NodePool{} },
		"nodeclaim.yaml":       func() object { return &NodeClaim{} },
		"nodeoverlay.yaml":     func() object { return &NodeOverlay{} },
	} {
		t.Run(file, func(t *testing.T) {
			manifesttest.RoundTrip(t, file, newObject(), AddToScheme, *update)
		})
	}
}

func TestUnknownFieldIsRefusedWhenDecodingStrictly(t *testing.T) {
	var pool NodePool
	err := yaml.UnmarshalStrict([]byte("spec: {template: {spec: {kubelet: {}}}}"), &pool)
	if err == nil {
		t.Error("the kubelet block, which a v1 NodePool doesn't have (API-181), was accepted")
	}
}

func TestRandomPoolsRoundTrip(t *testing.T) {
	seeded.Check(t, func(t *rapid.T) {
		pool := drawPool(t)
		first, err := json.Marshal(pool)
		if err != nil {
			t.Fatal(err)
		}
		var again NodePool
		if err := json.Unmarshal(first, &again); err != nil {
			t.Fatalf("%v in %s", err, first)
		}
		if diff := cmp.Diff(pool, &again); diff != "" {
			t.Fatal(diff)
		}
		if second, _ := json.Marshal(&again); !bytes.Equal(first, second) {
			t.Fatalf("written as\n%s\nthen as\n%s", first, second)
		}
		if pool.Hash() != again.Hash() {
			t.Fatal("hash changed by writing and reading")
		}
		copied := pool.DeepCopy()
		copied.Default()
		copied.Spec.Template.Spec.Requirements = append(copied.Spec.Template.Spec.Requirements, NodeSelectorRequirementWithMinValues{Key: "more"})
		for i := range copied.Spec.Disruption.Budgets {
			copied.Spec.Disruption.Budgets[i].Nodes = "changed"
		}
		if third, _ := json.Marshal(pool); !bytes.Equal(first, third) {
			t.Fatal("changing a deep copy changed the original")
		}
	})
}

func FuzzManifest(f *testing.F) {
	manifesttest.Seed(f)
	f.Fuzz(func(t *testing.T, manifest []byte) {
		for _, newObject := range []func() object{
			func() object { return &NodePool{} },
			func() object { return &NodeClaim{} },
			func() object { return &NodeOverlay{} },
		} {
			o := newObject()
			if !manifesttest.Reread(t, manifest, o, newObject()) {
				continue
			}
			o.Validate()
			manifesttest.DefaultTwice(t, o)
		}
	})
}

func drawPool(t *rapid.T) *NodePool {
	name := rapid.StringMatching(`[a-z]{1,8}`)
	labels := rapid.MapOfN(name, name, 0, 3)
	taints := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) corev1.Taint {
		return corev1.Taint{
			Key: name.Draw(t, "key"), Value: rapid.StringMatching(`[a-z]{0,3}`).Draw(t, "value"),
			Effect: rapid.SampledFrom([]corev1.TaintEffect{corev1.TaintEffectNoSchedule, corev1.TaintEffectNoExecute, ""}).Draw(t, "effect"),
		}
	}), 0, 3)
	span := rapid.StringMatching(`([1-9]?[0-9]h)?[1-9]?[0-9]m`)
	nillable := rapid.Custom(func(t *rapid.T) NillableDuration {
		d, err := ParseNillableDuration(rapid.OneOf(span, rapid.Just(neverText)).Draw(t, "duration"))
		if err != nil {
			t.Fatal(err)
		}
		return rapid.SampledFrom([]NillableDuration{{}, d, NewNillableDuration(time.Second)}).Draw(t, "nillable")
	})
	requirement := rapid.Custom(func(t *rapid.T) NodeSelectorRequirementWithMinValues {
		return NodeSelectorRequirementWithMinValues{
			Key:       name.Draw(t, "key"),
			Operator:  rapid.SampledFrom([]corev1.NodeSelectorOperator{"In", "Exists", "Gte"}).Draw(t, "operator"),
			Values:    rapid.SliceOfN(name, 0, 2).Draw(t, "values"),
			MinValues: rapid.Ptr(rapid.IntRange(1, 50), true).Draw(t, "minValues"),
		}
	})
	budget := rapid.Custom(func(t *rapid.T) Budget {
		b := Budget{
			Nodes:   rapid.SampledFrom([]string{"10%", "3", "0", ""}).Draw(t, "nodes"),
			Reasons: rapid.SampledFrom([][]DisruptionReason{nil, {}, {DisruptionReasonEmpty}}).Draw(t, "reasons"),
		}
		if rapid.Bool().Draw(t, "scheduled") {
			schedule := "@daily"
			d, err := ParseDuration(span.Draw(t, "duration"))
			if err != nil {
				t.Fatal(err)
			}
			b.Schedule, b.Duration = &schedule, &d
		}
		return b
	})
	pool := &NodePool{}
	pool.Name = name.Draw(t, "name")
	pool.Spec = NodePoolSpec{
		Template: NodeClaimTemplate{
			ObjectMeta: ObjectMeta{Labels: labels.Draw(t, "labels"), Annotations: labels.Draw(t, "annotations")},
			Spec: NodeClaimTemplateSpec{
				Taints: taints.Draw(t, "taints"), StartupTaints: taints.Draw(t, "startupTaints"),
				Requirements: rapid.SliceOfN(requirement, 0, 3).Draw(t, "requirements"),
				NodeClassRef: NodeClassReference{Group: "karpenter.k8s.aws", Kind: "EC2NodeClass", Name: name.Draw(t, "class")},
				ExpireAfter:  nillable.Draw(t, "expireAfter"),
			},
		},
		Disruption: Disruption{
			ConsolidateAfter:    nillable.Draw(t, "consolidateAfter"),
			ConsolidationPolicy: rapid.SampledFrom([]ConsolidationPolicy{"", ConsolidationPolicyWhenEmpty}).Draw(t, "policy"),
			Budgets:             rapid.OneOf(rapid.Just([]Budget(nil)), rapid.SliceOfN(budget, 0, 3)).Draw(t, "budgets"),
		},
		Weight:   rapid.Ptr(rapid.Int32Range(1, 100), true).Draw(t, "weight"),
		Replicas: rapid.Ptr(rapid.Int64Range(0, 100), true).Draw(t, "replicas"),
	}
	if rapid.Bool().Draw(t, "grace") {
		d, err := ParseDuration(span.Draw(t, "terminationGracePeriod"))
		if err != nil {
			t.Fatal(err)
		}
		pool.Spec.Template.Spec.TerminationGracePeriod = &d
	}
	if n := rapid.Int64Range(0, 5000).Draw(t, "cpu"); n > 0 {
		pool.Spec.Limits = corev1.ResourceList{"cpu": *resource.NewMilliQuantity(n, resource.DecimalSI)}
	}
	return pool
}

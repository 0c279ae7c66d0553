package v1beta1

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/drawknife/drawknife/api/conversion"
	v1 "github.com/drawknife/drawknife/api/v1"
)

// base is a pool that gives no warnings but those of its cases: it never expires and is emptied after 2m.
const base = `
metadata: {name: web}
spec:
  disruption: {consolidationPolicy: WhenEmpty, consolidateAfter: 2m, expireAfter: Never}
  template:
    spec:
      requirements: []
      nodeClassRef: {apiVersion: karpenter.k8s.aws/v1beta1, kind: EC2NodeClass, name: default}
`

func readPool(t *testing.T, manifest string) *NodePool {
	t.Helper()
	pool := &NodePool{}
	if err := yaml.UnmarshalStrict([]byte(manifest), pool); err != nil {
		t.Fatal(err)
	}
	return pool
}

func codes(warnings conversion.Warnings) string {
	list := make([]string, len(warnings))
	for i, w := range warnings {
		list[i] = string(w.Code) + " " + w.Path
	}
	return strings.Join(list, "\n")
}

func TestPoolToV1(t *testing.T) {
	compat := func(o *ConvertOptions) { o.ReferenceCompat = true }
	force := func(o *ConvertOptions) { o.Force = true }
	for _, c := range []struct {
		name    string
		change  func(*NodePool)
		options func(*ConvertOptions)
		// field reads what is compared with want.
		field func(*v1.NodePool) string
		want  string
		codes string
	}{
		{name: "API-347: WhenEmpty keeps the text of its wait", field: consolidation, want: "WhenEmpty 2m"},
		{
			name: "API-342, API-345: WhenUnderutilized is renamed and its wait written out",
			change: func(p *NodePool) {
				p.Spec.Disruption = Disruption{ConsolidationPolicy: "WhenUnderutilized", ExpireAfter: v1.Never()}
			},
			field: consolidation, want: "WhenEmptyOrUnderutilized 0s", codes: "W501 spec.disruption.consolidateAfter",
		},
		{
			name:   "API-344, API-349, API-463: no block at all",
			change: func(p *NodePool) { p.Spec.Disruption = Disruption{} },
			field:  func(p *v1.NodePool) string { return consolidation(p) + " " + p.Spec.Template.Spec.ExpireAfter.String() },
			want:   "WhenEmptyOrUnderutilized 0s 720h",
			codes:  "W501 spec.disruption.consolidateAfter\nW504 spec.disruption.expireAfter",
		},
		{
			name: "API-139, API-346, API-464: consolidation that is off stays off",
			change: func(p *NodePool) {
				p.Spec.Disruption.ConsolidationPolicy, p.Spec.Disruption.ConsolidateAfter = "WhenUnderutilized", v1.Never()
			},
			field: consolidation, want: "WhenEmptyOrUnderutilized Never", codes: "W502 spec.disruption.consolidateAfter",
		},
		{
			name: "API-268, API-346, API-464: unless the reference's result is asked for",
			change: func(p *NodePool) {
				p.Spec.Disruption.ConsolidationPolicy, p.Spec.Disruption.ConsolidateAfter = "WhenUnderutilized", v1.Never()
			},
			options: compat, field: consolidation, want: "WhenEmptyOrUnderutilized 0s", codes: "W501 spec.disruption.consolidateAfter",
		},
		{name: "API-343: WhenEmpty that is off stays so", change: func(p *NodePool) { p.Spec.Disruption.ConsolidateAfter = v1.Never() }, field: consolidation, want: "WhenEmpty Never"},
		{
			name:   "API-348: WhenEmpty without a wait is refused",
			change: func(p *NodePool) { p.Spec.Disruption.ConsolidateAfter = v1.NillableDuration{} },
			field:  consolidation, want: "none", codes: "W503 spec.disruption.consolidateAfter",
		},
		{
			name:    "API-266, API-348: and when forced removes nothing, as before",
			change:  func(p *NodePool) { p.Spec.Disruption.ConsolidateAfter = v1.NillableDuration{} },
			options: force, field: consolidation, want: "WhenEmpty Never", codes: "W503 spec.disruption.consolidateAfter",
		},
		{
			name:   "API-349, API-461: expireAfter moves with its text",
			change: func(p *NodePool) { p.Spec.Disruption.ExpireAfter = parse(t, "360h") },
			field:  func(p *v1.NodePool) string { return p.Spec.Template.Spec.ExpireAfter.String() }, want: "360h",
			codes: "W504 spec.disruption.expireAfter",
		},
		{
			name:   "API-351: budgets speak of every reason",
			change: func(p *NodePool) { p.Spec.Disruption.Budgets = []Budget{{Nodes: "3"}} },
			field:  asYAML(func(p *v1.NodePool) any { return p.Spec.Disruption.Budgets }), want: "- nodes: \"3\"",
		},
		{name: "API-352: no budgets stay none", field: asYAML(func(p *v1.NodePool) any { return p.Spec.Disruption.Budgets }), want: "null"},
		{name: "API-353: the group is what comes before the slash", field: reference, want: "karpenter.k8s.aws EC2NodeClass default"},
		{
			name:   "API-353, API-354: a reference of only a name is completed",
			change: func(p *NodePool) { p.Spec.Template.Spec.NodeClassRef = NodeClassReference{Name: "default"} },
			field:  reference, want: "karpenter.k8s.aws EC2NodeClass default", codes: "W505 spec.template.spec.nodeClassRef",
		},
		{
			name: "API-219, API-383: by the provider's kind alone",
			change: func(p *NodePool) {
				p.Spec.Template.Spec.NodeClassRef = NodeClassReference{Name: "default", Kind: "EC2NodeClass"}
			},
			options: func(o *ConvertOptions) { *o = ConvertOptions{} },
			field:   reference, want: "none", codes: "W601 spec.template.spec.nodeClassRef.group",
		},
		{
			name:   "API-353: a version has no place",
			change: func(p *NodePool) { p.Spec.Template.Spec.NodeClassRef.APIVersion = "example.com/v2" },
			field:  reference, want: "example.com EC2NodeClass default", codes: "W517 spec.template.spec.nodeClassRef.apiVersion",
		},
		{
			name: "API-135, API-355: resources are dropped",
			change: func(p *NodePool) {
				p.Spec.Template.Spec.Resources.Requests = corev1.ResourceList{"cpu": resource.MustParse("1")}
			},
			field: reference, want: "karpenter.k8s.aws EC2NodeClass default", codes: "W506 spec.template.spec.resources",
		},
		{
			name:   "API-237, API-375, API-378: the kubelet block goes to an annotation, the reference doesn't",
			change: func(p *NodePool) { p.Spec.Template.Spec.Kubelet = &KubeletConfiguration{MaxPods: new(int32)} },
			field:  asYAML(func(p *v1.NodePool) any { return p.Annotations }), want: `compatibility.karpenter.sh/v1beta1-kubelet-conversion: '{"maxPods":0}'`,
			codes: "W507 spec.template.spec.kubelet",
		},
		{
			name: "API-238, API-379: the reference too if the reference's result is asked for", options: compat,
			field: asYAML(func(p *v1.NodePool) any { return p.Annotations }),
			want:  `compatibility.karpenter.sh/v1beta1-nodeclass-reference: '{"kind":"EC2NodeClass","name":"default","apiVersion":"karpenter.k8s.aws/v1beta1"}'`,
		},
		{
			name: "API-366: do-not annotations of old are renamed, and any true counts",
			change: func(p *NodePool) {
				p.Spec.Template.Annotations = map[string]string{DoNotConsolidateAnnotationKey: "true", v1.DoNotDisruptAnnotationKey: "false", "kept": "yes"}
			},
			field: asYAML(func(p *v1.NodePool) any { return p.Spec.Template.Annotations }), want: "karpenter.sh/do-not-disrupt: \"true\"\nkept: \"yes\"",
			codes: "W106 spec.template.metadata.annotations[karpenter.sh/do-not-consolidate]",
		},
		{
			name: "API-366: one that is not true doesn't overrule",
			change: func(p *NodePool) {
				p.Spec.Template.Annotations = map[string]string{DoNotEvictAnnotationKey: "no", v1.DoNotDisruptAnnotationKey: "true"}
			},
			field: asYAML(func(p *v1.NodePool) any { return p.Spec.Template.Annotations }), want: "karpenter.sh/do-not-disrupt: \"true\"",
			codes: "W106 spec.template.metadata.annotations[karpenter.sh/do-not-evict]",
		},
		{
			name:   "API-383: what v1 refuses is said",
			change: func(p *NodePool) { w := int32(101); p.Spec.Weight = &w },
			field:  reference, want: "none", codes: "W601 spec.weight",
		},
		{
			name:   "API-383: a policy that never was",
			change: func(p *NodePool) { p.Spec.Disruption.ConsolidationPolicy = "Sometimes" },
			field:  reference, want: "none", codes: "W601 spec.disruption.consolidationPolicy",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			pool, options := readPool(t, base), aws()
			if c.change != nil {
				c.change(pool)
			}
			if c.options != nil {
				c.options(&options)
			}
			hub, warnings := pool.ToV1(options)
			got := "none"
			if hub != nil {
				got = c.field(hub)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			if diff := cmp.Diff(c.codes, codes(warnings)); diff != "" {
				t.Errorf("warnings (-want +got)\n%s", diff)
			}
		})
	}
}

func consolidation(p *v1.NodePool) string {
	return string(p.Spec.Disruption.ConsolidationPolicy) + " " + p.Spec.Disruption.ConsolidateAfter.String()
}

func reference(p *v1.NodePool) string {
	ref := p.Spec.Template.Spec.NodeClassRef
	return ref.Group + " " + ref.Kind + " " + ref.Name
}

func asYAML[T any](of func(T) any) func(T) string {
	return func(o T) string {
		text, err := yaml.Marshal(of(o))
		if err != nil {
			return err.Error()
		}
		return strings.TrimSpace(string(text))
	}
}

func parse(t *testing.T, text string) v1.NillableDuration {
	t.Helper()
	d, err := v1.ParseNillableDuration(text)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestPoolFromV1(t *testing.T) {
	const pool = `
metadata: {name: web}
spec:
  disruption: {consolidationPolicy: WhenEmpty, consolidateAfter: 2m}
  template:
    spec:
      expireAfter: Never
      requirements: []
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
`
	seconds := func(text string) v1.NillableDuration { return parse(t, text) }
	disruption := asYAML(func(p *NodePool) any { return p.Spec.Disruption })
	ref := asYAML(func(p *NodePool) any { return p.Spec.Template.Spec.NodeClassRef })
	requirements := asYAML(func(p *NodePool) any { return p.Spec.Template.Spec.Requirements })
	compat := func(o *ConvertOptions) { o.ReferenceCompat = true }
	for _, c := range []struct {
		name    string
		change  func(*v1.NodePool)
		options func(*ConvertOptions)
		field   func(*NodePool) string
		want    string
		codes   string
	}{
		{name: "API-381: expireAfter moves back", field: disruption, want: "consolidateAfter: 2m\nconsolidationPolicy: WhenEmpty\nexpireAfter: Never"},
		{
			name:   "API-381, API-382, API-414: the combined policy loses its wait",
			change: func(p *v1.NodePool) { p.Spec.Disruption = v1.Disruption{ConsolidateAfter: seconds("5m")} },
			field:  disruption, want: "consolidationPolicy: WhenUnderutilized\nexpireAfter: Never", codes: "W903 spec.disruption.consolidateAfter",
		},
		{
			name:   "API-382: a wait of 0s becomes the fixed one",
			change: func(p *v1.NodePool) { p.Spec.Disruption = v1.Disruption{} },
			field:  disruption, want: "consolidationPolicy: WhenUnderutilized\nexpireAfter: Never", codes: "W904 spec.disruption.consolidateAfter",
		},
		{
			name:   "API-381: consolidation that is off stays off",
			change: func(p *v1.NodePool) { p.Spec.Disruption = v1.Disruption{ConsolidateAfter: v1.Never()} },
			field:  disruption, want: "consolidateAfter: Never\nconsolidationPolicy: WhenUnderutilized\nexpireAfter: Never",
		},
		{
			name:    "API-381: but for the reference",
			change:  func(p *v1.NodePool) { p.Spec.Disruption = v1.Disruption{ConsolidateAfter: v1.Never()} },
			options: compat, field: disruption, want: "consolidationPolicy: WhenUnderutilized\nexpireAfter: Never", codes: "W903 spec.disruption.consolidateAfter",
		},
		{
			name: "API-184, API-382: Balanced",
			change: func(p *v1.NodePool) {
				p.Spec.Disruption = v1.Disruption{ConsolidationPolicy: "Balanced", ConsolidateAfter: v1.Never()}
			},
			field: disruption, want: "consolidateAfter: Never\nconsolidationPolicy: WhenUnderutilized\nexpireAfter: Never", codes: "W908 spec.disruption.consolidationPolicy",
		},
		{
			name: "API-382: reasons of budgets, one of them none, are lost",
			change: func(p *v1.NodePool) {
				p.Spec.Disruption.Budgets = []v1.Budget{
					{Nodes: "1", Reasons: []v1.DisruptionReason{}},
					{Nodes: "2", Reasons: []v1.DisruptionReason{v1.DisruptionReasonEmpty, v1.DisruptionReasonDrifted}},
					{Nodes: "3", Reasons: []v1.DisruptionReason{v1.DisruptionReasonEmpty, v1.DisruptionReasonDrifted, v1.DisruptionReasonUnderutilized}},
				}
			},
			field: asYAML(func(p *NodePool) any { return p.Spec.Disruption.Budgets }), want: "- nodes: \"2\"\n- nodes: \"3\"",
			codes: "W912 spec.disruption.budgets[0]\nW902 spec.disruption.budgets[1].reasons",
		},
		{name: "API-381: the reference is written with a version", field: ref, want: "apiVersion: karpenter.k8s.aws/v1beta1\nkind: EC2NodeClass\nname: default"},
		{name: "API-381: by the reference without one", options: compat, field: ref, want: "kind: EC2NodeClass\nname: default"},
		{
			name: "API-381: as the annotation remembers it, which is then gone",
			change: func(p *v1.NodePool) {
				p.Annotations = map[string]string{NodeClassReferenceAnnotationKey: `{"name":"default"}`}
			},
			field: asYAML(func(p *NodePool) any { return []any{p.Spec.Template.Spec.NodeClassRef, p.Annotations} }), want: "- name: default\n- null",
		},
		{
			name: "API-381: unless it speaks of another node class",
			change: func(p *v1.NodePool) {
				p.Annotations = map[string]string{NodeClassReferenceAnnotationKey: `{"name":"former"}`}
			},
			field: ref, want: "apiVersion: karpenter.k8s.aws/v1beta1\nkind: EC2NodeClass\nname: default",
		},
		{
			name: "API-381: an annotation that can't be read is an error",
			change: func(p *v1.NodePool) {
				p.Annotations = map[string]string{KubeletAnnotationKey: `{`, NodeClassReferenceAnnotationKey: `[]`}
			},
			field: ref, want: "none",
			codes: "W911 metadata.annotations[compatibility.karpenter.sh/v1beta1-kubelet-conversion]\nW911 metadata.annotations[compatibility.karpenter.sh/v1beta1-nodeclass-reference]",
		},
		{
			name:   "API-382: terminationGracePeriod is lost",
			change: func(p *v1.NodePool) { d := v1.NewDuration(0); p.Spec.Template.Spec.TerminationGracePeriod = &d },
			field:  ref, want: "apiVersion: karpenter.k8s.aws/v1beta1\nkind: EC2NodeClass\nname: default", codes: "W901 spec.template.spec.terminationGracePeriod",
		},
		{
			name:   "API-190: a static pool can't be expressed",
			change: func(p *v1.NodePool) { p.Spec.Replicas = new(int64) },
			field:  ref, want: "none", codes: "W906 spec.replicas",
		},
		{
			name:   "API-188: a limit on nodes is not acted on",
			change: func(p *v1.NodePool) { p.Spec.Limits = corev1.ResourceList{"nodes": resource.MustParse("3")} },
			field:  asYAML(func(p *NodePool) any { return p.Spec.Limits }), want: "nodes: \"3\"", codes: "W907 spec.limits[nodes]",
		},
		{
			name: "API-018: Gte and Lte are written with the operators there were",
			change: func(p *v1.NodePool) {
				p.Spec.Template.Spec.Requirements = []v1.NodeSelectorRequirementWithMinValues{
					{Key: "a", Operator: "Gte", Values: []string{"3"}}, {Key: "b", Operator: "Lte", Values: []string{"3"}}, {Key: "c", Operator: "Gte", Values: []string{"0"}},
				}
			},
			field: requirements, want: "- key: a\n  operator: Gt\n  values:\n  - \"2\"\n- key: b\n  operator: Lt\n  values:\n  - \"4\"\n- key: c\n  operator: Exists",
			codes: "W909 spec.template.spec.requirements[0]\nW909 spec.template.spec.requirements[1]\nW909 spec.template.spec.requirements[2]",
		},
		{
			name:   "API-349: expiry turns graceful",
			change: func(p *v1.NodePool) { p.Spec.Template.Spec.ExpireAfter = seconds("360h") },
			field:  func(p *NodePool) string { return p.Spec.Disruption.ExpireAfter.String() }, want: "360h", codes: "W905 spec.template.spec.expireAfter",
		},
		{
			name:   "API-383: the result is judged by its own rules",
			change: func(p *v1.NodePool) { p.Spec.Disruption.ConsolidationPolicy = "Later" },
			field:  ref, want: "none", codes: "W903 spec.disruption.consolidateAfter\nW601 spec.disruption.consolidationPolicy",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			in, options := &v1.NodePool{}, aws()
			if err := yaml.UnmarshalStrict([]byte(pool), in); err != nil {
				t.Fatal(err)
			}
			if c.change != nil {
				c.change(in)
			}
			if c.options != nil {
				c.options(&options)
			}
			back, warnings := NodePoolFromV1(in, options)
			got := "none"
			if back != nil {
				got = c.field(back)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			if diff := cmp.Diff(c.codes, codes(warnings)); diff != "" {
				t.Errorf("warnings (-want +got)\n%s", diff)
			}
		})
	}
}

// API-350: a claim lives as long as its pool says, and for ever without one.
func TestClaimExpiry(t *testing.T) {
	claim := &NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "web-1"}, Spec: NodeClaimSpec{
		Requirements: []NodeSelectorRequirementWithMinValues{}, NodeClassRef: NodeClassReference{Name: "default"},
	}}
	options := aws()
	hub, warnings := claim.ToV1(options)
	if err := warnings.Err(); err != nil {
		t.Fatal(err)
	}
	if got := hub.Spec.ExpireAfter.String(); got != "Never" {
		t.Errorf("without a pool: %s", got)
	}
	options.OwnerExpireAfter = parse(t, "48h")
	hub, _ = claim.ToV1(options)
	if got := hub.Spec.ExpireAfter.String(); got != "48h" {
		t.Errorf("with a pool: %s", got)
	}
	grace := v1.NewDuration(0)
	hub.Spec.TerminationGracePeriod = &grace
	_, warnings = NodeClaimFromV1(hub, options)
	if diff := cmp.Diff("W901 spec.terminationGracePeriod\nW910 spec.expireAfter", codes(warnings)); diff != "" {
		t.Error(diff)
	}
	claim.Spec.NodeClassRef.Name = ""
	hub, warnings = claim.ToV1(options)
	if hub != nil || !warnings.Has(conversion.CodeResultInvalid) {
		t.Errorf("a claim that names no node class: %v, %v", hub, warnings)
	}
	options.Force = true
	if hub, _ = claim.ToV1(options); hub == nil {
		t.Error("not forced")
	}
}

// API-249 to API-253, API-368, API-369: conditions get a reason, lose their severity, and two of them are gone.
func TestConditions(t *testing.T) {
	at := metav1.Unix(1_700_000_000, 0)
	claim := &NodeClaim{Status: NodeClaimStatus{NodeName: "n", ProviderID: "p", ImageID: "i", Conditions: []Condition{
		{Type: ConditionLaunched, Status: "True", LastTransitionTime: at},
		{Type: ConditionRegistered, Status: "False", Severity: "Warning", Reason: "Waiting", Message: "m", ObservedGeneration: 2},
		{Type: ConditionEmpty, Status: "True"},
		{Type: ConditionExpired, Status: "True"},
		{Type: ConditionDrifted, Status: "True", Reason: "AMIDrift"},
	}}}
	options := aws()
	options.Force = true
	hub, _ := claim.ToV1(options)
	want := []metav1.Condition{
		{Type: v1.ConditionLaunched, Status: "True", LastTransitionTime: at, Reason: "Launched"},
		{Type: v1.ConditionRegistered, Status: "False", Reason: "Waiting", Message: "m", ObservedGeneration: 2},
		{Type: v1.ConditionDrifted, Status: "True", Reason: "AMIDrift"},
	}
	if diff := cmp.Diff(want, hub.Status.Conditions); diff != "" {
		t.Error(diff)
	}
	back, _ := NodeClaimFromV1(hub, options)
	if len(back.Status.Conditions) != 3 || back.Status.NodeName != "n" || back.Status.ProviderID != "p" || back.Status.ImageID != "i" {
		t.Errorf("back: %+v", back.Status)
	}
}

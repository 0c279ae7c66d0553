package convert

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/drawknife/drawknife/api/conversion"
	"github.com/drawknife/drawknife/api/requirements"
	api "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/api/v1beta1"
	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
)

const v1Class = `
---
apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {name: default}
spec:
  role: nodes
  amiSelectorTerms: [{alias: al2023@latest}]
  subnetSelectorTerms: [{id: subnet-1}]
  securityGroupSelectorTerms: [{id: sg-1}]
  kubelet: KUBELET
`

const v1Pool = `
---
{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: b}, spec: {template: {spec: {requirements: [], nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}}}}}
`

func TestRewrite(t *testing.T) {
	class := func(kubelet string) string { return strings.Replace(v1Class, "KUBELET", kubelet, 1) }
	inline := `{apiVersion: karpenter.sh/v1alpha5, kind: Provisioner, metadata: {name: default}, spec: {consolidation: {enabled: true}, provider: {subnetSelector: {a: b}, securityGroupSelector: {a: b}}}}`
	off := false
	for _, c := range []struct {
		name    string
		in      string
		options Options
		words   []string
		want    string
		// has are codes that there must be, not those that there must not be.
		has, not string
	}{
		{
			name: "API-259, API-371: equal blocks", in: pool("a", "{maxPods: 1}") + pool("b", "{maxPods: 1}") + betaClass, words: []string{"maxPods", "compat"},
			want: "NodePool/a\nNodePool/b\nEC2NodeClass/default\nmaxPods: 1", not: "W507 W508",
		},
		{
			name: "API-372: none is a block of its own", in: pool("a", "null") + pool("b", "{maxPods: 1}") + betaClass, words: []string{"maxPods", "name: default"},
			want: "NodePool/a\nname: default\nNodePool/b\nname: default-b\nEC2NodeClass/default\nname: default\nEC2NodeClass/default-b\nname: default-b\nmaxPods: 1", has: "W508",
		},
		{
			name: "API-372, API-467: a pool of v1 keeps its node class without a block, whatever the names", in: pool("a", "{maxPods: 1}") + v1Pool + betaClass, words: []string{"maxPods", "name: default"},
			want: "NodePool/a\nname: default-a\nNodePool/b\nname: default\nEC2NodeClass/default\nname: default\nEC2NodeClass/default-a\nname: default-a\nmaxPods: 1", has: "W508",
		},
		{
			name: "API-372, API-467: nor does a node class of v1 change under it", in: pool("a", "{maxPods: 1}") + v1Pool + class("null"), words: []string{"maxPods", "name: default"},
			want: "NodePool/a\nname: default-a\nNodePool/b\nname: default\nEC2NodeClass/default\nname: default\nEC2NodeClass/default-a\nname: default-a\nmaxPods: 1", has: "W508",
		},
		{
			name: "API-373: the first by name, wherever it stands; copies follow the original", in: betaClass + pool("b", "{maxPods: 2}") + pool("a", "{maxPods: 1}") + pool("c", "{maxPods: 2}"),
			words: []string{"maxPods", "name: default"},
			want:  "EC2NodeClass/default\nname: default\nmaxPods: 1\nEC2NodeClass/default-b\nname: default-b\nmaxPods: 2\nNodePool/b\nname: default-b\nNodePool/a\nname: default\nNodePool/c\nname: default-b", has: "W508",
		},
		{name: "API-371: into a node class of v1", in: pool("a", "{maxPods: 1}") + class("null"), words: []string{"maxPods"}, want: "NodePool/a\nEC2NodeClass/default\nmaxPods: 1"},
		{name: "API-374: which has the same block", in: pool("a", "{maxPods: 1}") + class("{maxPods: 1}"), words: []string{"maxPods"}, want: "NodePool/a\nEC2NodeClass/default\nmaxPods: 1", not: "W509"},
		{name: "API-374: or another one", in: pool("a", "{maxPods: 1}") + class("{maxPods: 2}"), words: []string{"maxPods"}, want: "EC2NodeClass/default\nmaxPods: 2", has: "W509"},
		{
			name: "API-237, API-375: a node class that isn't there", in: pool("a", "{maxPods: 1}"), words: []string{"maxPods"},
			want: "NodePool/a\n" + v1beta1.KubeletAnnotationKey + `: '{"maxPods":1}'`, has: "W507",
		},
		{
			name: "API-379: by the webhook it stays", in: pool("a", "{maxPods: 1}") + betaClass, options: Options{ReferenceCompat: true}, words: []string{"maxPods", "reference"},
			want: "NodePool/a\n" + v1beta1.KubeletAnnotationKey + ": '{\"maxPods\":1}'\n" + v1beta1.NodeClassReferenceAnnotationKey + ": '{\"name\":\"default\"}'\nEC2NodeClass/default", has: "W507",
		},
		{
			name: "API-385: a name that is too long", in: strings.ReplaceAll(pool("a", "null")+pool("b", "{maxPods: 1}")+betaClass, "name: default", "name: "+strings.Repeat("x", 253)), words: []string{"maxPods"},
			want: "NodePool/a\nNodePool/b\nEC2NodeClass/" + strings.Repeat("x", 253) + "\nEC2NodeClass/" + generatedName(strings.Repeat("x", 253)+"-b") + "\nmaxPods: 1", has: "W508",
		},
		{
			name: "W111: a copy whose name is taken", in: pool("a", "null") + pool("b", "{maxPods: 1}") + betaClass + strings.Replace(betaClass, "name: default", "name: default-b", 1),
			words: []string{"maxPods"}, want: "NodePool/a\nEC2NodeClass/default\nEC2NodeClass/default-b", has: "W111",
		},
		{name: "API-263: equal results are one", in: template + template, words: []string{"role"}, want: "EC2NodeClass/default\nrole: $KARPENTER_NODE_ROLE", not: "W111"},
		{name: "API-263, API-466: a node class and the template it came from", in: betaClass + template, words: []string{"role"}, want: "EC2NodeClass/default\nrole: nodes", has: "W111"},
		{name: "API-286: an inline provider next to another of its name", in: betaClass + "---\n" + inline, words: []string{"role"}, want: "EC2NodeClass/default\nrole: nodes", has: "W111"},
		{name: "API-286: or to one that says the same", in: template + "---\n" + inline, words: []string{"role"}, want: "EC2NodeClass/default\nrole: $KARPENTER_NODE_ROLE\nNodePool/default", not: "W111"},
		{
			name: "API-285: all that is wrong with a Provisioner at once, and nothing of it kept",
			in:   strings.NewReplacer("enabled: true}", "enabled: true}, ttlSecondsAfterEmpty: 1, weight: 101", "subnetSelector: {a: b}", "launchTemplate: x, userData: y").Replace(inline) + "\n" + strings.NewReplacer("name: default", "name: b").Replace(template),
			want: "EC2NodeClass/b", words: []string{"nothing"}, has: "W113 W601",
		},
		{name: "API-299: a launch template inline", in: strings.Replace(inline, "subnetSelector", "launchTemplate: x, subnetSelector", 1), words: []string{}, want: "", has: "W201"},
		{
			name: "API-336: Machines are skipped", in: "{apiVersion: karpenter.sh/v1alpha5, kind: Machine, metadata: {name: a}}", words: []string{}, want: "", has: "W301",
		},
		{name: "API-015, API-391: a kind that never was", in: "{apiVersion: karpenter.sh/v1, kind: Provisioner, metadata: {name: a}}", words: []string{}, want: "", has: "W602"},
		{name: "or is too old", in: "{apiVersion: provisioning.karpenter.sh/v1alpha3, kind: Provisioner, metadata: {name: a}}", words: []string{}, want: "", has: "W602"},
		{name: "API-391: another's kind", in: "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}", words: []string{}, want: "", has: "W603"},
		{name: "an overlay passes", in: "{apiVersion: karpenter.sh/v1alpha1, kind: NodeOverlay, metadata: {name: a}}", words: []string{}, want: "NodeOverlay/a"},
		{
			name: "API-248, API-260, API-303, API-311, API-319, API-320, SET-131, SET-135, SET-179: global settings",
			in:   everything + strings.Replace(template, "name: default", "name: default, finalizers: [karpenter.k8s.aws/interruption-infrastructure]", 1),
			options: Options{Target: V1Beta1, KeepInstanceProfile: true, Legacy: &LegacySettings{
				DefaultInstanceProfile: "p", Tags: map[string]string{"team": "blue"}, ENILimitedPodDensity: &off,
			}},
			words: []string{"team: blue", "instanceProfile", "maxPods", "interruption"}, want: "NodePool/default\nmaxPods: 20\nEC2NodeClass/default\ninstanceProfile: p\nteam: blue", has: "W204 W207 W210", not: "W211",
		},
		{
			name: "API-320, SET-133, SET-179: 110 pods where the pool doesn't say", in: strings.Replace(everything, ", maxPods: 20", "", 1), options: Options{Target: V1Beta1, Legacy: &LegacySettings{ENILimitedPodDensity: &off}},
			words: []string{"maxPods"}, want: "NodePool/default\nmaxPods: 110", has: "W211",
		},
		{
			name: "API-280: more than 30 requirements", in: strings.Replace(everything, "requirements: [", "requirements: ["+strings.Repeat("{key: a, operator: Exists}, ", 30), 1), options: Options{Target: V1Beta1},
			words: []string{}, want: "NodePool/default", has: "W105",
		},
		{name: "API-280: not for v1", in: strings.Replace(everything, "requirements: [", "requirements: ["+strings.Repeat("{key: a, operator: Exists}, ", 30), 1), words: []string{}, want: "NodePool/default", not: "W105"},
		{
			name: "API-014, API-380: v1 is written as v1beta1 when asked", in: class("null"), options: Options{Target: V1Beta1}, words: []string{"apiVersion", "amiFamily"},
			want: "EC2NodeClass/default\napiVersion: karpenter.k8s.aws/v1beta1\namiFamily: AL2023",
		},
		{name: "API-383: what the result's rules refuse", in: "{apiVersion: karpenter.sh/v1alpha5, kind: Provisioner, metadata: {name: a}, spec: {weight: 0, providerRef: {name: ''}}}", words: []string{}, want: "", has: "W601"},
		{
			name: "API-383: by which those of the target generation are judged too", in: strings.Replace(v1Pool, "spec: {", "spec: {weight: 101, ", 1) + strings.Replace(class("null"), "[{id: sg-1}]", "[]", 1),
			words: []string{}, want: "", has: "W601",
		},
		{name: "API-383: as v1beta1", in: strings.Replace(pool("a", "null"), "360h", "-1s", 1), options: Options{Target: V1Beta1}, words: []string{}, want: "", has: "W601"},
		{
			name: "API-350: a claim lives as long as its pool says", in: "{apiVersion: karpenter.sh/v1beta1, kind: NodeClaim, metadata: {name: a-1, labels: {karpenter.sh/nodepool: a}}, spec: {requirements: [], nodeClassRef: {name: b}}}" + pool("a", "null"),
			words: []string{"expire"}, want: "NodeClaim/a-1\nexpireAfter: 360h\nNodePool/a\nexpireAfter: 360h",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := rewrite(t, c.in, c.options)
			if diff := cmp.Diff(c.want, find(t, r, c.words...)); diff != "" {
				t.Errorf("(-want +got)\n%s\n%v", diff, r.Warnings)
			}
			for code := range strings.FieldsSeq(c.has) {
				if !r.Warnings.Has(conversion.Code(code)) {
					t.Errorf("%s is missing:\n%v", code, r.Warnings)
				}
			}
			for code := range strings.FieldsSeq(c.not) {
				if r.Warnings.Has(conversion.Code(code)) {
					t.Errorf("%s is there:\n%v", code, r.Warnings)
				}
			}
		})
	}
}

// API-021, API-032, API-383: what the vocabulary of the provider restricts is found whatever the generation, together with all
// else that is wrong, once; by the tool's own lights it is fine.
func TestValidatePool(t *testing.T) {
	in := `
{apiVersion: karpenter.sh/v1alpha5, kind: Provisioner, metadata: {name: first}, spec: {weight: 101, labels: {karpenter.sh/team: a}, providerRef: {name: x}, ttlSecondsAfterEmpty: 1, ttlSecondsUntilExpired: 1}}
---
{apiVersion: karpenter.sh/v1beta1, kind: NodePool, metadata: {name: beta}, spec: {weight: 102, template: {spec: {requirements: [{key: kubernetes.io/hostname, operator: Exists}, {key: karpenter.k8s.aws/nope, operator: Exists}], nodeClassRef: {name: x}}}}}
---
{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: hub}, spec: {weight: 103, template: {metadata: {labels: {karpenter.sh/team: a}}, spec: {requirements: [], nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: x}}}}}
`
	lookup := requirements.CoreVocabulary().Merge(requirements.Vocabulary{RestrictedDomains: []string{awsv1.RestrictedLabelDomain}}).Compile()
	options := Options{IgnoreDefaults: true, ValidatePool: func(p *api.NodePool) field.ErrorList { return requirements.ValidateNodePool(p, lookup) }}
	var got []string
	for _, w := range rewrite(t, in, options).Warnings {
		if w.Severity == conversion.SeverityError {
			got = append(got, w.Object+" "+w.Path)
		}
	}
	want := []string{
		"Provisioner/first spec.weight", "Provisioner/first spec.template.metadata.labels[karpenter.sh/team]",
		"NodePool/beta spec.template.spec.requirements[0].key", "NodePool/beta spec.template.spec.requirements[1].key", "NodePool/beta spec.weight",
		"NodePool/hub spec.weight", "NodePool/hub spec.template.metadata.labels[karpenter.sh/team]",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	options.Target = V1Beta1
	if r := rewrite(t, pool("a", "null")+"  limits: {cpu: 1}\n", options); len(r.Objects) != 1 || r.Warnings.Err() != nil {
		t.Errorf("a pool that is fine: %v", r.Warnings)
	}
	options.ReferenceCompat = true
	fine := strings.NewReplacer("weight: 101, ", "", "weight: 102, ", "", "weight: 103, ", "", "{key: kubernetes.io/hostname, operator: Exists}, ", "").Replace(in)
	if r := rewrite(t, fine, options); r.Warnings.Err() != nil {
		t.Errorf("by the tool: %v", r.Warnings.Err())
	}
}

// API-263: who clashes with whom is said with where the other comes from, since it may be of another kind.
func TestClashNamesOrigin(t *testing.T) {
	r := rewrite(t, everything+v1Pool+strings.Replace(v1Pool, "name: b", "name: default, labels: {a: b}", 1), Options{})
	var got []string
	for _, w := range r.Warnings {
		if w.Code == conversion.CodeNameClash {
			got = append(got, w.String())
		}
	}
	if diff := cmp.Diff([]string{"ERROR W111 NodePool/default: NodePool/default, made of Provisioner/default, in.yaml:1 (document 1), already exists with different content"}, got); diff != "" {
		t.Error(diff)
	}
}

// W605: what kubectl apply noted of an object does not get into one of another generation, and the user is told; other
// annotations do. What passes through keeps it, live objects do, and Karpenter's tool keeps it everywhere.
func TestAppliedNote(t *testing.T) {
	noted := func(manifest string) string {
		return strings.Replace(manifest, "name: default", "name: default, annotations: {team: a, "+corev1.LastAppliedConfigAnnotation+": '{}'}", 1)
	}
	provisioner, overlay, deployment := noted(everything), noted("{apiVersion: karpenter.sh/v1alpha1, kind: NodeOverlay, metadata: {name: default}}"), noted("{apiVersion: apps/v1, kind: Deployment, metadata: {name: default}, spec: {template: {spec: {nodeSelector: {karpenter.sh/provisioner-name: a}}}}}")
	for _, c := range []struct {
		name, in string
		options  Options
		live     bool
		want     string
	}{
		{name: "a Provisioner", in: provisioner, want: "NodePool/default without; Provisioner/default"},
		{name: "an inline provider", in: noted("{apiVersion: karpenter.sh/v1alpha5, kind: Provisioner, metadata: {name: default}, spec: {provider: {subnetSelector: {a: b}, securityGroupSelector: {a: b}}}}"), want: "NodePool/default without, EC2NodeClass/default without; Provisioner/default"},
		{name: "a node template", in: noted(template), want: "EC2NodeClass/default without; AWSNodeTemplate/default"},
		{name: "a pool of v1beta1", in: noted(pool("default", "null")), want: "NodePool/default without; NodePool/default"},
		{name: "to v1beta1", in: noted(strings.Replace(v1Class, "KUBELET", "null", 1)), options: Options{Target: V1Beta1}, want: "EC2NodeClass/default without; EC2NodeClass/default"},
		{name: "one that is there already", in: noted(strings.Replace(v1Class, "KUBELET", "null", 1)), want: "EC2NodeClass/default with; "},
		{name: "as Karpenter's tool does", in: provisioner, options: Options{ReferenceCompat: true}, want: "NodePool/default with; "},
		{name: "live", in: provisioner, live: true, want: "NodePool/default with; "},
		{name: "an overlay", in: overlay, want: "NodeOverlay/default with; "},
		{name: "a workload", in: deployment, options: Options{Workloads: true}, want: "Deployment/default with; "},
		{name: "equal but for it", in: noted(template) + template, want: "EC2NodeClass/default without; AWSNodeTemplate/default"},
	} {
		t.Run(c.name, func(t *testing.T) {
			documents := decode(t, c.in)
			var r Result
			if c.live {
				r = Read(documents, c.options)
			} else {
				r = Rewrite(documents, c.options)
			}
			var objects, told []string
			for _, o := range r.Objects {
				text := "with"
				annotations := o.Object.GetAnnotations()
				if _, kept := annotations[corev1.LastAppliedConfigAnnotation]; !kept {
					text = "without"
				}
				objects = append(objects, o.name()+" "+text)
				if annotations["team"] != "a" && o.name() != "EC2NodeClass/default" {
					t.Errorf("%s: annotations %v", o.name(), annotations)
				}
			}
			for _, w := range r.Warnings {
				if w.Code == conversion.CodeAppliedDropped {
					told = append(told, w.Object)
				}
			}
			if got := strings.Join(objects, ", ") + "; " + strings.Join(told, ", "); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
			if d := documents[0].Object.GetAnnotations(); d[corev1.LastAppliedConfigAnnotation] != "{}" {
				t.Errorf("the input was changed: %v", d)
			}
		})
	}
}

// API-010, API-011, API-257, API-262, API-265, API-276: live objects of two generations and one name are both kept, each with
// its own node class, its metadata and what it was born as; nothing is added to them.
func TestRead(t *testing.T) {
	r := Read(decode(t, everything+template+"  instanceProfile: p\n"+pool("default", "{maxPods: 1}")+betaClass+`
---
{apiVersion: karpenter.sh/v1alpha5, kind: Machine, metadata: {name: m, labels: {karpenter.sh/provisioner-name: default}}, spec: {machineTemplateRef: {name: default}}, status: {providerID: p}}
---
{apiVersion: karpenter.sh/v1beta1, kind: NodeClaim, metadata: {name: c, labels: {karpenter.sh/nodepool: default}}, spec: {requirements: [], nodeClassRef: {name: elsewhere}}}
`), Options{})
	if err := r.Warnings.Err(); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, o := range r.Objects {
		line := o.name() + " " + string(o.Generation()) + " " + o.Provenance.Source.Kind + " " + o.PoolKey().String()
		if class, ok := r.ClassOf(o); ok {
			line += " → " + string(class.Generation())
		}
		got = append(got, line)
	}
	want := []string{
		"NodePool/default v1alpha5 Provisioner v1alpha5/default → v1alpha5",
		"EC2NodeClass/default v1alpha5 AWSNodeTemplate ",
		"NodePool/default v1 NodePool default → v1",
		"EC2NodeClass/default v1 EC2NodeClass ",
		"NodeClaim/m v1alpha5 Machine v1alpha5/default → v1alpha5",
		"NodeClaim/c v1 NodeClaim default",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	old := r.Objects[0].Object.(*api.NodePool)
	if old.UID != "x" || len(old.Spec.Template.Spec.Requirements) != 3 || old.Status.Resources.Cpu().Value() != 5 {
		t.Errorf("the Provisioner: %+v", old)
	}
	if p := r.Objects[1].Object.(*awsv1.EC2NodeClass).Spec.InstanceProfile; p == nil || *p != "p" {
		t.Errorf("instance profile %v", p)
	}
	if m := r.Objects[4].Object.(*api.NodeClaim); m.Status.ProviderID != "p" || m.Spec.ExpireAfter.String() != "720h0m0s" || m.Labels["karpenter.sh/provisioner-name"] != "default" {
		t.Errorf("the Machine: %+v", m)
	}
	if r.Warnings.Has(conversion.CodeKubeletAnnotated) || r.Warnings.Has(conversion.CodeRequirementsAdded) {
		t.Errorf("warnings: %v", r.Warnings)
	}
}

// API-260, API-276, API-286, API-302: a manifest that no API server has seen gets what a webhook would have added, next to live
// objects, which have it; an inline provider block and a node template of one name are one node class or an error.
func TestReadOfManifests(t *testing.T) {
	const live = "{apiVersion: karpenter.sh/v1alpha5, kind: Provisioner, metadata: {name: live, uid: x}, spec: {providerRef: {name: default}}}\n---\n"
	const inline = "{apiVersion: karpenter.sh/v1alpha5, kind: Provisioner, metadata: {name: default}, spec: {provider: {subnetSelector: {a: b}, securityGroupSelector: {a: b}}}}\n"
	r := Read(decode(t, live+inline+template), Options{Unadmitted: true})
	if err := r.Warnings.Err(); err != nil {
		t.Fatal(err)
	}
	want := "NodePool/live\nNodePool/default\n- c\n- m\n- r\nEC2NodeClass/default\nrole: $KARPENTER_NODE_ROLE"
	if diff := cmp.Diff(want, find(t, r, "- c", "- m", "- r", "role:")); diff != "" {
		t.Errorf("(-want +got)\n%s\n%v", diff, r.Warnings)
	}
	if !r.ByDocument[1].Has(conversion.CodeRequirementsAdded) || r.ByDocument[0].Has(conversion.CodeRequirementsAdded) || r.Objects[2].Document != 1 {
		t.Errorf("by document: %v; %+v", r.ByDocument, r.Objects)
	}
	r = Read(decode(t, template+"---\n"+strings.Replace(inline, "{a: b}", "{a: c}", 1)), Options{Unadmitted: true})
	if !r.ByDocument[1].Has(conversion.CodeNameClash) || len(r.Objects) != 1 {
		t.Errorf("two node classes of one name: %v", r.Warnings)
	}
}

// API-376, API-377: the annotation of the claim wins over that of the pool, and that over the node class.
func TestEffectiveKubelet(t *testing.T) {
	annotated := func(text string) metav1.ObjectMeta {
		return metav1.ObjectMeta{Annotations: map[string]string{v1beta1.KubeletAnnotationKey: text}}
	}
	cores := int32(3)
	class := &awsv1.EC2NodeClass{Spec: awsv1.EC2NodeClassSpec{Kubelet: &awsv1.KubeletConfiguration{PodsPerCore: &cores}}}
	claim, pool := &api.NodeClaim{ObjectMeta: annotated(`{"podsPerCore":1}`)}, &api.NodePool{ObjectMeta: annotated(`{"podsPerCore":2}`)}
	for _, c := range []struct {
		claim *api.NodeClaim
		pool  *api.NodePool
		class *awsv1.EC2NodeClass
		want  int32
	}{{claim, pool, class, 1}, {&api.NodeClaim{}, pool, class, 2}, {nil, &api.NodePool{}, class, 3}, {nil, nil, nil, 0}} {
		block, err := EffectiveKubelet(c.claim, c.pool, c.class)
		if err != nil {
			t.Fatal(err)
		}
		var got int32
		if block != nil {
			got = *block.PodsPerCore
		}
		if got != c.want {
			t.Errorf("got %d, want %d", got, c.want)
		}
	}
	if _, err := EffectiveKubelet(&api.NodeClaim{ObjectMeta: annotated(`{`)}, nil, nil); err == nil {
		t.Error("an annotation that can't be read is read")
	}
}

// API-266, API-267: a warning is a line of severity, code, object, path and text.
func TestWarningLine(t *testing.T) {
	r := rewrite(t, "{apiVersion: karpenter.sh/v1alpha5, kind: Machine, metadata: {name: a}}", Options{})
	if got, want := r.Warnings[0].String(), "INFO W301 Machine/a: Machine a skipped; roll its node instead"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// API-391, SCH-011: objects that need no conversion are judged as well: NodeOverlays, and what NodeClaims and NodeOverlays select by.
// A taint without effect is told with what to write.
func TestJudgedKinds(t *testing.T) {
	refuse := func(entries []api.NodeSelectorRequirementWithMinValues, path *field.Path) field.ErrorList {
		var errs field.ErrorList
		for i, e := range entries {
			if e.Operator == "Bogus" {
				errs = append(errs, field.NotSupported(path.Index(i).Child("operator"), e.Operator, []string{"In"}))
			}
		}
		return errs
	}
	const overlay = "apiVersion: karpenter.sh/v1alpha1\nkind: NodeOverlay\nmetadata: {name: a}\nspec: "
	const claim = "apiVersion: karpenter.sh/v1\nkind: NodeClaim\nmetadata: {name: a}\nspec: {nodeClassRef: {group: g, kind: K, name: c}, requirements: "
	for _, tc := range []struct{ name, in, code, path string }{
		{"an overlay with both prices", overlay + "{price: '1', priceAdjustment: '+1'}", "W601", "spec.priceAdjustment"},
		{"an overlay with NotIn without values", overlay + "{requirements: [{key: a, operator: NotIn}]}", "W601", "spec.requirements[0].values"},
		{"an overlay with a bad operator", overlay + "{requirements: [{key: a, operator: Bogus}]}", "W601", "spec.requirements[0].operator"},
		{"an overlay with a slip", overlay + "{pricee: '1'}", "W604", "spec.pricee"},
		{"a claim with a bad operator", claim + "[{key: a, operator: Bogus}]}", "W601", "spec.requirements[0].operator"},
		{"a taint of a Provisioner", "apiVersion: karpenter.sh/v1alpha5\nkind: Provisioner\nmetadata: {name: a}\nspec: {providerRef: {name: x}, taints: [{key: dedicated}]}", "W601", "effect"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			documents, err := Decode(DecodeOptions{}, Source{Name: "in.yaml", Data: []byte(tc.in)})
			if err != nil {
				t.Fatal(err)
			}
			result := Rewrite(documents, Options{ValidateRequirements: refuse})
			for _, w := range result.Warnings {
				if string(w.Code) == tc.code && strings.Contains(w.Path, tc.path) {
					return
				}
			}
			t.Errorf("%s %s is not among %v", tc.code, tc.path, result.Warnings)
		})
	}
	documents, err := Decode(DecodeOptions{Strict: true}, Source{Name: "in.yaml", Data: []byte(overlay + "{price: '1', weight: 3}")})
	if err != nil {
		t.Fatal(err)
	}
	for _, target := range []Version{V1, V1Beta1} {
		result := Rewrite(documents, Options{Target: target})
		if len(result.Objects) != 1 || len(result.Warnings) != 0 {
			t.Errorf("%s: a good overlay becomes %v, %v", target, result.Objects, result.Warnings)
		}
	}
	if _, err := Decode(DecodeOptions{Strict: true}, Source{Name: "in.yaml", Data: []byte(overlay + "{pricee: '1'}")}); err == nil || !strings.Contains(err.Error(), "pricee") {
		t.Errorf("--strict takes a slip: %v", err)
	}
}

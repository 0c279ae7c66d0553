package v1alpha5

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
	"github.com/drawknife/drawknife/api/v1beta1"
)

// base is a Provisioner that gives no warnings but those of its cases and W116, which every one gives.
const base = `
metadata: {name: web}
spec:
  ttlSecondsAfterEmpty: 30
  ttlSecondsUntilExpired: 2592000
  providerRef: {name: default}
`

func read(t *testing.T, manifest string, into any) {
	t.Helper()
	if err := yaml.UnmarshalStrict([]byte(manifest), into); err != nil {
		t.Fatal(err)
	}
}

func codes(warnings conversion.Warnings) string {
	var list []string
	for _, w := range warnings {
		if w.Code != conversion.CodeDefaultBudget {
			list = append(list, string(w.Code)+" "+w.Path)
		}
	}
	return strings.Join(list, "\n")
}

func text(value any) string {
	out, err := yaml.Marshal(value)
	if err != nil {
		return err.Error()
	}
	return strings.TrimSpace(string(out))
}

func TestToV1Beta1(t *testing.T) {
	compat := func(o *ConvertOptions) { o.ReferenceCompat = true }
	defaults := func(o *ConvertOptions) { o.Defaults = DefaultRequirements() }
	disruption := func(p *v1beta1.NodePool) any { return p.Spec.Disruption }
	requirements := func(p *v1beta1.NodePool) any { return p.Spec.Template.Spec.Requirements }
	reference := func(p *v1beta1.NodePool) any { return p.Spec.Template.Spec.NodeClassRef }
	metadata := func(p *v1beta1.NodePool) any { return p.Spec.Template.ObjectMeta }
	const emptied = "consolidateAfter: 30s\nconsolidationPolicy: WhenEmpty\nexpireAfter: 720h0m0s"
	for _, c := range []struct {
		name    string
		replace []string
		options func(*ConvertOptions)
		field   func(*v1beta1.NodePool) any
		want    string
		codes   string
	}{
		{name: "API-290, API-292: seconds become durations", field: disruption, want: emptied},
		{name: "API-290: minutes and none", replace: []string{"Empty: 30", "Empty: 600"}, field: disruption, want: strings.Replace(emptied, "30s", "10m0s", 1)},
		{name: "API-290: zero is legal", replace: []string{"Empty: 30", "Empty: 0"}, field: disruption, want: strings.Replace(emptied, "30s", "0s", 1)},
		{name: "API-292: fourteen days", replace: []string{"2592000", "1209600"}, field: disruption, want: strings.Replace(emptied, "720h", "336h", 1)},
		{
			name: "API-293: no expiry is written out", replace: []string{"  ttlSecondsUntilExpired: 2592000\n", ""}, field: disruption,
			want: strings.Replace(emptied, "720h0m0s", "Never", 1), codes: "W115 spec.ttlSecondsUntilExpired",
		},
		{
			name: "API-086, API-288: consolidation", replace: []string{"ttlSecondsAfterEmpty: 30", "consolidation: {enabled: true}"}, field: disruption,
			want: "consolidationPolicy: WhenUnderutilized\nexpireAfter: 720h0m0s",
		},
		{
			name: "API-082, API-289: both are an error", replace: []string{"ttlSecondsAfterEmpty: 30", "ttlSecondsAfterEmpty: 30\n  consolidation: {enabled: true}"}, field: disruption,
			want: "none", codes: "W113 spec.ttlSecondsAfterEmpty",
		},
		{
			name: "API-268, API-289: by the tool consolidation wins", replace: []string{"ttlSecondsAfterEmpty: 30", "ttlSecondsAfterEmpty: 30\n  consolidation: {enabled: true}"}, options: compat,
			field: disruption, want: "consolidationPolicy: WhenUnderutilized\nexpireAfter: 720h0m0s",
		},
		{
			name: "API-291: what was never scaled down isn't", replace: []string{"  ttlSecondsAfterEmpty: 30\n", ""}, field: disruption,
			want: "consolidateAfter: Never\nconsolidationPolicy: WhenEmpty\nexpireAfter: 720h0m0s", codes: "W114 spec.consolidation",
		},
		{name: "API-291: by the tool it is", replace: []string{"  ttlSecondsAfterEmpty: 30\n", ""}, options: compat, field: disruption, want: "expireAfter: 720h0m0s"},
		{name: "API-275: no requirements are an empty list", field: requirements, want: "[]"},
		{
			name:    "API-091 to API-093, API-095, API-276: defaults follow the user's own",
			replace: []string{"  providerRef", "  requirements: [{key: kubernetes.io/arch, operator: Exists}, {key: a, operator: Exists}]\n  providerRef"}, options: defaults, field: requirements,
			want:  "- key: kubernetes.io/arch\n  operator: Exists\n- key: a\n  operator: Exists\n- key: kubernetes.io/os\n  operator: In\n  values:\n  - linux\n- key: karpenter.sh/capacity-type\n  operator: In\n  values:\n  - on-demand",
			codes: "W101 spec.requirements",
		},
		{
			name:    "API-022, API-096: an old name of a label is its new one, and keeps the default away",
			replace: []string{"  providerRef", "  requirements: [{key: beta.kubernetes.io/os, operator: Exists}, {key: beta.kubernetes.io/arch, operator: Exists}, {key: karpenter.sh/capacity-type, operator: Exists}]\n  providerRef"}, options: defaults, field: requirements,
			want: "- key: beta.kubernetes.io/os\n  operator: Exists\n- key: beta.kubernetes.io/arch\n  operator: Exists\n- key: karpenter.sh/capacity-type\n  operator: Exists",
		},
		{
			name:    "API-096, API-277: labels keep no default away, but a contradiction is said",
			replace: []string{"  providerRef", "  labels: {kubernetes.io/arch: arm64, kubernetes.io/os: linux}\n  providerRef"}, options: defaults,
			field: func(p *v1beta1.NodePool) any { return len(p.Spec.Template.Spec.Requirements) }, want: "3", codes: "W101 spec.requirements\nW102 spec.requirements",
		},
		{
			name:    "API-278: labels that are gone, all at once",
			replace: []string{"  providerRef", "  requirements: [{key: karpenter.k8s.aws/instance-pods, operator: Exists}]\n  weight: 101\n  providerRef"}, field: requirements,
			want: "none", codes: "W103 spec.requirements[0].key\nW601 spec.weight",
		},
		{
			name: "API-278: dropped when forced", replace: []string{"  providerRef", "  requirements: [{key: karpenter.k8s.aws/instance-pods, operator: Exists}]\n  providerRef"},
			options: func(o *ConvertOptions) { o.Force = true }, field: requirements, want: "[]", codes: "W103 spec.requirements[0].key",
		},
		{
			name: "API-278: copied by the tool", replace: []string{"  providerRef", "  requirements: [{key: karpenter.k8s.aws/instance-pods, operator: Exists}]\n  providerRef"},
			options: compat, field: requirements, want: "- key: karpenter.k8s.aws/instance-pods\n  operator: Exists",
		},
		{
			name: "API-023, API-279: the pool's own label is refused in both generations", replace: []string{"  providerRef", "  labels: {karpenter.sh/provisioner-name: a}\n  requirements: [{key: karpenter.sh/provisioner-name, operator: Exists}]\n  providerRef"},
			field: requirements, want: "none",
			codes: "W104 spec.labels[karpenter.sh/provisioner-name]\nW104 spec.requirements[0].key\nW601 spec.template.metadata.labels[karpenter.sh/nodepool]\nW601 spec.template.spec.requirements[0].key",
		},
		{
			name: "API-228, API-271: the annotation of nodes is renamed", replace: []string{"  providerRef", "  annotations: {karpenter.sh/do-not-consolidate: 'true', a: b}\n  providerRef"},
			field: metadata, want: "annotations:\n  a: b\n  karpenter.sh/do-not-disrupt: \"true\"", codes: "W106 spec.annotations[karpenter.sh/do-not-consolidate]",
		},
		{
			name: "API-271: unless the tool does it", replace: []string{"  providerRef", "  annotations: {karpenter.sh/do-not-consolidate: 'true'}\n  providerRef"}, options: compat,
			field: metadata, want: "annotations:\n  karpenter.sh/do-not-consolidate: \"true\"",
		},
		{
			name: "API-043, API-282: containerd goes silently", replace: []string{"  providerRef", "  kubeletConfiguration: {containerRuntime: containerd, evictionSoft: {memory.available: 5%}, evictionSoftGracePeriod: {memory.available: 1m}}\n  providerRef"},
			field: func(p *v1beta1.NodePool) any { return p.Spec.Template.Spec.Kubelet }, want: "evictionSoft:\n  memory.available: 5%\nevictionSoftGracePeriod:\n  memory.available: 1m0s",
		},
		{
			name: "API-282: dockerd does not", replace: []string{"  providerRef", "  kubeletConfiguration: {containerRuntime: dockerd}\n  providerRef"},
			field: func(p *v1beta1.NodePool) any { return p.Spec.Template.Spec.Kubelet }, want: "{}", codes: "W107 spec.kubeletConfiguration.containerRuntime",
		},
		{name: "API-283: what a reference leaves out stays out", field: reference, want: "name: default"},
		{
			name: "API-283: the node template becomes the node class", replace: []string{"{name: default}", "{name: default, kind: AWSNodeTemplate, apiVersion: karpenter.k8s.aws/v1alpha1}"},
			field: reference, want: "apiVersion: karpenter.k8s.aws/v1beta1\nkind: EC2NodeClass\nname: default", codes: "W108 spec.providerRef",
		},
		{
			name: "API-283: by the tool it doesn't", replace: []string{"{name: default}", "{name: default, kind: AWSNodeTemplate, apiVersion: karpenter.k8s.aws/v1alpha1}"}, options: compat,
			field: reference, want: "apiVersion: karpenter.k8s.aws/v1alpha1\nkind: AWSNodeTemplate\nname: default",
		},
		{
			name: "API-283: other kinds are copied", replace: []string{"{name: default}", "{name: default, kind: Other, apiVersion: example.com/v1}"},
			field: reference, want: "apiVersion: example.com/v1\nkind: Other\nname: default",
		},
		{name: "API-284: no settings at all", replace: []string{"  providerRef: {name: default}\n", ""}, field: reference, want: "none", codes: "W109 spec.providerRef"},
		{
			name: "API-080, API-285: inline settings are of a node class of the same name", replace: []string{"providerRef: {name: default}", "provider: {subnetSelector: {a: b}}"},
			field: reference, want: "name: web", codes: "W110 spec.provider",
		},
		{
			name: "API-081, API-287: both are an error", replace: []string{"  providerRef", "  provider: {}\n  providerRef"}, field: reference, want: "none", codes: "W112 spec.provider",
		},
		{
			name: "API-084, API-294: limits lose a level and are written canonically", replace: []string{"  providerRef", "  limits: {resources: {cpu: '1000', memory: 1000Gi}}\n  providerRef"},
			field: func(p *v1beta1.NodePool) any { return p.Spec.Limits }, want: "cpu: 1k\nmemory: 1000Gi",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			changed := strings.NewReplacer(c.replace...).Replace(base)
			if len(c.replace) > 0 && changed == base {
				t.Fatal("nothing replaced")
			}
			p, options := &Provisioner{}, aws()
			read(t, changed, p)
			if c.options != nil {
				c.options(&options)
			}
			pool, warnings := p.ToV1Beta1(options)
			got := "none"
			if pool != nil {
				got = text(c.field(pool))
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			if diff := cmp.Diff(c.codes, codes(warnings)); diff != "" {
				t.Errorf("warnings (-want +got)\n%s", diff)
			}
			// API-298: a default budget applies, which was not there before.
			if !warnings.Has(conversion.CodeDefaultBudget) {
				t.Error("the default budget is not named")
			}
		})
	}
}

// API-009: what a controller did to a pool gets back into the Provisioner, or is said to be lost.
func TestFromV1Beta1(t *testing.T) {
	const pool = `
metadata: {name: web}
spec:
  disruption: {consolidationPolicy: WhenUnderutilized, expireAfter: Never}
  template:
    spec:
      requirements: []
      nodeClassRef: {name: default, kind: EC2NodeClass, apiVersion: karpenter.k8s.aws/v1beta1}
`
	spec := func(p *Provisioner) any { return p.Spec }
	const consolidating = "consolidation:\n  enabled: true\nproviderRef:\n  apiVersion: karpenter.k8s.aws/v1alpha1\n  kind: AWSNodeTemplate\n  name: default\nrequirements: []"
	for _, c := range []struct {
		name    string
		replace []string
		field   func(*Provisioner) any
		want    string
		codes   string
	}{
		{name: "API-283, API-288: a pool that never was a Provisioner", field: spec, want: consolidating},
		{
			name: "API-291: consolidation that is off stays off", replace: []string{"expireAfter: Never", "expireAfter: Never, consolidateAfter: Never"},
			field: spec, want: strings.Replace(consolidating, "consolidation:\n  enabled: true\n", "", 1),
		},
		{name: "budgets", replace: []string{"expireAfter: Never", "expireAfter: Never, budgets: [{nodes: '1'}]"}, field: spec, want: consolidating, codes: "W801 spec.disruption.budgets"},
		{
			name: "minValues", replace: []string{"requirements: []", "requirements: [{key: a, operator: Exists, minValues: 2}]"},
			field: func(p *Provisioner) any { return p.Spec.Requirements }, want: "- key: a\n  operator: Exists", codes: "W802 spec.template.spec.requirements[0].minValues",
		},
		{
			name: "no whole seconds, and no quantity", replace: []string{"expireAfter: Never", "expireAfter: 1500ms", "requirements: []", "requirements: []\n      kubelet: {kubeReserved: {cpu: x}, evictionSoftGracePeriod: {pid.available: y}}"},
			field: spec, want: "none", codes: "W804 spec.template.spec.kubelet.kubeReserved\nW804 spec.template.spec.kubelet.evictionSoftGracePeriod\nW804 spec.disruption.expireAfter",
		},
		{name: "a policy that never was", replace: []string{"WhenUnderutilized", "Sometimes"}, field: spec, want: "none", codes: "W804 spec.disruption.consolidationPolicy"},
	} {
		t.Run(c.name, func(t *testing.T) {
			in := &v1beta1.NodePool{}
			read(t, strings.NewReplacer(c.replace...).Replace(pool), in)
			out, warnings := ProvisionerFromV1Beta1(in, conversion.Provenance{}, aws())
			got := "none"
			if out != nil {
				got = text(c.field(out))
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

// API-236, API-249 to API-254, API-335, API-336: a Machine keeps its labels, its conditions get their later names, and it
// belongs to the pool of its own generation.
func TestMachines(t *testing.T) {
	m := &Machine{}
	read(t, `
metadata:
  name: web-1
  labels: {karpenter.sh/provisioner-name: web}
spec:
  machineTemplateRef: {name: default, kind: AWSNodeTemplate}
  kubelet: {containerRuntime: dockerd}
status:
  nodeName: node-1
  providerID: p
  conditions:
  - {type: MachineCreated, status: "True"}
  - {type: MachineRegistered, status: "True"}
  - {type: MachineInitialized, status: "False", severity: Warning}
  - {type: MachineEmpty, status: "True"}
  - {type: MachineExpired, status: "True"}
  - {type: MachineDrifted, status: "True"}
  - {type: MachineMine, status: "True"}
`, m)
	claim, warnings := m.ToV1Beta1(aws())
	if diff := cmp.Diff("W107 spec.kubelet.containerRuntime\nW108 spec.machineTemplateRef", codes(warnings)); diff != "" {
		t.Error(diff)
	}
	var types []string
	for _, condition := range claim.Status.Conditions {
		types = append(types, condition.Type)
	}
	if diff := cmp.Diff([]string{"Launched", "Registered", "Initialized", "Empty", "Expired", "Drifted", "MachineMine"}, types); diff != "" {
		t.Error(diff)
	}
	if claim.Labels[ProvisionerNameLabelKey] != "web" || claim.Status.NodeName != "node-1" || claim.Status.ProviderID != "p" || claim.Status.ImageID != "" || claim.Spec.NodeClassRef.Kind != "EC2NodeClass" {
		t.Errorf("claim: %+v", claim)
	}
	if got := m.Provenance(); !got.FirstGeneration() || got.Source != GroupVersion().WithKind(KindMachine) || got.Name != "web-1" {
		t.Errorf("provenance: %+v", got)
	}
	m.Spec.MachineTemplateRef = nil
	if claim, warnings := m.ToV1Beta1(aws()); claim != nil || codes(warnings) != "W107 spec.kubelet.containerRuntime\nW109 spec.machineTemplateRef" {
		t.Errorf("without a node template: %v, %s", claim, codes(warnings))
	}
	m.Annotations = map[string]string{ProviderAnnotationKey: "{}"}
	if claim, _ := m.ToV1Beta1(aws()); claim == nil || claim.Spec.NodeClassRef.Name != "web" {
		t.Errorf("with an inline one: %v", claim)
	}
}

// API-220, API-262: the label of either generation names an owner, the later one first, and the pools are two even under
// one name.
func TestPoolOf(t *testing.T) {
	p := &Provisioner{ObjectMeta: metav1.ObjectMeta{Name: "web"}}
	for _, c := range []struct {
		labels map[string]string
		want   v1.PoolKey
	}{
		{nil, v1.PoolKey{}},
		{map[string]string{ProvisionerNameLabelKey: "web", MachineNameLabelKey: "x"}, p.Key()},
		{map[string]string{ProvisionerNameLabelKey: "old", v1.NodePoolLabelKey: "web"}, v1.NewPoolKey("web")},
	} {
		if got := PoolOf(c.labels); got != c.want {
			t.Errorf("%v: %v, want %v", c.labels, got, c.want)
		}
	}
	if p.Key() == v1.NewPoolKey("web") {
		t.Error("a Provisioner and a NodePool of one name are one pool")
	}
}

// API-337: a node from before there were Machines.
func TestMachineFromNode(t *testing.T) {
	at := metav1.Unix(1_700_000_000, 0)
	node := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: "n", CreationTimestamp: at, Labels: map[string]string{
			ProvisionerNameLabelKey: "web", corev1.LabelHostname: "n", corev1.LabelArchStable: "arm64", v1.NodeInitializedLabelKey: "true",
		}},
		Spec:   corev1.NodeSpec{ProviderID: "p", Taints: []corev1.Taint{{Key: "a", Effect: corev1.TaintEffectNoSchedule}}},
		Status: corev1.NodeStatus{Capacity: corev1.ResourceList{"cpu": resource.MustParse("2")}, Allocatable: corev1.ResourceList{"cpu": resource.MustParse("1900m")}},
	}
	m := MachineFromNode(node)
	want := []corev1.NodeSelectorRequirement{
		{Key: v1.NodeInitializedLabelKey, Operator: "In", Values: []string{"true"}},
		{Key: ProvisionerNameLabelKey, Operator: "In", Values: []string{"web"}},
		{Key: corev1.LabelArchStable, Operator: "In", Values: []string{"arm64"}},
	}
	if diff := cmp.Diff(want, m.Spec.Requirements); diff != "" {
		t.Error(diff)
	}
	var conditions []string
	for _, c := range m.Status.Conditions {
		conditions = append(conditions, c.Type+" "+string(c.Status))
	}
	if diff := cmp.Diff([]string{"MachineLaunched True", "MachineRegistered True", "MachineInitialized True"}, conditions); diff != "" {
		t.Error(diff)
	}
	if len(m.Spec.Taints) != 1 || m.Status.Allocatable.Cpu().MilliValue() != 1900 || m.Status.ProviderID != "p" || PoolOf(m.Labels).Name != "web" {
		t.Errorf("machine: %+v", m)
	}
	if errs := m.Validate(); len(errs) > 0 {
		t.Error(errs.ToAggregate())
	}
	delete(node.Labels, v1.NodeInitializedLabelKey)
	if c := MachineFromNode(node).Status.Conditions[2]; c.Status != metav1.ConditionFalse {
		t.Errorf("a node that is not initialised: %+v", c)
	}
}

func TestValidate(t *testing.T) {
	for _, c := range []struct {
		name, manifest string
		// want are the fields that are refused.
		want string
	}{
		{"API-026, API-078: nothing but a name", "metadata: {name: a}", ""},
		{"API-025: any number of requirements", "metadata: {name: a}\nspec: {requirements: [" + strings.Repeat("{key: a, operator: Exists},", 150) + "]}", ""},
		{"API-018 to API-021: requirements", "metadata: {name: a}\nspec: {requirements: [{key: a, operator: In}, {key: a, operator: Gt, values: ['-1']}, {key: a, operator: Gte, values: ['1']}, {key: 'a b', operator: Exists}, {key: a, operator: NotIn, values: ['?']}]}",
			"spec.requirements[0].values spec.requirements[1].values[0] spec.requirements[1].values spec.requirements[2].operator spec.requirements[3].key spec.requirements[4].values[0]"},
		{"API-023, API-034, API-075: labels", "metadata: {name: a}\nspec: {labels: {karpenter.sh/provisioner-name: a, kubernetes.io/hostname: b, karpenter.sh/emptiness-timestamp: c, d: '?'}}",
			"spec.labels[d] spec.labels[kubernetes.io/hostname] spec.labels[karpenter.sh/provisioner-name] spec.labels[karpenter.sh/emptiness-timestamp]"},
		{"API-023, API-034: keys of requirements", "metadata: {name: a}\nspec: {requirements: [{key: karpenter.sh/provisioner-name, operator: Exists}, {key: kubernetes.io/hostname, operator: Exists}]}",
			"spec.requirements[1].key spec.requirements[0].key"},
		{"API-028 to API-030, API-076, API-077: taints", "metadata: {name: a}\nspec: {taints: [{key: a, effect: NoSchedule}, {key: b, effect: Never}], startupTaints: [{key: a, effect: NoSchedule}]}",
			"spec.taints[1].effect spec.startupTaints[0]"},
		{"API-044, API-046, API-048: kubelet", "metadata: {name: a}\nspec: {kubeletConfiguration: {maxPods: -1, systemReserved: {gpu: 1}, evictionHard: {memory.available: 101%}}}",
			"spec.kubeletConfiguration.maxPods spec.kubeletConfiguration.systemReserved[gpu] spec.kubeletConfiguration.evictionHard[memory.available]"},
		{"API-083: an expiry below 0", "metadata: {name: a}\nspec: {ttlSecondsUntilExpired: -1}", "spec.ttlSecondsUntilExpired"},
		{"API-082: and a wait for empty nodes", "metadata: {name: a}\nspec: {ttlSecondsAfterEmpty: -1}", "spec.ttlSecondsAfterEmpty"},
		{"API-080 to API-083, API-085: the rest", "metadata: {name: a}\nspec: {provider: {}, providerRef: {name: ''}, ttlSecondsAfterEmpty: -1, ttlSecondsUntilExpired: -1, weight: 0, consolidation: {enabled: true}, limits: {resources: {cpu: -1}}}",
			"spec.limits.resources[cpu] spec.weight spec.ttlSecondsAfterEmpty spec.ttlSecondsUntilExpired spec.ttlSecondsAfterEmpty spec.provider spec.providerRef.name"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := &Provisioner{}
			read(t, c.manifest, p)
			var fields []string
			for _, err := range p.Validate() {
				fields = append(fields, err.Field)
			}
			if diff := cmp.Diff(c.want, strings.Join(fields, " ")); diff != "" {
				t.Error(diff)
			}
		})
	}
	m := &Machine{}
	read(t, "metadata: {name: a}\nspec: {machineTemplateRef: {name: ''}, requirements: [{key: a, operator: In}]}", m)
	if errs := m.Validate(); len(errs) != 2 {
		t.Errorf("API-102: %v", errs.ToAggregate())
	}
}

// API-091 to API-093: applying the defaults twice is applying them once.
func TestDefault(t *testing.T) {
	p := &Provisioner{}
	p.Default(DefaultRequirements())
	once := p.DeepCopy()
	p.Default(DefaultRequirements())
	if diff := cmp.Diff(once, p); diff != "" || len(p.Spec.Requirements) != 3 {
		t.Error(diff)
	}
}

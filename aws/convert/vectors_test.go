package convert

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/drawknife/drawknife/api/conversion"
)

// rewrite decodes and rewrites manifests.
func rewrite(t *testing.T, manifests string, options Options) Result {
	t.Helper()
	return Rewrite(decode(t, manifests), options)
}

func decode(t *testing.T, manifests string) []Document {
	t.Helper()
	documents, err := Decode(DecodeOptions{}, Source{Name: "in.yaml", Data: []byte(manifests)})
	if err != nil {
		t.Fatal(err)
	}
	return documents
}

func written(t *testing.T, r Result) string {
	t.Helper()
	var out bytes.Buffer
	if err := WriteYAML(&out, r.Objects); err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(out.String())
}

func codes(warnings conversion.Warnings) string {
	list := make([]string, len(warnings))
	for i, w := range warnings {
		list[i] = string(w.Code)
	}
	return strings.Join(list, " ")
}

const everything = `
apiVersion: karpenter.sh/v1alpha5
kind: Provisioner
metadata: {name: default, labels: {app: shop}, finalizers: [a/b], uid: x, resourceVersion: "3", creationTimestamp: "2023-05-01T10:00:00Z"}
spec:
  annotations: {example.com/note: kept}
  labels: {billing-team: my-team}
  taints: [{key: example.com/special-taint, effect: NoSchedule}]
  startupTaints: [{key: example.com/another-taint, effect: NoSchedule}]
  requirements: [{key: karpenter.k8s.aws/instance-category, operator: In, values: [c]}, {key: kubernetes.io/arch, operator: In, values: [arm64]}, {key: karpenter.sh/capacity-type, operator: In, values: [spot]}]
  kubeletConfiguration: {containerRuntime: containerd, maxPods: 20}
  providerRef: {apiVersion: karpenter.k8s.aws/v1alpha1, kind: AWSNodeTemplate, name: default}
  consolidation: {enabled: false}
  ttlSecondsAfterEmpty: 30
  ttlSecondsUntilExpired: 2592000
  limits: {resources: {cpu: "1000", memory: 1000Gi}}
  weight: 10
status: {resources: {cpu: "5"}}
`

const everythingBeta = `apiVersion: karpenter.sh/v1beta1
kind: NodePool
metadata:
  finalizers:
  - a/b
  labels:
    app: shop
  name: default
spec:
  disruption:
    consolidateAfter: 30s
    consolidationPolicy: WhenEmpty
    expireAfter: 720h0m0s
  limits:
    cpu: 1k
    memory: 1000Gi
  template:
    metadata:
      annotations:
        example.com/note: kept
      labels:
        billing-team: my-team
    spec:
      kubelet:
        maxPods: 20
      nodeClassRef:
        apiVersion: karpenter.k8s.aws/v1beta1
        kind: EC2NodeClass
        name: default
      requirements:
      - key: karpenter.k8s.aws/instance-category
        operator: In
        values:
        - c
      - key: kubernetes.io/arch
        operator: In
        values:
        - arm64
      - key: karpenter.sh/capacity-type
        operator: In
        values:
        - spot
      - key: kubernetes.io/os
        operator: In
        values:
        - linux
      startupTaints:
      - effect: NoSchedule
        key: example.com/another-taint
      taints:
      - effect: NoSchedule
        key: example.com/special-taint
  weight: 10`

const template = `
---
apiVersion: karpenter.k8s.aws/v1alpha1
kind: AWSNodeTemplate
metadata: {name: default}
spec:
  subnetSelector: {a: b}
  securityGroupSelector: {a: b}
`

const betaPool = `
---
apiVersion: karpenter.sh/v1beta1
kind: NodePool
metadata: {name: POOL}
spec:
  disruption: {consolidationPolicy: WhenUnderutilized, expireAfter: 360h}
  template:
    spec:
      requirements: []
      nodeClassRef: {name: default}
      kubelet: KUBELET
`

const betaClass = `
---
apiVersion: karpenter.k8s.aws/v1beta1
kind: EC2NodeClass
metadata: {name: default}
spec:
  amiFamily: Bottlerocket
  role: nodes
  subnetSelectorTerms: [{id: subnet-1}]
  securityGroupSelectorTerms: [{id: sg-1}]
`

func pool(name, kubelet string) string {
	return strings.NewReplacer("POOL", name, "KUBELET", kubelet).Replace(betaPool)
}

// find is the part of each object that the tests of a vector look at: its kind and name, and the lines that hold one of the
// words.
func find(t *testing.T, r Result, words ...string) string {
	t.Helper()
	var out []string
	for _, o := range r.Objects {
		out = append(out, o.name())
		for line := range strings.Lines(written(t, Result{Objects: []Converted{o}})) {
			for _, word := range words {
				if strings.Contains(line, word) {
					out = append(out, strings.TrimSpace(line))
					break
				}
			}
		}
	}
	return strings.Join(out, "\n")
}

func TestVectors(t *testing.T) {
	beta, compat := Options{Target: V1Beta1}, Options{Target: V1Beta1, ReferenceCompat: true}
	none := strings.Replace(everything, "requirements: [{key: karpenter.k8s.aws/instance-category, operator: In, values: [c]}, {key: kubernetes.io/arch, operator: In, values: [arm64]}, {key: karpenter.sh/capacity-type, operator: In, values: [spot]}]", "requirements: []", 1)
	for _, c := range []struct {
		name    string
		in      string
		options Options
		// words pick the lines of the result that are compared; nil compares all of it.
		words []string
		want  string
		codes string
	}{
		{name: "API-448, API-265, API-393, API-397: every field", in: everything, options: beta, want: everythingBeta, codes: "W101 W108 W116"},
		{
			name: "API-401, API-448: by the tool, of a reference without apiVersion and kind", in: strings.Replace(everything, "apiVersion: karpenter.k8s.aws/v1alpha1, kind: AWSNodeTemplate, ", "", 1), options: compat,
			want:  strings.Replace(everythingBeta, "        apiVersion: karpenter.k8s.aws/v1beta1\n        kind: EC2NodeClass\n", "", 1),
			codes: "W101 W116",
		},
		{
			name: "API-094, API-095, API-449: no requirements", in: none, options: beta, words: []string{"key: k", "- linux", "- amd64", "- on-demand", "- c", "- m", "- r", `"2"`},
			want: "NodePool/default\n- key: kubernetes.io/os\n- linux\n- key: kubernetes.io/arch\n- amd64\n- key: karpenter.sh/capacity-type\n- on-demand\n- key: karpenter.k8s.aws/instance-category\n- c\n- m\n- r\n- key: karpenter.k8s.aws/instance-generation\n- \"2\"", codes: "W101 W108 W116",
		},
		{name: "API-097, API-394, API-450: and none added", in: none, options: Options{Target: V1Beta1, IgnoreDefaults: true}, words: []string{"requirements"}, want: "NodePool/default\nrequirements: []", codes: "W108 W116"},
		{
			name: "API-451: consolidation absent", in: strings.NewReplacer("  consolidation: {enabled: false}\n  ttlSecondsAfterEmpty: 30\n  ttlSecondsUntilExpired: 2592000\n", "").Replace(everything), options: beta,
			words: []string{"consol", "expire"}, want: "NodePool/default\nconsolidateAfter: Never\nconsolidationPolicy: WhenEmpty\nexpireAfter: Never", codes: "W101 W108 W114 W115 W116",
		},
		{
			name: "API-398, API-451: by the tool", in: strings.NewReplacer("  consolidation: {enabled: false}\n  ttlSecondsAfterEmpty: 30\n  ttlSecondsUntilExpired: 2592000\n", "").Replace(everything), options: compat,
			words: []string{"consol", "expire", "uid", "status"}, want: "NodePool/default\nexpireAfter: Never", codes: "W101 W115 W116",
		},
		{name: "API-395, API-452: no family", in: template, options: beta, words: []string{"amiFamily", "role"}, want: "EC2NodeClass/default\namiFamily: AL2\nrole: $KARPENTER_NODE_ROLE", codes: "W202 W203"},
		{
			name: "API-453: all in one image selector", in: template + "  amiSelector: {aws::ids: 'ami-1,ami-2', aws::owners: 'o1,o2', aws::name: x, t: '*'}\n", options: compat,
			words: []string{"id: ami", "owner:", "name: x", "t: "},
			want:  "EC2NodeClass/default\n- id: ami-1\nname: x\nowner: o1\nt: '*'\n- id: ami-2\nname: x\nowner: o1\nt: '*'\n- id: ami-1\nname: x\nowner: o2\nt: '*'\n- id: ami-2\nname: x\nowner: o2\nt: '*'",
			codes: "W202 W203 W205 W226",
		},
		{
			name: "API-453: ids alone", in: template + "  amiSelector: {aws::ids: 'ami-1,ami-2', aws::owners: 'o1,o2', aws::name: x, t: '*'}\n", options: beta,
			words: []string{"id: ami", "owner:", "name: x", "t: "}, want: "EC2NodeClass/default\n- id: ami-1\n- id: ami-2", codes: "W202 W203 W220 W205",
		},
		{
			name: "API-454: commas in tags", in: strings.Replace(template, "subnetSelector: {a: b}", "subnetSelector: {a: '1,2,3', b: '4,5'}", 1), options: beta, words: []string{"a: ", "b: \""},
			want: "EC2NodeClass/default\na: b\na: \"1\"\nb: \"4\"\na: \"2\"\nb: \"4\"\na: \"3\"\nb: \"4\"\na: \"1\"\nb: \"5\"\na: \"2\"\nb: \"5\"\na: \"3\"\nb: \"5\"", codes: "W202 W203",
		},
		{
			name: "API-455: names and owners", in: template + "  amiSelector: {aws::name: 'n1,n2', aws::owners: 'o1,o2'}\n", options: beta, words: []string{"name: n", "owner:"},
			want: "EC2NodeClass/default\n- name: n1\nowner: o1\n- name: n2\nowner: o1\n- name: n1\nowner: o2\n- name: n2\nowner: o2", codes: "W202 W203 W223 W205",
		},
		{name: "API-396, API-456: a launch template", in: strings.Replace(template, "securityGroupSelector: {a: b}", "launchTemplate: x", 1), want: "", codes: "W201 W202 W203 W601"},
		{
			name: "API-401, API-449: by the tool, no requirements", in: none, options: compat, words: []string{"key: k", "apiVersion", "kind"},
			want: "NodePool/default\napiVersion: karpenter.sh/v1beta1\nkind: NodePool\napiVersion: karpenter.k8s.aws/v1alpha1\nkind: AWSNodeTemplate\n- key: kubernetes.io/os\n- key: kubernetes.io/arch\n- key: karpenter.sh/capacity-type\n- key: karpenter.k8s.aws/instance-category\n- key: karpenter.k8s.aws/instance-generation", codes: "W101 W116",
		},
		{
			name: "API-401, API-450: by the tool, and none added", in: none, options: Options{Target: V1Beta1, ReferenceCompat: true, IgnoreDefaults: true}, words: []string{"requirements"},
			want: "NodePool/default\nrequirements: []", codes: "W116",
		},
		{
			name: "API-401, API-452: by the tool, no family", in: template, options: compat, words: []string{"amiFamily", "role", "metadataOptions"},
			want: "EC2NodeClass/default\namiFamily: AL2\nrole: $KARPENTER_NODE_ROLE", codes: "W202 W203",
		},
		{
			name: "API-401, API-455: by the tool, names and owners", in: template + "  amiSelector: {aws::name: 'n1,n2', aws::owners: 'o1,o2'}\n", options: compat, words: []string{"name: n", "owner:"},
			want: "EC2NodeClass/default\n- name: n1\nowner: o1\n- name: n2\nowner: o1\n- name: n1\nowner: o2\n- name: n2\nowner: o2", codes: "W202 W203 W223 W205",
		},
		{
			name: "API-401, API-328: by the tool, image tags alone", in: template + "  amiSelector: {team: 'a,b'}\n", options: compat, words: []string{"team:", "owner:"},
			want: "EC2NodeClass/default\nteam: a\nteam: b", codes: "W202 W203 W223 W205",
		},
		{name: "API-401, API-456: by the tool, a launch template", in: strings.Replace(template, "securityGroupSelector: {a: b}", "launchTemplate: x", 1), options: compat, want: "", codes: "W201 W202 W203 W601"},
		{
			name: "API-401, API-458: by the tool, inline provider", options: compat, words: []string{"nodeClassRef", "name: inline", "http", "volumeSize", "role"},
			in: `{apiVersion: karpenter.sh/v1alpha5, kind: Provisioner, metadata: {name: inline}, spec: {consolidation: {enabled: true}, ttlSecondsUntilExpired: 1, requirements: [{key: karpenter.k8s.aws/instance-family, operator: Exists}],
  provider: {subnetSelector: {a: b}, securityGroupSelector: {a: b}, metadataOptions: {httpTokens: required}, blockDeviceMappings: [{deviceName: /dev/xvda, ebs: {volumeSize: 20480Mi}}]}}}`,
			want:  "NodePool/inline\nname: inline\nnodeClassRef:\nname: inline\nEC2NodeClass/inline\nname: inline\nvolumeSize: 20Gi\nhttpTokens: required\nrole: $KARPENTER_NODE_ROLE",
			codes: "W101 W110 W116 W202 W203",
		},
		{name: "API-391, API-457: an unknown kind", in: everything + "---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\n", options: beta, words: []string{"weight"}, want: "NodePool/default\nweight: 10", codes: "W101 W108 W116 W603"},
		{
			name: "API-285, API-458: inline provider", options: beta, words: []string{"nodeClassRef", "name: inline", "http", "volumeSize", "role"},
			in: `{apiVersion: karpenter.sh/v1alpha5, kind: Provisioner, metadata: {name: inline}, spec: {consolidation: {enabled: true}, ttlSecondsUntilExpired: 1, requirements: [{key: karpenter.k8s.aws/instance-family, operator: Exists}],
  provider: {subnetSelector: {a: b}, securityGroupSelector: {a: b}, metadataOptions: {httpTokens: required}, blockDeviceMappings: [{deviceName: /dev/xvda, ebs: {volumeSize: 100Gi}}]}}}`,
			want:  "NodePool/inline\nname: inline\nnodeClassRef:\nname: inline\nEC2NodeClass/inline\nname: inline\nvolumeSize: 100Gi\nhttpEndpoint: enabled\nhttpProtocolIPv6: disabled\nhttpPutResponseHopLimit: 1\nhttpTokens: required\nrole: $KARPENTER_NODE_ROLE",
			codes: "W101 W110 W116 W202 W203 W208 W208 W208",
		},
		{
			name: "API-459: banana", in: `{apiVersion: karpenter.sh/v1alpha5, kind: Provisioner, metadata: {name: banana}, spec: {taints: [{key: example.com/special-taint, effect: NoSchedule}], labels: {billing-team: my-team},
  requirements: [{key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}], limits: {resources: {cpu: 1000}}, ttlSecondsAfterEmpty: 10, weight: 10, providerRef: {name: default}}}`,
			words: []string{"consol", "expire", "group", "kind", "billing", "special"},
			want:  "NodePool/banana\nkind: NodePool\nconsolidateAfter: 10s\nconsolidationPolicy: WhenEmpty\nbilling-team: my-team\nexpireAfter: Never\ngroup: karpenter.k8s.aws\nkind: EC2NodeClass\nkey: example.com/special-taint", codes: "W101 W115 W116 W505",
		},
		{
			name:  "API-460: consolidation and expiry",
			in:    `{apiVersion: karpenter.sh/v1alpha5, kind: Provisioner, metadata: {name: a}, spec: {consolidation: {enabled: true}, ttlSecondsUntilExpired: 1209600, providerRef: {name: default}}}`,
			words: []string{"consol", "expire"}, want: "NodePool/a\nconsolidateAfter: 0s\nconsolidationPolicy: WhenEmptyOrUnderutilized\nexpireAfter: 336h0m0s", codes: "W101 W116 W505 W501 W504",
		},
		{
			name: "API-356, API-371, API-461: the kubelet block moves to the node class", in: pool("a", "{systemReserved: {cpu: 100m}, maxPods: 20}") + betaClass, words: []string{"kubelet", "maxPods", "cpu", "expire"},
			want: "NodePool/a\nexpireAfter: 360h\nEC2NodeClass/default\nkubelet:\nmaxPods: 20\ncpu: 100m", codes: "W505 W501 W504 W514 W510 W515",
		},
		{
			name: "API-373, API-462: two blocks, one node class", in: pool("a", "{maxPods: 10}") + pool("b", "{maxPods: 20}") + betaClass, words: []string{"maxPods", "name: default"},
			want:  "NodePool/a\nname: default\nNodePool/b\nname: default-b\nEC2NodeClass/default\nname: default\nmaxPods: 10\nEC2NodeClass/default-b\nname: default-b\nmaxPods: 20",
			codes: "W505 W501 W504 W508 W505 W501 W504 W514 W510 W515 W514 W510 W515",
		},
		{
			name: "API-463: no disruption", in: strings.Replace(pool("a", "null"), "  disruption: {consolidationPolicy: WhenUnderutilized, expireAfter: 360h}\n", "", 1), words: []string{"consol", "expire"},
			want: "NodePool/a\nconsolidateAfter: 0s\nconsolidationPolicy: WhenEmptyOrUnderutilized\nexpireAfter: 720h", codes: "W505 W501 W504",
		},
		{
			name: "API-464: consolidation is off", in: strings.Replace(pool("a", "null"), "expireAfter: 360h", "consolidateAfter: Never", 1), words: []string{"consolidateA"},
			want: "NodePool/a\nconsolidateAfter: Never", codes: "W505 W502 W504",
		},
		{
			name: "API-464: by the webhook it is not", in: strings.Replace(pool("a", "null"), "expireAfter: 360h", "consolidateAfter: Never", 1), options: Options{ReferenceCompat: true}, words: []string{"consolidateA"},
			want: "NodePool/a\nconsolidateAfter: 0s", codes: "W505 W501 W504",
		},
		{
			name: "API-465: Bottlerocket without images", in: betaClass, words: []string{"alias", "amiFamily", "Hop"}, want: "EC2NodeClass/default\n- alias: bottlerocket@latest\nhttpPutResponseHopLimit: 2", codes: "W514 W510 W515",
		},
		{
			name: "API-466: Ubuntu with images", in: strings.Replace(betaClass, "Bottlerocket", "Ubuntu\n  amiSelectorTerms: [{id: ami-1}]", 1), words: []string{"amiFamily", "ami-1", "/dev/sda1"},
			want: "EC2NodeClass/default\ncompatibility.karpenter.k8s.aws/v1beta1-ubuntu: amiFamily,blockDeviceMappings\namiFamily: AL2\n- id: ami-1\n- deviceName: /dev/sda1", codes: "W514 W511 W515",
		},
		{name: "API-466: Ubuntu without", in: strings.Replace(betaClass, "Bottlerocket", "Ubuntu", 1), words: []string{"amiFamily"}, want: "", codes: "W514 W512 W515"},
		{
			name:  "API-467: v1 passes through unchanged, order is kept",
			in:    "{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: z, uid: x}, spec: {template: {spec: {requirements: [], nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: z}}}}, status: {nodes: 3}}\n" + everything[1:][:0] + "---" + everything + betaClass,
			words: []string{"uid", "nodes: 3"}, want: "NodePool/z\nuid: x\nnodes: 3\nNodePool/default\nEC2NodeClass/default", codes: "W101 W108 W116 W504 W514 W510 W515",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			documents := decode(t, c.in)
			before := make([]Object, len(documents))
			for i, d := range documents {
				before[i] = deepCopy(d.Object)
			}
			r := Rewrite(documents, c.options)
			got := written(t, r)
			if c.words != nil {
				got = find(t, r, c.words...)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			if diff := cmp.Diff(c.codes, codes(r.Warnings)); diff != "" {
				t.Errorf("warnings (-want +got)\n%s\n%v", diff, r.Warnings)
			}
			for i, d := range documents {
				if diff := cmp.Diff(before[i], d.Object); diff != "" {
					t.Errorf("API-264: document %d was changed:\n%s", i, diff)
				}
			}
			if again := Rewrite(documents, c.options); c.words != nil && len(again.Objects) == len(r.Objects) && written(t, again) != written(t, r) {
				t.Error("API-264: a second time gives another result")
			}
		})
	}
}

package convert

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/drawknife/drawknife/api/conversion"
	"github.com/drawknife/drawknife/api/v1alpha5"
	"github.com/drawknife/drawknife/api/v1beta1"
	awsv1alpha1 "github.com/drawknife/drawknife/aws/api/v1alpha1"
	awsv1beta1 "github.com/drawknife/drawknife/aws/api/v1beta1"
)

var update = flag.Bool("update", false, "write the golden files again")

// Manifests in which one word is replaced by what gives a warning.
const (
	aProvisioner = "{apiVersion: karpenter.sh/v1alpha5, kind: Provisioner, metadata: {name: web}, spec: {SPEC, providerRef: {name: x}}}"
	aTemplate    = "{apiVersion: karpenter.k8s.aws/v1alpha1, kind: AWSNodeTemplate, metadata: {name: web}, spec: {SPEC, subnetSelector: {a: b}, securityGroupSelector: {a: b}}}"
	aBetaPool    = "{apiVersion: karpenter.sh/v1beta1, kind: NodePool, metadata: {name: web}, spec: {SPEC, template: {TEMPLATE, spec: {NODE, requirements: [], nodeClassRef: {apiVersion: karpenter.k8s.aws/v1beta1, kind: EC2NodeClass, name: x}}}}}"
	aBetaClass   = "{apiVersion: karpenter.k8s.aws/v1beta1, kind: EC2NodeClass, metadata: {name: web}, spec: {SPEC, role: r, subnetSelectorTerms: [{id: subnet-1}], securityGroupSelectorTerms: [{id: sg-1}]}}"
	aPool        = "{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: web}, spec: {SPEC, template: {spec: {NODE, requirements: [], nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: x}}}}}"
	aClass       = "{apiVersion: karpenter.k8s.aws/v1, kind: EC2NodeClass, metadata: {name: web}, spec: {SPEC, role: r, amiSelectorTerms: [{alias: al2023@latest}], subnetSelectorTerms: [{id: subnet-1}], securityGroupSelectorTerms: [{id: sg-1}]}}"
	aPod         = "{apiVersion: v1, kind: Pod, metadata: {name: web}, spec: {SPEC}}"
)

// with replaces the word SPEC, and NODE and TEMPLATE by nothing.
func with(manifest, spec string) string { return withNode(manifest, spec, "") }

func withNode(manifest, spec, node string) string {
	return strings.NewReplacer("SPEC, ", joined(spec), "SPEC", spec, "TEMPLATE, ", "", "NODE, ", joined(node)).Replace(manifest)
}

func joined(fields string) string {
	if fields == "" {
		return ""
	}
	return fields + ", "
}

// API-266, and the catalogue of warnings: each code is given by some input, with its severity, its object, its path and its words.
func TestEveryCode(t *testing.T) {
	beta, workloads := Options{Target: V1Beta1}, Options{Workloads: true}
	density := false
	legacy := Options{Legacy: &LegacySettings{DefaultInstanceProfile: "p", Tags: map[string]string{"team": "a"}, ENILimitedPodDensity: &density}}
	tags21 := "{" + strings.TrimSuffix(strings.Repeat("KEY: v, ", 21), ", ") + "}"
	for i := range 21 {
		tags21 = strings.Replace(tags21, "KEY", "k"+string(rune('a'+i)), 1)
	}
	cases := map[conversion.Code]struct {
		in      string
		options Options
	}{
		"W101": {with(aProvisioner, "requirements: [{key: kubernetes.io/os, operator: Exists}, {key: kubernetes.io/arch, operator: Exists}, {key: karpenter.k8s.aws/instance-family, operator: Exists}]"), Options{}},
		"W102": {with(aProvisioner, "labels: {kubernetes.io/arch: arm64}"), Options{}},
		"W103": {with(aProvisioner, "requirements: [{key: karpenter.k8s.aws/instance-pods, operator: Exists}]"), Options{}},
		"W104": {with(aProvisioner, "labels: {karpenter.sh/provisioner-name: a}"), Options{}},
		"W105": {with(aProvisioner, "requirements: ["+strings.Repeat("{key: a, operator: Exists}, ", 31)+"]"), Options{Target: V1Beta1, IgnoreDefaults: true}},
		"W106": {with(aProvisioner, "annotations: {karpenter.sh/do-not-consolidate: 'true'}"), Options{}},
		"W107": {with(aProvisioner, "kubeletConfiguration: {containerRuntime: dockerd}"), Options{}},
		"W108": {strings.Replace(with(aProvisioner, ""), "{name: x}", "{kind: AWSNodeTemplate, name: x}", 1), Options{}},
		"W109": {strings.Replace(with(aProvisioner, "weight: 1"), ", providerRef: {name: x}", "", 1), Options{}},
		"W110": {strings.Replace(with(aProvisioner, ""), "providerRef: {name: x}", "provider: {subnetSelector: {a: b}, securityGroupSelector: {a: b}}", 1), Options{}},
		"W111": {with(aBetaPool, "") + "\n---\n" + with(aBetaPool, "weight: 1"), Options{}},
		"W112": {with(aProvisioner, "provider: {subnetSelector: {a: b}, securityGroupSelector: {a: b}}"), Options{}},
		"W113": {with(aProvisioner, "consolidation: {enabled: true}, ttlSecondsAfterEmpty: 30"), Options{}},
		"W114": {with(aProvisioner, ""), Options{}},
		"W115": {with(aProvisioner, ""), Options{}},
		"W116": {with(aProvisioner, ""), Options{}},
		"W201": {with(aTemplate, "launchTemplate: mine"), Options{}},
		"W202": {with(aTemplate, ""), Options{}},
		"W203": {with(aTemplate, "instanceProfile: p"), Options{}},
		"W204": {with(aTemplate, "instanceProfile: p"), Options{KeepInstanceProfile: true}},
		"W205": {with(aTemplate, "amiSelector: {aws::name: a}"), Options{}},
		"W206": {with(aTemplate, "tags: {karpenter.sh/nodepool: a}"), Options{}},
		"W207": {with(aTemplate, ""), legacy},
		"W208": {with(aTemplate, "metadataOptions: {httpEndpoint: enabled, httpProtocolIPv6: disabled, httpTokens: required}"), Options{}},
		"W209": {with(aTemplate, "blockDeviceMappings: [{deviceName: /dev/xvda, ebs: {volumeSize: 20480Mi}}, {deviceName: /dev/xvdb, ebs: {volumeSize: '10737418241'}}]"), Options{}},
		"W210": {with(aProvisioner, ""), legacy},
		"W211": {with(aProvisioner, ""), legacy},
		"W220": {with(aTemplate, "amiSelector: {aws::ids: ami-1, aws::name: a, team: b}"), Options{}},
		"W221": {with(aTemplate, "amiSelector: {aws::owners: self}"), Options{}},
		"W222": {with(aTemplate, "amiSelector: {team: b}"), Options{}},
		"W223": {with(aTemplate, "amiSelector: {aws::name: 'a,b'}"), Options{}},
		"W224": {with(aTemplate, "amiSelector: "+tags21), Options{}},
		"W226": {with(aTemplate, "amiSelector: {aws::ids: ami-1, aws::name: a}"), Options{Target: V1Beta1, ReferenceCompat: true}},
		"W225": {with(aTemplate, "amiSelector: {aws::ids: 'ami-1,subnet-2'}"), Options{}},
		"W301": {"{apiVersion: karpenter.sh/v1alpha5, kind: Machine, metadata: {name: web}}", Options{}},
		"W401": {with(aPod, "nodeSelector: {karpenter.sh/provisioner-name: a}"), workloads},
		"W501": {with(aBetaPool, ""), Options{}},
		"W502": {with(aBetaPool, "disruption: {consolidationPolicy: WhenUnderutilized, consolidateAfter: Never}"), Options{}},
		"W503": {with(aBetaPool, "disruption: {consolidationPolicy: WhenEmpty}"), Options{}},
		"W504": {with(aBetaPool, ""), Options{}},
		"W505": {strings.Replace(with(aBetaPool, ""), "apiVersion: karpenter.k8s.aws/v1beta1, kind: EC2NodeClass, ", "", 1), Options{}},
		"W506": {withNode(aBetaPool, "", "resources: {requests: {cpu: 1}}"), Options{}},
		"W507": {withNode(aBetaPool, "", "kubelet: {maxPods: 1}"), Options{}},
		"W508": {withNode(aBetaPool, "", "kubelet: {maxPods: 1}") + "\n---\n" + strings.NewReplacer("name: web", "name: app", "maxPods: 1", "maxPods: 2").Replace(withNode(aBetaPool, "", "kubelet: {maxPods: 1}")) + "\n---\n" + strings.Replace(with(aBetaClass, "amiFamily: AL2"), "name: web", "name: x", 1), Options{}},
		"W509": {withNode(aBetaPool, "", "kubelet: {maxPods: 1}") + "\n---\n" + strings.Replace(with(aClass, "kubelet: {maxPods: 2}"), "name: web", "name: x", 1), Options{}},
		"W510": {with(aBetaClass, "amiFamily: Bottlerocket"), Options{}},
		"W511": {with(aBetaClass, "amiFamily: Ubuntu, amiSelectorTerms: [{id: ami-1}]"), Options{}},
		"W512": {with(aBetaClass, "amiFamily: Ubuntu"), Options{}},
		"W513": {with(aBetaClass, "amiFamily: Custom, amiSelectorTerms: [{id: ami-1}]"), Options{}},
		"W514": {with(aBetaClass, "amiFamily: AL2"), Options{}},
		"W515": {with(aBetaClass, "amiFamily: AL2"), Options{}},
		"W516": {with(aPod, "tolerations: [{key: karpenter.sh/disruption, operator: Exists}]"), workloads},
		"W517": {strings.Replace(with(aBetaPool, ""), "karpenter.k8s.aws/v1beta1", "karpenter.k8s.aws/v1", 1), Options{}},
		"W601": {with(aProvisioner, "weight: 101"), Options{}},
		"W602": {"{apiVersion: karpenter.sh/v1, kind: Provisioner, metadata: {name: web}}", Options{}},
		"W603": {with(aPod, ""), Options{}},
		"W604": {with(aProvisioner, "wait: 1"), Options{}},
		"W606": {with(aClass, "") + "\n---\n" + strings.Replace(withNode(aPool, "", "kubelet: {maxPods: 20}"), "name: x}", "name: web}", 1), Options{}},
		// W607 and W608 are of documents without an object: unread, below.
		"W605": {strings.Replace(with(aBetaPool, ""), "name: web", "name: web, annotations: {kubectl.kubernetes.io/last-applied-configuration: '{}'}", 1), Options{}},
		"W901": {withNode(aPool, "", "terminationGracePeriod: 1h"), beta},
		"W902": {with(aPool, "disruption: {consolidateAfter: 0s, budgets: [{nodes: '1', reasons: [Drifted, Empty]}]}"), beta},
		"W903": {with(aPool, "disruption: {consolidateAfter: 5m}"), beta},
		"W904": {with(aPool, "disruption: {consolidateAfter: 0s}"), beta},
		"W905": {with(aPool, ""), beta},
		"W906": {with(aPool, "replicas: 3"), beta},
		"W907": {with(aPool, "limits: {nodes: 5}"), beta},
		"W908": {with(aPool, "disruption: {consolidateAfter: 0s, consolidationPolicy: Balanced}"), beta},
		"W909": {strings.Replace(with(aPool, ""), "requirements: []", "requirements: [{key: a, operator: Gte, values: ['4']}]", 1), beta},
		"W910": {"{apiVersion: karpenter.sh/v1, kind: NodeClaim, metadata: {name: web}, spec: {expireAfter: 1h, requirements: [], nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: x}}}", beta},
		"W911": {strings.Replace(with(aPool, ""), "name: web", "name: web, annotations: {"+v1beta1.KubeletAnnotationKey+": x}", 1), beta},
		"W912": {with(aPool, "disruption: {consolidateAfter: 0s, budgets: [{nodes: '1', reasons: []}]}"), beta},
		"W913": {strings.Replace(with(aClass, ""), "@latest", "@v20240807", 1), beta},
		"W914": {with(aClass, "ipPrefixCount: 1"), beta},
		"W915": {with(aClass, ""), beta},
		"W916": {with(aClass, "kubelet: {maxPods: 20}") + "\n---\n" + strings.Replace(with(aPool, ""), "name: x}", "name: web}", 1), beta},
	}
	back := map[conversion.Code]string{
		"W801": with(aBetaPool, "disruption: {budgets: [{nodes: '1'}]}"),
		"W802": strings.Replace(with(aBetaPool, ""), "requirements: []", "requirements: [{key: a, operator: Exists, minValues: 2}]", 1),
		"W803": with(aBetaClass, "amiFamily: AL2, instanceStorePolicy: RAID0"),
		"W804": withNode(aBetaPool, "", "kubelet: {systemReserved: {cpu: lots}}"),
	}
	unread := map[conversion.Code]Source{
		"W607": {Name: "chart/values.yaml", Data: []byte("replicas: 2"), Found: true},
		"W608": {Name: "pool.yaml", Data: []byte(strings.Replace(with(aPool, "weight: []"), "name: web", "name: web, labels: {a: true}", 1))},
	}
	var got strings.Builder
	for _, code := range conversion.Codes() {
		var warnings conversion.Warnings
		if source, ok := unread[code]; ok {
			documents, err := Decode(DecodeOptions{KeepGoing: true}, source)
			if err != nil {
				t.Fatal(err)
			}
			warnings = Rewrite(documents, Options{}).Warnings
		}
		if c, ok := cases[code]; ok {
			warnings = rewrite(t, c.in, c.options).Warnings
		} else if in, ok := back[code]; ok {
			switch o := decode(t, in)[0].Object.(type) {
			case *v1beta1.NodePool:
				_, warnings = v1alpha5.ProvisionerFromV1Beta1(o, conversion.Provenance{}, Options{}.ProvisionerOptions())
			case *awsv1beta1.EC2NodeClass:
				_, warnings = awsv1alpha1.FromV1Beta1(o, conversion.Provenance{}, Options{}.NodeTemplateOptions())
			}
		}
		i := slices.IndexFunc(warnings, func(w conversion.Warning) bool { return w.Code == code })
		if i < 0 {
			t.Errorf("no input of this test gives %s: %v", code, warnings)
			continue
		}
		if warnings[i].Severity != code.Severity() {
			t.Errorf("%s has severity %s, its code %s", warnings[i], warnings[i].Severity, code.Severity())
		}
		fmt.Fprintln(&got, warnings[i])
	}
	const golden = "testdata/catalogue.txt"
	if *update {
		if err := os.WriteFile(golden, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got.String()); diff != "" {
		t.Errorf("%s (-there +given):\n%s", golden, diff)
	}
}

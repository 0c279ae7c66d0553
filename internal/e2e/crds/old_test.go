package crds

import (
	"os"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"

	"github.com/drawknife/drawknife/api/crds"
	"github.com/drawknife/drawknife/api/v1alpha5"
	"github.com/drawknife/drawknife/api/v1beta1"
	awsv1alpha1 "github.com/drawknife/drawknife/aws/api/v1alpha1"
	awsv1beta1 "github.com/drawknife/drawknife/aws/api/v1beta1"
)

// oldKinds are those of the older generations, with the good objects of their packages.
func oldKinds(t *testing.T) map[string]*judged {
	t.Helper()
	const api, aws = "../../../api/", "../../../aws/api/"
	all := make(map[string]*judged)
	for kind, from := range map[string]struct {
		good     string
		validate func(object, old []byte) (field.ErrorList, error)
	}{
		"NodePool":     {api + "v1beta1/testdata/nodepool-full.yaml", validated((*v1beta1.NodePool).Validate, nil)},
		"NodeClaim":    {api + "v1beta1/testdata/nodeclaim.yaml", validated((*v1beta1.NodeClaim).Validate, nil)},
		"EC2NodeClass": {aws + "v1beta1/testdata/full.yaml", validated((*awsv1beta1.EC2NodeClass).Validate, (*awsv1beta1.EC2NodeClass).ValidateUpdate)},
		"Provisioner":  {api + "v1alpha5/testdata/provisioner-full.yaml", validated((*v1alpha5.Provisioner).Validate, nil)},
		// Its settings inline, which nothing is dropped of.
		"Provisioner inline": {api + "v1alpha5/testdata/provisioner-inline.yaml", validated((*v1alpha5.Provisioner).Validate, nil)},
		"Machine":            {api + "v1alpha5/testdata/machine.yaml", validated((*v1alpha5.Machine).Validate, nil)},
		"AWSNodeTemplate":    {aws + "v1alpha1/testdata/full.yaml", validated((*awsv1alpha1.AWSNodeTemplate).Validate, nil)},
	} {
		text, err := os.ReadFile(from.good)
		if err != nil {
			t.Fatal(err)
		}
		all[kind] = &judged{good: decoded(t, text), validate: from.validate}
	}
	for _, c := range append(crds.WithV1Beta1(), crds.Alpha()...) {
		crd, err := Read(c.YAML())
		if err != nil {
			t.Fatal(err)
		}
		for kind, k := range all {
			if strings.HasPrefix(kind, c.Kind) {
				if k.judge, err = NewJudge(crd, c.Versions[0]); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	return all
}

// The definitions of v1beta1 next to v1, and of the first generation: an API server takes them. v1 alone is stored, says what it
// says by itself, and v1beta1 is not served before somebody converts it. API-001, API-002, API-003, API-004, API-005, API-007,
// API-008, API-090, API-107, API-148, API-156.
func TestOldDefinitions(t *testing.T) {
	want := map[string]string{
		"NodePool":        "Cluster; karpenter; ; NodeClass [Weight]",
		"NodeClaim":       "Cluster; karpenter; ; Type Zone Node Ready Age [Capacity] [NodePool] [NodeClass]",
		"EC2NodeClass":    "Cluster; karpenter; ec2nc ec2ncs; ",
		"Provisioner":     "Cluster; karpenter; ; Template [Weight]",
		"Machine":         "Cluster; karpenter; ; Type Zone Node Ready Age [Capacity] [Provisioner] [Template]",
		"AWSNodeTemplate": "Cluster; karpenter; ; ",
	}
	present := make(map[string]any)
	for _, c := range crds.All() {
		present[c.Name()] = decoded(t, c.YAML())["spec"].(map[string]any)["versions"].([]any)[0]
	}
	for _, c := range append(crds.WithV1Beta1(), crds.Alpha()...) {
		t.Run(c.Kind, func(t *testing.T) {
			crd, err := Read(c.YAML())
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range Accept(t.Context(), crd) {
				t.Error(e)
			}
			if crd.Name != c.Name() || c.Namespaced {
				t.Errorf("%s describes %s", c.Name(), crd.Name)
			}
			versions := decoded(t, c.YAML())["spec"].(map[string]any)["versions"].([]any)
			old := versions[0].(map[string]any)
			if len(versions) == 2 {
				if string(text(t, versions[1].(map[string]any))) != string(text(t, present[c.Name()].(map[string]any))) {
					t.Error("v1 is another than by itself")
				}
				if old["served"] != false || old["storage"] != false {
					t.Errorf("served %v, stored %v", old["served"], old["storage"])
				}
			} else if old["served"] != true || old["storage"] != true {
				t.Errorf("served %v, stored %v", old["served"], old["storage"])
			}
			if old["name"] != c.Versions[0] || old["subresources"].(map[string]any)["status"] == nil {
				t.Errorf("version %v, sub-resources %v", old["name"], old["subresources"])
			}
			var columns []string
			list, _ := old["additionalPrinterColumns"].([]any)
			for _, column := range list {
				name := column.(map[string]any)["name"].(string)
				if column.(map[string]any)["priority"] != nil {
					name = "[" + name + "]"
				}
				columns = append(columns, name)
			}
			got := strings.Join([]string{
				string(crd.Spec.Scope), strings.Join(crd.Spec.Names.Categories, " "), strings.Join(crd.Spec.Names.ShortNames, " "), strings.Join(columns, " "),
			}, "; ")
			if got != want[c.Kind] {
				t.Errorf("\n got %s\nwant %s", got, want[c.Kind])
			}
		})
	}
}

// What good objects of the older generations become: nothing is pruned, and Go agrees with the API server. API-042 to API-067,
// API-074 to API-089, API-098 to API-106, API-108 to API-120, API-129 to API-146, API-149 to API-155, API-157 to API-173.
func TestOldGoodObjects(t *testing.T) {
	for kind, k := range oldKinds(t) {
		t.Run(kind, func(t *testing.T) {
			object := &unstructured.Unstructured{Object: k.good}
			admitted, errs := k.judge.Admit(t.Context(), object, nil)
			for _, e := range errs {
				t.Error(e)
			}
			if missing := lost("", k.good, admitted.Object); len(missing) > 0 {
				t.Errorf("the API server would drop %v", missing)
			}
			if _, errs := k.judge.Admit(t.Context(), object, object); len(errs) > 0 {
				t.Errorf("written again without a change: %v", errs.ToAggregate())
			}
			if errs, err := k.validate(text(t, k.good), nil); err != nil || len(errs) > 0 {
				t.Errorf("Go: %v, %v", err, errs.ToAggregate())
			}
		})
	}
}

// Each rule of the older generations' schemas refuses an object, and the validation in Go refuses it too.
func TestOldBadObjects(t *testing.T) {
	all := oldKinds(t)
	broken := make(brokenRules)
	for _, c := range oldRefusals() {
		t.Run(c.kind+"/"+c.name, func(t *testing.T) {
			k := all[c.kind]
			bad := changed(t, k.good, c.change)
			var old *unstructured.Unstructured
			var before []byte
			if c.update {
				old, before = &unstructured.Unstructured{Object: k.good}, text(t, k.good)
			}
			_, errs := k.judge.Admit(t.Context(), &unstructured.Unstructured{Object: bad}, old)
			if len(errs) == 0 {
				t.Fatal("the API server takes it")
			}
			message := errs.ToAggregate().Error()
			broken.note(c.kind, errs)
			if !strings.Contains(message, c.says) {
				t.Errorf("the API server says %s, not %q", message, c.says)
			}
			found, err := k.validate(text(t, bad), before)
			if c.field != "" && (err != nil || !slices.ContainsFunc(found, func(e *field.Error) bool { return e.Field == c.field })) {
				t.Errorf("Go: %v, %v; want an error at %s", err, found.ToAggregate(), c.field)
			}
			if c.field == "" && c.why == "" && err == nil && len(found) == 0 {
				t.Error("Go takes it")
			}
		})
	}
	broken.check(t, all)
}

func oldRefusals() []refusal {
	out := []refusal{
		{kind: "NodePool", name: "a wait under the wrong policy", change: "spec: {disruption: {consolidationPolicy: WhenUnderutilized, consolidateAfter: 30s}}", says: "consolidateAfter goes with consolidationPolicy WhenEmpty", field: "spec.disruption.consolidateAfter"},
		{kind: "NodePool", name: "no wait", change: "spec: {disruption: {consolidateAfter: null}}", says: "WhenEmpty needs consolidateAfter", field: "spec.disruption.consolidateAfter"},
		{kind: "NodePool", name: "a schedule alone", change: "spec: {disruption: {budgets: [{nodes: '1', schedule: '@daily'}]}}", says: "a schedule and a duration come together", field: "spec.disruption.budgets[0].duration"},
		{kind: "NodePool", name: "too many budgets", change: "spec: {disruption: {budgets: [" + many(51, "{nodes: '%'}") + "]}}", says: "must have at most 50", field: "spec.disruption.budgets"},
		{kind: "NodePool", name: "v1's policy", change: "spec: {disruption: {consolidationPolicy: WhenEmptyOrUnderutilized}}", says: "supported values", field: "spec.disruption.consolidationPolicy"},
		{kind: "NodePool", name: "fractions of hours", change: "spec: {disruption: {expireAfter: 1.5h}}", says: "should match", field: "spec.disruption.expireAfter"},
		{kind: "NodePool", name: "negative limit", change: "spec: {limits: {cpu: '-1'}}", says: "should match", field: "spec.limits[cpu]"},
		{kind: "NodePool", name: "weight", change: "spec: {weight: 101}", says: "less than or equal to 100", field: "spec.weight"},
		{kind: "NodePool", name: "no node class", change: "spec: {template: {spec: {nodeClassRef: {name: ''}}}}", says: "at least 1 chars", field: "spec.template.spec.nodeClassRef.name"},
		{kind: "NodePool", name: "the pool's label", change: "spec: {template: {metadata: {labels: {karpenter.sh/nodepool: x}}}}", says: "set to the pool's own name", field: "spec.template.metadata.labels[karpenter.sh/nodepool]"},
		{kind: "NodePool", name: "the host's label", change: "spec: {template: {metadata: {labels: {kubernetes.io/hostname: x}}}}", says: "set on each node for it alone", field: "spec.template.metadata.labels[kubernetes.io/hostname]"},
		{kind: "NodePool", name: "a reserved label", change: "spec: {template: {metadata: {labels: {karpenter.sh/x: x}}}}", says: "are reserved", why: "the vocabulary's business"},
		{kind: "NodePool", name: "less than nothing reserved", change: "spec: {template: {spec: {kubelet: {kubeReserved: {cpu: '-1'}}}}}", says: "should match", field: "spec.template.spec.kubelet.kubeReserved[cpu]"},
		{kind: "NodePool", name: "taint without key", change: "spec: {template: {spec: {taints: [{key: '', effect: NoSchedule}]}}}", says: "at least 1 chars", field: "spec.template.spec.taints[0].key"},

		{kind: "EC2NodeClass", name: "no identity", change: "spec: {role: null}", says: "exactly one of role and instanceProfile", field: "spec.role"},
		{kind: "EC2NodeClass", name: "two identities", change: "spec: {instanceProfile: x}", says: "exactly one of role and instanceProfile", field: "spec.instanceProfile"},
		{kind: "EC2NodeClass", name: "another identity", update: true, change: "spec: {role: null, instanceProfile: x}", says: "can't be exchanged", field: "spec.role"},
		{kind: "EC2NodeClass", name: "no family", change: "spec: {amiFamily: null}", says: "Required", field: "spec.amiFamily"},
		{kind: "EC2NodeClass", name: "family", change: "spec: {amiFamily: Windows2025}", says: "supported values", field: "spec.amiFamily"},
		{kind: "EC2NodeClass", name: "Custom without images", change: "spec: {amiFamily: Custom, amiSelectorTerms: null}", says: "Custom needs amiSelectorTerms", field: "spec.amiSelectorTerms"},
		{kind: "EC2NodeClass", name: "an empty tag", change: "spec: {tags: {'': x}}", says: "a tag's key must not be empty", field: "spec.tags"},
		{kind: "EC2NodeClass", name: "the cluster's tag", change: "spec: {tags: {kubernetes.io/cluster/blue: owned}}", says: "kubernetes.io/cluster", field: "spec.tags[kubernetes.io/cluster/blue]"},
		{kind: "EC2NodeClass", name: "the pool's tag", change: "spec: {tags: {karpenter.sh/nodepool: x}}", says: "to identify its owner", field: "spec.tags[karpenter.sh/nodepool]"},
		{kind: "EC2NodeClass", name: "two roots", change: "spec: {blockDeviceMappings: [{rootVolume: true, ebs: {volumeSize: 1Gi}}, {rootVolume: true, ebs: {volumeSize: 1Gi}}]}", says: "only one volume holds", field: "spec.blockDeviceMappings[1].rootVolume"},
		{kind: "EC2NodeClass", name: "a volume of no size", change: "spec: {blockDeviceMappings: [{ebs: {volumeType: gp3}}]}", says: "the size of the volume is not known", field: "spec.blockDeviceMappings[0].ebs.volumeSize"},
		{kind: "EC2NodeClass", name: "a small volume", change: "spec: {blockDeviceMappings: [{ebs: {volumeSize: 20}}]}", says: "is less than 1G", field: "spec.blockDeviceMappings[0].ebs.volumeSize"},
		{kind: "EC2NodeClass", name: "a large volume", change: "spec: {blockDeviceMappings: [{ebs: {volumeSize: 65Ti}}]}", says: "is more than 64Ti", field: "spec.blockDeviceMappings[0].ebs.volumeSize"},
		{kind: "EC2NodeClass", name: "an alias", change: "spec: {amiSelectorTerms: [{alias: al2023@latest}]}", says: "a term must select by one of tags, id, name", why: "Go has no such field"},
		{kind: "EC2NodeClass", name: "too many hops", change: "spec: {metadataOptions: {httpPutResponseHopLimit: 65}}", says: "less than or equal to 64", field: "spec.metadataOptions.httpPutResponseHopLimit"},
		{kind: "EC2NodeClass", name: "group by id and name", change: "spec: {securityGroupSelectorTerms: [{id: sg-1, name: x}]}", says: "id can't be combined", field: "spec.securityGroupSelectorTerms[0].id"},
		{kind: "EC2NodeClass", name: "group by name and tags", change: "spec: {securityGroupSelectorTerms: [{name: x, tags: {a: b}}]}", says: "name can't be combined", field: "spec.securityGroupSelectorTerms[0].name"},
		{kind: "EC2NodeClass", name: "image by id and owner", change: "spec: {amiSelectorTerms: [{id: ami-1, owner: self}]}", says: "id can't be combined", field: "spec.amiSelectorTerms[0].id"},
		{kind: "EC2NodeClass", name: "subnet by nothing", change: "spec: {subnetSelectorTerms: [{}]}", says: "a term must select by one of tags, id", field: "spec.subnetSelectorTerms[0]"},
		{kind: "EC2NodeClass", name: "subnet by id and tags", change: "spec: {subnetSelectorTerms: [{id: subnet-1, tags: {a: b}}]}", says: "id can't be combined", field: "spec.subnetSelectorTerms[0].id"},
		{kind: "EC2NodeClass", name: "subnet's tag without a value", change: "spec: {subnetSelectorTerms: [{tags: {a: ''}}]}", says: "neither key nor value of a tag may be empty", field: "spec.subnetSelectorTerms[0].tags[a]"},
		{kind: "EC2NodeClass", name: "group by nothing", change: "spec: {securityGroupSelectorTerms: [{}]}", says: "a term must select by one of tags, id, name", field: "spec.securityGroupSelectorTerms[0]"},
		{kind: "EC2NodeClass", name: "group's tag without a key", change: "spec: {securityGroupSelectorTerms: [{tags: {'': a}}]}", says: "neither key nor value of a tag may be empty", field: "spec.securityGroupSelectorTerms[0].tags"},
		{kind: "EC2NodeClass", name: "no subnets", change: "spec: {subnetSelectorTerms: []}", says: "at least 1 items", field: "spec.subnetSelectorTerms"},
		{kind: "EC2NodeClass", name: "a term's tag without a value", change: "spec: {amiSelectorTerms: [{tags: {a: ''}}]}", says: "neither key nor value of a tag may be empty", field: "spec.amiSelectorTerms[0].tags[a]"},

		{kind: "Provisioner", name: "provider and providerRef", change: "spec: {provider: {amiFamily: AL2}}", says: "exclude each other", field: "spec.provider"},
		{kind: "Provisioner", name: "two ways to scale down", change: "spec: {consolidation: {enabled: true}}", says: "excludes consolidation.enabled", field: "spec.ttlSecondsAfterEmpty"},
		{kind: "Provisioner", name: "its own label", change: "spec: {labels: {karpenter.sh/provisioner-name: x}}", says: "leave it out", field: "spec.labels[karpenter.sh/provisioner-name]"},
		{kind: "Provisioner", name: "negative time", change: "spec: {ttlSecondsUntilExpired: -1}", says: "greater than or equal to 0", field: "spec.ttlSecondsUntilExpired"},
		{kind: "Provisioner", name: "no weight", change: "spec: {weight: 0}", says: "greater than or equal to 1", field: "spec.weight"},
		{kind: "Provisioner", name: "taint's effect", change: "spec: {taints: [{key: a, effect: Never}]}", says: "supported values", field: "spec.taints[0].effect"},
		{kind: "Provisioner", name: "negative limit", change: "spec: {limits: {resources: {cpu: '-1'}}}", says: "should match", field: "spec.limits.resources[cpu]"},
		{kind: "Machine", name: "no node template", change: "spec: {machineTemplateRef: {name: ''}}", says: "at least 1 chars", field: "spec.machineTemplateRef.name"},

		{kind: "AWSNodeTemplate", name: "no subnets", change: "spec: {subnetSelector: null}", says: "select the subnets", field: "spec.subnetSelector"},
		{kind: "AWSNodeTemplate", name: "no groups", change: "spec: {securityGroupSelector: null}", says: "select the security groups", field: "spec.securityGroupSelector"},
		{kind: "AWSNodeTemplate", name: "launch template and groups", change: "spec: {launchTemplate: mine}", says: "launchTemplate says itself", field: "spec.securityGroupSelector"},
		{kind: "AWSNodeTemplate", name: "Custom without images", change: "spec: {amiFamily: Custom, amiSelector: null}", says: "family Custom has no images", field: "spec.amiSelector"},
		{kind: "AWSNodeTemplate", name: "an empty tag", change: "spec: {tags: {'': x}}", says: "a tag's key must not be empty", field: "spec.tags"},
		{kind: "AWSNodeTemplate", name: "a volume of no size", change: "spec: {blockDeviceMappings: [{deviceName: /dev/xvda, ebs: {volumeType: gp3}}]}", says: "the size of the volume is not known", field: "spec.blockDeviceMappings[0].ebs.volumeSize"},
		{kind: "AWSNodeTemplate", name: "a small volume", change: "spec: {blockDeviceMappings: [{deviceName: /dev/xvda, ebs: {volumeSize: 20}}]}", says: "is less than 1G", field: "spec.blockDeviceMappings[0].ebs.volumeSize"},
		{kind: "AWSNodeTemplate", name: "a large volume", change: "spec: {blockDeviceMappings: [{deviceName: /dev/xvda, ebs: {volumeSize: 65Ti}}]}", says: "is more than 64Ti", field: "spec.blockDeviceMappings[0].ebs.volumeSize"},
	}
	for _, at := range []struct{ kind, path, before, after string }{
		{"NodePool", "spec.template.spec.requirements[0].", "spec: {template: {spec: {requirements: [", "]}}}"},
		{"NodeClaim", "spec.requirements[0].", "spec: {requirements: [", "]}"},
	} {
		for _, c := range []struct{ name, entry, says, field string }{
			{"In without values", "{key: a, operator: In}", "operator In needs at least one value", "values"},
			{"Gt without a number", "{key: a, operator: Gt, values: [x]}", "operators Gt and Lt need exactly one whole number", "values"},
			{"In with fewer than minValues", "{key: a, operator: In, values: [x], minValues: 2}", "must list at least minValues values", "values"},
			{"v1's operator", "{key: a, operator: Gte, values: ['1']}", "supported values", "operator"},
		} {
			out = append(out, refusal{kind: at.kind, name: c.name, change: at.before + c.entry + at.after, says: c.says, field: at.path + c.field})
		}
	}
	return out
}

// The API server fills in what Default fills in, hop limit 2 among it. API-071, API-136, API-137, API-140, API-141, API-171.
func TestOldDefaults(t *testing.T) {
	all := oldKinds(t)
	for name, c := range map[string]struct {
		kind, manifest string
		object         interface{ Default() }
	}{
		"pool":            {"NodePool", "spec: {template: {spec: {requirements: [], nodeClassRef: {name: c}}}}", &v1beta1.NodePool{}},
		"pool with some":  {"NodePool", "spec: {template: {spec: {requirements: [], nodeClassRef: {name: c}}}, disruption: {consolidationPolicy: WhenEmpty, consolidateAfter: 1m}}", &v1beta1.NodePool{}},
		"class":           {"EC2NodeClass", "spec: {amiFamily: AL2, role: r}", &awsv1beta1.EC2NodeClass{}},
		"class with some": {"EC2NodeClass", "spec: {amiFamily: AL2, role: r, metadataOptions: {httpTokens: optional}}", &awsv1beta1.EC2NodeClass{}},
	} {
		t.Run(name, func(t *testing.T) {
			admitted, _ := all[c.kind].judge.Admit(t.Context(), &unstructured.Unstructured{Object: decoded(t, []byte(c.manifest))}, nil)
			if err := yaml.UnmarshalStrict([]byte(c.manifest), c.object); err != nil {
				t.Fatal(err)
			}
			c.object.Default()
			inGo, err := yaml.Marshal(c.object)
			if err != nil {
				t.Fatal(err)
			}
			got, want := text(t, admitted.Object["spec"].(map[string]any)), text(t, decoded(t, inGo)["spec"].(map[string]any))
			if normal(string(got)) != normal(string(want)) {
				t.Errorf("API server:\n%s\nGo:\n%s", got, want)
			}
		})
	}
}

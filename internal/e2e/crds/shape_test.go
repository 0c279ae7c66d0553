package crds

import (
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	buffersv1beta1 "github.com/drawknife/drawknife/api/autoscaling/v1beta1"
	"github.com/drawknife/drawknife/api/crds"
	v1 "github.com/drawknife/drawknife/api/v1"
	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
)

// SET-094: definitions are exported as embedded YAML. Names, scopes, categories, short names, columns (wide ones in brackets) and sub-resources: API-007, API-008, API-192,
// API-199, API-217, PRV-001, PRV-004, AWN-001, AWN-002.
func TestShapes(t *testing.T) {
	want := map[string]string{
		"NodePool":            "Cluster; karpenter; ; NodeClass Nodes Ready Age [Weight] [CPU] [Memory]; .spec.replicas .status.nodes",
		"NodeClaim":           "Cluster; karpenter; ; Type Capacity Zone Node Ready Age [ImageID] [ID] [NodePool] [NodeClass] [Drifted]; ",
		"NodeOverlay":         "Cluster; karpenter; overlays; Ready Age [Weight]; ",
		"EC2NodeClass":        "Cluster; karpenter; ec2nc ec2ncs; Ready Age [Role]; ",
		"ProvisioningRequest": "Namespaced; autoscaling; provreq provreqs; Class Accepted Provisioned Failed Age; ",
		"CapacityBuffer":      "Namespaced; autoscaling; cb; Strategy PodTemplate Replicas Ready Provisioning Age; ",
	}
	for _, c := range crds.All() {
		crd, err := Read(c.YAML())
		if err != nil {
			t.Fatal(err)
		}
		if crd.Name != c.Name() || crd.Spec.Group != c.Group || crd.Spec.Names.Kind != c.Kind || crd.Spec.Names.Plural != c.Plural {
			t.Errorf("%s describes %s", c.Name(), crd.Name)
		}
		if c.Namespaced != (crd.Spec.Scope == "Namespaced") {
			t.Errorf("%s: scope %s", c.Kind, crd.Spec.Scope)
		}
		var versions, columns []string
		for _, v := range crd.Spec.Versions {
			versions = append(versions, v.Name)
			if !v.Served || v.Storage != (v.Name == c.Versions[len(c.Versions)-1]) {
				t.Errorf("%s %s: served %t, stored %t", c.Kind, v.Name, v.Served, v.Storage)
			}
		}
		if !slices.Equal(versions, c.Versions) {
			t.Errorf("%s has versions %v, want %v", c.Kind, versions, c.Versions)
		}
		for _, column := range crd.Spec.AdditionalPrinterColumns {
			if column.Priority > 0 {
				column.Name = "[" + column.Name + "]"
			}
			columns = append(columns, column.Name)
		}
		scale := ""
		if crd.Spec.Subresources == nil || crd.Spec.Subresources.Status == nil {
			t.Errorf("%s has no status sub-resource", c.Kind)
		} else if s := crd.Spec.Subresources.Scale; s != nil {
			scale = s.SpecReplicasPath + " " + s.StatusReplicasPath
		}
		got := strings.Join([]string{
			string(crd.Spec.Scope), strings.Join(crd.Spec.Names.Categories, " "), strings.Join(crd.Spec.Names.ShortNames, " "),
			strings.Join(columns, " "), scale,
		}, "; ")
		if got != want[c.Kind] {
			t.Errorf("%s\n got %s\nwant %s", c.Kind, got, want[c.Kind])
		}
	}
}

// The API server fills in what Default fills in: PRV-002, PRV-005, PRV-150, API-179, API-182 to API-185, API-212, AWN-004,
// AWN-035.
func TestDefaults(t *testing.T) {
	all := kinds(t)
	for name, c := range map[string]struct {
		kind, manifest string
		object         interface{ Default() }
	}{
		"pool": {"NodePool", "spec: {template: {spec: {requirements: [], nodeClassRef: {group: a, kind: b, name: c}}}}", &v1.NodePool{}},
		"pool with some": {"NodePool", "spec: {template: {spec: {requirements: [], expireAfter: Never, nodeClassRef: {group: a, kind: b, name: c}}}, " +
			"disruption: {consolidationPolicy: WhenEmpty, budgets: [{reasons: [Empty]}]}}", &v1.NodePool{}},
		"pool without budgets":  {"NodePool", "spec: {template: {spec: {requirements: [], nodeClassRef: {group: a, kind: b, name: c}}}, disruption: {budgets: []}}", &v1.NodePool{}},
		"claim":                 {"NodeClaim", "spec: {requirements: [], nodeClassRef: {group: a, kind: b, name: c}}", &v1.NodeClaim{}},
		"overlay":               {"NodeOverlay", "spec: {price: '1'}", &v1.NodeOverlay{}},
		"class":                 {"EC2NodeClass", "spec: {role: r}", &awsv1.EC2NodeClass{}},
		"class with some":       {"EC2NodeClass", "spec: {role: r, metadataOptions: {httpPutResponseHopLimit: 2}}", &awsv1.EC2NodeClass{}},
		"buffer":                {"CapacityBuffer", "spec: {scalableRef: {apiGroup: apps, kind: Deployment, name: web}}", &buffersv1beta1.CapacityBuffer{}},
		"class with empty term": {"EC2NodeClass", "spec: {role: r, blockDeviceMappings: [{ebs: {volumeSize: 1Gi}}]}", &awsv1.EC2NodeClass{}},
	} {
		t.Run(name, func(t *testing.T) {
			object := &unstructured.Unstructured{Object: decoded(t, []byte(c.manifest))}
			admitted, _ := all[c.kind].judge.Admit(t.Context(), object, nil)
			if err := yaml.UnmarshalStrict([]byte(c.manifest), c.object); err != nil {
				t.Fatal(err)
			}
			c.object.Default()
			inGo, err := yaml.Marshal(c.object)
			if err != nil {
				t.Fatal(err)
			}
			want := decoded(t, inGo)
			if got, want := string(text(t, admitted.Object["spec"].(map[string]any))), string(text(t, want["spec"].(map[string]any))); normal(got) != normal(want) {
				t.Errorf("API server:\n%s\nGo:\n%s", got, want)
			}
		})
	}
}

// normal leaves out what a type without omitempty writes of nothing.
func normal(text string) string {
	var kept []string
	for line := range strings.Lines(text) {
		if !strings.HasSuffix(line, ": null\n") {
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, "")
}

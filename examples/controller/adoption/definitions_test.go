package adoption

import (
	"context"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

// stored is a cluster with these objects; it knows the kinds and versions of these alone.
type stored []*unstructured.Unstructured

func (s stored) Get(context.Context, client.ObjectKey, client.Object, ...client.GetOption) error {
	panic("nothing is read one by one")
}

func (s stored) List(_ context.Context, into client.ObjectList, _ ...client.ListOption) error {
	list := into.(*unstructured.UnstructuredList)
	kind := list.GroupVersionKind()
	kind.Kind = strings.TrimSuffix(kind.Kind, "List")
	for _, o := range s {
		if o.GroupVersionKind() == kind {
			list.Items = append(list.Items, *o)
		}
	}
	if len(list.Items) == 0 {
		return &meta.NoKindMatchError{GroupKind: kind.GroupKind(), SearchedVersions: []string{kind.Version}}
	}
	return nil
}

// What the definitions would refuse or drop is told, by field; objects that Karpenter 0.36 stored, with conditions without reasons,
// are neither.
func TestCheckDefinitions(t *testing.T) {
	const ref = "nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}"
	var cluster stored
	for text := range strings.SplitSeq(`
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: good}
spec: {template: {spec: {`+ref+`, requirements: []}}}
---
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: older}
spec: {retired: 1, template: {spec: {`+ref+`, requirements: [], taints: [{key: a, gone: x, effect: NoSchedule}]}}}
---
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: odd}
spec: {template: {spec: {`+ref+`, requirements: [{key: a, operator: In}]}}}
---
apiVersion: karpenter.sh/v1beta1
kind: NodePool
metadata: {name: in-an-older-version-too}
spec: {template: {spec: {requirements: 5}}}
---
apiVersion: karpenter.sh/v1alpha1
kind: NodeOverlay
metadata: {name: free}
spec: {price: "1", requirements: [{key: a, operator: NotIn}]}
---
apiVersion: karpenter.sh/v1beta1
kind: NodeClaim
metadata: {name: from-0.36, finalizers: [karpenter.sh/termination]}
spec: {requirements: [], nodeClassRef: {name: default}}
status: {conditions: [{type: Launched, status: "True", lastTransitionTime: "2024-03-01T00:00:00Z"}]}
---
apiVersion: karpenter.sh/v1beta1
kind: NodeClaim
metadata: {name: twice}
spec: {requirements: [], nodeClassRef: {name: default}}
status:
  conditions:
  - {type: Launched, status: "True", lastTransitionTime: "2024-03-01T00:00:00Z"}
  - {type: Launched, status: "False", lastTransitionTime: "2024-03-01T00:00:00Z"}
`, "---\n") {
		o := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(text), &o.Object); err != nil {
			t.Fatal(err)
		}
		cluster = append(cluster, o)
	}
	findings, err := CheckDefinitions(t.Context(), cluster)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"NodeClaim/twice: refused: the definitions about to be installed refuse it: status.conditions[1]: Duplicate value",
		"NodeOverlay/free: refused: the definitions about to be installed refuse it: spec.requirements",
		"NodePool/odd: refused: the definitions about to be installed refuse it: spec.template.spec.requirements",
		"NodePool/older: would lose fields: the definitions about to be installed don't have spec.retired, spec.template.spec.taints[0].gone",
	}
	for i, f := range findings {
		if i >= len(want) || !strings.HasPrefix(f.String(), want[i]) {
			t.Errorf("finding %d: %s", i, f)
		}
	}
	if len(findings) != len(want) || Harmless(findings) {
		t.Errorf("%d findings, harmless %t", len(findings), Harmless(findings))
	}
}

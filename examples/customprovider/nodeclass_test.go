package customprovider_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/drawknife/drawknife/api/kinds"
	"github.com/drawknife/drawknife/examples/customprovider"
	"github.com/drawknife/drawknife/scheduling/manifests"
)

// Manifests with the provider's own node classes are read like all others: a class that a pool names and that is not there is
// noticed, and so is a field that the kind does not have.
func ExampleKinds() {
	source := manifests.Source{Name: "lab.yaml", Data: []byte(`
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: desks}
spec:
  template:
    spec:
      nodeClassRef: {group: inventory.example.com, kind: InventoryNodeClass, name: office}
      requirements: []
---
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: racks}
spec:
  template:
    spec:
      nodeClassRef: {group: inventory.example.com, kind: InventoryNodeClass, name: cellar}
      requirements: []
---
apiVersion: inventory.example.com/v1
kind: InventoryNodeClass
metadata: {name: office}
spec: {quiet: true}
`)}
	result, err := manifests.Load([]manifests.Source{source}, manifests.Options{Kinds: customprovider.Kinds()})
	if err != nil {
		fmt.Println(err)
		return
	}
	for i := range result.Snapshot.NodePools {
		pool := &result.Snapshot.NodePools[i]
		if class, ok := result.NodeClassOf(pool).(*customprovider.NodeClass); ok {
			fmt.Println(pool.Key, "has node class", class.Name)
		}
	}
	for _, w := range result.Warnings {
		fmt.Println(w)
	}
	// Output:
	// desks has node class office
	// lab.yaml: document 2, line 17: NodePool racks: spec.template.spec.nodeClassRef: InventoryNodeClass "cellar" is not in the input
	// lab.yaml: document 3, line 23: InventoryNodeClass office: spec: the kind has no such field; it is ignored
}

// What is registered is what the provider describes and what NodePools may name.
func TestKinds(t *testing.T) {
	provider, err := customprovider.New(office(t), open(t, filepath.Join(t.TempDir(), "l")), customprovider.Command{Path: "/bin/false"}, customprovider.Options{Cluster: "lab"})
	if err != nil {
		t.Fatal(err)
	}
	described := provider.Describe().NodeClasses
	var registered []string
	for _, k := range customprovider.Kinds().NodeClasses {
		registered = append(registered, k.Kind+"."+k.Group)
		class := k.New()
		class.SetName("a")
		class.SetLabels(map[string]string{"x": "1"})
		class.Default()
		if errs := class.Validate(); len(errs) > 0 {
			t.Errorf("an empty node class: %v", errs)
		}
		copied, ok := class.DeepCopyObject().(kinds.NodeClass)
		if !ok {
			t.Fatalf("a copy is a %T", class.DeepCopyObject())
		}
		copied.GetLabels()["x"] = "2"
		if class.GetLabels()["x"] != "1" || copied.GetName() != "a" {
			t.Errorf("a copy shares labels, or lost its name: %v", class.GetLabels())
		}
	}
	if len(described) != 1 || len(registered) != 1 || registered[0] != described[0].Kind+"."+described[0].Group {
		t.Errorf("registered %v, described %v", registered, described)
	}
}

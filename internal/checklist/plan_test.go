package checklist

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/drawknife/drawknife/aws/catalog"
	"github.com/drawknife/drawknife/aws/convert"
	"github.com/drawknife/drawknife/aws/instancetype"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/scheduling"
	"github.com/drawknife/drawknife/scheduling/manifests"
)

// cluster is a plan with what is needed to look at it.
type cluster struct {
	*scheduling.Plan
	facts *catalog.Catalog
}

// plan loads the manifests and plans them on the built-in EC2 catalogue. Zones, if there are any, are what the first zones
// of the catalogue are called instead, as if the types were sold in another region.
func plan(t *testing.T, manifest string, zones ...string) cluster {
	t.Helper()
	facts, err := catalog.Embedded()
	if err != nil {
		t.Fatal(err)
	}
	if len(zones) > 0 {
		renamed := *facts
		renamed.Zones = append([]catalog.Zone(nil), facts.Zones...)
		for i, name := range zones {
			renamed.Zones[i] = catalog.Zone{Name: name}
		}
		if facts, err = catalog.New(renamed); err != nil {
			t.Fatal(err)
		}
	}
	types, err := instancetype.Resolve(facts, nil, instancetype.Options{})
	if err != nil {
		t.Fatal(err)
	}
	source, err := manifests.Read("input.yaml", strings.NewReader(manifest))
	if err != nil {
		t.Fatal(err)
	}
	loaded, err := manifests.Load([]manifests.Source{source}, manifests.Options{
		Now:        time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC),
		Vocabulary: instancetype.Vocabulary(),
		Kinds:      convert.Kinds(), Conversion: convert.Conversion(convert.Options{}),
	})
	if err != nil {
		t.Fatal(err)
	}
	snapshot := loaded.Snapshot
	snapshot.Catalogs = map[string][]*cloudprovider.InstanceType{"ec2": types}
	for i := range snapshot.NodePools {
		snapshot.NodePools[i].Catalog = "ec2"
	}
	model, err := scheduling.Compile(snapshot)
	if err != nil {
		t.Fatal(err)
	}
	p, err := model.Solve(context.Background(), scheduling.Query{})
	if err != nil {
		t.Fatal(err)
	}
	return cluster{p, facts}
}

// wantAllPlaced fails the test when a pod has no place or no node is planned.
func (c cluster) wantAllPlaced(t *testing.T) {
	t.Helper()
	for _, u := range c.Unschedulable {
		t.Errorf("%s has no place: %v", u.Pod, u.Reasons)
	}
	if len(c.NewNodes) == 0 {
		t.Error("no node is planned")
	}
}

// eachType calls check for every type that any planned node may be of, with the offering it is planned with.
func (c cluster) eachType(t *testing.T, check func(o scheduling.InstanceTypeOption, facts *catalog.Type) string) {
	t.Helper()
	for _, node := range c.NewNodes {
		if len(node.InstanceTypes) == 0 {
			t.Errorf("%s has no instance type", node.Name)
		}
		for _, o := range node.InstanceTypes {
			facts, ok := c.facts.Lookup(o.Name)
			if !ok {
				t.Fatalf("%s: %s is no type of the catalogue", node.Name, o.Name)
			}
			if wrong := check(o, facts); wrong != "" {
				t.Errorf("%s: %s in %s, %s: %s", node.Name, o.Name, o.Zone, o.CapacityType, wrong)
			}
		}
	}
}

// nodeOf is the planned node that holds the pod.
func (c cluster) nodeOf(t *testing.T, pod string) scheduling.NewNode {
	t.Helper()
	for _, node := range c.NewNodes {
		for _, p := range node.Pods {
			if p.String() == pod {
				return node
			}
		}
	}
	t.Fatalf("%s is on no planned node", pod)
	return scheduling.NewNode{}
}

// reasonsOf are the sentences about a pod without a place.
func (c cluster) reasonsOf(t *testing.T, pod string) []string {
	t.Helper()
	var sentences []string
	for _, u := range c.Unschedulable {
		if u.Pod.String() == pod {
			for _, r := range u.Reasons {
				sentences = append(sentences, r.String())
			}
		}
	}
	if sentences == nil {
		t.Errorf("%s is not among the pods without a place", pod)
	}
	return sentences
}

// nodePool is a NodePool with more of its template's spec and of its own spec, indented as in the manifest.
func nodePool(name, template, spec string) string {
	return `
---
apiVersion: karpenter.sh/v1
kind: NodePool
metadata:
  name: ` + name + `
spec:
  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
` + template + spec
}

// inflate is the classic deployment of a pause container, with more of its pods' spec, indented as in the manifest.
func inflate(name, replicas, resources, pod string) string {
	return `
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: ` + name + `
spec:
  replicas: ` + replicas + `
  selector: {matchLabels: {app: ` + name + `}}
  template:
    metadata: {labels: {app: ` + name + `}}
    spec:
      terminationGracePeriodSeconds: 0
` + pod + `
      containers:
      - name: inflate
        image: registry.example.com/pause:3.2
        resources: ` + resources
}

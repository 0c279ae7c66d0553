package buffers_test

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	"sigs.k8s.io/yaml"

	"github.com/drawknife/drawknife/api/autoscaling/v1beta1"
	"github.com/drawknife/drawknife/scheduling"
	"github.com/drawknife/drawknife/scheduling/buffers"
)

const deployment = `
metadata: {name: web, namespace: shop}
spec:
  replicas: 30
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - {name: main, resources: {requests: {cpu: 500m, memory: 1Gi}}}
`

const buffer = `
metadata: {name: web, namespace: shop}
spec:
  scalableRef: {apiGroup: apps, kind: Deployment, name: web}
  percentage: 10
  limits: {cpu: "1"}
`

// Room for a tenth of a Deployment, but for no more than one core.
func Example() {
	d, b := &appsv1.Deployment{}, &v1beta1.CapacityBuffer{}
	if err := yaml.Unmarshal([]byte(deployment), d); err != nil {
		fmt.Println(err)
		return
	}
	if err := yaml.UnmarshalStrict([]byte(buffer), b); err != nil {
		fmt.Println(err)
		return
	}
	resolved := buffers.Resolve(buffers.Input{Buffers: []*v1beta1.CapacityBuffer{b}, Deployments: []*appsv1.Deployment{d}})
	fmt.Println(resolved[0].Reason, resolved[0].Message)

	snapshot := &scheduling.Snapshot{Placeholders: buffers.Placeholders(resolved)}
	for _, pod := range snapshot.Placeholders {
		fmt.Println(pod.Namespace, pod.Name)
	}
	// Output:
	// Resolved spec.limits[cpu] holds 2 of the 3 pods asked for
	// shop capacity-buffer-web-0
	// shop capacity-buffer-web-1
}

// What a pass means for a buffer.
func ExampleResolved_Provisioning() {
	d, b := &appsv1.Deployment{}, &v1beta1.CapacityBuffer{}
	if err := yaml.Unmarshal([]byte(deployment), d); err != nil {
		fmt.Println(err)
		return
	}
	if err := yaml.UnmarshalStrict([]byte(buffer), b); err != nil {
		fmt.Println(err)
		return
	}
	resolved := buffers.Resolve(buffers.Input{Buffers: []*v1beta1.CapacityBuffer{b}, Deployments: []*appsv1.Deployment{d}})
	plan := &scheduling.Plan{
		Existing: []scheduling.ExistingNode{{Name: "node-1", Pods: []scheduling.PodKey{{Namespace: "shop", Name: "capacity-buffer-web-0"}}}},
		NewNodes: []scheduling.NewNode{{Name: "default-1", Pods: []scheduling.PodKey{{Namespace: "shop", Name: "capacity-buffer-web-1"}}}},
	}
	places := buffers.Locate(resolved, plan)
	condition := resolved[0].Provisioning(places[0])
	fmt.Println(condition.Status, condition.Reason)
	fmt.Println(condition.Message)
	fmt.Println("not empty:", buffers.Hosts(buffers.Placeholders(resolved), plan))
	// Output:
	// False RequiresNewCapacity
	// pods asked for: 2; with room on existing nodes: 1, on nodes to be launched: 1, nowhere: 0
	// not empty: [node-1]
}

package scheduling_test

import (
	"context"
	"fmt"
	"log"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/drawknife/drawknife/fake/build"
	"github.com/drawknife/drawknife/scheduling"
)

// A gang is placed whole or not at all: here four workers in one zone, and eight for which the pool's limit leaves no room.
func ExampleGang() {
	worker := corev1.PodTemplateSpec{Spec: build.Pod("", build.CPU("3"), build.Memory("8Gi")).Spec}
	snapshot := exampleSnapshot()
	snapshot.NodePools[0].Object.Spec.Limits = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("32")}
	snapshot.Gangs = []scheduling.Gang{
		{
			Namespace: "research", Name: "train", Templates: []scheduling.GangTemplate{{Count: 4, Template: worker}},
			Topology: []scheduling.GangTopology{{Key: corev1.LabelTopologyZone}},
		},
		{Namespace: "research", Name: "sweep", Templates: []scheduling.GangTemplate{{Count: 8, Template: worker}}},
	}
	model, err := scheduling.Compile(snapshot)
	if err != nil {
		log.Fatal(err)
	}
	plan, err := model.Solve(context.Background(), scheduling.Query{})
	if err != nil {
		log.Fatal(err)
	}
	for i := range plan.Gangs {
		fmt.Println(&plan.Gangs[i])
	}
	for _, node := range plan.NewNodes {
		fmt.Println(node.InstanceTypes[0].Name, node.Pods)
	}
	// Output:
	// gang research/train is placed with 4 of 4 members in topology.kubernetes.io/zone=zone-a
	// gang research/sweep has no place: 3 of 8 members fit; pod research/sweep-3: incompatible with nodepool "default", all instance types that would fit exceed the nodepool's limits (in use: cpu 32 of 32); it would fit if limit cpu were raised by 20 in nodepool "default"
	// m.xlarge [research/train-0]
	// m.xlarge [research/train-1]
	// m.xlarge [research/train-2]
	// m.xlarge [research/train-3]
	// m.xlarge [default/web-0 default/web-1]
}

package scheduling_test

import (
	"bytes"
	"context"
	"fmt"
	"log"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/drawknife/drawknife/api/requirements"
	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/fake/build"
	"github.com/drawknife/drawknife/scheduling"
)

// exampleSnapshot has one pool that may launch three instance types, and three pods.
func exampleSnapshot() *scheduling.Snapshot {
	sold := func(name, cpu, memory string, price float64) *cloudprovider.InstanceType {
		return build.InstanceType(name, build.CPU(cpu), build.Memory(memory), build.OnDemand("zone-a", price))
	}
	return &scheduling.Snapshot{
		Vocabulary: requirements.CoreVocabulary(),
		Catalogs: map[string][]*cloudprovider.InstanceType{"all": {
			sold("m.large", "2", "8Gi", 0.10), sold("m.xlarge", "4", "16Gi", 0.19), sold("m.2xlarge", "8", "32Gi", 0.39),
		}},
		NodePools: []scheduling.NodePool{{Key: v1.NewPoolKey("default"), Object: build.Pool("default"), Catalog: "all"}},
		Pods:      append(build.Pods("web", 2, build.CPU("1500m"), build.Memory("4Gi")), build.Pod("batch", build.CPU("16"), build.Memory("8Gi"))),
	}
}

// A snapshot becomes a model, the model a plan: which nodes to launch, what goes on them, and why the rest stays.
func Example() {
	model, err := scheduling.Compile(exampleSnapshot())
	if err != nil {
		log.Fatal(err)
	}
	plan, err := model.Solve(context.Background(), scheduling.Query{})
	if err != nil {
		log.Fatal(err)
	}
	for _, node := range plan.NewNodes {
		fmt.Printf("%s: %s for %.2f USD/h: %v\n", node.Name, node.InstanceTypes[0].Name, node.InstanceTypes[0].Price, node.Pods)
	}
	for _, pod := range plan.Unschedulable {
		fmt.Printf("%s: %s\n", pod.Pod, pod.Reasons[0])
	}
	fmt.Printf("%.2f USD/h, and no plan costs less than %.2f\n", plan.HourlyCost, plan.LowerBound)
	// Output:
	// default-1: m.xlarge for 0.19 USD/h: [default/web-0 default/web-1]
	// default/batch: incompatible with nodepool "default", no instance type fits: of 3, 3 are too small for cpu 16, memory 8Gi
	// 0.19 USD/h, and no plan costs less than 0.19
}

// A trial asks what would happen: here, whether the pods of a node would fit on the others.
func ExampleTrial() {
	s := exampleSnapshot()
	s.Pods = nil
	for _, name := range []string{"node-a", "node-b"} {
		node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}
		node.Status.Allocatable = corev1.ResourceList{
			corev1.ResourceCPU: resource.MustParse("4"), corev1.ResourceMemory: resource.MustParse("16Gi"), corev1.ResourcePods: resource.MustParse("110"),
		}
		s.Nodes = append(s.Nodes, scheduling.Node{Name: name, Object: node, Pods: []*corev1.Pod{build.Pod("on-"+name, build.CPU("1500m"), build.Memory("4Gi"))}})
	}
	model, err := scheduling.Compile(s)
	if err != nil {
		log.Fatal(err)
	}
	trial := model.Trial()
	start := trial.Mark()
	for _, name := range []string{"node-a", "node-b"} {
		pods, err := trial.Hide(name)
		if err != nil {
			log.Fatal(err)
		}
		outcome, err := trial.Place(context.Background(), scheduling.PlaceOptions{ExistingOnly: true})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("without %s: %d pod to move, %d without a place\n", name, pods, outcome.Unplaced)
		if err := trial.Rollback(start); err != nil {
			log.Fatal(err)
		}
	}
	// Output:
	// without node-a: 1 pod to move, 0 without a place
	// without node-b: 1 pod to move, 0 without a place
}

// What a plan was made from can be saved, and makes the same plan when it is read back.
func ExampleSnapshot_Encode() {
	var saved bytes.Buffer
	if err := exampleSnapshot().Encode(&saved); err != nil {
		log.Fatal(err)
	}
	again, err := scheduling.DecodeSnapshot(&saved)
	if err != nil {
		log.Fatal(err)
	}
	model, err := scheduling.Compile(again)
	if err != nil {
		log.Fatal(err)
	}
	plan, err := model.Solve(context.Background(), scheduling.Query{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(plan.NewNodes), "node,", len(plan.Unschedulable), "pod without a place")
	// Output: 1 node, 1 pod without a place
}

// What a pod takes from a node is more than its containers ask for.
func ExamplePodRequests() {
	pod := build.Pod("p", build.CPU("1"), build.Memory("1Gi"))
	pod.Spec.Overhead = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("250m")}
	requests := scheduling.PodRequests(pod)
	fmt.Println("cpu", requests.Cpu(), "memory", requests.Memory(), "pods", requests.Pods())
	// Output: cpu 1250m memory 1Gi pods 1
}

// Update makes the model of the next snapshot, sharing what did not change.
func ExampleModel_Update() {
	s := exampleSnapshot()
	model, err := scheduling.Compile(s)
	if err != nil {
		log.Fatal(err)
	}
	next := *s // shares the catalogs and all else that stays: what is the same slice is not compiled again
	next.Pods = append([]*corev1.Pod{build.Pod("web-2", build.CPU("500m"), build.Memory("1Gi"))}, s.Pods...)
	if model, err = model.Update(&next); err != nil {
		log.Fatal(err)
	}
	plan, err := model.Solve(context.Background(), scheduling.Query{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(plan.NewNodes[0].Pods)
	// Output: [default/web-0 default/web-1 default/web-2]
}

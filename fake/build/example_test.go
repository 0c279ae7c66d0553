package build_test

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/fake/build"
)

// Pods, a NodePool and an instance type, each said in a line.
func Example() {
	pods := build.Pods("web", 3, build.CPU("500m"), build.Memory("1Gi"), build.Labels("app", "web"), build.Spread(corev1.LabelTopologyZone, 1, "app", "web"))
	pool := build.Pool("spot", build.Requires(v1.CapacityTypeLabelKey, "In", "spot"), build.Taints("team=a:NoSchedule"), build.Limit("cpu", "100"))
	large := build.InstanceType("m.large", build.CPU("2"), build.Memory("8Gi"), build.Spot("zone-a", 0.03), build.OnDemand("zone-a", 0.10))

	last := pods[2]
	fmt.Println(len(pods), last.Namespace, last.Name, last.Spec.Containers[0].Resources.Requests.Cpu())
	fmt.Println(pool.Name, pool.Spec.Template.Spec.Taints[0].ToString(), pool.Spec.Limits.Cpu())
	fmt.Println(large.Name, large.Capacity.Memory(), large.Offerings[0].Price)
	// Output:
	// 3 default web-2 500m
	// spot team=a:NoSchedule 100
	// m.large 8Gi 0.03
}

// A node, its claim and a pod on it. What has no option is a function.
func ExampleNode() {
	large := build.InstanceType("m.large", build.CPU("2"), build.OnDemand("zone-a", 0.10))
	options := []build.NodeOption{build.OfType(large, "", ""), build.OfPool("default"), build.NodeFunc(func(n *corev1.Node) { n.Spec.Unschedulable = true })}
	node := build.Node("a", options...)
	pod := build.Pod("db", build.On("a"), build.OwnedBy("apps/v1", "StatefulSet", "db"))

	fmt.Println(node.Labels[corev1.LabelTopologyZone], node.Labels[v1.CapacityTypeLabelKey], node.Status.Allocatable.Cpu(), node.Spec.Unschedulable)
	fmt.Println(pod.Spec.NodeName, pod.Status.Phase)
	// Output:
	// zone-a on-demand 2 true
	// a Running
}

package requests_test

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/drawknife/drawknife/api/autoscaling/v1"
	"github.com/drawknife/drawknife/fake/build"
	"github.com/drawknife/drawknife/scheduling"
	"github.com/drawknife/drawknife/scheduling/requests"
)

// A request asks whether there is room for two workers now. There is, and it is booked for ten minutes.
func Example() {
	worker := &corev1.PodTemplate{ObjectMeta: metav1.ObjectMeta{Namespace: "research", Name: "worker"}}
	worker.Template.Spec = build.Pod("worker", build.CPU("3")).Spec
	request := &v1.ProvisioningRequest{ObjectMeta: metav1.ObjectMeta{Namespace: "research", Name: "train"}}
	request.Spec.ProvisioningClassName = v1.ClassCheckCapacity
	request.Spec.PodSets = []v1.PodSet{{PodTemplateRef: v1.Reference{Name: "worker"}, Count: 2}}

	large := build.InstanceType("large", build.CPU("4"), build.Memory("16Gi"), build.OnDemand("zone-a", 0.2))
	snapshot := &scheduling.Snapshot{Time: time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)}
	for _, name := range []string{"n1", "n2", "n3"} {
		snapshot.Nodes = append(snapshot.Nodes, scheduling.Node{Name: name, Object: build.Node(name, build.OfType(large, "", ""))})
	}

	ctx := context.Background()
	round, err := requests.Begin(ctx, requests.Input{
		Snapshot: snapshot, Requests: []*v1.ProvisioningRequest{request}, PodTemplates: []*corev1.PodTemplate{worker},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	model, err := scheduling.Compile(round.Snapshot)
	if err != nil {
		fmt.Println(err)
		return
	}
	plan, err := model.Solve(ctx, scheduling.Query{})
	if err != nil {
		fmt.Println(err)
		return
	}
	answers, err := round.Answer(ctx, plan)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, a := range answers {
		c := a.Request.Condition(v1.ConditionProvisioned)
		fmt.Println(a.Request.Name, c.Type, c.Status, c.Reason)
		fmt.Print(a.Request.Status.ProvisioningClassDetails[v1.DetailBooking])
		fmt.Println("until", a.Request.Status.ProvisioningClassDetails[v1.DetailBookedUntil])
	}
	// Output:
	// train Provisioned True CapacityIsFound
	// n1 1
	// n2 1
	// until 2026-01-01T12:10:00Z
}

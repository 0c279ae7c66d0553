package documents_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/disruption"
	"github.com/drawknife/drawknife/fake"
	"github.com/drawknife/drawknife/internal/trialtest"
	"github.com/drawknife/drawknife/scheduling"
)

// laterSnapshot is the example after its plan was carried out and the batch pod has ended: a day later, its nodes run.
func laterSnapshot(t *testing.T, plan *scheduling.Plan) *scheduling.Snapshot {
	t.Helper()
	was := exampleSnapshot()
	out := *was
	out.Pods, out.Time = nil, was.Time.Add(24*time.Hour)
	out.NodePools[0].Object.Spec.Disruption.Budgets = []v1.Budget{{Nodes: "100%"}}
	pods := map[string]*corev1.Pod{}
	for _, pod := range was.Pods {
		pods[pod.Name] = pod
	}
	for i := range plan.NewNodes {
		planned := &plan.NewNodes[i]
		name := planned.InstanceTypes[0].Name + "-node"
		meta := metav1.ObjectMeta{Name: name, CreationTimestamp: metav1.NewTime(was.Time), Labels: map[string]string{
			v1.NodePoolLabelKey: "default", v1.NodeRegisteredLabelKey: "true", v1.NodeInitializedLabelKey: "true",
			corev1.LabelInstanceTypeStable: planned.InstanceTypes[0].Name, corev1.LabelTopologyZone: fake.GenericZones()[0],
			corev1.LabelArchStable: v1.ArchitectureAmd64, corev1.LabelOSStable: string(corev1.Linux),
			v1.CapacityTypeLabelKey: v1.CapacityTypeOnDemand,
		}}
		object, claim := &corev1.Node{ObjectMeta: meta}, &v1.NodeClaim{ObjectMeta: meta}
		object.Spec.ProviderID = "example://" + name
		object.Status = corev1.NodeStatus{
			Capacity: planned.Allocatable, Allocatable: planned.Allocatable,
			Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}},
		}
		claim.Status.ProviderID = object.Spec.ProviderID
		claim.Conditions().SetTrue(v1.ConditionInitialized, was.Time)
		node := scheduling.JoinNode(object, claim)
		for _, key := range planned.Pods {
			if strings.HasPrefix(key.Name, "batch-") {
				continue
			}
			pod, controller := pods[key.Name].DeepCopy(), true
			pod.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "some", UID: "some", Controller: &controller}}
			pod.Spec.NodeName, pod.Status.Phase = name, corev1.PodRunning
			node.Pods = append(node.Pods, pod)
		}
		out.Nodes = append(out.Nodes, node)
	}
	return &out
}

// wasteTable sets the price of each node against what its pods are worth.
func wasteTable(t *testing.T, s *scheduling.Snapshot) string {
	t.Helper()
	model, err := scheduling.Compile(s)
	if err != nil {
		t.Fatal(err)
	}
	trial := trialtest.New(model.Engine())
	for i := range s.Nodes {
		if _, err := trial.Hide(s.Nodes[i].Name); err != nil {
			t.Fatal(err)
		}
	}
	values, err := trial.Values(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	var rows [][]string
	for i := range s.Nodes {
		n := &s.Nodes[i]
		price, worth := priceOf(t, strings.TrimSuffix(n.Name, "-node")), 0.0
		var names []string
		for _, pod := range n.Pods {
			worth += values.Of(scheduling.PodKey{Namespace: pod.Namespace, Name: pod.Name})
			names = append(names, pod.Name)
		}
		rows = append(rows, []string{n.Name, strings.Join(names, ", "), usd(price), usd(worth), usd(price - worth)})
	}
	return table([]string{"Node", "Pods", "Price", "Its pods are worth", "Waste"}, rows)
}

func priceOf(t *testing.T, name string) float64 {
	t.Helper()
	for _, it := range exampleTypes() {
		if it.name == name {
			return it.price
		}
	}
	t.Fatalf("no type %q", name)
	return 0
}

// consolidationText is what the default planner decides, and why that pays.
func consolidationText(t *testing.T, s *scheduling.Snapshot) string {
	t.Helper()
	fleet, err := disruption.Survey(disruption.Input{View: disruption.ViewOf(s)})
	if err != nil {
		t.Fatal(err)
	}
	plan, err := (&disruption.Global{}).Plan(context.Background(), fleet)
	if err != nil {
		t.Fatal(err)
	}
	if len(plan.Commands) != 1 || len(plan.Commands[0].Replacements) == 0 {
		t.Fatalf("want one command with replacements, got %v", plan.Commands)
	}
	cmd := plan.Commands[0]
	var b strings.Builder
	fmt.Fprintf(&b, "```text\n%s\n```\n\n", cmd)
	before, after, disturbance := 0.0, 0.0, 0.0
	for i := range cmd.Members {
		before += priceOf(t, strings.TrimSuffix(cmd.Members[i].Node, "-node"))
		disturbance += cmd.Members[i].Cost
	}
	var rows [][]string
	for _, r := range cmd.Replacements {
		n := r.Node
		after += n.InstanceTypes[0].Price
		var names []string
		for _, pod := range n.Pods {
			names = append(names, pod.Name)
		}
		rows = append(rows, []string{n.InstanceTypes[0].Name, strings.Join(names, ", "), usd(n.InstanceTypes[0].Price)})
	}
	b.WriteString(table([]string{"New node", "Pods", "Price"}, rows))
	saving, hours := before-after, disruption.DefaultPayBack.Hours()
	overlap := after * disruption.DefaultLaunchTime.Hours()
	moving := disturbance * disruption.DefaultDisruptionPrice
	if worth := saving*hours - moving - overlap; worth <= 0 || saving < disruption.DefaultMinSavingShare*before {
		t.Errorf("the command is worth %g and saves %g of %g, and should not have been accepted", worth, saving, before)
	}
	fmt.Fprintf(&b, "\nBefore: %s an hour, after: %s, saving %s (%.0f %%; the minimum saving is %.0f %%). Over the pay-back time of %g hours the saving is %s. "+
		"Moving the pods costs %.2f units of disturbance at %s, %s in all; running old and new nodes side by side for %g minutes costs %s. What remains is %s: the command pays.\n",
		usd(before), usd(after), usd(saving), 100*saving/before, 100*disruption.DefaultMinSavingShare, hours, usd(saving*hours),
		disturbance, usd(disruption.DefaultDisruptionPrice), usd(moving), disruption.DefaultLaunchTime.Minutes(), usd(overlap), usd(saving*hours-moving-overlap))
	return b.String()
}

package harness

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

// dumpTimeout limits how long it may take to read the state of a cluster after a failed test.
const dumpTimeout = 30 * time.Second

// The largest numbers of lines in the dump in a test's log. The artifacts have everything.
const (
	dumpPods   = 20
	dumpNodes  = 20
	dumpEvents = 40
)

// dump writes the state of the cluster to the test's log, and all details to its artifacts.
func (c *Cluster) dump() {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), dumpTimeout)
	defer cancel()
	var b strings.Builder
	fmt.Fprintf(&b, "the cluster when the test failed, after %s\n", time.Since(c.began).Round(time.Millisecond))
	all := map[string]any{}

	pods := c.Pods("")
	all["pods"] = pods
	phases := map[string]int{}
	shown := 0
	for _, pod := range pods {
		phases[string(pod.Status.Phase)]++
		if !Running(pod) && shown < dumpPods {
			shown++
			fmt.Fprintf(&b, "  pod %s\n", describePod(pod))
		}
	}
	fmt.Fprintf(&b, "  pods: %v\n", phases)

	nodes := c.Nodes()
	all["nodes"] = nodes
	for _, node := range nodes[:min(len(nodes), dumpNodes)] {
		fmt.Fprintf(&b, "  node %s\n", describeNode(node))
	}
	fmt.Fprintf(&b, "  nodes: %d\n", len(nodes))

	if list, err := c.NodeClaims.List(ctx, metav1.ListOptions{}); err != nil {
		fmt.Fprintf(&b, "  nodeclaims: %v\n", err)
	} else {
		all["nodeclaims"] = list.Items
		for i := range list.Items[:min(len(list.Items), dumpNodes)] {
			claim := &list.Items[i]
			fmt.Fprintf(&b, "  nodeclaim %s: provider ID %q, node %q, deleted %v, finalizers %v", claim.Name, claim.Status.ProviderID, claim.Status.NodeName, claim.DeletionTimestamp != nil, claim.Finalizers)
			for _, condition := range claim.Status.Conditions {
				if condition.Status != metav1.ConditionTrue {
					fmt.Fprintf(&b, "; %s=%s %s %s", condition.Type, condition.Status, condition.Reason, condition.Message)
				}
			}
			fmt.Fprintln(&b)
		}
		fmt.Fprintf(&b, "  nodeclaims: %d\n", len(list.Items))
	}
	if list, err := c.NodePools.List(ctx, metav1.ListOptions{}); err == nil {
		all["nodepools"] = list.Items
		for i := range list.Items {
			fmt.Fprintf(&b, "  nodepool %s: resources %v, conditions %v\n", list.Items[i].Name, list.Items[i].Status.Resources, list.Items[i].Status.Conditions)
		}
	}
	if c.Cloud != nil {
		instances := c.Cloud.Instances()
		all["instances"] = instances
		for _, m := range instances[:min(len(instances), dumpNodes)] {
			fmt.Fprintf(&b, "  instance %s: %s, node %s, %v\n", m.ProviderID, m.Phase, m.NodeName, m.Offering)
		}
		fmt.Fprintf(&b, "  instances: %d\n", len(instances))
	}
	c.dumpEvents(ctx, &b, all)
	c.t.Log(b.String())
	c.keep(all)
}

func (c *Cluster) dumpEvents(ctx context.Context, b *strings.Builder, all map[string]any) {
	list, err := c.Client.CoreV1().Events("").List(ctx, metav1.ListOptions{})
	if err != nil {
		fmt.Fprintf(b, "  events: %v\n", err)
		return
	}
	events := slices.DeleteFunc(list.Items, func(e corev1.Event) bool {
		return e.Namespace != c.Namespace && e.Namespace != metav1.NamespaceDefault || eventTime(&e).Before(c.began)
	})
	slices.SortStableFunc(events, func(a, b corev1.Event) int { return eventTime(&a).Compare(eventTime(&b)) })
	all["events"] = events
	telling := slices.DeleteFunc(slices.Clone(events), func(e corev1.Event) bool {
		return slices.Contains([]string{"SuccessfulCreate", "SuccessfulDelete", "ScalingReplicaSet", "Scheduled", "RegisteredNode"}, e.Reason)
	})
	for _, e := range telling[max(0, len(telling)-dumpEvents):] {
		fmt.Fprintf(b, "  event %6.1fs %s %s/%s: %s\n", eventTime(&e).Sub(c.began).Seconds(), e.Reason, e.InvolvedObject.Kind, e.InvolvedObject.Name, e.Message)
	}
}

func eventTime(e *corev1.Event) time.Time {
	if !e.EventTime.IsZero() {
		return e.EventTime.Time
	}
	return e.LastTimestamp.Time
}

// keep writes the objects to the test's artifacts.
func (c *Cluster) keep(all map[string]any) {
	keeper, ok := c.t.(*testing.T)
	if !ok {
		return
	}
	dir := keeper.ArtifactDir()
	for name, objects := range all {
		content, err := yaml.Marshal(objects)
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name+".yaml"), content, 0o644)
		}
		if err != nil {
			c.t.Logf("keeping %s: %v", name, err)
		}
	}
	if err := c.Plane.CopyLogs(dir); err != nil {
		c.t.Logf("keeping the control plane's logs: %v", err)
	}
}

func describePod(pod *corev1.Pod) string {
	text := fmt.Sprintf("%s: %s on %q", pod.Name, pod.Status.Phase, pod.Spec.NodeName)
	if pod.DeletionTimestamp != nil {
		text += fmt.Sprintf(", deleted, finalizers %v", pod.Finalizers)
	}
	for _, condition := range pod.Status.Conditions {
		if condition.Type == corev1.PodScheduled && condition.Status == corev1.ConditionFalse {
			text += ", " + condition.Reason + ": " + condition.Message
		}
	}
	return text
}

func describeNode(node *corev1.Node) string {
	text := fmt.Sprintf("%s: %s", node.Name, node.Labels[corev1.LabelInstanceTypeStable])
	for _, condition := range node.Status.Conditions {
		if condition.Type == corev1.NodeReady {
			text += ", ready " + string(condition.Status)
		}
	}
	if node.Spec.Unschedulable {
		text += ", cordoned"
	}
	for i := range node.Spec.Taints {
		text += ", taint " + node.Spec.Taints[i].ToString()
	}
	if node.DeletionTimestamp != nil {
		text += fmt.Sprintf(", deleted, finalizers %v", node.Finalizers)
	}
	return text
}

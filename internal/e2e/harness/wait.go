package harness

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	v1 "github.com/drawknife/drawknife/api/v1"
)

// Condition reports whether something has happened in the cluster. If it has not happened, seen describes the current state.
type Condition func() (done bool, seen string)

// pollEvery is how often a condition is checked.
const pollEvery = 50 * time.Millisecond

// retryTimeout is how long Retry tries.
const retryTimeout = 2 * time.Minute

// Eventually waits for a condition. If this takes longer than the timeout, it fails the test with the last state that was seen. It returns
// how long it waited.
func (c *Cluster) Eventually(what string, timeout time.Duration, condition Condition) time.Duration {
	c.t.Helper()
	began := time.Now()
	for {
		done, seen := condition()
		if done {
			return time.Since(began)
		}
		select {
		case err := <-c.Plane.Died():
			c.t.Fatalf("waiting until %s: %v", what, err)
		case <-c.t.Context().Done():
			c.t.Fatalf("waiting until %s: %v", what, c.t.Context().Err())
		case <-time.After(pollEvery):
		}
		if time.Since(began) > timeout {
			c.t.Fatalf("waited %s until %s; seen last: %s", timeout, what, seen)
		}
	}
}

// Never checks a condition for the time during, and fails the test if it becomes true.
func (c *Cluster) Never(what string, during time.Duration, condition Condition) {
	c.t.Helper()
	for began := time.Now(); time.Since(began) < during; time.Sleep(pollEvery) {
		if done, seen := condition(); done {
			c.t.Fatalf("%s after %s: %s", what, time.Since(began).Round(time.Millisecond), seen)
		}
	}
}

// Retry calls try until it succeeds, for at most two minutes.
func (c *Cluster) Retry(what string, try func() error) {
	c.t.Helper()
	c.Eventually(what, retryTimeout, func() (bool, string) {
		err := try()
		return err == nil, fmt.Sprint(err)
	})
}

// Note logs a message with the time since the start of the test.
func (c *Cluster) Note(format string, args ...any) {
	c.t.Helper()
	c.t.Logf("%7.2fs  %s", time.Since(c.began).Seconds(), fmt.Sprintf(format, args...))
}

// Pods returns the current pods of a workload, ordered by name. If workload is empty, it returns all pods of the namespace. They are shared
// and must not be changed.
func (c *Cluster) Pods(workload string) []*corev1.Pod {
	c.t.Helper()
	selector := labels.Everything()
	if workload != "" {
		selector = labels.SelectorFromSet(Labels(workload))
	}
	pods, err := c.pods.List(selector)
	c.check(err)
	slices.SortFunc(pods, func(a, b *corev1.Pod) int { return strings.Compare(a.Name, b.Name) })
	return pods
}

// Nodes returns the current nodes, ordered by name. They are shared and must not be changed.
func (c *Cluster) Nodes() []*corev1.Node {
	c.t.Helper()
	nodes, err := c.nodes.List(labels.Everything())
	c.check(err)
	slices.SortFunc(nodes, func(a, b *corev1.Node) int { return strings.Compare(a.Name, b.Name) })
	return nodes
}

// Node returns the node with this name, or nil if it does not exist. The node is shared and must not be changed. If the watch of pods shows
// pods on a node that the watch of nodes does not show yet, Node reads the node from the API server.
func (c *Cluster) Node(name string) *corev1.Node {
	node, err := c.nodes.Get(name)
	if err != nil {
		node, err = c.Client.CoreV1().Nodes().Get(c.t.Context(), name, metav1.GetOptions{})
	}
	if err != nil {
		return nil
	}
	return node
}

// Claims returns the current NodeClaims, ordered by name.
func (c *Cluster) Claims() ([]v1.NodeClaim, error) {
	list, err := c.NodeClaims.List(c.t.Context(), metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	return list.Items, nil
}

// Running reports whether a pod runs and is not being deleted.
func Running(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodRunning && pod.DeletionTimestamp == nil
}

// Unschedulable reports whether kube-scheduler has tried a pod and found no node.
func Unschedulable(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodPending && slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse && c.Reason == corev1.PodReasonUnschedulable
	})
}

// PodsAre is the condition that a workload has exactly n pods, and that is(pod) is true for each of them. The third argument describes this
// condition in messages.
func (c *Cluster) PodsAre(workload string, n int, are string, is func(*corev1.Pod) bool) Condition {
	return func() (bool, string) {
		pods := c.Pods(workload)
		count := 0
		for _, pod := range pods {
			if is(pod) {
				count++
			}
		}
		return count == n && len(pods) == n, fmt.Sprintf("%d of the %d pods of %s are %s, %d are to be", count, len(pods), workload, are, n)
	}
}

// PodsRun is the condition that a workload has exactly n pods and that all of them run.
func (c *Cluster) PodsRun(workload string, n int) Condition {
	return c.PodsAre(workload, n, "running", Running)
}

// PodsUnschedulable is the condition that a workload has exactly n pods and that kube-scheduler found no node for any of them.
func (c *Cluster) PodsUnschedulable(workload string, n int) Condition {
	return c.PodsAre(workload, n, "unschedulable", Unschedulable)
}

// BudgetAllows is the condition that the PodDisruptionBudget of a deployment counts the given number of pods and allows the given number of
// evictions now.
func (c *Cluster) BudgetAllows(deployment string, pods, allowed int32) Condition {
	return func() (bool, string) {
		b, err := c.Client.PolicyV1().PodDisruptionBudgets(c.Namespace).Get(c.t.Context(), deployment, metav1.GetOptions{})
		if err != nil {
			return false, err.Error()
		}
		counted := b.Status.ObservedGeneration == b.Generation && b.Status.ExpectedPods == pods
		return counted && b.Status.DisruptionsAllowed == allowed, fmt.Sprintf("%+v", b.Status)
	}
}

// Empty is the condition that there are no nodes, no NodeClaims and no instances in the cloud.
func (c *Cluster) Empty() Condition {
	return func() (bool, string) {
		claims, err := c.Claims()
		if err != nil {
			return false, err.Error()
		}
		nodes, instances := c.Nodes(), c.Cloud.Instances()
		return len(nodes)+len(claims)+len(instances) == 0, fmt.Sprintf("%d nodes, %d nodeclaims, %d instances", len(nodes), len(claims), len(instances))
	}
}

// Settled is the condition that there are equal numbers of nodes, NodeClaims and instances, and that each instance belongs to exactly one
// NodeClaim and one node. There must be n of each, unless n is negative. Then nothing is leaked or duplicated.
func (c *Cluster) Settled(n int) Condition {
	return func() (bool, string) {
		claims, err := c.Claims()
		if err != nil {
			return false, err.Error()
		}
		nodes, instances := map[string]int{}, map[string]int{}
		for _, node := range c.Nodes() {
			nodes[node.Spec.ProviderID]++
		}
		for _, instance := range c.Cloud.Instances() {
			instances[instance.ProviderID]++
		}
		seen := fmt.Sprintf("%d nodes, %d nodeclaims, %d instances", len(nodes), len(claims), len(instances))
		if len(claims) != len(instances) || len(nodes) != len(instances) || n >= 0 && len(claims) != n {
			return false, seen
		}
		for i := range claims {
			id := claims[i].Status.ProviderID
			if nodes[id] != 1 || instances[id] != 1 {
				return false, fmt.Sprintf("%s; nodeclaim %s has provider ID %q with %d nodes and %d instances", seen, claims[i].Name, id, nodes[id], instances[id])
			}
		}
		return true, seen
	}
}

package harness

import (
	"context"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// clearTimeout is how long removing a test's objects may take.
const clearTimeout = 2 * time.Minute

// withoutFinalizers is a patch that removes all finalizers.
const withoutFinalizers = `{"metadata":{"finalizers":null}}`

// clear removes all pods, nodes, pools and claims, so that the next test finds an empty cluster. The test's controller has ended by now, so
// nothing else removes the finalizers.
func (c *Cluster) clear(stopKubelets context.CancelFunc) {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), clearTimeout)
	defer cancel()
	background := metav1.DeleteOptions{PropagationPolicy: new(metav1.DeletePropagationBackground), GracePeriodSeconds: new(int64)}
	var everything metav1.ListOptions
	apps, core := c.Client.AppsV1(), c.Client.CoreV1()
	// Owners are deleted before the objects that they own, so that controllers don't create those objects again.
	for _, step := range []struct {
		what   string
		delete func() error
	}{
		{"deployments", func() error { return apps.Deployments(c.Namespace).DeleteCollection(ctx, background, everything) }},
		{"stateful sets", func() error { return apps.StatefulSets(c.Namespace).DeleteCollection(ctx, background, everything) }},
		{"daemon sets", func() error { return apps.DaemonSets(c.Namespace).DeleteCollection(ctx, background, everything) }},
		{"jobs", func() error {
			return c.Client.BatchV1().Jobs(c.Namespace).DeleteCollection(ctx, background, everything)
		}},
		{"budgets", func() error {
			return c.Client.PolicyV1().PodDisruptionBudgets(c.Namespace).DeleteCollection(ctx, background, everything)
		}},
		{"leases", func() error {
			return c.Client.CoordinationV1().Leases(c.Namespace).DeleteCollection(ctx, background, everything)
		}},
		{"the namespace", func() error { return core.Namespaces().Delete(ctx, c.Namespace, background) }},
		{"nodepools", func() error { return c.NodePools.DeleteCollection(ctx, background, everything) }},
		{"nodeclaims", func() error { return c.NodeClaims.DeleteCollection(ctx, background, everything) }},
		{"nodes", func() error { return core.Nodes().DeleteCollection(ctx, background, everything) }},
		// Nodes of the next test have the same names. So the next test must not find the events or drivers of these nodes.
		{"drivers of nodes", func() error { return c.Client.StorageV1().CSINodes().DeleteCollection(ctx, background, everything) }},
		{"events", func() error {
			return core.Events(metav1.NamespaceDefault).DeleteCollection(ctx, background, everything)
		}},
	} {
		if err := insist(ctx, step.delete); err != nil {
			c.t.Errorf("clearing the cluster: deleting %s: %v", step.what, err)
		}
	}
	for {
		left := c.removeLeft(ctx)
		if left == 0 {
			break
		}
		select {
		case <-ctx.Done():
			c.t.Errorf("clearing the cluster: %d objects are left after %s", left, clearTimeout)
			stopKubelets()
			return
		case <-time.After(5 * pollEvery):
		}
	}
	stopKubelets()
}

// insist repeats the deletion until it succeeds or ctx ends, because the API server may have just restarted or be very busy.
func insist(ctx context.Context, remove func() error) error {
	for {
		err := remove()
		if err == nil || apierrors.IsNotFound(err) {
			return nil
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(5 * pollEvery):
		}
	}
}

// removeLeft removes finalizers from objects that are being deleted, and deletes pods and nodes that have appeared in the meantime. It
// returns the number of remaining objects.
func (c *Cluster) removeLeft(ctx context.Context) (left int) {
	var everything metav1.ListOptions
	patch := []byte(withoutFinalizers)
	if list, err := c.NodePools.List(ctx, everything); err == nil {
		left += len(list.Items)
		for i := range list.Items {
			_, _ = c.NodePools.Patch(ctx, list.Items[i].Name, types.MergePatchType, patch, metav1.PatchOptions{})
		}
	} else {
		left++
	}
	if list, err := c.NodeClaims.List(ctx, everything); err == nil {
		left += len(list.Items)
		for i := range list.Items {
			_, _ = c.NodeClaims.Patch(ctx, list.Items[i].Name, types.MergePatchType, patch, metav1.PatchOptions{})
		}
	} else {
		left++
	}
	for _, node := range c.Nodes() {
		left++
		if node.DeletionTimestamp == nil {
			_ = c.Client.CoreV1().Nodes().Delete(ctx, node.Name, metav1.DeleteOptions{})
		}
		if len(node.Finalizers) > 0 {
			_, _ = c.Client.CoreV1().Nodes().Patch(ctx, node.Name, types.MergePatchType, patch, metav1.PatchOptions{})
		}
	}
	pods := c.Pods("")
	left += len(pods)
	if len(pods) > 0 {
		_ = c.Client.CoreV1().Pods(c.Namespace).DeleteCollection(ctx, metav1.DeleteOptions{GracePeriodSeconds: new(int64)}, everything)
		for _, pod := range pods {
			if pod.DeletionTimestamp != nil && len(pod.Finalizers) > 0 {
				_, _ = c.Client.CoreV1().Pods(c.Namespace).Patch(ctx, pod.Name, types.MergePatchType, patch, metav1.PatchOptions{})
			}
		}
	}
	return left
}

package e2e_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/examples/controller/adoption"
	"github.com/drawknife/drawknife/examples/controller/reconcilers"
	"github.com/drawknife/drawknife/internal/e2e/harness"
)

// karpentersPool is a NodePool as Karpenter leaves it, with hashes of a version.
func karpentersPool(cluster *harness.Cluster, name, version, hash string) *v1.NodePool {
	pool := harness.NodePool(name)
	pool.Annotations = map[string]string{v1.NodePoolHashAnnotationKey: hash, v1.NodePoolHashVersionAnnotationKey: version}
	if hash == "" {
		pool.Annotations[v1.NodePoolHashAnnotationKey] = pool.Hash()
	}
	return cluster.CreateNodePool(pool)
}

// karpentersNode is a NodeClaim of the pool with its instance and node, all as Karpenter v1 leaves them: launched, registered and
// initialised, with its hashes, labels, owners and finalizers.
func karpentersNode(t *testing.T, cluster *harness.Cluster, pool *v1.NodePool, name string) *v1.NodeClaim {
	t.Helper()
	claim := claimFor(name, zoneA)
	claim.UID, claim.Finalizers = "", []string{v1.TerminationFinalizer}
	claim.Labels = map[string]string{v1.NodePoolLabelKey: pool.Name}
	claim.Annotations = maps.Clone(pool.Annotations)
	claim.OwnerReferences = []metav1.OwnerReference{{APIVersion: v1.APIVersion, Kind: v1.KindNodePool, Name: pool.Name, UID: pool.UID, BlockOwnerDeletion: new(true)}}
	claim.Spec.ExpireAfter = pool.Spec.Template.Spec.ExpireAfter
	var stored *v1.NodeClaim
	cluster.Retry("creating nodeclaim "+name, func() (err error) {
		stored, err = cluster.NodeClaims.Create(t.Context(), claim, metav1.CreateOptions{})
		return err
	})
	launched, err := cluster.Cloud.Create(t.Context(), stored)
	if err != nil {
		t.Fatal(err)
	}
	var node *corev1.Node
	cluster.Eventually("the node of "+name+" has joined", patience, func() (bool, string) {
		for _, n := range cluster.Nodes() {
			if n.Spec.ProviderID == launched.Status.ProviderID {
				node = n
			}
		}
		return node != nil, "no node"
	})
	maps.Copy(stored.Labels, launched.Labels)
	stored.Labels[v1.NodePoolLabelKey] = pool.Name
	cluster.Retry("labels of "+name, func() (err error) {
		next, err := cluster.NodeClaims.Get(t.Context(), name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		next.Labels = stored.Labels
		if next, err = cluster.NodeClaims.Update(t.Context(), next, metav1.UpdateOptions{}); err != nil {
			return err
		}
		next.Status = launched.Status
		next.Status.NodeName = node.Name
		for _, kind := range []string{v1.ConditionLaunched, v1.ConditionRegistered, v1.ConditionInitialized, v1.ConditionReady} {
			meta := metav1.Condition{Type: kind, Status: metav1.ConditionTrue, Reason: kind, LastTransitionTime: metav1.Now()}
			next.Status.Conditions = append(slices.DeleteFunc(next.Status.Conditions, func(c metav1.Condition) bool { return c.Type == kind }), meta)
		}
		stored, err = cluster.NodeClaims.UpdateStatus(t.Context(), next, metav1.UpdateOptions{})
		return err
	})
	cluster.Retry("the node of "+name, func() error {
		next, err := cluster.Client.CoreV1().Nodes().Get(t.Context(), node.Name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		maps.Copy(next.Labels, stored.Labels)
		next.Labels[v1.NodeRegisteredLabelKey], next.Labels[v1.NodeInitializedLabelKey] = "true", "true"
		next.Finalizers = append(next.Finalizers, v1.TerminationFinalizer)
		next.OwnerReferences = []metav1.OwnerReference{{APIVersion: v1.APIVersion, Kind: v1.KindNodeClaim, Name: stored.Name, UID: stored.UID, BlockOwnerDeletion: new(true)}}
		next.Spec.Taints = slices.DeleteFunc(next.Spec.Taints, func(taint corev1.Taint) bool { return taint.Key == v1.UnregisteredTaintKey })
		_, err = cluster.Client.CoreV1().Nodes().Update(t.Context(), next, metav1.UpdateOptions{})
		return err
	})
	return stored
}

// TestAdoption takes over a cluster as Karpenter v1 leaves it. While it holds its lease nothing is done; then no node is replaced,
// hashes of an older version are written again so that nothing drifts, and what pods need from then on is launched next to the
// nodes that are there. API-220, API-230, API-248, API-421, SET-055.
func TestAdoption(t *testing.T) {
	cluster := server.Start(t, harness.Options{})
	c, err := client.New(cluster.Config(), client.Options{Scheme: reconcilers.Scheme()})
	if err != nil {
		t.Fatal(err)
	}
	web, old := karpentersPool(cluster, "web", v1.NodePoolHashVersion, ""), karpentersPool(cluster, "old", "v2", "1234")
	before := map[string]*v1.NodeClaim{}
	for name, pool := range map[string]*v1.NodePool{"web-1": web, "old-1": old} {
		before[name] = karpentersNode(t, cluster, pool, name)
	}
	cluster.CreateDeployment("web", 4, harness.Pod("3", "1Gi"))
	cluster.Eventually("the pods run on Karpenter's nodes", patience, cluster.PodsRun("web", 4))
	nodes := map[types.UID]string{}
	for _, node := range cluster.Nodes() {
		nodes[node.UID] = node.Spec.ProviderID
	}
	cluster.Note("as Karpenter leaves it")

	leases := cluster.Client.CoordinationV1().Leases(cluster.Namespace)
	lease, err := leases.Create(t.Context(), &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Name: adoption.DefaultLease},
		Spec:       coordinationv1.LeaseSpec{HolderIdentity: new("karpenter-1"), LeaseDurationSeconds: new(int32(3600)), RenewTime: &metav1.MicroTime{Time: time.Now()}},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	guard := &adoption.Guard{Reader: c}
	var held *adoption.HeldError
	if err := guard.Check(t.Context()); !errors.As(err, &held) || held.Lease.Namespace != cluster.Namespace {
		t.Errorf("while Karpenter holds its lease: %v", err)
	}
	seen, err := adoption.Observe(t.Context(), c, cluster.Cloud)
	if err != nil {
		t.Fatal(err)
	}
	findings := adoption.Plan(seen, time.Now())
	if len(findings) != 4 || !adoption.Harmless(findings) {
		t.Errorf("a dry run finds %v", findings)
	}
	lease.Spec.HolderIdentity = new("")
	if _, err := leases.Update(t.Context(), lease, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := guard.Check(t.Context()); err != nil {
		t.Errorf("after Karpenter has gone: %v", err)
	}
	var foreign *adoption.NotAdoptedError
	if err := adoption.Foreign(t.Context(), c, reconcilers.Created); !errors.As(err, &foreign) || foreign.Claims != 2 {
		t.Errorf("before it is taken over: %v", err)
	}
	if _, err := adoption.Apply(t.Context(), c); err != nil {
		t.Fatal(err)
	}

	startController(t, cluster, reconcilers.Options{})
	cluster.Scale("web", 8)
	cluster.Eventually("more pods run, on a node of this controller", patience, cluster.PodsRun("web", 8))
	cluster.Eventually("nodes, claims and instances belong together", patience, cluster.Settled(-1))
	for name, was := range before {
		cluster.Eventually(name+" is looked after", patience, func() (bool, string) {
			claim, err := cluster.NodeClaims.Get(t.Context(), name, metav1.GetOptions{})
			if err != nil {
				return false, err.Error()
			}
			pool := map[string]*v1.NodePool{"web-1": web, "old-1": old}[name]
			if claim.UID != was.UID || claim.DeletionTimestamp != nil || claim.Status.ProviderID != was.Status.ProviderID || claim.Conditions().IsTrue(v1.ConditionDrifted) {
				t.Fatalf("%s is another now: %+v", name, claim)
			}
			stamps := claim.Annotations[v1.NodePoolHashVersionAnnotationKey] + " " + claim.Annotations[v1.NodePoolHashAnnotationKey]
			return stamps == v1.NodePoolHashVersion+" "+pool.Hash(), "its hash is " + stamps
		})
	}
	kept := 0
	for _, node := range cluster.Nodes() {
		if id, there := nodes[node.UID]; there && id == node.Spec.ProviderID && node.DeletionTimestamp == nil {
			kept++
		}
	}
	if kept != len(nodes) {
		t.Errorf("%d of %d nodes are still there", kept, len(nodes))
	}
	cluster.Note("taken over, with %s", fmt.Sprint(len(cluster.Nodes()), " nodes"))
	removePools(t, cluster)
}

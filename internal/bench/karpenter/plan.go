package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/record"
	"k8s.io/utils/clock"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"
	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/cloudprovider"
	"sigs.k8s.io/karpenter/pkg/controllers/provisioning/scheduling"
	"sigs.k8s.io/karpenter/pkg/controllers/state"
	"sigs.k8s.io/karpenter/pkg/events"
	"sigs.k8s.io/karpenter/pkg/operator/injection"
	"sigs.k8s.io/karpenter/pkg/operator/options"
	requirements "sigs.k8s.io/karpenter/pkg/scheduling"
	"sigs.k8s.io/karpenter/pkg/utils/daemonset"
	"sigs.k8s.io/karpenter/pkg/utils/nodepool"
)

// cluster is the workload, as objects of the library, before planning starts.
type cluster struct {
	reader    *reader
	state     *state.Cluster
	nodes     []*state.StateNode
	nodePools []*v1.NodePool
	types     map[string][]*cloudprovider.InstanceType
	pods      []*corev1.Pod
	daemons   []*corev1.Pod
	clock     clock.Clock
}

// plan builds the cluster, calls begins when planning starts, and plans.
func plan(ctx context.Context, w *workload, begins func()) (*result, error) {
	ctx = configure(injection.WithControllerName(ctx, "provisioner"), w, options.DefaultFeatureGates())
	c, err := newCluster(ctx, w, clock.RealClock{})
	if err != nil {
		return nil, err
	}
	var planned scheduling.Results
	begins()
	took, err := measure(func() error {
		planned, err = c.solve(ctx)
		return err
	})
	if err != nil {
		return nil, err
	}
	r := report(planned)
	leftOut := make(map[string]bool, len(r.Unschedulable))
	for _, u := range r.Unschedulable {
		leftOut[u.Pod] = true
	}
	for _, pod := range c.pods { // in the order to which Solve has sorted them
		if name := nameOf(pod); !leftOut[name] {
			r.Order = append(r.Order, name)
		}
	}
	r.usage = took
	return r, nil
}

// configure sets the library's global settings, and returns a context with its options.
func configure(ctx context.Context, w *workload, gates options.FeatureGates) context.Context {
	ctrllog.SetLogger(logr.Discard())
	v1.WellKnownLabels.Insert(w.Vocabulary.WellKnown...)
	return options.ToContext(ctx, &options.Options{
		CPURequests: 1000, MemoryLimit: -1, IgnoreDRARequests: true, FeatureGates: gates,
		PreferencePolicy: options.PreferencePolicyRespect, MinValuesPolicy: options.MinValuesPolicyStrict,
	})
}

func newCluster(ctx context.Context, w *workload, clk clock.Clock) (*cluster, error) {
	c := &cluster{reader: newReader(w), pods: w.Pods, clock: clk, types: make(map[string][]*cloudprovider.InstanceType)}
	for _, pod := range c.reader.pods {
		if pod.UID == "" {
			pod.UID = types.UID(pod.Namespace + "/" + pod.Name) // the scheduler identifies pods by UID
		}
	}
	catalogs := make(map[string][]*cloudprovider.InstanceType)
	for _, p := range w.NodePools {
		if p.NotReady != "" || p.Object.DeletionTimestamp != nil || p.Object.Spec.Replicas != nil {
			continue
		}
		if p.Object.Spec.Template.Spec.NodeClassRef == nil {
			return nil, fmt.Errorf("NodePool %s has no nodeClassRef", p.Object.Name)
		}
		if catalogs[p.Catalog] == nil {
			catalogs[p.Catalog] = instanceTypes(w.Catalogs[p.Catalog])
		}
		c.nodePools = append(c.nodePools, p.Object)
		c.types[p.Object.Name] = catalogs[p.Catalog]
	}
	nodepool.OrderByWeight(c.nodePools)
	for _, set := range w.DaemonSets {
		c.daemons = append(c.daemons, daemonset.PodForDaemonSet(set))
	}
	return c, c.addNodes(ctx, w.Nodes)
}

func (c *cluster) addNodes(ctx context.Context, nodes []node) error {
	c.state = state.NewCluster(c.clock, c.reader, nil)
	leaving := make(map[string]bool)
	for _, n := range nodes {
		leaving[n.Name] = n.Leaving
		if n.Claim != nil {
			c.state.UpdateNodeClaim(n.Claim)
		}
		if n.Object == nil {
			continue
		}
		if n.Object.Spec.ProviderID == "" {
			n.Object.Spec.ProviderID = n.Object.Name
		}
		if err := c.state.UpdateNode(ctx, n.Object); err != nil {
			return fmt.Errorf("node %s: %w", n.Name, err)
		}
		for _, pod := range n.Pods {
			if err := c.state.UpdatePod(ctx, pod); err != nil {
				return fmt.Errorf("pod %s/%s: %w", pod.Namespace, pod.Name, err)
			}
		}
	}
	for _, n := range c.state.DeepCopyNodes().Active() {
		if !leaving[n.Name()] {
			c.nodes = append(c.nodes, n)
		}
	}
	return nil
}

// solve does what the provisioner does between collecting pods and creating NodeClaims.
func (c *cluster) solve(ctx context.Context) (scheduling.Results, error) {
	var none scheduling.Results
	settings := []scheduling.Options{
		scheduling.DisableReservedCapacityFallback,
		scheduling.NumConcurrentReconciles(1),
		scheduling.MinValuesPolicy(options.MinValuesPolicyStrict),
	}
	volumes := scheduling.NewVolumeTopology(c.reader)
	byVolume := make(map[types.UID][]requirements.Requirements)
	for _, pod := range c.pods {
		needed, err := volumes.GetRequirements(ctx, pod)
		if err != nil {
			return none, fmt.Errorf("volumes of pod %s/%s: %w", pod.Namespace, pod.Name, err)
		}
		if len(needed) > 0 {
			byVolume[pod.UID] = needed
		}
	}
	topology, err := scheduling.NewTopology(ctx, c.reader, c.state, c.nodes, c.nodePools, c.types, c.pods, settings...)
	if err != nil {
		return none, fmt.Errorf("counting pods by topology: %w", err)
	}
	s := scheduling.NewScheduler(ctx, c.reader, c.nodePools, c.state, c.nodes, topology, c.types, c.daemons,
		events.NewRecorder(&record.FakeRecorder{}), c.clock, byVolume, nil, settings...)
	planned, err := s.Solve(ctx, c.pods)
	if err != nil {
		return none, fmt.Errorf("planning: %w", err)
	}
	return planned.TruncateInstanceTypes(ctx, scheduling.MaxInstanceTypes), nil
}

// report converts the library's results to a result, which does not depend on the library.
func report(planned scheduling.Results) *result {
	r := &result{NewNodes: []newNode{}, Existing: []existingNode{}, Unschedulable: []unschedulable{}}
	for _, claim := range planned.NewNodeClaims {
		r.NewNodes = append(r.NewNodes, newNodeOf(claim))
	}
	for _, n := range planned.ExistingNodes {
		if len(n.Pods) > 0 {
			r.Existing = append(r.Existing, existingNode{Name: n.Name(), Pods: names(n.Pods)})
		}
	}
	slices.SortFunc(r.Existing, func(a, b existingNode) int { return strings.Compare(a.Name, b.Name) })
	for pod, err := range planned.PodErrors {
		r.Unschedulable = append(r.Unschedulable, unschedulable{Pod: nameOf(pod), Reason: err.Error()})
	}
	slices.SortFunc(r.Unschedulable, func(a, b unschedulable) int { return strings.Compare(a.Pod, b.Pod) })
	return r
}

func newNodeOf(claim *scheduling.NodeClaim) newNode {
	n := newNode{Pool: claim.NodePoolName, Pods: names(claim.Pods)}
	for _, entry := range claim.Requirements.NodeSelectorRequirements() {
		// The template has these two labels only for the sake of DaemonSets. The provisioner makes NodeClaims without them.
		if entry.Key != v1.NodeRegisteredLabelKey && entry.Key != v1.NodeInitializedLabelKey {
			n.Requirements = append(n.Requirements, entry)
		}
	}
	slices.SortFunc(n.Requirements, func(a, b requirement) int { return cmp.Compare(a.Key, b.Key) })
	for _, t := range claim.InstanceTypeOptions {
		n.InstanceTypes = append(n.InstanceTypes, t.Name)
	}
	return n
}

func nameOf(pod *corev1.Pod) string { return pod.Namespace + "/" + pod.Name }

func names(pods []*corev1.Pod) []string {
	out := make([]string, len(pods))
	for i, pod := range pods {
		out[i] = nameOf(pod)
	}
	return out
}

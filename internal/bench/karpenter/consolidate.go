package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/cloudprovider"
	"sigs.k8s.io/karpenter/pkg/controllers/disruption"
	"sigs.k8s.io/karpenter/pkg/controllers/provisioning"
	"sigs.k8s.io/karpenter/pkg/controllers/provisioning/scheduling"
	"sigs.k8s.io/karpenter/pkg/operator/injection"
	"sigs.k8s.io/karpenter/pkg/operator/options"
)

// maxFruitless is the largest number of successive attempts without a usable command. After these, the fleet counts as consolidated. A
// command is not usable if it is invalid after its delay, or if its nodes can't be launched.
const maxFruitless = 5

// pollingPeriod is the polling period of the library's disruption controller.
const pollingPeriod = 10 * time.Second

// errNotForSale means that no available offering meets the requirements of a node to launch.
var errNotForSale = errors.New("nothing that is for sale meets the requirements of a node to launch")

// method is a consolidation method of the library: the interface, and those methods of the embedded type that are used here.
type method interface {
	disruption.Method
	disruption.NodePoolTotalsSetter
	IsConsolidated() bool
}

// drive is the state of a fleet that is being consolidated.
type drive struct {
	*cluster
	clock       *steppingClock
	provider    *provider
	provisioner *provisioning.Provisioner
	queue       *disruption.Queue
	methods     []method
	launched    int
}

// steppingClock is a clock that moves ahead when someone waits for it, so that no one really waits.
type steppingClock struct{ *clocktesting.FakeClock }

func (c *steppingClock) After(d time.Duration) <-chan time.Time {
	c.Step(d)
	fired := make(chan time.Time, 1)
	fired <- c.Now()
	return fired
}

// unhurried is a context that has the zero time as its deadline. A context with a time limit that is derived from it has the same deadline,
// because the zero time is earlier. But no timer runs, so the context is never cancelled. Multi-node consolidation has a limit of one
// minute on the real clock. On a busy computer, this limit would decide what it finds.
type unhurried struct{ context.Context }

func (unhurried) Deadline() (time.Time, bool) { return time.Time{}, true }

// consolidate runs the library's methods on a fleet until they find nothing more. Each command is executed at once: nodes exist as soon as
// they are launched, and pods are bound where the simulation put them.
func consolidate(ctx context.Context, w *workload, spotToSpot bool, begins func(), out io.Writer) error {
	gates := options.DefaultFeatureGates()
	gates.SpotToSpotConsolidation = spotToSpot
	ctx = unhurried{configure(injection.WithControllerName(ctx, "disruption"), w, gates)}
	d, err := newDrive(ctx, w)
	if err != nil {
		return err
	}
	begins()
	spent := newMeter()
	lines := json.NewEncoder(out)
	for fruitless := 0; ; {
		var found []disruption.Command
		var by string
		settled := true
		if err := spent.add(func() error {
			var err error
			found, by, settled, err = d.look(ctx)
			return err
		}); err != nil {
			return err
		}
		line := look{usage: spent.usage, Steps: []step{}}
		if line.Timeouts, err = timeouts(); err != nil {
			return err
		}
		for i := range found {
			s, err := d.carryOut(ctx, by, &found[i])
			if errors.Is(err, errNotForSale) {
				continue // the launch would fail, so the nodes stay
			}
			if err != nil {
				return err
			}
			line.Steps = append(line.Steps, *s)
		}
		if len(line.Steps) > 0 {
			fruitless = 0
		} else if fruitless++; settled || fruitless == maxFruitless {
			line.Done = true
		}
		if err := lines.Encode(line); err != nil || line.Done {
			return err
		}
		if len(line.Steps) == 0 {
			d.clock.Step(pollingPeriod)
		}
	}
}

// timeouts returns how often the library has stopped a search at its time limit, according to its metric.
func timeouts() (int, error) {
	families, err := metrics.Registry.Gather()
	if err != nil {
		return 0, fmt.Errorf("reading the library's metrics: %w", err)
	}
	count := 0.0
	for _, family := range families {
		if family.GetName() == "karpenter_voluntary_disruption_consolidation_timeouts_total" {
			for _, m := range family.GetMetric() {
				count += m.GetCounter().GetValue()
			}
		}
	}
	return int(count), nil
}

func newDrive(ctx context.Context, w *workload) (*drive, error) {
	if len(w.NodePools) == 0 {
		return nil, errors.New("the fleet has no nodePools")
	}
	if len(w.Pods) > 0 {
		return nil, fmt.Errorf("%d pods are pending: a fleet to consolidate must have none", len(w.Pods))
	}
	d := &drive{clock: &steppingClock{clocktesting.NewFakeClock(w.Time.Time)}}
	for _, p := range w.NodePools {
		defaultPool(p.Object)
	}
	for _, n := range w.Nodes {
		if n.Claim == nil || n.Object == nil {
			return nil, fmt.Errorf("node %s lacks its NodeClaim or its Node", n.Name)
		}
		n.Claim.StatusConditions().SetTrue(v1.ConditionTypeConsolidatable)
	}
	var err error
	if d.cluster, err = newCluster(ctx, w, d.clock); err != nil {
		return nil, err
	}
	d.provider = &provider{d.types, newNodeClass(w.NodePools[0].Object.Spec.Template.Spec.NodeClassRef)}
	recorder := noEvents{}
	d.provisioner = provisioning.NewProvisioner(d.reader, recorder, d.provider, d.state, d.clock, nil, nil)
	d.queue = disruption.NewQueue(d.reader, recorder, d.state, d.clock, d.provisioner)
	common := disruption.MakeConsolidation(d.clock, d.state, d.reader, d.provisioner, d.provider, recorder, d.queue)
	d.methods = []method{
		disruption.NewEmptiness(common), disruption.NewMultiNodeConsolidation(common), disruption.NewSingleNodeConsolidation(common),
	}
	return d, nil
}

// defaultPool sets the fields that the API server and the controllers of NodePools would set.
func defaultPool(p *v1.NodePool) {
	if after := &p.Spec.Disruption.ConsolidateAfter; after.Duration == nil && after.Raw == nil {
		*after = v1.MustParseNillableDuration("0s")
	}
	if p.Spec.Disruption.ConsolidationPolicy == "" {
		p.Spec.Disruption.ConsolidationPolicy = v1.ConsolidationPolicyWhenEmptyOrUnderutilized
	}
	p.StatusConditions().SetTrue(v1.ConditionTypeValidationSucceeded)
	p.StatusConditions().SetTrue(v1.ConditionTypeNodeClassReady)
}

// look tries one consolidation method after the other, like the library's controller. It stops at the first method that finds commands, and
// returns the name of this method as its second result. settled is true if all methods found nothing and consider the fleet consolidated.
func (d *drive) look(ctx context.Context) (found []disruption.Command, by string, settled bool, err error) {
	settled = true
	for _, m := range d.methods {
		candidates, totals, err := disruption.GetCandidatesWithTotals(ctx, d.state, d.reader, noEvents{}, d.clock, d.provider,
			m.ShouldDisrupt, m.Class(), d.queue, nil)
		if err != nil {
			return nil, "", false, fmt.Errorf("finding candidates: %w", err)
		}
		if len(candidates) == 0 {
			continue
		}
		m.SetNodePoolTotals(totals)
		budgets, err := disruption.BuildDisruptionBudgetMapping(ctx, d.state, d.clock, d.reader, d.provider, noEvents{}, m.Reason())
		if err != nil {
			return nil, "", false, fmt.Errorf("reading budgets: %w", err)
		}
		found, err := m.ComputeCommands(ctx, budgets, candidates...)
		if err != nil {
			return nil, "", false, fmt.Errorf("%s: %w", m.ConsolidationType(), err)
		}
		found = slices.DeleteFunc(found, func(c disruption.Command) bool { return c.Decision() == disruption.NoOpDecision })
		if len(found) > 0 {
			return found, m.ConsolidationType(), false, nil
		}
		settled = settled && m.IsConsolidated()
	}
	return nil, "", settled, nil
}

// carryOut executes a command on the cluster, and returns it as a step. If the error is errNotForSale, nothing has changed.
func (d *drive) carryOut(ctx context.Context, by string, cmd *disruption.Command) (*step, error) {
	s := &step{Method: by}
	var types []*cloudprovider.InstanceType
	for _, r := range cmd.Replacements {
		l, it, err := d.buy(r.NodeClaim)
		if err != nil {
			return nil, err
		}
		s.Launched = append(s.Launched, *l)
		types = append(types, it)
	}
	moving := make(map[string]*corev1.Pod)
	for _, c := range cmd.Candidates {
		s.Removed = append(s.Removed, c.Name())
		for _, pod := range d.reader.podsOnNode[c.Name()] {
			moving[nameOf(pod)] = pod
		}
		delete(d.reader.podsOnNode, c.Name())
		delete(d.reader.objects, keyOf("nodes", c.Node))
		d.state.DeleteNodeClaim(c.NodeClaim.Name)
		d.state.DeleteNode(c.Name())
	}
	bind := func(node string, pods []string) error {
		for _, name := range pods {
			pod := moving[name]
			if pod == nil {
				return fmt.Errorf("pod %s is planned for %s, but does not move", name, node)
			}
			delete(moving, name)
			pod.Spec.NodeName = node
			d.reader.podsOnNode[node] = append(d.reader.podsOnNode[node], pod)
			if err := d.state.UpdatePod(ctx, pod); err != nil {
				return fmt.Errorf("binding pod %s to %s: %w", name, node, err)
			}
		}
		return nil
	}
	for i := range s.Launched {
		l := &s.Launched[i]
		if err := d.addNode(ctx, l, types[i]); err != nil {
			return nil, err
		}
		if err := bind(l.Name, l.Pods); err != nil {
			return nil, err
		}
	}
	for _, n := range cmd.Results.ExistingNodes {
		if len(n.Pods) == 0 {
			continue
		}
		if err := bind(n.Name(), names(n.Pods)); err != nil {
			return nil, err
		}
		s.Existing = append(s.Existing, existingNode{Name: n.Name(), Pods: names(n.Pods)})
	}
	if len(moving) > 0 {
		return nil, fmt.Errorf("%d pods of removed nodes have no place", len(moving))
	}
	slices.SortFunc(s.Existing, func(a, b existingNode) int { return strings.Compare(a.Name, b.Name) })
	return s, nil
}

// buy returns the cheapest available offering that a NodeClaim allows. If several are equally cheap, it returns the first by instance type.
func (d *drive) buy(claim *scheduling.NodeClaim) (*launch, *cloudprovider.InstanceType, error) {
	var best *cloudprovider.Offering
	var of *cloudprovider.InstanceType
	for _, t := range claim.InstanceTypeOptions {
		open := t.Offerings.Available().Compatible(claim.Requirements)
		if len(open) == 0 {
			continue
		}
		if o := open.Cheapest(); best == nil || cmp.Or(cmp.Compare(o.Price, best.Price), strings.Compare(t.Name, of.Name)) < 0 {
			best, of = o, t
		}
	}
	if best == nil {
		return nil, nil, errNotForSale
	}
	d.launched++
	return &launch{
		Name: fmt.Sprintf("launched-%d", d.launched), newNode: newNodeOf(claim),
		InstanceType: of.Name, Zone: best.Zone(), CapacityType: best.CapacityType(),
	}, of, nil
}

// addNode adds a launched node, which is initialized and has no pods.
func (d *drive) addNode(ctx context.Context, l *launch, it *cloudprovider.InstanceType) error {
	pool := d.nodePools[slices.IndexFunc(d.nodePools, func(p *v1.NodePool) bool { return p.Name == l.Pool })]
	labels := maps.Clone(pool.Spec.Template.Labels)
	if labels == nil {
		labels = make(map[string]string)
	}
	for key, r := range it.Requirements {
		if r.Operator() == corev1.NodeSelectorOpIn && r.Len() == 1 {
			labels[key] = r.Any()
		}
	}
	maps.Copy(labels, map[string]string{
		corev1.LabelHostname: l.Name, corev1.LabelInstanceTypeStable: l.InstanceType, corev1.LabelTopologyZone: l.Zone,
		v1.CapacityTypeLabelKey: l.CapacityType, v1.NodePoolLabelKey: pool.Name,
		v1.NodeRegisteredLabelKey: "true", v1.NodeInitializedLabelKey: "true",
	})
	object := &corev1.Node{}
	object.Name, object.Labels, object.CreationTimestamp.Time = l.Name, labels, d.clock.Now()
	object.Spec.ProviderID, object.Spec.Taints = "launched://"+l.Name, pool.Spec.Template.Spec.Taints
	object.Status.Capacity, object.Status.Allocatable = it.Capacity, it.Allocatable()
	object.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
	claim := &v1.NodeClaim{}
	claim.Name, claim.Labels, claim.CreationTimestamp = "claim-"+l.Name, labels, object.CreationTimestamp
	claim.Spec.ExpireAfter = v1.MustParseNillableDuration("Never")
	claim.Status.ProviderID, claim.Status.NodeName = object.Spec.ProviderID, l.Name
	for _, condition := range []string{v1.ConditionTypeLaunched, v1.ConditionTypeRegistered, v1.ConditionTypeInitialized, v1.ConditionTypeConsolidatable} {
		claim.StatusConditions().SetTrue(condition)
	}
	d.reader.objects[keyOf("nodes", object)] = object
	d.state.UpdateNodeClaim(claim)
	if err := d.state.UpdateNode(ctx, object); err != nil {
		return fmt.Errorf("node %s: %w", l.Name, err)
	}
	return nil
}

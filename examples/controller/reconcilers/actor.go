package reconcilers

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/provisioning"
)

// actor carries out the effects of package provisioning's state machines, one method per effect.
type actor struct {
	client      client.Client
	provider    cloudprovider.CloudProvider
	gates       []cloudprovider.RegistrationGate
	lifecycle   *provisioning.Lifecycle
	stock       *provisioning.StockEstimate
	market      MarketObserver
	rateLimiter *provisioning.RateLimiter
	health      *health
	evictions   *evictions
	// evict is called for pods that drains want to evict.
	evict    func(provisioning.EvictPod)
	recorder *recorder
	metrics  *metrics
	// planNow triggers planning at once, because a planned instance will not be launched or a node was lost.
	planNow func()
	// podsOf returns the pods that need another node when the claim's node is removed. They belong to the view and must not be
	// changed.
	podsOf func(*v1.NodeClaim) []*corev1.Pod
	log    *slog.Logger
	now    func() time.Time
}

// round is the state of one reconcile: the objects that were read, and the results of the effects of its last step.
type round struct {
	// claims and nodes are the objects to which effects may write, as they were read or last written. A nil entry is an object that no
	// longer exists.
	claims map[types.UID]*v1.NodeClaim
	nodes  map[types.UID]*corev1.Node

	// group are the claims of the claim's launch group, see claimReconciler.groupOf.
	group []*v1.NodeClaim
	// slices are the ResourceSlices of the claim's node, see claimReconciler.slicesFor.
	slices []*resourcev1.ResourceSlice

	instance provisioning.InstanceState
	searched bool
	found    string
	gates    map[string]provisioning.GateAnswer
	created  *provisioning.Step
	// vanished is true if an object of the step was gone when it should be written; then the rest of the step was skipped.
	vanished bool
}

func newRound(claims []*v1.NodeClaim, nodes []*corev1.Node) *round {
	r := &round{claims: map[types.UID]*v1.NodeClaim{}, nodes: map[types.UID]*corev1.Node{}}
	for _, c := range claims {
		r.claims[c.UID] = c
	}
	for _, n := range nodes {
		r.nodes[n.UID] = n
	}
	return r
}

// learned reports whether the step's effects returned results. If it is true, the next step follows at once.
func (r *round) learned() bool {
	return r.instance != provisioning.InstanceUnasked || r.searched || r.gates != nil || r.vanished
}

// forget clears the results before the next step.
func (r *round) forget() {
	r.instance, r.searched, r.found, r.gates, r.created, r.vanished = provisioning.InstanceUnasked, false, "", nil, nil, false
}

// run carries out a step: it publishes the events, and carries out the effects in order. It stops at the first effect that fails or whose
// object is gone. If an object is gone, run returns no error but sets r.vanished, which the next step takes into account.
func (a *actor) run(ctx context.Context, r *round, step provisioning.Step) error {
	a.recorder.publish(step.Events)
	return a.doAll(ctx, r, step.Effects)
}

func (a *actor) doAll(ctx context.Context, r *round, effects []provisioning.Effect) error {
	for _, effect := range effects {
		err := a.do(ctx, r, effect)
		if errors.Is(err, errVanished) {
			r.vanished = true
			put, ok := effect.(provisioning.PutClaim)
			if !ok || len(put.IfGone) == 0 {
				return nil
			}
			a.log.Info("terminating instance of deleted NodeClaim", "nodeClaim", put.Claim.Name,
				"nodePool", poolName(put.Claim.Labels), "providerID", put.Claim.Status.ProviderID)
			return a.doAll(ctx, r, put.IfGone)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", effect, err)
		}
	}
	return nil
}

func (a *actor) do(ctx context.Context, r *round, effect provisioning.Effect) error {
	return provisioning.Do(ctx, effect, roundEffects{a, r})
}

// errUnknownBase means that an effect writes an object that was not read, which is a bug in this package.
var errUnknownBase = errors.New("the object was not read before it was written")

func (a *actor) putClaim(ctx context.Context, r *round, want *v1.NodeClaim) error {
	base := r.claims[want.UID]
	if base == nil {
		return errUnknownBase
	}
	stored, err := storeClaim(ctx, a.client, base, want)
	if err != nil && !errors.Is(err, errVanished) {
		return err
	}
	r.claims[want.UID] = stored
	a.reportClaim(ctx, base, stored)
	return err
}

// reportClaim logs a change of a claim and counts it in metrics. It triggers planning if the claim has lost its node.
func (a *actor) reportClaim(ctx context.Context, before, after *v1.NodeClaim) {
	if after == nil {
		a.metrics.claimTerminated(before, a.now())
		a.log.Info("removed NodeClaim", "nodeClaim", before.Name, "nodePool", poolName(before.Labels), "providerID", before.Status.ProviderID)
		return
	}
	if provisioning.NodeLost(after) && !provisioning.NodeLost(before) {
		a.log.Warn("lost node", "nodeClaim", after.Name, "nodePool", poolName(after.Labels),
			"node", before.Status.NodeName, "providerID", after.Status.ProviderID)
		a.planNow() // the pods of the lost node need another node
	}
	was, is := before.DeepCopy().Conditions(), after.DeepCopy().Conditions()
	if !was.IsTrue(v1.ConditionDrained) && is.IsTrue(v1.ConditionDrained) {
		a.metrics.nodesDrained.WithLabelValues(poolName(after.Labels)).Inc()
	}
	for _, kind := range []string{v1.ConditionLaunched, v1.ConditionRegistered, v1.ConditionInitialized} {
		if was.IsTrue(kind) || !is.IsTrue(kind) {
			continue
		}
		a.logMilestone(after, kind)
		if kind == v1.ConditionRegistered {
			a.metrics.nodeCreated(after)
			a.health.registered(ctx, a.client, after)
			a.rateLimiter.Outcome(string(after.UID), false, a.now())
		}
	}
}

// logMilestone logs that a claim was launched, registered or initialized.
func (a *actor) logMilestone(claim *v1.NodeClaim, condition string) {
	log := a.log.With("nodeClaim", claim.Name, "nodePool", poolName(claim.Labels), "node", claim.Status.NodeName,
		"providerID", claim.Status.ProviderID, "instanceType", claim.Labels[corev1.LabelInstanceTypeStable],
		"capacityType", claim.Labels[v1.CapacityTypeLabelKey], "zone", claim.Labels[corev1.LabelTopologyZone],
		"age", a.now().Sub(claim.CreationTimestamp.Time).Round(time.Millisecond))
	switch condition {
	case v1.ConditionLaunched:
		log.Info("launched NodeClaim")
	case v1.ConditionRegistered:
		log.Info("registered NodeClaim")
	case v1.ConditionInitialized:
		log.Info("initialized NodeClaim")
	}
}

func (a *actor) putNode(ctx context.Context, r *round, want *corev1.Node) error {
	base := r.nodes[want.UID]
	if base == nil {
		return errUnknownBase
	}
	stored, err := storeNode(ctx, a.client, base, want)
	if err != nil && !errors.Is(err, errVanished) {
		return err
	}
	r.nodes[want.UID] = stored
	if stored != nil && v1.DisruptionMarked(stored) && !v1.DisruptionMarked(base) {
		a.log.Info("cordoned node", "node", stored.Name, "nodePool", poolName(stored.Labels))
	}
	if stored == nil {
		a.metrics.nodeTerminated(base, a.now())
		a.log.Info("removed node", "node", base.Name, "nodePool", poolName(base.Labels))
	}
	return err
}

func (a *actor) deleteClaim(ctx context.Context, r *round, e provisioning.DeleteClaim) error {
	if err := deleteClaim(ctx, a.client, e.Name, e.UID); err != nil {
		return err
	}
	if e.Reason == "" {
		return nil // no reason means that another client deleted the node, and the claim is deleted after it
	}
	claim := r.claims[e.UID]
	a.log.Info("deleted NodeClaim", "nodeClaim", e.Name, "reason", e.Reason)
	if claim == nil {
		return nil
	}
	a.metrics.disrupted(claim, string(e.Reason), len(a.podsOf(claim)))
	switch e.Reason {
	case provisioning.ReasonLaunchTimeout, provisioning.ReasonRegistrationTimeout:
		a.health.givenUp(ctx, a.client, claim)
		a.rateLimiter.Outcome(string(claim.UID), true, a.now())
	case provisioning.ReasonInsufficientCapacity, provisioning.ReasonNodeClassNotReady, provisioning.ReasonGroupIncomplete:
		a.rateLimiter.Withdraw(string(claim.UID))
	}
	return nil
}

func (a *actor) createInstance(ctx context.Context, r *round, e provisioning.CreateInstance) error {
	claim := e.Claim
	answer, err := e.Launch(ctx, a.provider)
	if ctx.Err() != nil {
		// The process stopped during the call. The next process calls Create again, and gets the same instance.
		return errors.Join(ctx.Err(), err)
	}
	now := a.now()
	a.health.launched(claim, err, now)
	if err != nil {
		a.log.Warn("cannot launch instance", "nodeClaim", claim.Name, "nodePool", poolName(claim.Labels), "error", err)
	} else if key, ok := a.offeringOf(answer); ok {
		a.launched(key, now)
	}
	if a.refused(err, now) {
		a.planNow()
	}
	step := a.lifecycle.Created(claim, answer, err, now)
	r.created = &step
	return nil
}

// offeringOf returns the offering of an instance, or false if its labels do not name an offering, or if its capacity is reserved.
func (a *actor) offeringOf(claim *v1.NodeClaim) (cloudprovider.OfferingKey, bool) {
	key := a.provider.Describe().OfferingOf(claim.Labels)
	return key, key.InstanceType != "" && key.Zone != "" && key.CapacityType != "" && key.CapacityType != v1.CapacityTypeReserved
}

func (a *actor) terminateInstance(ctx context.Context, r *round, claim *v1.NodeClaim) error {
	return r.answered(a.provider.Delete(ctx, claim), provisioning.InstanceEnding)
}

// answered records the provider's result in r.instance. This is InstanceGone if the error says that the instance does not exist, and
// otherwise, if there is no error, the given state.
func (r *round) answered(err error, otherwise provisioning.InstanceState) error {
	switch {
	case cloudprovider.IsNodeClaimNotFound(err):
		r.instance = provisioning.InstanceGone
	case err != nil:
		return err
	default:
		r.instance = otherwise
	}
	return nil
}

func (a *actor) findInstance(ctx context.Context, r *round, claim *v1.NodeClaim) error {
	instances, err := a.provider.List(ctx)
	if err != nil {
		return err
	}
	r.searched = true
	for _, m := range instances {
		if m.UID == claim.UID {
			r.found = m.Status.ProviderID
		}
	}
	return nil
}

func (a *actor) askGates(ctx context.Context, claim *v1.NodeClaim) map[string]provisioning.GateAnswer {
	answers := make(map[string]provisioning.GateAnswer, len(a.gates))
	for _, gate := range a.gates {
		result, err := gate.Registered(ctx, claim)
		answers[gate.Name()] = provisioning.GateAnswer{GateResult: result, Err: err}
	}
	return answers
}

func (a *actor) deletePod(ctx context.Context, e provisioning.DeletePod) error {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: e.Key.Namespace, Name: e.Key.Name, UID: e.UID}}
	if err := deleteExactly(ctx, a.client, pod, client.GracePeriodSeconds(int64(e.Grace/time.Second))); err != nil {
		return err
	}
	a.metrics.podDrained("deadline")
	a.recorder.publish([]provisioning.Event{{
		Kind: "Pod", Namespace: e.Key.Namespace, Name: e.Key.Name, UID: e.UID, Reason: provisioning.EventDisrupted,
		Message: fmt.Sprintf("Deleting the pod to accommodate the terminationGracePeriod of its node: %s are left", e.Grace),
	}})
	return nil
}

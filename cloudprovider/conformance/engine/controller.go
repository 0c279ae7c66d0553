package engine

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/disruption"
	"github.com/drawknife/drawknife/provisioning"
)

// step advances the clock by Options.Step, and then reconciles every object once.
func (w *world) step() {
	w.pass(w.options.Step)
	w.steps++
	if w.steps%collectEvery == 0 {
		w.collect()
	}
	w.hear()
	w.kubelets()
	for _, name := range slices.Sorted(maps.Keys(w.claims)) {
		w.reconcileClaim(name)
	}
	for _, name := range slices.Sorted(maps.Keys(w.nodes)) {
		w.reconcileNode(name)
	}
	w.look()
	w.schedule()
	w.disrupt()
}

// hear receives interruptions and acts on them.
func (w *world) hear() {
	if w.source == nil {
		return
	}
	messages, err := received(w.t.Context(), w.source, w.options.Listen)
	if err != nil {
		w.t.Fatalf("receiving interruptions: %v", err)
	}
	for _, m := range messages {
		for _, name := range slices.Sorted(maps.Keys(w.claims)) {
			w.remove(disruption.Interrupted(w.claims[name], m, w.now).Removal)
		}
		if err := w.source.AckInterruptions(w.t.Context(), m.ID); err != nil {
			w.t.Errorf("acknowledging %q: %v", m.ID, err)
		}
	}
}

// remove deletes the removal's claim. If the removal has a deadline, remove first sets it on the claim.
func (w *world) remove(r *disruption.Removal) {
	if r == nil {
		return
	}
	w.note("remove %s: %s", r.Claim.Name, r.Reason)
	if claim, changed := r.WithDeadline(); changed {
		w.putClaim(claim)
	}
	w.deleteClaim(r.Claim.Name)
}

// kubelets creates Nodes for running instances, and makes Nodes unready once their instances are gone.
func (w *world) kubelets() {
	for _, name := range slices.Sorted(maps.Keys(w.claims)) {
		c := w.claims[name]
		if c.Status.ProviderID == "" || c.DeletionTimestamp != nil || w.nodeOf(c.Status.ProviderID) != nil || w.silent[c.Status.ProviderID] {
			continue
		}
		instance, err := w.Provider.Get(w.t.Context(), c.Status.ProviderID)
		if err != nil || instance.DeletionTimestamp != nil {
			continue
		}
		labels := maps.Clone(instance.Labels)
		delete(labels, v1.NodePoolLabelKey)
		labels[corev1.LabelHostname] = "node-" + name
		ready := metav1.NewTime(w.now)
		w.note("node of %s joins", name)
		w.putNode(&corev1.Node{
			ObjectMeta: metav1.ObjectMeta{Name: "node-" + name, UID: types.UID("node-" + name), Labels: labels, CreationTimestamp: ready},
			Spec: corev1.NodeSpec{ProviderID: c.Status.ProviderID, Taints: slices.Concat(
				[]corev1.Taint{{Key: v1.UnregisteredTaintKey, Effect: corev1.TaintEffectNoExecute}}, c.Spec.Taints, c.Spec.StartupTaints)},
			Status: corev1.NodeStatus{
				Capacity: instance.Status.Capacity.DeepCopy(), Allocatable: instance.Status.Allocatable.DeepCopy(),
				Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue, LastTransitionTime: ready, LastHeartbeatTime: ready}},
			},
		})
	}
	for _, name := range slices.Sorted(maps.Keys(w.nodes)) {
		n := w.nodes[name]
		if _, err := w.Provider.Get(w.t.Context(), n.Spec.ProviderID); cloudprovider.IsNodeClaimNotFound(err) && len(n.Status.Conditions) > 0 {
			silent := n.DeepCopy()
			silent.Status.Conditions = nil
			w.putNode(silent)
			for _, p := range w.podsOn(name) {
				w.unbind(p)
			}
		}
	}
}

func (w *world) nodeOf(providerID string) *corev1.Node {
	for _, n := range w.nodes {
		if n.Spec.ProviderID == providerID {
			return n
		}
	}
	return nil
}

func (w *world) nodesOf(c *v1.NodeClaim) []*corev1.Node {
	if n := w.nodeOf(c.Status.ProviderID); c.Status.ProviderID != "" && n != nil {
		return []*corev1.Node{n}
	}
	return nil
}

// mostEffects is the maximum number of effects for one object at one time.
const mostEffects = 20

func (w *world) reconcileClaim(name string) {
	gate, gated := cloudprovider.As[cloudprovider.RegistrationGate](w.Provider)
	var term provisioning.ClaimTermination
	var gates map[string]provisioning.GateAnswer
	for range mostEffects {
		claim := w.claims[name]
		if claim == nil {
			return
		}
		var step provisioning.Step
		if claim.DeletionTimestamp != nil {
			term.Claim, term.Nodes = claim, w.nodesOf(claim)
			step = provisioning.TerminateClaim(term, w.now)
		} else {
			step = w.lifecycle.Next(provisioning.ClaimState{Claim: claim, Nodes: w.nodesOf(claim), Group: slices.Collect(maps.Values(w.claims)), HasGates: gated, Gates: gates}, w.now)
		}
		if len(step.Effects) == 0 {
			return
		}
		term, gates, w.ended = provisioning.ClaimTermination{}, nil, false
		for _, effect := range step.Effects {
			w.beforeEffect()
			switch e := effect.(type) {
			case provisioning.FindInstance:
				term.Searched, term.Found = true, w.find(e.Claim.UID)
			case provisioning.AskGates:
				result, err := gate.Registered(w.t.Context(), e.Claim)
				gates = map[string]provisioning.GateAnswer{gate.Name(): {GateResult: result, Err: err}}
			case provisioning.CreateInstance:
				instance, err := e.Launch(w.t.Context(), w.Provider)
				w.note("create instance of %s: %v", e.Claim.Name, err)
				after := w.lifecycle.Created(e.Claim, instance, err, w.now)
				for _, each := range after.Effects {
					w.beforeEffect()
					w.do(each)
				}
				if after.Again > 0 {
					return
				}
			default:
				term.Instance = w.do(effect)
			}
			if w.ended {
				break
			}
		}
	}
	w.t.Fatalf("claim %q never settles: %q", name, w.log[max(0, len(w.log)-10):])
}

func (w *world) find(uid types.UID) string {
	all, err := w.Provider.List(w.t.Context())
	if err != nil {
		w.t.Fatalf("listing: %v", err)
	}
	for _, m := range all {
		if m.UID == uid {
			return m.Status.ProviderID
		}
	}
	return ""
}

func (w *world) reconcileNode(name string) {
	state := provisioning.InstanceUnasked
	for range mostEffects {
		node := w.nodes[name]
		if node == nil {
			return
		}
		s := provisioning.NodeTermination{Node: node, Instance: state, Pods: w.podsOn(name), DrainingSince: w.now}
		if node.DeletionTimestamp != nil {
			s.DrainingSince = node.DeletionTimestamp.Time
		}
		for _, c := range w.claims {
			if c.Status.ProviderID == node.Spec.ProviderID {
				s.Claims = append(s.Claims, c)
			}
		}
		step := provisioning.TerminateNode(s, w.now)
		if len(step.Effects) == 0 {
			return
		}
		state, w.ended = provisioning.InstanceUnasked, false
		for _, effect := range step.Effects {
			w.beforeEffect()
			state = max(state, w.do(effect))
			if w.ended {
				break
			}
		}
		if step.Again > 0 && state != provisioning.InstanceGone {
			return
		}
	}
	w.t.Fatalf("node %q never settles: %q", name, w.log[max(0, len(w.log)-10):])
}

// do carries out one effect. If the effect reads the instance, do returns the state of the instance.
func (w *world) do(effect provisioning.Effect) provisioning.InstanceState {
	w.note("%s", effect)
	switch e := effect.(type) {
	case provisioning.PutClaim:
		if there := w.claims[e.Claim.Name]; there == nil || there.UID != e.Claim.UID {
			for _, instead := range e.IfGone {
				w.do(instead)
			}
			w.ended = true
			break
		} else if there.ResourceVersion != e.Claim.ResourceVersion {
			w.ended = true // conflict: the object will be reconciled again
			break
		}
		w.putClaim(e.Claim.DeepCopy())
	case provisioning.PutNode:
		if there := w.nodes[e.Node.Name]; there == nil || there.UID != e.Node.UID || there.ResourceVersion != e.Node.ResourceVersion {
			w.ended = true
			break
		}
		w.putNode(e.Node.DeepCopy())
	case provisioning.DeleteClaim:
		w.deleteClaim(e.Name)
	case provisioning.DeleteNode:
		if n := w.nodes[e.Name]; n != nil && n.DeletionTimestamp == nil {
			n = n.DeepCopy()
			n.DeletionTimestamp = &metav1.Time{Time: w.now}
			w.putNode(n)
		}
	case provisioning.TerminateInstance:
		err := w.Provider.Delete(w.t.Context(), e.Claim)
		if cloudprovider.IsNodeClaimNotFound(err) {
			return provisioning.InstanceGone
		}
		return provisioning.InstanceEnding
	case provisioning.AskInstance:
		if _, err := w.Provider.Get(w.t.Context(), e.Claim.Status.ProviderID); cloudprovider.IsNodeClaimNotFound(err) {
			return provisioning.InstanceGone
		}
		return provisioning.InstanceThere
	case provisioning.EvictPod:
		if p := w.pods[e.Key]; p != nil {
			w.unbind(p)
		}
	case provisioning.DeletePod:
		if p := w.pods[e.Key]; p != nil {
			w.unbind(p)
		}
	default:
		w.t.Fatalf("unknown effect %T", effect)
	}
	return provisioning.InstanceUnasked
}

package engine

import (
	"fmt"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/disruption"
	"github.com/drawknife/drawknife/provisioning"
	"github.com/drawknife/drawknife/scheduling"
	"github.com/drawknife/drawknife/scheduling/nodeclaims"
)

// look marks claims whose instances have drifted, and deletes claims whose nodes are broken.
func (w *world) look() {
	caps := w.Provider.Describe()
	lookup := caps.Vocabulary.Compile()
	var all []*corev1.Node
	for _, n := range w.nodes {
		all = append(all, n)
	}
	for _, name := range slices.Sorted(maps.Keys(w.claims)) {
		claim := w.claims[name]
		if claim.DeletionTimestamp != nil || claim.Status.ProviderID == "" {
			continue
		}
		if w.detector != nil {
			reason, err := w.detector.IsDrifted(w.t.Context(), claim)
			marked := claim.DeepCopy()
			step, err := disruption.MarkDrift(marked, disruption.DriftState{
				Claim: claim, Pool: w.pool, Lookup: lookup, Provider: &disruption.ProviderDrift{Reason: reason, Err: err},
			}, w.now)
			if err != nil {
				w.note("drift of %s: %v", name, err)
			}
			if step.Changed {
				w.note("%s has drifted: %s", name, reason)
				w.putClaim(marked)
			}
		}
		if node := w.nodeOf(claim.Status.ProviderID); node != nil && len(w.policies) > 0 {
			w.remove(disruption.Repair(disruption.RepairState{Node: node, Claim: claim, Policies: w.policies, Nodes: all}, w.now).Removal)
		}
	}
}

// snapshot returns the cluster as planners see it.
func (w *world) snapshot() *scheduling.Snapshot {
	pools, err := provisioning.ResolvePools(w.t.Context(), w.Provider, []*v1.NodePool{w.pool}, nil, w.now)
	if err != nil {
		w.t.Fatal(err)
	}
	for _, p := range pools.NodePools {
		if p.NotReady != "" {
			w.t.Fatalf("nodepool %s: %s", p.Key, p.NotReady)
		}
	}
	s := &scheduling.Snapshot{Time: w.now, Vocabulary: w.Provider.Describe().Vocabulary, NodePools: pools.NodePools, Catalogs: pools.Catalogs}
	for _, name := range slices.Sorted(maps.Keys(w.claims)) {
		c := w.claims[name]
		n := scheduling.Node{Name: name, Pool: v1.NewPoolKey(poolName), Claim: c, Leaving: c.DeletionTimestamp != nil || provisioning.NodeLost(c)}
		if node := w.nodeOf(c.Status.ProviderID); c.Status.ProviderID != "" && node != nil {
			n.Name, n.Object, n.Pods = node.Name, node, w.podsOn(node.Name)
			n.Leaving = n.Leaving || node.DeletionTimestamp != nil
		}
		if n.Leaving {
			n.Pods = nil
		}
		s.Nodes = append(s.Nodes, n)
	}
	s.Pods = w.podsOn("")
	return s
}

// schedule binds pods to ready nodes, and launches nodes for the pods that don't fit on these.
func (w *world) schedule() {
	if len(w.podsOn("")) == 0 || w.steps < w.poolBack {
		return
	}
	snapshot := w.snapshot()
	model, err := scheduling.Compile(snapshot)
	if err != nil {
		w.t.Fatalf("compiling the cluster: %v", err)
	}
	plan, err := model.Solve(w.t.Context(), scheduling.Query{})
	if err != nil {
		w.t.Fatalf("planning: %v", err)
	}
	for _, e := range plan.Existing {
		node := w.nodes[e.Name]
		if node == nil || node.Labels[v1.NodeInitializedLabelKey] != "true" {
			continue
		}
		for _, key := range e.Pods {
			bound := w.pods[types.NamespacedName(key)].DeepCopy()
			bound.Spec.NodeName, bound.Status.Phase = e.Name, corev1.PodRunning
			w.pods[types.NamespacedName(key)] = bound
			w.note("bind %s to %s", key, e.Name)
		}
	}
	orders, err := provisioning.Decide(snapshot, plan, provisioning.PassOptions{Claims: nodeclaims.Options{Lookup: snapshot.Vocabulary.Compile()}})
	if err != nil {
		w.t.Fatalf("deciding: %v", err)
	}
	for _, launch := range orders.Launches {
		w.store(launch.Claim)
	}
	for _, waits := range orders.Waiting {
		w.note("pod %s waits: %v", waits.Pod, waits.Reasons)
	}
}

// store sets the metadata of a new claim, as an API server would.
func (w *world) store(claim *v1.NodeClaim) string {
	w.named++
	claim = claim.DeepCopy()
	claim.Name = fmt.Sprint(poolName, "-", w.named)
	claim.UID = types.UID(claim.Name + "-uid")
	claim.CreationTimestamp = metav1.NewTime(w.now)
	claim.Finalizers = append(claim.Finalizers, v1.TerminationFinalizer) // as provisioning.Launcher does
	w.putClaim(claim)
	return claim.Name
}

// disrupt plans disruptions and carries them out.
func (w *world) disrupt() {
	if !w.disrupts || w.steps < w.poolBack {
		return
	}
	executing := map[string]string{}
	for _, id := range slices.Sorted(maps.Keys(w.commands)) {
		c := w.commands[id]
		up := true
		for _, name := range c.launched {
			claim := w.claims[name]
			switch {
			case claim == nil || claim.DeletionTimestamp != nil:
				w.note("command %s is given up: a replacement is gone", id)
				delete(w.commands, id)
				up = false
			case !claim.Conditions().IsTrue(v1.ConditionInitialized):
				up = false
			}
		}
		for _, m := range c.Members {
			executing[m.Node] = id
			if up {
				w.deleteClaim(m.Claim)
			}
		}
		if up {
			delete(w.commands, id)
		}
	}
	if len(w.commands) > 0 || len(w.podsOn("")) > 0 {
		return
	}
	snapshot := w.snapshot()
	fleet, err := disruption.Survey(disruption.Input{View: disruption.ViewOf(snapshot), Executing: executing})
	if err != nil {
		w.t.Fatalf("surveying the cluster: %v", err)
	}
	plan, err := (&disruption.Reference{ValidationDelay: new(time.Duration)}).Plan(w.t.Context(), fleet)
	if err != nil {
		w.t.Fatalf("planning disruption: %v", err)
	}
	for _, cmd := range plan.Commands {
		c := &command{Command: cmd}
		w.note("%s", cmd)
		for _, r := range cmd.Replacements {
			if r.Node == nil {
				continue
			}
			pool := &snapshot.NodePools[0]
			claim, err := nodeclaims.New(r.Node, pool, nodeclaims.Options{Lookup: snapshot.Vocabulary.Compile(), InstanceTypes: snapshot.Catalogs[pool.Catalog]})
			if err != nil {
				w.t.Fatalf("making the claim of a replacement: %v", err)
			}
			c.launched = append(c.launched, w.store(claim))
		}
		w.commands[cmd.ID] = c
	}
}

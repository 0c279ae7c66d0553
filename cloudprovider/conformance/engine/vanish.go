package engine

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/provisioning"
)

const (
	// collectEvery is the number of steps between two garbage collections. This is two minutes with the default step of ten seconds.
	collectEvery = 12
	// poolAway is the number of steps between the deletion of the NodePool and its re-creation.
	poolAway = 3
	// leastVanishSteps is the smallest number of effects in the life of a node; with fewer effects the scenario would test nothing.
	leastVanishSteps = 12
)

// vanish starts and stops pods again and again. In each cycle an object vanishes, Options.VanishEvery effects later than in the cycle
// before.
func vanish(w *world) {
	every := w.options.VanishEvery
	for _, kind := range []struct {
		name string
		take func() bool
	}{{"node", w.takeNode}, {"claim", w.takeClaim}, {"instance", w.takeInstance}, {"pool", w.takePool}} {
		for at := 0; ; at += every {
			w.vanish, w.effects, w.vanishAt, w.disrupts = kind.take, 0, at, false
			w.run("web", 2, "500m")
			w.until(fmt.Sprintf("all pods run and nothing is left over after a %s vanished at step %d", kind.name, at), w.whole)
			w.sound()
			w.stop("web")
			w.until(fmt.Sprintf("no instance is left after a %s vanished at step %d", kind.name, at), w.empty)
			if w.vanish != nil {
				if at < leastVanishSteps {
					w.t.Errorf("the life of a node has %d steps, too few for a %s to vanish at", w.effects, kind.name)
				}
				w.vanish = nil
				break
			}
		}
	}
}

// beforeEffect lets an object vanish before effect number vanishAt. If the object does not exist then, it vanishes before the first later
// effect at which it exists.
func (w *world) beforeEffect() {
	if w.vanish != nil && w.effects >= w.vanishAt && w.vanish() {
		w.note("(vanished at step %d)", w.effects)
		w.vanish = nil
	}
	w.effects++
}

// takeClaim deletes a claim regardless of its finalizers.
func (w *world) takeClaim() bool {
	if len(w.claims) == 0 {
		return false
	}
	delete(w.claims, slices.Min(slices.Collect(maps.Keys(w.claims))))
	return true
}

// takeNode deletes a Node regardless of its finalizers; its instance keeps running.
func (w *world) takeNode() bool {
	if len(w.nodes) == 0 {
		return false
	}
	name := slices.Min(slices.Collect(maps.Keys(w.nodes)))
	w.silent[w.nodes[name].Spec.ProviderID] = true
	delete(w.nodes, name)
	for _, p := range w.podsOn(name) {
		w.unbind(p)
	}
	return true
}

// takeInstance terminates an instance without informing the controller.
func (w *world) takeInstance() bool {
	for _, name := range slices.Sorted(maps.Keys(w.claims)) {
		c := w.claims[name]
		if c.Status.ProviderID == "" {
			continue
		}
		if err := w.Provider.Delete(w.t.Context(), c); err != nil && !cloudprovider.IsNodeClaimNotFound(err) {
			w.t.Fatalf("ending instance %q: %v", c.Status.ProviderID, err)
		}
		return true
	}
	return false
}

// takePool deletes the NodePool and its claims. The NodePool is created again poolAway steps later.
func (w *world) takePool() bool {
	if len(w.claims) == 0 {
		return false
	}
	w.poolBack = w.steps + poolAway
	for _, name := range slices.Sorted(maps.Keys(w.claims)) {
		w.deleteClaim(name)
	}
	return true
}

// whole reports whether all pods run, and each claim has its node and its instance.
func (w *world) whole() bool {
	if !w.allRun() {
		return false
	}
	listed, err := w.Provider.List(w.t.Context())
	if err != nil {
		w.t.Fatalf("listing: %v", err)
	}
	instances := 0
	for _, m := range listed {
		if m.Labels[v1.NodePoolLabelKey] == poolName && m.DeletionTimestamp.IsZero() {
			instances++
		}
	}
	for _, c := range w.claims {
		if !c.DeletionTimestamp.IsZero() || !c.DeepCopy().Conditions().IsTrue(v1.ConditionInitialized) || w.nodeOf(c.Status.ProviderID) == nil {
			return false
		}
	}
	return len(w.claims) == instances && len(w.nodes) == instances
}

// collect removes orphaned objects.
func (w *world) collect() {
	s := provisioning.GarbageState{
		Claims: slices.Collect(maps.Values(w.claims)), Nodes: slices.Collect(maps.Values(w.nodes)),
		Lag: w.Provider.Describe().ConsistencyWindow.Duration,
	}
	var err error
	if s.Instances, err = w.Provider.List(w.t.Context()); err != nil {
		w.t.Fatalf("listing: %v", err)
	}
	for _, g := range provisioning.CollectGarbage(s, w.now) {
		again := provisioning.GarbageState{Claims: s.Claims, Nodes: []*corev1.Node{}, Lag: s.Lag}
		for _, n := range g.Nodes {
			if there := w.nodes[n.Name]; there != nil {
				again.Nodes = append(again.Nodes, there)
			}
		}
		switch instance, err := w.Provider.Get(w.t.Context(), g.ProviderID); {
		case err == nil:
			again.Instances = []*v1.NodeClaim{instance}
		case !cloudprovider.IsNodeClaimNotFound(err):
			w.t.Fatalf("asking for instance %q: %v", g.ProviderID, err)
		}
		for _, effect := range g.Collect(again, w.now).Effects {
			w.do(effect)
		}
	}
}

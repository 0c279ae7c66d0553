package searchcontext

import (
	"cmp"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/disruption/decision"
	"github.com/drawknife/drawknife/internal/consolidate/waves"
	"github.com/drawknife/drawknife/scheduling/pods"
)

// PodMoves says what happens to a node's pods when the node is removed.
type PodMoves struct {
	// Moving are the pods that need another place when the node is removed. Stays are the pods that do not move and do not block the
	// removal.
	Moving []*corev1.Pod
	Stays  map[*corev1.Pod]bool
	// Evictions has the number of the node's pods that count against each PodDisruptionBudget.
	Evictions []waves.Evictions
	// Drain is the shortest possible duration of the node's drain.
	Drain time.Duration
	// Passing means that a pod of the node is protected from disruption now, but perhaps not later.
	Passing bool
}

// movesOf returns what happens to the candidate's pods if the node is removed.
func (x *Context) movesOf(c *decision.Candidate) (out PodMoves) {
	f, marker := x.Fleet, v1.MarkerOf(c.State.Pool)
	needed := map[types.NamespacedName]*waves.Evictions{}
	out.Passing = slices.ContainsFunc(c.State.Pods, func(pod *corev1.Pod) bool { return !pods.Disruptable(pod, f.Now) })
	for _, pod := range c.State.Pods {
		if !pods.ReschedulableNowFrom(marker, pod, f.PDBs, f.Now) {
			out.stay(pod)
		}
	}
	for _, pod := range c.Pods { // the survey sorted c.Pods, so their order does not depend on the order of the node's pods
		if out.Stays[pod] {
			continue
		}
		out.Moving = append(out.Moving, pod)
		for _, b := range f.PDBs.Of(pod) {
			if b.SparesUnready && !pods.Ready(pod) {
				continue
			}
			e := needed[b.Key]
			if e == nil {
				e = &waves.Evictions{Budget: b.Key, Allowed: b.Allowed}
				needed[b.Key] = e
			}
			e.Pods++
		}
	}
	for _, e := range needed {
		out.Evictions = append(out.Evictions, *e)
		out.Drain = max(out.Drain, x.Times.Drain(e.Pods, e.Allowed))
	}
	slices.SortFunc(out.Evictions, func(a, b waves.Evictions) int { return compareBudgets(a.Budget, b.Budget) })
	return out
}

func (p *PodMoves) stay(pod *corev1.Pod) {
	if p.Stays == nil {
		p.Stays = map[*corev1.Pod]bool{}
	}
	p.Stays[pod] = true
}

// Moves reports whether the pod needs another place when its node is removed. The trial calls it for each pod of a removed node.
func (p *PodMoves) Moves(pod *corev1.Pod) bool { return !p.Stays[pod] }

// Longest returns the evictions for the PodDisruptionBudget with the longest drain, or the zero value if no budget slows the drain down.
func (p *PodMoves) Longest(t waves.Times) waves.Evictions {
	for _, e := range p.Evictions {
		if t.Drain(e.Pods, e.Allowed) == p.Drain {
			return e
		}
	}
	return waves.Evictions{}
}

// Same reports whether p and other are equal.
func (p *PodMoves) Same(other *PodMoves) bool {
	return slices.Equal(p.Moving, other.Moving) && maps.Equal(p.Stays, other.Stays) && slices.Equal(p.Evictions, other.Evictions) &&
		p.Drain == other.Drain && p.Passing == other.Passing
}

func compareBudgets(a, b types.NamespacedName) int {
	return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
}

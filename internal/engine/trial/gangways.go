package trial

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/internal/engine/model"
	"github.com/drawknife/drawknife/scheduling/planning"
)

// GangWay is one way to move running gangs together: the target domains of the gangs that require one domain.
type GangWay struct {
	// Number of the way among those of the same gangs, from 1 on.
	Number  int
	Domains []planning.GangDomain
	// classes are what classes of members become.
	classes map[planning.PodKey]map[int32]int32
}

// mostGangWays bounds the ways in which several gangs are moved together.
const mostGangWays = 16

// WaysOf returns the ways in which the gangs of the model can be moved together; ways that leave gangs in their domains come first. Gangs
// without a required domain need no way: there is one nil way if all gangs are such. There is no way if a gang has no domain, or has
// pending members.
func WaysOf(m *model.Model, gangs []*planning.Gang) []*GangWay {
	ways := []*GangWay{nil}
	for _, gang := range gangs {
		g := gangIn(m, gang)
		if g == nil {
			return nil
		}
		if g.Moves == nil && !requires(gang) {
			continue
		}
		var next []*GangWay
		for i := range g.Moves {
			for _, way := range ways {
				if len(next) < mostGangWays {
					next = append(next, way.with(gang, &g.Moves[i], len(next)+1))
				}
			}
		}
		ways = next
	}
	return ways
}

// gangIn returns the model's gang of that name; nil if there is none.
func gangIn(m *model.Model, gang *planning.Gang) *model.Gang {
	if m.Gangs == nil {
		return nil
	}
	at := slices.IndexFunc(m.Gangs.List, func(g model.Gang) bool { return g.Source.Key() == gang.Key() })
	if at < 0 {
		return nil
	}
	return &m.Gangs.List[at]
}

func requires(gang *planning.Gang) bool {
	return slices.ContainsFunc(gang.Topology, func(t planning.GangTopology) bool { return t.Policy != planning.GangTopologyPreferred })
}

// with is the way with another gang; the way may be nil.
func (w *GangWay) with(gang *planning.Gang, move *model.GangMove, number int) *GangWay {
	out := &GangWay{Number: number, classes: map[planning.PodKey]map[int32]int32{}}
	if w != nil {
		out.Domains = slices.Clone(w.Domains)
		for key, classes := range w.classes {
			out.classes[key] = classes
		}
	}
	out.Domains = append(out.Domains, move.Domains...)
	for _, key := range gang.Members {
		out.classes[key] = move.Classes
	}
	return out
}

// as returns the class as which the pods become pending; nil for their own class.
func (w *GangWay) as() func(pod *corev1.Pod, class int32) int32 {
	if w == nil {
		return nil
	}
	return func(pod *corev1.Pod, class int32) int32 {
		if to, ok := w.classes[planning.KeyOf(pod)][class]; ok {
			return to
		}
		return class
	}
}

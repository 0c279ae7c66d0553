package trial

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/internal/engine/model"
	"github.com/drawknife/drawknife/scheduling/planning"
)

// GangWay is a joint move of running gangs. It contains the target domains of the gangs that require or prefer one domain. A nil GangWay is
// for gangs that may be anywhere, and keeps none of the gangs' preferences.
type GangWay struct {
	// Number is the number of the move among all moves of the same gangs, from 1.
	Number  int
	Domains []planning.GangDomain
	// Kept is the number of preferred domains that the move keeps.
	Kept int
	// classes has, for each gang, the new class of each class of its members.
	classes map[planning.PodKey]map[int32]int32
}

// mostGangWays is the maximum number of joint moves of several gangs, for each number of kept preferences.
const mostGangWays = 16

// WaysOf returns the possible joint moves of the model's gangs, sorted by the number of kept preferences, lowest first. Moves that leave
// gangs in their domains come before other moves. If no gang requires a domain and no preference is kept, the move is nil. If a gang has no
// domain or has pending members, the list is empty.
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
		count := map[int]int{}
		for i := range g.Moves {
			for _, way := range ways {
				if kept := way.kept() + g.Moves[i].Kept; count[kept] < mostGangWays {
					count[kept]++
					next = append(next, way.with(gang, &g.Moves[i], len(next)+1))
				}
			}
		}
		ways = next
	}
	slices.SortStableFunc(ways, func(a, b *GangWay) int { return cmp.Compare(a.kept(), b.kept()) })
	return ways
}

// Wishes returns the largest number of preferred domains that one of the moves keeps and the query allows.
func Wishes(ways []*GangWay, q planning.Query) int {
	if len(ways) == 0 || q.Preferences == planning.PreferencesIgnore {
		return 0
	}
	return ways[len(ways)-1].kept()
}

// Keeping returns the joint moves that keep exactly this number of preferred domains. The list ways must come from WaysOf.
func Keeping(ways []*GangWay, kept int) []*GangWay {
	from := slices.IndexFunc(ways, func(w *GangWay) bool { return w.kept() >= kept })
	if from < 0 {
		return nil
	}
	to := slices.IndexFunc(ways[from:], func(w *GangWay) bool { return w.kept() > kept })
	if to < 0 {
		return ways[from:]
	}
	return ways[from : from+to]
}

// kept returns the number of preferred domains that the move keeps.
func (w *GangWay) kept() int {
	if w == nil {
		return 0
	}
	return w.Kept
}

// gangIn returns the gang of the model with the same name, or nil if the model has no such gang.
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

// The method with returns a joint move that consists of the joint move w and the move of one more gang. w may be nil. The result is nil if
// all these gangs may be anywhere.
func (w *GangWay) with(gang *planning.Gang, move *model.GangMove, number int) *GangWay {
	if w == nil && len(move.Domains) == 0 {
		return nil
	}
	out := &GangWay{Number: number, Kept: w.kept() + move.Kept, classes: map[planning.PodKey]map[int32]int32{}}
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

// The method as returns a function that maps a pod to the class to which the pod belongs when it becomes pending. It returns nil if pods
// keep their own class.
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

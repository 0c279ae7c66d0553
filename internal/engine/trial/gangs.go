package trial

import (
	"slices"

	"github.com/drawknife/drawknife/internal/engine/model"
	"github.com/drawknife/drawknife/internal/engine/state"
	"github.com/drawknife/drawknife/scheduling/planning"
)

// gangQueues has the pods of each class in the order of placement, for the current pending states of gangs.
type gangQueues struct {
	ways []int32
	// byClass has an entry for each class with members of gangs.
	byClass map[int32][]int32
}

// Gangs says which pods of a trial's gangs are pending, and in which order.
type Gangs struct{ *Trial }

// GangsOf returns a Gangs for the trial.
func GangsOf(t *Trial) Gangs { return Gangs{t} }

// QueueOf lists the pods of the class in the order of placement, as indexes in Model.Pods. Members that gangs need come first, then other
// members of placed gangs, then all other pods. It does not list pods of withheld gangs.
func (t Gangs) QueueOf(class int32) []int32 {
	x := t.M.Gangs
	if x == nil {
		return t.M.Classes[class].Pending
	}
	if t.queues == nil || !slices.Equal(t.queues.ways, t.S.Ways) {
		t.queues = &gangQueues{slices.Clone(t.S.Ways), x.Queues(t.M, t.S.Ways)}
	}
	if list, ok := t.queues.byClass[class]; ok {
		return list
	}
	return t.M.Classes[class].Pending
}

// Withheld lists the pods of gangs that have no place, as indexes in Model.Pods.
func (t Gangs) Withheld() []int32 {
	x := t.M.Gangs
	if x == nil {
		return nil
	}
	var out []int32
	for number, way := range t.S.Ways {
		if way == model.GangWithheld {
			out = append(out, x.List[number].Pods...)
		}
	}
	return out
}

// WaitingPods returns how many pods have no place, including pods of gangs.
func (t Gangs) WaitingPods() int { return t.S.Waiting.Pods() + len(t.Withheld()) }

// withhold keeps the pods of all gangs from being placed on their own.
func (t Gangs) withhold() {
	if t.M.Gangs == nil {
		return
	}
	t.S.Queue = t.QueueOf
	for number := range t.S.Ways {
		state.ChoosingOf(&t.S).Choose(int32(number), model.GangWithheld)
	}
	t.S.Log.Commit()
}

// release makes all pods of the given pod's gang pending like other pods, if the gang is withheld. A caller that places a member of a gang
// is responsible for the whole gang.
func (t Gangs) release(key planning.PodKey) {
	if x := t.M.Gangs; x != nil {
		if number, ok := x.ByKey[key]; ok && t.S.Ways[number] == model.GangWithheld {
			state.ChoosingOf(&t.S).Choose(number, model.GangAsPods)
		}
	}
}

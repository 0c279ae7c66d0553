package scheduling

import (
	"context"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/internal/engine/answering"
	"github.com/drawknife/drawknife/internal/engine/placing"
	"github.com/drawknife/drawknife/internal/engine/solving"
	"github.com/drawknife/drawknife/internal/engine/trial"
)

// Trial is a what-if on a Model: nodes can be hidden, their pods placed elsewhere, and all of it undone. Solve is a trial that places
// the waiting pods, and the planners of disruption ask trials what would happen if nodes went. A new trial starts with the snapshot's
// nodes, nothing hidden, and the waiting pods not placed.
//
//	Hide, HideMoving, Close   what is different
//	Place                     where the planner would put what waits
//	Put, PutNew               where the caller would
//	Waiting, Placed, Plan     what comes of it
//	Mark, Rollback, Clone     trying something else
//
// A Trial is not safe for concurrent use; a Model may have any number of them.
type Trial struct{ t *trial.Trial }

// Trial starts a what-if.
func (m *Model) Trial() *Trial {
	return &Trial{trial.New(m.c)}
}

// Mark is a point in a trial to come back to. The zero value is none.
type Mark struct{ mark trial.Mark }

var (
	// ErrStaleMark says that a trial was rolled back beyond the mark since it was set, or that the mark is another trial's.
	ErrStaleMark = trial.ErrStaleMark
	// ErrNoPlace says that pods can't go where they were put.
	ErrNoPlace = placing.ErrNoPlace
)

// Mark returns the present point.
func (t *Trial) Mark() Mark {
	return Mark{t.t.Mark()}
}

// Rollback undoes everything done since the mark, in reverse order. For a mark that is stale it does nothing and returns
// ErrStaleMark: going on as if it had been undone is a mistake of the caller's.
func (t *Trial) Rollback(to Mark) error {
	return t.t.Rollback(to.mark)
}

// Clone returns an independent trial in the same state: the same nodes are hidden and opened, the same pods wait. Both give the same
// answers to the same questions from now on, and may be used side by side. Marks of one are none of the other.
func (t *Trial) Clone() *Trial {
	return &Trial{t.t.Clone()}
}

// Hide takes a node of the snapshot out of the trial, as if it were gone: its pods that can move begin to wait for
// a place. It reports how many those are. A name the snapshot does not have, or a node already hidden, is an
// error and changes nothing.
func (t *Trial) Hide(name string) (pods int, err error) {
	return t.t.Hide(name)
}

// HideMoving is Hide for a node some of whose pods need no other place, since they stay until they end or are never let go:
// only those for which moves says so begin to wait. Pods of DaemonSets and static ones are not asked about.
func (t *Trial) HideMoving(name string, moves func(*corev1.Pod) bool) (pods int, err error) {
	return t.t.HideMoving(name, moves)
}

// Close keeps pods that are placed from now on off a node of the snapshot: what is on it stays. A name the snapshot does
// not have is an error and changes nothing; a node that is closed or hidden already is none.
func (t *Trial) Close(name string) error {
	return t.t.Close(name)
}

// Place finds places for the waiting pods: first on nodes of the snapshot, then on planned ones. A cancelled context
// ends it early with ctx.Err(); what is placed until then stays, and can be rolled back.
func (t *Trial) Place(ctx context.Context, o PlaceOptions) (Outcome, error) {
	return solving.Of(t.t).Place(ctx, o)
}

// Put places pods that wait, of hidden nodes or the snapshot's own, on a node of the snapshot, in their order, by the rules
// that Place goes by. The error wraps ErrNoPlace for a pod that may not go there, and says of a pod that does not wait and of a
// node that the snapshot does not have; pods before it are then placed, so roll back.
func (t *Trial) Put(node string, pods []PodKey) error {
	return placing.Of(t.t).Put(node, pods)
}

// PutNew opens a new node as planned, of its first instance type, and places its pods on it; errors are as for Put.
func (t *Trial) PutNew(n *NewNode) error {
	return placing.Of(t.t).PutNew(n)
}

// Waiting names pods that wait for a place, at most the given number: first the pods of hidden nodes, the last hidden first, then the
// snapshot's own. Of pods of one class those count as placed that were hidden first.
func (t *Trial) Waiting(most int) []PodKey {
	return t.t.Waiting(most)
}

// Plan writes down what the trial has done so far, as Solve would: where the pods go that it has placed, those of hidden
// nodes among them, and why the others have no place. It changes nothing, so that a trial can be explained, rolled back and
// gone on with. A cancelled context ends it early with ctx.Err().
func (t *Trial) Plan(ctx context.Context) (*Plan, error) {
	return answering.On(t.t).Plan(ctx)
}

// Placed is Plan without reasons for pods that have no place and without a lower bound, which take most of its time: for callers that
// try much. Order and names are those of Plan.
func (t *Trial) Placed() *Plan {
	return answering.On(t.t).Placed()
}

package scheduling

import (
	"context"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/internal/engine/answering"
	"github.com/drawknife/drawknife/internal/engine/placing"
	"github.com/drawknife/drawknife/internal/engine/solving"
	"github.com/drawknife/drawknife/internal/engine/trial"
)

// Trial is a what-if on a Model: it can hide nodes and place their pods elsewhere, and all of this can be undone. Solve is a trial that
// places the waiting pods. Disruption planners use trials to find out what would happen if nodes were removed. In a new trial, no node of
// the snapshot is hidden, and the waiting pods are not placed.
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

// Mark is a state of a trial to which Rollback can return. The zero value is no state.
type Mark struct{ mark trial.Mark }

var (
	// ErrStaleMark says that the trial was rolled back beyond the mark after the mark was set, or that the mark belongs to another trial.
	ErrStaleMark = trial.ErrStaleMark
	// ErrNoPlace says that pods can't be placed on the node that Put or PutNew was called for.
	ErrNoPlace = placing.ErrNoPlace
)

// Mark returns a mark for the present state.
func (t *Trial) Mark() Mark {
	return Mark{t.t.Mark()}
}

// Rollback undoes everything done since the mark, in reverse order. For a stale mark it does nothing and returns ErrStaleMark; ignoring
// this error is a mistake of the caller.
func (t *Trial) Rollback(to Mark) error {
	return t.t.Rollback(to.mark)
}

// Clone returns an independent trial in the same state: the same nodes are hidden and planned, and the same pods wait. The same calls have
// the same results on both trials, and the trials may be used in parallel. Marks of one trial are not valid in the other.
func (t *Trial) Clone() *Trial {
	return &Trial{t.t.Clone()}
}

// Hide removes a node of the snapshot from the trial: its pods that can move then wait to be placed. It returns the number of these pods.
// An unknown name or a hidden node is an error, and changes nothing.
func (t *Trial) Hide(name string) (pods int, err error) {
	return t.t.Hide(name)
}

// HideMoving is Hide for a node with pods that need no other node, because they stay until they end or can't be moved. Only the pods for
// which moves returns true then wait to be placed. moves is not called for pods of DaemonSets and static pods.
func (t *Trial) HideMoving(name string, moves func(*corev1.Pod) bool) (pods int, err error) {
	return t.t.HideMoving(name, moves)
}

// Close prevents pods from being placed on a node of the snapshot from now on; pods that are on the node stay there. An unknown name is an
// error and changes nothing. It is not an error if the node is closed or hidden already.
func (t *Trial) Close(name string) error {
	return t.t.Close(name)
}

// Place finds places for the waiting pods: first on nodes of the snapshot, then on planned nodes. If the context is cancelled, it ends
// early with ctx.Err(); pods that are already placed keep their places, and can be rolled back.
func (t *Trial) Place(ctx context.Context, o PlaceOptions) (Outcome, error) {
	return solving.Of(t.t).Place(ctx, o)
}

// Put places waiting pods, of hidden nodes or of the snapshot, on a node of the snapshot, in the order of the list and by the rules of
// Place. The error wraps ErrNoPlace for a pod that can't be placed on the node. A pod that does not wait and an unknown node are also
// errors. The pods before it in the list are then already placed, so roll back.
func (t *Trial) Put(node string, pods []PodKey) error {
	return placing.Of(t.t).Put(node, pods)
}

// PutNew adds a planned node with the first instance type of n and places its pods on it; errors are the same as for Put.
func (t *Trial) PutNew(n *NewNode) error {
	return placing.Of(t.t).PutNew(n)
}

// Waiting returns the names of waiting pods, at most the given number: first the pods of hidden nodes, starting with the last hidden node,
// and then the pods of the snapshot. If only some pods of a class are placed, those that were hidden first count as placed.
func (t *Trial) Waiting(most int) []PodKey {
	return t.t.Waiting(most)
}

// Plan returns the present result of the trial, as Solve would. It contains the places of the pods that the trial has placed, including
// those of hidden nodes, and why the other pods can't be placed. It changes nothing, so the trial can be explained, rolled back and
// continued. A cancelled context ends it early with ctx.Err().
func (t *Trial) Plan(ctx context.Context) (*Plan, error) {
	return answering.On(t.t).Plan(ctx)
}

// Placed is Plan without the reasons of pods that can't be placed and without a lower bound: computing these takes most of Plan's time. Use
// Placed if you try many changes. The result has the same order and names as that of Plan.
func (t *Trial) Placed() *Plan {
	return answering.On(t.t).Placed()
}

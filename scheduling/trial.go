package scheduling

import (
	"context"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/internal/engine/answering"
	"github.com/drawknife/drawknife/internal/engine/launching"
	"github.com/drawknife/drawknife/internal/engine/solving"
	"github.com/drawknife/drawknife/internal/engine/trial"
)

// Trial is a what-if on a Model: nodes can be hidden, their pods placed elsewhere, and all of it undone. It is the
// one engine of the library: Solve is a trial that places the waiting pods, disruption asks a trial what would happen
// if a node went. A new trial starts with the snapshot's nodes, nothing hidden, and the waiting pods not placed.
//
// A Trial is not safe for concurrent use; a Model may have any number of them.
type Trial struct {
	t         *trial.Trial
	launching launching.Launching
	answering answering.Answering
}

// Trial starts a what-if.
func (m *Model) Trial() *Trial {
	t := trial.New(m.c)
	return &Trial{t: t, launching: launching.Launching{Trial: t}, answering: answering.Answering{Trial: t}}
}

// Mark is a point in a trial to come back to. The zero value is none.
type Mark struct{ mark trial.Mark }

// ErrStaleMark says that a trial was rolled back beyond the mark, or committed, since it was set.
var ErrStaleMark = trial.ErrStaleMark

// Mark returns the present point.
func (t *Trial) Mark() Mark {
	return Mark{t.t.Mark()}
}

// Rollback undoes everything done since the mark, in reverse order. For a mark that is stale it does nothing and returns
// ErrStaleMark: going on as if it had been undone is a mistake of the caller's.
func (t *Trial) Rollback(to Mark) error {
	return t.t.Rollback(to.mark)
}

// Commit makes everything done so far permanent: it can't be rolled back any more. Marks taken before are void.
func (t *Trial) Commit() { t.t.Commit() }

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

// Plan writes down what the trial has done so far, as Solve would: where the pods go that it has placed, those of hidden
// nodes among them, and why the others have no place. It changes nothing, so that a trial can be explained, rolled back and
// gone on with. A cancelled context ends it early with ctx.Err().
func (t *Trial) Plan(ctx context.Context) (*Plan, error) {
	return t.answering.Plan(ctx)
}

// Placed writes down where the trial has put pods so far, without reasons for those that have no place and without a
// bound: what a planner that tries much can afford. Order and names are those that Solve would give.
func (t *Trial) Placed() *Plan {
	return t.answering.Placed()
}

// Planned are the new nodes opened since the mark that have pods, in their order: as in Placed, without names and without
// their pods, and with the cheapest types only, at most so many, where their pool asks for no variety; 0 for all. Nodes that
// are alike share lists of types and amounts, also with those that other calls return: don't change them.
func (t *Trial) Planned(since Mark, types int) []NewNode {
	return t.answering.Planned(since.mark, types)
}

// Assigned is where the trial has put pods so far. It is Placed without what the new nodes are, and pods of a class that were
// hidden together are placed together, whatever was placed and taken off before.
func (t *Trial) Assigned() *Assignment {
	return t.t.Assigned()
}

// Waiting names pods that wait for a place, at most so many: those of hidden nodes, the last hidden first, then the snapshot's own.
// Of pods of one class those count as placed that were hidden first.
func (t *Trial) Waiting(most int) []PodKey {
	return t.t.Waiting(most)
}

// Ruled reports whether any pod states a rule about where others are: without one, places taken in one order can be taken in
// any.
func (t *Trial) Ruled() bool {
	return t.t.Ruled()
}

// Expect makes room for so many pods that will be hidden and put somewhere, so that room for them is not found bit by bit.
func (t *Trial) Expect(pods int) {
	t.t.Expect(pods)
}

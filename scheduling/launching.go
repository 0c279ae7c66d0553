package scheduling

import (
	"context"

	"github.com/drawknife/drawknife/internal/engine/launching"
)

// Launch opens one new node for all pods that wait: the cheapest that holds them together, of the pools they would get one
// from first. It reports its price in USD per hour, and false, with nothing changed, if there is none that costs less than
// below; Place knows more ways.
func (t *Trial) Launch(q Query, below float64) (price float64, ok bool) {
	return t.launching.Launch(q, below)
}

// LaunchSome opens new nodes for all pods that wait, one after another: each time the one that holds the most worth for
// its price, for those first that have the fewest kinds of nodes to choose from. In the end each is exchanged for the
// cheapest that would do. It reports the price in USD per hour, and false, with nothing changed, if it would take more
// nodes than most or cost as much as below, or if it meets what it does not know: pools that ask for variety or leave labels
// to be decided. Place knows more ways, and takes much longer.
func (t *Trial) LaunchSome(q Query, w *Worth, most int, below float64) (price float64, ok bool) {
	return t.launching.LaunchSome(q, w.inner(), most, below)
}

// LaunchLeast is LaunchSome for few pods: it does not only open the node that holds the most worth for its price each time,
// but goes back and tries others instead, those first that come next by that, and puts pods first that rules hold apart or
// together too; the cheapest outcome counts, of equals the first. A choice is given up as soon as what it has opened and what
// the pods that still wait are worth come to as much as the cheapest so far, or below, USD per hour. It opens most nodes at most.
// tries bounds those it opens to find out, the ones that it goes back on counted: where pods are put in two orders, the first
// has half as many and the second as many as tries; so what it finds need not be the least there is. price is what the new
// nodes cost together, USD per hour. ok is false, and nothing is opened, when nothing is found.
func (t *Trial) LaunchLeast(q Query, w *Worth, most, tries int, below float64) (price float64, ok bool) {
	return t.launching.LaunchLeast(q, w.inner(), most, tries, below)
}

// Plain reports whether all that pods which wait ask of new nodes is what LaunchSome knows.
func (t *Trial) Plain(q Query) bool {
	return t.launching.Plain(q)
}

// PlaceNew is Place on new nodes of their own: nodes of the snapshot, and nodes planned before, take nothing. It is for
// planners that have found by Move what those take.
func (t *Trial) PlaceNew(ctx context.Context, q Query) (Outcome, error) {
	return t.launching.PlaceNew(ctx, q)
}

// Answers remember which new nodes trials of one model have found for pods that wait, by all that such an answer depends on: how many
// pods of which class, what is left of limits and reservations, and where the members of their rules are. A planner asks the same
// over and over, since different removals leave the same pods. Trials give the same answers with and without: see Trial.Recall. Answers
// are safe for concurrent use.
type Answers struct{ a *launching.Answers }

// inner is what the answers hold; nil for none.
func (a *Answers) inner() *launching.Answers {
	if a == nil {
		return nil
	}
	return a.a
}

// NewAnswers remember what trials of the model are asked with these pod prices and this query; answers to other questions are not
// remembered.
func (m *Model) NewAnswers(w *Worth, q Query) *Answers {
	return &Answers{launching.NewAnswers(m.c, w.inner(), q)}
}

// Len is how many answers are remembered.
func (a *Answers) Len() int {
	return a.a.Len()
}

// Recall has PlaceNew, LaunchSome and LaunchLeast look up answers from now on, and keep what they find. Nil for none; those of another
// model are none.
func (t *Trial) Recall(a *Answers) {
	t.launching.Recall(a.inner())
}

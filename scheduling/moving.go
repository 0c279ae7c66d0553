package scheduling

import (
	"github.com/drawknife/drawknife/internal/engine/placing"
)

// ErrNoPlace says that pods can't go where they were put.
var ErrNoPlace = placing.ErrNoPlace

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

// PutMore places pods on a new node that is open, by its number; errors are as for Put.
func (t *Trial) PutMore(number int, pods []PodKey) error {
	return placing.Of(t.t).PutMore(number, pods)
}

// Scatter places pods that wait, of hidden nodes or the snapshot's own, one by one, in the order given, each on the node that
// then has the largest share of its cores and memory left, of the snapshot's and of those that the trial has opened: as
// kube-scheduler does by default, where a plan would fill nodes up. It returns those that no node takes. It knows no wishes.
// Each pod looks at every node: this is for asking what becomes of a plan, not for planning.
func (t *Trial) Scatter(pods []PodKey) (left []PodKey, err error) {
	return placing.Of(t.t).Scatter(pods)
}

// Fill places waiting pods on new nodes that have room, by the rules of Move, the nodes in the order of their numbers. It
// returns how many pods still wait.
func (t *Trial) Fill(q Query) (left int) {
	return placing.Of(t.t).Fill(q)
}

// Move places waiting pods on nodes of the snapshot, by the same rules as Place but one class after another, the largest
// first, each on the first node of Rank's order that takes it: a query costs the logarithm of the nodes, so that a planner
// can try thousands of removals. Spreads count the domains that pools can reach, as in Place: what Move does not keep,
// provisioning would make up for with a new node. A node on which no wish is given up comes before one where some is. It returns how many
// pods still wait. Without a Rank nothing is placed.
func (t *Trial) Move(q Query) (left int) {
	return placing.Of(t.t).Move(q)
}

// Rank says which nodes of the snapshot Move may use, and in which order: each pod goes to the first that takes it. It
// holds until the next Rank. A name that the snapshot does not have, or one given twice, is an error and changes nothing.
func (t *Trial) Rank(order []string) error {
	return t.t.Rank(order)
}

// TakersAmong returns those of the nodes that could take at least one of the waiting pods, in the order given. Closed
// nodes are included: that is how a planner that keeps pods off nodes which are still coming up finds out that it would
// launch for pods that have a place there. Hidden nodes, and names the snapshot does not have, take none. Nothing is
// placed. most bounds the answer; 0 is no bound.
func (t *Trial) TakersAmong(q Query, nodes []string, most int) []string {
	return placing.Of(t.t).TakersAmong(q, nodes, most)
}

// RoomyAmong returns those of the nodes that have room for at least one pod that waits or could move, rules about other pods
// aside; closed nodes are included. As long as no pod leaves the others, TakersAmong names none of them: a planner that asks
// it thousands of times hands it these alone.
func (t *Trial) RoomyAmong(nodes []string) []string {
	return placing.Of(t.t).RoomyAmong(nodes)
}

// Receivers are the nodes of the snapshot that have received pods since the mark, each once, in the order they first did.
// The mark must be one that could be rolled back to.
func (t *Trial) Receivers(since Mark) []string {
	return t.t.Receivers(since.mark)
}

// NewNodes counts the new nodes opened so far, those without pods among them. They are numbered from 0 on in that order.
func (t *Trial) NewNodes() int {
	return t.t.NewNodes()
}

// Filled are the numbers of the new nodes from the given one on that have pods.
func (t *Trial) Filled(from int) []int {
	return t.t.Filled(from)
}

// Drop takes a new node out of the trial, as if it had never been opened: its pods wait again. It reports how many those are.
// A number that no new node has, or one without pods, is an error and changes nothing.
func (t *Trial) Drop(number int) (pods int, err error) {
	return t.t.Drop(number)
}

// Grown are the numbers of the new nodes that were there at the mark and have received pods since, each once, ascending. The
// mark must be one that could be rolled back to.
func (t *Trial) Grown(since Mark) []int {
	return t.t.Grown(since.mark)
}

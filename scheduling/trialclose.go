package scheduling

import (
	"fmt"
)

// Close keeps pods that are placed from now on off a node of the snapshot: what is on it stays. A name the snapshot does
// not have is an error and changes nothing; a node that is closed or hidden already is none.
func (t *Trial) Close(name string) error {
	i, ok := t.m.c.NodeIndex[name]
	if !ok {
		return fmt.Errorf("closing node %q: the snapshot has none of that name", name)
	}
	t.s.Shut(i)
	return nil
}

// Placed writes down where the trial has put pods so far, without reasons for those that have no place and without a
// bound: what a planner that tries much can afford. Order and names are those that Solve would give.
func (t *Trial) Placed() *Plan {
	out := &Plan{}
	t.writeBindings(out, newPodQueues(t))
	return out
}

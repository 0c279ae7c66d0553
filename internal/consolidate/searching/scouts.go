package searching

import (
	"context"
	"sync"

	"github.com/drawknife/drawknife/disruption/decision"
	"github.com/drawknife/drawknife/internal/consolidate/removing"
)

// scouts try groups ahead of a refining search, in parallel, each on its own copy of the search's trial. Most groups are tried without
// success. The search need not try these groups again. It reads the findings of the scouts in the order in which it would have tried the
// groups. If a scout has no finding about a group, the search tries the group itself. So the number of scouts does not change the plan. A
// nil *scouts has no scouts.
type scouts struct {
	s    *Search
	list []*scout
	// done contains the changes of the search's trial that the scouts must still repeat on their trials.
	done []change
	// batches is the queue of groups for the scouts. It is nil while no scouts run. The function end makes the scouts stop.
	batches chan *batch
	end     context.CancelFunc
	all     sync.WaitGroup
}

// scout tries groups on its own trial. Each time the scout is started, it gets the changes of the search's trial and the search's
// conditions. These determine whether a group can be removed.
type scout struct {
	*removing.Trier
	// lost means that the scout's trial differs from the search's trial, so its findings would be wrong.
	lost bool
}

// batch is a list of groups for the next free scout.
type batch struct {
	list []*ahead
	// done is a channel that the scout closes when it has tried all groups of the batch.
	done chan struct{}
}

// ahead is a group that a scout tries before the search reaches it.
type ahead struct {
	groupToTry
	// rest contains the groups of the series that follow this group.
	rest series
	// in is the batch of the group. The search may read found once in.done is closed. If found is nil, the search must try the group
	// itself.
	in    *batch
	found *finding
}

// finding is the result of a scout's unsuccessful attempt: the block of the group, and the effort of the attempt.
type finding struct {
	why *decision.Block
	removing.Effort
}

// change is a permanent change of a search's trial. If the field order is not nil, it is a new order of nodes. If it is nil, the change is
// a step.
type change struct {
	order []string
	// conditions are the search's conditions when it tried the removal of the step.
	conditions removing.Conditions
	removal    removing.Removal
	// newNodes is the number of new nodes in the search's trial after the change.
	newNodes int
}

const (
	// mostScouts limits the number of scouts, because each needs as much memory as a trial of the whole fleet. More scouts would not make
	// the search much faster, because each step invalidates the findings about later groups.
	mostScouts = 8
	// batchSize is the number of groups that a scout gets at a time. Trying a single group often takes less time than passing it to a
	// scout. batchesEach is the largest number of waiting batches per scout.
	batchSize   = 4
	batchesEach = 2
	// mostChanges is the largest number of changes in scouts.done, which scouts must repeat. After more changes, scouts start with a new
	// copy of the search's trial.
	mostChanges = 64
)

// newScouts makes the scouts of the search, as many as may run in parallel. It returns nil if only one goroutine may run.
func newScouts(s *Search) *scouts {
	if n := min(s.settings.Parallelism, mostScouts); n > 1 {
		return &scouts{s: s, list: make([]*scout, n)}
	}
	return nil
}

// enough returns the largest number of groups that wait in the queue of the scouts.
func (c *scouts) enough() int { return batchSize * batchesEach * len(c.list) }

// sent starts the scouts if they are not working, and returns true. It returns false if the search can't use scouts. This is so if it has
// no scouts, if it has few candidates, or if the trial has numbered new domains (see Trial.Coined).
func (c *scouts) sent(ctx context.Context) bool {
	if c == nil || c.s.Few || c.s.Trial.Coined() {
		return false
	}
	if c.batches != nil {
		return true
	}
	ctx, c.end = context.WithCancel(ctx)
	c.batches = make(chan *batch, c.enough())
	for i, o := range c.list {
		todo := c.done
		if o == nil || o.lost {
			o, todo = &scout{Trier: c.s.Apart()}, nil
			c.list[i] = o
		}
		now, batches := c.s.Conditions, c.batches
		c.all.Go(func() { o.serve(ctx, todo, now, batches) })
	}
	return true
}

// send puts another batch into the queue of the scouts. The lookahead's queue never has more groups than c.enough returns, so the channel
// is never full.
func (c *scouts) send(b *batch) {
	if len(b.list) > 0 {
		c.batches <- b
	}
}

// rest stops the scouts and waits for them. Groups of batches that no scout has begun get no findings.
func (c *scouts) rest() {
	if c == nil || c.batches == nil {
		return
	}
	c.end()
	close(c.batches)
	c.all.Wait()
	c.batches, c.done = nil, nil
}

// note records a change of the search's trial, so that the scouts can repeat it on their trials.
func (c *scouts) note(d change) {
	switch {
	case c == nil || c.list[0] == nil:
		return
	case len(c.done) == mostChanges:
		clear(c.list)
		c.done = nil
		return
	}
	if n := len(c.done); d.order != nil && n > 0 && c.done[n-1].order != nil {
		c.done = c.done[:n-1]
	}
	c.done = append(c.done, d)
}

// serve first repeats the changes of the parameter todo on the scout's trial. Then it tries the groups of batches until the channel is
// closed. The parameter now has the present conditions of the search.
func (o *scout) serve(ctx context.Context, todo []change, now removing.Conditions, batches <-chan *batch) {
	for i := range todo {
		if o.lost = o.lost || !o.follow(&todo[i]); o.lost {
			break
		}
	}
	o.Conditions = now
	for b := range batches {
		for _, a := range b.list {
			if a.found = o.find(ctx, &a.groupToTry); a.found == nil {
				break // this group may become a step, and a step makes findings about later groups invalid
			}
		}
		close(b.done)
	}
}

// follow repeats a change of the search's trial on the scout's trial. It reports whether the scout's trial has the same result as the
// search's trial.
func (o *scout) follow(d *change) bool {
	if d.order != nil {
		return o.Trial.Rank(d.order) == nil
	}
	o.Conditions = d.conditions
	_, _, err := o.Try(context.Background(), d.removal, o.Trial.Mark())
	return err == nil && o.Trial.NewNodes() == d.newNodes
}

// find tries the group, undoes the attempt, and returns the finding that the group failed. It returns nil if the group may become a step,
// or if the result is unknown.
func (o *scout) find(ctx context.Context, t *groupToTry) *finding {
	if o.lost || ctx.Err() != nil {
		return nil
	}
	mark, r := o.Trial.Mark(), removing.Consolidating(t.group, t.where)
	o.Effort = removing.Effort{}
	why, err := o.Admissible(r), error(nil)
	if why == nil {
		_, why, err = o.TryWithin(ctx, r, mark)
	}
	o.lost = o.Trial.Rollback(mark) != nil || o.Trial.Coined()
	if err != nil || o.lost || why == nil {
		return nil
	}
	return &finding{why, o.Effort}
}

package searching

import (
	"context"
	"sync"

	"github.com/drawknife/drawknife/disruption/decision"
	"github.com/drawknife/drawknife/internal/consolidate/removing"
)

// scouts try groups ahead of a refining search, in parallel, each on its own copy of the search's trial. Most groups are tried without
// success and change nothing: the search need not try them again. It reads the findings in the order in which it would have tried, and
// tries promising groups itself, so that plans are the same with any number of scouts. A nil *scouts is empty.
type scouts struct {
	s    *Search
	list []*scout
	// done contains the changes of the search's trial since scouts were last sent.
	done []change
	// batches is open while scouts work; end makes them stop.
	batches chan *batch
	end     context.CancelFunc
	all     sync.WaitGroup
}

// scout tries groups on a separate trial. Everything else that determines the result of a group it gets from the search each time it is
// sent.
type scout struct {
	*removing.Trier
	// lost means that its trial differs from the search's.
	lost bool
}

// batch is a list of groups for the next free scout.
type batch struct {
	list []*ahead
	// done is closed when nothing more will be found.
	done chan struct{}
}

// ahead is a group that a scout tries early.
type ahead struct {
	groupToTry
	// rest contains the groups after it if it fails.
	rest series
	// in is its batch. found may be read once that is done; nil means that the search must try the group itself.
	in    *batch
	found *finding
}

// finding is the reason why a group failed, and the effort of finding it.
type finding struct {
	why *decision.Block
	removing.Effort
}

// change is a lasting change of a search's trial: a step, or, if order isn't nil, a new order of nodes.
type change struct {
	order []string
	// conditions under which the removal was tried that became the step.
	conditions removing.Conditions
	removal    removing.Removal
	// newNodes is the number of new nodes of the trial afterwards.
	newNodes int
}

const (
	// mostScouts limits the memory of scouts, each of which needs as much as the state of the fleet. More scouts would hardly help: each
	// step invalidates what was found for later groups.
	mostScouts = 8
	// batchSize is how many groups a scout gets at a time: many take less time than passing them on. batchesEach is the number of batches
	// per scout.
	batchSize   = 4
	batchesEach = 2
	// mostChanges is how many changes are kept for scouts to repeat; if there are more, scouts start with a copy of the trial.
	mostChanges = 64
)

// newScouts makes the scouts of the search, as many as may run in parallel. It returns nil if that is one.
func newScouts(s *Search) *scouts {
	if n := min(s.settings.Parallelism, mostScouts); n > 1 {
		return &scouts{s: s, list: make([]*scout, n)}
	}
	return nil
}

// enough returns how many groups scouts get ahead.
func (c *scouts) enough() int { return batchSize * batchesEach * len(c.list) }

// sent sends scouts if they are idle, and reports whether there are any.
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

// send gives active scouts another batch. There are never more than enough groups.
func (c *scouts) send(b *batch) {
	if len(b.list) > 0 {
		c.batches <- b
	}
}

// rest stops the scouts. Batches that no scout has begun find nothing.
func (c *scouts) rest() {
	if c == nil || c.batches == nil {
		return
	}
	c.end()
	close(c.batches)
	c.all.Wait()
	c.batches, c.done = nil, nil
}

// note records a change of the trial.
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

// serve makes the scout repeat the changes, and then try batches under the present conditions until there are no more.
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
				break // after a step, the question is a different one
			}
		}
		close(b.done)
	}
}

// follow repeats a change of the search's trial on the scout's, and reports whether the result was the same.
func (o *scout) follow(d *change) bool {
	if d.order != nil {
		return o.Trial.Rank(d.order) == nil
	}
	o.Conditions = d.conditions
	_, _, err := o.Try(context.Background(), d.removal, o.Trial.Mark())
	return err == nil && o.Trial.NewNodes() == d.newNodes
}

// find tries the group and undoes it. It finds nothing if the group may become a step, or if the result is unknown.
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

package searching

import (
	"context"
	"sync"

	"github.com/drawknife/drawknife/disruption/decision"
	"github.com/drawknife/drawknife/internal/consolidate/removing"
)

// scouts try groups ahead of a search that refines, side by side, each on a trial of its own that is as the search's is. Nearly all
// groups come to nothing, which changes nothing: what a scout finds to come to nothing, the search needn't try itself. It takes findings in
// the order in which it would have tried, and tries itself what may become a step, so that plans are the same with any number of
// scouts. A nil *scouts has none.
type scouts struct {
	s    *Search
	list []*scout
	// done is what was done on the search's trial since scouts were sent last.
	done []change
	// batches are open while scouts are sent; end has them give up what they are at.
	batches chan *batch
	end     context.CancelFunc
	all     sync.WaitGroup
}

// scout tries groups on a trial of its own. What else decides what becomes of a group, it has from the search each time that it is sent.
type scout struct {
	*removing.Trier
	// lost says that its trial is not as the search's is.
	lost bool
}

// batch is some groups, one after another, for the next scout that has nothing to do.
type batch struct {
	list []*ahead
	// done is closed once no more is found.
	done chan struct{}
}

// ahead is a group that is tried ahead of its turn.
type ahead struct {
	groupToTry
	// rest are the groups after it, if it comes to nothing.
	rest series
	// in is its batch. found, which may be read once that is done, is nil where the search has to try itself.
	in    *batch
	found *finding
}

// finding is why a group came to nothing, and what it took to find that.
type finding struct {
	why *decision.Block
	removing.Effort
}

// change is what changed a search's trial for good: a step, or where order isn't nil a new order of nodes.
type change struct {
	order []string
	// conditions are those under which the removal was tried that became the step.
	conditions removing.Conditions
	removal    removing.Removal
	// newNodes is how many the trial had afterwards.
	newNodes int
}

const (
	// mostScouts bounds the memory that scouts take, each as much as the state of the fleet. More would hardly find more: each step makes
	// void what was found for groups after it.
	mostScouts = 8
	// batchSize is how many groups a scout is given at a time, since many take less time than passing them on; batchesEach is how many
	// batches there are for each scout.
	batchSize   = 4
	batchesEach = 2
	// mostChanges is how many changes are kept for scouts to repeat; they begin with a copy of the trial where there are more.
	mostChanges = 64
)

// newScouts are those of the search, as many as may work side by side; nil where that is one.
func newScouts(s *Search) *scouts {
	if n := min(s.settings.Parallelism, mostScouts); n > 1 {
		return &scouts{s: s, list: make([]*scout, n)}
	}
	return nil
}

// enough is how many groups scouts are given ahead of their turn.
func (c *scouts) enough() int { return batchSize * batchesEach * len(c.list) }

// sent sends scouts ahead if they are at rest, and reports whether there are any.
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

// send gives scouts that were sent another batch. There are never more than enough groups.
func (c *scouts) send(b *batch) {
	if len(b.list) > 0 {
		c.batches <- b
	}
}

// rest has scouts end what they are at. Batches that nobody has begun find nothing.
func (c *scouts) rest() {
	if c == nil || c.batches == nil {
		return
	}
	c.end()
	close(c.batches)
	c.all.Wait()
	c.batches, c.done = nil, nil
}

// note notes what was done on the trial.
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

// serve has the scout repeat what was done, and then try batches under the conditions of now until there are no more.
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
				break // what comes after a step is another question
			}
		}
		close(b.done)
	}
}

// follow does on the scout's trial what was done on the search's, and reports whether it came to the same.
func (o *scout) follow(d *change) bool {
	if d.order != nil {
		return o.Trial.Rank(d.order) == nil
	}
	o.Conditions = d.conditions
	_, _, err := o.Try(context.Background(), d.removal, o.Trial.Mark())
	return err == nil && o.Trial.NewNodes() == d.newNodes
}

// find tries the group, and undoes it. It finds nothing where that may become a step, or isn't known.
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

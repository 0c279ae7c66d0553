package global

import (
	"context"
	"sync"

	"github.com/drawknife/drawknife/disruption/decision"
)

// scouts try groups ahead of a search that refines, side by side, each on a trial of its own that is as the search's is. Nearly all
// groups are tried in vain, which changes nothing: what a scout finds to be in vain, the search needn't try itself. It takes findings in
// the order in which it would have tried, and tries itself what may become a step, so that plans are the same with any number of
// scouts. A nil *scouts has none.
type scouts struct {
	s    *search
	list []*scout
	// done is what was done on the search's trial since scouts were sent last.
	done []deed
	// errands are open while scouts are sent; end has them give up what they are at.
	errands chan *errand
	end     context.CancelFunc
	all     sync.WaitGroup
}

// scout has a search of its own, of which it uses what decides what becomes of a group.
type scout struct {
	search
	// lost says that its trial is not as the search's is.
	lost bool
}

// errand is some groups, one after another, for the next scout that has nothing to do.
type errand struct {
	list []*ahead
	// done is closed once no more is found.
	done chan struct{}
}

// ahead is a group that is tried ahead of its turn.
type ahead struct {
	groupToTry
	// rest are the groups after it, if it is tried in vain.
	rest series
	// of is its errand. found, which may be read once that is done, is nil where the search has to try itself.
	of    *errand
	found *finding
}

// finding is what became of a group that was tried in vain: see search.attempt.
type finding struct {
	why      *decision.Block
	work     int
	withheld bool
}

// deed is what changed a search's trial for good: a step, or where order isn't nil a new order of nodes.
type deed struct {
	order []string
	// as is the search as it tried the step, which was its group, with places for its pods where it says.
	as     search
	method decision.Method
	group  []*unit
	where  places
	// newNodes is how many the trial had afterwards.
	newNodes int
}

const (
	// mostScouts bounds the memory that scouts take, each as much as the state of the fleet. More would hardly find more: each step makes
	// void what was found for groups after it.
	mostScouts = 8
	// errandSize is how many groups a scout is given at a time, since many take less time than handing them over; errandsEach is how many
	// errands there are for each scout.
	errandSize  = 4
	errandsEach = 2
	// mostDeeds is how many deeds are kept for scouts to do; they begin with a copy of the trial where there are more.
	mostDeeds = 64
)

// newScouts are those of the search, as many as may work side by side; nil where that is one.
func (s *search) newScouts() *scouts {
	if n := min(s.Parallelism, mostScouts); n > 1 {
		return &scouts{s: s, list: make([]*scout, n)}
	}
	return nil
}

// enough is how many groups scouts are given ahead of their turn.
func (c *scouts) enough() int { return errandSize * errandsEach * len(c.list) }

// sent sends scouts ahead if they are at rest, and reports whether there are any.
func (c *scouts) sent(ctx context.Context) bool {
	if c == nil || c.s.few() || c.s.trial.Coined() {
		return false
	}
	if c.errands != nil {
		return true
	}
	ctx, c.end = context.WithCancel(ctx)
	c.errands = make(chan *errand, c.enough())
	for i, o := range c.list {
		todo := c.done
		if o == nil || o.lost {
			o, todo = &scout{search: search{trial: c.s.trial.clone(), pass: c.s.pass.apart()}}, nil
			c.list[i] = o
		}
		o.search = c.s.seenFrom(o.pass, o.trial)
		errands := c.errands
		c.all.Go(func() { o.serve(ctx, todo, errands) })
	}
	return true
}

// send gives scouts that were sent another errand. There are never more than enough groups.
func (c *scouts) send(e *errand) {
	if len(e.list) > 0 {
		c.errands <- e
	}
}

// rest has scouts end what they are at. Errands that nobody has begun find nothing.
func (c *scouts) rest() {
	if c == nil || c.errands == nil {
		return
	}
	c.end()
	close(c.errands)
	c.all.Wait()
	c.errands, c.done = nil, nil
}

// note notes what was done on the trial.
func (c *scouts) note(d deed) {
	switch {
	case c == nil || c.list[0] == nil:
		return
	case len(c.done) == mostDeeds:
		clear(c.list)
		c.done = nil
		return
	}
	if n := len(c.done); d.order != nil && n > 0 && c.done[n-1].order != nil {
		c.done = c.done[:n-1]
	}
	c.done = append(c.done, d)
}

// seenFrom is the search for another trial that is as its own is, to try on and to roll back, by a goroutine of its own.
func (s *search) seenFrom(p *pass, t *whatIf) search {
	out := *s
	out.pass, out.trial, out.scouts, out.found, out.near = p, t, nil, nil, nil
	families := *s.families
	families.roots = nil
	out.families = &families
	return out
}

// serve has the scout do what was done, and then errands until there are no more.
func (o *scout) serve(ctx context.Context, todo []deed, errands <-chan *errand) {
	for i := range todo {
		if o.lost = o.lost || !o.follow(&todo[i]); o.lost {
			break
		}
	}
	for e := range errands {
		for _, a := range e.list {
			if a.found = o.find(ctx, &a.groupToTry); a.found == nil {
				break // what comes after a step is another question
			}
		}
		close(e.done)
	}
}

// follow does on the scout's trial what was done on the search's, and reports whether it came to the same.
func (o *scout) follow(d *deed) bool {
	if d.order != nil {
		return o.trial.Rank(d.order) == nil
	}
	as := d.as
	as.pass, as.trial, as.families, as.scouts = o.pass, o.trial, o.families, nil
	_, _, err := as.try(context.Background(), d.method, d.group, d.where, o.trial.Mark())
	return err == nil && o.trial.NewNodes() == d.newNodes
}

// find tries the group, and undoes it. It finds nothing where that may become a step, or isn't known.
func (o *scout) find(ctx context.Context, t *groupToTry) *finding {
	if o.lost || ctx.Err() != nil {
		return nil
	}
	mark, method := o.trial.Mark(), methodFor(t.group)
	o.work, o.withheld = 0, false
	why, err := o.admissible(method, t.group), error(nil)
	if why == nil {
		_, why, err = o.tryWithin(ctx, method, t.group, t.where, mark)
	}
	o.lost = o.trial.Rollback(mark) != nil || o.trial.Coined()
	if err != nil || o.lost || why == nil {
		return nil
	}
	return &finding{why, o.work, o.withheld}
}

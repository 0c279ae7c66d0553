package scheduling

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/drawknife/drawknife/internal/engine/model"
	"github.com/drawknife/drawknife/internal/engine/nodepool"
	"github.com/drawknife/drawknife/internal/engine/offers"
	"github.com/drawknife/drawknife/internal/engine/resources"
	"github.com/drawknife/drawknife/internal/engine/state"
)

// Placing decides pod by pod and never takes back: a pod may get the one zone that two others would have needed. Where
// that can be why pods wait, and few are planned, placing is tried in all ways there are; of many, once more with those
// first that had to wait. What places more is kept.

const (
	// maxSearchedPods bounds how many pods are placed in all ways, and maxSearchSteps how many placements that may try.
	maxSearchedPods = 12
	maxSearchSteps  = 6000
	// looksPerStep is how many nodes looked at make a step.
	looksPerStep = 64
	// maxRetriedPods bounds how many pods are placed once more in another order.
	maxRetriedPods = 1000
)

// searchFurther looks for a way to place more of the pods of the classes than has been placed since the mark. It returns the
// nodes of the snapshot that were used by then.
func (t *Trial) searchFurther(ctx context.Context, before Mark, classes []int32) (used []int32) {
	left := slices.DeleteFunc(slices.Clone(classes), func(class int32) bool {
		return t.s.Waiting[class] == 0 || t.m.c.Classes[class].Invalid != nil
	})
	if len(left) == 0 || ctx.Err() != nil {
		return nil
	}
	placed := t.s.Record(before.at)
	pods := placed.Pods()
	for _, class := range classes {
		pods += int(t.s.Waiting[class])
	}
	if pods > maxRetriedPods || placed.Pods() == 0 {
		return nil
	}
	t.undo(before)
	s := t.newSearch(classes, left)
	if !s.any(left) {
		t.restore(placed)
		return nil
	}
	s.best, s.bestWay = t.value(placed, s.priorities), placed
	t.placeLeftFirst(ctx, classes, left)
	s.consider(t.s.Record(before.at))
	t.undo(before)
	if pods <= maxSearchedPods && t.options.MinValues != MinValuesBestEffort && slices.Compare(s.best, s.goal) < 0 && t.begin(classes) {
		s.mark = before
		if t.s.Topology != nil {
			t.s.Topology.Binding = !t.roomOnly
		}
		s.step(ctx)
		if t.s.Topology != nil {
			t.s.Topology.Binding = false
		}
		t.undo(before)
	}
	t.restore(s.bestWay)
	if s.improved {
		t.placeLeft(ctx, classes)
	}
	return placed.NodesUsed()
}

// placeLeftFirst places everything again, of each priority first what had to wait.
func (t *Trial) placeLeftFirst(ctx context.Context, classes, left []int32) {
	for _, tier := range t.priorities(classes) {
		waited := slices.DeleteFunc(slices.Clone(tier), func(class int32) bool { return !slices.Contains(left, class) })
		t.placeTogether(ctx, waited)
		t.placeTogether(ctx, tier)
	}
	t.placeTogether(ctx, classes)
}

// search is an exhaustive one, by classes of pods, depth first. It is deterministic and ends after maxSearchSteps.
type search struct {
	t       *Trial
	mark    Mark
	classes []int32
	// hopeful are classes of which a pod has a place when it comes first; the others are not tried.
	hopeful map[int32]bool
	// priorities of the classes, highest first; values count placed pods alike.
	priorities []int32
	goal, best []int
	bestWay    state.Record
	improved   bool
	seen       map[string]bool
	// kinds are the nodes that could be bought, by class.
	kinds     map[int32][]offers.Site
	kindTexts map[kindKey]string
	steps     int
}

// newSearch starts a search among the classes; those that waited are tried first.
func (t *Trial) newSearch(classes, left []int32) *search {
	s := &search{t: t, hopeful: map[int32]bool{}, seen: map[string]bool{}, kinds: map[int32][]offers.Site{}, kindTexts: map[kindKey]string{}}
	s.priorities = t.prioritiesOf(classes)
	for _, tier := range t.priorities(classes) {
		waited := func(class int32) bool { return slices.Contains(left, class) }
		slices.SortStableFunc(tier, func(a, b int32) int { return model.BoolCompare(waited(b), waited(a)) })
		s.classes = append(s.classes, tier...)
	}
	s.goal = make([]int, len(s.priorities))
	t.begin(classes)
	if t.s.Topology != nil {
		t.s.Topology.Binding = !t.roomOnly
		defer func() { t.s.Topology.Binding = false }()
	}
	for _, class := range s.classes {
		if t.m.c.Classes[class].Invalid == nil && (!waitsAmong(left, class) || t.hasPlace(class)) {
			s.hopeful[class] = true
			s.goal[s.tierOf(class)] += int(t.s.Waiting[class])
		}
	}
	return s
}

func waitsAmong(left []int32, class int32) bool { return slices.Contains(left, class) }

// any reports whether one of the classes is hopeful.
func (s *search) any(classes []int32) bool {
	return slices.ContainsFunc(classes, func(class int32) bool { return s.hopeful[class] })
}

// hasPlace reports whether a pod of the class has a place as things stand, or would have if some pod were there that it
// has to follow.
func (t *Trial) hasPlace(class int32) bool {
	if o := t.m.c.Classes[class].Topology; o != nil && t.m.follows(o) {
		return true
	}
	if host, _ := t.findHost(class); host >= 0 {
		return true
	}
	return !t.options.ExistingOnly && (t.findSite(t.cells, class) != nil || t.findVariedSite(t.cells, class) != nil)
}

func (s *search) tierOf(class int32) int {
	return slices.Index(s.priorities, s.t.m.c.Classes[class].Priority)
}

func (s *search) consider(w state.Record) {
	if v := s.t.value(w, s.priorities); slices.Compare(v, s.best) > 0 {
		s.best, s.bestWay, s.improved = v, w, true
	}
}

// step tries each way to place one more pod.
func (s *search) step(ctx context.Context) {
	t := s.t
	if s.steps >= maxSearchSteps || slices.Compare(s.best, s.goal) >= 0 || ctx.Err() != nil {
		return
	}
	text := s.text()
	if s.seen[text] {
		return
	}
	s.seen[text] = true
	s.consider(t.s.Record(s.mark.at))
	for _, class := range s.classes {
		if t.s.Waiting[class] == 0 || !s.hopeful[class] {
			continue
		}
		s.onHosts(ctx, class)
		if !t.options.ExistingOnly {
			s.onNew(ctx, class)
		}
	}
}

// then places one more pod, goes on, and takes it back.
func (s *search) then(ctx context.Context, before Mark) {
	s.steps++
	s.step(ctx)
	s.t.undo(before)
}

// onHosts tries the nodes that are there and those opened so far.
func (s *search) onHosts(ctx context.Context, class int32) {
	t, m := s.t, s.t.m
	c := m.c.Classes[class]
	s.steps += len(m.c.Nodes) / looksPerStep
	for i := range t.s.Usable.Members {
		if resources.Fits(t.s.Volumes.NeedOn(c, int32(i)), t.s.FreeOf(int32(i))) && m.c.Fits.Accepts(m.c.Nodes[i].Group, c.Shape) && t.s.Admits(c, int32(i)) {
			before := t.Mark()
			t.place(state.Binding{Class: class, Host: int32(i), Count: 1, Stage: -1, Tight: t.tightly(class)})
			s.then(ctx, before)
		}
	}
	for i := range t.s.Planned {
		if t.s.Planned[i].Empty() || (!t.couldAdmit(c, int32(i)) && m.c.Pools[t.s.Planned[i].Pool].Limits == nil) {
			continue
		}
		before := t.Mark()
		if t.joins(class, int32(i)) {
			s.then(ctx, before)
		}
	}
}

// joins places a pod of the class on new node i, as it is or as a larger one.
func (t *Trial) joins(class, i int32) bool {
	m := t.m
	c, mc := m.c.Classes[class], &t.s.Planned[i]
	host := int32(len(m.c.Nodes)) + i
	if fitsBeside(t.s.Volumes.NeedOn(c, host), mc.Used, m.c.Pools[mc.Pool].Table.AllocOf(int(mc.Row), m.c.Resources.Len())) && t.s.Admits(c, host) {
		if stage := t.stageOn(c, mc); stage >= 0 && t.keepsVariety(host, c, stage) {
			t.place(state.Binding{Class: class, Host: host, Count: 1, Stage: stage, Tight: t.tightly(class)})
			return true
		}
	}
	load := t.s.LoadOf(host)
	return t.growAny(class, i, load) || t.growUnwished(class, i) || (m.c.Pools[mc.Pool].Limits != nil && c.Topology != nil && len(load) > 0 &&
		slices.ContainsFunc(t.stagesFor(c), func(st int32) bool { return t.moveTo(class, i, st, load) }))
}

// onNew tries a new node of each kind.
func (s *search) onNew(ctx context.Context, class int32) {
	t := s.t
	c := t.m.c.Classes[class]
	waits := t.awaitsReservation(c)
	for i := range s.kindsFor(class) {
		o := &s.kinds[class][i]
		s.steps++
		if !t.couldBuy(c, o, waits) {
			continue
		}
		before := t.Mark()
		host := t.s.Open(state.Node{Pool: o.Pool, Row: o.Row, Slot: o.Slot, Price: o.Price, Labels: t.assigned[o.Stage][o.Pool][o.Assign].Labels})
		t.place(state.Binding{Class: class, Host: host, Count: 1, Stage: o.Stage, Tight: t.tightly(class)})
		s.then(ctx, before)
	}
}

// text says where pods of which class are, the same for nodes in another order.
func (s *search) text() string {
	t := s.t
	loads := map[int32]string{}
	sorted := slices.Clone(t.s.Record(s.mark.at).Bindings)
	slices.SortFunc(sorted, func(a, b state.Binding) int {
		return cmp.Or(cmp.Compare(a.Host, b.Host), cmp.Compare(a.Class, b.Class))
	})
	w := t.s.Record(s.mark.at)
	for _, b := range sorted {
		loads[b.Host] += fmt.Sprint(b.Class, "x", b.Count, " ")
	}
	var parts []string
	for host, load := range loads {
		at := fmt.Sprint("host ", host)
		if host >= w.First {
			mc := &w.Nodes[host-w.First]
			as := nodepool.Assignment{Labels: mc.Labels}
			at = fmt.Sprint("new ", mc.Pool, mc.Labels)
			for _, key := range t.m.c.PinnedKeys {
				at += " " + t.m.c.Pools[mc.Pool].Label(int(mc.Row), int(mc.Slot), &as, key)
			}
		}
		parts = append(parts, at+": "+load)
	}
	slices.Sort(parts)
	return strings.Join(parts, "\n")
}

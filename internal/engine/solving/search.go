package solving

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/drawknife/drawknife/internal/engine/model"
	"github.com/drawknife/drawknife/internal/engine/nodepool"
	"github.com/drawknife/drawknife/internal/engine/offers"
	"github.com/drawknife/drawknife/internal/engine/placing"
	"github.com/drawknife/drawknife/internal/engine/resources"
	"github.com/drawknife/drawknife/internal/engine/state"
	"github.com/drawknife/drawknife/internal/engine/trial"
	"github.com/drawknife/drawknife/scheduling/planning"
)

// Placing decides pod by pod and never backtracks. Therefore a pod may be placed in a zone although two other pods can be placed only in
// that zone. If pods may be pending for this reason and few pods are planned, all ways to place the pods are tried. If many pods are
// planned, they are placed once more, beginning with the pods that had no place. The planner keeps the plan that places more pods.

const (
	// maxSearchedPods is the maximum number of pods for which all ways to place them are tried. maxSearchSteps is the maximum number of
	// steps of this search: placements, new nodes that are tried, and checks of nodes (see looksPerStep).
	maxSearchedPods = 12
	maxSearchSteps  = 6000
	// looksPerStep is the number of checks of a node that count as one step.
	looksPerStep = 64
	// MaxRetriedPods is the maximum number of pods in a plan that are placed again in another order.
	MaxRetriedPods = 1000
)

// searchFurther tries to place more pods of the classes than were placed since the mark. It returns the nodes of the snapshot that were
// used before the search.
func (t Solving) searchFurther(ctx context.Context, before trial.Mark, classes []int32) (used []int32) {
	left := slices.DeleteFunc(slices.Clone(classes), func(class int32) bool {
		return t.S.Waiting[class] == 0 || t.M.Classes[class].Invalid != nil
	})
	if len(left) == 0 || ctx.Err() != nil {
		return nil
	}
	placed := t.S.Record(before.At)
	pods := placed.Pods()
	for _, class := range classes {
		pods += int(t.S.Waiting[class])
	}
	if pods > MaxRetriedPods || placed.Pods() == 0 {
		return nil
	}
	t.Undo(before)
	s := t.newSearch(classes, left)
	if !s.any(left) {
		t.Restore(placed)
		return nil
	}
	s.best, s.bestWay = ImprovingOf(t.Trial).value(placed, s.priorities), placed
	t.placeLeftFirst(ctx, classes, left)
	s.consider(t.S.Record(before.At))
	t.Undo(before)
	if pods <= maxSearchedPods && t.Options.MinValues != planning.MinValuesBestEffort && slices.Compare(s.best, s.goal) < 0 && t.Begin(classes) {
		s.mark = before
		if t.S.Topology != nil {
			t.S.Topology.Binding = !t.RoomOnly
		}
		s.step(ctx)
		if t.S.Topology != nil {
			t.S.Topology.Binding = false
		}
		t.Undo(before)
	}
	t.Restore(s.bestWay)
	if s.improved {
		t.placeLeft(ctx, classes)
	}
	return placed.NodesUsed()
}

// placeLeftFirst places all pods again. Within each priority, pods that had no place come first.
func (t Solving) placeLeftFirst(ctx context.Context, classes, left []int32) {
	for _, tier := range t.priorities(classes) {
		waited := slices.DeleteFunc(slices.Clone(tier), func(class int32) bool { return !slices.Contains(left, class) })
		t.placeTogether(ctx, waited)
		t.placeTogether(ctx, tier)
	}
	t.placeTogether(ctx, classes)
}

// search tries all ways to place the pods on existing and new nodes, depth first. Pods of one class are interchangeable, so it chooses a
// class instead of a pod. It is deterministic and ends after maxSearchSteps.
type search struct {
	t       *trial.Trial
	mark    trial.Mark
	classes []int32
	// hopeful contains the classes whose pods get a place if they are placed before all other pods. The search tries only these classes.
	hopeful map[int32]bool
	// priorities are the priorities of the classes, highest first. goal has, for each priority, the number of pods in hopeful classes. best
	// has, for each priority, the number of pods that the record bestWay places.
	priorities []int32
	goal, best []int
	bestWay    state.Record
	improved   bool
	seen       map[string]bool
	// kinds has, for each class, the result of kindsFor: the nodes that could be bought for its pods.
	kinds     map[int32][]offers.Site
	kindTexts map[kindKey]string
	steps     int
}

// newSearch returns a search over the classes. The search first tries the classes in the list left.
func (t Solving) newSearch(classes, left []int32) *search {
	s := &search{t: t.Trial, hopeful: map[int32]bool{}, seen: map[string]bool{}, kinds: map[int32][]offers.Site{}, kindTexts: map[kindKey]string{}}
	s.priorities = ImprovingOf(t.Trial).prioritiesOf(classes)
	for _, tier := range t.priorities(classes) {
		waited := func(class int32) bool { return slices.Contains(left, class) }
		slices.SortStableFunc(tier, func(a, b int32) int { return model.BoolCompare(waited(b), waited(a)) })
		s.classes = append(s.classes, tier...)
	}
	s.goal = make([]int, len(s.priorities))
	t.Begin(classes)
	if t.S.Topology != nil {
		t.S.Topology.Binding = !t.RoomOnly
		defer func() { t.S.Topology.Binding = false }()
	}
	for _, class := range s.classes {
		if t.M.Classes[class].Invalid == nil && (!waitsAmong(left, class) || t.hasPlace(class)) {
			s.hopeful[class] = true
			s.goal[s.tierOf(class)] += int(t.S.Waiting[class])
		}
	}
	return s
}

func waitsAmong(left []int32, class int32) bool { return slices.Contains(left, class) }

// The method any reports whether at least one of the classes is in the map hopeful.
func (s *search) any(classes []int32) bool {
	return slices.ContainsFunc(classes, func(class int32) bool { return s.hopeful[class] })
}

// hasPlace reports whether a pod of the class has a place now. It also returns true if the pod must follow other pods, because it may have
// a place when these pods are placed.
func (t Solving) hasPlace(class int32) bool {
	if o := t.M.Classes[class].Topology; o != nil && placing.Follows(t.M, o) {
		return true
	}
	if host, _ := placing.Of(t.Trial).FindHost(class); host >= 0 {
		return true
	}
	return !t.Options.ExistingOnly && (placing.SitesOf(t.Trial).FindSite(t.Cells, class) != nil || placing.SitesOf(t.Trial).FindVariedSite(t.Cells, class) != nil)
}

func (s *search) tierOf(class int32) int {
	return slices.Index(s.priorities, s.t.M.Classes[class].Priority)
}

func (s *search) consider(w state.Record) {
	if v := ImprovingOf(s.t).value(w, s.priorities); slices.Compare(v, s.best) > 0 {
		s.best, s.bestWay, s.improved = v, w, true
	}
}

// step tries, for one more pod, every node on which the pod could run.
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
	s.consider(t.S.Record(s.mark.At))
	for _, class := range s.classes {
		if t.S.Waiting[class] == 0 || !s.hopeful[class] {
			continue
		}
		s.onHosts(ctx, class)
		if !t.Options.ExistingOnly {
			s.onNew(ctx, class)
		}
	}
}

// The method named then is called when one more pod was placed: it continues the search, and at the end it undoes the placement.
func (s *search) then(ctx context.Context, before trial.Mark) {
	s.steps++
	s.step(ctx)
	s.t.Undo(before)
}

// onHosts tries to place a pod of the class on existing nodes and on the new nodes opened so far.
func (s *search) onHosts(ctx context.Context, class int32) {
	t, m := s.t, s.t.M
	c := m.Classes[class]
	s.steps += len(m.Nodes) / looksPerStep
	for i := range t.S.Room.Usable.Members {
		if resources.Fits(t.S.Volumes.NeedOn(c, int32(i)), t.S.Room.Of(int32(i))) && m.Fits.Accepts(m.Nodes[i].Group, c.Shape) && t.S.Admits(c, int32(i)) {
			before := t.Mark()
			t.Add(state.Binding{Class: class, Host: int32(i), Count: 1, Stage: -1, Tight: placing.SpreadsOf(t).Tightly(class)})
			s.then(ctx, before)
		}
	}
	for i := range t.S.Planned {
		if t.S.Planned[i].Empty() || (!placing.GrowthOf(t).CouldAdmit(c, int32(i)) && m.Pools[t.S.Planned[i].Pool].Limits == nil) {
			continue
		}
		before := t.Mark()
		if Of(t).joins(class, int32(i)) {
			s.then(ctx, before)
		}
	}
}

// joins places a pod of the class on the new node with index i. If necessary, it replaces the node by a larger node.
func (t Solving) joins(class, i int32) bool {
	m := t.M
	c, mc := m.Classes[class], &t.S.Planned[i]
	host := int32(len(m.Nodes)) + i
	if placing.FitsWith(t.S.Volumes.NeedOn(c, host), mc.Used, m.Pools[mc.Pool].Table.AllocOf(int(mc.Row), m.Resources.Len())) && t.S.Admits(c, host) {
		if stage := placing.Of(t.Trial).StageOn(c, mc); stage >= 0 && placing.GrowthOf(t.Trial).KeepsVariety(host, c, stage) {
			t.Add(state.Binding{Class: class, Host: host, Count: 1, Stage: stage, Tight: placing.SpreadsOf(t.Trial).Tightly(class)})
			return true
		}
	}
	load := t.S.Placed.Load(host)
	return placing.GrowthOf(t.Trial).GrowAny(class, i, load) || placing.GrowthOf(t.Trial).GrowUnwished(class, i) || (m.Pools[mc.Pool].Limits != nil && c.Topology != nil && len(load) > 0 &&
		slices.ContainsFunc(t.StagesFor(c), func(st int32) bool { return placing.GrowthOf(t.Trial).MoveTo(class, i, st, load) }))
}

// onNew tries to place a pod of the class on a new node of each kind.
func (s *search) onNew(ctx context.Context, class int32) {
	t := s.t
	c := t.M.Classes[class]
	waits := t.AwaitsReservation(c)
	for i := range s.kindsFor(class) {
		o := &s.kinds[class][i]
		s.steps++
		if !placing.SitesOf(t).CouldBuy(c, o, waits) {
			continue
		}
		before := t.Mark()
		host := t.S.Open(state.Node{Pool: o.Pool, Row: o.Row, Slot: o.Slot, Price: o.Price, Labels: t.Assignments[o.Stage][o.Pool][o.Assign].Labels})
		t.Add(state.Binding{Class: class, Host: host, Count: 1, Stage: o.Stage, Tight: placing.SpreadsOf(t).Tightly(class)})
		s.then(ctx, before)
	}
}

// text describes how many pods of each class are on which nodes. It does not depend on the order of nodes.
func (s *search) text() string {
	t := s.t
	loads := map[int32]string{}
	sorted := slices.Clone(t.S.Record(s.mark.At).Bindings)
	slices.SortFunc(sorted, func(a, b state.Binding) int {
		return cmp.Or(cmp.Compare(a.Host, b.Host), cmp.Compare(a.Class, b.Class))
	})
	w := t.S.Record(s.mark.At)
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
			for _, key := range t.M.PinnedKeys {
				at += " " + t.M.Pools[mc.Pool].Label(int(mc.Row), int(mc.Slot), &as, key)
			}
		}
		parts = append(parts, at+": "+load)
	}
	slices.Sort(parts)
	return strings.Join(parts, "\n")
}

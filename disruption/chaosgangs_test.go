package disruption_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"pgregory.net/rapid"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/disruption"
	"github.com/drawknife/drawknife/internal/seeded"
	"github.com/drawknife/drawknife/scheduling"
	"github.com/drawknife/drawknife/scheduling/planning"
	podrules "github.com/drawknife/drawknife/scheduling/pods"
)

// Bounds that hold for gangs, whatever goes wrong.
const (
	// chaosPaid is for how long a node may be paid for that a command launched and that nobody uses yet: until the last of the command's nodes is
	// given up, and what a new process takes to notice.
	chaosPaid = chaosGivenUp + 2*time.Minute
	// chaosHalfWay is for how long some nodes of a gang may be deleted by a command while others of it are not: writes meet conflicts and
	// processes die, but the next one goes on.
	chaosHalfWay = 5 * time.Minute
)

// chaosGangs is what is known of the gangs of a cluster.
type chaosGangs struct {
	// leaving are the commands of which the first member was deleted, with what is known of them. moved counts the gangs that they moved.
	leaving map[string]*leavingGang
	moved   int
	// short are the commands of which a node was out of stock; ordered are the nodes that commands launched.
	short, ordered map[string]bool
	// idle is since when a new node has been paid for without a pod.
	idle map[string]time.Time
}

// leavingGang is a command that deletes nodes with gangs.
type leavingGang struct {
	since time.Time
	nodes []string
}

// addMember makes the pod a member of the gang of that number; 0 is none.
func (s *chaos) addMember(number int, member *corev1.Pod) {
	if number == 0 {
		return
	}
	for len(s.snapshot.Gangs) < number {
		s.snapshot.Gangs = append(s.snapshot.Gangs, gangOf(fmt.Sprintf("gang-%d", len(s.snapshot.Gangs)+1)))
	}
	gang := &s.snapshot.Gangs[number-1]
	gang.Members = append(gang.Members, planning.KeyOf(member))
}

// gangNodes are the nodes that members of the gang run on.
func (s *chaos) gangNodes(gang *scheduling.Gang) (out []string) {
	for i := range s.snapshot.Nodes {
		n := &s.snapshot.Nodes[i]
		if slices.ContainsFunc(n.Pods, func(p *corev1.Pod) bool {
			return podrules.Active(p) && slices.Contains(gang.Members, planning.KeyOf(p))
		}) {
			out = append(out, n.Name)
		}
	}
	return out
}

// leaves checks what holds when a command deletes a node: all nodes of each gang on it go with the same command, and all of the new nodes
// are up. What the cloud takes away asks nobody.
func (s *chaos) leaves(cmd *disruption.Command, node string) {
	if s.leaving == nil {
		s.leaving = map[string]*leavingGang{}
	}
	if s.leaving[cmd.ID] != nil {
		return // it was checked with the first of the nodes
	}
	for g := range s.snapshot.Gangs {
		gang := &s.snapshot.Gangs[g]
		on := s.gangNodes(gang)
		if !slices.Contains(on, node) {
			continue
		}
		for _, other := range on {
			if !s.forced[other] && !slices.Contains(cmd.Nodes(), other) {
				s.fault("%s: %s is deleted by %s, and gang %s also runs on %s, which stays", s.now, node, cmd, gang.Key(), other)
			}
		}
		if len(on) > 1 {
			s.moved++
		}
		s.leaving[cmd.ID] = &leavingGang{s.now, cmd.Nodes()}
	}
	if s.leaving[cmd.ID] == nil {
		return
	}
	for i := range s.snapshot.Nodes {
		n := &s.snapshot.Nodes[i]
		r, _ := disruption.RecordOf(n.Claim)
		if r != nil && r.ID == cmd.ID && r.Role != disruption.RoleMember && !s.forced[n.Name] && !n.Claim.Conditions().IsTrue(v1.ConditionInitialized) {
			s.fault("%s: %s is deleted by %s before %s is up", s.now, node, cmd, n.Name)
		}
	}
}

// together checks that commands that have begun to delete the nodes of gangs delete all of them within the bound.
func (s *chaos) together() {
	for _, id := range slices.Sorted(maps.Keys(s.leaving)) {
		of := s.leaving[id]
		if s.now.Sub(of.since) < chaosHalfWay {
			continue
		}
		for _, name := range of.nodes {
			if n := s.nodeNamed(name); n != nil && n.Claim.DeletionTimestamp == nil {
				s.fault("%s: command %s began to delete nodes of a gang at %s, and %s is still there", s.now, id, of.since, name)
			}
		}
	}
}

// outOfStock notes that a node of a command can't be launched.
func (s *chaos) outOfStock(n *scheduling.Node) {
	if r, _ := disruption.RecordOf(n.Claim); r != nil && r.Role != disruption.RoleMember {
		s.short = noted(s.short, r.ID)
	}
}

// nothing counts the commands whose launches came to nothing: a node was out of stock, and no member was deleted.
func (s *chaos) nothing() (n int) {
	for id := range s.short {
		if s.leaving[id] == nil {
			n++
		}
	}
	return n
}

func noted(set map[string]bool, key string) map[string]bool {
	if set == nil {
		set = map[string]bool{}
	}
	set[key] = true
	return set
}

// earns checks that no new node of a command is paid for beyond the bound while it has no pod and the command's members stay, also if the
// command has been given up and its record is gone.
func (s *chaos) earns(n *scheduling.Node, r *disruption.Record) {
	if s.idle == nil {
		s.idle = map[string]time.Time{}
	}
	ours := r == nil && s.ordered[n.Name] || r != nil && r.Role != disruption.RoleMember && s.leaving[r.ID] == nil
	waits := ours && n.Claim.Status.ProviderID != "" && n.Claim.DeletionTimestamp == nil && len(n.Pods) == 0
	since, known := s.idle[n.Name]
	switch {
	case !waits:
		delete(s.idle, n.Name)
	case !known:
		s.idle[n.Name] = s.now
	case s.now.Sub(since) > chaosPaid && len(s.snapshot.Gangs) > 0:
		s.fault("%s: %s has been paid for since %s for nothing; record %+v", s.now, n.Name, since, r)
	}
}

// drawnGangChaos is a cluster with one or two gangs that are worth moving, or that have to be because a node of theirs has drifted, and everything
// that may go wrong with that.
func drawnGangChaos(rt *rapid.T) *chaosCase {
	c := &chaosCase{
		stockOut: rapid.SampledFrom([]int{1, 2, 3}).Draw(rt, "out of stock"), dud: rapid.SampledFrom([]int{0, 0, 2, 3}).Draw(rt, "never up"),
		lost: rapid.SampledFrom([]int{0, 0, 2, 3}).Draw(rt, "lost"), conflict: rapid.SampledFrom([]int{0, 0, 3, 5}).Draw(rt, "conflict"),
		refused: rapid.SampledFrom([]int{0, 0, 2}).Draw(rt, "refused"), pdb: rapid.IntRange(0, 2).Draw(rt, "pdb"),
		late: rapid.Bool().Draw(rt, "late"), interrupted: -1, at: rapid.IntRange(0, 10).Draw(rt, "at"),
	}
	if rapid.IntRange(0, 4).Draw(rt, "is interrupted") == 0 {
		c.interrupted = rapid.IntRange(0, 2).Draw(rt, "interrupted")
	}
	for gang := range rapid.IntRange(1, 2).Draw(rt, "gangs") {
		drifts := rapid.IntRange(0, 2).Draw(rt, "drifts")
		for i := range rapid.IntRange(2, 3).Draw(rt, "gang nodes") {
			n := chaosNode{cores: rapid.SampledFrom([]int{4, 8, 8, 16}).Draw(rt, "cores"), drifted: i == drifts}
			for range rapid.IntRange(1, 2).Draw(rt, "members") {
				n.pods = append(n.pods, chaosPod{rapid.SampledFrom([]int{500, 1000, 1500}).Draw(rt, "cpu"), rapid.IntRange(0, 3).Draw(rt, "x") == 0, gang + 1})
			}
			c.nodes = append(c.nodes, n)
		}
	}
	for range rapid.IntRange(0, 2).Draw(rt, "others") {
		n := chaosNode{cores: rapid.SampledFrom([]int{4, 8}).Draw(rt, "cores")}
		for range rapid.IntRange(0, 2).Draw(rt, "pods") {
			n.pods = append(n.pods, chaosPod{milli: rapid.SampledFrom([]int{500, 1500}).Draw(rt, "cpu")})
		}
		c.nodes = append(c.nodes, n)
	}
	return c
}

// Whatever goes wrong while a gang moves, at each launch and each effect: a command deletes all nodes of a gang or none, not before its new
// nodes are up; once it has begun it ends; no new node is paid for beyond the bound for a command that does not come about; and in the end every
// member has a place.
func TestGangsMoveWholeWhateverDies(t *testing.T) {
	for name, planner := range map[string]disruption.Planner{
		"Global": &disruption.Global{PayBack: new(time.Duration), MinSavingShare: new(float64)}, "Reference": &disruption.Reference{},
	} {
		t.Run(name, func(t *testing.T) {
			deaths, moved := 0, 0
			seeded.Times(t, 2, func(rt *rapid.T) {
				c := drawnGangChaos(rt)
				all, alone := c.run(t, planner, nil, func(format string, args ...any) { rt.Fatalf("one process: "+format, args...) })
				moved += alone.moved
				die := func(lives ...int) {
					deaths += len(lives)
					c.run(t, planner, lives, func(format string, args ...any) {
						rt.Fatalf("dead after %v effects: "+format, append([]any{lives}, args...)...)
					})
				}
				for i := 0; i < all; i += max(1, all/25) { // clusters with much trouble have hundreds of effects
					die(i + 1)
				}
				for range 2 {
					die(rapid.IntRange(1, max(1, all)).Draw(rt, "life"), rapid.IntRange(1, max(1, all)).Draw(rt, "life"), rapid.IntRange(1, max(1, all)).Draw(rt, "life"))
				}
			})
			t.Logf("%d deaths, %d gangs moved by one process each", deaths, moved)
			if !testing.Short() && (deaths == 0 || moved == 0) { // with -short there may be no draw
				t.Error("the draws are of no use")
			}
		})
	}
}

// A gang that fills its nodes moves to new ones alone. Where some of these are out of stock, launches come to nothing at first: the gang stays
// whole where it is, what was launched for it is given back within the bound, and in the end it moves, whenever processes die.
func TestGangsStayWholeWhenLaunchesComeToNothing(t *testing.T) {
	for name, planner := range map[string]disruption.Planner{
		"Global": &disruption.Global{PayBack: new(time.Duration), MinSavingShare: new(float64)}, "Reference": &disruption.Reference{},
	} {
		t.Run(name, func(t *testing.T) {
			for _, every := range []int{1, 2, 3} {
				c := &chaosCase{stockOut: every, interrupted: -1}
				for i := range 3 {
					c.nodes = append(c.nodes, chaosNode{cores: 4, drifted: i == 1, pods: []chaosPod{{milli: 3500, gang: 1}}})
				}
				fault := func(format string, args ...any) {
					t.Helper()
					t.Fatalf("every %d-th is out of stock: "+format, append([]any{every}, args...)...)
				}
				all, alone := c.run(t, planner, nil, fault)
				if alone.nothing() == 0 || alone.moved == 0 {
					t.Errorf("every %d-th is out of stock: launches of %d commands came to nothing, and the gang moved %d times", every, alone.nothing(), alone.moved)
				}
				for i := 0; i < all; i += max(1, all/10) {
					c.run(t, planner, []int{i + 1}, func(format string, args ...any) {
						fault("dead after %d effects: "+format, append([]any{i + 1}, args...)...)
					})
				}
			}
		})
	}
}

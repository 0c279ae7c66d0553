package disruption_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/disruption"
	"github.com/drawknife/drawknife/internal/seeded"
	"github.com/drawknife/drawknife/scheduling"
	"github.com/drawknife/drawknife/scheduling/cluster"
	schedulingpods "github.com/drawknife/drawknife/scheduling/pods"
)

// process plans and carries out in a cluster until it dies; what it knows dies with it.
type process struct {
	*chaos
	t       *testing.T
	planner disruption.Planner
	queue   disruption.Queue
	history disruption.History
	// refusals are what it could not do.
	refusals disruption.Refusals
	marks    map[string]bool
	runs     map[string]*chaosRun
	// rests is what the cluster looked like when there was last nothing to do.
	rests string
	// effects that it has had, and how many it may have; it dies after the last. Negative: any number.
	effects, life int
}

// chaosRun is a command of the process, with what its execution is told.
type chaosRun struct {
	claims   []string
	refused  []error
	held     []*disruption.HeldBack
	tainting map[string]error
	noting   error
}

func newChaosRun(replacements int) *chaosRun {
	return &chaosRun{
		claims: make([]string, replacements), refused: make([]error, replacements), held: make([]*disruption.HeldBack, replacements), tainting: map[string]error{},
	}
}

// begin is a process that has just begun: it finds what those before it left.
func (s *chaos) begin(t *testing.T, planner disruption.Planner, life int) *process {
	p := &process{chaos: s, t: t, planner: planner, marks: map[string]bool{}, runs: map[string]*chaosRun{}, life: life}
	found := disruption.Recover(p.view())
	for _, c := range found.Commands {
		if err := p.queue.Adopt(c.Execution); err != nil {
			s.fault("%v", err)
		}
		run := newChaosRun(len(c.Replacements))
		for i, claim := range c.Replacements {
			if claim != nil {
				run.claims[i] = claim.Name
			}
		}
		p.runs[c.Execution.Command().ID] = run
	}
	p.history = found.History.Within(chaosRate, s.now)
	for _, e := range found.Effects {
		if p.dead() {
			break
		}
		p.do(nil, nil, e)
	}
	return p
}

func (p *process) dead() bool { return p.life >= 0 && p.effects >= p.life }

// view is the cluster as the process sees it.
func (p *process) view() *cluster.View {
	live := *p.snapshot
	live.Nodes, live.Pods = slices.Clone(live.Nodes), slices.Clone(p.pending)
	for i := range live.Nodes {
		live.Nodes[i].Leaving = p.marks[live.Nodes[i].Name] || live.Nodes[i].Claim.DeletionTimestamp != nil
	}
	view := disruption.ViewOf(&live)
	for i := range live.Nodes {
		view.Nodes[i].Marked = p.marks[live.Nodes[i].Name]
		if n := &live.Nodes[i]; n.Leaving {
			for _, pod := range n.Pods {
				live.Pods = append(live.Pods, schedulingpods.Unbound(pod))
			}
			n.Pods = nil
		}
	}
	return view
}

func (p *process) fleet(but *disruption.Command) *disruption.Fleet {
	in := p.input
	in.View, in.History, in.Executing, in.Refusals = p.view(), p.history, map[string]string{}, &p.refusals
	for node, id := range p.queue.Executing() {
		if but == nil || id != but.ID {
			in.Executing[node] = id
		}
	}
	f, err := disruption.Survey(in)
	if err != nil {
		p.t.Fatal(err)
	}
	return f
}

// looks is what the cluster looks like to somebody who asks whether planning again is of any use.
func (p *process) looks() string {
	out := ""
	for i := range p.snapshot.Nodes {
		n := &p.snapshot.Nodes[i]
		out += fmt.Sprint(n.Name, len(n.Pods), n.Object != nil && v1.DisruptionMarked(n.Object), n.Claim.DeletionTimestamp != nil, n.Claim.Conditions().IsTrue(v1.ConditionInitialized), p.leavesAlone(n), " ")
	}
	return out + fmt.Sprint(len(p.pending), len(p.queue.Executions()), len(p.back))
}

// leavesAlone reports whether what the node's last command met keeps it.
func (p *process) leavesAlone(n *scheduling.Node) bool {
	return p.refusals.Blocks(n.Claim.UID, disruption.ReasonEmpty, p.now) != nil
}

// work does what there is to do now, until it is done or the process dies.
func (p *process) work() {
	if p.provision(); !p.unsettled() && p.rests != p.looks() {
		p.plan()
	}
	for _, e := range p.queue.Executions() {
		for range 8 {
			if p.dead() {
				return
			}
			if !p.step(e) {
				break
			}
		}
	}
}

func (p *process) unsettled() bool {
	return slices.ContainsFunc(p.queue.Executions(), func(e *disruption.Execution) bool { return e.State().Unsettled() })
}

// provision orders nodes for pods that wait and have no place, neither on nodes nor on nodes that are coming.
func (p *process) provision() {
	view := p.view()
	if len(view.Snapshot.Pods) == 0 {
		return
	}
	model, err := scheduling.Compile(view.Snapshot)
	if err != nil {
		p.t.Fatal(err)
	}
	plan, err := model.Solve(p.t.Context(), scheduling.Query{})
	if err != nil {
		p.t.Fatal(err)
	}
	for _, n := range plan.NewNodes {
		o := n.InstanceTypes[0]
		p.create(fmt.Sprintf("provisioned/%d", len(p.born)), o.Name, o.CapacityType, "", n.Pool)
	}
}

func (p *process) plan() {
	looks := p.looks()
	if effects := disruption.CleanUp(p.view(), p.queue.Executing()); len(effects) > 0 {
		for _, e := range effects {
			if p.do(nil, nil, e); p.dead() {
				return
			}
		}
		p.rests = ""
		return // what met a conflict is tried again
	}
	plan, err := p.planner.Plan(p.t.Context(), p.fleet(nil))
	if err != nil {
		p.t.Fatal(err)
	}
	for i, cmd := range plan.Commands {
		if len(plan.Waves) > 0 && !slices.Contains(plan.Waves[0].Commands, cmd.ID) {
			continue // the next plan has it
		}
		if _, err := p.queue.Add(plan.Commands[i]); err != nil {
			p.fault("%v", err)
		}
		p.runs[cmd.ID] = newChaosRun(len(cmd.Replacements))
	}
	if len(plan.Commands) == 0 {
		p.rests = looks
	}
}

// step takes an execution a step further; false if nothing came of it.
func (p *process) step(e *disruption.Execution) bool {
	cmd := e.Command()
	run := p.runs[cmd.ID]
	o := disruption.Observed{Members: map[string]disruption.MemberState{}, Executing: len(p.queue.Executing()), NoteErr: run.noting}
	for i := range cmd.Members {
		if n := p.nodeNamed(cmd.Members[i].Node); n != nil {
			o.Members[n.Name] = disruption.MemberState{Node: n.Object, Claim: n.Claim, Marked: p.marks[n.Name], Err: run.tainting[n.Name]}
		}
	}
	clear(run.tainting)
	for i, name := range run.claims {
		r := disruption.ReplacementState{Claim: name, Stored: p.claim(name), Err: run.refused[i], HeldBack: run.held[i]}
		if r.Known = r.Stored != nil; r.Known {
			r.Pods = len(p.nodeNamed(name[len("claim-"):]).Pods) > 0
			if p.c.late && !p.born[name[len("claim-"):]].Before(p.now) {
				r.Stored = nil // no watch shows it yet
			}
		}
		o.Replacements = append(o.Replacements, r)
	}
	if e.State() == disruption.StateValidating {
		valid, err := p.planner.Validate(p.t.Context(), p.fleet(cmd), cmd)
		var rejected *disruption.RejectedError
		if err != nil && !errors.As(err, &rejected) {
			p.t.Fatal(err)
		}
		o.Validation = &disruption.Validation{Command: valid, Err: err}
	}
	step := e.Next(o, p.now)
	if run = p.runs[e.Command().ID]; len(run.claims) != len(e.Command().Replacements) {
		*run = *newChaosRun(len(e.Command().Replacements))
	}
	if step.State.Final() && p.refusals.Failed(e.Command(), step.Err, p.now) {
		p.rests = ""
	}
	for _, effect := range step.Effects {
		if p.do(e.Command(), run, effect); p.dead() {
			return false
		}
	}
	return len(step.Effects) > 0 && !step.State.Final()
}

// do has one effect. Every so many-th write meets a conflict, and has none.
func (p *process) do(cmd *disruption.Command, run *chaosRun, effect disruption.Effect) {
	p.effects++
	if err := disruption.Do(p.t.Context(), effect, chaosEffects{process: p, cmd: cmd, run: run}); err != nil {
		p.fault("unexpected effect: %v", err)
	}
}

// denies reports whether the claim refuses to be written to, for half an hour from the beginning on.
func (p *process) denies(claim string) bool {
	var number int
	if _, err := fmt.Sscanf(claim, "claim-n-%d", &number); err != nil || p.c.denied == 0 || number%p.c.denied != 0 || p.now.Sub(now()) > 30*time.Minute {
		return false
	}
	if p.denials++; p.denials > 20*len(p.c.nodes) {
		p.fault("%s: claims were written to %d times in vain in half an hour", p.now, p.denials)
	}
	return true
}

// chaosTicks is how long a cluster may take to come to rest: two hours.
const chaosTicks = 720

// run lets processes live in the cluster until it rests: the first have as many effects as lives says, the last lives on. It returns
// how many effects there were, and the cluster.
func (c *chaosCase) run(t *testing.T, planner disruption.Planner, lives []int, fault func(string, ...any)) (effects int, s *chaos) {
	s = newChaos(c, fault)
	pods := s.countPods()
	life := func() int {
		if len(lives) == 0 {
			return -1
		}
		next := lives[0]
		lives = lives[1:]
		return next
	}
	p := s.begin(t, planner, life())
	away := 0
	for tick := range chaosTicks {
		s.live(tick)
		if p == nil {
			if away--; away > 0 {
				continue
			}
			p = s.begin(t, planner, life())
		}
		if !p.dead() {
			p.work()
		}
		s.look()
		if p.dead() {
			effects += p.effects
			p, away = nil, 3
			continue
		}
		if tick > c.at && p.rests == p.looks() && len(p.queue.Executions()) == 0 && s.settled() && !slices.ContainsFunc(s.snapshot.Nodes, func(n scheduling.Node) bool { return p.leavesAlone(&n) }) {
			effects += p.effects
			s.restsWith(pods)
			return effects, s
		}
	}
	fault("it does not come to rest: %s", p.looks())
	return effects, s
}

func (s *chaos) countPods() int {
	n := len(s.pending)
	for i := range s.snapshot.Nodes {
		n += len(s.snapshot.Nodes[i].Pods)
	}
	return n
}

// settled reports whether nothing comes and nothing goes.
func (s *chaos) settled() bool {
	return len(s.pending) == 0 && !slices.ContainsFunc(s.snapshot.Nodes, func(n scheduling.Node) bool {
		return n.Claim.DeletionTimestamp != nil || !n.Claim.Conditions().IsTrue(v1.ConditionInitialized)
	})
}

// restsWith checks what holds in the end.
func (s *chaos) restsWith(pods int) {
	if n := s.countPods(); n != pods {
		s.fault("%d pods are left of %d", n, pods)
	}
	for i := range s.snapshot.Nodes {
		n := &s.snapshot.Nodes[i]
		if v1.DisruptionMarked(n.Object) || n.Claim.Conditions().IsTrue(v1.ConditionDisruptionReason) {
			s.fault("node %s is marked in the end", n.Name)
		}
		if r, _ := disruption.RecordOf(n.Claim); r != nil {
			s.fault("nodeclaim %s bears the record %s in the end", n.Claim.Name, r)
		}
	}
}

// calm reports whether nothing goes wrong but that processes die: only then one process and several meet the same.
func (c *chaosCase) calm() bool {
	return c.stockOut+c.dud+c.conflict+c.refused+c.heldBack+c.denied == 0 && c.interrupted < 0
}

func drawnChaos(rt *rapid.T) *chaosCase {
	c := &chaosCase{
		budget: rapid.IntRange(0, 3).Draw(rt, "budget"), rate: rapid.SampledFrom([]int{0, 0, 2, 4}).Draw(rt, "rate"), pdb: rapid.IntRange(0, 2).Draw(rt, "pdb"),
		stockOut: rapid.SampledFrom([]int{0, 0, 2, 3}).Draw(rt, "out of stock"), dud: rapid.SampledFrom([]int{0, 0, 2, 3}).Draw(rt, "never up"),
		conflict: rapid.SampledFrom([]int{0, 0, 3, 5}).Draw(rt, "conflict"), interrupted: rapid.IntRange(-4, 3).Draw(rt, "interrupted"), at: rapid.IntRange(0, 20).Draw(rt, "at"),
	}
	for range rapid.IntRange(3, 7).Draw(rt, "nodes") {
		n := chaosNode{cores: rapid.SampledFrom([]int{4, 8, 16, 16}).Draw(rt, "cores"), drifted: rapid.IntRange(0, 4).Draw(rt, "drifted") == 0}
		n.spot = n.cores < 16 && rapid.IntRange(0, 3).Draw(rt, "spot") == 0
		for free, k := n.cores*1000, 0; k < rapid.SampledFrom([]int{0, 2, 3, 4}).Draw(rt, "pods"); k++ {
			p := chaosPod{milli: rapid.SampledFrom([]int{250, 500, 1000, 1500}).Draw(rt, "cpu"), x: rapid.IntRange(0, 2).Draw(rt, "x") == 0}
			if free -= p.milli; free < 0 {
				break
			}
			n.pods = append(n.pods, p)
		}
		c.nodes = append(c.nodes, n)
	}
	c.heldBack, c.denied = rapid.SampledFrom([]int{0, 0, 1, 2}).Draw(rt, "held back"), rapid.SampledFrom([]int{0, 0, 0, 1, 2}).Draw(rt, "denied")
	c.refused, c.late = rapid.SampledFrom([]int{0, 0, 2, 3}).Draw(rt, "refused"), rapid.Bool().Draw(rt, "late")
	return c
}

// DIS-073, DIS-158, DIS-184, DIS-186, DIS-194, DIS-196, DIS-198: whenever the process dies, at each effect in turn and at several by chance, the
// next one brings the cluster to rest: there are no more nodes alongside the old ones than with one process, none comes up for a command that was
// given back, budgets and rates hold, nothing is deleted that is not in the history, every pod has a place, and no taint, record or
// node is left over.
func TestProcessDiesAnywhere(t *testing.T) {
	for name, planner := range map[string]disruption.Planner{
		"Global": &disruption.Global{PayBack: new(time.Duration), MinSavingShare: new(float64)}, "Reference": &disruption.Reference{},
	} {
		t.Run(name, func(t *testing.T) {
			deaths, launches := 0, 0
			seeded.Times(t, seeded.Draws(6, 25), func(rt *rapid.T) {
				c := drawnChaos(rt)
				all, alone := c.run(t, planner, nil, func(format string, args ...any) { rt.Fatalf("one process: "+format, args...) })
				launches += alone.launches
				die := func(lives ...int) {
					deaths += len(lives)
					said := func(format string, args ...any) {
						rt.Fatalf("dead after %v effects: "+format, append([]any{lives}, args...)...)
					}
					_, s := c.run(t, planner, lives, said)
					if one := len(c.nodes) + alone.mostComing; s.most > one && c.calm() {
						said("%d nodes at one time; with one process there were never more than %d besides the %d that go", s.most, alone.mostComing, len(c.nodes))
					}
				}
				for i := range all {
					die(i + 1)
				}
				for range 3 {
					var lives []int
					for range rapid.IntRange(2, 5).Draw(rt, "deaths") {
						lives = append(lives, rapid.IntRange(1, max(1, all)).Draw(rt, "life"))
					}
					die(lives...)
				}
			})
			t.Logf("%d deaths, %d launches with one process each", deaths, launches)
			if deaths == 0 || launches == 0 {
				t.Error("the draws are of no use")
			}
		})
	}
}

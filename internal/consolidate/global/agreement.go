package global

import (
	"context"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/disruption/decision"
	"github.com/drawknife/drawknife/internal/consolidate/money"
	"github.com/drawknife/drawknife/internal/consolidate/reference"
	"github.com/drawknife/drawknife/internal/consolidate/replay"
	"github.com/drawknife/drawknife/internal/consolidate/survey"
	"github.com/drawknife/drawknife/internal/engine/answering"
	"github.com/drawknife/drawknife/internal/engine/trial"
	"github.com/drawknife/drawknife/scheduling/planning"
)

// agreement puts a plan to provisioning's own planner before it is given out: with the nodes of a wave gone and the new ones
// there, has it places for the pods, or does it launch more nodes? Those nodes become part of the command, if it is still worth
// it; else the command is left out.
type agreement struct {
	s *search
	// model is of the fleet with the commands before carried out; asked counts the questions.
	model *reference.SimulatorModel
	asked int
	// replay carries out what is accepted, by the rules that commands are validated by.
	replay *replay.Replay
	// unsettled are commands of which it is not known that no more nodes are needed, by ID.
	unsettled []string
}

// agree checks the plan wave by wave.
func (s *search) agree(ctx context.Context, out *reference.Plan) error {
	if s.Checks == 0 || len(out.Commands) == 0 {
		return nil
	}
	model, err := reference.Settled(ctx, s.fleet, s.Query)
	if err != nil {
		return err
	}
	r, err := replay.New(ctx, s.Reference().Options, s.fleet)
	if err != nil {
		return err
	}
	a := &agreement{s: s, model: model, replay: r}
	byID := make(map[string]*decision.Command, len(out.Commands))
	for _, cmd := range out.Commands {
		byID[cmd.ID] = cmd
	}
	waves := out.Waves
	out.Commands, out.Waves = nil, nil
	for _, wave := range waves {
		list := make([]*decision.Command, len(wave.Commands))
		for i, id := range wave.Commands {
			list[i] = byID[id]
		}
		parts, err := a.settle(ctx, list)
		if err != nil {
			return err
		}
		for _, part := range parts {
			d := newWaveDraft()
			for _, cmd := range part {
				s.add(d, cmd, s.drawsOf(cmd, nil))
			}
			out.Commands, out.Waves = append(out.Commands, part...), append(out.Waves, s.waveOf(d))
		}
	}
	out.Unsettled = a.unsettled
	return nil
}

// settle is the commands as waves that provisioning has places for, and carries them out. What does not go well together goes one
// half after the other.
func (a *agreement) settle(ctx context.Context, list []*decision.Command) ([][]*decision.Command, error) {
	if len(list) == 0 {
		return nil, nil
	}
	if len(list) == 1 {
		cmd, err := a.settleOne(ctx, list[0])
		if err != nil || cmd == nil {
			return nil, err
		}
		return [][]*decision.Command{{cmd}}, nil
	}
	wanted, known, err := a.wanted(ctx, list)
	if err != nil {
		return nil, err
	}
	switch {
	case !known:
		for _, cmd := range list {
			a.unsettled = append(a.unsettled, cmd.ID)
		}
	case wanted != nil:
		first, err := a.settle(ctx, list[:len(list)/2])
		if err != nil {
			return nil, err
		}
		second, err := a.settle(ctx, list[len(list)/2:])
		return append(first, second...), err
	}
	good, err := a.replay.Carried(ctx, list)
	if err != nil {
		return nil, err
	}
	for _, cmd := range list {
		if !slices.ContainsFunc(good, func(c *decision.Command) bool { return c.ID == cmd.ID }) {
			a.leave(cmd, &decision.Block{Code: decision.BlockLater})
		}
	}
	if len(good) == 0 {
		return nil, nil
	}
	return [][]*decision.Command{good}, a.carry(good)
}

// maxExtended is how often a command is extended by what provisioning asks for. One for which it asks for yet more stays, and the
// plan says so.
const maxExtended = 5

// settleOne is the command, with such further nodes as provisioning asks for; nil if it is not worth it then.
func (a *agreement) settleOne(ctx context.Context, cmd *decision.Command) (*decision.Command, error) {
	for round := 0; ; round++ {
		wanted, known, err := a.wanted(ctx, []*decision.Command{cmd})
		if err != nil {
			return nil, err
		}
		if known && wanted != nil && round < maxExtended {
			next, why := a.extended(ctx, cmd, wanted)
			if why != nil {
				a.leave(cmd, why)
				return nil, nil
			}
			cmd = next
			continue
		}
		known = known && wanted == nil
		mark := a.replay.Trial.Mark()
		good, rejected, err := a.replay.Step(ctx, cmd)
		if err != nil {
			return nil, err
		}
		if rejected != nil {
			a.leave(cmd, rejected.Block)
			return nil, nil
		}
		if !known {
			a.unsettled = append(a.unsettled, cmd.ID)
		}
		a.describe(good, mark)
		return good, a.carry([]*decision.Command{good})
	}
}

// describe gives the new nodes the requests of the pods that they have now.
func (a *agreement) describe(cmd *decision.Command, since trial.Mark) {
	bins := a.replay.Planned(since, 1)
	if len(bins) != len(cmd.Replacements) {
		return
	}
	list := slices.Clone(cmd.Replacements)
	for i := range list {
		if list[i].Node == nil {
			return
		}
		node := *list[i].Node
		node.Requests = bins[i].Requests
		list[i].Node = &node
	}
	cmd.Replacements = list
}

// leave keeps the members of a command, and says why.
func (a *agreement) leave(cmd *decision.Command, why *decision.Block) {
	for i := range cmd.Members {
		u := a.s.byName[cmd.Members[i].Node]
		a.s.frail[u], a.s.later[u] = why, true
	}
}

// wanted is what provisioning plans for the pods of the commands if it needs further nodes for them, or has no place for one;
// nil if it needs none. It is not known once too many questions were asked.
func (a *agreement) wanted(ctx context.Context, list []*decision.Command) (plan *planning.Plan, known bool, err error) {
	if !slices.ContainsFunc(list, placesPods) {
		return nil, true, nil
	}
	if a.asked++; a.asked > a.s.Checks {
		return nil, false, nil
	}
	next, moving := a.after(list, false)
	model, err := a.model.Update(next)
	if err != nil {
		return nil, false, fmt.Errorf("asking provisioning about a plan: %w", err)
	}
	if plan, err = answering.Solve(ctx, model, a.s.Query); err != nil {
		return nil, false, err
	}
	for i := range plan.NewNodes {
		if slices.ContainsFunc(plan.NewNodes[i].Pods, func(key planning.PodKey) bool { return moving[key] }) {
			return plan, true, nil
		}
	}
	for i := range plan.Unschedulable {
		if moving[plan.Unschedulable[i].Pod] {
			return plan, true, nil
		}
	}
	return nil, true, nil
}

// placesPods reports whether the command has places for pods.
func placesPods(c *decision.Command) bool {
	return len(c.Receivers) > 0 || slices.ContainsFunc(c.Replacements, func(r decision.Replacement) bool { return r.Node != nil && len(r.Node.Pods) > 0 })
}

// carry makes the commands part of the fleet that the next ones start from.
func (a *agreement) carry(list []*decision.Command) error {
	if a.asked >= a.s.Checks {
		return nil // nobody will ask
	}
	next, _ := a.after(list, true)
	model, err := a.model.Update(next)
	if err != nil {
		return fmt.Errorf("carrying out a plan to check the rest: %w", err)
	}
	a.model = &reference.SimulatorModel{Model: model, Snapshot: next}
	return nil
}

// after is the fleet once the commands' nodes are gone and their new ones there, with the pods that move at the places planned
// for them, or waiting.
func (a *agreement) after(list []*decision.Command, bound bool) (next *planning.Snapshot, moving map[planning.PodKey]bool) {
	members, places := map[string]bool{}, map[planning.PodKey]string{}
	moving = map[planning.PodKey]bool{}
	out := *a.model.Snapshot
	var added []planning.Node
	place := func(node string, pods []planning.PodKey) {
		for _, key := range pods {
			places[key], moving[key] = node, true
		}
	}
	for _, cmd := range list {
		for i := range cmd.Members {
			members[cmd.Members[i].Node] = true
		}
		for i := range cmd.Receivers {
			place(cmd.Receivers[i].Name, cmd.Receivers[i].Pods)
		}
		for i := range cmd.Replacements {
			if n := cmd.Replacements[i].Node; n != nil {
				name := newName(cmd, i)
				place(name, n.Pods)
				added = append(added, a.launched(n, name))
			}
		}
	}
	out.Nodes = make([]planning.Node, 0, len(a.model.Snapshot.Nodes)+len(added))
	out.Pods = slices.Clone(out.Pods)
	received := map[string][]*corev1.Pod{}
	for i := range a.model.Snapshot.Nodes {
		n := &a.model.Snapshot.Nodes[i]
		if !members[n.Name] {
			out.Nodes = append(out.Nodes, *n)
			continue
		}
		for _, pod := range n.Pods {
			key := survey.KeyOf(pod)
			if !moving[key] {
				continue
			}
			moved := *pod
			if bound {
				moved.Spec.NodeName = places[key]
				received[places[key]] = append(received[places[key]], &moved)
				continue
			}
			moved.Spec.NodeName, moved.Status = "", corev1.PodStatus{Phase: corev1.PodPending}
			out.Pods = append(out.Pods, &moved)
		}
	}
	out.Nodes = append(out.Nodes, added...)
	for i := range out.Nodes {
		if more := received[out.Nodes[i].Name]; len(more) > 0 {
			out.Nodes[i].Pods = slices.Concat(out.Nodes[i].Pods, more)
		}
	}
	return &out, moving
}

// launched is the node that comes of a planned one's first type, once it is ready.
func (a *agreement) launched(planned *planning.NewNode, name string) planning.Node {
	o := planned.InstanceTypes[0]
	labels := map[string]string{}
	p := a.s.fleet.Pools[planned.Pool]
	if p != nil {
		maps.Copy(labels, p.Object.Spec.Template.Labels)
	}
	object := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}}
	object.Status.Allocatable, object.Status.Capacity = planned.Allocatable, planned.Allocatable
	snapshot := a.model.Snapshot
	at := slices.IndexFunc(snapshot.NodePools, func(p planning.NodePool) bool { return p.Identity() == planned.Pool })
	if at >= 0 {
		for _, it := range snapshot.Catalogs[snapshot.NodePools[at].Catalog] {
			if it.Name != o.Name {
				continue
			}
			for r := range it.Requirements.All {
				if values := r.Values(); !r.Complement() && len(values) == 1 {
					labels[r.Key()] = values[0]
				}
			}
			if object.Status.Capacity = it.Capacity; planned.Allocatable == nil {
				object.Status.Allocatable = it.Allocatable()
			}
			break
		}
		object.Spec.Taints = snapshot.NodePools[at].Object.Spec.Template.Spec.Taints
	}
	for r := range planned.Requirements.All {
		if values := r.Values(); !r.Complement() && len(values) == 1 {
			labels[r.Key()] = values[0]
		}
	}
	maps.Copy(labels, map[string]string{
		planned.Pool.LabelKey(): planned.Pool.Name, corev1.LabelInstanceTypeStable: o.Name, corev1.LabelTopologyZone: o.Zone,
		v1.CapacityTypeLabelKey: o.CapacityType, corev1.LabelHostname: name, v1.NodeRegisteredLabelKey: "true", v1.NodeInitializedLabelKey: "true",
	})
	return planning.Node{Name: name, Object: object, Pool: planned.Pool}
}

// extended is the command with the further nodes that provisioning plans, for the pods that it puts on them; or why it is not
// worth it then.
func (a *agreement) extended(ctx context.Context, cmd *decision.Command, plan *planning.Plan) (*decision.Command, *decision.Block) {
	own, further := map[planning.PodKey]bool{}, map[planning.PodKey]bool{}
	for i := range cmd.Receivers {
		for _, key := range cmd.Receivers[i].Pods {
			own[key] = true
		}
	}
	for i := range cmd.Replacements {
		for _, key := range cmd.Replacements[i].Node.Pods {
			own[key] = true
		}
	}
	for i := range plan.Unschedulable {
		if key := plan.Unschedulable[i].Pod; own[key] {
			return nil, &decision.Block{Code: decision.BlockUnschedulable, Pods: []planning.PodKey{key}}
		}
	}
	var added []planning.NewNode
	for i := range plan.NewNodes {
		node := plan.NewNodes[i]
		if !slices.ContainsFunc(node.Pods, func(key planning.PodKey) bool { return !own[key] }) {
			added = append(added, node)
			for _, key := range node.Pods {
				further[key] = true
			}
		}
	}
	if len(added) == 0 {
		return nil, &decision.Block{Code: decision.BlockLater}
	}
	stays := func(pods []planning.PodKey) []planning.PodKey {
		return slices.DeleteFunc(slices.Clone(pods), func(key planning.PodKey) bool { return further[key] })
	}
	next := *cmd
	next.Receivers = nil
	for _, e := range cmd.Receivers {
		if e.Pods = stays(e.Pods); len(e.Pods) > 0 {
			next.Receivers = append(next.Receivers, e)
		}
	}
	var bins []planning.NewNode
	for i := range cmd.Replacements {
		node := *cmd.Replacements[i].Node
		if node.Pods = stays(node.Pods); len(node.Pods) == 0 {
			// One node would only take another's place.
			if adopted, why := a.adopted(ctx, cmd, plan, own, added); why == nil {
				return adopted, nil
			}
			continue
		}
		bins = append(bins, node)
	}
	return a.priced(&next, append(bins, added...))
}

// adopted is the command with its pods where provisioning puts them.
func (a *agreement) adopted(ctx context.Context, cmd *decision.Command, plan *planning.Plan, own map[planning.PodKey]bool, added []planning.NewNode) (*decision.Command, *decision.Block) {
	next := *cmd
	next.Receivers, next.Replacements = nil, nil
	put := map[string][]planning.PodKey{}
	for _, e := range plan.Existing {
		if pods := slices.DeleteFunc(slices.Clone(e.Pods), func(key planning.PodKey) bool { return !own[key] }); len(pods) > 0 {
			put[e.Name] = pods
		}
	}
	for i := range cmd.Replacements {
		name := newName(cmd, i)
		if pods := put[name]; len(pods) > 0 {
			node := *cmd.Replacements[i].Node
			node.Pods = pods
			next.Replacements = append(next.Replacements, decision.Replacement{Node: &node, Pool: node.Pool})
		}
		delete(put, name)
	}
	for i := range added {
		next.Replacements = append(next.Replacements, decision.Replacement{Node: &added[i], Pool: added[i].Pool})
	}
	for _, name := range slices.Sorted(maps.Keys(put)) {
		next.Receivers = append(next.Receivers, planning.ExistingNode{Name: name, Pods: put[name]})
	}
	bins, why := a.described(ctx, &next)
	if why != nil {
		return nil, why
	}
	return a.priced(&next, bins)
}

// described are the new nodes with all types that hold their pods and cost no less than those that they were placed on.
func (a *agreement) described(ctx context.Context, cmd *decision.Command) ([]planning.NewNode, *decision.Block) {
	r := a.replay
	mark := r.Trial.Mark()
	good, rejected, err := r.Step(ctx, cmd)
	if err != nil || rejected != nil {
		return nil, &decision.Block{Code: decision.BlockLater}
	}
	bins := r.Planned(mark, 0)
	for i := range cmd.Members {
		r.Pass.Ledger.Return(cmd.Members[i].Node)
	}
	if err := r.Trial.Rollback(mark); err != nil || len(bins) != len(good.Replacements) {
		return nil, &decision.Block{Code: decision.BlockLater}
	}
	for i := range bins {
		was := good.Replacements[i].Node
		at := slices.IndexFunc(bins[i].InstanceTypes, func(o planning.InstanceTypeOption) bool { return o.Name == was.InstanceTypes[0].Name })
		if at < 0 {
			return nil, &decision.Block{Code: decision.BlockLater}
		}
		bins[i].InstanceTypes, bins[i].Pods, bins[i].Allocatable = bins[i].InstanceTypes[at:], was.Pods, was.Allocatable
	}
	cmd.Receivers = good.Receivers
	return bins, nil
}

// newName is what a command's new node is called while provisioning is asked.
func newName(cmd *decision.Command, i int) string { return fmt.Sprintf("~%s-%d", cmd.ID, i) }

// priced is the command with these new nodes, if it is worth it.
func (a *agreement) priced(cmd *decision.Command, bins []planning.NewNode) (*decision.Command, *decision.Block) {
	s := a.s
	st := &step{method: cmd.Method}
	for i := range cmd.Members {
		st.members = append(st.members, s.byName[cmd.Members[i].Node])
	}
	if len(bins) > s.MaxBins && st.method != decision.MethodDrift {
		return nil, &decision.Block{Code: decision.BlockManyNodes, Count: len(bins), Need: s.MaxBins}
	}
	spent := priceOf(st.members)
	bins, why := s.pass.flexible(st.method, st.members, bins, spent, s.mostFor(st.method, st.members, spent), max(typesToList, s.pass.SpotTypes()), false)
	if why != nil {
		return nil, why
	}
	numbers := map[v1.PoolKey]int{}
	cmd.Replacements = nil
	st.bins, st.saving = bins, spent
	for i := range bins {
		numbers[bins[i].Pool]++
		bins[i].Name = fmt.Sprintf("%s-%d", bins[i].Pool, numbers[bins[i].Pool])
		cmd.Replacements = append(cmd.Replacements, decision.Replacement{Node: &bins[i], Pool: bins[i].Pool})
		st.saving -= money.NanoUSD(bins[i].InstanceTypes[0].Price)
	}
	st.value = s.valueOf(st)
	if why := s.pays(s.pass, st); why != nil {
		return nil, why
	}
	cmd.Savings = money.USD(st.saving)
	return cmd, nil
}

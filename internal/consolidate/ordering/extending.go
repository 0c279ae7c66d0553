package ordering

import (
	"context"
	"fmt"
	"maps"
	"slices"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/disruption/decision"
	"github.com/drawknife/drawknife/internal/consolidate/money"
	"github.com/drawknife/drawknife/internal/consolidate/paying"
	"github.com/drawknife/drawknife/scheduling/planning"
)

// extended adds to the command the new nodes of the plan that have only pods of the command. The command then places these pods on the
// added nodes. If the extended command is not possible or not worth it, extended returns the block instead.
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
	var nodes []planning.NewNode
	for i := range cmd.Replacements {
		node := *cmd.Replacements[i].Node
		if node.Pods = stays(node.Pods); len(node.Pods) == 0 {
			// No pod would stay on this new node, because all of its pods go to an added node. The added node would only replace it. So
			// first try to put all pods of the command on the nodes that provisioning chose.
			if adopted, why := a.adopted(ctx, cmd, plan, own, added); why == nil {
				return adopted, nil
			}
			continue
		}
		nodes = append(nodes, node)
	}
	return a.priced(&next, append(nodes, added...))
}

// adopted returns the command with its pods on those nodes on which provisioning would place them. If this changed command is not worth it,
// adopted returns the block instead.
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
	nodes, why := a.described(ctx, &next)
	if why != nil {
		return nil, why
	}
	return a.priced(&next, nodes)
}

// described returns the command's new nodes with all types that hold their pods. The list of types begins with the first type that the node
// was planned with. described puts cmd.Receivers in the order in which the nodes can receive the pods.
func (a *agreement) described(ctx context.Context, cmd *decision.Command) ([]planning.NewNode, *decision.Block) {
	r := a.replay
	mark := r.Trial.Mark()
	good, rejected, err := r.Step(ctx, cmd)
	if err != nil || rejected != nil {
		return nil, &decision.Block{Code: decision.BlockLater}
	}
	nodes := r.Planned(mark, 0)
	for i := range cmd.Members {
		r.Pass.Budgets.Return(cmd.Members[i].Node)
	}
	if err := r.Trial.Rollback(mark); err != nil || len(nodes) != len(good.Replacements) {
		return nil, &decision.Block{Code: decision.BlockLater}
	}
	for i := range nodes {
		was := good.Replacements[i].Node
		at := slices.IndexFunc(nodes[i].InstanceTypes, func(o planning.InstanceTypeOption) bool { return o.Name == was.InstanceTypes[0].Name })
		if at < 0 {
			return nil, &decision.Block{Code: decision.BlockLater}
		}
		nodes[i].InstanceTypes, nodes[i].Pods, nodes[i].Allocatable = nodes[i].InstanceTypes[at:], was.Pods, was.Allocatable
	}
	cmd.Receivers = good.Receivers
	return nodes, nil
}

// priced returns the command with the given planned nodes as its new nodes. If this command is not worth it, priced returns the block
// instead.
func (a *agreement) priced(cmd *decision.Command, planned []planning.NewNode) (*decision.Command, *decision.Block) {
	e := &paying.Exchange{Method: cmd.Method}
	for i := range cmd.Members {
		e.Members = append(e.Members, a.ByName[cmd.Members[i].Node])
	}
	if len(planned) > a.MaxNewNodes && e.Method != decision.MethodDrift {
		return nil, &decision.Block{Code: decision.BlockManyNodes, Count: len(planned), Need: a.MaxNewNodes}
	}
	if why := a.Narrow(a.Types, e, planned, a.Types.ToList(), false); why != nil {
		return nil, why
	}
	numbers := map[v1.PoolKey]int{}
	cmd.Replacements = nil
	for i := range e.NewNodes {
		node := &e.NewNodes[i]
		numbers[node.Pool]++
		node.Name = fmt.Sprintf("%s-%d", node.Pool, numbers[node.Pool])
		cmd.Replacements = append(cmd.Replacements, decision.Replacement{Node: node, Pool: node.Pool})
	}
	if why := a.Weigh(a.Types.Pass, e); why != nil {
		return nil, why
	}
	cmd.Savings = money.USD(e.Saving)
	return cmd, nil
}

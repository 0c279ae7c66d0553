package commands

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/disruption/decision"
	"github.com/drawknife/drawknife/internal/consolidate/allowedtypes"
	"github.com/drawknife/drawknife/internal/consolidate/components"
	"github.com/drawknife/drawknife/internal/consolidate/money"
	"github.com/drawknife/drawknife/internal/consolidate/paying"
	"github.com/drawknife/drawknife/internal/consolidate/reference"
	"github.com/drawknife/drawknife/internal/consolidate/removing"
	"github.com/drawknife/drawknife/internal/consolidate/searchcontext"
	"github.com/drawknife/drawknife/internal/engine/trial"
	"github.com/drawknife/drawknife/scheduling/planning"
)

// Found is the result of a search.
type Found struct {
	*searchcontext.Context
	paying.Terms
	// Trial contains the steps that were accepted since Start, in their order.
	Trial *searchcontext.WhatIf
	Start trial.Mark
	Steps []*removing.Step
	// Types finds the instance types of new nodes.
	Types      *allowedtypes.Finder
	Components *components.Components
	// Parallelism is the largest number of goroutines that write commands at the same time.
	Parallelism int
}

// Write makes commands of the steps. Nodes that share a new node are removed together. Other nodes are removed by separate commands, if
// each command is worth it without the others. Write also returns the nodes that it leaves for the next plan, because removing them alone
// is not worth it. Components are independent of each other, so their commands are written in parallel.
func Write(f *Found) (list []*decision.Command, left []*searchcontext.Candidate) {
	w := newWriter(f)
	parts := w.parts()
	done := make([]written, len(parts))
	var next atomic.Int32
	var all sync.WaitGroup
	for range min(f.Parallelism, 1+len(parts)/componentsApart) {
		all.Go(func() {
			own := w.apart()
			for i := int(next.Add(1)) - 1; i < len(parts); i = int(next.Add(1)) - 1 {
				done[i] = own.write(parts[i])
			}
		})
	}
	all.Wait()
	for i := range done {
		list, left = append(list, done[i].commands...), append(left, done[i].left...)
	}
	return list, left
}

// componentsApart is the number of components for which Write uses one more goroutine.
const componentsApart = 8

// writer makes commands of the search's steps, in the order of the steps.
type writer struct {
	*Found
	// types finds the types that commands may launch.
	types *allowedtypes.Finder
	// members are the removed nodes, in the order in which the search accepted their removal.
	members []*searchcontext.Candidate
	// method has, for each member, the method that found it. receivers has, for each member, the existing nodes that receive its pods. The
	// index of both slices is the member's Number.
	method    []decision.Method
	receivers [][]planning.ExistingNode
	// planned are the new nodes with all types that would hold their pods, at most Finder.ToList types each. openedFor has, for each new
	// node, the first member that it was opened for. The slice from has, for each new node, the members that its pods come from: see
	// cameFrom.
	planned   []planning.NewNode
	openedFor []*searchcontext.Candidate
	from      [][]*searchcontext.Candidate
}

func newWriter(f *Found) *writer {
	n := len(f.Candidates)
	w := &writer{Found: f, types: f.Types, method: make([]decision.Method, n), receivers: make([][]planning.ExistingNode, n)}
	for _, st := range f.Steps {
		for _, c := range searchcontext.Existing(st.Members) {
			w.members = append(w.members, c)
			w.method[c.Number] = st.Method
		}
	}
	assigned := f.Trial.Assigned()
	hidden := make([]*searchcontext.Candidate, len(assigned.Hidden))
	for i, name := range assigned.Hidden {
		hidden[i] = f.ByName[name]
	}
	for i := range assigned.Existing {
		w.receive(&assigned.Existing[i], assigned.ExistingFrom[i], hidden)
	}
	w.planned = f.Trial.Written.Planned(f.Start, f.Types.ToList())
	numbers := map[v1.PoolKey]int{}
	for i, number := range f.Trial.Filled(0) {
		node := &w.planned[i]
		numbers[node.Pool]++
		node.Name, node.Pods = fmt.Sprintf("%s-%d", node.Pool, numbers[node.Pool]), assigned.Planned[number]
		w.openedFor = append(w.openedFor, f.Components.OpenedFor(number))
		w.from = append(w.from, cameFrom(assigned.PlannedFrom[number], hidden))
	}
	return w
}

// cameFrom returns the removed nodes (candidates) on which pods were before, in the order of the pods. For each pod, from[i] is the index
// of its candidate in the list hidden. The index is negative for pending pods, which are left out. If several consecutive pods come from
// the same candidate, it is listed once.
func cameFrom(from []int32, hidden []*searchcontext.Candidate) []*searchcontext.Candidate {
	var out []*searchcontext.Candidate
	for i, k := range from {
		if k >= 0 && (i == 0 || k != from[i-1]) {
			out = append(out, hidden[k])
		}
	}
	return out
}

// receive adds the node and the pods that it receives to w.receivers, for each candidate that the pods come from.
func (w *writer) receive(e *planning.ExistingNode, from []int32, hidden []*searchcontext.Candidate) {
	for i := 0; i < len(from); {
		end := i + 1
		for end < len(from) && from[end] == from[i] {
			end++
		}
		if from[i] >= 0 {
			list, pods := &w.receivers[hidden[from[i]].Number], e.Pods[i:end:end]
			if n := len(*list); n > 0 && (*list)[n-1].Name == e.Name {
				(*list)[n-1].Pods = append((*list)[n-1].Pods, pods...)
			} else {
				*list = append(*list, planning.ExistingNode{Name: e.Name, Pods: pods})
			}
		}
		i = end
	}
}

// apart returns a writer for another goroutine. The new writer has its own finder. It shares all other fields with w, and only reads them.
func (w *writer) apart() *writer {
	return &writer{
		Found: w.Found, types: w.types.Apart(), members: w.members, method: w.method, receivers: w.receivers, planned: w.planned, openedFor: w.openedFor, from: w.from,
	}
}

// written is the result of a component. It has the component's commands, and the members that are left for the next plan.
type written struct {
	commands []*decision.Command
	left     []*searchcontext.Candidate
}

func (w *writer) write(f *part) written {
	list := w.viable(w.split(f))
	if list == nil {
		return written{left: f.members}
	}
	out := written{commands: make([]*decision.Command, len(list))}
	for i, st := range list {
		out.commands[i] = w.command(st)
	}
	return out
}

func (w *writer) command(e *paying.Exchange) *decision.Command {
	cmd := reference.NewCommand(e.Method, searchcontext.Surveyed(e.Members), w.Fleet.Now)
	for i := range e.NewNodes {
		cmd.Replacements = append(cmd.Replacements, decision.Replacement{Node: &e.NewNodes[i], Pool: e.NewNodes[i].Pool})
	}
	cmd.Receivers = w.receiversOf(e.Members)
	cmd.Savings = money.USD(e.Saving)
	return w.types.Finish(cmd)
}

// receiversOf returns the nodes that take the members' pods, sorted by name.
func (w *writer) receiversOf(members []*searchcontext.Candidate) []planning.ExistingNode {
	if len(members) == 1 {
		return w.receivers[members[0].Number]
	}
	at := map[string]int{}
	var out []planning.ExistingNode
	for _, c := range members {
		for _, e := range w.receivers[c.Number] {
			i, has := at[e.Name]
			if !has {
				at[e.Name] = len(out)
				out = append(out, e)
				continue
			}
			out[i].Pods = append(out[i].Pods, e.Pods...)
		}
	}
	slices.SortFunc(out, func(a, b planning.ExistingNode) int { return strings.Compare(a.Name, b.Name) })
	return out
}

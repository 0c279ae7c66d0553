package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"

	"github.com/drawknife/drawknife/internal/bench/judge"
	"github.com/drawknife/drawknife/scheduling"
)

// If planCommand is the first argument, this program runs drawknife's side: it plans the workload in the file that the second argument
// names. internal/bench/karpenter has the corresponding program for Karpenter.
const planCommand = "plan-with-drawknife"

// result is what a side prints for one workload.
type result struct {
	usage
	judge.Plan
	// Certificate is the certificate of the plan's lower bound. Only drawknife's side prints a certificate.
	Certificate *scheduling.Certificate `json:"certificate,omitempty"`
}

// planOurs is the main function of drawknife's side.
func planOurs(ctx context.Context, file string, stdout, stderr io.Writer) error {
	input, err := os.Open(file)
	if err != nil {
		return err
	}
	defer input.Close() // closing can't lose anything, because the file was only read
	snapshot, err := scheduling.DecodeSnapshot(input)
	if err != nil {
		return err
	}
	fmt.Fprintln(stderr, begins)
	var plan *scheduling.Plan
	took, err := measure(func() error {
		model, err := scheduling.Compile(snapshot)
		if err != nil {
			return err
		}
		plan, err = model.Solve(ctx, scheduling.Query{})
		return err
	})
	if err != nil {
		return err
	}
	b := bufio.NewWriter(stdout)
	if err := json.NewEncoder(b).Encode(result{took, inWords(plan), plan.Certificate}); err != nil {
		return err
	}
	return b.Flush()
}

// inWords converts a plan to a judge.Plan, which does not depend on the planner.
func inWords(p *scheduling.Plan) judge.Plan {
	out := judge.Plan{NewNodes: []judge.NewNode{}, Existing: []judge.ExistingNode{}, Unschedulable: []judge.Unschedulable{}, Order: names(p.Order)}
	for i := range p.NewNodes {
		out.NewNodes = append(out.NewNodes, newNode(&p.NewNodes[i]))
	}
	for _, n := range p.Existing {
		out.Existing = append(out.Existing, judge.ExistingNode{Name: n.Name, Pods: names(n.Pods)})
	}
	for _, u := range p.Unschedulable {
		out.Unschedulable = append(out.Unschedulable, judge.Unschedulable{Pod: u.Pod.String(), Reason: u.Reasons[0].String()})
	}
	return out
}

func newNode(n *scheduling.NewNode) judge.NewNode {
	words := judge.NewNode{Pool: n.Pool.Name, Requirements: n.Requirements.NodeSelectorRequirements(), Pods: names(n.Pods)}
	for _, t := range n.InstanceTypes {
		words.InstanceTypes = append(words.InstanceTypes, t.Name)
	}
	return words
}

func names(keys []scheduling.PodKey) []string {
	out := make([]string, len(keys))
	for i, key := range keys {
		out[i] = key.String()
	}
	return out
}

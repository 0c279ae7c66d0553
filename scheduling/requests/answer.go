package requests

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"

	v1 "github.com/drawknife/drawknife/api/autoscaling/v1"
	"github.com/drawknife/drawknife/api/option"
	"github.com/drawknife/drawknife/scheduling"
)

// Answer completes a round after its snapshot was planned, and returns all requests with their new status, by namespace and name. It
// returns an *option.ArgumentError without a plan or for a plan of another snapshot, and the context's error if the context has ended.
func (r *Round) Answer(ctx context.Context, plan *scheduling.Plan) ([]Answer, error) {
	switch {
	case r.Snapshot == nil:
		return nil, option.Missing("Round.Answer", "a round that was begun")
	case plan == nil:
		return nil, option.Missing("Round.Answer", "the plan")
	}
	if err := r.scaleUp(plan); err != nil {
		return nil, err
	}
	for _, d := range r.plans {
		if err := r.answerPlan(ctx, d); err != nil {
			return nil, err
		}
	}
	answers := make([]Answer, 0, len(r.demands))
	for _, d := range r.demands {
		if len(d.answer.Status.ProvisioningClassDetails) == 0 {
			d.answer.Status.ProvisioningClassDetails = nil
		}
		answers = append(answers, Answer{Given: d.given, Request: d.answer, Changed: !equality.Semantic.DeepEqual(d.given.Status, d.answer.Status)})
	}
	slices.SortFunc(answers, func(a, b Answer) int {
		return cmp.Or(strings.Compare(a.Request.Namespace, b.Request.Namespace), strings.Compare(a.Request.Name, b.Request.Name))
	})
	return answers, nil
}

// scaleUp answers the requests of v1.ClassBestEffortAtomicScaleUp by the plan of the round's snapshot.
func (r *Round) scaleUp(plan *scheduling.Plan) error {
	placements, at := placementsOf(plan), hostsOf(plan)
	for _, d := range r.scaleUps {
		g, any := d.gang(-1, r.inGang)
		p := placements[g.Key()]
		if any && p == nil {
			return option.Missing("Round.Answer", "a plan of the round's snapshot: gang "+g.Key().String())
		}
		if any && p.Reason != nil {
			r.notFound(d, p.Reason.String())
			continue
		}
		there, coming, launched := 0, 0, d.launchedIn(plan)
		for _, node := range d.placesIn(at).each() {
			if r.ready[node] {
				there++
			} else {
				coming++
			}
		}
		switch {
		case coming+launched > 0:
			r.wait(d, v1.ReasonCapacityIsBeingProvisioned, fmt.Sprintf("of %d pods %d have room on nodes that are there, %d on nodes that are on their way, and %d on nodes to be launched",
				there+coming+launched, there, coming, launched))
		case d.given.Condition(v1.ConditionProvisioned).Reason == v1.ReasonCapacityIsBeingProvisioned:
			r.provision(d, v1.ReasonCapacityIsProvisioned, "nodes were launched, and all pods have room", d.placesIn(at))
		default:
			r.provision(d, v1.ReasonCapacityIsFound, "nodes that are there have room for all pods", d.placesIn(at))
		}
	}
	return nil
}

// each returns one node name for each pod with booked room. So a node's name occurs as often as the number of pods with booked room on the
// node.
func (p places) each() []string {
	var out []string
	for _, node := range p.nodes() {
		for _, n := range p[node] {
			for range n {
				out = append(out, node)
			}
		}
	}
	return out
}

// Hosts returns the sorted names of the snapshot's nodes on which bookings hold room or the plan places pods of requests. Disruption must
// not treat these nodes as empty, even if no pod runs on them. After Answer has returned, it uses the bookings and places in Answer's
// result.
func (r *Round) Hosts(plan *scheduling.Plan) []string {
	hosts := map[string]bool{}
	for node := range r.held {
		hosts[node] = true
	}
	for _, node := range r.nominee {
		hosts[node] = true
	}
	if plan != nil {
		at := hostsOf(plan)
		for _, d := range r.scaleUps {
			for _, node := range d.placesIn(at).nodes() {
				hosts[node] = true
			}
		}
	}
	out := make([]string, 0, len(hosts))
	for node := range hosts {
		out = append(out, node)
	}
	slices.Sort(out)
	return out
}

package requests

import (
	"context"
	"encoding/json"
	"fmt"

	v1 "github.com/drawknife/drawknife/api/autoscaling/v1"
	"github.com/drawknife/drawknife/scheduling"
)

// checkCapacity answers the requests of v1.ClassCheckCapacity. It looks for room that existing nodes have after all pending pods have been
// placed. No node is launched for these requests.
func (r *Round) checkCapacity(ctx context.Context) error {
	if len(r.checks) == 0 {
		return nil
	}
	gangs := r.Snapshot.Gangs[:len(r.Snapshot.Gangs):len(r.Snapshot.Gangs)]
	for _, d := range r.checks {
		if g, any := d.gang(-1, r.inGang); any {
			g.Priority = last()
			gangs = append(gangs, g)
		}
	}
	plan, err := r.solve(ctx, r.existing(r.Snapshot.Pods, gangs))
	if err != nil {
		return err
	}
	placements, at := placementsOf(plan), hostsOf(plan)
	var parts []*demand
	for _, d := range r.checks {
		p := placements[scheduling.GangKey{Namespace: d.given.Namespace, Name: d.prefix}]
		switch {
		case p == nil || p.Reason == nil:
			r.provision(d, v1.ReasonCapacityIsFound, "nodes that are there have room for all pods", d.placesIn(at))
		case d.given.Spec.Parameters[v1.ParameterPartialCapacityCheck] != "" && len(d.moulds) > 1:
			parts = append(parts, d)
		default:
			r.notFound(d, missingRoom(p.Reason))
		}
	}
	for _, d := range parts {
		if err := r.checkParts(ctx, d); err != nil {
			return err
		}
	}
	return nil
}

// checkParts looks for room for each PodSet of the request, in their order.
func (r *Round) checkParts(ctx context.Context, d *demand) error {
	gangs := r.Snapshot.Gangs[:len(r.Snapshot.Gangs):len(r.Snapshot.Gangs)]
	for set := range d.moulds {
		if g, any := d.gang(set, r.inGang); any {
			g.Priority = last()
			gangs = append(gangs, g)
		}
	}
	plan, err := r.solve(ctx, r.existing(r.Snapshot.Pods, gangs))
	if err != nil {
		return err
	}
	placements, at := placementsOf(plan), hostsOf(plan)
	names := []string{}
	for set, s := range d.given.Spec.PodSets {
		if p := placements[scheduling.GangKey{Namespace: d.given.Namespace, Name: d.setName(set)}]; p == nil || p.Reason == nil {
			names = append(names, s.PodTemplateRef.Name)
		}
	}
	text, err := json.Marshal(names)
	if err != nil {
		return err
	}
	found := len(names)
	d.answer.Status.ProvisioningClassDetails[v1.DetailSchedulablePodSets] = v1.Detail(text)
	message := fmt.Sprintf("nodes that are there have room for %d of the %d pod sets", found, len(d.moulds))
	switch {
	case found == 0:
		r.notFound(d, message)
	case d.given.Spec.Parameters[v1.ParameterPartialCapacityCheck] == v1.PartialBook:
		r.provision(d, v1.ReasonPartialCapacityIsFound, message, d.placesIn(at))
	default:
		r.wait(d, v1.ReasonPartialCapacityIsFound, message)
	}
	return nil
}

// missingRoom says why the pods of a request have no room, and why the nodes refuse the first of these pods.
func missingRoom(reason *scheduling.GangReason) string {
	text := fmt.Sprintf("nodes that are there don't have room for all pods (%d)", reason.Needed)
	if len(reason.Reasons) == 0 {
		return text
	}
	last := reason.Reasons[len(reason.Reasons)-1]
	if last.Code == scheduling.ReasonNoNodePools { // plans on existing nodes have no NodePools
		if last.Nodes == nil || last.Nodes.Total == 0 {
			return "there are no nodes"
		}
		last = scheduling.Reason{Code: scheduling.ReasonExistingNodes, Nodes: last.Nodes}
	}
	return text + ": " + last.String()
}

// placementsOf returns the results of the plan for gangs, by name.
func placementsOf(plan *scheduling.Plan) map[scheduling.GangKey]*scheduling.GangPlacement {
	out := make(map[scheduling.GangKey]*scheduling.GangPlacement, len(plan.Gangs))
	for i := range plan.Gangs {
		out[plan.Gangs[i].Gang] = &plan.Gangs[i]
	}
	return out
}

// placesIn returns the places of the demand's pods in a plan.
func (d *demand) placesIn(at map[scheduling.PodKey]string) places {
	p := places{}
	for set := range d.moulds {
		for number := range d.want(set) {
			if node, ok := at[d.key(set, number)]; ok {
				p.add(node, set, len(d.moulds), 1)
			}
		}
		if d.class() != v1.ClassCheckCapacity {
			for _, c := range d.waiting[set] {
				if node, ok := at[c.key()]; ok {
					p.add(node, set, len(d.moulds), 1)
				}
			}
		}
	}
	return p
}

// key returns the key of the pod with the given number in the PodSet with index set.
func (d *demand) key(set, number int) scheduling.PodKey {
	return scheduling.PodKey{Namespace: d.given.Namespace, Name: fmt.Sprintf("%s-%d", d.setName(set), number)}
}

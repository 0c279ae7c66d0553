package requests

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	v1 "github.com/drawknife/drawknife/api/autoscaling/v1"
	"github.com/drawknife/drawknife/scheduling"
)

// PlannedNodes is an element of v1.DetailPlanNodes: new nodes that are alike.
type PlannedNodes struct {
	Count        int    `json:"count"`
	NodePool     string `json:"nodePool"`
	InstanceType string `json:"instanceType"`
	Zone         string `json:"zone"`
	CapacityType string `json:"capacityType"`
	// HourlyPrice is the price of one of the nodes, in USD per hour.
	HourlyPrice float64 `json:"hourlyPrice"`
}

// answerPlan answers a request of v1.ClassPlan. The answer says which nodes would be launched for the request in addition to the nodes that
// are already planned. An earlier answer that is still valid is not replaced.
func (r *Round) answerPlan(ctx context.Context, d *demand) error {
	details := d.answer.Status.ProvisioningClassDetails
	was := d.given.Condition(v1.ConditionProvisioned)
	until, err := time.Parse(time.RFC3339, string(details[v1.DetailPlanValidUntil]))
	if err == nil && was.Reason == v1.ReasonCapacityIsPlanned && !r.in.over(until) {
		return nil
	}
	g, any := d.gang(-1, r.inGang)
	if !any {
		r.wait(d, v1.ReasonCapacityIsPlanned, "all its pods have nodes")
		return nil
	}
	s := *r.Snapshot
	s.Gangs = append(slices.Clone(s.Gangs), g)
	plan, err := r.solve(ctx, &s)
	if err != nil {
		return err
	}
	for _, key := range []string{v1.DetailPlanHourlyCost, v1.DetailPlanNodes, v1.DetailPlanExistingPods, v1.DetailPlanValidUntil} {
		delete(details, key)
	}
	if p := placementsOf(plan)[g.Key()]; p == nil || p.Reason != nil {
		reason := "it was not planned"
		if p != nil {
			reason = p.Reason.String()
		}
		r.notFound(d, reason)
		return nil
	}
	nodes, cost, existing := d.plannedNodes(plan)
	text, err := encodeNodes(nodes)
	if err != nil {
		return err
	}
	details[v1.DetailPlanHourlyCost] = v1.Detail(strconv.FormatFloat(cost, 'f', -1, 64))
	details[v1.DetailPlanNodes], details[v1.DetailPlanExistingPods] = text, v1.Detail(strconv.Itoa(existing))
	if now := r.in.Snapshot.Time; !now.IsZero() {
		details[v1.DetailPlanValidUntil] = v1.Detail(now.Add(r.bookFor()).UTC().Format(time.RFC3339))
	}
	launched := 0
	for _, n := range nodes {
		launched += n.Count
	}
	r.wait(d, v1.ReasonCapacityIsPlanned, fmt.Sprintf("%d pods have room on nodes that are there or on their way; the others would be on %d new nodes for $%s/h",
		existing, launched, details[v1.DetailPlanHourlyCost]))
	return nil
}

// plannedNodes returns the new nodes of the plan that have pods of the demand, their total cost, and how many pods of the demand are on
// nodes of the snapshot.
func (d *demand) plannedNodes(plan *scheduling.Plan) (list []PlannedNodes, cost float64, existing int) {
	own := d.own()
	for i := range plan.NewNodes {
		n := &plan.NewNodes[i]
		if !slices.ContainsFunc(n.Pods, func(key scheduling.PodKey) bool { return own[key] }) || len(n.InstanceTypes) == 0 {
			continue
		}
		o := n.InstanceTypes[0]
		cost += o.Price
		kind := PlannedNodes{NodePool: n.Pool.String(), InstanceType: o.Name, Zone: o.Zone, CapacityType: o.CapacityType, HourlyPrice: o.Price}
		at := slices.IndexFunc(list, func(p PlannedNodes) bool {
			p.Count = 0
			return p == kind
		})
		if at < 0 {
			at, list = len(list), append(list, kind)
		}
		list[at].Count++
	}
	for key := range hostsOf(plan) {
		if own[key] {
			existing++
		}
	}
	slices.SortFunc(list, func(a, b PlannedNodes) int {
		return cmp.Or(strings.Compare(a.NodePool, b.NodePool), strings.Compare(a.InstanceType, b.InstanceType), strings.Compare(a.Zone, b.Zone), strings.Compare(a.CapacityType, b.CapacityType), cmp.Compare(a.HourlyPrice, b.HourlyPrice))
	})
	return list, cost, existing
}

// own returns the pods of the demand that have no node yet.
func (d *demand) own() map[scheduling.PodKey]bool {
	own := map[scheduling.PodKey]bool{}
	for set := range d.moulds {
		for number := range d.want(set) {
			own[d.key(set, number)] = true
		}
		for _, c := range d.waiting[set] {
			own[c.key()] = true
		}
	}
	return own
}

// launchedIn returns how many pods of the demand are on new nodes of the plan.
func (d *demand) launchedIn(plan *scheduling.Plan) int {
	n, own := 0, d.own()
	for i := range plan.NewNodes {
		for _, key := range plan.NewNodes[i].Pods {
			if own[key] {
				n++
			}
		}
	}
	return n
}

// encodeNodes returns the list as a detail of the request's status. If the list is too long for a detail, only the most frequent nodes are
// included.
func encodeNodes(list []PlannedNodes) (v1.Detail, error) {
	for {
		text, err := json.Marshal(list)
		if err != nil {
			return "", err
		}
		if len(text) <= maxDetail {
			return v1.Detail(text), nil
		}
		least := 0
		for i := range list {
			if list[i].Count < list[least].Count {
				least = i
			}
		}
		list = slices.Delete(slices.Clone(list), least, least+1)
	}
}

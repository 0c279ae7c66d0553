package explain

import (
	"fmt"
	"slices"

	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/internal/engine/bitset"
	"github.com/drawknife/drawknife/internal/engine/claimed"
	"github.com/drawknife/drawknife/internal/engine/devices"
	"github.com/drawknife/drawknife/internal/engine/likeness"
	"github.com/drawknife/drawknife/internal/engine/match"
	"github.com/drawknife/drawknife/internal/engine/nodepool"
	"github.com/drawknife/drawknife/internal/engine/resources"
	"github.com/drawknife/drawknife/scheduling/planning"
)

// maxDeviceTypes is the maximum number of instance types that are examined to explain missing devices.
const maxDeviceTypes = 200

// missingDevices examines the instance types that the pool and the pods allow. It returns the name of the type that is closest to meeting
// the class's claims, and the devices that this type lacks. Both results are empty if some type has the devices, because then another check
// fails.
func (x *explainer) missingDevices(at int32, p *nodepool.Pool) (string, *devices.Miss) {
	if x.m.Devices == nil || !likeness.ClaimsDevices(&x.c.Sample.Spec) {
		return "", nil
	}
	claims, matches := x.m.Devices.Of(x.c.Sample).Claims, devices.NewMatches(x.m.Matcher)
	var nearest *devices.Miss
	of, uncounted := "", ""
	looked := map[claimed.Template]bool{}
	c := p.Table.Catalog
	for _, i := range x.allowedVariants(at, p) {
		v := &c.Variants[i]
		it := c.Types[v.Type]
		if len(it.Devices) == 0 || len(looked) == maxDeviceTypes || v.Offering == nil && it.DeviceLabels() != nil || looked[claimed.TemplateOf(it, v.Offering)] {
			continue
		}
		looked[claimed.TemplateOf(it, v.Offering)] = true
		name := it.Name
		if v.Bound != "" {
			name += " with " + v.Bound
		}
		_, miss := devices.Allocate([]devices.Source{{Usage: devices.NewUsage(claimed.Inventory(it, v.Offering))}}, claims, matches)
		switch {
		case miss == nil && x.hasDevices(it, v.Offering):
			return "", nil
		case miss == nil:
			uncounted = name
		case nearest == nil || miss.Nearer(nearest):
			nearest, of = miss, name
		}
	}
	switch {
	case uncounted != "":
		return fmt.Sprintf("%s has such devices, but they can't be counted", uncounted), nil
	case nearest != nil:
		return fmt.Sprintf("on %s %s", of, nearest), nearest
	}
	return "no instance type that the requirements allow has devices", nil
}

// allowedVariants returns, in ascending order, the variants that the requirements of the pool and of the pods allow.
func (x *explainer) allowedVariants(at int32, p *nodepool.Pool) []int {
	rows := bitset.New(len(p.Table.Rows))
	for i, d := range x.demands {
		if q := x.ask(questionKey{at: at, demand: i}, func() (match.Needs, *nodepool.Pool) { return d.both(), p }); q != nil {
			rows.Or(q.rows)
		}
	}
	var out []int
	for row := range rows.Members {
		out = append(out, int(p.Table.Rows[row].Variant))
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// cureOfDevices replaces a miss that asks the pod to give up all devices of a kind by a miss that says how to change the claim's request.
// Giving up only some of the devices would not help, because no device meets the request. missed says why devices don't meet the claims. If
// missed is nil and the miss concerns an existing node, cureOfDevices computes missed. It returns the miss unchanged if the miss is of
// another kind, or if no such change is known.
func (x *explainer) cureOfDevices(miss *planning.NearestMiss, missed *devices.Miss) *planning.NearestMiss {
	if miss == nil || miss.Code != planning.MissResourceGivenUp || miss.Also != nil || !onlyDevices(miss) {
		return miss
	}
	if missed == nil && miss.Node != "" && x.m.Devices.Usages[miss.Node] != nil {
		claims, matches := x.m.Devices.Of(x.c.Sample).Claims, devices.NewMatches(x.m.Matcher)
		_, missed = devices.Allocate([]devices.Source{{Usage: x.m.Devices.Usages[miss.Node].Clone()}}, claims, matches)
	}
	if missed == nil || missed.Cure() == "" {
		return miss
	}
	return &planning.NearestMiss{Code: planning.MissDevices, Rule: missed.Cure(), InstanceType: miss.InstanceType, Node: miss.Node}
}

// onlyDevices reports whether the miss concerns only devices.
func onlyDevices(miss *planning.NearestMiss) bool {
	for name := range miss.Amounts {
		if !resources.CountsDevices(name) {
			return false
		}
	}
	return len(miss.Amounts) > 0
}

// hasDevices reports whether a new node of the type that is bought as the offering has as many devices as a pod of the class needs.
func (x *explainer) hasDevices(it *cloudprovider.InstanceType, o *cloudprovider.Offering) bool {
	room := make([]int64, len(x.c.Requests))
	x.m.Resources.Capacity(it.Allocatable(), room)
	x.m.Devices.RoomOfType(it, o, room)
	return !slices.ContainsFunc(x.m.Devices.Counts.Names(), func(name string) bool {
		at, ok := x.m.Resources.At(resources.Devices(name))
		return ok && x.c.Requests[at] > room[at]
	})
}

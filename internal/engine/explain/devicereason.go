package explain

import (
	"fmt"
	"slices"

	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/internal/engine/claimed"
	"github.com/drawknife/drawknife/internal/engine/devices"
	"github.com/drawknife/drawknife/internal/engine/likeness"
	"github.com/drawknife/drawknife/internal/engine/nodepool"
	"github.com/drawknife/drawknife/internal/engine/resources"
	"github.com/drawknife/drawknife/scheduling/planning"
)

// maxDeviceTypes bounds how many instance types are looked at to say which devices are missing.
const maxDeviceTypes = 200

// missingDevices says what the type of the pool that comes closest to the class's claims lacks, and as what it was found. It is empty if some type has the
// devices: then something else is missing.
func (x *explainer) missingDevices(p *nodepool.Pool) (string, *devices.Miss) {
	if x.m.Devices == nil || !likeness.ClaimsDevices(&x.c.Sample.Spec) {
		return "", nil
	}
	claims, matches := x.m.Devices.Of(x.c.Sample).Claims, devices.NewMatches(x.m.Matcher)
	var nearest *devices.Miss
	var of, uncounted *cloudprovider.InstanceType
	looks := 0
	for _, it := range p.Table.Catalog.Types {
		if len(it.Devices) == 0 || looks == maxDeviceTypes {
			continue
		}
		looks++
		inv := devices.NewInventory(claimed.TemplateSlices(it.Devices, it.Name, nil))
		_, miss := devices.Allocate([]devices.Source{{Usage: devices.NewUsage(inv)}}, claims, matches)
		switch {
		case miss == nil && x.hasDevices(it):
			return "", nil
		case miss == nil:
			uncounted = it
		case nearest == nil || miss.Nearer(nearest):
			nearest, of = miss, it
		}
	}
	switch {
	case uncounted != nil:
		return fmt.Sprintf("%s has such devices, but they can't be counted", uncounted.Name), nil
	case nearest != nil:
		return fmt.Sprintf("on %s %s", of.Name, nearest), nearest
	}
	return "no instance type of the pool has devices", nil
}

// cureOfDevices is the change that would do where the nearest miss is that all devices of a kind are given up: no smaller number would help, as none meets what
// the request asks for. missed says what that is; nil where it is not known. The miss is returned as it is where it says something else.
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

// onlyDevices reports whether the miss is about devices alone.
func onlyDevices(miss *planning.NearestMiss) bool {
	for name := range miss.Amounts {
		if !resources.CountsDevices(name) {
			return false
		}
	}
	return len(miss.Amounts) > 0
}

// hasDevices reports whether a new node of the type has as many devices as a pod of the class needs.
func (x *explainer) hasDevices(it *cloudprovider.InstanceType) bool {
	room := make([]int64, len(x.c.Requests))
	x.m.Resources.Capacity(it.Allocatable(), room)
	x.m.Devices.RoomOfType(it, room)
	return !slices.ContainsFunc(x.m.Devices.Counts.Names(), func(name string) bool {
		at, ok := x.m.Resources.At(resources.Devices(name))
		return ok && x.c.Requests[at] > room[at]
	})
}

package devices

import (
	"k8s.io/apimachinery/pkg/api/resource"

	resourcev1 "k8s.io/api/resource/v1"
)

// Source is a set of devices that a node can use: its own devices, the devices of the network, or the devices that its instance type will
// publish.
type Source struct {
	// Usage records which devices of the source are allocated. Each source must have a different Usage.
	Usage *Usage
	// Reach says which devices of the source the node can use.
	Reach *Reach
}

// MaxSteps is the maximum number of devices that one call of Allocate tries. After that, Allocate gives up.
const MaxSteps = 20000

// Result is a device that is allocated to a request.
type Result struct {
	// Claim is the claim's index in the list that was given to Allocate.
	Claim int
	// Request is the request's name, or request/subrequest for an alternative.
	Request string
	ID      ID
	Admin   bool
	// source, device and amounts say what Release must return to the usages.
	source  int
	device  int32
	amounts []int64
}

// Allocation lists the devices allocated to some claims.
type Allocation struct {
	Results []Result
	claims  []*Claim
	sources []Source
}

// Release returns the devices to the usages. Call it once.
func (a *Allocation) Release() {
	for i := len(a.Results) - 1; i >= 0; i-- {
		if r := &a.Results[i]; !r.Admin {
			a.sources[r.source].Usage.giveBack(r.device, r.amounts)
		}
	}
}

// Of returns the allocation result for the status of the claim with this index.
func (a *Allocation) Of(claim int) resourcev1.DeviceAllocationResult {
	var out resourcev1.DeviceAllocationResult
	for i := range a.Results {
		r := &a.Results[i]
		if r.Claim != claim {
			continue
		}
		d := &a.sources[r.source].Usage.inventory.devices[r.device]
		result := resourcev1.DeviceRequestAllocationResult{
			Request: r.Request, Driver: r.ID.Driver, Pool: r.ID.Pool, Device: r.ID.Device,
			BindingConditions: d.object.BindingConditions, BindingFailureConditions: d.object.BindingFailureConditions,
		}
		if r.Admin {
			yes := true
			result.AdminAccess = &yes
		}
		if d.shared {
			for j := range d.capacity {
				if result.ConsumedCapacity == nil {
					result.ConsumedCapacity = make(map[resourcev1.QualifiedName]resource.Quantity, len(d.capacity))
				}
				result.ConsumedCapacity[d.capacity[j].name] = quantity(r.amounts[j], d.capacity[j].format)
			}
		}
		out.Results = append(out.Results, result)
	}
	return out
}

// Allocate finds devices for all claims together. If that is impossible, it returns the reason and does not change the usages of the
// sources. If there are several solutions, it returns the solution that kube-scheduler finds first. So it searches requests in their order,
// alternatives in the order of preference, and devices by pool and slice.
func Allocate(sources []Source, claims []*Claim, m *Matches) (*Allocation, *Miss) {
	s := &search{sources: sources, claims: claims, matches: m, steps: MaxSteps}
	if miss := s.prepare(); miss != nil {
		return nil, miss
	}
	if s.next(place{}) {
		return &Allocation{Results: s.results, claims: claims, sources: sources}, nil
	}
	if s.failed == nil {
		s.failed = s.why()
	}
	return nil, s.failed
}

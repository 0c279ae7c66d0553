package devices

import (
	"fmt"
	"math"
	"slices"

	resourcev1 "k8s.io/api/resource/v1"
)

// Claim is a ResourceClaim, prepared for allocation. It never changes.
type Claim struct {
	name        string
	requests    []request
	constraints []constraint
}

// request is a request for devices. It has one alternative, or several alternatives in the order of preference.
type request struct {
	name         string
	alternatives []alternative
}

// alternative is one way to meet a request.
type alternative struct {
	// name is the name of the request, or request/subrequest.
	name  string
	class string
	// selectors are the CEL expressions of the class and of the request. A device must meet all of them.
	selectors []string
	// asked is the requested number of devices. count is the same number, but not more than maxOfClaim+1.
	count, asked int
	all, admin   bool
	tolerations  []resourcev1.DeviceToleration
	capacity     map[resourcev1.QualifiedName]int64
}

// constraint is a condition on an attribute of the allocated devices: all devices must have the same value. If distinct is set, all devices
// must have different values.
type constraint struct {
	attribute string
	distinct  bool
	// requests are the names of the requests that the constraint applies to. An empty list means all requests.
	requests []string
}

func (c *constraint) concerns(r *request, a *alternative) bool {
	return len(c.requests) == 0 || slices.Contains(c.requests, r.name) || slices.Contains(c.requests, a.name)
}

// Error says why a claim can't be allocated on any node.
type Error struct {
	// Claim is the name that was passed to NewClaim. Request is the name of the request. It is empty if the problem concerns the whole
	// claim.
	Claim, Request string
	// Problem is the end of a sentence that begins with the name of the request or the claim.
	Problem string
}

// Error returns a sentence with the name of the claim or request, and the problem.
func (e *Error) Error() string {
	if e.Request == "" {
		return fmt.Sprintf("claim %s %s", e.Claim, e.Problem)
	}
	return fmt.Sprintf("request %s of claim %s %s", e.Request, e.Claim, e.Problem)
}

// NewClaim parses a claim. The error is an *Error.
func NewClaim(name string, spec *resourcev1.DeviceClaim, classes map[string]*resourcev1.DeviceClass) (*Claim, error) {
	c := &Claim{name: name}
	for i := range spec.Requests {
		r, err := newRequest(name, &spec.Requests[i], classes)
		if err != nil {
			return nil, err
		}
		c.requests = append(c.requests, r)
	}
	for i := range spec.Constraints {
		in := &spec.Constraints[i]
		switch {
		case in.MatchAttribute != nil:
			c.constraints = append(c.constraints, constraint{attribute: string(*in.MatchAttribute), requests: in.Requests})
		case in.DistinctAttribute != nil:
			c.constraints = append(c.constraints, constraint{attribute: string(*in.DistinctAttribute), distinct: true, requests: in.Requests})
		default:
			return nil, &Error{Claim: name, Problem: fmt.Sprintf("has a constraint (number %d) of a kind that is not known", i)}
		}
	}
	return c, nil
}

func newRequest(claim string, in *resourcev1.DeviceRequest, classes map[string]*resourcev1.DeviceClass) (request, error) {
	r := request{name: in.Name}
	if e := in.Exactly; e != nil {
		a, err := newAlternative(claim, in.Name, &resourcev1.DeviceSubRequest{
			DeviceClassName: e.DeviceClassName, Selectors: e.Selectors, AllocationMode: e.AllocationMode, Count: e.Count,
			Tolerations: e.Tolerations, Capacity: e.Capacity,
		}, classes)
		if err != nil {
			return r, err
		}
		a.admin = is(e.AdminAccess)
		r.alternatives = append(r.alternatives, a)
		return r, nil
	}
	for i := range in.FirstAvailable {
		s := &in.FirstAvailable[i]
		a, err := newAlternative(claim, in.Name+"/"+s.Name, s, classes)
		if err != nil {
			return r, err
		}
		r.alternatives = append(r.alternatives, a)
	}
	if len(r.alternatives) == 0 {
		return r, &Error{Claim: claim, Request: in.Name, Problem: "is of a kind that is not known: neither exactly nor firstAvailable is set"}
	}
	return r, nil
}

func newAlternative(claim, name string, in *resourcev1.DeviceSubRequest, classes map[string]*resourcev1.DeviceClass) (alternative, error) {
	a := alternative{name: name, class: in.DeviceClassName, count: int(min(in.Count, resourcev1.AllocationResultsMaxSize+1)), asked: int(min(in.Count, math.MaxInt32)), tolerations: in.Tolerations}
	wrong := func(format string, args ...any) (alternative, error) {
		return a, &Error{Claim: claim, Request: name, Problem: fmt.Sprintf(format, args...)}
	}
	class := classes[in.DeviceClassName]
	if class == nil {
		return wrong("asks for the DeviceClass %q, which does not exist", in.DeviceClassName)
	}
	switch in.AllocationMode {
	case resourcev1.DeviceAllocationModeExactCount, "":
		if a.count == 0 {
			a.count, a.asked = 1, 1 // the API server's default is one device
		}
		if a.count < 0 {
			return wrong("asks for %d devices", in.Count)
		}
	case resourcev1.DeviceAllocationModeAll:
		a.all = true
	default:
		return wrong("has the allocation mode %q, which is not known", in.AllocationMode)
	}
	for _, list := range [][]resourcev1.DeviceSelector{class.Spec.Selectors, in.Selectors} {
		for i := range list {
			if list[i].CEL == nil {
				return wrong("has a selector of a kind that is not known, or its class has")
			}
			a.selectors = append(a.selectors, list[i].CEL.Expression)
		}
	}
	if in.Capacity != nil && len(in.Capacity.Requests) > 0 {
		a.capacity = make(map[resourcev1.QualifiedName]int64, len(in.Capacity.Requests))
		for n, q := range in.Capacity.Requests {
			a.capacity[n] = up(q)
		}
	}
	return a, nil
}

// Name returns the name that was passed to NewClaim.
func (c *Claim) Name() string { return c.name }

// Selects reports whether any request or its class has a selector. Selectors need a Matcher.
func (c *Claim) Selects() bool {
	return slices.ContainsFunc(c.requests, func(r request) bool {
		return slices.ContainsFunc(r.alternatives, func(a alternative) bool { return len(a.selectors) > 0 })
	})
}

// tolerates reports whether the alternative tolerates the device's taints.
func (a *alternative) tolerates(d *device) bool {
	return !slices.ContainsFunc(d.object.Taints, func(t resourcev1.DeviceTaint) bool { return a.refusedBy(&t) })
}

func (a *alternative) refusedBy(t *resourcev1.DeviceTaint) bool {
	if t.Effect != resourcev1.DeviceTaintEffectNoSchedule && t.Effect != resourcev1.DeviceTaintEffectNoExecute {
		return false
	}
	return !slices.ContainsFunc(a.tolerations, func(o resourcev1.DeviceToleration) bool {
		switch {
		case o.Effect != "" && o.Effect != t.Effect, o.Key != "" && o.Key != t.Key:
			return false
		case o.Operator == resourcev1.DeviceTolerationOpExists:
			return true
		case o.Operator == resourcev1.DeviceTolerationOpEqual || o.Operator == "":
			return o.Value == t.Value
		}
		return false
	})
}

package devices

import (
	"fmt"
	"slices"
	"strings"

	resourcev1 "k8s.io/api/resource/v1"
)

// search looks for devices for some claims. It allocates devices in the usages as it proceeds, and releases them when it backtracks.
type search struct {
	sources []Source
	claims  []*Claim
	matches *Matches
	// options are the possible devices of each alternative, by claim, request and alternative.
	options [][][]options
	results []Result
	// held is the number of results of each claim.
	held  []int
	steps int
	// failed is the reason why the search must stop without a solution, or nil.
	failed *Miss
}

// place is a position of the search: the index of a claim, and the index of one of its requests.
type place struct{ claim, request int }

// options are the devices with which an alternative of a request could be met.
type options struct {
	groups []group
	// every contains all matching devices. It is set for an alternative with allocationMode All.
	every []candidate
	count int
}

// group is a set of devices that are equal for all claims. The search takes the first free device of a group.
type group struct {
	members []candidate
	// values are the devices' values of the attributes that constraints use.
	values []value
	// amounts are the amounts that a request takes of the devices' capacities.
	amounts []int64
	shared  bool
	// err says why a selector could not be evaluated.
	err error
	// banned means that takeSome skips the group. Either all solutions with a device of this group have been tried, or its only device is
	// shared and the request already has it.
	banned bool
}

// candidate is a device of one of the search's sources.
type candidate struct {
	source int
	device int32
}

// prepare finds the possible devices of each alternative.
func (s *search) prepare() *Miss {
	s.held = make([]int, len(s.claims))
	s.options = make([][][]options, len(s.claims))
	for c, claim := range s.claims {
		s.options[c] = make([][]options, len(claim.requests))
		for r := range claim.requests {
			request := &claim.requests[r]
			s.options[c][r] = make([]options, len(request.alternatives))
			for a := range request.alternatives {
				o, miss := s.optionsOf(claim, request, &request.alternatives[a])
				if miss != nil {
					return miss
				}
				s.options[c][r][a] = o
			}
		}
	}
	return nil
}

func (s *search) optionsOf(claim *Claim, r *request, a *alternative) (options, *Miss) {
	if a.all {
		return s.everyOf(claim, a)
	}
	o := options{count: a.count}
	index := map[string]int{}
	for at := range s.sources {
		m := s.matches.of(s.sources[at].Usage.inventory, a)
		for i := range m.verdicts {
			v := &m.verdicts[i]
			if !s.sources[at].Reach.device(int32(i)) || v.err == nil && (!v.matches() || v.tainted) {
				continue
			}
			c := candidate{at, int32(i)}
			key := s.likeness(c, claim, r, a, v)
			g, ok := index[key]
			if !ok {
				g = len(o.groups)
				index[key] = g
				d := s.device(c)
				o.groups = append(o.groups, group{values: valuesOf(claim, d), amounts: m.amounts[i], shared: d.shared, err: v.err})
			}
			o.groups[g].members = append(o.groups[g].members, c)
		}
	}
	return o, nil
}

// everyOf finds the devices of an alternative with allocationMode All. If the node can use an incomplete or invalid pool, it returns a
// Miss.
func (s *search) everyOf(claim *Claim, a *alternative) (options, *Miss) {
	var o options
	for at := range s.sources {
		source := &s.sources[at]
		inv := source.Usage.inventory
		for p := range inv.pools {
			if problem := inv.pools[p].problem(); problem != "" && source.Reach.pool(p) {
				return o, &Miss{Code: MissPool, Claim: claim.name, Request: a.name, Detail: problem}
			}
		}
		m := s.matches.of(inv, a)
		for i := range m.verdicts {
			v := &m.verdicts[i]
			switch {
			case !source.Reach.device(int32(i)):
			case v.err != nil:
				return o, s.erred(claim, a, v.err)
			case v.matches():
				o.every = append(o.every, candidate{at, int32(i)})
			}
		}
	}
	o.count = len(o.every)
	return o, nil
}

// likeness returns the same text for devices that no claim of the search can distinguish while they are free.
func (s *search) likeness(c candidate, claim *Claim, r *request, a *alternative, v *verdict) string {
	d := s.device(c)
	if d.shared || v.err != nil || s.anyAdmin() {
		return fmt.Sprint(c)
	}
	var b strings.Builder
	fmt.Fprint(&b, c.source, d.consumes)
	for _, other := range s.claims {
		fmt.Fprintf(&b, " %v", valuesOf(other, d))
		for i := range other.requests {
			for j := range other.requests[i].alternatives {
				o := &other.requests[i].alternatives[j]
				x := &s.matches.of(s.sources[c.source].Usage.inventory, o).verdicts[c.device]
				fmt.Fprint(&b, x.err != nil, x.matches(), x.tainted)
			}
		}
	}
	return b.String()
}

func (s *search) anyAdmin() bool {
	return slices.ContainsFunc(s.claims, func(c *Claim) bool {
		return slices.ContainsFunc(c.requests, func(r request) bool { return r.alternatives[0].admin })
	})
}

func (s *search) device(c candidate) *device {
	return &s.sources[c.source].Usage.inventory.devices[c.device]
}

// valuesOf returns the values of the attributes that the claim's constraints use.
func valuesOf(claim *Claim, d *device) []value {
	var out []value
	for i := range claim.constraints {
		out = append(out, d.attribute(claim.constraints[i].attribute))
	}
	return out
}

// next continues the search with the request at the position at. It returns false if there is no solution.
func (s *search) next(at place) bool {
	for at.claim < len(s.claims) && at.request == len(s.claims[at.claim].requests) {
		at = place{claim: at.claim + 1}
	}
	if at.claim == len(s.claims) {
		return true
	}
	request := &s.claims[at.claim].requests[at.request]
	for i := range request.alternatives {
		o := &s.options[at.claim][at.request][i]
		if s.held[at.claim]+o.count > resourcev1.AllocationResultsMaxSize {
			continue
		}
		if request.alternatives[i].all {
			if s.takeAll(at, &request.alternatives[i], o) {
				return true
			}
		} else if s.takeSome(at, i, o, o.count) {
			return true
		}
		if s.failed != nil {
			return false
		}
	}
	return false
}

// takeAll allocates every device of the alternative, and continues with the next request.
func (s *search) takeAll(at place, a *alternative, o *options) bool {
	if o.count == 0 {
		return false
	}
	before := len(s.results)
	s.steps -= o.count
	for _, c := range o.every {
		d := s.device(c)
		amounts := s.matches.of(s.sources[c.source].Usage.inventory, a).amounts[c.device]
		values := valuesOf(s.claims[at.claim], d)
		if !a.tolerates(d) || !s.take(at, a, c, amounts, values) {
			used := d.shared && s.sources[c.source].Usage.uses[c.device] > 0 // the scheduler checks the remaining capacity of a shared device last
			if a.tolerates(d) && (used || s.free(at, a, c, amounts)) && !s.allowed(at, a, values) {
				// In this case, the scheduler gives up and tries no other alternatives.
				s.failed = s.excludes(at, a, values)
			}
			s.back(before)
			return false
		}
	}
	if s.next(place{at.claim, at.request + 1}) {
		return true
	}
	s.back(before)
	return false
}

// takeSome allocates the remaining devices of an alternative, and continues with the next request. left is the number of remaining devices.
// Groups are tried in the order of their first available device. After all solutions with a group have been tried, that group is skipped.
func (s *search) takeSome(at place, alternative int, o *options, left int) bool {
	if left == 0 {
		return s.next(place{at.claim, at.request + 1})
	}
	a := &s.claims[at.claim].requests[at.request].alternatives[alternative]
	before := len(s.results)
	var banned []int
	defer func() {
		for _, g := range banned {
			o.groups[g].banned = false
		}
	}()
	for {
		g, c := s.first(at, a, o)
		if g < 0 {
			return false
		}
		if err := o.groups[g].err; err != nil {
			s.failed = s.erred(s.claims[at.claim], a, err)
			return false
		}
		if s.steps--; s.steps < 0 {
			s.failed = &Miss{Code: MissSteps, Claim: s.claims[at.claim].name, Request: a.name, Wanted: a.asks()}
			return false
		}
		if o.groups[g].shared { // a request gets a device only once
			o.groups[g].banned = true
			banned = append(banned, g)
		}
		if s.take(at, a, c, o.groups[g].amounts, o.groups[g].values) {
			if s.takeSome(at, alternative, o, left-1) {
				return true
			}
			s.back(before)
			if s.failed != nil {
				return false
			}
		}
		if !o.groups[g].banned {
			o.groups[g].banned = true
			banned = append(banned, g)
		}
	}
}

// first returns the first available device and the index of its group, or -1 if no device is available.
func (s *search) first(at place, a *alternative, o *options) (int, candidate) {
	best, found := -1, candidate{}
	for g := range o.groups {
		if o.groups[g].banned {
			continue
		}
		for _, c := range o.groups[g].members {
			if best >= 0 && !c.before(found) {
				break
			}
			if s.free(at, a, c, o.groups[g].amounts) {
				best, found = g, c
				break
			}
		}
	}
	return best, found
}

func (c candidate) before(d candidate) bool {
	return c.source < d.source || c.source == d.source && c.device < d.device
}

// free reports whether the alternative can get the device, given the current allocations.
func (s *search) free(at place, a *alternative, c candidate, amounts []int64) bool {
	u := s.sources[c.source].Usage
	if !a.admin {
		return !s.administered(c, -1) && u.free(c.device, amounts)
	}
	// Admin access may use devices that are allocated to other claims, but no claim gets a device twice.
	return !s.administered(c, at.claim) && !s.taken(c, at.claim)
}

// administered reports whether the claim has admin access to the device. Claim -1 means any claim. If a claim has admin access, no other
// claim of the pod can have the device.
func (s *search) administered(c candidate, claim int) bool {
	return slices.ContainsFunc(s.results, func(r Result) bool {
		return r.Admin && r.source == c.source && r.device == c.device && (claim < 0 || r.Claim == claim)
	})
}

func (s *search) taken(c candidate, claim int) bool {
	return slices.ContainsFunc(s.results, func(r Result) bool {
		return r.source == c.source && r.device == c.device && r.Claim == claim
	})
}

// take allocates the device if it is free and no constraint forbids it. It reports whether it did.
func (s *search) take(at place, a *alternative, c candidate, amounts []int64, values []value) bool {
	if !s.free(at, a, c, amounts) || !s.allowed(at, a, values) {
		return false
	}
	if !a.admin {
		s.sources[c.source].Usage.take(c.device, amounts)
	}
	s.held[at.claim]++
	s.results = append(s.results, Result{
		Claim: at.claim, Request: a.name, ID: s.device(c).id, Admin: a.admin, source: c.source, device: c.device, amounts: amounts,
	})
	return true
}

// excludes returns the Miss for a constraint that excludes a device which a request with allocationMode All must get.
func (s *search) excludes(at place, a *alternative, values []value) *Miss {
	claim := s.claims[at.claim]
	attribute := claim.constraints[s.violated(at, a, values)].attribute
	return &Miss{Code: MissAllConstraint, Claim: claim.name, Request: a.name, Detail: attribute}
}

// allowed reports whether the claim's constraints allow a device with these attribute values.
func (s *search) allowed(at place, a *alternative, values []value) bool {
	return s.violated(at, a, values) < 0
}

// violated returns the index of the first constraint of the claim that forbids a device with these attribute values, or -1 if all
// constraints allow it.
func (s *search) violated(at place, a *alternative, values []value) int {
	claim := s.claims[at.claim]
	request := &claim.requests[at.request]
	for i := range claim.constraints {
		c := &claim.constraints[i]
		if !c.concerns(request, a) {
			continue
		}
		if values[i].kind == 0 {
			return i
		}
		for j := range s.results {
			r := &s.results[j]
			if r.Claim != at.claim || !s.concerned(claim, c, r) {
				continue
			}
			same := s.device(candidate{r.source, r.device}).attribute(c.attribute) == values[i]
			if same == c.distinct {
				return i
			}
		}
	}
	return -1
}

// concerned reports whether the constraint applies to the request or subrequest of the given result.
func (s *search) concerned(claim *Claim, c *constraint, r *Result) bool {
	name, _, _ := strings.Cut(r.Request, "/")
	return len(c.requests) == 0 || slices.Contains(c.requests, name) || slices.Contains(c.requests, r.Request)
}

// back releases all results except the first n.
func (s *search) back(n int) {
	for len(s.results) > n {
		r := &s.results[len(s.results)-1]
		if !r.Admin {
			s.sources[r.source].Usage.giveBack(r.device, r.amounts)
		}
		s.held[r.Claim]--
		s.results = s.results[:len(s.results)-1]
	}
}

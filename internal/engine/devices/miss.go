package devices

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	resourcev1 "k8s.io/api/resource/v1"
)

// Code says which check of Allocate failed.
type Code string

// The codes are listed in the order in which the checks are made. So if a request fails with a code further down in this list, it was
// closer to an allocation.
const (
	// MissTooMany: the requests up to and including this one ask for more devices than a claim can have on any node.
	MissTooMany Code = "TooMany"
	// MissNoDevices: the node has no devices.
	MissNoDevices Code = "NoDevices"
	// MissPool: a pool is incomplete or invalid. Detail names the pool and the problem.
	MissPool Code = "Pool"
	// MissSelectorError: a selector can't be evaluated. Detail says why.
	MissSelectorError Code = "SelectorError"
	// MissNoMatcher: the claim has selectors, but there is no Matcher to evaluate them.
	MissNoMatcher Code = "NoMatcher"
	// MissSelector: too few devices meet the selectors. Selector is the first selector that too few devices meet. Detail has attributes and
	// capacities of a device that does not meet it.
	MissSelector Code = "Selector"
	// MissCapacity: too few devices that pass the earlier checks have the requested capacity. Detail has the requested capacities of a
	// device that fails this check.
	MissCapacity Code = "Capacity"
	// MissTaint: too few devices that pass the earlier checks have only taints that the request tolerates. Detail is one of the taints.
	MissTaint Code = "Taint"
	// MissCount: the request asks for all matching devices, but more devices match than a claim can have.
	MissCount Code = "Count"
	// MissInUse: too few devices that pass the earlier checks are free.
	MissInUse Code = "InUse"
	// MissConstraint: no combination of free devices meets the constraint. Detail is the constraint's attribute.
	MissConstraint Code = "Constraint"
	// MissAllConstraint: the request asks for all devices, but a constraint excludes some of them. Detail is the constraint's attribute.
	MissAllConstraint Code = "AllConstraint"
	// MissTogether: each request can be met alone, but not all of them together.
	MissTogether Code = "Together"
	// MissSteps: the search exceeded MaxSteps.
	MissSteps Code = "Steps"
)

// Miss says why claims get no devices. It describes the request that is furthest from being met.
type Miss struct {
	Code Code
	// Claim and Request are the names of the claim and the request.
	Claim, Request string
	// Wanted is the requested number of devices, or 0 for all devices. Found is the number of devices that pass the check that Code names.
	// Of is the number of devices to which this check was applied.
	Wanted, Found, Of int
	// Driver is the driver of the closest devices.
	Driver string
	// Selector is the CEL expression that too few devices meet. Met is the number of selectors before it that enough devices meet.
	Selector string
	Met      int
	// Detail is a text whose meaning depends on Code: see the codes.
	Detail string
}

// String returns the reason as a sentence without a full stop.
func (m *Miss) String() string {
	what := fmt.Sprintf("request %s of claim %s", m.Request, m.Claim)
	wants := fmt.Sprintf("%s wants %d", what, m.Wanted)
	if m.Wanted == 0 {
		wants = what + " wants all devices"
	}
	driver := m.Driver
	if driver == "" {
		driver = "the node"
	}
	switch m.Code {
	case MissNoDevices:
		return fmt.Sprintf("%s, there are none", wants)
	case MissPool:
		return fmt.Sprintf("%s: %s", wants, m.Detail)
	case MissSelectorError:
		return fmt.Sprintf("%s has a selector without a value: %s", what, m.Detail)
	case MissNoMatcher:
		return fmt.Sprintf("%s has selectors, and nothing was given that evaluates them", what)
	case MissSelector:
		return fmt.Sprintf("%s; %d of %d devices of %s meet %s%s", wants, m.Found, m.Of, driver, m.Selector, m.detail("; they have "))
	case MissCapacity:
		return fmt.Sprintf("%s; %d of %d matching devices of %s have the capacity%s", wants, m.Found, m.Of, driver, m.detail("; they have "))
	case MissTaint:
		return fmt.Sprintf("%s; %d of %d matching devices of %s are without the taint %s, which the request does not tolerate", wants, m.Found, m.Of, driver, m.Detail)
	case MissCount, MissTooMany:
		return fmt.Sprintf("%s, with which the claim has more devices than the %d it can have", wants, resourcev1.AllocationResultsMaxSize)
	case MissInUse:
		return fmt.Sprintf("%s; %d of %d matching devices of %s are free", wants, m.Found, m.Of, driver)
	case MissConstraint:
		return fmt.Sprintf("%s; no choice of the %d matching devices of %s that are free meets the constraint on %s", wants, m.Found, driver, m.Detail)
	case MissAllConstraint:
		return fmt.Sprintf("%s; the constraint on %s excludes some of them", wants, m.Detail)
	case MissTogether:
		return fmt.Sprintf("%s; %d matching devices of %s are free, too few for all requests together", wants, m.Found, driver)
	case MissSteps:
		return fmt.Sprintf("%s; no choice was found in %d steps, and the search was given up", wants, MaxSteps)
	}
	return wants
}

// Cure returns a clause that says how to change the request so that some devices meet it. It returns "" if asking for fewer devices would
// be enough, or if no such change is known.
func (m *Miss) Cure() string {
	if m.Code != MissSelectorError && m.Found > 0 {
		return ""
	}
	what := fmt.Sprintf("request %s of claim %s", m.Request, m.Claim)
	switch m.Code {
	case MissSelectorError:
		first, _, _ := strings.Cut(m.Detail, "\n") // later lines of the error show the position in the expression
		return fmt.Sprintf("the selector of %s could be evaluated: %s", what, first)
	case MissSelector:
		if m.Detail != "" {
			return fmt.Sprintf("%s allowed devices of %s that have %s", what, m.Driver, m.Detail)
		}
		return fmt.Sprintf("%s did not ask for %s, or devices of %s met that", what, m.Selector, m.Driver)
	case MissCapacity:
		return fmt.Sprintf("%s asked for no more capacity than devices of %s have%s", what, m.Driver, m.detail(": "))
	case MissTaint:
		return fmt.Sprintf("%s tolerated the taint %s of devices of %s", what, m.Detail, m.Driver)
	}
	return ""
}

func (m *Miss) detail(before string) string {
	if m.Detail == "" {
		return ""
	}
	return before + m.Detail
}

// Nearer reports whether m is closer to an allocation than the other Miss, the parameter than.
func (m *Miss) Nearer(than *Miss) bool {
	if a, b := m.Code.order(), than.Code.order(); a != b {
		return a > b
	}
	return cmp.Or(cmp.Compare(m.Met, than.Met), cmp.Compare(m.Found, than.Found)) > 0
}

// order returns the position of the code in the order of the checks.
func (c Code) order() int {
	return slices.Index([]Code{
		MissTooMany, MissNoDevices, MissPool, MissSelectorError, MissNoMatcher, MissSelector, MissCapacity, MissTaint, MissCount, MissInUse, MissConstraint, MissAllConstraint, MissTogether, MissSteps,
	}, c)
}

// erred returns the Miss for a selector that can't be evaluated.
func (s *search) erred(claim *Claim, a *alternative, err error) *Miss {
	m := &Miss{Code: MissSelectorError, Claim: claim.name, Request: a.name, Wanted: a.asks(), Detail: err.Error()}
	if _, ok := err.(noMatcherError); ok {
		m.Code, m.Detail = MissNoMatcher, ""
	}
	return m
}

func (a *alternative) wanted() int {
	if a.all {
		return 0
	}
	return a.count
}

// asks returns the requested number of devices, or 0 for all devices. The number may be more than a claim can have.
func (a *alternative) asks() int {
	if a.all {
		return 0
	}
	return a.asked
}

// why returns the reason why a search failed. For each request it examines the alternative that is closest to an allocation. It returns the
// reason of the request that is furthest from an allocation.
func (s *search) why() *Miss {
	var worst *Miss
	for c, claim := range s.claims {
		for r := range claim.requests {
			if claim.leastUpTo(r) > maxOfClaim {
				a := &claim.requests[r].alternatives[0]
				return &Miss{Code: MissTooMany, Claim: claim.name, Request: a.name, Wanted: a.asks()}
			}
			var best *Miss
			for a := range claim.requests[r].alternatives {
				if m := s.whyNot(c, &claim.requests[r], &claim.requests[r].alternatives[a]); best == nil || m.Code.order() > best.Code.order() {
					best = m
				}
			}
			if worst == nil || best.Code.order() < worst.Code.order() {
				worst = best
			}
		}
	}
	return worst
}

// whyNot applies one check after another, and counts the devices that pass each check. It stops at the first check that too few devices
// pass.
func (s *search) whyNot(c int, r *request, a *alternative) *Miss {
	claim := s.claims[c]
	m := &Miss{Claim: claim.name, Request: a.name, Wanted: a.asks()}
	if a.count > maxOfClaim {
		m.Code = MissTooMany
		return m
	}
	need := max(m.Wanted, 1)
	all := s.reachable()
	m.Of = len(all)
	if len(all) == 0 {
		m.Code = MissNoDevices
		if problem := s.problem(); problem != "" {
			m.Code, m.Detail = MissPool, problem
		}
		return m
	}
	verdictOf := func(d candidate) *verdict {
		return &s.matches.of(s.sources[d.source].Usage.inventory, a).verdicts[d.device]
	}
	left := all
	for i := range a.selectors {
		through := filter(left, func(d candidate) bool { n := verdictOf(d).selector; return n == 0 || n > i+1 })
		if len(through) < need {
			m.Code, m.Selector, m.Met, m.Of, m.Found = MissSelector, a.selectors[i], i, len(left), len(through)
			m.Driver, m.Detail = s.device(left[0]).id.Driver, s.have(left, through, a.selectors[i])
			return m
		}
		left = through
	}
	m.Driver = s.device(left[0]).id.Driver
	sieve := func(code Code, keep func(candidate) bool) bool {
		through := filter(left, keep)
		enough := len(through) >= need && (!a.all || len(through) == len(left))
		if !enough {
			m.Code, m.Of, m.Found = code, len(left), len(through)
			m.Detail = s.rejected(left, keep, code, a)
		}
		left = through
		return enough
	}
	switch {
	case !sieve(MissCapacity, func(d candidate) bool { return !verdictOf(d).small }):
	case !sieve(MissTaint, func(d candidate) bool { return !verdictOf(d).tainted }):
	case a.all && len(left) > resourcev1.AllocationResultsMaxSize:
		m.Code = MissCount
	case !sieve(MissInUse, func(d candidate) bool {
		return s.free(place{claim: c}, a, d, s.matches.of(s.sources[d.source].Usage.inventory, a).amounts[d.device])
	}):
	default:
		m.Code, m.Found = MissTogether, len(left)
		for i := range claim.constraints {
			if claim.constraints[i].concerns(r, a) {
				m.Code, m.Detail = MissConstraint, claim.constraints[i].attribute
				break
			}
		}
	}
	return m
}

// reachable returns those devices of the sources that the node can use.
func (s *search) reachable() []candidate {
	var out []candidate
	for at := range s.sources {
		for i := range s.sources[at].Usage.inventory.devices {
			if s.sources[at].Reach.device(int32(i)) {
				out = append(out, candidate{at, int32(i)})
			}
		}
	}
	return out
}

func (s *search) problem() string {
	for at := range s.sources {
		inv := s.sources[at].Usage.inventory
		for p := range inv.pools {
			if problem := inv.pools[p].problem(); problem != "" && s.sources[at].Reach.pool(p) {
				return problem
			}
		}
	}
	return ""
}

// rejected finds the first device of the list for which keep returns false. It returns, as text, the property of this device that the check
// with the given code examines.
func (s *search) rejected(list []candidate, keep func(candidate) bool, code Code, a *alternative) string {
	for _, c := range list {
		if keep(c) {
			continue
		}
		d := s.device(c)
		switch code {
		case MissTaint:
			for i := range d.object.Taints {
				if t := &d.object.Taints[i]; a.refusedBy(t) {
					return fmt.Sprintf("%s=%s:%s", t.Key, t.Value, t.Effect)
				}
			}
		case MissCapacity:
			var parts []string
			for _, name := range sortedKeys(a.capacity) {
				if have, ok := d.object.Capacity[name]; ok {
					parts = append(parts, fmt.Sprintf("%s %s", name, have.Value.String()))
				} else {
					parts = append(parts, fmt.Sprintf("no %s", name))
				}
			}
			return strings.Join(parts, ", ")
		}
		return ""
	}
	return ""
}

// have finds the first device of the list that a selector rejected, so that it is not in the list through. It returns, as text, those
// attributes and capacities of this device that the expression names.
func (s *search) have(list, through []candidate, expression string) string {
	for _, c := range list {
		if slices.Contains(through, c) {
			continue
		}
		d := s.device(c).object
		var parts []string
		for _, name := range sortedKeys(d.Attributes) {
			if mentions(expression, string(name)) {
				parts = append(parts, fmt.Sprintf("%s %s", name, valueOf(d.Attributes[name])))
			}
		}
		for _, name := range sortedKeys(d.Capacity) {
			if mentions(expression, string(name)) {
				q := d.Capacity[name].Value
				parts = append(parts, fmt.Sprintf("%s %s", name, q.String()))
			}
		}
		return strings.Join(parts, ", ")
	}
	return ""
}

// mentions reports whether the expression contains the name as a word. It is enough if the expression contains the part of the name after
// the domain.
func mentions(expression, name string) bool {
	if _, id, ok := strings.Cut(name, "/"); ok {
		name = id
	}
	for rest := expression; ; {
		i := strings.Index(rest, name)
		if i < 0 {
			return false
		}
		before, after := byte(' '), byte(' ')
		if i > 0 {
			before = rest[i-1]
		}
		if end := i + len(name); end < len(rest) {
			after = rest[end]
		}
		if !inWord(before) && !inWord(after) {
			return true
		}
		rest = rest[i+len(name):]
	}
}

func inWord(b byte) bool {
	return b == '_' || b >= '0' && b <= '9' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z'
}

func filter(list []candidate, keep func(candidate) bool) []candidate {
	var out []candidate
	for _, c := range list {
		if keep(c) {
			out = append(out, c)
		}
	}
	return out
}

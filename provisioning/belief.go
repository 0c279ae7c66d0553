package provisioning

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/drawknife/drawknife/api/option"
	"github.com/drawknife/drawknife/cloudprovider"
)

// BeliefOptions are what a Belief starts from and how fast it forgets. Start from DefaultBeliefOptions.
type BeliefOptions struct {
	// HalfLife is how long it takes until what was seen counts half; more than 0.
	HalfLife time.Duration
	// Threshold is the probability of success under which an offering is left alone; 0 leaves none alone.
	Threshold float64
	// ProbeEvery is how often an offering that is left alone may be tried once all the same; 0 is at any time.
	ProbeEvery time.Duration
}

// DefaultBeliefOptions have what was seen count half after ten minutes, offerings left alone that succeed less often than three times in ten, and
// these tried every five minutes.
func DefaultBeliefOptions() BeliefOptions {
	return BeliefOptions{HalfLife: 10 * time.Minute, Threshold: 0.3, ProbeEvery: 5 * time.Minute}
}

// Belief is what is thought of the cloud's stock, offering by offering: how likely a launch is to find room. It learns
// from what launches found, forgets with time, and lets one stock-out teach about its neighbours, so that a wave of pods
// does not find out the same thing a hundred times.
//
// The probability is 1/(1+e^-x), where x = 3 + Σ w·e·2^(-age/half-life) over what was seen: e is -6 for a launch that
// found no room and +3 for one that did; w is 1 for the offering itself, ½ for the other sizes of its family in the
// same zone and capacity type, ¼ for the same type in other zones, and 0 for all others. Nothing seen means 95 %; one
// stock-out 5 %, and 50 % for its family's other sizes in the zone. (These figures are ours: they make one failure
// close an offering, two close a family's zone, and a success reopen what failed once.)
//
// A provider remembers stock-outs itself (CP-CREATE-07); a belief adds what single failures don't show. It is safe for
// concurrent use.
type Belief struct {
	options BeliefOptions

	mu sync.Mutex
	// own is what was seen of an offering itself; family and zones what its neighbours see of it, by family, zone and
	// capacity type, and by type and capacity type.
	own    map[cloudprovider.OfferingKey]evidence
	family map[cloudprovider.OfferingKey]evidence
	types  map[cloudprovider.OfferingKey]evidence
	probes map[cloudprovider.OfferingKey]time.Time
	copies map[*cloudprovider.InstanceType]*overridden
}

// evidence is a sum that decays.
type evidence struct {
	sum float64
	at  time.Time
}

// overridden is a type as it was last handed out, with some offerings closed.
type overridden struct {
	closed string
	typ    *cloudprovider.InstanceType
	used   time.Time
}

// copiesKept is how long a type that was handed out changed is recognised without having been asked for again.
const copiesKept = time.Hour

// Weights of the belief; see its comment.
const (
	beliefPrior     = 3.0
	evidenceFailure = -6.0
	evidenceSuccess = 3.0
	weightFamily    = 0.5
	weightType      = 0.25
	// evidenceMost bounds what many launches of one kind add up to, so that a change is noticed soon.
	evidenceMost = 12.0
)

// NewBelief makes a belief that has seen nothing. The error is an *option.Error.
func NewBelief(o BeliefOptions) (*Belief, error) {
	switch {
	case o.HalfLife <= 0:
		return nil, &option.Error{Package: "provisioning", Option: "Belief.HalfLife", Rule: fmt.Sprintf("is %s: what was seen counts for a while; start from DefaultBeliefOptions", o.HalfLife)}
	case o.ProbeEvery < 0:
		return nil, &option.Error{Package: "provisioning", Option: "Belief.ProbeEvery", Rule: fmt.Sprintf("is %s: it must not be negative", o.ProbeEvery)}
	case !(o.Threshold >= 0 && o.Threshold < 1):
		return nil, &option.Error{Package: "provisioning", Option: "Belief.Threshold", Rule: "a probability is at least 0 and less than 1"}
	}
	return &Belief{
		options: o, own: map[cloudprovider.OfferingKey]evidence{}, family: map[cloudprovider.OfferingKey]evidence{},
		types: map[cloudprovider.OfferingKey]evidence{}, probes: map[cloudprovider.OfferingKey]time.Time{},
		copies: map[*cloudprovider.InstanceType]*overridden{},
	}, nil
}

// Exhausted says that a launch found no room in these offerings (see cloudprovider.ExhaustedOfferings).
func (b *Belief) Exhausted(keys []cloudprovider.OfferingKey, now time.Time) {
	b.see(keys, evidenceFailure, now)
}

// Launched says that a launch found room in the offering.
func (b *Belief) Launched(key cloudprovider.OfferingKey, now time.Time) {
	b.see([]cloudprovider.OfferingKey{key}, evidenceSuccess, now)
}

// see counts evidence once for each offering, and once for each family's zone and each type that it concerns: that
// several offerings of one launch were empty is one observation for their neighbours.
func (b *Belief) see(keys []cloudprovider.OfferingKey, e float64, now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	families, types := map[cloudprovider.OfferingKey]bool{}, map[cloudprovider.OfferingKey]bool{}
	for _, key := range keys {
		b.own[key] = b.own[key].plus(e, now, b.options.HalfLife)
		families[familyOf(key)], types[typeOf(key)] = true, true
		if e > 0 {
			delete(b.probes, key)
		}
	}
	for key := range families {
		b.family[key] = b.family[key].plus(e, now, b.options.HalfLife)
	}
	for key := range types {
		b.types[key] = b.types[key].plus(e, now, b.options.HalfLife)
	}
	b.tidy(now)
}

// Probability is how likely a launch of the offering is thought to find room at the time now, between 0 and 1.
func (b *Belief) Probability(key cloudprovider.OfferingKey, now time.Time) float64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.probability(key, now)
}

func (b *Belief) probability(key cloudprovider.OfferingKey, now time.Time) float64 {
	h := b.options.HalfLife
	own := b.own[key].value(now, h)
	// The neighbourhoods hold what was seen of the offering itself too, which counts once.
	x := beliefPrior + own
	x += weightFamily * apart(b.family[familyOf(key)].value(now, h), own)
	x += weightType * apart(b.types[typeOf(key)].value(now, h), own)
	return 1 / (1 + math.Exp(-x))
}

// apart is what a neighbourhood shows beside what was seen of the offering itself, never turned into its opposite.
func apart(all, own float64) float64 {
	if all < 0 {
		return min(0, all-min(own, 0))
	}
	return max(0, all-max(own, 0))
}

// Apply is the list as planners should see it at the time now: offerings that are thought to be empty are closed, but for
// those whose turn it is to be tried once. Types in which nothing changes keep their identity, also from call to call;
// others are copied once. The list is the caller's.
func (b *Belief) Apply(list []*cloudprovider.InstanceType, now time.Time) []*cloudprovider.InstanceType {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.family) == 0 {
		clear(b.copies)
		return slices.Clone(list)
	}
	out := make([]*cloudprovider.InstanceType, len(list))
	for i, t := range list {
		out[i] = b.applied(t, now)
	}
	for t, c := range b.copies {
		if now.Sub(c.used) > copiesKept {
			delete(b.copies, t)
		}
	}
	return out
}

func (b *Belief) applied(t *cloudprovider.InstanceType, now time.Time) *cloudprovider.InstanceType {
	var closed []int
	var text strings.Builder
	for i := range t.Offerings {
		o := &t.Offerings[i]
		key := cloudprovider.KeyOf(t, o)
		// What a reservation has left is counted, not guessed.
		if !o.Available || o.Reserved() || b.probability(key, now) >= b.options.Threshold || b.mayProbe(key, now) {
			continue
		}
		closed = append(closed, i)
		text.WriteString(key.String())
		text.WriteByte(';')
	}
	if len(closed) == 0 {
		delete(b.copies, t)
		return t
	}
	if known := b.copies[t]; known != nil && known.closed == text.String() {
		known.used = now
		return known.typ
	}
	own := *t
	own.Offerings = slices.Clone(t.Offerings)
	for _, i := range closed {
		own.Offerings[i].Available = false
	}
	b.copies[t] = &overridden{closed: text.String(), typ: &own, used: now}
	return &own
}

// Begin says that a launch is about to try the offerings: those that are thought to be empty have had their probe, and
// are left alone by others until the next is due.
func (b *Belief) Begin(keys []cloudprovider.OfferingKey, now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, key := range keys {
		if b.probability(key, now) < b.options.Threshold {
			b.probes[key] = now
		}
	}
}

// mayProbe reports whether the offering's turn to be tried has come: that long after its last probe, or after the last
// thing that was seen of it or its neighbours.
func (b *Belief) mayProbe(key cloudprovider.OfferingKey, now time.Time) bool {
	last := b.probes[key]
	for _, e := range []evidence{b.own[key], b.family[familyOf(key)], b.types[typeOf(key)]} {
		if e.at.After(last) {
			last = e.at
		}
	}
	return !now.Before(last.Add(b.options.ProbeEvery))
}

// tidy forgets what has decayed to nothing, so that memory is bounded by what was seen lately.
func (b *Belief) tidy(now time.Time) {
	for _, m := range []map[cloudprovider.OfferingKey]evidence{b.own, b.family, b.types} {
		for key, e := range m {
			if math.Abs(e.value(now, b.options.HalfLife)) < 0.01 {
				delete(m, key)
			}
		}
	}
	for key, at := range b.probes {
		if _, ok := b.own[key]; !ok && now.Sub(at) > b.options.ProbeEvery {
			delete(b.probes, key)
		}
	}
}

func (e evidence) value(now time.Time, halfLife time.Duration) float64 {
	if e.sum == 0 {
		return 0
	}
	age := max(0, now.Sub(e.at))
	return e.sum * math.Exp2(-age.Seconds()/halfLife.Seconds())
}

func (e evidence) plus(more float64, now time.Time, halfLife time.Duration) evidence {
	sum := e.value(now, halfLife) + more
	return evidence{sum: min(max(sum, -evidenceMost), evidenceMost), at: now}
}

// familyOf is the neighbourhood of an offering's family in its zone: the part of the type's name before the first dot.
// A name without a dot is a family of its own.
func familyOf(key cloudprovider.OfferingKey) cloudprovider.OfferingKey {
	family, _, _ := strings.Cut(key.InstanceType, ".")
	return cloudprovider.OfferingKey{InstanceType: family, Zone: key.Zone, CapacityType: key.CapacityType}
}

// typeOf is the neighbourhood of an offering's type in all zones.
func typeOf(key cloudprovider.OfferingKey) cloudprovider.OfferingKey {
	return cloudprovider.OfferingKey{InstanceType: key.InstanceType, CapacityType: key.CapacityType}
}

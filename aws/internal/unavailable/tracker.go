package unavailable

import (
	"hash/fnv"
	"math"
	"time"
)

// record is the state of one object, such as an offering, that has no capacity.
type record struct {
	strikes int       // number of marks since the last success
	until   time.Time // closed before this time, on probation afterwards
	forget  time.Time // the record is removed after this time
	probe   time.Time // when the launch that tries the object began; zero if no launch tries it
}

// tracker contains the records of one kind of object, such as offerings.
type tracker[K comparable] struct {
	options *Options
	name    func(K) string
	records map[K]*record
}

// mark closes an object. Each repeated mark lasts longer. If the object is already closed, the same duration starts again: such marks come
// from launches that were in progress at the same time.
func (l *tracker[K]) mark(key K, now time.Time) {
	r := l.get(key)
	if !now.Before(r.forget) {
		*r = record{}
	}
	if r.strikes == 0 || !now.Before(r.until) {
		r.strikes++
	}
	lifetime := l.lifetime(key, r.strikes)
	r.until = now.Add(lifetime)
	// After the mark has ended, the record stays for as long as the mark lasted, so that an offering that soon fails again gets a longer
	// mark.
	r.forget = r.until.Add(lifetime)
	r.probe = time.Time{}
}

// suspect puts an object on probation for at least Options.First, unless it is closed.
func (l *tracker[K]) suspect(key K, now time.Time) {
	r := l.get(key)
	if forget := now.Add(l.options.First); r.forget.Before(forget) {
		r.forget = forget
	}
	if r.until.IsZero() {
		r.until = now
	}
}

func (l *tracker[K]) get(key K) *record {
	r, ok := l.records[key]
	if !ok {
		if l.records == nil {
			l.records = map[K]*record{}
		}
		r = &record{}
		l.records[key] = r
	}
	return r
}

func (l *tracker[K]) has(key K) bool {
	_, ok := l.records[key]
	return ok
}

// lifetime returns how long a mark lasts. The result doubles with each strike, up to Options.Longest, plus or minus the jitter.
func (l *tracker[K]) lifetime(key K, strikes int) time.Duration {
	grown := float64(l.options.First) * math.Pow(2, float64(min(strikes, 64)-1))
	capped := min(grown, float64(l.options.Longest))
	return time.Duration(capped * (1 + l.options.Jitter*l.chance(key, strikes)))
}

// chance returns a number from -1 to 1. It depends on the seed, the object and the strikes, but not on the order of calls.
func (l *tracker[K]) chance(key K, strikes int) float64 {
	h := fnv.New64a()
	for _, n := range [...]uint64{l.options.Seed, uint64(strikes)} {
		var word [8]byte
		for i := range word {
			word[i] = byte(n >> (8 * i))
		}
		h.Write(word[:])
	}
	h.Write([]byte(l.name(key)))
	// For short strings, the low bits of the hash vary more than its high bits.
	return float64(h.Sum64()&(1<<32-1))/(1<<31) - 1
}

func (r *record) closedAt(now time.Time, timeout time.Duration) bool {
	return now.Before(r.until) || !r.probe.IsZero() && now.Before(r.probe.Add(timeout))
}

// closedAt reports whether, at the time now, an object is closed or a launch is trying it.
func (l *tracker[K]) closedAt(key K, now time.Time) bool {
	r, ok := l.records[key]
	return ok && r.closedAt(now, l.options.ProbeTimeout)
}

// probe reserves an object on probation for a launch. It returns false if the object is not on probation.
func (l *tracker[K]) probe(key K, now time.Time) bool {
	r, ok := l.records[key]
	if !ok || !now.Before(r.forget) || r.closedAt(now, l.options.ProbeTimeout) {
		return false
	}
	r.probe = now
	return true
}

// release ends the reservation of an object for a launch. It reports whether the object was reserved.
func (l *tracker[K]) release(key K) bool {
	r, ok := l.records[key]
	if !ok || r.probe.IsZero() {
		return false
	}
	r.probe = time.Time{}
	return true
}

// forgive removes the record of an object that provided an instance, and returns true. It returns false if there is no record, or if the
// object is closed now: then it was marked after the request.
func (l *tracker[K]) forgive(key K, now time.Time) bool {
	r, ok := l.records[key]
	if !ok || now.Before(r.until) {
		return false
	}
	delete(l.records, key)
	return true
}

// closed returns the objects that are closed now. It removes expired records. If *until is the zero time or later than the next change of
// the result, closed sets *until to the time of that change.
func (l *tracker[K]) closed(now time.Time, until *time.Time) map[K]struct{} {
	out := map[K]struct{}{}
	for key, r := range l.records {
		if !now.Before(r.forget) && !r.closedAt(now, l.options.ProbeTimeout) {
			delete(l.records, key)
			continue
		}
		if !r.closedAt(now, l.options.ProbeTimeout) {
			continue
		}
		out[key] = struct{}{}
		opens := r.until
		if !now.Before(r.until) {
			opens = r.probe.Add(l.options.ProbeTimeout)
		}
		if until.IsZero() || opens.Before(*until) {
			*until = opens
		}
	}
	return out
}

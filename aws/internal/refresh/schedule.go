package refresh

import (
	"math"
	"time"
)

// Back-off after errors: DefaultBackoff at first, twice as long each time, up to MaxBackoff.
const (
	DefaultBackoff = time.Second
	MaxBackoff     = 1000 * time.Second
)

// DefaultJitter is the fraction of a period by which a schedule may be early. It spreads the reads of replicas, and of kinds of data that
// were read together.
const DefaultJitter = 0.1

// Schedule says when to read again: first at once, then after each period, and sooner after an error. The zero value reads until one read
// has succeeded, and then never again. It is not safe for concurrent use.
type Schedule struct {
	// Every is the period; 0 means to read only once.
	Every time.Duration
	// Jitter is the fraction, from 0 to 1, by which a period may be shorter; 0 means DefaultJitter, a negative value means none.
	Jitter float64
	// Seed is the seed of the random jitter.
	Seed uint64

	next     time.Time
	rounds   uint64
	failures int
	never    bool
}

// Due reports whether it is time to read.
func (s *Schedule) Due(now time.Time) bool { return !s.never && !now.Before(s.next) }

// Next returns when to read next: the zero time before the first read, and false if no read will follow.
func (s *Schedule) Next() (time.Time, bool) { return s.next, !s.never }

// Failures returns how many reads failed since the last successful read.
func (s *Schedule) Failures() int { return s.failures }

// Soon makes the schedule due now.
func (s *Schedule) Soon(now time.Time) {
	if s.never || now.Before(s.next) {
		s.next, s.never = now, false
	}
}

// Done records the end and the error of a read.
func (s *Schedule) Done(now time.Time, err error) {
	s.rounds++
	if err != nil {
		s.failures++
		wait := float64(DefaultBackoff) * math.Pow(2, float64(min(s.failures, 32)-1))
		s.next = now.Add(s.early(time.Duration(min(wait, float64(MaxBackoff)))))
		return
	}
	s.failures = 0
	if s.Every <= 0 {
		s.never = true
		return
	}
	s.next = now.Add(s.early(s.Every))
}

// early shortens d by a random share of it, at most the jitter.
func (s *Schedule) early(d time.Duration) time.Duration {
	jitter := s.Jitter
	switch {
	case jitter == 0:
		jitter = DefaultJitter
	case !(jitter > 0):
		return d
	}
	return d - time.Duration(float64(d)*min(jitter, 1)*chance(s.Seed, s.rounds))
}

// chance returns a number from 0 to 1 that depends on seed and round (the finaliser of SplitMix64).
func chance(seed, round uint64) float64 {
	z := seed + (round+1)*0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return float64((z^z>>31)>>11) / (1 << 53)
}

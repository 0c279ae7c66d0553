// Package pseudorandom answers one question: which pseudorandom numbers follow from this seed?
//
// The input is a seed, and the output is a sequence of numbers. The same seed gives the same numbers on every computer (SplitMix64; Steele,
// Lea and Flood, Fast Splittable Pseudorandom Number Generators, 2014). Making a number takes a few processor instructions, so it is cheap
// to make a source for a single number.
package pseudorandom

// Source is a source of pseudorandom numbers. Its first value is the seed.
type Source uint64

// Draw returns a pseudorandom number of 64 bits.
func (s *Source) Draw() uint64 {
	*s += 0x9e3779b97f4a7c15
	z := uint64(*s)
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// Below returns a pseudorandom number from 0 to n-1.
func (s *Source) Below(n int) int { return int(s.Draw() % uint64(n)) }

package workload

// mersenne is the generator MT19937 of Matsumoto and Nishimura (1998). It has the same seeding and output as Python's random.Random. The
// ordinary clusters were first drawn with Python, and the same seeds must still give the same clusters.
type mersenne struct {
	state [624]uint32
	at    int
}

// newMersenne seeds the generator with an integer as Python does. It uses the 32-bit words of the integer, with the lowest word first.
func newMersenne(seed uint64) *mersenne {
	words := []uint32{uint32(seed)}
	if high := uint32(seed >> 32); high != 0 {
		words = append(words, high)
	}
	m := &mersenne{at: len(mersenne{}.state)}
	s := &m.state
	s[0] = 19650218
	for i := 1; i < len(s); i++ {
		s[i] = 1812433253*(s[i-1]^s[i-1]>>30) + uint32(i)
	}
	// Two loops mix the state: the first loop adds words of the seed, and the second loop subtracts indexes.
	i, word := 1, 0
	next := func() {
		if i++; i == len(s) {
			s[0], i = s[len(s)-1], 1
		}
	}
	for range len(s) {
		s[i] = (s[i] ^ (s[i-1]^s[i-1]>>30)*1664525) + words[word] + uint32(word)
		next()
		word = (word + 1) % len(words)
	}
	for range len(s) - 1 {
		s[i] = (s[i] ^ (s[i-1]^s[i-1]>>30)*1566083941) - uint32(i)
		next()
	}
	s[0] = 1 << 31
	return m
}

// uint32 returns the next output of the generator.
func (m *mersenne) uint32() uint32 {
	if m.at == len(m.state) {
		m.refill()
	}
	y := m.state[m.at]
	m.at++
	y ^= y >> 11
	y ^= y << 7 & 0x9d2c5680
	y ^= y << 15 & 0xefc60000
	return y ^ y>>18
}

func (m *mersenne) refill() {
	const n, middle = len(m.state), 397
	s := &m.state
	for i := range s {
		y := s[i]&(1<<31) | s[(i+1)%n]&(1<<31-1)
		s[i] = s[(i+middle)%n] ^ y>>1
		if y&1 == 1 {
			s[i] ^= 0x9908b0df
		}
	}
	m.at = 0
}

// below returns a number from 0 to n-1, for n > 0. It takes the highest bits of an output, as many bits as n has, and draws again if the
// result is not below n.
func (m *mersenne) below(n int) int {
	bits := 0
	for rest := n; rest > 0; rest >>= 1 {
		bits++
	}
	for {
		if r := int(m.uint32() >> (32 - bits)); r < n {
			return r
		}
	}
}

// choice returns a random element of the list.
func choice[T any](m *mersenne, list ...T) T { return list[m.below(len(list))] }

package devices

// Choice is the alternative of a request that a node can meet.
type Choice struct {
	// Claim and Request are their names, Alternative that of the one that is met: request/subrequest. Place is its place among the
	// alternatives, from 1 on; Of is how many there are.
	Claim, Request, Alternative string
	Place, Of                   int
	kind                        int
}

// Choices are those alternatives by which a node with the units meets needs, where that is not the first one, in the order of kinds.
func (k *Kinds) Choices(n Needs, u Units) []Choice {
	var out []Choice
	for _, at := range sortedKeys(n.count) {
		kind := &k.list[at]
		if i := u.choice[at]; len(kind.alternatives) > 1 && i > 0 {
			out = append(out, Choice{kind.claim.name, kind.request.name, kind.alternatives[i].name, i + 1, len(kind.alternatives), at})
		}
	}
	return out
}

// Betters reports whether a node with the units meets an alternative that comes before the choice.
func (c *Choice) Betters(u Units) bool {
	i, known := u.choice[c.kind]
	return known && i >= 0 && i+1 < c.Place
}

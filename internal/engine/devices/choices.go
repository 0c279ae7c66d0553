package devices

// Choice is the alternative of a request that a node can meet.
type Choice struct {
	// Claim and Request are their names, Alternative is the name of the alternative met: request/subrequest. Place is its position among
	// the alternatives, from 1; Of is their number.
	Claim, Request, Alternative string
	Place, Of                   int
	kind                        int
}

// Choices returns the alternatives by which a node with the units meets the needs, except where that is the first alternative, in the order
// of kinds.
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

// Betters reports whether a node with the units meets an earlier alternative than the choice.
func (c *Choice) Betters(u Units) bool {
	i, known := u.choice[c.kind]
	return known && i >= 0 && i+1 < c.Place
}

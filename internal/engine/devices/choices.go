package devices

// Choice is the first alternative of a request that a node can meet.
type Choice struct {
	// Claim and Request are the names of the claim and the request. Alternative is the name of the alternative that is met:
	// request/subrequest. Place is the position of this alternative among the alternatives of the request, from 1. Of is the number of
	// these alternatives.
	Claim, Request, Alternative string
	Place, Of                   int
	kind                        int
}

// Choices returns, in the order of kinds, the alternatives by which a node with the units meets the needs. It omits requests whose first
// alternative is met.
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

// Betters reports whether a node with the units meets an earlier alternative of the same request than c.
func (c *Choice) Betters(u Units) bool {
	i, known := u.choice[c.kind]
	return known && i >= 0 && i+1 < c.Place
}

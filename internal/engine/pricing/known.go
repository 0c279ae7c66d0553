package pricing

// FromKnown proves item values that are known from a similar problem. For items without a known value, it computes values that fit the
// known ones. It changes the slice u.
func FromKnown(p *Problem, u []float64, unknown []bool) *Values {
	pr := NewProgram(p, PlacesInUse(p.Items))
	mean := make([]float64, len(pr.Bundles))
	for b := range pr.Bundles {
		bn, count := &pr.Bundles[b], 0.0
		for _, i := range bn.Items {
			mean[b] += u[i] * float64(p.Items[i].Count)
			count += float64(p.Items[i].Count)
		}
		mean[b] /= max(count, 1)
	}
	pr.settle(mean)
	for b := range pr.Bundles {
		bn := &pr.Bundles[b]
		for _, i := range bn.Items {
			switch need := p.Items[i].Need; {
			case unknown[i]:
				u[i] = pr.cheapest(bn, pr.Lambda, func(d int) float64 { return float64(need[d]) })
			case bn.uniform:
				u[i] = mean[b]
			}
		}
		if bn.uniform { // the proof uses the same value for all items of a uniform bundle
			for _, i := range bn.Items {
				u[i] = min(u[i], u[bn.Items[0]])
				u[bn.Items[0]] = u[i]
			}
		}
	}
	v := &Values{}
	v.take(pr, u, pr.Lambda)
	return v
}

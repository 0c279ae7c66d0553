// Package adoption takes over a cluster that Karpenter scales: its NodePools, NodeClaims and instances stay what they are, and no
// node is replaced for the sake of it.
//
// Guard finds out whether Karpenter still acts: it holds its lease. Lock prevents the election of a controller in the meantime, and
// runs the adoption before it. Observe and Plan say beforehand what becomes of every object and instance; Apply brings what is
// written down about them up to date. CheckDefinitions says which stored objects the definitions would refuse, or drop fields of.
//
//	guard := &adoption.Guard{Reader: c}
//	var held *adoption.HeldError
//	if err := guard.Check(ctx); errors.As(err, &held) {
//		log.Warn("waiting for Karpenter to stop", "holder", held.Holder)
//	}
//	seen, err := adoption.Observe(ctx, c, provider)
//	if err != nil {
//		return err
//	}
//	for _, finding := range adoption.Plan(seen, time.Now()) {
//		fmt.Println(finding)
//	}
package adoption

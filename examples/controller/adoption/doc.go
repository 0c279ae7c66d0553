// Package adoption takes over a cluster from Karpenter: its NodePools, NodeClaims and instances stay unchanged, and the takeover
// replaces no node.
//
// Guard checks whether Karpenter still acts, that is, holds its lease. While it does, Lock prevents the election of a leader;
// afterwards it runs the adoption before the election. Observe and Plan predict what will happen to every object and instance;
// Apply updates labels and hashes on the objects. CheckDefinitions returns the stored objects that the CRDs would refuse, or whose
// fields they would drop.
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

package decision_test

import (
	"fmt"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/disruption/decision"
	"github.com/drawknife/drawknife/scheduling/planning"
)

// A command in a sentence, and as a digest that stays the same when it is planned again.
func ExampleCommand() {
	cmd := &decision.Command{
		Method: decision.MethodMultiNode, Reason: decision.ReasonUnderutilized, Savings: 0.17,
		Members: []decision.Member{
			{Node: "worker-1", Claim: "default-a1", Pool: v1.PoolKey{Name: "default"}, Pods: []planning.PodKey{{Namespace: "shop", Name: "web-0"}}},
			{Node: "worker-2", Claim: "default-b2", Pool: v1.PoolKey{Name: "default"}},
		},
	}
	fmt.Println(cmd)
	digest := cmd.Digest()
	cmd.Savings = 0.16 // prices have changed a little
	fmt.Println(cmd.Digest() == digest)
	// Output:
	// delete worker-1, worker-2 (Underutilized), moving 1 pods, saving 0.1700 USD/h
	// true
}

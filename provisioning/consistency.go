package provisioning

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
)

// consistencyEvery is how often a node is compared with its NodeClaim.
const consistencyEvery = 10 * time.Minute

// leastShare is the share of the promised capacity that a node must have: 90 %.
const leastSharePercent = 90

// CheckConsistency checks that a claim's node has at least 90 % of the capacity that the provider promised, for each resource that
// the claim requests. It skips claims that are not initialized or are being deleted.
func CheckConsistency(claim *v1.NodeClaim, nodes []*corev1.Node, now time.Time) Step {
	if claim == nil {
		return Step{}
	}
	conditions := claim.DeepCopy().Conditions()
	if claim.DeletionTimestamp != nil || claim.Status.ProviderID == "" || !conditions.IsTrue(v1.ConditionInitialized) || len(nodes) != 1 {
		return Step{Again: consistencyEvery}
	}
	var missing []string
	requests := claim.Spec.Resources.Requests
	for _, name := range slices.Sorted(maps.Keys(requests)) {
		asked, promised, has := requests[name], claim.Status.Capacity[name], nodes[0].Status.Capacity[name]
		if asked.IsZero() || promised.IsZero() {
			continue
		}
		// Shares are compared, because milli-units of bytes could overflow.
		if has.AsApproximateFloat64()*100 < promised.AsApproximateFloat64()*leastSharePercent {
			missing = append(missing, fmt.Sprintf("expected %s of resource %s, but found %s (%.1f%% of expected)",
				promised.String(), name, has.String(), 100*has.AsApproximateFloat64()/promised.AsApproximateFloat64()))
		}
	}
	out := claim.DeepCopy()
	if len(missing) == 0 {
		out.Conditions().SetTrue(v1.ConditionConsistentStateFound, now)
		return changed(claim, out, consistencyEvery)
	}
	message := strings.Join(missing, "; ")
	out.Conditions().SetFalse(v1.ConditionConsistentStateFound, "ConsistencyCheckFailed", message, now)
	step := changed(claim, out, consistencyEvery)
	step.Events = []Event{claimEvent(claim, EventFailedConsistencyCheck, message)}
	return step
}

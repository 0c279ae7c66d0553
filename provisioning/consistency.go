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

// consistencyEvery is how often a node is compared with what its NodeClaim promised.
const consistencyEvery = 10 * time.Minute

// leastShare is how much of what was promised a node must have: 90 %.
const leastSharePercent = 90

// CheckConsistency compares a claim's node with what its instance was promised to have: of each resource that
// the claim asks for, at least 90 % of the capacity that the provider stated. Only initialised claims that are not
// being deleted are looked at.
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
		// Compared as shares of the whole, so that neither milli-units nor bytes overflow.
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

package provisioning

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
)

// reasonDevicesMissing is the reason, with Karpenter's name, of a claim's condition Initialized while drivers have not published the
// planned devices.
const reasonDevicesMissing = "DRADriverPoolsNotPublished"

// driverPatience is how long after the registration of a node its drivers may take to publish devices before an event names the missing
// driver. Until then, plans use the devices of the instance type.
const driverPatience = 10 * time.Minute

// missingDevices names the drivers that the claim was planned with and that have not published all of their devices on the node.
func missingDevices(s ClaimState, node *corev1.Node) (reason, message string) {
	if s.Slices == nil {
		return "", ""
	}
	var missing []string
	for _, driver := range v1.RequestedDRADrivers(s.Claim) {
		if !published(s.Slices, driver, node.Name) {
			missing = append(missing, driver)
		}
	}
	if len(missing) == 0 {
		return "", ""
	}
	return reasonDevicesMissing, fmt.Sprintf("pods were planned for devices of %s, and there are not all ResourceSlices of that driver for node %s: does the driver run there?",
		strings.Join(missing, " and "), node.Name)
}

// published reports whether the driver has a pool for the node, and all slices of each pool.
func published(list []*resourcev1.ResourceSlice, driver, node string) bool {
	type progress struct{ generation, want, have int64 }
	pools := map[string]progress{}
	for _, slice := range list {
		spec := &slice.Spec
		if spec.Driver != driver || spec.NodeName == nil || *spec.NodeName != node {
			continue
		}
		p := pools[spec.Pool.Name]
		switch {
		case p.have == 0 || spec.Pool.Generation > p.generation:
			p = progress{spec.Pool.Generation, spec.Pool.ResourceSliceCount, 1}
		case spec.Pool.Generation == p.generation:
			p.have++
		}
		pools[spec.Pool.Name] = p
	}
	for _, p := range pools {
		if p.have < p.want {
			return false
		}
	}
	return len(pools) > 0
}

// noteDrivers adds the event after the drivers' time is over, and asks to be called again then.
func noteDrivers(step Step, claim *v1.NodeClaim, message string, now time.Time) Step {
	since := registeredSince(claim)
	if left := since.Add(driverPatience).Sub(now); left > 0 {
		step.Again = untilDue(step.Again, left)
		return step
	}
	step.Again = untilDue(step.Again, driverPatience)
	step.Events = append(step.Events, Event{
		Kind: v1.KindNodeClaim, Name: claim.Name, UID: claim.UID, Warning: true, Reason: EventDriverMissing,
		Message: fmt.Sprintf("%s Registered for %s.", message, now.Sub(since).Round(time.Minute)), Every: every(driverPatience),
	})
	return step
}

// registeredSince returns when the claim's node was registered.
func registeredSince(claim *v1.NodeClaim) time.Time {
	i := slices.IndexFunc(claim.Status.Conditions, func(c metav1.Condition) bool { return c.Type == v1.ConditionRegistered })
	if i < 0 {
		return claim.CreationTimestamp.Time
	}
	return claim.Status.Conditions[i].LastTransitionTime.Time
}

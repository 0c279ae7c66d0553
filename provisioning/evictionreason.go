package provisioning

import (
	"cmp"

	v1 "github.com/drawknife/drawknife/api/v1"
)

// ForcefulTermination is the eviction reason for pods of a node that no command disrupts.
const ForcefulTermination = "Forceful Termination"

// EvictionReason returns why pods are evicted from the claim's node: the reason of the command that disrupts it (condition
// DisruptionReason), else ForcefulTermination, also for a nil claim.
func EvictionReason(claim *v1.NodeClaim) string {
	if claim == nil {
		return ForcefulTermination
	}
	for i := range claim.Status.Conditions {
		if c := &claim.Status.Conditions[i]; c.Type == v1.ConditionDisruptionReason && c.Status == "True" {
			return cmp.Or(c.Reason, ForcefulTermination)
		}
	}
	return ForcefulTermination
}

// explain sets the reason on the evictions.
func (d *Drain) explain(why string) {
	for i, effect := range d.Effects {
		switch e := effect.(type) {
		case EvictPod:
			e.Why = why
			d.Effects[i] = e
		case DeletePod:
			e.Why = why
			d.Effects[i] = e
		}
	}
}

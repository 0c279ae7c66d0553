package scheduling

import (
	"strings"

	"github.com/drawknife/drawknife/api/requirements"
)

// Label keys the scheduler itself must know; everything else about labels is in the Snapshot's vocabulary.
const (
	labelCapacityType = "karpenter.sh/capacity-type"
	labelNodePool     = "karpenter.sh/nodepool"
	labelInstanceType = "node.kubernetes.io/instance-type"
	labelHostname     = "kubernetes.io/hostname"
	labelZoneID       = "topology.k8s.aws/zone-id"
	labelRegistered   = "karpenter.sh/registered"
	labelInitialized  = "karpenter.sh/initialized"

	capacityTypeReserved = "reserved"
)

// nodeClassLabel is the key under which claims and nodes name their node class (SCH-006).
func nodeClassLabel(group, kind string) string { return group + "/" + strings.ToLower(kind) }

// both is what meets a and b. ok is false, and key says where, if nothing does: requirements that exclude each other
// intersect to "does not exist", which must not be taken for a wish that the label be absent.
func both(a, b requirements.Set) (set requirements.Set, key string, ok bool) {
	for r := range b.All {
		if a.Has(r.Key()) && contradict(a.Get(r.Key()), r) {
			return requirements.Set{}, r.Key(), false
		}
	}
	return a.Merge(b), "", true
}

// contradict reports whether no node can meet both requirements on one key.
func contradict(a, b requirements.Requirement) bool {
	return !(absentMeets(a) && absentMeets(b)) && !a.Intersects(b)
}

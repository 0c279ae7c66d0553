package scheduling

import "strings"

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

package scheduling

import (
	"strings"

	v1 "github.com/drawknife/drawknife/api/v1"
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
)

// nodeClassLabel is the key under which claims and nodes name their node class.
func nodeClassLabel(group, kind string) string { return group + "/" + strings.ToLower(kind) }

// PoolLabel is the key of the label that names the pool of its nodes, whose value is the pool's name: that of later
// generations is karpenter.sh/nodepool, that of the first karpenter.sh/provisioner-name.
func PoolLabel(pool v1.PoolKey) string { return pool.LabelKey() }

package placement

import (
	"strconv"

	"github.com/drawknife/drawknife/api/requirements"
	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
)

// Strategies of placement groups.
const (
	// StrategyCluster packs instances close together.
	StrategyCluster = "cluster"
	// StrategySpread puts each instance on separate hardware.
	StrategySpread = "spread"
	// StrategyPartition puts each partition on separate hardware.
	StrategyPartition = "partition"
)

// Group is a placement group.
type Group struct {
	// ID is "pg-…".
	ID string
	// Name of the group, which launches use.
	Name string
	// Strategy is one of the Strategy constants.
	Strategy string
	// Partitions is the number of partitions, which are numbered from 1; 0 for other strategies.
	Partitions int32
}

// Allowed returns the partitions that requirements allow, in ascending order, or nil for groups without partitions.
func (g *Group) Allowed(want requirements.Set) []int32 {
	if g == nil || g.Strategy != StrategyPartition {
		return nil
	}
	wanted := want.Get(awsv1.LabelPlacementGroupPartition)
	var allowed []int32
	for n := int32(1); n <= g.Partitions; n++ {
		if wanted.Has(strconv.Itoa(int(n))) {
			allowed = append(allowed, n)
		}
	}
	return allowed
}

// Partition returns the partition for a launch: the lowest by number that the requirements allow and that has room. If hasRoom reports no
// room in any of them, the lowest allowed partition is returned, because only EC2 knows the real capacity. hasRoom may be nil. It returns 0
// for groups without partitions, and false if the requirements allow no partition.
func (g *Group) Partition(want requirements.Set, hasRoom func(partition int32) bool) (partition int32, ok bool) {
	if g == nil || g.Strategy != StrategyPartition {
		return 0, true
	}
	allowed := g.Allowed(want)
	if len(allowed) == 0 {
		return 0, false
	}
	for _, n := range allowed {
		if hasRoom == nil || hasRoom(n) {
			return n, true
		}
	}
	return allowed[0], true
}

// Labels returns the labels of an instance in the group. They include the partition, unless partition is 0. The result is nil if g is nil.
func (g *Group) Labels(partition int32) map[string]string {
	if g == nil {
		return nil
	}
	labels := map[string]string{awsv1.LabelPlacementGroupID: g.ID}
	if partition > 0 {
		labels[awsv1.LabelPlacementGroupPartition] = strconv.Itoa(int(partition))
	}
	return labels
}

// Pending reports whether a node must wait before it is registered: if its group has partitions, and EC2 has not reported the node's
// partition yet. instancePartition is the partition that EC2 reports, or 0.
func (g *Group) Pending(instancePartition int32) bool {
	return g != nil && g.Strategy == StrategyPartition && instancePartition == 0
}

// Drifted reports whether an instance's labels name another placement group than its class selects. "No group" is treated as a group: it
// differs from every real group.
func Drifted(labels map[string]string, g *Group) bool {
	id := ""
	if g != nil {
		id = g.ID
	}
	return labels[awsv1.LabelPlacementGroupID] != id
}

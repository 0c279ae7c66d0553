package existing

import (
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/internal/engine/market"
	"github.com/drawknife/drawknife/internal/engine/volumes"
	"github.com/drawknife/drawknife/scheduling/planning"
)

// AttachLimits are the limits on attached volumes of existing nodes. They come from the CSINode of the node, or from its instance type
// while the node is being launched.
type AttachLimits struct {
	nodes map[string]map[string]int64
	types map[string]*cloudprovider.InstanceType
}

// NewAttachLimits reads the volume limits of CSINodes and of the catalogs' instance types.
func NewAttachLimits(csi []*storagev1.CSINode, catalogs map[string][]*cloudprovider.InstanceType) *AttachLimits {
	l := &AttachLimits{nodes: make(map[string]map[string]int64, len(csi)), types: map[string]*cloudprovider.InstanceType{}}
	for _, n := range csi {
		l.nodes[n.Name] = volumes.NodeLimits(n)
	}
	for _, list := range catalogs {
		for _, it := range list {
			if it != nil && len(it.VolumeLimits) > 0 {
				l.types[it.Name] = it // types with the same name have the same limits in every catalog
			}
		}
	}
	return l
}

func (l *AttachLimits) of(n *planning.Node, view *View) func(driver string) (int64, bool) {
	if known, ok := l.nodes[n.Name]; ok {
		return func(driver string) (int64, bool) {
			limit, ok := known[driver]
			return limit, ok
		}
	}
	if it := l.types[view.Labels[corev1.LabelInstanceTypeStable]]; it != nil && !view.Initialized {
		return market.AttachLimit(it)
	}
	return func(string) (int64, bool) { return 0, false }
}

package scheduling

import (
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/internal/engine/market"
	"github.com/drawknife/drawknife/internal/engine/volumes"
)

// attachLimits are the limits of the machines there are: what the CSINode says, else, for a machine on its way, what its
// instance type says.
type attachLimits struct {
	nodes map[string]map[string]int64
	types map[string]*cloudprovider.InstanceType
}

// newAttachLimits reads the limits that nodes report and those of the catalogs' instance types.
func newAttachLimits(csi []*storagev1.CSINode, catalogs map[string][]*cloudprovider.InstanceType) *attachLimits {
	l := &attachLimits{nodes: make(map[string]map[string]int64, len(csi)), types: map[string]*cloudprovider.InstanceType{}}
	for _, n := range csi {
		l.nodes[n.Name] = volumes.NodeLimits(n)
	}
	for _, list := range catalogs {
		for _, it := range list {
			if it != nil && len(it.VolumeLimits) > 0 {
				l.types[it.Name] = it // types of one name have the same limits wherever they are listed
			}
		}
	}
	return l
}

func (l *attachLimits) of(n *nodeSource, view *nodeView) func(driver string) (int64, bool) {
	if known, ok := l.nodes[n.Name]; ok {
		return func(driver string) (int64, bool) {
			limit, ok := known[driver]
			return limit, ok
		}
	}
	if it := l.types[view.labels[corev1.LabelInstanceTypeStable]]; it != nil && !view.initialized {
		return market.AttachLimit(it)
	}
	return func(string) (int64, bool) { return 0, false }
}

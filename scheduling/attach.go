package scheduling

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/internal/engine/likeness"
	"github.com/drawknife/drawknife/internal/engine/market"
	"github.com/drawknife/drawknife/internal/engine/podclass"
	"github.com/drawknife/drawknife/internal/engine/resources"
	"github.com/drawknife/drawknife/internal/engine/volumes"
)

// A volume that several pods of one machine share takes one place of its driver: see sharedvolumes.go.

// attachNames adds a resource for each driver whose volumes the pod attaches.
func (m *Model) attachNames(pod *corev1.Pod, into map[corev1.ResourceName]struct{}) {
	if len(pod.Spec.Volumes) == 0 {
		return
	}
	for _, claim := range m.volumes.Attached(pod) {
		into[resources.Attachable(claim.Driver)] = struct{}{}
	}
}

// attachLimits are the limits of the machines there are: what the CSINode says, else, for a machine on its way, what its
// instance type says.
type attachLimits struct {
	nodes map[string]map[string]int64
	types map[string]*cloudprovider.InstanceType
}

func newAttachLimits(s *Snapshot) *attachLimits {
	l := &attachLimits{nodes: make(map[string]map[string]int64, len(s.CSINodes)), types: map[string]*cloudprovider.InstanceType{}}
	for _, n := range s.CSINodes {
		l.nodes[n.Name] = volumes.NodeLimits(n)
	}
	for _, list := range s.Catalogs {
		for _, it := range list {
			if it != nil && len(it.VolumeLimits) > 0 {
				l.types[it.Name] = it // types of one name have the same limits wherever they are listed
			}
		}
	}
	return l
}

func (l *attachLimits) of(n *Node, view *nodeView) func(driver string) (int64, bool) {
	if known, ok := l.nodes[n.Name]; ok {
		return func(driver string) (int64, bool) {
			limit, ok := known[driver]
			return limit, ok
		}
	}
	if it := l.types[view.labels[labelInstanceType]]; it != nil && !view.initialized {
		return market.AttachLimit(it)
	}
	return func(string) (int64, bool) { return 0, false }
}

// giveBackShared corrects a machine's room for volumes that several of its pods share: each counts once.
func (m *Model) giveBackShared(pods []*corev1.Pod, free []int64) {
	seen := map[volumes.ID]bool{}
	for _, pod := range pods {
		if len(pod.Spec.Volumes) == 0 || likeness.Ended(pod) {
			continue
		}
		for _, c := range m.volumes.Attached(pod) {
			if c.Handle != "" && seen[c.ID] {
				if at, ok := m.resources.At(resources.Attachable(c.Driver)); ok {
					free[at]++
				}
			}
			seen[c.ID] = true
		}
	}
}

// certificateRequests are a class's requests with its volumes, for a certificate; volumes it shares may cost it nothing.
func (m *Model) certificateRequests(c *podclass.Class) corev1.ResourceList {
	out, requests := resources.OfPod(c.Sample), c.Unshared()
	for at, name := range m.resources.Names {
		if resources.Attaches(name) && requests[at] > 0 {
			out[name] = *resource.NewQuantity(requests[at], resource.DecimalSI)
		}
	}
	return out
}

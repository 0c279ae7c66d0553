package scheduling

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/internal/engine/existing"
	"github.com/drawknife/drawknife/internal/engine/likeness"
	"github.com/drawknife/drawknife/internal/engine/podclass"
	"github.com/drawknife/drawknife/internal/engine/resources"
)

// What claims need and nodes have of devices is found by compiling. An Update takes it over as long as the objects that say so, the nodes
// that have devices, and the pods that ask for them are as they were, and no node has become so old that its drivers should have published.

// noteStart notes until when the node may wait for its drivers to publish.
func (k *deviceStock) noteStart(n *Node, now time.Time) {
	if !driversStart(n, now) {
		return
	}
	if end := n.Object.CreationTimestamp.Add(driverStart); k.until.IsZero() || end.Before(k.until) {
		k.until = end
	}
}

// stand reports whether a later snapshot with the same claims, classes and slices has the same devices, as far as time goes.
func (x *deviceIndex) stand(s *Snapshot) bool {
	return x == nil || x.until.IsZero() || s.Time.Before(x.until)
}

// concerns reports whether the pod asks for devices, or for what devices could serve.
func (x *deviceIndex) concerns(pod *corev1.Pod) bool {
	if likeness.ClaimsDevices(&pod.Spec) {
		return true
	}
	if x == nil || len(x.extended) == 0 {
		return false
	}
	requests := resources.OfPod(pod)
	for i := range x.extended {
		if _, asks := requests[x.extended[i].name]; asks {
			return true
		}
	}
	return false
}

// has reports whether the node has devices, or will have some.
func (x *deviceIndex) has(n *Node) bool {
	if x == nil {
		return false
	}
	if x.published[n.Name] {
		return true
	}
	view := existing.ViewOf(n)
	return x.typed[view.Labels[labelInstanceType]]
}

// reads is the index as classes of pods read it.
func (x *deviceIndex) reads() podclass.Devices {
	if x == nil {
		return nil
	}
	return x
}

// devicesStand reports whether all nodes that have devices are as they were.
func (u *update) devicesStand() bool {
	x := u.was.devices
	if x == nil {
		return true
	}
	for _, c := range u.changed {
		n := &u.snapshot.Nodes[c.at]
		if c.was >= 0 {
			if old := u.was.nodes[c.was].Source; old.Object == n.Object && old.Claim == n.Claim {
				continue
			}
			if x.has(u.was.nodes[c.was].Source) {
				return false
			}
		}
		if x.has(n) {
			return false
		}
	}
	for _, was := range u.gone {
		if x.has((*Node)(u.was.nodes[was].Source)) {
			return false
		}
	}
	return true
}

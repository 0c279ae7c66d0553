package claimed

import (
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/internal/engine/devices"
	"github.com/drawknife/drawknife/internal/engine/existing"
	"github.com/drawknife/drawknife/internal/engine/likeness"
	"github.com/drawknife/drawknife/internal/engine/podclass"
	"github.com/drawknife/drawknife/internal/engine/resources"
	"github.com/drawknife/drawknife/scheduling/planning"
)

// noteStart considers the time by which the drivers of the node n must have published its devices. If n is so new that its drivers may
// still be starting, and this time is before k.until or k.until is zero, noteStart sets k.until to it.
func (k *deviceStock) noteStart(n *planning.Node, now time.Time) {
	if !driversStart(n, now) {
		return
	}
	if end := n.Object.CreationTimestamp.Add(driverStart); k.until.IsZero() || end.Before(k.until) {
		k.until = end
	}
}

// Stand reports whether the index is still valid for a later snapshot with the same claims, DeviceClasses and ResourceSlices. The index
// becomes invalid at the time x.until.
func (x *Index) Stand(s *planning.Snapshot) bool {
	return x == nil || x.until.IsZero() || s.Time.Before(x.until)
}

// Concerns reports whether the pod claims devices, or requests a resource that devices could serve.
func (x *Index) Concerns(pod *corev1.Pod) bool {
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

// Has reports whether the node has devices, or will have devices according to its instance type.
func (x *Index) Has(n *planning.Node) bool {
	if x == nil {
		return false
	}
	if x.published[n.Name] {
		return true
	}
	view := existing.ViewOf(n)
	return x.typed[view.Labels[corev1.LabelInstanceTypeStable]]
}

// Reads returns the index as a value of the interface that package podclass uses.
func (x *Index) Reads() podclass.Devices {
	if x == nil {
		return nil
	}
	return x
}

// Needed reports whether the requests include device resources.
func (x *Index) Needed(requests []int64) bool {
	return slices.ContainsFunc(x.Dims, func(at int) bool { return requests[at] > 0 })
}

// ChoiceText returns a text about equal pods that do not get the first alternative of their claim on new nodes of the named type. The text
// has the number of pods and the reason.
func (x *Index) ChoiceText(c *devices.Choice, name string, pods int32) string {
	why := "no instance type has an earlier one"
	for _, better := range x.OfTypes {
		if c.Betters(better) {
			why = "what has an earlier one costs more, or is not to be had"
		}
	}
	like := ""
	if pods > 1 {
		like = fmt.Sprintf(", of this pod and %d like it,", pods-1)
	}
	return fmt.Sprintf("request %s of claim %s%s is met by alternative %s, number %d of %d, on new nodes of type %s: %s",
		c.Request, c.Claim, like, c.Alternative, c.Place, c.Of, name, why)
}

package podclass

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/internal/engine/match"
	"github.com/drawknife/drawknife/internal/engine/nodepool"
	"github.com/drawknife/drawknife/internal/engine/resources"
	"github.com/drawknife/drawknife/internal/engine/volumes"
)

// Reader reads the demands of pods on nodes.
type Reader struct {
	Terms     match.Terms
	Volumes   *volumes.Index
	Resources *resources.Table
	// Pools are the pools that may launch nodes, the pool with the highest weight first.
	Pools []*nodepool.Pool
	// Asked collects the labels that pods or rules ask about.
	Asked map[string]bool
	// Devices reads claims of devices. It is nil if no pod has such claims.
	Devices Devices
}

// Devices reads the device claims of pods.
type Devices interface {
	// Text returns the same text for pods with equal claims.
	Text(pod *corev1.Pod) string
	// Pins returns selectors for the nodes that can use the devices already allocated to the pod's claims: the pod must run on a node that
	// all these selectors select.
	Pins(pod *corev1.Pod) []*corev1.NodeSelector
	// Tolerations returns the pod's tolerations. If other pods must run on the same node as this pod, it returns the tolerations that all
	// these pods have in common.
	Tolerations(pod *corev1.Pod) []corev1.Toleration
	// AddTo adds to requests the devices of the pod's claims, and the devices that could serve its extended resources. The error says why
	// the claims can't be planned.
	AddTo(pod *corev1.Pod, requests []int64) error
}

// ask records that pods or rules ask about the labels.
func (r *Reader) ask(n match.Needs) { AskAbout(r.Asked, n) }

// AskAbout adds to asked the labels that the needs n ask about.
func AskAbout(asked map[string]bool, n match.Needs) {
	for _, r := range n {
		asked[r.Key()] = true
	}
}

// ShapeClass sets the shape of the class, and checks whether its pods can be planned.
func (r *Reader) ShapeClass(c *Class, s *Shape, number int32) {
	c.Shape = number
	ruleErr := c.Invalid
	if c.Invalid = resources.CheckPod(c.Sample); c.Invalid == nil {
		c.Invalid = s.Invalid
	}
	if c.Invalid == nil {
		c.Invalid = ruleErr
	}
	r.readDevices(c)
	r.readVolumes(c)
}

// readDevices adds the devices that the claims of a class's pods need to the class's requests.
func (r *Reader) readDevices(c *Class) {
	if r.Devices == nil {
		return
	}
	if err := r.Devices.AddTo(c.Sample, c.Requests); err != nil && c.Invalid == nil {
		c.Invalid = err
	}
}

// readVolumes reads the demands of the volumes that a class's pods use.
func (r *Reader) readVolumes(c *Class) {
	if len(c.Sample.Spec.Volumes) == 0 {
		return
	}
	// Pods that can't be planned also keep their attached volumes.
	for _, v := range r.Volumes.Attached(c.Sample) {
		if at, ok := r.Resources.At(resources.Attachable(v.Driver)); ok {
			c.Requests[at]++
		}
	}
	c.Shared = r.sharedVolumes(c)
	if _, err := r.Volumes.Of(c.Sample); err != nil && c.Invalid == nil {
		c.Invalid = err
	}
}

// sharedVolumes returns the shared volumes of a class's pods.
func (r *Reader) sharedVolumes(c *Class) []SharedVolume {
	if len(c.Sample.Spec.Volumes) == 0 {
		return nil
	}
	var out []SharedVolume
	for _, claim := range r.Volumes.Attached(c.Sample) {
		if dim, ok := r.Resources.At(resources.Attachable(claim.Driver)); ok && claim.Shared && claim.Handle != "" {
			out = append(out, SharedVolume{dim, claim.ID})
		}
	}
	return out
}

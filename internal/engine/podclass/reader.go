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
	// Pools are the pools that may launch nodes, heaviest first.
	Pools []*nodepool.Pool
	// Asked receives the labels that pods or rules ask about.
	Asked map[string]bool
	// Devices reads claims of devices; nil if no pod has any.
	Devices Devices
}

// Devices reads the device claims of pods.
type Devices interface {
	// Text is equal for pods with equal claims.
	Text(pod *corev1.Pod) string
	// Pins are the places of the devices that are already allocated to the pod's claims: the pod must go to nodes that all pins select.
	Pins(pod *corev1.Pod) []*corev1.NodeSelector
	// Tolerations are the tolerations of the pod, or the tolerations that all pods which follow it share.
	Tolerations(pod *corev1.Pod) []corev1.Toleration
	// AddTo adds the pod's claims, and extended resources that devices could serve, to its requests. The error says why the claims can't
	// be planned.
	AddTo(pod *corev1.Pod, requests []int64) error
}

// ask records that pods or rules ask about the labels.
func (r *Reader) ask(n match.Needs) { AskAbout(r.Asked, n) }

// AskAbout records the labels that n asks about.
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

// readDevices adds the device claims of a class's pods to their requests.
func (r *Reader) readDevices(c *Class) {
	if r.Devices == nil {
		return
	}
	if err := r.Devices.AddTo(c.Sample, c.Requests); err != nil && c.Invalid == nil {
		c.Invalid = err
	}
}

// readVolumes reads the volume demands of the pods of a class.
func (r *Reader) readVolumes(c *Class) {
	if len(c.Sample.Spec.Volumes) == 0 {
		return
	}
	// Refused pods also keep their attached volumes.
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

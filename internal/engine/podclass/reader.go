package podclass

import (
	"errors"

	"github.com/drawknife/drawknife/internal/engine/likeness"
	"github.com/drawknife/drawknife/internal/engine/match"
	"github.com/drawknife/drawknife/internal/engine/nodepool"
	"github.com/drawknife/drawknife/internal/engine/resources"
	"github.com/drawknife/drawknife/internal/engine/volumes"
)

// Reader reads what pods ask of nodes.
type Reader struct {
	Terms     match.Terms
	Volumes   *volumes.Index
	Resources *resources.Table
	// Pools are those that may launch nodes, heaviest first.
	Pools []*nodepool.Pool
	// Asked receives the labels that somebody asks about.
	Asked map[string]bool
}

// ask notes that somebody asks about the labels.
func (r *Reader) ask(n match.Needs) { AskAbout(r.Asked, n) }

// AskAbout notes the labels that n asks about.
func AskAbout(asked map[string]bool, n match.Needs) {
	for _, r := range n {
		asked[r.Key()] = true
	}
}

// ShapeClass gives the class its shape, and finds out whether its pods can be planned.
func (r *Reader) ShapeClass(c *Class, s *Shape, number int32) {
	c.Shape = number
	ruleErr := c.Invalid
	if c.Invalid = resources.CheckPod(c.Sample); c.Invalid == nil {
		c.Invalid = s.Invalid
	}
	if c.Invalid == nil {
		c.Invalid = ruleErr
	}
	if c.Invalid == nil && likeness.ClaimsDevices(&c.Sample.Spec) {
		c.Invalid = errDeviceClaims
	}
	r.readVolumes(c)
}

// errDeviceClaims is why pods that claim devices are not planned.
var errDeviceClaims = errors.New("it claims devices through dynamic resource allocation, which is not planned: ask for an extended resource instead, or place it by hand")

// readVolumes reads what the pods of a class ask for with their volumes.
func (r *Reader) readVolumes(c *Class) {
	if len(c.Sample.Spec.Volumes) == 0 {
		return
	}
	// Also pods that are refused hold what they have attached.
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

// sharedVolumes are those of a class's pods.
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

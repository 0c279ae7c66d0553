package scheduling

import (
	"errors"

	"github.com/drawknife/drawknife/internal/engine/likeness"
	"github.com/drawknife/drawknife/internal/engine/match"
	"github.com/drawknife/drawknife/internal/engine/nodepool"
	"github.com/drawknife/drawknife/internal/engine/resources"
	"github.com/drawknife/drawknife/internal/engine/volumes"
)

// reader reads what pods ask of nodes.
type reader struct {
	terms     match.Terms
	volumes   *volumes.Index
	resources *resources.Table
	// pools are those that may launch nodes, heaviest first.
	pools []*nodepool.Pool
	// asked receives the labels that somebody asks about.
	asked map[string]bool
}

// ask notes that somebody asks about the labels.
func (r *reader) ask(n match.Needs) { askAbout(r.asked, n) }

// askAbout notes the labels that n asks about.
func askAbout(asked map[string]bool, n match.Needs) {
	for _, r := range n {
		asked[r.Key()] = true
	}
}

// shapeClass gives the class its shape, and finds out whether its pods can be planned.
func (r *reader) shapeClass(c *class, s *shape, number int32) {
	c.shape = number
	ruleErr := c.invalid
	if c.invalid = resources.CheckPod(c.sample); c.invalid == nil {
		c.invalid = s.invalid
	}
	if c.invalid == nil {
		c.invalid = ruleErr
	}
	if c.invalid == nil && likeness.ClaimsDevices(&c.sample.Spec) {
		c.invalid = errDeviceClaims
	}
	r.readVolumes(c)
}

// errDeviceClaims is why pods that claim devices are not planned.
var errDeviceClaims = errors.New("it claims devices through dynamic resource allocation, which is not planned: ask for an extended resource instead, or place it by hand")

// readVolumes reads what the pods of a class ask for with their volumes.
func (r *reader) readVolumes(c *class) {
	if len(c.sample.Spec.Volumes) == 0 {
		return
	}
	// Also pods that are refused hold what they have attached.
	for _, v := range r.volumes.Attached(c.sample) {
		if at, ok := r.resources.At(resources.Attachable(v.Driver)); ok {
			c.requests[at]++
		}
	}
	c.shared = r.sharedVolumes(c)
	if _, err := r.volumes.Of(c.sample); err != nil && c.invalid == nil {
		c.invalid = err
	}
}

// sharedVolumes are those of a class's pods.
func (r *reader) sharedVolumes(c *class) []sharedVolume {
	if len(c.sample.Spec.Volumes) == 0 {
		return nil
	}
	var out []sharedVolume
	for _, claim := range r.volumes.Attached(c.sample) {
		if dim, ok := r.resources.At(resources.Attachable(claim.Driver)); ok && claim.Shared && claim.Handle != "" {
			out = append(out, sharedVolume{dim, claim.ID})
		}
	}
	return out
}

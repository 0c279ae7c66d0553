package fake

import (
	"context"
	"fmt"
	"slices"
	"time"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
)

// ImageDrift is the reason of instances that run another image than new ones would.
const ImageDrift cloudprovider.DriftReason = "ImageDrift"

// SetImageID is the image that instances boot from now on. Those there are keep theirs and have drifted.
func (c *Cloud) SetImageID(id string) {
	_ = c.lever(Event{Name: "SetImageID", Text: id}, func(time.Time) error {
		c.imageID = id
		return nil
	})
}

// SetDrift says that an instance has drifted for that reason; the empty reason takes it back. The error is of kind
// NodeClaimNotFound when there is no such instance.
func (c *Cloud) SetDrift(providerID string, reason cloudprovider.DriftReason) error {
	e := Event{Name: "SetDrift", ProviderID: providerID, Text: string(reason)}
	return c.change("setting drift", e, func(m *machine) { m.drift = reason })
}

// change is a test's lever on one instance of any cluster.
func (c *Cloud) change(doing string, e Event, lever func(*machine)) error {
	return c.lever(e, func(time.Time) error {
		m, ok := c.machines[e.ProviderID]
		if !ok {
			return fmt.Errorf("%s: %w", doing, cloudprovider.NewNodeClaimNotFoundError(e.ProviderID, nil))
		}
		lever(m)
		return nil
	})
}

// IsDrifted is the reason given to SetDrift, else ImageDrift for an instance of another image than new ones get.
func (c *Cloud) IsDrifted(ctx context.Context, nodeClaim *v1.NodeClaim) (reason cloudprovider.DriftReason, err error) {
	err = c.onInstance(ctx, MethodIsDrifted, nodeClaim, func(m *machine, _ time.Time) {
		switch {
		case m.drift != "":
			reason = m.drift
		case m.ImageID != c.imageID:
			reason = ImageDrift
		}
	})
	if err != nil {
		return "", err
	}
	return reason, nil
}

// RepairPolicies are Options.RepairPolicies.
func (c *Cloud) RepairPolicies() []cloudprovider.RepairPolicy {
	return slices.Clone(c.options.RepairPolicies)
}

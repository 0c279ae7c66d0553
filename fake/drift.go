package fake

import (
	"context"
	"fmt"
	"slices"
	"time"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
)

// ImageDrift is the drift reason of instances whose image differs from that of new instances.
const ImageDrift cloudprovider.DriftReason = "ImageDrift"

// SetImageID sets the image of new instances. Existing instances keep their image, so they have drifted from then on.
func (c *Cloud) SetImageID(id string) {
	_ = c.lever(Event{Name: "SetImageID", Text: id}, func(time.Time) error {
		c.imageID = id
		return nil
	})
}

// SetDrift marks an instance as drifted for the reason. An empty reason removes the mark. If no instance has this provider ID, the error
// has kind NodeClaimNotFound.
func (c *Cloud) SetDrift(providerID string, reason cloudprovider.DriftReason) error {
	e := Event{Name: "SetDrift", ProviderID: providerID, Text: string(reason)}
	return c.change("setting drift", e, func(m *instance) { m.drift = reason })
}

// change makes a change that a test requests: it calls lever(m) with one instance m of any cluster. Error texts begin with the text of the
// parameter doing.
func (c *Cloud) change(doing string, e Event, lever func(*instance)) error {
	return c.lever(e, func(time.Time) error {
		m, ok := c.instances[e.ProviderID]
		if !ok {
			return fmt.Errorf("%s: %w", doing, cloudprovider.NewNodeClaimNotFoundError(e.ProviderID, nil))
		}
		lever(m)
		return nil
	})
}

// IsDrifted returns the reason given to SetDrift. Without such a reason, it returns ImageDrift if new instances have a different image.
func (c *Cloud) IsDrifted(ctx context.Context, nodeClaim *v1.NodeClaim) (reason cloudprovider.DriftReason, err error) {
	err = c.onInstance(ctx, MethodIsDrifted, nodeClaim, func(m *instance, _ time.Time) {
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

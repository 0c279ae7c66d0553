package fake

import (
	"context"
	"fmt"
	"slices"
	"time"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
)

// ImageDrift is the reason of machines that run another image than new ones would.
const ImageDrift cloudprovider.DriftReason = "ImageDrift"

// SetImageID is the image that machines boot from now on. Those there are keep theirs and have drifted.
func (c *Cloud) SetImageID(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.imageID = id
}

// SetDrift says that a machine has drifted for that reason; the empty reason takes it back. The error is of kind
// NodeClaimNotFound when there is no such machine.
func (c *Cloud) SetDrift(providerID string, reason cloudprovider.DriftReason) error {
	return c.change("setting drift", providerID, func(m *machine) { m.drift = reason })
}

// change is a test's lever on one machine of any cluster.
func (c *Cloud) change(doing, providerID string, lever func(*machine)) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	m, ok := c.machines[providerID]
	if !ok {
		return fmt.Errorf("%s: %w", doing, cloudprovider.NewNodeClaimNotFoundError(providerID, nil))
	}
	lever(m)
	return nil
}

// IsDrifted is the reason given to SetDrift, else ImageDrift for a machine of another image than new ones get.
func (c *Cloud) IsDrifted(ctx context.Context, nodeClaim *v1.NodeClaim) (reason cloudprovider.DriftReason, err error) {
	err = c.onMachine(ctx, MethodIsDrifted, nodeClaim, func(m *machine, _ time.Time) {
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

package fake

import (
	"context"
	"time"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
)

// HoldRegistration keeps the registration gate of an instance closed for a reason, until it is called with an empty reason. A gate that was
// reported open stays open. If no instance has this provider ID, the error has kind NodeClaimNotFound.
func (c *Cloud) HoldRegistration(providerID, reason string) error {
	e := Event{Name: "HoldRegistration", ProviderID: providerID, Text: reason}
	return c.change("holding registration", e, func(m *instance) { m.gateHeld = reason })
}

// Registered reports the gate as open if the instance is running and HoldRegistration does not keep it closed. For a pending instance it
// returns the remaining boot time.
func (c *Cloud) Registered(ctx context.Context, nodeClaim *v1.NodeClaim) (result cloudprovider.GateResult, err error) {
	err = c.onInstance(ctx, MethodRegistered, nodeClaim, func(m *instance, now time.Time) {
		switch {
		case m.gateOpened:
		case m.Phase == Pending:
			result = cloudprovider.GateResult{RetryAfter: m.RunningAt.Sub(now), Reason: "the instance is booting"}
			return
		case m.Phase != Running:
			result = cloudprovider.GateResult{Reason: "the instance is shutting down"}
			return
		case m.gateHeld != "":
			result = cloudprovider.GateResult{Reason: m.gateHeld}
			return
		}
		m.gateOpened = true
		result = cloudprovider.GateResult{Open: true}
	})
	if err != nil {
		return cloudprovider.GateResult{}, err
	}
	return result, nil
}

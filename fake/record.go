package fake

import (
	"maps"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
)

// instance is an Instance with data that only the cloud knows. The lock of the account guards it.
type instance struct {
	Instance
	owner owner
	// labels are the labels of the instance itself, without labels that come only from its claim.
	labels map[string]string
	// reservation is the reservation that the instance uses, or nil if it uses no reservation.
	reservation *reservation
	drift       cloudprovider.DriftReason
	// gateHeld is the reason why the registration gate is kept closed; empty if HoldRegistration does not keep it closed.
	gateHeld string
	// gateOpened means that Registered has reported the gate as open. After that, the gate can't be closed any more.
	gateOpened bool
	// stillborn means that the instance ends before it runs.
	stillborn bool
	// group means that CreateGroup launched the instance.
	group bool
}

// owner identifies the claim that an instance was launched for. One owner has at most one live instance.
type owner struct {
	cluster string
	uid     types.UID
}

// live reports whether the instance can be its claim's instance, because it is pending or running.
func (m *instance) live() bool { return m.Phase == Pending || m.Phase == Running }

// snapshot returns a deep copy for callers.
func (m *instance) snapshot() Instance {
	c := m.Instance
	c.Tags = maps.Clone(m.Tags)
	c.Labels = maps.Clone(m.Labels)
	c.Taints = slices.Clone(m.Taints)
	c.Capacity = m.Capacity.DeepCopy()
	c.Allocatable = m.Allocatable.DeepCopy()
	return c
}

// claim returns the NodeClaim that Create, Get and List return. It uses only the instance and its tags.
func (m *instance) claim() *v1.NodeClaim {
	c := &v1.NodeClaim{
		ObjectMeta: metav1.ObjectMeta{
			Name:              m.Tags[TagNodeClaim],
			UID:               types.UID(m.Tags[TagNodeClaimUID]),
			Labels:            maps.Clone(m.labels),
			CreationTimestamp: metav1.NewTime(m.LaunchedAt),
		},
		Status: v1.NodeClaimStatus{
			ProviderID:  m.ProviderID,
			ImageID:     m.ImageID,
			Capacity:    m.Capacity.DeepCopy(),
			Allocatable: m.Allocatable.DeepCopy(),
		},
	}
	if pool := v1.PoolOf(m.Tags); !pool.IsZero() {
		c.Labels[pool.LabelKey()] = pool.Name
	}
	if m.Phase == ShuttingDown {
		since := metav1.NewTime(m.ShutdownAt)
		c.DeletionTimestamp = &since
	}
	return c
}

// asOf returns what claim would have returned at the earlier time at, which must not be before the launch.
func (m *instance) asOf(at time.Time) *v1.NodeClaim {
	c := m.claim()
	c.DeletionTimestamp = nil
	if !m.ShutdownAt.IsZero() && !m.ShutdownAt.After(at) {
		since := metav1.NewTime(m.ShutdownAt)
		c.DeletionTimestamp = &since
	}
	return c
}

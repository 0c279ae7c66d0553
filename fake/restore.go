package fake

import (
	"fmt"
	"maps"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/api/requirements"
	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
)

// Restore recreates the instances of NodeClaims that an earlier cloud of this name launched. It is for a process that restarts in a cluster
// which still has its fake nodes. A real cloud would still have their instances. It skips claims without a provider ID, and claims whose
// instance still exists. The restored instances run at once. OnLaunch is not called for these instances. A limited stock is reduced by
// these instances. The error names the first claim whose provider ID or labels do not belong to this cloud. The claims before this claim
// are restored.
func (c *Cloud) Restore(claims ...*v1.NodeClaim) error {
	e := Event{Name: "Restore"}
	for _, claim := range claims {
		e.Claims = append(e.Claims, claim.DeepCopy())
	}
	return c.lever(e, func(now time.Time) error {
		for _, claim := range claims {
			if claim == nil || claim.Status.ProviderID == "" || c.instances[claim.Status.ProviderID] != nil {
				continue
			}
			if err := c.restore(claim, now); err != nil {
				return fmt.Errorf("restoring the instance of nodeclaim %q: %w", claim.Name, err)
			}
		}
		return nil
	})
}

func (c *Cloud) restore(claim *v1.NodeClaim, now time.Time) error {
	id := claim.Status.ProviderID
	path, ours := strings.CutPrefix(id, c.name+":///")
	_, name, ok := strings.Cut(path, "/")
	number, err := strconv.Atoi(strings.TrimPrefix(name, "i-"))
	if !ours || !ok || err != nil {
		return fmt.Errorf("status.providerID %q is not of this cloud: its IDs look like %s:///zone/i-00000001", id, c.name)
	}
	t, o, err := c.boughtBy(claim)
	if err != nil {
		return err
	}
	key := cloudprovider.KeyOf(t, o)
	state := c.catalog.offerings[key]
	c.catalog.take(state, now) // the stock need not suffice, because the instance was launched earlier
	labels := instanceLabels(t.MachineRequirements(o), requirements.Set{})
	for key := range labels {
		if value, ok := claim.Labels[key]; ok {
			labels[key] = value
		}
	}
	own := owner{cluster: c.cluster, uid: claim.UID}
	launched := claim.CreationTimestamp.Time
	m := &instance{
		owner: own, labels: labels, reservation: state.reservation, gateOpened: true,
		Instance: Instance{
			ProviderID: id, NodeName: name, Phase: Running, Offering: key, Price: o.Price,
			ImageID: claim.Status.ImageID, KubeletVersion: c.kubeletVersion, Tags: tags(c.cluster, claim),
			Labels: maps.Clone(labels), Taints: bootTaints(claim),
			Capacity: t.CapacityOf(o), Allocatable: t.AllocatableOf(o), LaunchedAt: launched, RunningAt: launched,
		},
	}
	maps.Copy(m.Labels, claim.Labels)
	c.instances[id], c.byOwner[own] = m, m
	c.launched = max(c.launched, number)
	return nil
}

// boughtBy returns the offering that the claim's labels name.
func (c *Cloud) boughtBy(claim *v1.NodeClaim) (*cloudprovider.InstanceType, *cloudprovider.Offering, error) {
	name, zone, capacityType := claim.Labels[corev1.LabelInstanceTypeStable], claim.Labels[corev1.LabelTopologyZone], claim.Labels[v1.CapacityTypeLabelKey]
	for _, t := range c.catalog.types {
		if t.Name != name {
			continue
		}
		for i := range t.Offerings {
			o := &t.Offerings[i]
			if o.Zone() == zone && o.CapacityType() == capacityType {
				return t, o, nil
			}
		}
	}
	return nil, nil, fmt.Errorf("there is no offering of instance type %q in zone %q with capacity type %q", name, zone, capacityType)
}

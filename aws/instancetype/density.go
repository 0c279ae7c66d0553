package instancetype

import (
	"encoding/json"
	"fmt"

	"github.com/drawknife/drawknife/aws/catalog"
)

// PodDensity decides how many pods fit on an instance by the addresses its network gives them. VPCCNI and FixedDensity are
// built in; a nil PodDensity is VPCCNI{}. It counts only where a class sets no maxPods, and only for AMI families whose
// pods are limited by network interfaces.
//
// Implementations are pure: equal facts give equal answers. They are called from one goroutine at a time for a Resolve,
// but Resolves may run at once.
type PodDensity interface {
	// Density of an instance of the type. usable is the number of interfaces of its default network card that are left for
	// pods: without those that Settings reserve or have carry EFA alone; it may be 0 or less.
	Density(t *catalog.Type, usable int64) Density
	// Key is equal for policies that answer equally: it becomes part of Settings.Key.
	Key() string
}

// Density is how many pods an instance takes.
type Density struct {
	// MaxPods is the pod limit; less than 0 counts as 0.
	MaxPods int64
	// ReservedPods is the number of pods for which Kubernetes' daemons keep memory, 11 MiB each; 0 leaves it to what the
	// AMI family does at boot.
	ReservedPods int64
}

// VPCCNI is the Amazon VPC CNI plugin: pods get addresses of the instance's network interfaces. The zero value hands out
// secondary addresses.
type VPCCNI struct {
	// PrefixDelegation gives each place of an address a /28 prefix of 16 addresses instead (ENABLE_PREFIX_DELEGATION). Types
	// without Nitro don't have it and stay with secondary addresses.
	PrefixDelegation bool `json:"prefixDelegation,omitempty"`
	// CustomNetworking takes pods' addresses from other subnets, so that the primary interface gives none
	// (AWS_VPC_K8S_CNI_CUSTOM_NETWORK_CFG).
	CustomNetworking bool `json:"customNetworking,omitempty"`
	// IPv6 clusters have prefixes at all times, and so many addresses that the bound alone limits pods.
	IPv6 bool `json:"ipv6,omitempty"`
}

const (
	// prefixAddresses is how many addresses a /28 prefix has.
	prefixAddresses = 16
	// hostPods run on the host's network on every instance: the CNI's own and kube-proxy.
	hostPods = 2
	// smallVCPUs and the limits next to it are Amazon's recommendation for prefixes, with which addresses no longer limit pods.
	// Source: the EKS user guide, "choosing an instance type", and the max-pods calculator.
	smallVCPUs     = 30
	smallPodsBound = 110
	largePodsBound = 250
)

// Density implements PodDensity.
func (c VPCCNI) Density(t *catalog.Type, usable int64) Density {
	if c.CustomNetworking {
		usable--
	}
	if usable <= 0 || t == nil {
		return Density{}
	}
	perInterface := max(1, t.Network.IPv4PerENI) - 1
	if !c.PrefixDelegation && !c.IPv6 || t.Hypervisor == "xen" {
		return Density{MaxPods: usable*perInterface + hostPods}
	}
	bound := int64(largePodsBound)
	if t.VCPUs <= smallVCPUs {
		bound = smallPodsBound
	}
	if c.IPv6 {
		return Density{MaxPods: bound}
	}
	return Density{MaxPods: min(bound, usable*perInterface*prefixAddresses+hostPods)}
}

// Key implements PodDensity.
func (c VPCCNI) Key() string {
	text, err := json.Marshal(c)
	if err != nil { // of booleans: it can't happen
		return fmt.Sprintf("%+v", c)
	}
	return "vpc-cni" + string(text)
}

// FixedDensity is a network without a limit of its own, such as an overlay: the same number of pods everywhere, and
// memory kept for just as many.
type FixedDensity int64

// Density implements PodDensity.
func (n FixedDensity) Density(*catalog.Type, int64) Density {
	return Density{MaxPods: int64(n), ReservedPods: int64(n)}
}

// Key implements PodDensity.
func (n FixedDensity) Key() string { return fmt.Sprintf("fixed %d", int64(n)) }

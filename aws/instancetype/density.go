package instancetype

import (
	"encoding/json"
	"fmt"

	"github.com/drawknife/drawknife/aws/catalog"
)

// PodDensity decides how many pods fit on an instance, by the number of addresses that its network provides. VPCCNI and FixedDensity are
// built in; a nil PodDensity is VPCCNI{}. A PodDensity is only used if a class sets no maxPods, and only for AMI families whose pods are
// limited by network interfaces.
//
// Implementations are pure: equal facts give equal results. One Resolve calls the methods from one goroutine at a time, but several
// Resolves may run concurrently.
type PodDensity interface {
	// Density returns the density for an instance of the type. usable is the number of interfaces of its default network card that pods can
	// use. It excludes interfaces that Settings reserve or use only for EFA, and may be 0 or less.
	Density(t *catalog.Type, usable int64) Density
	// Key returns a string that is equal for densities with equal results: it becomes part of Settings.Key.
	Key() string
}

// Density says how many pods an instance can run.
type Density struct {
	// MaxPods is the pod limit; a negative value counts as 0.
	MaxPods int64
	// ReservedPods is the number of pods for which Kubernetes' daemons reserve memory, 11 MiB each; 0 leaves it to the AMI family's
	// bootstrap.
	ReservedPods int64
}

// VPCCNI is the Amazon VPC CNI plugin: pods get addresses of the instance's network interfaces. The zero value assigns secondary addresses.
type VPCCNI struct {
	// PrefixDelegation assigns a /28 prefix of 16 addresses instead of each secondary address (ENABLE_PREFIX_DELEGATION). Types without
	// Nitro don't support it and keep secondary addresses.
	PrefixDelegation bool `json:"prefixDelegation,omitempty"`
	// CustomNetworking takes pods' addresses from other subnets, so that the primary interface provides none
	// (AWS_VPC_K8S_CNI_CUSTOM_NETWORK_CFG).
	CustomNetworking bool `json:"customNetworking,omitempty"`
	// IPv6 clusters always use prefixes, with so many addresses that only the recommended maximum limits pods.
	IPv6 bool `json:"ipv6,omitempty"`
}

const (
	// prefixAddresses is how many addresses a /28 prefix has.
	prefixAddresses = 16
	// hostPods is the number of pods that use the host's network on every instance: the pod of the CNI plugin and kube-proxy.
	hostPods = 2
	// With address prefixes, the number of addresses does not limit pods. For this case, Amazon recommends at most smallPodsBound pods on
	// instances with up to smallVCPUs vCPUs, and largePodsBound pods on larger instances. Source: the EKS user guide, "choosing an instance
	// type", and the max-pods calculator.
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
	if err != nil { // encoding booleans never fails
		return fmt.Sprintf("%+v", c)
	}
	return "vpc-cni" + string(text)
}

// FixedDensity is for a network without its own limit, such as an overlay. Every instance takes the same number of pods, and reserves
// memory for this number.
type FixedDensity int64

// Density implements PodDensity.
func (n FixedDensity) Density(*catalog.Type, int64) Density {
	return Density{MaxPods: int64(n), ReservedPods: int64(n)}
}

// Key implements PodDensity.
func (n FixedDensity) Key() string { return fmt.Sprintf("fixed %d", int64(n)) }

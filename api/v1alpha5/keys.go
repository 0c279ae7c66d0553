package v1alpha5

import (
	v1 "github.com/drawknife/drawknife/api/v1"
)

// Labels of nodes and Machines that later generations don't have.
const (
	// ProvisionerNameLabelKey names the Provisioner that owns a Machine or node.
	ProvisionerNameLabelKey = "karpenter.sh/provisioner-name"
	// MachineNameLabelKey named the Machine of a node from 0.22 to 0.27. drawknife ignores it.
	MachineNameLabelKey = "karpenter.sh/machine-name"
)

// Annotations that later generations don't have. The annotations that prevent disruption are in package api/v1beta1, where they still
// work.
const (
	// EmptinessTimestampAnnotationKey, on a node, is when it was found empty (RFC 3339).
	EmptinessTimestampAnnotationKey = "karpenter.sh/emptiness-timestamp"
	// VoluntaryDisruptionAnnotationKey, on a node, is "drifted" or "expired"; a user may set it to have a node replaced.
	VoluntaryDisruptionAnnotationKey = "karpenter.sh/voluntary-disruption"
	// ProvisionerHashAnnotationKey holds the drift hash.
	ProvisionerHashAnnotationKey = "karpenter.sh/provisioner-hash"
	// ManagedByAnnotationKey, on a Machine, is the cluster's name.
	ManagedByAnnotationKey = "karpenter.sh/managed-by"
	// LinkedAnnotationKey, on a Machine, names an existing instance for which the Machine was created later. drawknife ignores it.
	LinkedAnnotationKey = "karpenter.sh/linked"
	// ProviderAnnotationKey, on a Machine, contains the inline provider block of its Provisioner as JSON.
	ProviderAnnotationKey = "compatibility.karpenter.sh/provider"
)

// Condition types of a Machine. In v1beta1 the names are the same without "Machine".
const (
	// ConditionReady summarises MachineLaunched, MachineRegistered and MachineInitialized.
	ConditionReady = "Ready"
	// ConditionMachineCreated is the name of MachineLaunched in releases up to 0.27.2.
	ConditionMachineCreated = "MachineCreated"
	// ConditionMachineLaunched: the provider has launched the instance.
	ConditionMachineLaunched = "MachineLaunched"
	// ConditionMachineRegistered: the node has joined.
	ConditionMachineRegistered = "MachineRegistered"
	// ConditionMachineInitialized: the node is ready for pods.
	ConditionMachineInitialized = "MachineInitialized"
	// ConditionMachineEmpty: the node holds no pods that would have to move.
	ConditionMachineEmpty = "MachineEmpty"
	// ConditionMachineExpired: the node has lived for ttlSecondsUntilExpired.
	ConditionMachineExpired = "MachineExpired"
	// ConditionMachineDrifted: the node no longer matches its Provisioner.
	ConditionMachineDrifted = "MachineDrifted"
	// ConditionActive, of a Provisioner: it takes part in scheduling.
	ConditionActive = "Active"
)

// Key returns the identity of the pool. Provisioners and NodePools have separate names, so both may have the same name.
func (p *Provisioner) Key() v1.PoolKey {
	return v1.PoolKey{Generation: v1.GenerationV1Alpha5, Name: p.Name}
}

// PoolOf returns which pool of any generation owns the node or Machine with these labels. The label of later generations takes precedence.
// It returns the zero value if no label names a pool.
func PoolOf(labels map[string]string) v1.PoolKey { return v1.PoolOf(labels) }

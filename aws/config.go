package aws

import (
	"errors"
	"fmt"
	"time"

	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	"github.com/drawknife/drawknife/aws/instancetype"
	"github.com/drawknife/drawknife/aws/internal/interruption"
	"github.com/drawknife/drawknife/aws/sdk"
)

// Config are the settings of a provider. ClusterName is required; what is nil of everything else has its default.
type Config struct {
	// ClusterName is the name of the cluster whose instances these are. It is part of the tags by which they are known,
	// so that no two clusters in an account and region may share one.
	ClusterName string
	// SDK says how to reach AWS. Ignored where Options.Clients brings clients of its own.
	SDK sdk.Config
	// Tags are put on everything that is launched, unless the node class has the same key. Nil: none.
	Tags map[string]string
	// VMMemoryOverheadPercent is the fraction of an instance's memory that it is believed to lose before the kubelet sees
	// it; nil: instancetype.DefaultVMMemoryOverheadPercent.
	VMMemoryOverheadPercent *float64
	// ReservedENIs are network interfaces that pods get no addresses from.
	ReservedENIs int64
	// InstanceTypes say what else decides what EC2's facts become as instance types: how the network gives pods addresses (PodDensity, for
	// prefix delegation and custom networking), MemoryPrior, FractionalGPUs, DeviceDrivers, DeviceResources, HugePages, WithoutPodENI. What the provider
	// knows itself stays zero: zones, placement groups, discovered memory; and VMMemoryOverheadPercent and ReservedENIs are given above.
	InstanceTypes instancetype.Options
	// IsolatedVPC says that the price list can't be reached, nor IAM: node classes have to name an instance
	// profile instead of a role.
	IsolatedVPC bool
	// WithoutReservedCapacity leaves capacity reservations out: no offering uses them, and instances in open ones count as
	// on-demand.
	WithoutReservedCapacity bool
	// ServeAlpha says that pools of the first generation, Provisioners, are served beside others: their instances bear that
	// generation's tags, and are listed by them, which takes a second call. Instances that are launched for
	// such a pool bear its tags whether or not it is set, and without it nobody finds them: set it while there are such pools,
	// or claims or instances of one.
	ServeAlpha bool
	// ZonalShift keeps out of zones that the EKS cluster is shifted away from.
	ZonalShift bool
	// TypesEvery and PricesEvery are how often types and on-demand prices are read, more than 0; nil: every 12 hours.
	TypesEvery, PricesEvery *time.Duration
	// SpotPricesEvery is how often spot prices are read, more than 0; nil: prices.DefaultSpotEvery.
	SpotPricesEvery *time.Duration
	// ImagesEvery and SubnetsEvery are how often images and subnets are looked for, at least a minute; nil: every
	// minute. Longer spares calls where there are many node classes, and new ones are found later.
	ImagesEvery, SubnetsEvery *time.Duration
	// InterruptionQueue is the name of the SQS queue that EventBridge sends events about instances to, neither its ARN nor
	// its URL. Empty: there is none, and only what EC2 reports itself is heard of.
	InterruptionQueue string
	// WithoutDryRuns takes it for granted that instances may be launched from node classes that are otherwise sound,
	// instead of asking EC2.
	WithoutDryRuns bool
	// Features of the node class API that are on.
	Features awsv1.Features
	// USDPer converts prices of other currencies, {"CNY": 0.14}; see prices.Options.
	USDPer map[string]float64
	// MinSpotDiscount is the fraction, from 0 to below 1, by which a spot price must be below the on-demand price for spot to be
	// offered; 0 asks for nothing.
	MinSpotDiscount float64
	// UnavailableFor is how long an offering that EC2 had no room for stays closed at first, and UnavailableForAtMost after it was
	// refused again and again, more than 0 both; nil: 3 minutes, and half an hour.
	UnavailableFor, UnavailableForAtMost *time.Duration
	// ReportInterruptionsOnly removes messages about interruptions once they were told to Options, and acts on none.
	ReportInterruptionsOnly bool
	// Seed decides by how much refreshes of this process are early; give each replica its own.
	Seed uint64
}

// Validate finds what is wrong with the settings, all at once; nil when there is nothing.
func (c Config) Validate() error {
	var faults []error
	refuse := func(format string, args ...any) { faults = append(faults, fmt.Errorf(format, args...)) }
	if c.ClusterName == "" {
		refuse("clusterName: required: instances are known by it")
	}
	if err := c.SDK.Validate(); err != nil {
		refuse("sdk: %w", err)
	}
	if p := c.VMMemoryOverheadPercent; p != nil && (*p < 0 || *p >= 1 || *p != *p) {
		refuse("vmMemoryOverheadPercent %v: must be a fraction from 0 to below 1", *p)
	}
	if c.ReservedENIs < 0 {
		refuse("reservedENIs %d: must not be negative", c.ReservedENIs)
	}
	if t := c.InstanceTypes; t.Zones != nil || t.PlacementStrategy != "" || t.PlacementGroupID != "" || t.PlacementPartitions != 0 || t.DiscoveredMemory != nil ||
		t.VMMemoryOverheadPercent != nil || t.ReservedENIs != 0 {
		refuse("instanceTypes: zones, placement groups, discovered memory, the memory overhead and reserved interfaces have other places: leave them out")
	}
	if err := c.InstanceTypes.Validate(); err != nil {
		refuse("instanceTypes: %w", err)
	}
	if c.InstanceTypes.MemoryPrior == instancetype.MemoryPriorMeasured && c.VMMemoryOverheadPercent != nil {
		refuse("vmMemoryOverheadPercent %v: leave it out, or instanceTypes.memoryPrior, over which it would win", *c.VMMemoryOverheadPercent)
	}
	if d := c.MinSpotDiscount; !(d >= 0 && d < 1) {
		refuse("minSpotDiscount %v: must be a fraction from 0 to below 1", d)
	}
	if c.UnavailableForAtMost != nil && c.UnavailableFor != nil && *c.UnavailableForAtMost < *c.UnavailableFor {
		refuse("unavailableForAtMost %s: must not be less than unavailableFor %s", *c.UnavailableForAtMost, *c.UnavailableFor)
	}
	for name, every := range map[string]*time.Duration{"unavailableFor": c.UnavailableFor, "unavailableForAtMost": c.UnavailableForAtMost, "typesEvery": c.TypesEvery, "pricesEvery": c.PricesEvery, "spotPricesEvery": c.SpotPricesEvery} {
		if every != nil && *every <= 0 {
			refuse("%s %s: must be more than 0: leave it nil for the default", name, *every)
		}
	}
	for name, every := range map[string]*time.Duration{"imagesEvery": c.ImagesEvery, "subnetsEvery": c.SubnetsEvery} {
		if every != nil && *every < time.Minute {
			refuse("%s %s: must be at least 1m", name, *every)
		}
	}
	if err := interruption.ValidQueueName(c.InterruptionQueue); c.InterruptionQueue != "" && err != nil {
		refuse("interruptionQueue: %w", err)
	}
	for key := range c.Tags {
		if reserved(key) {
			refuse("tags: %q is the provider's own", key)
		}
	}
	if err := errors.Join(faults...); err != nil {
		return fmt.Errorf("configuration of the AWS provider: %w", err)
	}
	return nil
}

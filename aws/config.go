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

// Config are the settings of a provider. ClusterName is required; other fields that are nil have their defaults.
type Config struct {
	// ClusterName is the name of the cluster. It is part of the tags that identify its instances, so two clusters in the same
	// account and region must not share a name.
	ClusterName string
	// SDK configures the AWS clients. Ignored if Options.Clients is set.
	SDK sdk.Config
	// Tags are added to everything that is launched, unless the node class has the same key. Nil means none.
	Tags map[string]string
	// VMMemoryOverheadPercent is the assumed fraction of an instance's memory that is not visible to the kubelet; nil means
	// instancetype.DefaultVMMemoryOverheadPercent.
	VMMemoryOverheadPercent *float64
	// ReservedENIs is the number of network interfaces that are not used for addresses of pods.
	ReservedENIs int64
	// InstanceTypes are further settings for making instance types from EC2's facts: PodDensity (how the network assigns addresses to pods,
	// for prefix delegation and custom networking), MemoryPrior, FractionalGPUs, DeviceDrivers, DeviceResources, HugePages, WithoutPodENI.
	// Do not set the fields that the provider sets itself: zones, placement groups, discovered memory. VMMemoryOverheadPercent and
	// ReservedENIs have their own fields in Config.
	InstanceTypes instancetype.Options
	// IsolatedVPC means that neither the price list nor IAM can be reached: node classes must name an instance profile instead of a
	// role.
	IsolatedVPC bool
	// WithoutReservedCapacity ignores capacity reservations: no offering uses them, and instances in open reservations count as
	// on-demand.
	WithoutReservedCapacity bool
	// BurstLaunches is the smallest number of equal, simultaneous launches that share one CreateFleet call: 0
	// means that each launch has its own call. Nil means DefaultBurstLaunches.
	BurstLaunches *int
	// ServeAlpha serves Provisioners (v1alpha5) in addition to NodePools: their instances have the tags of that API version, so a second
	// call lists them by these tags. Instances launched for Provisioners have these tags even if ServeAlpha is off, but they are then not
	// found. Set ServeAlpha as long as Provisioners, their claims or their instances exist.
	ServeAlpha bool
	// ZonalShift avoids zones that a zonal shift moves the EKS cluster away from.
	ZonalShift bool
	// TypesEvery and PricesEvery are the intervals in which types and on-demand prices are read; they must be more than 0. Nil means every
	// 12 hours.
	TypesEvery, PricesEvery *time.Duration
	// SpotPricesEvery is the interval in which spot prices are read; it must be more than 0. Nil means prices.DefaultSpotEvery.
	SpotPricesEvery *time.Duration
	// ImagesEvery and SubnetsEvery are the intervals in which images and subnets are looked for, at least a minute. Nil means every minute.
	// A longer interval saves calls if there are many node classes, but finds new images and subnets later.
	ImagesEvery, SubnetsEvery *time.Duration
	// InterruptionQueue is the name of the SQS queue that EventBridge sends events about instances to, neither its ARN nor its URL.
	// Empty means that there is no queue, and that only problems reported by EC2 itself are noticed.
	InterruptionQueue string
	// WithoutDryRuns skips dry runs: EC2 is not asked whether instances may be launched from a node class that is otherwise valid.
	WithoutDryRuns bool
	// Features of the node class API that are enabled.
	Features awsv1.Features
	// USDPer converts prices of other currencies, {"CNY": 0.14}; see prices.Options.
	USDPer map[string]float64
	// MinSpotDiscount is the fraction, from 0 to below 1, by which a spot price must be below the on-demand price for spot to be
	// offered; 0 for no minimum.
	MinSpotDiscount float64
	// Commitments reads Savings Plans and Reserved Instances of the account, and which instances of the region use them; see
	// Provider.Commitments. It needs more permissions.
	Commitments bool
	// With CostExplorer, Commitments also asks Cost Explorer how much the whole account uses, and for discounts. This causes some requests
	// twice a day, and AWS charges $0.01 for each request. It has no effect without Commitments.
	CostExplorer bool
	// SpotScoreConfigurations is the maximum number of different sets of types about which SpotPlacementScores may ask EC2 within 24 hours;
	// 0 means none. EC2 limits this number for each account: 10 is safe if only one cluster asks.
	SpotScoreConfigurations int
	// UnavailableFor is how long an offering counts as unavailable after EC2 had no capacity, UnavailableForAtMost the maximum after
	// repeated refusals. Both must be more than 0. Nil means 3 minutes and half an hour.
	UnavailableFor, UnavailableForAtMost *time.Duration
	// ReportInterruptionsOnly removes interruption messages after they were passed to Options.OnInterruption, without acting on
	// them.
	ReportInterruptionsOnly bool
	// Seed decides the jitter of this process's refreshes; give each replica its own.
	Seed uint64
}

// Validate checks the settings and returns all errors at once, or nil if there are none.
func (c Config) Validate() error {
	var faults []error
	refuse := func(format string, args ...any) { faults = append(faults, fmt.Errorf(format, args...)) }
	if c.ClusterName == "" {
		refuse("clusterName: required: it identifies the cluster's instances")
	}
	if err := c.SDK.Validate(); err != nil {
		refuse("sdk: %w", err)
	}
	if p := c.VMMemoryOverheadPercent; p != nil && (*p < 0 || *p >= 1 || *p != *p) {
		refuse("vmMemoryOverheadPercent %v: must be a fraction from 0 to below 1", *p)
	}
	if n := c.BurstLaunches; n != nil && (*n < 0 || *n == 1) {
		refuse("burstLaunches %d: must be 0 for never, or at least 2", *n)
	}
	if c.ReservedENIs < 0 {
		refuse("reservedENIs %d: must not be negative", c.ReservedENIs)
	}
	if t := c.InstanceTypes; t.Zones != nil || t.PlacementStrategy != "" || t.PlacementGroupID != "" || t.PlacementPartitions != 0 || t.DiscoveredMemory != nil ||
		t.VMMemoryOverheadPercent != nil || t.ReservedENIs != 0 {
		refuse("instanceTypes: zones, placement groups, discovered memory, the memory overhead and reserved interfaces are set elsewhere: leave them out")
	}
	if err := c.InstanceTypes.Validate(); err != nil {
		refuse("instanceTypes: %w", err)
	}
	if c.InstanceTypes.MemoryPrior == instancetype.MemoryPriorMeasured && c.VMMemoryOverheadPercent != nil {
		refuse("vmMemoryOverheadPercent %v: leave it out, or instanceTypes.memoryPrior, which it would override", *c.VMMemoryOverheadPercent)
	}
	if n := c.SpotScoreConfigurations; n < 0 || n > 1000 {
		refuse("spotScoreConfigurations %d: must be from 0 to 1000", n)
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

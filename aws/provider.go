package aws

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/drawknife/drawknife/api/option"
	"github.com/drawknife/drawknife/api/requirements"
	v1 "github.com/drawknife/drawknife/api/v1"
	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	"github.com/drawknife/drawknife/aws/catalog"
	"github.com/drawknife/drawknife/aws/instancetype"
	"github.com/drawknife/drawknife/aws/internal/amis"
	"github.com/drawknife/drawknife/aws/internal/commitments"
	"github.com/drawknife/drawknife/aws/internal/discovery"
	"github.com/drawknife/drawknife/aws/internal/hosts"
	"github.com/drawknife/drawknife/aws/internal/instanceprofile"
	"github.com/drawknife/drawknife/aws/internal/instances"
	"github.com/drawknife/drawknife/aws/internal/interruption"
	"github.com/drawknife/drawknife/aws/internal/launch"
	"github.com/drawknife/drawknife/aws/internal/launchtemplates"
	"github.com/drawknife/drawknife/aws/internal/nodeclass"
	"github.com/drawknife/drawknife/aws/internal/offerings"
	"github.com/drawknife/drawknife/aws/internal/outposts"
	"github.com/drawknife/drawknife/aws/internal/placement"
	"github.com/drawknife/drawknife/aws/internal/refresh"
	"github.com/drawknife/drawknife/aws/internal/reservations"
	"github.com/drawknife/drawknife/aws/internal/spotscores"
	"github.com/drawknife/drawknife/aws/internal/subnets"
	"github.com/drawknife/drawknife/aws/internal/unavailable"
	"github.com/drawknife/drawknife/aws/internal/zonalshift"
	"github.com/drawknife/drawknife/aws/prices"
	"github.com/drawknife/drawknife/aws/sdk"
	"github.com/drawknife/drawknife/cloudprovider"
)

// nodeClassKind is the kind of the provider's node classes.
const nodeClassKind = "EC2NodeClass"

// Provider is a cloudprovider.CloudProvider on EC2. It is safe for concurrent use; no lock is held during calls to AWS. Make one
// with New.
type Provider struct {
	config       Config
	options      Options
	now          func() time.Time
	log          *slog.Logger
	lookup       *requirements.Lookup
	capabilities cloudprovider.Capabilities

	discovery    *discovery.Discoverer
	memory       *discovery.Memory
	prices       *prices.Board
	unavailable  *unavailable.Memory
	reservations *reservations.Tracker
	shifts       *zonalshift.Watcher // nil unless Config.ZonalShift
	groups       *placement.Finder
	hosts        *hosts.Finder // nil if the client of EC2 can't read Dedicated Hosts
	outposts     *outposts.Finder
	market       offerings.Sources
	committed    *commitments.Tracker // nil unless Config.Commitments
	scorer       *spotscores.Scorer   // nil without Config.SpotScoreConfigurations
	offerings    offerings.Store

	subnets   *subnets.Counter
	launcher  *launch.Launcher
	instances *instances.Client
	index     instanceIndex
	templates *launchtemplates.Store
	creating  refresh.Turns[types.UID]
	grouping  refresh.Turns[string] // keys are results of launch.BatchID
	burst     *burst
	reviving  reviving
	upkeep    upkeep

	classes       *nodeclass.Reconciler
	images        *amis.Resolver
	profiles      *instanceprofile.Manager // nil with Config.IsolatedVPC
	interruptions *interruption.Source
}

var (
	_ cloudprovider.CloudProvider    = (*Provider)(nil)
	_ cloudprovider.DriftDetector    = (*Provider)(nil)
	_ cloudprovider.Repairer         = (*Provider)(nil)
	_ cloudprovider.NodeClassStatus  = (*Provider)(nil)
	_ cloudprovider.RegistrationGate = (*Provider)(nil)
	_ cloudprovider.GroupCreator     = (*Provider)(nil)

	_ cloudprovider.InterruptionSource = (*Provider)(nil)
)

// New returns a provider. It reads the instance types from EC2, and fails if that is not permitted or if EC2 returns no types. With
// Options.Types it also succeeds while AWS can't be reached or throttles; Troubles then reports this. Prices are the built-in ones until
// Refresh or Run has read better prices. Errors have a kind: Unauthorized, with the name of the permission, if credentials or a permission
// are missing; Permanent for a region that does not exist and for invalid settings.
func New(ctx context.Context, c Config, o Options) (*Provider, error) {
	if err := errors.Join(c.Validate(), o.validate()); err != nil {
		return nil, cloudprovider.NewPermanentError(err)
	}
	if o.Clients == nil {
		clients, err := sdk.Load(ctx, c.SDK)
		if err != nil {
			return nil, sdk.Wrap("making an AWS provider", err)
		}
		o.Clients = clients
	}
	p, err := assemble(c, o)
	if err != nil {
		return nil, fmt.Errorf("making an AWS provider: %w", err)
	}
	if err := p.start(ctx); err != nil {
		return nil, fmt.Errorf("making an AWS provider for region %q: %w", o.Clients.Region(), err)
	}
	return p, nil
}

func (o Options) validate() error {
	var faults []error
	if o.NodeClasses == nil {
		faults = append(faults, &option.Error{Package: "aws", Option: "NodeClasses", Rule: "is required: instances are launched from them"})
	}
	if o.Cluster == nil {
		faults = append(faults, &option.Error{Package: "aws", Option: "Cluster", Rule: "is required: nodes need it to join the cluster"})
	}
	return errors.Join(faults...)
}

// assemble creates all parts of the provider without calling AWS.
func assemble(c Config, o Options) (*Provider, error) {
	p := &Provider{config: c, options: o, now: time.Now, log: o.Logger, capabilities: capabilities(o.Clients.Region())}
	if o.Clock != nil {
		p.now = o.Clock.Now
	}
	if p.log == nil {
		p.log = slog.New(slog.DiscardHandler)
	}
	p.lookup = p.capabilities.Vocabulary.Compile()
	builtIn := o.BuiltIn
	if builtIn == nil {
		var err error
		if builtIn, err = catalog.Embedded(); err != nil {
			return nil, err
		}
	}
	if err := p.assembleMarket(builtIn); err != nil {
		return nil, err
	}
	for _, assemble := range []func() error{p.assembleLaunch, p.assembleClasses, p.assembleInterruptions, p.assembleCommitments, p.assembleScores} {
		if err := assemble(); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// assembleMarket creates the parts that read instance types, prices and capacity.
func (p *Provider) assembleMarket(builtIn *catalog.Catalog) (err error) {
	region, background := p.options.Clients.Region(), p.options.Clients.EC2(sdk.Background)
	p.discovery, err = discovery.New(discovery.Options{
		API: background, Region: region, Seed: p.options.Types, BuiltIn: builtIn, Every: option.Or(p.config.TypesEvery, 0), JitterSeed: p.config.Seed, Now: p.now,
	})
	if err != nil {
		return err
	}
	p.prices, err = prices.NewBoard(prices.Options{
		Region: region, Static: prices.Static(builtIn, region), Feeds: p.feeds(region), USDPer: p.config.USDPer,
		MinSpotDiscount: p.config.MinSpotDiscount, Seed: p.config.Seed, Clock: p.options.Clock,
	})
	if err != nil {
		return err
	}
	p.memory = discovery.NewMemory(p.now)
	p.unavailable = unavailable.New(unavailable.Options{
		First: option.Or(p.config.UnavailableFor, 0), Longest: option.Or(p.config.UnavailableForAtMost, 0),
		Neighbours: unavailable.LargerSizes(p.discovery.Known), VCPUs: unavailable.VCPUs(p.discovery.Known), Seed: p.config.Seed, Now: p.now,
	})
	p.reservations = reservations.NewTracker(p.now)
	normal := p.options.Clients.EC2(sdk.Normal)
	p.groups, p.outposts = placement.NewFinder(normal, p.now), outposts.NewFinder(normal, p.now)
	if api, ok := normal.(sdk.HostsAPI); ok {
		p.hosts = hosts.NewFinder(api, p.now)
	}
	p.market = offerings.Sources{
		Discovery: p.discovery, Prices: p.prices, Unavailable: p.unavailable, Reservations: p.reservations, Now: p.now,
	}
	return nil
}

// feeds returns the sources of prices: AWS's own prices, overridden by the prices of the options.
func (p *Provider) feeds(region string) []prices.Feed {
	var feeds []prices.Feed
	if ok, why := prices.Published(region, p.config.IsolatedVPC); ok {
		feeds = append(feeds, prices.Feed{
			Name: "on-demand", Every: p.config.PricesEvery,
			Source: prices.OnDemand{API: p.options.Clients.Pricing(sdk.Background), Region: region, Zones: p.zoneNames},
		})
	} else {
		p.log.Info("using built-in on-demand prices", "reason", why)
	}
	every := option.Or(p.config.SpotPricesEvery, prices.DefaultSpotEvery)
	feeds = append(feeds, prices.Feed{
		Name: "spot", Every: &every, Source: prices.Spot{API: p.options.Clients.EC2(sdk.Background), Region: region, Clock: p.options.Clock},
	})
	return append(feeds, p.options.Prices...)
}

// zoneNames returns the names of the region's known zones.
func (p *Provider) zoneNames() []string {
	known := p.discovery.Known()
	if known == nil {
		return nil
	}
	names := make([]string, len(known.Zones))
	for i, zone := range known.Zones {
		names[i] = zone.Name
	}
	return names
}

// assembleLaunch creates the parts that launch and manage instances.
func (p *Provider) assembleLaunch() (err error) {
	urgent := p.options.Clients.EC2(sdk.Urgent)
	p.templates, err = launchtemplates.New(urgent, launchtemplates.Options{ClusterName: p.config.ClusterName, Now: p.now, Logger: p.options.Logger})
	if err != nil {
		return err
	}
	tracker := subnets.New(subnets.Options{Lifetime: max(subnets.DefaultLifetime, option.Or(p.config.SubnetsEvery, 0)+4*time.Minute), Now: p.now})
	p.subnets = subnets.NewCounter(p.options.Clients.EC2(sdk.Normal), tracker)
	p.launcher, err = launch.New(launch.Options{
		EC2: urgent, Templates: templater{p}, Cluster: p.config.ClusterName, Subnets: tracker, Unavailable: p.unavailable,
		Reservations: p.reservations, Lookup: p.lookup, Tags: p.config.Tags, Now: p.now, Logger: p.options.Logger,
		Observe: p.options.observeFleetErrors(),
	})
	if err != nil {
		return err
	}
	stopper, _ := urgent.(sdk.WarmAPI) // nil if the client can't stop instances
	p.instances, err = instances.New(instances.Options{
		EC2: urgent, Warm: stopper, Cluster: p.config.ClusterName, ServeAlpha: p.config.ServeAlpha, Now: p.now, Observe: p.options.observeBatches(),
		Shifted: func(_, zoneID string) bool {
			return p.shifts != nil && zoneID != "" && p.shifts.Snapshot().Shifted(zoneID)
		},
	})
	p.assembleBurst()
	return err
}

// Name returns "aws".
func (p *Provider) Name() string { return "aws" }

// Describe declares the properties of the provider (CP-DESCRIBE).
func (p *Provider) Describe() cloudprovider.Capabilities { return p.capabilities }

func capabilities(region string) cloudprovider.Capabilities {
	reservationLabels := []string{awsv1.LabelCapacityReservationID, awsv1.LabelCapacityReservationInterruptible, awsv1.LabelCapacityReservationType}
	return cloudprovider.Capabilities{
		NodeClasses: []metav1.GroupKind{{Group: awsv1.Group, Kind: nodeClassKind}},
		Vocabulary:  instancetype.Vocabulary(),
		LabelValues: map[string][]string{
			corev1.LabelArchStable:        {v1.ArchitectureAmd64, v1.ArchitectureArm64},
			corev1.LabelTopologyRegion:    {region},
			v1.CapacityTypeLabelKey:       {v1.CapacityTypeOnDemand, v1.CapacityTypeReserved, v1.CapacityTypeSpot},
			awsv1.LabelInstanceTenancy:    {awsv1.TenancyDedicated, awsv1.TenancyDefault, awsv1.TenancyHost},
			corev1.LabelOSStable:          {string(corev1.Linux), string(corev1.Windows)},
			awsv1.LabelNitroSandbox:       {"false", "true"},
			reservationLabels[1]:          {"false", "true"},
			reservationLabels[2]:          {string(awsv1.CapacityReservationTypeCapacityBlock), string(awsv1.CapacityReservationTypeDefault)},
			awsv1.LabelInstanceHypervisor: {"", "nitro", "xen"},
		},
		ReservationIDLabel: awsv1.LabelCapacityReservationID,
		ReservationLabels:  reservationLabels,
		HardwareLabels:     map[string]string{awsv1.LabelInstanceTenancy: awsv1.TenancyDefault, instancetype.LabelOutpostID: ""},
		ConsistencyWindow:  metav1.Duration{Duration: launch.Visibility},
	}
}

// Catalog returns the known instance types, or nil while none are known. You can save them for Options.Types.
func (p *Provider) Catalog() *catalog.Catalog { return p.discovery.Known() }

// reserved reports whether a tag is the provider's own, which users must not set.
func reserved(key string) bool {
	return len(key) >= len(awsv1.TagClusterPrefix) && key[:len(awsv1.TagClusterPrefix)] == awsv1.TagClusterPrefix ||
		slices.Contains([]string{awsv1.TagClusterName, awsv1.TagNodePool, awsv1.TagNodeClaim, awsv1.TagNodeClass, awsv1.TagProvisioner, awsv1.TagManagedBy, launch.TagNodeClaimUID, launch.TagBatch}, key) ||
		strings.HasPrefix(key, launch.TagBatchUIDs)
}

package fake

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/api/option"
	"github.com/drawknife/drawknife/api/requirements"
	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
)

// Defaults of Options.
const (
	DefaultName           = "fake"
	DefaultCluster        = "fake-cluster"
	DefaultImageID        = "fake-image-1"
	DefaultKubeletVersion = "v1.35.0"
	// DefaultStockOutMemory is the default of Options.StockOutMemory, the same as in the AWS provider.
	DefaultStockOutMemory = 3 * time.Minute
	// DefaultRedeliverAfter is the default of Options.RedeliverAfter, the usual visibility timeout of a message queue.
	DefaultRedeliverAfter = 20 * time.Second
)

// Options of a cloud. The zero value means a cloud without latency that uses the wall clock.
type Options struct {
	// Name is the name of the provider; empty means DefaultName.
	Name string
	// Cluster is the cluster that owns the instances; empty means DefaultCluster.
	Cluster string
	// Capabilities are the capabilities that the cloud declares; nil means GenericCapabilities. Copied.
	Capabilities *cloudprovider.Capabilities
	// Clock is the clock of the cloud; nil means WallClock. Latency, stock-out memory and interruption notices use it.
	Clock option.Clock
	// LaunchLatency is the time from Create until the instance runs.
	LaunchLatency time.Duration
	// ShutdownLatency is the time from the first Delete until the instance is gone.
	ShutdownLatency time.Duration
	// StockOutMemory is how long an offering is shown as unavailable after it was found out of stock: 0 means not at all, and nil means
	// DefaultStockOutMemory.
	StockOutMemory *time.Duration
	// RedeliverAfter is the time after which an unacknowledged interruption is delivered again: 0 means at the next read, and nil means
	// DefaultRedeliverAfter.
	RedeliverAfter *time.Duration
	// ImageID is the image of new instances; empty means DefaultImageID. See Cloud.SetImageID.
	ImageID string
	// KubeletVersion is the kubelet version of new instances; empty means DefaultKubeletVersion. See Cloud.SetKubeletVersion.
	KubeletVersion string
	// RepairPolicies are the repair policies of the provider; nil means DefaultRepairPolicies, and an empty list means no policies. Copied.
	RepairPolicies []cloudprovider.RepairPolicy
	// ListLag is the delay after which List shows a launch, a shutdown, and the end of an instance. The cloud declares a consistency window
	// of at least ListLag.
	ListLag time.Duration
	// LaunchCost returns the expected cost of nodes of a NodePool. The costs determine the order in which launches try offerings.
	// provisioning.LaunchCosts returns the costs that plans use. It is called once for each launch and must be safe for concurrent use. The
	// function and the LaunchCost that it returns must not call the cloud. If it is nil or returns nil, the offering with the lowest price
	// is tried first.
	LaunchCost func(v1.PoolKey) cloudprovider.LaunchCost
	// FaultModel makes random faults; its zero value makes no faults.
	FaultModel FaultModel
	// OnEvent is called for each event. Calls of methods and changes by tests are also events. Replay can repeat a log of events. Nil for
	// nothing. Objects in an Event must not be changed.
	OnEvent func(Event)
	// OnLaunch is called once for each instance when it is running. Nil for nothing.
	OnLaunch func(Instance)
	// OnTerminate is called once for each instance when it is gone, even if it never ran. Nil for nothing.
	OnTerminate func(Instance)
}

// Cloud is a provider for one cluster. It is safe for concurrent use. Make one with New.
type Cloud struct {
	*account
	cluster string
}

// A Cloud must implement these interfaces.
var (
	_ cloudprovider.CloudProvider      = (*Cloud)(nil)
	_ cloudprovider.DriftDetector      = (*Cloud)(nil)
	_ cloudprovider.Repairer           = (*Cloud)(nil)
	_ cloudprovider.InterruptionSource = (*Cloud)(nil)
	_ cloudprovider.NodeClassStatus    = (*Cloud)(nil)
	_ cloudprovider.RegistrationGate   = (*Cloud)(nil)
	_ cloudprovider.GroupCreator       = (*Cloud)(nil)
)

// account is the state that all clusters share: the instances, the stock and the controls for tests.
type account struct {
	// These fields are set once, by New.
	name         string
	capabilities cloudprovider.Capabilities
	vocabulary   *requirements.Lookup
	clock        option.Clock
	options      Options
	catalog      *catalog
	// stockOutMemory and redeliverAfter have the values of the options, or the defaults.
	stockOutMemory, redeliverAfter time.Duration

	// mu guards all fields below, and the fields of catalog that change. Hooks and functions of callers are called without the lock.
	mu        sync.Mutex
	instances map[string]*instance // by provider ID; instances that are gone are not in the map
	byOwner   map[owner]*instance  // live ones only
	launched  int
	// taken are the offerings that the current CreateGroup call has used so far.
	taken          []cloudprovider.OfferingKey
	timeline       timeline
	imageID        string
	kubeletVersion string
	nodeClasses    map[v1.NodeClassReference]cloudprovider.NodeClassReadiness
	faults         []*plannedFault
	calls          map[Method]int
	stalls         map[Method][]chan struct{}
	inbox          inbox
	// departed are instances that are gone but that List may still show.
	departed      []*instance
	chance        chance
	quotas        []*quota
	expired       bool
	brownOutUntil time.Time
	recorded      int
	latest        time.Time
	hooks         []func()
	hooksRunning  bool
}

// New makes a cloud that sells the types. It copies them. New refuses capabilities and types that break the provider contract. The error
// joins a *field.Error or *cloudprovider.CatalogError for each fault.
func New(types []*cloudprovider.InstanceType, options Options) (*Cloud, error) {
	capabilities := GenericCapabilities()
	if options.Capabilities != nil {
		capabilities = options.Capabilities.DeepCopy()
	}
	if err := capabilities.Validate(); err != nil {
		return nil, fmt.Errorf("making a fake cloud: capabilities: %w", err)
	}
	if err := cloudprovider.ValidateCatalog(types, capabilities); err != nil {
		return nil, fmt.Errorf("making a fake cloud: instance types: %w", err)
	}
	if err := options.validate(); err != nil {
		return nil, fmt.Errorf("making a fake cloud: %w", err)
	}
	options = options.withDefaults()
	capabilities.ConsistencyWindow.Duration = max(capabilities.ConsistencyWindow.Duration, options.ListLag)
	c := &Cloud{
		cluster: options.Cluster,
		account: &account{
			name:           options.Name,
			capabilities:   capabilities,
			vocabulary:     capabilities.Vocabulary.Compile(),
			clock:          options.Clock,
			options:        options,
			catalog:        newCatalog(types, capabilities.ReservationIDLabel),
			instances:      map[string]*instance{},
			byOwner:        map[owner]*instance{},
			imageID:        options.ImageID,
			kubeletVersion: options.KubeletVersion,
			stockOutMemory: option.Or(options.StockOutMemory, DefaultStockOutMemory),
			redeliverAfter: option.Or(options.RedeliverAfter, DefaultRedeliverAfter),
			nodeClasses:    map[v1.NodeClassReference]cloudprovider.NodeClassReadiness{},
			calls:          map[Method]int{},
			stalls:         map[Method][]chan struct{}{},
			inbox:          newInbox(),
			chance:         newChance(options.FaultModel),
		},
	}
	_ = c.lever(Event{Name: "Open"}, func(now time.Time) error {
		if options.FaultModel.PriceEvery > 0 {
			c.timeline.plan(now.Add(options.FaultModel.PriceEvery), c.movePrices)
		}
		return nil
	})
	return c, nil
}

func (o Options) validate() error {
	var faults []error
	for _, d := range []struct {
		name  string
		value time.Duration
	}{
		{"LaunchLatency", o.LaunchLatency}, {"ShutdownLatency", o.ShutdownLatency},
		{"StockOutMemory", option.Or(o.StockOutMemory, 0)}, {"RedeliverAfter", option.Or(o.RedeliverAfter, 0)}, {"ListLag", o.ListLag},
	} {
		if d.value < 0 {
			faults = append(faults, &option.Error{Package: "fake", Option: d.name, Rule: fmt.Sprintf("is %s; it must not be negative", d.value)})
		}
	}
	if err := cloudprovider.ValidateRepairPolicies(o.RepairPolicies); err != nil {
		faults = append(faults, err)
	}
	return errors.Join(append(faults, o.FaultModel.validate())...)
}

func (o Options) withDefaults() Options {
	o.Name = orDefault(o.Name, DefaultName)
	o.Cluster = orDefault(o.Cluster, DefaultCluster)
	o.ImageID = orDefault(o.ImageID, DefaultImageID)
	o.KubeletVersion = orDefault(o.KubeletVersion, DefaultKubeletVersion)
	o.FaultModel = o.FaultModel.withDefaults(o)
	if o.Clock == nil {
		o.Clock = WallClock{}
	}
	o.RepairPolicies = slices.Clone(o.RepairPolicies)
	if o.RepairPolicies == nil {
		o.RepairPolicies = DefaultRepairPolicies()
	}
	return o
}

func orDefault[T comparable](value, fallback T) T {
	var unset T
	if value == unset {
		return fallback
	}
	return value
}

// ForCluster returns the provider of another cluster. It shares the cloud with the instances, stock, controls and hooks. Neither cluster
// sees the instances of the other. If the name is the cloud's own cluster, the result behaves like the provider after a restart of the
// process.
func (c *Cloud) ForCluster(cluster string) *Cloud {
	return &Cloud{account: c.account, cluster: cluster}
}

// Name is Options.Name.
func (c *Cloud) Name() string { return c.name }

// Describe returns Options.Capabilities. The caller owns its lists and maps.
func (c *Cloud) Describe() cloudprovider.Capabilities { return c.capabilities.DeepCopy() }

// DefaultRepairPolicies returns the policies of the AWS provider. A node is repaired if it is not ready for 30 minutes, or if its node
// agent reports a broken part for 30 minutes (10 minutes for accelerators). The caller owns the slice.
func DefaultRepairPolicies() []cloudprovider.RepairPolicy {
	policies := []cloudprovider.RepairPolicy{
		{ConditionType: corev1.NodeReady, ConditionStatus: corev1.ConditionFalse, Toleration: 30 * time.Minute},
		{ConditionType: corev1.NodeReady, ConditionStatus: corev1.ConditionUnknown, Toleration: 30 * time.Minute},
		{ConditionType: "AcceleratedHardwareReady", ConditionStatus: corev1.ConditionFalse, Toleration: 10 * time.Minute},
	}
	for _, part := range []corev1.NodeConditionType{"StorageReady", "NetworkingReady", "KernelReady", "ContainerRuntimeReady"} {
		policies = append(policies, cloudprovider.RepairPolicy{
			ConditionType: part, ConditionStatus: corev1.ConditionFalse, Toleration: 30 * time.Minute,
		})
	}
	return policies
}

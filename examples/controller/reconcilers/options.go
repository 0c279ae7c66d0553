package reconcilers

import (
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/drawknife/drawknife/api/option"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/provisioning"
	"github.com/drawknife/drawknife/scheduling"
	"github.com/drawknife/drawknife/scheduling/nodefacts"
)

// Options are the settings of Add. Only Provider is required; the zero values of all other fields are suitable for an ordinary cluster.
type Options struct {
	// Provider launches and terminates instances. Required.
	Provider cloudprovider.CloudProvider
	// Gates can delay the registration of a node, in addition to the provider's own gates. Names are unique.
	Gates []cloudprovider.RegistrationGate

	// Batch says how long pending pods are collected before they are planned. Nil is provisioning.DefaultBatchOptions.
	Batch *provisioning.BatchOptions
	// Query contains the options of plans: preferences, minValues.
	Query scheduling.Query
	// CostModel returns the costs of nodes for a snapshot that is complete except for its cost model: fees, discounts, commitments, and
	// costs of spot interruptions (package scheduling/spotrisk). Plans of launches and of disruption use it. It is called for each
	// snapshot, possibly in parallel, and must not change earlier results; return the same pointer if the model has not changed. Nil, or a
	// model that is nil, means that only list prices count. If a model is not valid, the pass fails.
	CostModel func(*scheduling.Snapshot) *scheduling.CostModel
	// LaunchCosts stores the cost model of each snapshot, so that the provider launches with the costs that planning used; see
	// aws.Options.LaunchCost. Nil means that the cost model is not stored.
	LaunchCosts *provisioning.LaunchCosts
	// DefaultTopologySpread are the cluster's default spread constraints, as in kube-scheduler's configuration.
	DefaultTopologySpread []corev1.TopologySpreadConstraint
	// PassTimeout limits the time of one planning pass; more than 0. Nil is DefaultPassTimeout.
	PassTimeout *time.Duration
	// Lifecycle says how long instances may take to come up. Nil means provisioning.DefaultLifecycleOptions, with the provider's
	// LaunchTimeout. If its field Process is empty, it is set to the host's name with a random suffix.
	Lifecycle *provisioning.LifecycleOptions
	// RateLimiter limits the number of launches in a period; the zero value has no limit.
	RateLimiter provisioning.RateLimiterOptions
	// StockEstimate says how stock-outs are remembered. Nil is provisioning.DefaultStockEstimateOptions. If its Hardware is nil, the
	// Hardware that the provider declares is used.
	StockEstimate *provisioning.StockEstimateOptions
	// Stock is the stock estimate. Set it if the program keeps the estimate after a restart (StockEstimate.Export); StockEstimate must then
	// be nil. Nil means a new estimate. Launches, planning and disruption use the same estimate.
	Stock *provisioning.StockEstimate
	// NodeFacts learns from nodes which amounts their instance types really have, and how long nodes take to register (package
	// scheduling/nodefacts). Plans then use the learned amounts, and the registration timeout is adapted to the learned time. Nil means
	// that plans use the provider's estimates.
	NodeFacts *nodefacts.Book
	// Market is notified of launches and interruptions. It may be nil.
	Market MarketObserver
	// Disruption says how nodes are removed and replaced.
	Disruption DisruptionOptions
	// Evictor decides how pods are removed from drained nodes: provisioning.SurgeFirst waits until replacement pods are ready, which needs
	// permission to patch deployments and replicasets and to read horizontalpodautoscalers. Nil evicts pods at once and does not change
	// workloads. If another Evictor replaces this Evictor while a surge is in progress, the other Evictor undoes the surge; a nil Evictor
	// does not.
	Evictor provisioning.Evictor
	// NodeClasses are objects of the provider's node class kinds, registered in the manager's scheme. Events and metrics show their
	// conditions, and a change of a node class triggers a drift check of its instances at once. Nil means no kinds: instances are then
	// checked every five minutes.
	NodeClasses []client.Object
	// DeviceMatcher evaluates the CEL selectors of device claims, for example dra.New() of scheduling/dra. Nil means that, with
	// Features.Devices, pods have no place if their claims or device classes have selectors; the plan states the reason.
	DeviceMatcher scheduling.DeviceMatcher
	// Features are off by default.
	Features Features

	// Concurrency is how many NodeClaims, and how many Nodes, are processed in parallel; at least 1. Launches mostly wait for the cloud, so
	// a high number costs little. Nil is DefaultConcurrency.
	Concurrency *int
	// Logger receives log records. Nil discards it.
	Logger *slog.Logger
	// Metrics receives the controller's metrics. Nil registers none.
	Metrics prometheus.Registerer
	// WithoutObjectMetrics leaves out the metrics that have a time series for each node or pod
	// (disable-cluster-state-observability).
	WithoutObjectMetrics bool
	// DebugPage serves the report on the cluster as a page, at DebugPagePath on the manager's metrics server.
	DebugPage bool
	// Clock is the clock. Nil means the real clock.
	Clock option.Clock

	// groups are the kinds of pod groups that the API server serves; notServed are the kinds that it does not serve yet.
	groups    []watched
	notServed []groupKind
}

// Features enable features that the API calls alpha.
type Features struct {
	// NodeOverlay applies the prices and capacities of NodeOverlay objects.
	NodeOverlay bool
	// StaticCapacity keeps the number of nodes of NodePools with replicas equal to that number.
	StaticCapacity bool
	// CapacityBuffer keeps capacity free for CapacityBuffer objects.
	CapacityBuffer bool
	// ProvisioningRequest answers ProvisioningRequest objects, and keeps capacity free that they have booked.
	ProvisioningRequest bool
	// NoReservedCapacity prevents launches into reservations.
	NoReservedCapacity bool
	// Devices enables planning of pods that claim devices of Dynamic Resource Allocation. Nodes are then initialized only after the planned
	// drivers have published their devices. Devices has no effect if the API server does not serve resource.k8s.io/v1. It needs permission
	// to read the kinds of that group.
	Devices bool
	// Gangs enables planning pods of PodGroups together or not at all: the kinds of scheduling.k8s.io, coscheduling and Volcano that the
	// API server serves. It needs permission to read these kinds.
	Gangs bool
	// SpotToSpotConsolidation allows replacing spot nodes by cheaper spot nodes.
	SpotToSpotConsolidation bool
	// NodeRepair replaces nodes that stay unhealthy, according to the provider's policies.
	NodeRepair bool
	// NoDrift switches drift off: no node counts as drifted.
	NoDrift bool
}

const (
	// DefaultPassTimeout is Karpenter's time limit for one planning pass.
	DefaultPassTimeout = time.Minute
	// DefaultConcurrency is the number of objects of a kind that are processed at the same time.
	DefaultConcurrency = 500
	// leastNomination is the minimum time for which a node is nominated, even if batches are short.
	leastNomination = 10 * time.Second
)

// nomination returns for how long instances are not disrupted after pods were planned for them: the time that kube-scheduler may need to
// bind the pods.
func (o *Options) nomination() time.Duration {
	return max(2*option.Or(o.Batch, provisioning.DefaultBatchOptions()).Max, leastNomination)
}

// now returns the time of the clock.
func (o *Options) now() time.Time { return option.Time(o.Clock, time.Now) }

// complete checks the options and fills in defaults.
func (o *Options) complete() error {
	if o.Provider == nil {
		return &option.Error{Package: "reconcilers", Option: "Provider", Rule: "is required, for example a fake.Cloud or an aws.Provider"}
	}
	if err := o.Provider.Describe().Validate(); err != nil {
		return &option.Error{Package: "reconcilers", Option: "Provider", Rule: "its description is invalid: " + err.Error()}
	}
	if o.PassTimeout != nil && *o.PassTimeout <= 0 || o.Concurrency != nil && *o.Concurrency <= 0 {
		return &option.Error{Package: "reconcilers", Option: "PassTimeout, Concurrency", Rule: "they must be more than 0: leave them nil for the defaults"}
	}
	if o.Stock != nil && o.StockEstimate != nil {
		return &option.Error{Package: "reconcilers", Option: "StockEstimate", Rule: "is used only if Stock is nil: leave one of them nil"}
	}
	seen := map[string]bool{}
	for i, gate := range o.Gates {
		if gate == nil || gate.Name() == "" || seen[gate.Name()] {
			return &option.Error{Package: "reconcilers", Option: fmt.Sprintf("Gates[%d]", i), Rule: "must not be nil, and needs a name that no other gate has"}
		}
		seen[gate.Name()] = true
	}
	if err := scheduling.ValidateDefaultTopologySpread(o.DefaultTopologySpread, field.NewPath("DefaultTopologySpread")).ToAggregate(); err != nil {
		return &option.Error{Package: "reconcilers", Option: "DefaultTopologySpread", Rule: err.Error()}
	}
	o.PassTimeout, o.Concurrency = new(option.Or(o.PassTimeout, DefaultPassTimeout)), new(option.Or(o.Concurrency, DefaultConcurrency))
	o.Batch, o.StockEstimate = new(option.Or(o.Batch, provisioning.DefaultBatchOptions())), new(option.Or(o.StockEstimate, provisioning.DefaultStockEstimateOptions()))
	if o.Lifecycle == nil {
		o.Lifecycle = new(provisioning.DefaultLifecycleOptions())
		o.Lifecycle.LaunchTimeout = o.Provider.Describe().LaunchTimeoutOrDefault()
	}
	lifecycle := *o.Lifecycle
	if o.NodeFacts != nil && lifecycle.RegistrationTimeoutOf == nil {
		lifecycle.RegistrationTimeoutOf = o.NodeFacts.Timeout
	}
	if lifecycle.Process == "" {
		lifecycle.Process = processName()
	}
	o.Lifecycle = &lifecycle
	if err := o.Disruption.complete(o); err != nil {
		return err
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return nil
}

// processName returns a name that is different for each process, also on one host: the host's name, which people look for, and a random
// suffix.
func processName() string {
	host, err := os.Hostname()
	if err != nil || host == "" {
		host = "controller"
	}
	return host[:min(len(host), 200)] + "_" + string(uuid.NewUUID())
}

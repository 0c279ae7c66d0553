package reconcilers

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	autoscalingv1 "github.com/drawknife/drawknife/api/autoscaling/v1"
	"github.com/drawknife/drawknife/api/autoscaling/v1beta1"
	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/examples/controller/clusterdebug"
	"github.com/drawknife/drawknife/provisioning"
	"github.com/drawknife/drawknife/scheduling/cluster"
	"github.com/drawknife/drawknife/scheduling/limits"
)

// Scheme returns a scheme with all kinds that the reconcilers read and write.
func Scheme() *runtime.Scheme {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, v1.AddToScheme, v1beta1.AddToScheme, autoscalingv1.AddToScheme} {
		utilruntime.Must(add(scheme)) // fails only if a kind is registered twice
	}
	return scheme
}

// Add adds all reconcilers to the manager, whose scheme must have the kinds of Scheme. The error is an *option.Error, or an error of the
// manager.
func Add(mgr ctrl.Manager, o Options) error {
	if err := o.complete(); err != nil {
		return err
	}
	if err := o.checkDevices(mgr.GetRESTMapper()); err != nil {
		return err
	}
	if err := o.findGroups(mgr.GetRESTMapper()); err != nil {
		return err
	}
	w, err := newWiring(mgr, &o)
	if err != nil {
		return err
	}
	if err := addIndexes(context.Background(), mgr.GetFieldIndexer()); err != nil {
		return err
	}
	for _, runnable := range w.runnables() {
		if err := mgr.Add(runnable); err != nil {
			return fmt.Errorf("adding %T: %w", runnable, err)
		}
	}
	for path, handler := range w.pages(&o) {
		if err := mgr.AddMetricsServerExtraHandler(path, handler); err != nil {
			return err
		}
	}
	errs := []error{w.claims.setup(mgr, *o.Concurrency), w.nodes.setup(mgr, *o.Concurrency), w.pools.setup(mgr), w.conditions.setup(mgr, *o.Concurrency)}
	if w.repair != nil {
		errs = append(errs, w.repair.setup(mgr))
	}
	if o.Features.NodeOverlay {
		errs = append(errs, w.overlays.setup(mgr))
	}
	if o.Features.ProvisioningRequest {
		errs = append(errs, (&requestReconciler{w.planner.triggers.add}).setup(mgr))
	}
	return errors.Join(errs...)
}

// wiring contains all reconcilers and their connections.
type wiring struct {
	feed      *feed
	planner   *planner
	claims    *claimReconciler
	nodes     *nodeReconciler
	pools     *poolReconciler
	overlays  *overlayReconciler
	garbage   *garbageCollector
	podEvents *podEvents
	notes     *annotationWatcher
	evictions *evictions
	surge     *surge // nil if Options.Evictor does not request it
	leader    *leadership
	confirmer *confirmer
	report    *clusterdebug.Reporter

	disruptor     *disruptor
	conditions    *conditionReconciler
	interruptions *interruptions    // nil if the provider announces no interruptions
	repair        *repairReconciler // nil if the feature is off, or if the provider has no policies
}

func newWiring(mgr ctrl.Manager, o *Options) (*wiring, error) {
	counters, err := newMetrics(o.Metrics)
	if err != nil {
		return nil, fmt.Errorf("registering metrics: %w", err)
	}
	provider := &timedProvider{CloudProvider: o.Provider, metrics: counters}
	state, err := newState(o)
	if err != nil {
		return nil, err
	}
	act, err := newActor(mgr, o, provider, counters)
	if err != nil {
		return nil, err
	}
	reader, err := newConditionReader(mgr.GetClient(), o.NodeClasses)
	if err != nil {
		return nil, err
	}
	act.recorder.classVersions = reader.versions
	plans, err := newPlanner(mgr, o, act, state)
	if err != nil {
		return nil, err
	}
	act.planNow = func() { plans.triggers.add(stockTrigger) }
	capabilities := o.Provider.Describe()
	w := &wiring{
		planner:   plans,
		evictions: act.evictions,
		claims: &claimReconciler{
			actor: act, reader: mgr.GetAPIReader(), supports: capabilities.SupportsNodeClass,
			gone:    func(types.NamespacedName) { plans.triggers.add(stockTrigger) },
			devices: o.Features.Devices, launchAfter: map[types.UID]time.Time{}, checked: map[types.UID]time.Time{},
		},
		nodes:     &nodeReconciler{actor: act, draining: map[string]drainStart{}},
		garbage:   &garbageCollector{actor: act, reader: mgr.GetAPIReader()},
		notes:     &annotationWatcher{client: mgr.GetClient(), recorder: act.recorder, log: o.Logger, now: o.now},
		leader:    &leadership{},
		podEvents: &podEvents{actor: act, last: map[string]time.Time{}},
		pools:     &poolReconciler{actor: act, state: state, lookup: capabilities.Vocabulary.Compile(), planner: plans, static: o.Features.StaticCapacity},
	}
	if o.Evictor != nil {
		w.surge = newSurge(o.Evictor, act)
		act.evict = w.surge.add
	}
	w.confirmer = &confirmer{
		state: state, reader: mgr.GetAPIReader(), kinds: watchedKinds(o), log: o.Logger, now: o.now, gone: func() { plans.triggers.add(stockTrigger) },
	}
	w.overlays = &overlayReconciler{actor: act, state: state, lookup: w.pools.lookup}
	w.pools.classes, _ = cloudprovider.As[cloudprovider.NodeClassStatus](o.Provider)
	if err := w.addDisruption(o, act, mgr.GetAPIReader(), state, plans); err != nil {
		return nil, err
	}
	waiting := newPodTimes(w.leader, counters, o.now)
	plans.waitingPods, plans.shown = waiting, newStateMetrics(o, state, waiting)
	w.disruptor.report.saved.Since = o.now()
	w.report = clusterdebug.New(clusterdebug.Sources{
		Leader: w.leader.Load, State: state, Pools: plans.shown.catalogs.Load, Plan: plans.lastPlan.Load, Commands: w.disruptor.underWay, Now: o.now, Log: o.Logger,
	})
	shown := newConditionMetrics(reader, !o.WithoutObjectMetrics, o.now)
	if o.Metrics != nil {
		if err := errors.Join(o.Metrics.Register(plans.shown), o.Metrics.Register(shown)); err != nil {
			return nil, fmt.Errorf("registering metrics: %w", err)
		}
	}
	told := &transitions{leader: w.leader, recorder: act.recorder, reader: reader}
	w.feed = &feed{informers: mgr.GetCache(), state: state, kinds: watchedKinds(o), classes: o.NodeClasses, log: o.Logger, now: o.now, seen: func(before, after client.Object) {
		plans.seen(before, after)
		w.podEvents.seen(before, after)
		w.notes.seen(before, after)
		waiting.seen(before, after)
		shown.seen(before, after)
		w.disruptor.seen(before, after)
		if !o.WithoutObjectMetrics {
			told.seen(before, after)
		}
	}}
	w.feed.later = &laterGroups{feed: w.feed, mapper: mgr.GetRESTMapper(), waiting: o.notServed}
	return w, nil
}

// addDisruption adds the reconcilers that remove and replace nodes.
func (w *wiring) addDisruption(o *Options, act *actor, reader client.Reader, state *cluster.State, plans *planner) error {
	told, err := newDisruptionMetrics(o.Metrics, act.metrics)
	if err != nil {
		return fmt.Errorf("registering metrics: %w", err)
	}
	act.podsOf = func(claim *v1.NodeClaim) []*corev1.Pod { return reschedulableOn(state, claim) }
	w.disruptor = newDisruptor(o, act, reader, state, plans, told)
	w.conditions = &conditionReconciler{
		actor: act, state: state, lookup: o.Provider.Describe().Vocabulary.Compile(), typesOf: plans.typesOf, nodeClasses: o.NodeClasses,
		withoutDrift: o.Features.NoDrift, answers: map[types.UID]driftAnswer{},
	}
	w.conditions.detector, _ = cloudprovider.As[cloudprovider.DriftDetector](o.Provider)
	w.claims.removed = w.disruptor.forcedOut
	remove := &remover{actor: act, told: told, removed: w.disruptor.forcedOut}
	if source, ok := cloudprovider.As[cloudprovider.InterruptionSource](o.Provider); ok {
		w.interruptions = &interruptions{remover: remove, source: source}
	}
	if repairer, ok := cloudprovider.As[cloudprovider.Repairer](o.Provider); ok && o.Features.NodeRepair {
		if policies := repairer.RepairPolicies(); len(policies) > 0 {
			w.repair = &repairReconciler{remover: remove, policies: policies}
		}
	}
	return nil
}

// pages returns what is served on the metrics server, by path.
func (w *wiring) pages(o *Options) map[string]http.Handler {
	pages := map[string]http.Handler{DisruptionReportPath: w.disruptor, ClusterReportPath: w.report}
	if o.DebugPage {
		pages[DebugPagePath] = w.report.Page()
	}
	return pages
}

// stockTrigger triggers a pass because an instance planned for pods could not be launched.
const stockTrigger types.UID = "stock"

func (w *wiring) runnables() []manager.Runnable {
	list := []manager.Runnable{w.leader, w.feed, w.planner, w.garbage, w.podEvents, w.notes, w.evictions, w.disruptor, w.confirmer}
	if w.surge != nil {
		list = append(list, w.surge)
	}
	if w.interruptions != nil {
		list = append(list, w.interruptions)
	}
	if w.planner.buffers != nil {
		list = append(list, bufferTicker{w.planner.triggers.add})
	}
	return list
}

func newState(o *Options) (*cluster.State, error) {
	capabilities := o.Provider.Describe()
	return cluster.New(cluster.Options{
		Vocabulary: capabilities.Vocabulary, DefaultTopologySpread: o.DefaultTopologySpread,
		UnsupportedVolumeTopologyKeys: capabilities.UnsupportedVolumeTopologyKeys, UnsupportedVolumeDrivers: capabilities.UnsupportedVolumeDrivers,
		Kinds: namesOf(watchedKinds(o)),
	})
}

func newActor(mgr ctrl.Manager, o *Options, provider cloudprovider.CloudProvider, m *metrics) (*actor, error) {
	lifecycle, err := provisioning.NewLifecycle(*o.Lifecycle)
	if err != nil {
		return nil, err
	}
	stock := o.Stock
	if stock == nil {
		estimate := *o.StockEstimate
		if estimate.Hardware == nil {
			estimate.Hardware = o.Provider.Describe().HardwareLabels
		}
		if stock, err = provisioning.NewStockEstimate(estimate); err != nil {
			return nil, err
		}
	}
	market := o.Market
	if market == nil {
		market = noObserver{}
	}
	rateLimiter, err := provisioning.NewRateLimiter(o.RateLimiter)
	if err != nil {
		return nil, err
	}
	gates := o.Gates
	if own, ok := cloudprovider.As[cloudprovider.RegistrationGate](o.Provider); ok {
		gates = append([]cloudprovider.RegistrationGate{own}, gates...)
	}
	told := newRecorder(mgr.GetEventRecorder("drawknife"), o.now)
	evictions := newEvictions(mgr.GetClient(), told, m, o.Logger, o.now)
	return &actor{
		client: mgr.GetClient(), provider: provider, gates: gates, lifecycle: lifecycle, stock: stock, market: market, rateLimiter: rateLimiter, health: newHealth(),
		evictions: evictions, evict: evictions.add, recorder: told, metrics: m, log: o.Logger, now: o.now,
	}, nil
}

func newPlanner(mgr ctrl.Manager, o *Options, act *actor, state *cluster.State) (*planner, error) {
	batch, err := provisioning.NewBatch(*o.Batch)
	if err != nil {
		return nil, err
	}
	tracker := limits.NewTracker()
	launcher, err := provisioning.NewLauncher(provisioning.LauncherOptions{
		Claims: &claimStore{client: mgr.GetClient(), reader: mgr.GetAPIReader()}, Limits: tracker, RateLimiter: act.rateLimiter,
	})
	if err != nil {
		return nil, err
	}
	p := &planner{
		provider: act.provider, state: state, stock: act.stock, launcher: launcher, limits: tracker, recorder: act.recorder, health: act.health, metrics: act.metrics,
		lookup: act.provider.Describe().Vocabulary.Compile(), options: o, log: o.Logger, now: o.now, process: rand.Text(), triggers: newTriggers(), batch: batch,
	}
	if o.Features.CapacityBuffer {
		p.buffers = &bufferResolver{client: mgr.GetClient(), log: o.Logger, now: o.now}
	}
	if o.Features.ProvisioningRequest {
		p.requests = &requestAnswerer{
			client: mgr.GetClient(), log: o.Logger, query: o.Query, matcher: o.DeviceMatcher, written: map[types.UID]writtenAnswer{},
		}
	}
	return p, nil
}

package main

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/pprof"
	"runtime/debug"

	"github.com/go-logr/logr"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	"github.com/drawknife/drawknife/disruption"
	"github.com/drawknife/drawknife/examples/controller/generations"
	"github.com/drawknife/drawknife/examples/controller/install"
	"github.com/drawknife/drawknife/examples/controller/reconcilers"
	"github.com/drawknife/drawknife/examples/controller/transport"
	"github.com/drawknife/drawknife/examples/settings"
	"github.com/drawknife/drawknife/provisioning"
	"github.com/drawknife/drawknife/scheduling"
	"github.com/drawknife/drawknife/scheduling/dra"
	"github.com/drawknife/drawknife/scheduling/fees"
)

// serve runs the controller until ctx ends.
func serve(ctx context.Context, s settings.Settings, extra extraFlags, log *slog.Logger) error {
	if limit, ok := s.Process.SoftMemoryLimit(); ok {
		debug.SetMemoryLimit(limit)
	}
	ctrl.SetLogger(logr.FromSlogHandler(log.Handler()))
	config, err := restConfig(s.Process)
	if err != nil {
		return err
	}
	config.Wrap(transport.Bounded(log))
	dry := s.Process.Adopt == settings.AdoptDryRun
	if dry {
		s.Process.InstallCRDs, s.Process.DisableWebhook = false, true // nothing is written
	}
	if s.Process.InstallCRDs {
		if err := install.CRDs(ctx, config, install.Options{Webhook: webhookClient(s)}); err != nil {
			return fmt.Errorf("installing custom resource definitions: %w", err)
		}
		log.Info("installed CustomResourceDefinitions")
	}
	options, err := managerOptions(s.Process)
	if err != nil {
		return err
	}
	keeper, err := addWebhook(ctx, config, &options, s, log)
	if err != nil {
		return err
	}
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	guard, err := newAdoptionGuard(config, &options, s.Process, end, log)
	if err != nil {
		return err
	}
	mgr, err := ctrl.NewManager(config, options)
	if err != nil {
		return err
	}
	if err := guard.add(ctx, mgr, s.Process); err != nil {
		return err
	}
	if err := registerWebhook(mgr, keeper, s, log); err != nil {
		return err
	}
	if err := addProbes(mgr, s.Process); err != nil {
		return err
	}
	switch {
	case !s.Planning.ServeAlpha:
	case s.Process.KarpenterLease == settings.LeaseIgnored:
		log.Info("ignoring Provisioners, Machines and AWSNodeTemplates because Karpenter's lease is ignored")
	default:
		// From here on, v1alpha5 objects appear as v1 objects.
		if mgr, err = generations.Serve(mgr, generations.Options{Legacy: legacyOf(s.AWS.Legacy), Logger: log}); err != nil {
			return err
		}
	}
	shared := &planned{sharing: newSharing(mgr, s, log)}
	provider, err := newProvider(ctx, mgr, s, extra, shared, log)
	if err != nil {
		return err
	}
	if dry {
		return guard.dryRun(ctx, mgr, provider, extra.out)
	}
	wanted, err := reconcilerOptions(s.Planning)
	if err != nil {
		return err
	}
	wanted.Provider, wanted.Logger, wanted.Metrics = provider, log, ctrlmetrics.Registry
	wanted.LaunchCosts = &shared.costs
	wanted.WithoutObjectMetrics, wanted.DebugPage = s.Process.WithoutObjectMetrics, s.Process.DebugPage
	if s.Process.Provider == settings.ProviderAWS {
		wanted.NodeClasses = []client.Object{&awsv1.EC2NodeClass{}}
	}
	if s.Planning.Approval == settings.ApprovalConfigMap {
		wanted.Disruption.ApprovalNamespace = s.Process.SystemNamespace
	} else {
		wanted.Disruption.FormerApprovalNamespace = s.Process.SystemNamespace
	}
	if err := addMarket(mgr, s, provider, shared.sharing, &wanted, log); err != nil {
		return err
	}
	if err := reconcilers.Add(mgr, wanted); err != nil {
		return err
	}
	log.Info("starting controller", "provider", provider.Name(), "leaderElection", s.Process.LeaderElection, "v1beta1IsServed", servesBeta(s))
	return guard.start(ctx, mgr)
}

func restConfig(p settings.Process) (*rest.Config, error) {
	config, err := rest.InClusterConfig()
	if p.Kubeconfig != "" {
		config, err = clientcmd.BuildConfigFromFlags("", p.Kubeconfig)
	}
	if err != nil {
		return nil, fmt.Errorf("no usable configuration of a cluster: give --kubeconfig a valid file, or run in a pod: %w", err)
	}
	config.QPS, config.Burst = p.KubeClientQPS, p.KubeClientBurst
	config.UserAgent = "drawknife"
	return config, nil
}

func managerOptions(p settings.Process) (ctrl.Options, error) {
	scheme := reconcilers.Scheme()
	if err := generations.AddToScheme(scheme); err != nil {
		return ctrl.Options{}, err
	}
	if p.Provider == settings.ProviderAWS {
		if err := awsv1.AddToScheme(scheme); err != nil {
			return ctrl.Options{}, err
		}
	}
	return ctrl.Options{
		Scheme:                  scheme,
		Metrics:                 metricsserver.Options{BindAddress: fmt.Sprintf(":%d", p.MetricsPort)},
		HealthProbeBindAddress:  fmt.Sprintf(":%d", p.HealthProbePort),
		LeaderElection:          p.LeaderElection,
		LeaderElectionID:        p.LeaderElectionName,
		LeaderElectionNamespace: p.LeaderElectionNamespace,
		// The process ends right after the manager, so the lease is released, and a successor need not wait until it expires.
		LeaderElectionReleaseOnCancel: true,
	}, nil
}

func addProbes(mgr ctrl.Manager, p settings.Process) error {
	if err := mgr.AddHealthzCheck("alive", healthz.Ping); err != nil {
		return err
	}
	if err := mgr.AddReadyzCheck("ready", healthz.Ping); err != nil {
		return err
	}
	if !p.EnableProfiling {
		return nil
	}
	for path, handler := range map[string]http.HandlerFunc{
		"/debug/pprof/": pprof.Index, "/debug/pprof/cmdline": pprof.Cmdline, "/debug/pprof/profile": pprof.Profile,
		"/debug/pprof/symbol": pprof.Symbol, "/debug/pprof/trace": pprof.Trace,
	} {
		if err := mgr.AddMetricsServerExtraHandler(path, handler); err != nil {
			return err
		}
	}
	return nil
}

// reconcilerOptions converts the settings to the reconcilers' Options.
func reconcilerOptions(p settings.Planning) (reconcilers.Options, error) {
	query := scheduling.Query{Preferences: p.PreferencePolicy, MinValues: p.MinValuesPolicy}
	planner := p.Disruption.Planner(p.DisruptionPlanner, query, p.FeatureGates.SpotToSpotConsolidation)
	var evictor provisioning.Evictor
	if p.Eviction == settings.EvictSurgeFirst {
		evictor = provisioning.SurgeFirst{}
	}
	counted, err := fees.Parse(p.Fees)
	if err != nil {
		return reconcilers.Options{}, err
	}
	return reconcilers.Options{
		CostModel: counted.Models(), Evictor: evictor, Batch: &provisioning.BatchOptions{Idle: p.BatchIdleDuration, Max: p.BatchMaxDuration},
		Query: query, DeviceMatcher: dra.New(), Disruption: reconcilers.DisruptionOptions{Planner: planner, Approval: disruption.ApprovalPolicy{Wait: &p.ApprovalWait}},
		Features: reconcilers.Features{
			NodeOverlay: p.FeatureGates.NodeOverlay, StaticCapacity: p.FeatureGates.StaticCapacity,
			CapacityBuffer: p.FeatureGates.CapacityBuffer, ProvisioningRequest: p.FeatureGates.ProvisioningRequest, NoReservedCapacity: !p.FeatureGates.ReservedCapacity,
			SpotToSpotConsolidation: p.FeatureGates.SpotToSpotConsolidation, NodeRepair: p.FeatureGates.NodeRepair, NoDrift: !p.FeatureGates.Drift,
			Devices: !p.IgnoreResourceClaims, Gangs: true,
		},
	}, nil
}

package main

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/discovery"
	ctrl "sigs.k8s.io/controller-runtime"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/drawknife/drawknife/api/v1alpha5"
	"github.com/drawknife/drawknife/aws"
	"github.com/drawknife/drawknife/aws/sdk"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/examples/controller/onaws"
	"github.com/drawknife/drawknife/examples/settings"
)

// newAWS returns a provider that launches EC2 instances.
func newAWS(ctx context.Context, mgr ctrl.Manager, s settings.Settings, shared *planned, log *slog.Logger) (cloudprovider.CloudProvider, error) {
	config := awsConfig(s)
	alpha, err := hasInstances(mgr.GetRESTMapper())
	if err != nil {
		return nil, err
	}
	config.ServeAlpha = config.ServeAlpha && alpha
	clients, err := sdk.Load(ctx, config.SDK)
	if err != nil {
		return nil, err
	}
	cluster := &onaws.Cluster{
		Found:    aws.NewEKSCluster(clients.EKS(sdk.Background), s.AWS.ClusterName, time.Now),
		Endpoint: s.AWS.ClusterEndpoint, CABundle: s.AWS.ClusterCABundle, Logger: log,
	}
	if !s.AWS.DiscoverCluster {
		api, err := discovery.NewDiscoveryClientForConfig(mgr.GetConfig())
		if err != nil {
			return nil, err
		}
		cluster.Version = onaws.ServerVersion(api)
	}
	options := onaws.Options{
		Clients: clients, Cluster: cluster, NodeOverlays: s.Planning.FeatureGates.NodeOverlay, Metrics: ctrlmetrics.Registry, Logger: log,
		LaunchCost: shared.costs.Of,
	}
	if shared.sharing != nil {
		options.SharingClusters = shared.sharing.Clusters
	}
	return onaws.New(ctx, mgr, config, options)
}

// hasInstances reports whether the cluster has the v1alpha5 kind Machine. If it does not, EC2 is not asked for instances of
// Machines.
func hasInstances(mapper meta.RESTMapper) (bool, error) {
	kind := v1alpha5.GroupVersion().WithKind(v1alpha5.KindMachine)
	_, err := mapper.RESTMapping(kind.GroupKind(), kind.Version)
	if meta.IsNoMatchError(err) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("cannot check whether the cluster has %s: %w", kind.Kind, err)
	}
	return true, nil
}

// awsConfig converts the settings to the provider's Config.
func awsConfig(s settings.Settings) aws.Config {
	overhead := s.AWS.VMMemoryOverheadPercent
	config := aws.Config{
		ClusterName: s.AWS.ClusterName, SDK: sdk.Config{Region: s.AWS.Region}, VMMemoryOverheadPercent: &overhead,
		BurstLaunches: &s.AWS.BurstLaunches,
		ReservedENIs:  s.AWS.ReservedENIs, IsolatedVPC: s.AWS.IsolatedVPC, InterruptionQueue: s.AWS.InterruptionQueue,
		WithoutDryRuns: s.AWS.DisableDryRun, ZonalShift: s.AWS.EnableZonalShift,
		Commitments: s.AWS.Commitments && s.Planning.CommitmentsFile == "", CostExplorer: s.AWS.CostExplorer,
		ServeAlpha:              s.Planning.ServeAlpha,
		WithoutReservedCapacity: !s.Planning.FeatureGates.ReservedCapacity,
		ImagesEvery:             &s.AWS.AMIRefreshInterval, SubnetsEvery: &s.AWS.SubnetRefreshInterval,
	}
	config.InstanceTypes = s.AWS.InstanceTypes()
	if s.AWS.MeasuredMemory {
		config.VMMemoryOverheadPercent = nil
	}
	if s.Planning.SpotRisk {
		config.SpotScoreConfigurations = s.AWS.SpotScoreConfigurations
	}
	if s.AWS.Legacy != nil {
		config.Tags = s.AWS.Legacy.Tags
	}
	return config
}

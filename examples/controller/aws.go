package main

import (
	"context"
	"log/slog"
	"time"

	"k8s.io/client-go/discovery"
	ctrl "sigs.k8s.io/controller-runtime"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/drawknife/drawknife/aws"
	"github.com/drawknife/drawknife/aws/sdk"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/examples/controller/onaws"
	"github.com/drawknife/drawknife/examples/settings"
)

// newAWS launches EC2 instances.
func newAWS(ctx context.Context, mgr ctrl.Manager, s settings.Settings, log *slog.Logger) (cloudprovider.CloudProvider, error) {
	config := awsConfig(s)
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
	return onaws.New(ctx, mgr, config, onaws.Options{
		Clients: clients, Cluster: cluster, NodeOverlays: s.Planning.FeatureGates.NodeOverlay, Metrics: ctrlmetrics.Registry, Logger: log,
	})
}

// awsConfig are the settings as the provider takes them.
func awsConfig(s settings.Settings) aws.Config {
	overhead := s.AWS.VMMemoryOverheadPercent
	config := aws.Config{
		ClusterName: s.AWS.ClusterName, SDK: sdk.Config{Region: s.AWS.Region}, VMMemoryOverheadPercent: &overhead,
		ReservedENIs: s.AWS.ReservedENIs, IsolatedVPC: s.AWS.IsolatedVPC, InterruptionQueue: s.AWS.InterruptionQueue,
		WithoutDryRuns: s.AWS.DisableDryRun, ZonalShift: s.AWS.EnableZonalShift,
		WithoutReservedCapacity: !s.Planning.FeatureGates.ReservedCapacity,
		ImagesEvery:             s.AWS.AMIRefreshInterval, SubnetsEvery: s.AWS.SubnetRefreshInterval,
	}
	if s.AWS.Legacy != nil {
		config.Tags = s.AWS.Legacy.Tags
	}
	return config
}

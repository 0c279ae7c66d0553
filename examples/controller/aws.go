package main

import (
	"context"
	"log/slog"
	"time"

	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/drawknife/drawknife/aws"
	"github.com/drawknife/drawknife/aws/sdk"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/examples/controller/onaws"
	"github.com/drawknife/drawknife/examples/controller/settings"
)

// newAWS launches EC2 instances.
func newAWS(ctx context.Context, mgr ctrl.Manager, s settings.Settings, log *slog.Logger) (cloudprovider.CloudProvider, error) {
	config := awsConfig(s)
	clients, err := sdk.Load(ctx, config.SDK)
	if err != nil {
		return nil, err
	}
	return onaws.New(ctx, mgr, config, onaws.Options{
		Clients: clients, Logger: log,
		Cluster: givenCluster{
			endpoint: s.AWS.ClusterEndpoint, bundle: s.AWS.ClusterCABundle, found: aws.NewEKSCluster(clients.EKS(sdk.Background), s.AWS.ClusterName, time.Now),
		},
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
	}
	if s.AWS.Legacy != nil {
		config.Tags = s.AWS.Legacy.Tags
	}
	return config
}

// givenCluster is what EKS says of the cluster, with what the settings give instead.
type givenCluster struct {
	endpoint, bundle string
	found            aws.ClusterInfoSource
}

// ClusterInfo implements aws.ClusterInfoSource.
func (g givenCluster) ClusterInfo(ctx context.Context) (aws.ClusterInfo, error) {
	info, err := g.found.ClusterInfo(ctx)
	if err != nil {
		if g.endpoint == "" {
			return aws.ClusterInfo{}, err
		}
		info = aws.ClusterInfo{} // a cluster that is not on EKS: what the settings say has to do
	}
	if g.endpoint != "" {
		info.Endpoint = g.endpoint
	}
	if g.bundle != "" {
		info.CABundle = g.bundle
	}
	return info, nil
}

// Package onaws connects the AWS provider to a controller-runtime manager: it reads EC2NodeClasses from the manager's cache,
// reconciles them, and runs the provider's periodic tasks on the leader.
//
//	provider, err := onaws.New(ctx, manager, aws.Config{ClusterName: "demo"}, onaws.Options{})
//	if err != nil {
//		return err
//	}
//	err = reconcilers.Add(manager, reconcilers.Options{Provider: provider})
package onaws

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/drawknife/drawknife/api/option"
	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/aws"
	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	"github.com/drawknife/drawknife/aws/sdk"
	"github.com/drawknife/drawknife/cloudprovider"
)

// Options are the options of New, in addition to the provider's Config.
type Options struct {
	// Cluster returns the details of the cluster that nodes need to join it. Nil means that they are read from EKS.
	Cluster aws.ClusterInfoSource
	// Clients creates the AWS clients. Nil means clients with the credentials of the environment.
	Clients aws.Clients
	// SharingClusters returns the names of other clusters that report their use of commitments; see aws.Options. Nil means that there are
	// no such clusters.
	SharingClusters func() []string
	// LaunchCost decides the order in which launches ask for offerings; see aws.Options. Nil means that prices decide.
	LaunchCost func(v1.PoolKey) cloudprovider.LaunchCost
	// NodeOverlays means that launches use prices with NodeOverlays applied. The manager's scheme and permissions must include
	// NodeOverlays, and reconcilers.Options.Features.NodeOverlay must also be set.
	NodeOverlays bool
	// Metrics is the registry for the provider's metrics. Nil registers none.
	Metrics prometheus.Registerer
	// Logger receives log records. Nil discards it.
	Logger *slog.Logger
	// Clock is the clock. Nil means the real clock.
	Clock option.Clock
}

// New returns the provider and adds its periodic tasks to the manager, whose scheme must have the kinds of aws/api/v1. The error is an
// error of aws.New or of the manager.
func New(ctx context.Context, mgr ctrl.Manager, config aws.Config, o Options) (*Provider, error) {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Clients == nil {
		clients, err := sdk.Load(ctx, config.SDK)
		if err != nil {
			return nil, err
		}
		o.Clients = clients
	}
	if o.Cluster == nil {
		o.Cluster = aws.NewEKSCluster(o.Clients.EKS(sdk.Background), config.ClusterName, func() time.Time { return option.Time(o.Clock, time.Now) })
	}
	provider, err := newProvider(ctx, mgr.GetClient(), config, o)
	if err != nil {
		return nil, err
	}
	if err := mgr.GetFieldIndexer().IndexField(ctx, claimObject, claimsByClass, classOf); err != nil {
		return nil, fmt.Errorf("indexing nodeclaims by node class: %w", err)
	}
	classes := &classReconciler{provider: provider.Provider, client: mgr.GetClient(), events: mgr.GetEventRecorder("drawknife"), log: o.Logger}
	if err := classes.setup(mgr); err != nil {
		return nil, err
	}
	for _, runnable := range []manager.Runnable{
		onEveryReplica(provider.Run), onTheLeader(provider.Lead),
		&duties{provider: provider.Provider, client: mgr.GetClient(), reader: mgr.GetAPIReader(), log: o.Logger},
	} {
		if err := mgr.Add(runnable); err != nil {
			return nil, err
		}
	}
	return provider, nil
}

// newProvider returns a provider that reads from a manager's cache.
func newProvider(ctx context.Context, cached client.Reader, config aws.Config, o Options) (*Provider, error) {
	p := &Provider{}
	options := aws.Options{NodeClasses: classReader{cached}, Cluster: o.Cluster, Clients: o.Clients, SharingClusters: o.SharingClusters, LaunchCost: o.LaunchCost, Logger: o.Logger}
	var priced *overlays
	if o.NodeOverlays {
		priced = &overlays{client: cached, types: p.InstanceTypes}
		options.Overlays = priced
	}
	var err error
	if options.OnUnhealthy, err = countUnhealthy(o.Metrics); err != nil {
		return nil, err
	}
	if p.Provider, err = aws.New(ctx, config, options); err != nil {
		return nil, err
	}
	if priced != nil {
		priced.lookup = p.Describe().Vocabulary.Compile()
	}
	return p, nil
}

// classReader reads EC2NodeClasses from the manager's cache.
type classReader struct{ client client.Reader }

// NodeClass implements aws.NodeClassReader.
func (r classReader) NodeClass(ctx context.Context, name string) (*awsv1.EC2NodeClass, error) {
	class := &awsv1.EC2NodeClass{}
	if err := r.client.Get(ctx, client.ObjectKey{Name: name}, class); err != nil {
		if apierrors.IsNotFound(err) {
			return nil, nil
		}
		return nil, err
	}
	return class, nil
}

// onEveryReplica and onTheLeader are loops that end with their context, without an error.
type (
	onEveryReplica func(context.Context) error
	onTheLeader    func(context.Context) error
)

// Start runs the loop.
func (f onEveryReplica) Start(ctx context.Context) error { return untilTold(ctx, f(ctx)) }

// NeedLeaderElection is false.
func (f onEveryReplica) NeedLeaderElection() bool { return false }

// Start runs the loop.
func (f onTheLeader) Start(ctx context.Context) error { return untilTold(ctx, f(ctx)) }

// NeedLeaderElection returns true.
func (f onTheLeader) NeedLeaderElection() bool { return true }

func untilTold(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}

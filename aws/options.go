package aws

import (
	"context"
	"log/slog"

	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/drawknife/drawknife/api/option"
	v1 "github.com/drawknife/drawknife/api/v1"
	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	"github.com/drawknife/drawknife/aws/catalog"
	"github.com/drawknife/drawknife/aws/prices"
	"github.com/drawknife/drawknife/aws/sdk"
	"github.com/drawknife/drawknife/cloudprovider"
)

// Options are what a provider is connected to. NodeClasses and Cluster are required.
type Options struct {
	// NodeClasses reads EC2NodeClasses. Required.
	NodeClasses NodeClassReader
	// Cluster tells what nodes have to know of the cluster they join. Required.
	Cluster ClusterInfoSource
	// Overlays change instance types for the NodePools of a cluster; nil: nobody does.
	Overlays Overlayer
	// Clients make the clients of AWS; nil: sdk.Load makes them of Config.SDK.
	Clients Clients
	// Prices are read beside AWS's own, over which they win: negotiated prices, or files where AWS can't be asked. See
	// prices.Options. Nil: none.
	Prices []prices.Feed
	// Types are instance types to start with while EC2 can't be asked: a catalogue of this region that was saved. Nil:
	// none, and New fails when EC2 can't be asked.
	Types *catalog.Catalog
	// BuiltIn has what AWS does not say, and the prices that serve until better ones were read; nil: the catalogue that is
	// embedded in package catalog. Programs that have decoded that one already save the time.
	BuiltIn *catalog.Catalog
	// ExtendLaunchTemplate may add to the data of launch templates what node classes have no field for; see
	// launchtemplate.Request. Nil adds nothing.
	ExtendLaunchTemplate func(*ec2types.RequestLaunchTemplateData)
	// Clock tells the time; nil: the real one. Waiting is always done in real time.
	Clock option.Clock
	// Logger is told what happens that no result says; nil: nobody is.
	Logger *slog.Logger
	// IsDrift reports whether a difference makes a claim's instance drift; one that does not is told by Drift alone.
	// So foreign security groups can be ignored, kinds of drift told without acting on them, or new images left to soak. It
	// is asked of each difference each time that a claim is looked at, must return soon, and must be safe for concurrent
	// use. Nil: all do.
	IsDrift func(*v1.NodeClaim, Difference) bool
	// OnFleetError is told of each error that EC2 gave for a launch, once. Nil: nobody is. It must be safe for
	// concurrent use, as the next.
	OnFleetError func(LaunchFailure)
	// OnBatch is told of merged calls. Nil: nobody is.
	OnBatch func(MergedCall)
	// FindInstance looks an instance of the cluster up by its EC2 ID when AWS has something to say about it; false if the
	// cluster has no such instance, whose message is then removed. It is asked for every message, so that it had
	// better be an index over NodeClaims. Nil: the provider goes by the instances it has launched and, once a minute while
	// Run is at work, listed.
	FindInstance func(instanceID string) (InterruptedInstance, bool)
	// OnInterruption is told of each message of the queue, for metrics. Nil: nobody is. It must be safe
	// for concurrent use.
	OnInterruption func(InterruptionMessage)
	// OnUnhealthy is told of each instance that EC2 reports as impaired or due for maintenance, once while that lasts, for
	// metrics. Nil: nobody is. It must be safe for concurrent use.
	OnUnhealthy func(InterruptionKind, InterruptedInstance)
}

// Clients make clients of AWS's services for calls of a priority. *sdk.Clients does.
type Clients interface {
	// Region that the clients work in.
	Region() string
	// EC2 makes a client of EC2.
	EC2(sdk.Priority) sdk.EC2API
	// SSM makes a client of Systems Manager.
	SSM(sdk.Priority) sdk.SSMAPI
	// EKS makes a client of EKS.
	EKS(sdk.Priority) sdk.EKSAPI
	// IAM makes a client of IAM.
	IAM(sdk.Priority) sdk.IAMAPI
	// SQS makes a client of SQS.
	SQS(sdk.Priority) sdk.SQSAPI
	// Pricing makes a client of the price list.
	Pricing(sdk.Priority) sdk.PricingAPI
	// ZonalShift makes a client of ARC zonal shift.
	ZonalShift(sdk.Priority) sdk.ZonalShiftAPI
}

var _ Clients = (*sdk.Clients)(nil)

// NodeClassReader reads EC2NodeClasses, with the status that tells what was found in the account.
type NodeClassReader interface {
	// NodeClass is the node class of that name; nil, without an error, when there is none. The provider does not change
	// it, and nobody else may once it was handed out.
	NodeClass(ctx context.Context, name string) (*awsv1.EC2NodeClass, error)
}

// NodeClasses is a NodeClassReader over a map by name, which must not be changed any more.
type NodeClasses map[string]*awsv1.EC2NodeClass

// NodeClass implements NodeClassReader.
func (c NodeClasses) NodeClass(_ context.Context, name string) (*awsv1.EC2NodeClass, error) {
	return c[name], nil
}

// StandInPricer is an Overlayer that has prices for types which AWS has none for. Offerings of such a type are open at that price.
type StandInPricer interface {
	Overlayer
	// StandInPrices gives prices in USD per hour, each more than 0, by the name of the type, for those of the types that it has one for.
	// The types are shared and not changed.
	StandInPrices(ctx context.Context, types []*cloudprovider.InstanceType) (map[string]float64, error)
}

// Overlayer changes the instance types that a NodePool sees: prices and additional resources of NodeOverlays.
type Overlayer interface {
	// Overlay gives the types as the NodePool of that name, v1.QualifiedName, sees them. The types it is given are shared: it copies what it
	// changes (see package cloudprovider/overlay). While it can't tell, its error is of kind UnevaluatedNodePool.
	Overlay(ctx context.Context, nodePool string, types []*cloudprovider.InstanceType) ([]*cloudprovider.InstanceType, error)
}

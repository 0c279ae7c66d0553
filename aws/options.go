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

// Options connect a provider to the cluster and to AWS. NodeClasses and Cluster are required.
type Options struct {
	// NodeClasses reads EC2NodeClasses. Required.
	NodeClasses NodeClassReader
	// Cluster returns the details of the cluster that nodes need to join it. Required.
	Cluster ClusterInfoSource
	// Overlays change instance types for NodePools. Nil means none.
	Overlays Overlayer
	// LaunchCost returns the expected costs of nodes of a NodePool. These costs decide in which order launches request offerings, and which
	// offerings are left out. provisioning.LaunchCosts returns the costs that plans use, such as the cost of interruptions of spot
	// instances. It is called once for each launch, and must be safe for concurrent use. If it is nil, or returns nil, offerings are
	// ordered by price.
	LaunchCost func(v1.PoolKey) cloudprovider.LaunchCost
	// Clients create the AWS clients. If it is nil, sdk.Load creates them from Config.SDK.
	Clients Clients
	// Prices are additional price feeds, which override AWS's own prices: for example negotiated prices, or price files for a network in
	// which AWS can't be reached. See prices.Options. Nil means none.
	Prices []prices.Feed
	// Types are instance types to use at start if EC2 can't be reached: a saved catalogue of this region. Nil means none, and New fails if
	// EC2 can't be reached.
	Types *catalog.Catalog
	// BuiltIn contains data that AWS does not provide, and prices to use until better prices were read. Nil means the catalogue embedded in
	// package catalog. A program that has already decoded the embedded catalogue can pass it here to save time.
	BuiltIn *catalog.Catalog
	// ExtendLaunchTemplate may add settings to launch templates for which node classes have no field; see launchtemplate.Request. Nil adds
	// nothing.
	ExtendLaunchTemplate func(*ec2types.RequestLaunchTemplateData)
	// Clock is the clock. Nil means the system clock. Waiting always uses real time.
	Clock option.Clock
	// Logger logs facts that results do not contain. If it is nil, nothing is logged.
	Logger *slog.Logger
	// SharingClusters returns the names of other clusters of the account that report their own use of commitments, so that their instances
	// are not counted a second time. It must be safe for concurrent use. Nil means that there are no such clusters. It has no effect
	// without Config.Commitments.
	SharingClusters func() []string
	// IsDrift reports whether a difference is treated as drift; Drift still returns all differences. Use it to ignore foreign security
	// groups, to report some kinds of drift without acting on them, or to delay the use of new images. It is called for each difference in
	// each check, must return quickly, and must be safe for concurrent use. Nil means that every difference is drift.
	IsDrift func(*v1.NodeClaim, Difference) bool
	// OnFleetError is called once for each error that EC2 returns for a launch. Nil means that no function is called. It must be safe for
	// concurrent use, like all functions below.
	OnFleetError func(LaunchFailure)
	// OnBatch is called for merged calls. Nil means that no function is called.
	OnBatch func(MergedCall)
	// FindInstance finds an instance of the cluster by its EC2 ID when AWS reports something about it. It returns false if the cluster has
	// no such instance; the message is then removed. It is called for every message, so it should use an index of NodeClaims. Nil means
	// that the provider uses the instances that it has launched, and a list that Run reads once a minute.
	FindInstance func(instanceID string) (InterruptedInstance, bool)
	// OnInterruption is called for each message of the queue, for metrics. Nil means that no function is called. It must be safe for
	// concurrent use.
	OnInterruption func(InterruptionMessage)
	// OnUnhealthy is called for each instance that EC2 reports as impaired or due for maintenance, once per occurrence, for
	// metrics. Nil means that no function is called. It must be safe for concurrent use.
	OnUnhealthy func(InterruptionKind, InterruptedInstance)
}

// Clients create clients of AWS services for calls with a priority. *sdk.Clients implements it.
type Clients interface {
	// Region of the clients.
	Region() string
	// EC2 returns a client of EC2.
	EC2(sdk.Priority) sdk.EC2API
	// SSM returns a client of Systems Manager.
	SSM(sdk.Priority) sdk.SSMAPI
	// EKS returns a client of EKS.
	EKS(sdk.Priority) sdk.EKSAPI
	// IAM returns a client of IAM.
	IAM(sdk.Priority) sdk.IAMAPI
	// SQS returns a client of SQS.
	SQS(sdk.Priority) sdk.SQSAPI
	// Pricing returns a client of the price list.
	Pricing(sdk.Priority) sdk.PricingAPI
	// ZonalShift returns a client of ARC zonal shift.
	ZonalShift(sdk.Priority) sdk.ZonalShiftAPI
}

var _ Clients = (*sdk.Clients)(nil)

// NodeClassReader reads EC2NodeClasses, with the status that has the resolved resources of the account.
type NodeClassReader interface {
	// NodeClass returns the node class with this name, or nil without an error if it does not exist. The provider does not change it, and
	// nobody else may change it after it was returned.
	NodeClass(ctx context.Context, name string) (*awsv1.EC2NodeClass, error)
}

// NodeClasses is a NodeClassReader that reads from a map by name. The map must not be changed.
type NodeClasses map[string]*awsv1.EC2NodeClass

// NodeClass implements NodeClassReader.
func (c NodeClasses) NodeClass(_ context.Context, name string) (*awsv1.EC2NodeClass, error) {
	return c[name], nil
}

// StandInPricer is an Overlayer that also has prices for types without a price from AWS. Offerings of such a type are available at that
// price.
type StandInPricer interface {
	Overlayer
	// StandInPrices returns prices in USD per hour, each more than 0, by type name. Types for which it has no price are left out. The types
	// are shared and must not be changed.
	StandInPrices(ctx context.Context, types []*cloudprovider.InstanceType) (map[string]float64, error)
}

// Overlayer changes the instance types that a NodePool sees: prices and additional resources of NodeOverlays.
type Overlayer interface {
	// Overlay returns the types for the NodePool of that name (v1.QualifiedName). The types are shared: it must copy the types that it
	// changes (see package cloudprovider/overlay). If the overlays have not been evaluated, the error has kind UnevaluatedNodePool.
	Overlay(ctx context.Context, nodePool string, types []*cloudprovider.InstanceType) ([]*cloudprovider.InstanceType, error)
}

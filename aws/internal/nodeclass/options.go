package nodeclass

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"k8s.io/apimachinery/pkg/types"

	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	"github.com/drawknife/drawknife/aws/internal/amis"
	"github.com/drawknife/drawknife/aws/internal/instanceprofile"
	"github.com/drawknife/drawknife/aws/internal/launchtemplates"
	"github.com/drawknife/drawknife/aws/internal/placement"
	"github.com/drawknife/drawknife/aws/internal/reservations"
	"github.com/drawknife/drawknife/aws/launchtemplate"
	"github.com/drawknife/drawknife/aws/sdk"
	"github.com/drawknife/drawknife/cloudprovider"
)

// Options of a Reconciler.
type Options struct {
	// EC2 is the client for dry runs: CreateFleet and RunInstances. Required.
	EC2 sdk.EC2API
	// Network finds subnets and security groups. Required; NewFinder makes one.
	Network Network
	// Images finds images. Required.
	Images Images
	// Reservations finds capacity reservations. Nil means that reserved capacity is not used and has no condition.
	Reservations Reservations
	// Groups finds placement groups. Required.
	Groups Groups
	// Profiles makes instance profiles. If it is nil, no profiles are created, as in an isolated network, and classes must name a profile
	// instead of a role.
	Profiles Profiles
	// Templates makes and deletes launch templates. Required.
	Templates Templates
	// Cluster returns the cluster details for nodes. It should return cached values. Required.
	Cluster func(context.Context) (Cluster, error)
	// InstanceTypes returns the instance types of a class, available or not. Required unless WithoutDryRuns.
	InstanceTypes func(context.Context, *awsv1.EC2NodeClass) ([]*cloudprovider.InstanceType, error)
	// Extend is passed to launchtemplate.Request; nil adds nothing.
	Extend func(*ec2types.RequestLaunchTemplateData)
	// WithoutDryRuns makes no dry runs, and assumes that instances may be launched.
	WithoutDryRuns bool
	// Features of the API that are enabled.
	Features awsv1.Features
	// Now is the clock. Nil means time.Now.
	Now func() time.Time
	// Logger logs facts that results do not contain; nil means no logging.
	Logger *slog.Logger
}

// Cluster contains the details of the cluster that nodes need, and the Kubernetes version that determines the images.
type Cluster struct {
	launchtemplate.Cluster
	// Version of Kubernetes, "1.35". It is required for classes with an alias, because their images depend on the version.
	Version string
}

// Network finds the subnets and security groups of instances. *Finder implements it.
type Network interface {
	// Subnets returns the subnets that any of the terms matches, the subnets with most free addresses first.
	Subnets(context.Context, []awsv1.SubnetSelectorTerm) ([]awsv1.Subnet, error)
	// SecurityGroups returns the security groups that any of the terms matches, by id.
	SecurityGroups(context.Context, []awsv1.SecurityGroupSelectorTerm) ([]awsv1.SecurityGroup, error)
}

// Images finds the images from which instances boot. *amis.Resolver implements it.
type Images interface {
	Resolve(ctx context.Context, terms []awsv1.AMISelectorTerm, kubernetes string) (amis.Result, error)
}

// Reservations finds reserved capacity. *reservations.Finder implements it.
type Reservations interface {
	Find(context.Context, []awsv1.CapacityReservationSelectorTerm) (found reservations.Found, rejected, err error)
}

// Groups finds placement groups. *placement.Finder implements it.
type Groups interface {
	Find(context.Context, *awsv1.PlacementGroupSelector) (*placement.Group, error)
}

// Profiles makes and deletes instance profiles. *instanceprofile.Manager implements it.
type Profiles interface {
	// Ensure ensures that a profile with the class's role exists, and returns its name.
	Ensure(context.Context, instanceprofile.Wanted) (string, error)
	// DeleteNodeClass deletes all profiles that were made for a class. If a profile does not exist, deleting it is not an error.
	DeleteNodeClass(ctx context.Context, name string, uid types.UID) error
}

// Templates makes and deletes launch templates. *launchtemplates.Store implements it.
type Templates interface {
	// Ensure creates missing templates, and returns the templates that exist then.
	Ensure(context.Context, []launchtemplate.Template) ([]launchtemplate.Template, error)
	// DeleteNodeClass deletes all templates that were made for a class. If a template does not exist, deleting it is not an error.
	DeleteNodeClass(ctx context.Context, nodeClass string) error
}

var (
	_ Network      = (*Finder)(nil)
	_ Images       = (*amis.Resolver)(nil)
	_ Reservations = (*reservations.Finder)(nil)
	_ Groups       = (*placement.Finder)(nil)
	_ Profiles     = (*instanceprofile.Manager)(nil)
	_ Templates    = (*launchtemplates.Store)(nil)
)

func (o Options) validate() error {
	var faults []error
	for name, missing := range map[string]bool{
		"ec2": o.EC2 == nil, "network": o.Network == nil, "images": o.Images == nil, "groups": o.Groups == nil,
		"templates": o.Templates == nil, "cluster": o.Cluster == nil,
		"instanceTypes": o.InstanceTypes == nil && !o.WithoutDryRuns,
	} {
		if missing {
			faults = append(faults, fmt.Errorf("%s: required", name))
		}
	}
	if err := errors.Join(faults...); err != nil {
		return cloudprovider.NewPermanentError(fmt.Errorf("options of the node class reconciler: %w", err))
	}
	return nil
}

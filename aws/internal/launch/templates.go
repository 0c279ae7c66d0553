package launch

import (
	"context"

	v1 "github.com/drawknife/drawknife/api/v1"
	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
)

// LaunchTemplates creates the launch templates for a launch.
type LaunchTemplates interface {
	// Ensure creates missing templates and returns all templates of the request, in a fixed order. An instance type without a
	// template is left out of the launch. No lock is held during the call.
	Ensure(context.Context, TemplateRequest) ([]Template, error)
	// Forget records that these templates do not exist in EC2 any more: the next Ensure creates them again.
	Forget(names ...string)
}

// TemplateRequest is a launch that needs templates. It must not be changed.
type TemplateRequest struct {
	// NodeClass of the instance, with its status.
	NodeClass *awsv1.EC2NodeClass
	// NodeClaim to launch an instance for.
	NodeClaim *v1.NodeClaim
	// InstanceTypes of the launch, with only the offerings that it may use.
	InstanceTypes []*cloudprovider.InstanceType
	// CapacityType of the instance: see the CapacityType constants of api/v1.
	CapacityType string
	// PlacementGroupID is the placement group that the class selects; empty for none.
	PlacementGroupID string
}

// Template is a launch template that exists in EC2.
type Template struct {
	// Name of the template; launches use its version $Latest.
	Name string
	// ImageID of the image from which its instances boot.
	ImageID string
	// InstanceTypes are the names of its instance types.
	InstanceTypes []string
	// ReservationID is the capacity reservation in which its instances are launched; empty for none.
	ReservationID string
	// Zone is the name of the zone if the template contains a subnet; empty if the template contains no subnet, which is preferable: the
	// launch then chooses the subnet.
	Zone string
}

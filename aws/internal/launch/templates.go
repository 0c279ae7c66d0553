package launch

import (
	"context"

	v1 "github.com/drawknife/drawknife/api/v1"
	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
)

// LaunchTemplates see to it that the launch templates of a launch exist.
type LaunchTemplates interface {
	// Ensure makes the templates that are missing and returns all that the request needs, in a fixed order. An instance
	// type that no template serves is left out of the launch. It is called without a lock held.
	Ensure(context.Context, TemplateRequest) ([]Template, error)
	// Forget says that EC2 does not know these templates (any more): the next Ensure looks again.
	Forget(names ...string)
}

// TemplateRequest is a launch that templates are needed for. Nobody changes what is in it.
type TemplateRequest struct {
	// NodeClass of the instance, with its status.
	NodeClass *awsv1.EC2NodeClass
	// NodeClaim to launch an instance for.
	NodeClaim *v1.NodeClaim
	// InstanceTypes the instance may become, with none but the offerings that the launch may use.
	InstanceTypes []*cloudprovider.InstanceType
	// CapacityType the instance is bought as: see the CapacityType constants of api/v1.
	CapacityType string
	// PlacementGroupID is the group the class selects; empty for none.
	PlacementGroupID string
}

// Template is a launch template that exists in EC2.
type Template struct {
	// Name of the template; its version $Latest is launched.
	Name string
	// ImageID its instances boot from.
	ImageID string
	// InstanceTypes are the names of the types it serves.
	InstanceTypes []string
	// ReservationID is the capacity reservation its instances are launched into; empty for none.
	ReservationID string
	// Zone is the name of the zone in which the template pins a subnet of its own; empty when it leaves the subnet to
	// the launch, as templates should.
	Zone string
}

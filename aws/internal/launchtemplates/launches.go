package launchtemplates

import (
	"context"
	"errors"
	"fmt"

	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/drawknife/drawknife/aws/internal/launch"
	"github.com/drawknife/drawknife/aws/launchtemplate"
)

// Launches provides launches with templates of a store: it builds the templates for each claim and creates them in EC2.
type Launches struct {
	// Store of the cluster's templates. Required.
	Store *Store
	// Cluster returns the cluster details for nodes. It is called for each launch, because the cluster's certificate and address range may
	// be discovered late or change. It should return cached values. Required.
	Cluster func(context.Context) (launchtemplate.Cluster, error)
	// Extend is passed to launchtemplate.Request; nil adds nothing.
	Extend func(*ec2types.RequestLaunchTemplateData)
}

var _ launch.LaunchTemplates = (*Launches)(nil)

// Ensure creates the templates that the launch needs and that do not exist. Errors are those of launchtemplate.Build and Store.Ensure.
func (l *Launches) Ensure(ctx context.Context, r launch.TemplateRequest) ([]launch.Template, error) {
	if l.Store == nil || l.Cluster == nil {
		return nil, errors.New("launch templates: Launches needs a Store and a Cluster")
	}
	cluster, err := l.Cluster(ctx)
	if err != nil {
		return nil, fmt.Errorf("launch templates: reading the details of the cluster: %w", err)
	}
	if cluster.Name != l.Store.options.ClusterName {
		return nil, fmt.Errorf("launch templates: the cluster is called %q, but the store is for %q: use the same name for both",
			cluster.Name, l.Store.options.ClusterName)
	}
	result, err := launchtemplate.Build(launchtemplate.Request{
		Cluster:          cluster,
		NodeClass:        r.NodeClass,
		NodeClaim:        r.NodeClaim,
		InstanceTypes:    r.InstanceTypes,
		CapacityType:     r.CapacityType,
		PlacementGroupID: r.PlacementGroupID,
		Extend:           l.Extend,
	})
	if err != nil {
		return nil, err
	}
	ready, err := l.Store.Ensure(ctx, result.Templates)
	if err != nil {
		return nil, err
	}
	templates := make([]launch.Template, 0, len(ready))
	for _, t := range ready {
		template := launch.Template{Name: t.Name, ImageID: t.ImageID, InstanceTypes: t.InstanceTypes}
		if t.Reservation != nil {
			template.ReservationID = t.Reservation.ID
		}
		templates = append(templates, template)
	}
	return templates, nil
}

// Forget records that EC2 does not have these templates any more.
func (l *Launches) Forget(names ...string) {
	if l.Store != nil {
		l.Store.Forget(names...)
	}
}

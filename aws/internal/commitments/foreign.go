package commitments

import (
	"cmp"
	"context"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	"github.com/drawknife/drawknife/aws/internal/refresh"
	"github.com/drawknife/drawknife/cloudprovider/commitments"
)

// foreign returns the running instances of the region that are billed on demand, and that are not counted by this cluster or a cluster of
// Sharing. These are instances outside the clusters, instances of the clusters without a NodePool, and instances in capacity reservations,
// which have no price in plans.
func (t *Tracker) foreign(ctx context.Context) ([]commitments.Running, error) {
	sharing := []string{t.options.Cluster}
	if t.options.Sharing != nil {
		sharing = append(sharing, t.options.Sharing()...)
	}
	counts := map[commitments.Running]int{}
	err := refresh.Pages(ctx, func(token *string) (*string, error) {
		out, err := t.options.EC2.DescribeInstances(ctx, &ec2.DescribeInstancesInput{
			Filters:    []ec2types.Filter{{Name: aws.String("instance-state-name"), Values: []string{string(ec2types.InstanceStateNameRunning)}}},
			MaxResults: aws.Int32(1000), NextToken: token,
		})
		if err != nil {
			return nil, err
		}
		for _, r := range out.Reservations {
			for i := range r.Instances {
				if instance := &r.Instances[i]; billedOnDemand(instance) && !counted(instance, sharing) {
					counts[runningAs(instance)]++
				}
			}
		}
		return out.NextToken, nil
	})
	if err != nil {
		return nil, err
	}
	out := make([]commitments.Running, 0, len(counts))
	for r, count := range counts {
		r.Count = count
		out = append(out, r)
	}
	return out, nil
}

// billedOnDemand reports whether commitments can cover the instance. They don't cover spot instances and capacity blocks, which have other
// prices. They don't cover dedicated instances, which AWS sells as other products.
func billedOnDemand(i *ec2types.Instance) bool {
	return i.InstanceLifecycle == "" && (i.Placement == nil || i.Placement.Tenancy == "" || i.Placement.Tenancy == ec2types.TenancyDefault)
}

// counted reports whether one of the clusters counts the instance as an on-demand node.
func counted(i *ec2types.Instance, clusters []string) bool {
	cluster, pool := "", ""
	for _, tag := range i.Tags {
		switch aws.ToString(tag.Key) {
		case awsv1.TagClusterName:
			cluster = aws.ToString(tag.Value)
		case awsv1.TagNodePool:
			pool = aws.ToString(tag.Value)
		}
	}
	return pool != "" && aws.ToString(i.CapacityReservationId) == "" && slices.Contains(clusters, cluster)
}

func runningAs(i *ec2types.Instance) commitments.Running {
	// If the price contains a licence of the operating system, the field OS is EC2's name of that system, so that commitments for Linux
	// don't cover the instance.
	details := cmp.Or(aws.ToString(i.PlatformDetails), "Linux/UNIX")
	r := commitments.Running{InstanceType: string(i.InstanceType), OS: cmp.Or(osOf(details), details)}
	if i.Placement != nil {
		r.Zone = aws.ToString(i.Placement.AvailabilityZone)
	}
	return r
}

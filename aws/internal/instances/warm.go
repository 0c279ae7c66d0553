package instances

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"k8s.io/apimachinery/pkg/types"

	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	"github.com/drawknife/drawknife/aws/internal/launch"
	"github.com/drawknife/drawknife/aws/sdk"
	"github.com/drawknife/drawknife/cloudprovider"
)

// warmPrefix begins the value of launch.TagNodeClaimUID of instances that belong to no claim and are kept, stopped, for later claims. The
// rest of the value is the mark, which describes the configuration of the instance. The prefix can't begin a claim's UID, because UIDs
// don't contain a slash.
const warmPrefix = "warm/"

// Mark returns the description of a warm instance's configuration that was passed to Retire. warm is false for instances that are not warm.
func (i *Instance) Mark() (mark string, warm bool) {
	return strings.CutPrefix(i.Tags[launch.TagNodeClaimUID], warmPrefix)
}

// Warm reports whether the instance belongs to no claim and is kept for later claims.
func (i *Instance) Warm() bool {
	_, warm := i.Mark()
	return warm
}

// withoutWarm leaves out warm instances: they belong to no claim.
func withoutWarm(found []Instance) []Instance {
	return slices.DeleteFunc(found, func(i Instance) bool { return i.Warm() })
}

// Warm lists the stopped warm instances of the cluster, by id. If all is set, the list also contains those that are still running or
// stopping.
func (c *Client) Warm(ctx context.Context, all bool) ([]Instance, error) {
	states := []string{StateStopped}
	if all {
		states = []string{StatePending, StateRunning, StateStopping, StateStopped}
	}
	found, err := c.read(ctx,
		filter("tag-key", awsv1.TagNodePool), filter("tag-key", awsv1.TagNodeClass),
		filter("tag:"+awsv1.TagClusterName, c.options.Cluster), filter("instance-state-name", states...))
	if err != nil {
		return nil, fmt.Errorf("listing the warm instances of cluster %q: %w", c.options.Cluster, err)
	}
	return slices.DeleteFunc(found, func(i Instance) bool { return !i.Warm() }), nil
}

// Retire makes a claim's instance a warm instance and stops it. The tag is set first: from then on the instance belongs to no claim, and a
// process that finds it running stops it again. The call may be repeated.
func (c *Client) Retire(ctx context.Context, i Instance, mark string) error {
	if c.options.Warm == nil {
		return errNoWarmAPI
	}
	if !i.Warm() {
		if err := c.Tag(ctx, i, map[string]string{launch.TagNodeClaimUID: warmPrefix + mark, awsv1.TagNodeClaim: ""}); err != nil {
			return err
		}
	}
	if err := c.reachable(i, "stopped"); err != nil {
		return err
	}
	if _, err := c.options.Warm.StopInstances(ctx, &ec2.StopInstancesInput{InstanceIds: []string{i.ID}}); err != nil {
		return sdk.Wrap(fmt.Sprintf("stopping instance %q", i.ID), err)
	}
	return nil
}

// Revive assigns a warm instance to a claim and starts it. The tag is set first: a repeated Create finds the instance by its claim, and
// calls Start. If EC2 has no capacity to start the instance, it becomes a warm instance again, and the error has kind InsufficientCapacity.
func (c *Client) Revive(ctx context.Context, i Instance, claimName string, uid types.UID) error {
	was := i.Tags[launch.TagNodeClaimUID]
	if err := c.Tag(ctx, i, map[string]string{launch.TagNodeClaimUID: string(uid), awsv1.TagNodeClaim: claimName}); err != nil {
		return err
	}
	err := c.Start(ctx, i)
	if err != nil && ctx.Err() == nil {
		return errors.Join(err, c.Tag(ctx, i, map[string]string{launch.TagNodeClaimUID: was, awsv1.TagNodeClaim: ""}))
	}
	return err
}

// CanStart reports whether the client can stop and start instances.
func (c *Client) CanStart() bool { return c.options.Warm != nil }

// Start starts a stopped instance. The call may be repeated.
func (c *Client) Start(ctx context.Context, i Instance) error {
	if c.options.Warm == nil {
		return errNoWarmAPI
	}
	_, err := c.options.Warm.StartInstances(ctx, &ec2.StartInstancesInput{InstanceIds: []string{i.ID}})
	switch {
	case err == nil:
		return nil
	case sdk.Unfulfillable(sdk.Code(err)):
		return cloudprovider.NewInsufficientCapacityError(sdk.Wrap(fmt.Sprintf("starting instance %q", i.ID), err))
	}
	return sdk.Wrap(fmt.Sprintf("starting instance %q", i.ID), err)
}

var errNoWarmAPI = errors.New("the client of EC2 can't stop and start instances: use one of package sdk")

package instances

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"k8s.io/apimachinery/pkg/types"

	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	"github.com/drawknife/drawknife/aws/internal/batch"
	"github.com/drawknife/drawknife/aws/internal/launch"
	"github.com/drawknife/drawknife/aws/internal/refresh"
	"github.com/drawknife/drawknife/aws/sdk"
	"github.com/drawknife/drawknife/cloudprovider"
)

const (
	// filterValues is the number of values that EC2 accepts in one filter.
	filterValues = 200
	// pageSize is the largest page size of EC2.
	pageSize = 1000
)

// Options of a Client. EC2 and Cluster are required.
type Options struct {
	// EC2 is the client; DescribeInstances, TerminateInstances and CreateTags are called.
	EC2 sdk.EC2API
	// Warm stops and starts instances. Nil means that the client can't do this, and that no instances are kept warm.
	Warm sdk.WarmAPI
	// Cluster is the name of the instances' cluster.
	Cluster string
	// With ServeAlpha, instances of pools that were created as v1alpha5 are also listed, and found by their claims. This applies to
	// instances of release 0.28 and later, whose tags say that this cluster manages them. Listed instances may be collected as garbage.
	// Therefore instances that an older release launched, or that another cluster manages, are not listed.
	ServeAlpha bool
	// Shifted reports whether traffic is shifted away from a zone. In such a zone no instance is terminated or tagged. Nil means that there
	// is no such zone.
	Shifted func(zone, zoneID string) bool
	// Now is the clock. Nil means time.Now.
	Now func() time.Time
	// Observe is called for merged calls. It may be nil. It must be safe for concurrent use.
	Observe func(batch.Attempt)
}

// Client manages instances. It is safe for concurrent use; no lock is held across calls. Make one with New.
type Client struct {
	options   Options
	byID      *batch.Batcher[string, *Instance]
	byClaim   *batch.Batcher[types.UID, []Instance]
	terminate *batch.Batcher[string, struct{}]
	tag       *batch.Batcher[tagging, struct{}]

	mu     sync.Mutex
	recent map[string]*Instance // instances launched recently, by id; the values are never changed
	swept  time.Time
	// open lists the instances of batches that are not yet tagged with their own claim, as read at openedAt.
	open     []Instance
	openedAt time.Time
}

// New returns a client.
func New(o Options) (*Client, error) {
	if o.EC2 == nil || o.Cluster == "" {
		return nil, errors.New("instances: an EC2 client and the name of the cluster are required")
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	c := &Client{options: o, recent: map[string]*Instance{}}
	c.byID = batch.New(batch.Options[string, *Instance]{
		Name: "describe_instances", Idle: 100 * time.Millisecond, Max: time.Second, MaxItems: filterValues,
		Do: c.describe, Retry: batch.Retryable, Observe: o.Observe,
	})
	c.byClaim = batch.New(batch.Options[types.UID, []Instance]{
		Name: "describe_instances_by_claim", Idle: 35 * time.Millisecond, Max: time.Second, MaxItems: filterValues - 1, // one value of the filter is launch.Batched
		Do: c.describeClaims, Retry: batch.Retryable, Observe: o.Observe,
	})
	c.terminate = batch.New(batch.Options[string, struct{}]{
		Name: "terminate_instances", Idle: 100 * time.Millisecond, Max: time.Second, MaxItems: 500,
		Do: c.terminateAll, Retry: batch.Retryable, Observe: o.Observe,
	})
	c.tag = batch.New(batch.Options[tagging, struct{}]{
		Name: "create_tags", Idle: 100 * time.Millisecond, Max: time.Second, MaxItems: 500,
		Bucket: tagging.bucket, Do: c.tagAll, Retry: batch.Retryable, Observe: o.Observe,
	})
	return c, nil
}

// Remember records that this process has just launched an instance: for a minute (see launch.Visibility) the instance is found by its id,
// by its claim and in List even while EC2 does not show it yet.
func (c *Client) Remember(i Instance) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.options.Now()
	if now.Sub(c.swept) >= launch.Visibility/10 {
		c.swept = now
		maps.DeleteFunc(c.recent, func(_ string, old *Instance) bool { return now.Sub(old.LaunchTime) >= launch.Visibility })
	}
	c.recent[i.ID] = &i
}

// unseen returns the wanted instances that were launched so recently that EC2 may not show them yet, sorted by id.
func (c *Client) unseen(wanted func(*Instance) bool) []Instance {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.options.Now()
	var all []Instance
	for _, i := range c.recent {
		if now.Sub(i.LaunchTime) < launch.Visibility && wanted(i) {
			all = append(all, *i)
		}
	}
	slices.SortFunc(all, byID)
	return all
}

func byID(a, b Instance) int { return cmp.Compare(a.ID, b.ID) }

// seenOrUnseen returns the instances in the list seen and the wanted instances that EC2 may not show yet, sorted by id.
func (c *Client) seenOrUnseen(seen []Instance, wanted func(*Instance) bool) []Instance {
	for _, i := range c.unseen(wanted) {
		if !slices.ContainsFunc(seen, func(s Instance) bool { return s.ID == i.ID }) {
			seen = append(seen, i)
		}
	}
	slices.SortFunc(seen, byID)
	return seen
}

// Get reads an instance of the cluster. For a terminated or unknown instance, or one of another cluster, the error has kind
// NodeClaimNotFound (CP-GET-02, CP-GET-03).
func (c *Client) Get(ctx context.Context, id string) (Instance, error) {
	found, err := c.byID.Call(ctx, id)
	if err != nil {
		return Instance{}, fmt.Errorf("reading instance %q: %w", id, err)
	}
	if found == nil {
		if unseen := c.unseen(func(i *Instance) bool { return i.ID == id }); len(unseen) > 0 {
			found = &unseen[0]
		}
	}
	if found == nil || found.State == StateTerminated || found.Warm() && found.State == StateStopped {
		return Instance{}, cloudprovider.NewNodeClaimNotFoundError(id, nil)
	}
	if !found.Of(c.options.Cluster) {
		return Instance{}, cloudprovider.NewNodeClaimNotFoundError(id, fmt.Errorf("it does not belong to cluster %q", c.options.Cluster))
	}
	return *found, nil
}

// describe returns the instance of each id, or nil if EC2 shows none. It uses a filter, because a call by ids fails as a whole
// if one of them is unknown.
func (c *Client) describe(ctx context.Context, ids []string) []batch.Answer[*Instance] {
	found, err := c.read(ctx, filter("instance-id", distinct(ids)...), filter("instance-state-name", present()...))
	if err == nil {
		found, err = c.owned(ctx, found)
	}
	if err != nil {
		return batch.Fail[*Instance](len(ids), err)
	}
	answers := make([]batch.Answer[*Instance], len(ids))
	for n, id := range ids {
		if at, ok := slices.BinarySearchFunc(found, id, func(i Instance, id string) int { return cmp.Compare(i.ID, id) }); ok {
			answers[n].Value = &found[at]
		}
	}
	return answers
}

// Claim contains the instances launched for a claim.
type Claim struct {
	// Live are running or pending instances, by ID. There is more than one only if EC2 launched more than requested.
	Live []Instance
	// Dead are the ids of instances that are shutting down or terminated, as long as EC2 shows them.
	Dead []string
}

// ByClaim finds the instances launched for a claim, by its UID in their tags (CP-CREATE-02).
func (c *Client) ByClaim(ctx context.Context, uid types.UID) (Claim, error) {
	found, err := c.byClaim.Call(ctx, uid)
	if err != nil {
		return Claim{}, fmt.Errorf("finding instances of the nodeclaim with UID %q: %w", uid, err)
	}
	var claim Claim
	for _, i := range c.seenOrUnseen(slices.Clone(found), func(i *Instance) bool { return i.NodeClaimUID() == string(uid) }) {
		if i.Terminating() {
			claim.Dead = append(claim.Dead, i.ID)
		} else {
			claim.Live = append(claim.Live, i)
		}
	}
	return claim, nil
}

func (c *Client) describeClaims(ctx context.Context, uids []types.UID) []batch.Answer[[]Instance] {
	values := make([]string, len(uids))
	for i, uid := range uids {
		values[i] = string(uid)
	}
	ours := filter("tag:"+awsv1.TagClusterName, c.options.Cluster)
	if c.options.ServeAlpha {
		ours = filter("tag:"+awsv1.TagClusterPrefix+c.options.Cluster, "owned") // this tag is on instances of all generations
	}
	open, known := c.openBatches()
	if !known {
		values = append(values, launch.Batched)
	}
	found, err := c.read(ctx, filter("tag:"+launch.TagNodeClaimUID, distinct(values)...), ours)
	if err == nil && !known {
		found, open = c.splitOpen(found)
	}
	if err == nil {
		open, err = c.owned(ctx, ofClaims(open, uids))
		found = append(found, open...)
	}
	values = values[:len(uids)]
	if err != nil {
		return batch.Fail[[]Instance](len(uids), err)
	}
	answers := make([]batch.Answer[[]Instance], len(uids))
	for n, uid := range values {
		for _, i := range found {
			if i.NodeClaimUID() == uid {
				answers[n].Value = append(answers[n].Value, i)
			}
		}
		if len(answers[n].Value) == 0 {
			answers[n].Err = c.undecided(found, uids[n])
		}
	}
	return answers
}

// undecided returns an error if an instance of a batch that can't be assigned yet may belong to the claim; otherwise it returns nil.
func (c *Client) undecided(found []Instance, uid types.UID) error {
	for _, i := range found {
		batch, ok := i.Batch()
		if ok && i.unassigned() && slices.Contains(batch.UIDs, uid) && c.options.Now().Sub(i.LaunchTime) < launch.Visibility {
			return cloudprovider.NewTransientError(fmt.Errorf("instances of batch %s, one of which may be the claim's, are not visible yet: wait up to %s", batch.ID, launch.Visibility))
		}
	}
	return nil
}

// List reads all instances of the cluster that are not terminated, by id. It returns the complete list or an error
// (CP-LIST-05).
func (c *Client) List(ctx context.Context) ([]Instance, error) {
	found, err := c.read(ctx,
		filter("tag-key", awsv1.TagNodePool), filter("tag-key", awsv1.TagNodeClass),
		filter("tag:"+awsv1.TagClusterName, c.options.Cluster), filter("instance-state-name", present()...))
	if err != nil {
		return nil, fmt.Errorf("listing the instances of cluster %q: %w", c.options.Cluster, err)
	}
	if c.options.ServeAlpha {
		// An instance must match all filters of a call, so instances with other tag keys need another call.
		old, err := c.read(ctx,
			filter("tag-key", awsv1.TagProvisioner), filter("tag:"+awsv1.TagClusterPrefix+c.options.Cluster, "owned"),
			filter("tag:"+awsv1.TagManagedBy, c.options.Cluster), filter("instance-state-name", present()...))
		if err != nil {
			return nil, fmt.Errorf("listing the v1alpha5 instances of cluster %q: %w", c.options.Cluster, err)
		}
		for _, i := range old {
			if !slices.ContainsFunc(found, func(other Instance) bool { return other.ID == i.ID }) {
				found = append(found, i)
			}
		}
	}
	if found, err = c.owned(ctx, found); err != nil {
		return nil, fmt.Errorf("listing the instances of cluster %q: %w", c.options.Cluster, err)
	}
	return withoutWarm(c.seenOrUnseen(found, func(*Instance) bool { return true })), nil
}

// present returns the states in which instances still exist.
func present() []string {
	return []string{StatePending, StateRunning, StateStopping, StateStopped, StateShuttingDown}
}

func filter(name string, values ...string) ec2types.Filter {
	return ec2types.Filter{Name: aws.String(name), Values: values}
}

func distinct(values []string) []string {
	sorted := slices.Clone(values)
	slices.Sort(sorted)
	return slices.Compact(sorted)
}

// read returns the instances of all pages of DescribeInstances, each once, sorted by id.
func (c *Client) read(ctx context.Context, filters ...ec2types.Filter) ([]Instance, error) {
	byID := map[string]Instance{}
	err := refresh.Pages(ctx, func(token *string) (*string, error) {
		out, err := c.options.EC2.DescribeInstances(ctx, &ec2.DescribeInstancesInput{
			Filters: filters, MaxResults: aws.Int32(pageSize), NextToken: token,
		})
		if err != nil {
			return nil, err
		}
		if out == nil {
			return nil, errors.New("DescribeInstances gave an empty answer")
		}
		for _, r := range out.Reservations {
			for n := range r.Instances {
				if i := FromEC2(&r.Instances[n]); i.ID != "" {
					byID[i.ID] = i
				}
			}
		}
		return out.NextToken, nil
	})
	if err != nil {
		return nil, sdk.Wrap("DescribeInstances", err)
	}
	return slices.SortedFunc(maps.Values(byID), func(a, b Instance) int { return cmp.Compare(a.ID, b.ID) }), nil
}

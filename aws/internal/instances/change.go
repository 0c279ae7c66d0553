package instances

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"k8s.io/apimachinery/pkg/types"

	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	"github.com/drawknife/drawknife/aws/internal/batch"
	"github.com/drawknife/drawknife/aws/internal/launch"
	"github.com/drawknife/drawknife/aws/sdk"
	"github.com/drawknife/drawknife/cloudprovider"
)

// Terminate terminates an instance. It does not check whether the cluster owns the instance: check that first (see Get). A nil error means
// that EC2 is terminating the instance. An error of kind NodeClaimNotFound means that EC2 does not know the instance. It may be repeated.
func (c *Client) Terminate(ctx context.Context, i Instance) error {
	if err := c.reachable(i, "terminated"); err != nil {
		return err
	}
	if _, err := c.terminate.Call(ctx, i.ID); err != nil {
		return fmt.Errorf("terminating instance %q: %w", i.ID, err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if recent, ok := c.recent[i.ID]; ok {
		ending := *recent
		ending.State = StateShuttingDown
		c.recent[i.ID] = &ending
	}
	return nil
}

// reachable returns an error if traffic is shifted away from the instance's zone. Instances in such a zone must not be changed.
func (c *Client) reachable(i Instance, what string) error {
	if c.options.Shifted != nil && c.options.Shifted(i.Zone, i.ZoneID) {
		return cloudprovider.NewTransientError(fmt.Errorf("instance %q is not %s while a zonal shift is away from its zone %s", i.ID, what, i.Zone))
	}
	return nil
}

func (c *Client) terminateAll(ctx context.Context, ids []string) []batch.Answer[struct{}] {
	return each(ids, divide(distinct(ids), func(ids []string) error {
		_, err := c.options.EC2.TerminateInstances(ctx, &ec2.TerminateInstancesInput{InstanceIds: ids})
		return sdk.Wrap("TerminateInstances", err)
	}))
}

// Tag sets tags of an instance, overwriting existing keys. If EC2 does not know the instance, the error has kind NodeClaimNotFound. Calls
// with equal tags are merged.
func (c *Client) Tag(ctx context.Context, i Instance, tags map[string]string) error {
	if len(tags) == 0 {
		return nil
	}
	if err := c.reachable(i, "tagged"); err != nil {
		return err
	}
	if _, err := c.tag.Call(ctx, tagging{i.ID, tags}); err != nil {
		return fmt.Errorf("tagging instance %q: %w", i.ID, err)
	}
	return nil
}

// MissingTags returns the tags to set after the instance's node has joined, such as the node's name. It leaves out tags that exist, so that
// users' own values stay. It returns nil if no tag is missing. An instance of a batch also gets the UID of its claim.
//
// An instance of v1alpha5 has all its tags from the start, and the policies of that generation allow no other tags.
func (c *Client) MissingTags(i Instance, claimName string, claimUID types.UID, nodeName string) map[string]string {
	if i.alphaBorn() {
		return nil
	}
	var missing map[string]string
	for key, value := range map[string]string{
		awsv1.TagName: nodeName, awsv1.TagNodeClaim: claimName, awsv1.TagClusterName: c.options.Cluster,
	} {
		if _, has := i.Tags[key]; !has && value != "" {
			if missing == nil {
				missing = map[string]string{}
			}
			missing[key] = value
		}
	}
	if i.Tags[launch.TagNodeClaimUID] == launch.Batched && claimUID != "" {
		if missing == nil {
			missing = map[string]string{}
		}
		missing[launch.TagNodeClaimUID] = string(claimUID)
	}
	return missing
}

// tagging is an instance and the tags for it.
type tagging struct {
	id   string
	tags map[string]string
}

// bucket returns the tags as a string: equal tags can be added to many instances at once.
func (t tagging) bucket() string {
	var b strings.Builder
	for _, key := range slices.Sorted(maps.Keys(t.tags)) {
		fmt.Fprintf(&b, "%q=%q,", key, t.tags[key])
	}
	return b.String()
}

func (c *Client) tagAll(ctx context.Context, requests []tagging) []batch.Answer[struct{}] {
	ids := make([]string, len(requests))
	for n, r := range requests {
		ids[n] = r.id
	}
	var tags []ec2types.Tag
	for _, key := range slices.Sorted(maps.Keys(requests[0].tags)) {
		tags = append(tags, ec2types.Tag{Key: aws.String(key), Value: aws.String(requests[0].tags[key])})
	}
	return each(ids, divide(distinct(ids), func(ids []string) error {
		_, err := c.options.EC2.CreateTags(ctx, &ec2.CreateTagsInput{Resources: ids, Tags: tags})
		return sdk.Wrap("CreateTags", err)
	}))
}

// each returns an answer for each id, with the error that errs has for the id.
func each(ids []string, errs map[string]error) []batch.Answer[struct{}] {
	answers := make([]batch.Answer[struct{}], len(ids))
	for n, id := range ids {
		answers[n].Err = errs[id]
	}
	return answers
}

// mostParts limits the number of calls into which one merged call is divided: enough to find a few failing instances among 500.
const mostParts = 40

// divide makes a call for many instances, which EC2 executes completely or not at all, and finds the instances for which it fails.
// Instances that the error names as unknown are left out of the next call. If EC2 refuses the call for another reason, the list is halved
// until each failing instance is in a list of its own. Transient errors, and errors that concern all instances, apply to the whole list.
// ids must be distinct and sorted.
func divide(ids []string, call func(ids []string) error) map[string]error {
	errs := map[string]error{}
	lots := [][]string{ids}
	for calls := 0; len(lots) > 0; calls++ {
		lot := lots[0]
		lots = lots[1:]
		err := call(lot)
		if err == nil {
			continue
		}
		if unknown := unknownAmong(lot, err); len(unknown) > 0 {
			for _, id := range unknown {
				errs[id] = cloudprovider.NewNodeClaimNotFoundError(id, err)
			}
			rest := slices.DeleteFunc(slices.Clone(lot), func(id string) bool { return slices.Contains(unknown, id) })
			switch {
			case len(rest) > 0 && calls < mostParts:
				lots = append(lots, rest)
			case len(rest) > 0:
				for _, id := range rest {
					errs[id] = cloudprovider.NewTransientError(fmt.Errorf("after %d calls, EC2 still names instances of the batch that don't exist: try again: %w", calls+1, err))
				}
			}
			continue
		}
		if len(lot) > 1 && calls < mostParts && divisible(err) {
			lots = append(lots, lot[:len(lot)/2], lot[len(lot)/2:])
			continue
		}
		for _, id := range lot {
			errs[id] = err
		}
	}
	return errs
}

// unknownAmong returns the ids of instances that, according to the error err, do not exist.
func unknownAmong(ids []string, err error) []string {
	if code := sdk.Code(err); code != "InvalidInstanceID.NotFound" && code != "InvalidInstanceID.Malformed" {
		return nil
	}
	message := sdk.Message(err)
	words := strings.FieldsFunc(message, func(r rune) bool { return strings.ContainsRune(" ',\"[]()", r) })
	var unknown []string
	for _, id := range ids {
		if slices.Contains(words, id) || len(ids) == 1 {
			unknown = append(unknown, id)
		}
	}
	return unknown
}

// divisible reports whether the cause of an error may be a single instance of many.
func divisible(err error) bool {
	code := sdk.Code(err)
	return code != "" && !batch.Retryable(err) || code == "OperationNotPermitted" || code == "IncorrectInstanceState" ||
		errors.Is(err, cloudprovider.Unauthorized)
}

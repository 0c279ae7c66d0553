package nodeclass

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"

	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	"github.com/drawknife/drawknife/aws/internal/refresh"
	"github.com/drawknife/drawknife/aws/sdk"
)

// subnet is a subnet with the values that it is sorted by.
type subnet struct {
	awsv1.Subnet
	free int64
}

// Subnets returns the subnets that any of the terms matches, by descending number of free addresses and then by id. It reuses answers for
// FinderOptions.SubnetsEvery, and passes the free addresses of new answers to the finder's Counts.
func (f *Finder) Subnets(ctx context.Context, terms []awsv1.SubnetSelectorTerm) ([]awsv1.Subnet, error) {
	byID := map[string]subnet{}
	for _, q := range subnetQueries(terms) {
		found, err := f.subnets.ask(ctx, q, f.now(), f.readSubnets)
		if err != nil {
			return nil, sdk.Wrap(fmt.Sprintf("reading subnets with %s", q), err)
		}
		for _, s := range found {
			byID[s.ID] = s
		}
	}
	sorted := slices.SortedFunc(maps.Values(byID), func(a, b subnet) int {
		return cmp.Or(cmp.Compare(b.free, a.free), strings.Compare(a.ID, b.ID))
	})
	list := make([]awsv1.Subnet, len(sorted))
	for i, s := range sorted {
		list[i] = s.Subnet
	}
	return list, nil
}

// subnetQueries returns one query for each term with tags, and one for all ids.
func subnetQueries(terms []awsv1.SubnetSelectorTerm) []query {
	var (
		list []query
		ids  []string
	)
	for _, term := range terms {
		switch {
		case term.ID != "":
			ids = append(ids, term.ID)
		case len(term.Tags) > 0:
			list = append(list, tagQuery(term.Tags))
		}
	}
	return append(list, gathered("subnet-id", ids)...)
}

func (f *Finder) readSubnets(ctx context.Context, q query) ([]subnet, error) {
	var found []subnet
	free := map[string]int64{}
	err := refresh.Pages(ctx, func(token *string) (*string, error) {
		out, err := f.api.DescribeSubnets(ctx, &ec2.DescribeSubnetsInput{Filters: q.filters(), MaxResults: aws.Int32(pageSize), NextToken: token})
		if err != nil {
			return nil, err
		}
		for _, s := range out.Subnets {
			each := subnet{
				Subnet: awsv1.Subnet{ID: aws.ToString(s.SubnetId), Zone: aws.ToString(s.AvailabilityZone), ZoneID: aws.ToString(s.AvailabilityZoneId), OutpostARN: aws.ToString(s.OutpostArn)},
				free:   int64(aws.ToInt32(s.AvailableIpAddressCount)),
			}
			found = append(found, each)
			free[each.ID] = each.free
		}
		return out.NextToken, nil
	})
	if err != nil {
		return nil, err
	}
	if f.counts != nil && len(free) > 0 {
		f.counts.Observe(free)
	}
	return found, nil
}

package nodeclass

import (
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

// SecurityGroups returns the security groups that any of the terms matches, by id. It reuses answers that are younger than Period.
func (f *Finder) SecurityGroups(ctx context.Context, terms []awsv1.SecurityGroupSelectorTerm) ([]awsv1.SecurityGroup, error) {
	byID := map[string]awsv1.SecurityGroup{}
	for _, q := range groupQueries(terms) {
		found, err := f.groups.ask(ctx, q, f.now(), f.readGroups)
		if err != nil {
			return nil, sdk.Wrap(fmt.Sprintf("reading security groups with %s", q), err)
		}
		for _, g := range found {
			byID[g.ID] = g
		}
	}
	return slices.SortedFunc(maps.Values(byID), func(a, b awsv1.SecurityGroup) int { return strings.Compare(a.ID, b.ID) }), nil
}

// groupQueries returns one query for each term with tags, one for all ids, and one for all names.
func groupQueries(terms []awsv1.SecurityGroupSelectorTerm) []query {
	var (
		list       []query
		ids, names []string
	)
	for _, term := range terms {
		switch {
		case term.ID != "":
			ids = append(ids, term.ID)
		case term.Name != "":
			names = append(names, term.Name)
		case len(term.Tags) > 0:
			list = append(list, tagQuery(term.Tags))
		}
	}
	return append(append(list, gathered("group-id", ids)...), gathered("group-name", names)...)
}

func (f *Finder) readGroups(ctx context.Context, q query) ([]awsv1.SecurityGroup, error) {
	var found []awsv1.SecurityGroup
	err := refresh.Pages(ctx, func(token *string) (*string, error) {
		out, err := f.api.DescribeSecurityGroups(ctx, &ec2.DescribeSecurityGroupsInput{Filters: q.filters(), MaxResults: aws.Int32(pageSize), NextToken: token})
		if err != nil {
			return nil, err
		}
		for _, g := range out.SecurityGroups {
			found = append(found, awsv1.SecurityGroup{ID: aws.ToString(g.GroupId), Name: aws.ToString(g.GroupName)})
		}
		return out.NextToken, nil
	})
	return found, err
}

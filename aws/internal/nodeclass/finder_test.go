package nodeclass

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/google/go-cmp/cmp"
	"go.uber.org/mock/gomock"

	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	"github.com/drawknife/drawknife/aws/sdk/mock"
	"github.com/drawknife/drawknife/cloudprovider"
)

// counted is a Counts.
type counted map[string]int64

func (c counted) Observe(free map[string]int64) {
	for id, n := range free {
		c[id] = n
	}
}

// text is a request's filters.
func text(t *testing.T, filters []ec2types.Filter, size *int32) string {
	t.Helper()
	if aws.ToInt32(size) != 500 {
		t.Errorf("pages of %d", aws.ToInt32(size))
	}
	var parts []string
	for _, f := range filters {
		parts = append(parts, *f.Name+"="+strings.Join(f.Values, "|"))
	}
	return strings.Join(parts, ", ")
}

// AWN-071, AWN-095, AWN-096, AWN-097, AWN-101, AWI-178, AWI-180: questions, pages, order, memory and counts of subnets,
// each once however often it is named.
func TestSubnets(t *testing.T) {
	api := mock.NewMockEC2API(gomock.NewController(t))
	now, counts := time.Date(2026, 8, 1, 0, 0, 0, 0, time.UTC), counted{}
	f := NewFinder(api, FinderOptions{Counts: counts, Now: func() time.Time { return now }})
	var asked []string
	subnetOf := func(id string, free int32) ec2types.Subnet {
		return ec2types.Subnet{SubnetId: &id, AvailabilityZone: aws.String("us-east-1a"), AvailabilityZoneId: aws.String("use1-az1"), AvailableIpAddressCount: &free}
	}
	api.EXPECT().DescribeSubnets(gomock.Any(), gomock.Any()).AnyTimes().DoAndReturn(
		func(_ context.Context, in *ec2.DescribeSubnetsInput, _ ...func(*ec2.Options)) (*ec2.DescribeSubnetsOutput, error) {
			q := text(t, in.Filters, in.MaxResults)
			asked = append(asked, q+aws.ToString(in.NextToken))
			switch {
			case strings.HasPrefix(q, "subnet-id"):
				return &ec2.DescribeSubnetsOutput{Subnets: []ec2types.Subnet{subnetOf("subnet-3", 7), subnetOf("subnet-1", 9)}}, nil
			case in.NextToken == nil:
				return &ec2.DescribeSubnetsOutput{Subnets: []ec2types.Subnet{subnetOf("subnet-4", 7)}, NextToken: aws.String("+")}, nil
			}
			return &ec2.DescribeSubnetsOutput{Subnets: []ec2types.Subnet{subnetOf("subnet-1", 9)}}, nil
		})
	terms := []awsv1.SubnetSelectorTerm{{ID: "subnet-3"}, {Tags: map[string]string{"team": "blue", "any": "*"}}, {ID: "subnet-1"}, {ID: "subnet-3"}}
	find := func() []awsv1.Subnet {
		t.Helper()
		found, err := f.Subnets(t.Context(), terms)
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	var want []awsv1.Subnet
	for _, id := range []string{"subnet-1", "subnet-3", "subnet-4"} {
		want = append(want, awsv1.Subnet{ID: id, Zone: "us-east-1a", ZoneID: "use1-az1"})
	}
	if diff := cmp.Diff(want, find()); diff != "" {
		t.Error(diff)
	}
	wantAsked := []string{"tag-key=any, tag:team=blue", "tag-key=any, tag:team=blue+", "subnet-id=subnet-1|subnet-3"}
	if diff := cmp.Diff(wantAsked, asked); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(counted{"subnet-1": 9, "subnet-3": 7, "subnet-4": 7}, counts); diff != "" {
		t.Error(diff)
	}
	// The same answers are good for every class for a minute (AWN-355).
	find()
	if _, err := f.Subnets(t.Context(), terms[1:2]); err != nil || len(asked) != 3 {
		t.Errorf("asked %v", asked)
	}
	now = now.Add(Period)
	if find(); len(asked) != 6 {
		t.Errorf("asked %v", asked)
	}
}

// AWI-227: answers about subnets serve for as long as is asked for, at least a minute; those about groups for a minute.
func TestSubnetsEvery(t *testing.T) {
	for every, want := range map[time.Duration]time.Duration{0: Period, time.Second: Period, 5 * time.Minute: 5 * time.Minute} {
		f := NewFinder(nil, FinderOptions{SubnetsEvery: every})
		if f.subnets.period != want || f.groups.period != Period {
			t.Errorf("%v: subnets serve for %v, groups for %v", every, f.subnets.period, f.groups.period)
		}
	}
}

// AWN-072, AWN-102: questions, order and memory of security groups.
func TestSecurityGroups(t *testing.T) {
	api := mock.NewMockEC2API(gomock.NewController(t))
	now := time.Date(2026, 8, 1, 0, 0, 0, 0, time.UTC)
	f := NewFinder(api, FinderOptions{Now: func() time.Time { return now }})
	var asked []string
	api.EXPECT().DescribeSecurityGroups(gomock.Any(), gomock.Any()).Times(3).DoAndReturn(
		func(_ context.Context, in *ec2.DescribeSecurityGroupsInput, _ ...func(*ec2.Options)) (*ec2.DescribeSecurityGroupsOutput, error) {
			asked = append(asked, text(t, in.Filters, in.MaxResults))
			return &ec2.DescribeSecurityGroupsOutput{SecurityGroups: []ec2types.SecurityGroup{
				{GroupId: aws.String("sg-9"), GroupName: aws.String("shared")}, {GroupId: aws.String("sg-" + string(rune('0'+len(asked)))), GroupName: aws.String("x")},
			}}, nil
		})
	terms := []awsv1.SecurityGroupSelectorTerm{{Name: "b*"}, {ID: "sg-2"}, {Tags: map[string]string{"k": "v"}}, {Name: "a"}, {ID: "sg-1"}}
	for range 2 {
		found, err := f.SecurityGroups(t.Context(), terms)
		want := []awsv1.SecurityGroup{{ID: "sg-1", Name: "x"}, {ID: "sg-2", Name: "x"}, {ID: "sg-3", Name: "x"}, {ID: "sg-9", Name: "shared"}}
		if diff := cmp.Diff(want, found); diff != "" || err != nil {
			t.Error(diff, err)
		}
	}
	if diff := cmp.Diff([]string{"tag:k=v", "group-id=sg-1|sg-2", "group-name=a|b*"}, asked); diff != "" {
		t.Error(diff)
	}
}

func TestFinderErrors(t *testing.T) {
	api := mock.NewMockEC2API(gomock.NewController(t))
	f := NewFinder(api, FinderOptions{})
	denied := apiError("UnauthorizedOperation", "no")
	api.EXPECT().DescribeSubnets(gomock.Any(), gomock.Any()).Return(nil, denied)
	api.EXPECT().DescribeSecurityGroups(gomock.Any(), gomock.Any()).Return(nil, denied)
	_, err := f.Subnets(t.Context(), []awsv1.SubnetSelectorTerm{{ID: "subnet-1"}})
	_, other := f.SecurityGroups(t.Context(), []awsv1.SecurityGroupSelectorTerm{{Name: "a"}})
	for _, err := range []error{err, other} {
		if !cloudprovider.IsUnauthorized(err) || !errors.Is(err, denied) {
			t.Errorf("%v", err)
		}
	}
	// No terms are no question, and never one for everything.
	if found, err := f.Subnets(t.Context(), []awsv1.SubnetSelectorTerm{{}}); err != nil || len(found) != 0 {
		t.Errorf("%v, %v", found, err)
	}
	if found, err := f.SecurityGroups(t.Context(), nil); err != nil || len(found) != 0 {
		t.Errorf("%v, %v", found, err)
	}
}

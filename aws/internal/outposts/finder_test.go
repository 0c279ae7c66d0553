package outposts_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/google/go-cmp/cmp"
	"go.uber.org/mock/gomock"

	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	"github.com/drawknife/drawknife/aws/internal/outposts"
	"github.com/drawknife/drawknife/aws/sdk/mock"
)

const rack = "arn:aws:outposts:us-east-1:111122223333:outpost/op-1"

// An Outpost has the types that EC2 offers there, and no others.
func TestFind(t *testing.T) {
	now, asked, down := time.Unix(0, 0), 0, false
	api := mock.NewMockEC2API(gomock.NewController(t))
	api.EXPECT().DescribeInstanceTypeOfferings(gomock.Any(), gomock.Any(), gomock.Any()).AnyTimes().DoAndReturn(
		func(_ context.Context, in *ec2.DescribeInstanceTypeOfferingsInput, _ ...func(*ec2.Options)) (*ec2.DescribeInstanceTypeOfferingsOutput, error) {
			if asked++; down {
				return nil, errors.New("down")
			}
			if f := in.Filters; in.LocationType != "outpost" || len(f) != 1 || aws.ToString(f[0].Name) != "location" || f[0].Values[0] != rack {
				t.Errorf("asked for %+v", in)
			}
			offering := func(name, location string) ec2types.InstanceTypeOffering {
				return ec2types.InstanceTypeOffering{InstanceType: ec2types.InstanceType(name), Location: &location, LocationType: "outpost"}
			}
			if in.NextToken == nil {
				return &ec2.DescribeInstanceTypeOfferingsOutput{NextToken: aws.String("2"), InstanceTypeOfferings: []ec2types.InstanceTypeOffering{
					offering("m5.large", rack), offering("c5.large", rack), offering("r5.large", rack+"2"),
				}}, nil
			}
			return &ec2.DescribeInstanceTypeOfferingsOutput{InstanceTypeOfferings: []ec2types.InstanceTypeOffering{offering("c5.large", rack)}}, nil
		})
	f := outposts.NewFinder(api, func() time.Time { return now })
	want := &outposts.Outpost{ARN: rack, Types: []string{"c5.large", "m5.large"}}
	for range 2 {
		got, err := f.Find(t.Context(), rack)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Fatal(err, diff)
		}
	}
	if asked != 2 {
		t.Errorf("asked %d times for two pages", asked)
	}
	down, now = true, now.Add(outposts.Period)
	if got, err := f.Find(t.Context(), rack); err == nil || got == nil {
		t.Errorf("the last answer is gone: %v, %v", got, err)
	}
	if got, err := f.Find(t.Context(), rack+"3"); err == nil || got != nil {
		t.Errorf("an Outpost without an answer: %v, %v", got, err)
	}
}

// In a zone a class launches in the region, or else on one Outpost.
func TestSubnets(t *testing.T) {
	subnet := func(id, zone, arn string) awsv1.Subnet { return awsv1.Subnet{ID: id, Zone: zone, OutpostARN: arn} }
	all := []awsv1.Subnet{
		subnet("s-1", "a", rack), subnet("s-2", "a", ""), subnet("s-3", "b", rack+"2"), subnet("s-4", "b", rack), subnet("s-5", "c", ""), subnet("s-6", "b", rack),
	}
	want := []awsv1.Subnet{all[1], all[3], all[4], all[5]}
	if diff := cmp.Diff(want, outposts.Subnets(all)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(map[string]string{"b": rack}, outposts.In(all)); diff != "" {
		t.Error(diff)
	}
	if all[0].ID != "s-1" || len(all) != 6 {
		t.Error("the argument was changed")
	}
	if got := outposts.Subnets(want); len(got) != 4 || outposts.ID(rack) != "op-1" {
		t.Errorf("got %v, %q", got, outposts.ID(rack))
	}
}

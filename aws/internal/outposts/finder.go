// Package outposts finds out which instance types an Outpost has, and in which zones a node class launches on one.
//
//	finder := outposts.NewFinder(api, time.Now)
//	outpost, err := finder.Find(ctx, "arn:aws:outposts:us-east-1:111122223333:outpost/op-0123456789abcdef0")
package outposts

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	"github.com/drawknife/drawknife/aws/internal/refresh"
	"github.com/drawknife/drawknife/aws/sdk"
)

const (
	// Period is how long an answer of EC2 is used. It is long, because the slots of an Outpost change only by an order to AWS.
	Period = time.Hour
	// Remember is how long an earlier answer is used while EC2 does not answer.
	Remember = 7 * 24 * time.Hour
)

// Outpost is an Outpost with its instance types.
type Outpost struct {
	// ARN of the Outpost.
	ARN string
	// Types are the names of the instance types that the Outpost is configured for, sorted. Types without a free slot are included.
	Types []string
}

// ID returns the part of an Outpost's ARN after the last slash: "op-0123456789abcdef0".
func ID(arn string) string { return arn[strings.LastIndexByte(arn, '/')+1:] }

// Finder asks EC2 for the instance types of Outposts. It is safe for concurrent use.
type Finder struct {
	api     sdk.EC2API
	answers refresh.Answers[[]string]
}

// NewFinder makes a finder. now is the clock; nil means time.Now.
func NewFinder(api sdk.EC2API, now func() time.Time) *Finder {
	if now == nil {
		now = time.Now
	}
	return &Finder{api: api, answers: refresh.Answers[[]string]{Every: Period, Remember: Remember, Now: now}}
}

// Find returns an Outpost by its ARN. While EC2 does not answer, Find returns the error together with the last answer, or with nil if there
// was no answer.
func (f *Finder) Find(ctx context.Context, arn string) (*Outpost, error) {
	types, ok, err := f.answers.Get(ctx, arn, func(ctx context.Context) ([]string, error) { return f.ask(ctx, arn) })
	if err != nil {
		err = sdk.Wrap("reading the instance types of Outpost "+arn, err)
	}
	if !ok {
		return nil, err
	}
	return &Outpost{ARN: arn, Types: types}, err
}

func (f *Finder) ask(ctx context.Context, arn string) ([]string, error) {
	types := []string{}
	err := refresh.Pages(ctx, func(token *string) (*string, error) {
		out, err := f.api.DescribeInstanceTypeOfferings(ctx, &ec2.DescribeInstanceTypeOfferingsInput{
			LocationType: ec2types.LocationTypeOutpost, MaxResults: aws.Int32(1000), NextToken: token,
			Filters: []ec2types.Filter{{Name: aws.String("location"), Values: []string{arn}}},
		})
		if err != nil {
			return nil, err
		}
		for _, o := range out.InstanceTypeOfferings {
			// An answer about another location would put instances where they can't be launched.
			if aws.ToString(o.Location) == arn {
				types = append(types, string(o.InstanceType))
			}
		}
		return out.NextToken, nil
	})
	slices.Sort(types)
	return slices.Compact(types), err
}

// Subnets returns the subnets in which a class launches: all subnets of a zone are on the same Outpost, or all are in the region itself. A
// launch can't choose between a region and an Outpost. So if a class has subnets of several locations in a zone, the subnets of the region
// are used, or else those on the first Outpost by ARN. The argument is not changed.
func Subnets(subnets []awsv1.Subnet) []awsv1.Subnet {
	chosen := In(subnets)
	keep := func(s awsv1.Subnet) bool { return s.OutpostARN == chosen[s.Zone] }
	if !slices.ContainsFunc(subnets, func(s awsv1.Subnet) bool { return !keep(s) }) {
		return subnets
	}
	return slices.DeleteFunc(slices.Clone(subnets), func(s awsv1.Subnet) bool { return !keep(s) })
}

// In returns the ARNs of the Outposts on which a class with these subnets launches, by the name of the zone; see Subnets. Zones in which
// the class launches on no Outpost are missing.
func In(subnets []awsv1.Subnet) map[string]string {
	least := map[string]string{} // "" comes first
	for _, s := range subnets {
		if arn, ok := least[s.Zone]; !ok || s.OutpostARN < arn {
			least[s.Zone] = s.OutpostARN
		}
	}
	out := map[string]string{}
	for zone, arn := range least {
		if arn != "" {
			out[zone] = arn
		}
	}
	return out
}

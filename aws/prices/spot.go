package prices

import (
	"context"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/drawknife/drawknife/api/option"
	"github.com/drawknife/drawknife/aws/internal/refresh"
	"github.com/drawknife/drawknife/aws/sdk"
)

// Spot reads the spot prices for Linux of all types and zones of a region from EC2. It also works in isolated VPCs and in GovCloud.
type Spot struct {
	// API is a client for the region.
	API sdk.EC2API
	// Region determines the currency; empty means USD.
	Region string
	// Clock is the clock; nil means the system clock.
	Clock option.Clock
}

// Prices implements Source.
func (s Spot) Prices(ctx context.Context) (*List, error) {
	if s.API == nil {
		return nil, option.Missing("Spot.Prices", "the API")
	}
	// If the start time is now, EC2 returns the prices that are valid now, even if they were set long ago.
	start := nowOf(s.Clock)
	list := &List{Source: "EC2 spot price history", Currency: Currency(s.Region), Spot: map[Pair]Price{}}
	err := refresh.Pages(ctx, func(token *string) (*string, error) {
		out, err := s.API.DescribeSpotPriceHistory(ctx, &ec2.DescribeSpotPriceHistoryInput{
			StartTime:           aws.Time(start),
			ProductDescriptions: []string{"Linux/UNIX", "Linux/UNIX (Amazon VPC)"},
			MaxResults:          aws.Int32(2000),
			NextToken:           token,
		})
		if err != nil {
			return nil, err
		}
		for _, record := range out.SpotPriceHistory {
			list.takeSpot(record)
		}
		return out.NextToken, nil
	})
	if err != nil {
		return nil, sdk.Wrap("reading spot prices", err)
	}
	if len(list.Spot) == 0 {
		return nil, &ListError{Source: list.Source, Problem: "it contains no price"}
	}
	return list, nil
}

// takeSpot adds a record of EC2. If several records have the same instance type and zone, the latest one is used. If several are equally
// late, the highest price is used. The order of the records does not matter.
func (l *List) takeSpot(record ec2types.SpotPrice) {
	amount, err := strconv.ParseFloat(aws.ToString(record.SpotPrice), 64)
	if err != nil || record.Timestamp == nil || !usable(amount) || record.InstanceType == "" || aws.ToString(record.AvailabilityZone) == "" {
		l.Skipped++
		return
	}
	pair := Pair{InstanceType: string(record.InstanceType), Zone: aws.ToString(record.AvailabilityZone)}
	known, ok := l.Spot[pair]
	if ok && (known.Since.After(*record.Timestamp) || known.Since.Equal(*record.Timestamp) && known.PerHour >= amount) {
		return
	}
	l.Spot[pair] = Price{PerHour: amount, Since: *record.Timestamp}
}

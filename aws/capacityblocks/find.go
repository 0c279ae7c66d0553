package capacityblocks

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/drawknife/drawknife/api/option"
	"github.com/drawknife/drawknife/aws/internal/refresh"
	"github.com/drawknife/drawknife/aws/sdk"
)

// Query says which blocks to look for. InstanceType, Instances and Hours are required.
type Query struct {
	// InstanceType of all instances, such as "p5.48xlarge".
	InstanceType string
	// Instances is the number of instances, at least 1.
	Instances int32
	// Hours that the block lasts. EC2 sells blocks of whole days: 24, 48, … up to 14 days, then weeks.
	Hours int32
	// From is the earliest start and Until the latest end; zero leaves them to EC2.
	From, Until time.Time
}

// Offering is a capacity block that can be bought at the time of the answer.
type Offering struct {
	// ID of the offering, "cb-…".
	ID string `json:"id"`
	// InstanceType and Instances of the block.
	InstanceType string `json:"instanceType"`
	Instances    int32  `json:"instances"`
	// Zone is the name of the availability zone.
	Zone string `json:"zone"`
	// Start and End of the block.
	Start time.Time `json:"start"`
	End   time.Time `json:"end"`
	// Hours that the block lasts.
	Hours float64 `json:"hours"`
	// UpfrontFee is the whole price as EC2 writes it, in Currency. It does not contain the licence of an operating system.
	UpfrontFee string `json:"upfrontFee"`
	Currency   string `json:"currency"`
	// PerInstanceHour is the price of one instance for one hour, in Currency.
	PerInstanceHour float64 `json:"perInstanceHour"`
}

// String returns the offering as a sentence.
func (o Offering) String() string {
	return fmt.Sprintf("%s: %d x %s in %s for %g hours from %s, %s %s, %.4f for each instance and hour",
		o.ID, o.Instances, o.InstanceType, o.Zone, o.Hours, o.Start.UTC().Format(time.RFC3339), o.UpfrontFee, o.Currency, o.PerInstanceHour)
}

// QueryError is an invalid member of a Query.
type QueryError struct {
	// Field of the query.
	Field string
	// Rule is the rule that the field breaks, and what to do.
	Rule string
}

func (e *QueryError) Error() string { return "capacity blocks: " + e.Field + ": " + e.Rule }

func (q Query) check() error {
	switch {
	case q.InstanceType == "":
		return &QueryError{"InstanceType", "is missing: name a type that is sold in capacity blocks, such as p5.48xlarge"}
	case q.Instances < 1:
		return &QueryError{"Instances", "must be at least 1"}
	case q.Hours < 1:
		return &QueryError{"Hours", "must be at least 1: give the length of the block, such as 24"}
	case !q.From.IsZero() && !q.Until.IsZero() && !q.From.Before(q.Until):
		return &QueryError{"Until", "must be after From"}
	}
	return nil
}

// Find lists the offerings for a query, the cheapest first; of equal price the earliest, then by zone and ID. The list is empty if EC2
// sells no such blocks. Errors are a *QueryError, or have a kind (see sdk.Wrap).
func Find(ctx context.Context, api sdk.EC2CapacityBlockAPI, q Query) ([]Offering, error) {
	if api == nil {
		return nil, option.Missing("capacityblocks.Find", "the EC2 client")
	}
	if err := q.check(); err != nil {
		return nil, err
	}
	input := &ec2.DescribeCapacityBlockOfferingsInput{InstanceType: &q.InstanceType, InstanceCount: &q.Instances, CapacityDurationHours: &q.Hours}
	if !q.From.IsZero() {
		input.StartDateRange = &q.From
	}
	if !q.Until.IsZero() {
		input.EndDateRange = &q.Until
	}
	var out []Offering
	err := refresh.Pages(ctx, func(token *string) (*string, error) {
		input.NextToken = token
		answer, err := api.DescribeCapacityBlockOfferings(ctx, input)
		if err != nil {
			return nil, sdk.Wrap("looking for capacity blocks of "+q.InstanceType, err)
		}
		for i := range answer.CapacityBlockOfferings {
			o, err := offering(&answer.CapacityBlockOfferings[i])
			if err != nil {
				return nil, err
			}
			out = append(out, o)
		}
		return answer.NextToken, nil
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(out, func(a, b Offering) int {
		return cmp.Or(cmp.Compare(a.PerInstanceHour, b.PerInstanceHour), a.Start.Compare(b.Start), cmp.Compare(a.Zone, b.Zone), cmp.Compare(a.ID, b.ID))
	})
	return out, nil
}

// offering converts an entry of EC2's answer. An offering without a price, a length or instances is refused, because its price could not
// be compared.
func offering(in *ec2types.CapacityBlockOffering) (Offering, error) {
	o := Offering{
		ID: awssdk.ToString(in.CapacityBlockOfferingId), InstanceType: awssdk.ToString(in.InstanceType), Instances: awssdk.ToInt32(in.InstanceCount),
		Zone: awssdk.ToString(in.AvailabilityZone), Start: awssdk.ToTime(in.StartDate), End: awssdk.ToTime(in.EndDate),
		Hours: float64(awssdk.ToInt32(in.CapacityBlockDurationHours)), UpfrontFee: awssdk.ToString(in.UpfrontFee), Currency: awssdk.ToString(in.CurrencyCode),
	}
	if minutes := awssdk.ToInt32(in.CapacityBlockDurationMinutes); minutes > 0 {
		o.Hours = float64(minutes) / 60
	}
	fee, err := strconv.ParseFloat(o.UpfrontFee, 64)
	if err != nil || math.IsNaN(fee) || math.IsInf(fee, 0) || fee < 0 || o.Hours <= 0 || o.Instances < 1 || o.ID == "" {
		return Offering{}, errors.New("looking for capacity blocks: EC2 lists an incomplete offering, whose ID, price, length or number of instances is missing or invalid: try again")
	}
	o.PerInstanceHour = fee / o.Hours / float64(o.Instances)
	return o, nil
}

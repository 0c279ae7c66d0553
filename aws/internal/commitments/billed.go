package commitments

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/costexplorer"
	cetypes "github.com/aws/aws-sdk-go-v2/service/costexplorer/types"

	"github.com/drawknife/drawknife/aws/internal/refresh"
	"github.com/drawknife/drawknife/aws/sdk"
	"github.com/drawknife/drawknife/cloudprovider/commitments"
)

const (
	// discountDays is the number of days over which discounts are averaged, because the discounts of single days vary.
	discountDays = 7
	// leastDiscount is the smallest discount that is used, in percent. Smaller discounts may be rounding errors of the bill.
	leastDiscount = 0.1
	computeEC2    = "Amazon Elastic Compute Cloud - Compute"
)

// billed contains the data of Cost Explorer.
type billed struct {
	// plans is how much of each Savings Plan was used per hour, by ID. instances and unit are how much of the Reserved Instances was used
	// per hour, by ID, in instances and in normalized units.
	plans           map[string]float64
	instances, unit map[string]float64
	discount        *commitments.Discount
}

// of returns how much of the commitment was used per hour.
func (b *billed) of(c *commitments.Commitment) (used float64, ok bool) {
	if id, isPlan := strings.CutPrefix(c.ID, "sp/"); isPlan {
		used, ok = b.plans[id]
		return used, ok
	}
	if c.Unit == "instances" {
		used, ok = b.instances[c.ID]
		return used, ok
	}
	used, ok = b.unit[c.ID]
	return used, ok
}

// readBilled asks Cost Explorer for the last day for which its data is complete: the day before yesterday, in UTC.
func (t *Tracker) readBilled(ctx context.Context, now time.Time) error {
	end := now.UTC().Truncate(24*time.Hour).AddDate(0, 0, -1)
	b := billed{plans: map[string]float64{}, instances: map[string]float64{}, unit: map[string]float64{}}
	for _, read := range []struct {
		what string
		by   func(context.Context, *billed, time.Time) error
	}{{"reading the use of Savings Plans", t.usedPlans}, {"reading the use of Reserved Instances", t.usedReserved}, {"reading discounts", t.discounts}} {
		if err := read.by(ctx, &b, end); err != nil {
			return sdk.Wrap(read.what, err)
		}
	}
	t.mu.Lock()
	t.billed = b
	t.mu.Unlock()
	return nil
}

// days returns the period of n days before end.
func days(end time.Time, n int) *cetypes.DateInterval {
	return &cetypes.DateInterval{Start: aws.String(end.AddDate(0, 0, -n).Format(time.DateOnly)), End: aws.String(end.Format(time.DateOnly))}
}

func (t *Tracker) usedPlans(ctx context.Context, b *billed, end time.Time) error {
	err := refresh.Pages(ctx, func(token *string) (*string, error) {
		out, err := t.options.Costs.GetSavingsPlansUtilizationDetails(ctx, &costexplorer.GetSavingsPlansUtilizationDetailsInput{
			TimePeriod: days(end, 1), DataType: []cetypes.SavingsPlansDataType{cetypes.SavingsPlansDataTypeUtilization}, NextToken: token,
		})
		if err != nil {
			return nil, err
		}
		for _, d := range out.SavingsPlansUtilizationDetails {
			arn := aws.ToString(d.SavingsPlanArn)
			if used, ok := figure(usedCommitment(d.Utilization)); ok {
				b.plans[arn[strings.LastIndex(arn, "/")+1:]] = used / 24
			}
		}
		return out.NextToken, nil
	})
	if noData(err) {
		return nil
	}
	return err
}

func usedCommitment(u *cetypes.SavingsPlansUtilization) *string {
	if u == nil {
		return nil
	}
	return u.UsedCommitment
}

// usedReserved adds up the use of Reserved Instances that cover the same instances. It groups them in the same way as Tracker.reserved.
func (t *Tracker) usedReserved(ctx context.Context, b *billed, end time.Time) error {
	err := refresh.Pages(ctx, func(token *string) (*string, error) {
		out, err := t.options.Costs.GetReservationUtilization(ctx, &costexplorer.GetReservationUtilizationInput{
			TimePeriod: days(end, 1), NextPageToken: token, Filter: dimension(cetypes.DimensionRegion, t.options.Region),
			GroupBy: []cetypes.GroupDefinition{{Type: cetypes.GroupDefinitionTypeDimension, Key: aws.String("SUBSCRIPTION_ID")}},
		})
		if err != nil {
			return nil, err
		}
		for _, at := range out.UtilizationsByTime {
			for _, g := range at.Groups {
				b.takeReserved(g)
			}
		}
		return out.NextPageToken, nil
	})
	if noData(err) {
		return nil
	}
	return err
}

func (b *billed) takeReserved(g cetypes.ReservationUtilizationGroup) {
	name, zone := g.Attributes["instanceType"], ""
	if g.Attributes["scope"] != "Region" {
		zone = g.Attributes["availabilityZone"]
	}
	os := osOf(g.Attributes["platform"])
	if g.Utilization == nil || name == "" || os == "" {
		return
	}
	if hours, ok := figure(g.Utilization.TotalActualHours); ok {
		b.instances[reservedID(name, zone, os)] += hours / 24
	}
	if units, ok := figure(g.Utilization.TotalActualUnits); ok && zone == "" {
		b.unit[reservedID(familyOf(name), "", os)] += units / 24
	}
}

// discounts computes the share of the EC2 charges that contract discounts take off. It counts discounts that Cost Explorer reports as a
// separate kind of charge, such as "Enterprise Discount Program Discount". Bundled discounts depend on other services and are left out.
func (t *Tracker) discounts(ctx context.Context, b *billed, end time.Time) error {
	charged, off := 0.0, 0.0
	period := days(end, discountDays)
	err := refresh.Pages(ctx, func(token *string) (*string, error) {
		out, err := t.options.Costs.GetCostAndUsage(ctx, &costexplorer.GetCostAndUsageInput{
			TimePeriod: period, Granularity: cetypes.GranularityDaily, Metrics: []string{"UnblendedCost"}, NextPageToken: token,
			Filter:  dimension(cetypes.DimensionService, computeEC2),
			GroupBy: []cetypes.GroupDefinition{{Type: cetypes.GroupDefinitionTypeDimension, Key: aws.String("RECORD_TYPE")}},
		})
		if err != nil {
			return nil, err
		}
		for _, at := range out.ResultsByTime {
			for _, g := range at.Groups {
				amount, ok := figure(g.Metrics["UnblendedCost"].Amount)
				if !ok || len(g.Keys) == 0 {
					continue
				}
				switch kind := g.Keys[0]; {
				case isDiscount(kind):
					off -= amount
				case isCharge(kind):
					charged += amount
				}
			}
		}
		return out.NextPageToken, nil
	})
	if err != nil && !noData(err) {
		return err
	}
	if percent := off / charged * 100; charged > 0 && percent >= leastDiscount && percent <= 100 {
		b.discount = &commitments.Discount{
			Name: "contract", Percent: percent,
			Source: fmt.Sprintf("Cost Explorer: discounts on EC2 from %s to %s", aws.ToString(period.Start), aws.ToString(period.End)),
		}
	}
	return nil
}

// isDiscount reports whether a kind of charge is a discount of a contract.
func isDiscount(kind string) bool {
	k := strings.ToLower(strings.ReplaceAll(kind, " ", ""))
	return (strings.HasSuffix(k, "discount") || strings.HasSuffix(k, "discounts")) && !strings.HasPrefix(k, "bundled") && !strings.Contains(k, "volume")
}

// isCharge reports whether discounts apply to the kind of charge. It counts the charges for usage that Savings Plans cover, and also their
// negations, so that both add up to zero. Taxes, refunds and credits are not prices.
func isCharge(kind string) bool {
	k := strings.ToLower(strings.ReplaceAll(kind, " ", ""))
	return k == "usage" || strings.HasPrefix(k, "savingsplancoveredusage") || strings.HasPrefix(k, "savingsplannegation") ||
		strings.Contains(k, "recurring") || k == "rifee" || k == "discountedusage"
}

func dimension(key cetypes.Dimension, value string) *cetypes.Expression {
	return &cetypes.Expression{Dimensions: &cetypes.DimensionValues{Key: key, Values: []string{value}}}
}

// noData reports whether the error means that Cost Explorer has no data, for example for an account without Savings Plans.
func noData(err error) bool {
	return sdk.Code(err) == "DataUnavailableException"
}

func figure(text *string) (float64, bool) {
	x, err := strconv.ParseFloat(aws.ToString(text), 64)
	return x, err == nil
}

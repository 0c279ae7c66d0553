package commitments

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/savingsplans"
	sptypes "github.com/aws/aws-sdk-go-v2/service/savingsplans/types"

	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	"github.com/drawknife/drawknife/aws/internal/refresh"
	"github.com/drawknife/drawknife/cloudprovider/commitments"
)

// plans returns the active Savings Plans that cover EC2 in the region: EC2 Instance Savings Plans first, then Compute Savings Plans, in
// the order in which AWS applies them.
func (t *Tracker) plans(ctx context.Context, account *commitments.Account) ([]commitments.Commitment, error) {
	var found []sptypes.SavingsPlan
	err := refresh.Pages(ctx, func(token *string) (*string, error) {
		out, err := t.options.Plans.DescribeSavingsPlans(ctx, &savingsplans.DescribeSavingsPlansInput{
			States: []sptypes.SavingsPlanState{sptypes.SavingsPlanStateActive}, NextToken: token,
		})
		if err != nil {
			return nil, err
		}
		found = append(found, out.SavingsPlans...)
		return out.NextToken, nil
	})
	if err != nil {
		return nil, err
	}
	found = slices.DeleteFunc(found, func(p sptypes.SavingsPlan) bool { return !t.covers(p) })
	slices.SortFunc(found, func(a, b sptypes.SavingsPlan) int {
		return cmp.Or(cmp.Compare(kindOf(b), kindOf(a)), cmp.Compare(aws.ToString(a.SavingsPlanId), aws.ToString(b.SavingsPlanId)))
	})
	var out []commitments.Commitment
	ids := map[string]bool{}
	for _, p := range found {
		id := aws.ToString(p.SavingsPlanId)
		ids[id] = true
		rates, err := t.ratesOf(ctx, p)
		if err != nil {
			return nil, err
		}
		amount, err := strconv.ParseFloat(aws.ToString(p.Commitment), 64)
		if err != nil || !(amount > 0) || len(rates) == 0 {
			account.LeftOut = append(account.LeftOut, fmt.Sprintf("Savings Plan %s: it has commitment %q and %d rates for Linux in %s", id, aws.ToString(p.Commitment), len(rates), t.options.Region))
			continue
		}
		c := commitments.Commitment{
			ID: "sp/" + id, Kind: kindOf(p), Amount: amount, Unit: cmp.Or(string(p.Currency), "USD") + "/h", ByType: rates, OS: "linux", Tenancy: awsv1.TenancyDefault,
			Source: fmt.Sprintf("%s Savings Plan %s, read %s", p.SavingsPlanType, id, account.ReadAt.UTC().Format(time.DateOnly)),
		}
		if end, err := time.Parse(time.RFC3339, aws.ToString(p.End)); err == nil {
			c.End = end
		}
		out = append(out, c)
	}
	t.mu.Lock()
	maps.DeleteFunc(t.rates, func(id string, _ map[string]float64) bool { return !ids[id] })
	t.mu.Unlock()
	return out, nil
}

// covers reports whether the plan covers instances of the region.
func (t *Tracker) covers(p sptypes.SavingsPlan) bool {
	switch p.SavingsPlanType {
	case sptypes.SavingsPlanTypeCompute:
		return true
	case sptypes.SavingsPlanTypeEc2Instance:
		return aws.ToString(p.Region) == t.options.Region
	}
	return false
}

func kindOf(p sptypes.SavingsPlan) commitments.Kind {
	if p.SavingsPlanType == sptypes.SavingsPlanTypeEc2Instance {
		return commitments.InstanceSavingsPlan
	}
	return commitments.ComputeSavingsPlan
}

// ratesOf returns how much of the plan an hour of a Linux instance with shared tenancy uses in the region, by instance type.
func (t *Tracker) ratesOf(ctx context.Context, p sptypes.SavingsPlan) (map[string]float64, error) {
	id := aws.ToString(p.SavingsPlanId)
	t.mu.Lock()
	known := t.rates[id]
	t.mu.Unlock()
	if known != nil {
		return known, nil
	}
	rates := map[string]float64{}
	filter := func(name sptypes.SavingsPlanRateFilterName, value string) sptypes.SavingsPlanRateFilter {
		return sptypes.SavingsPlanRateFilter{Name: name, Values: []string{value}}
	}
	err := refresh.Pages(ctx, func(token *string) (*string, error) {
		out, err := t.options.Plans.DescribeSavingsPlanRates(ctx, &savingsplans.DescribeSavingsPlanRatesInput{
			SavingsPlanId: p.SavingsPlanId, NextToken: token,
			Filters: []sptypes.SavingsPlanRateFilter{
				filter(sptypes.SavingsPlanRateFilterNameRegion, t.options.Region),
				filter(sptypes.SavingsPlanRateFilterNameProductType, string(sptypes.SavingsPlanProductTypeEc2)),
				filter(sptypes.SavingsPlanRateFilterNameProductDescription, "Linux/UNIX"),
				filter(sptypes.SavingsPlanRateFilterNameTenancy, "shared"),
			},
		})
		if err != nil {
			return nil, err
		}
		for _, rate := range out.SearchResults {
			if name, amount, ok := rateOf(rate); ok {
				rates[name] = max(rates[name], amount)
			}
		}
		return out.NextToken, nil
	})
	if err != nil {
		return nil, err
	}
	t.mu.Lock()
	t.rates[id] = rates
	t.mu.Unlock()
	return rates, nil
}

// rateOf returns the rate of running an instance for an hour. It returns false for other usage, such as dedicated hosts or unused
// reservations.
func rateOf(r sptypes.SavingsPlanRate) (instanceType string, amount float64, ok bool) {
	properties := map[sptypes.SavingsPlanRatePropertyKey]string{}
	for _, p := range r.Properties {
		properties[p.Name] = aws.ToString(p.Value)
	}
	instanceType = properties[sptypes.SavingsPlanRatePropertyKeyInstanceType]
	amount, err := strconv.ParseFloat(aws.ToString(r.Rate), 64)
	usage := aws.ToString(r.UsageType)
	if at := strings.LastIndex(usage, "-"); at >= 0 && at < strings.Index(usage+":", ":") {
		usage = usage[at+1:] // removes the prefix of the region, as in EUC1-BoxUsage:m5.large
	}
	return instanceType, amount, err == nil && amount > 0 && instanceType != "" && r.Unit == sptypes.SavingsPlanRateUnitHours &&
		r.ServiceCode == sptypes.SavingsPlanRateServiceCodeEc2 && strings.HasPrefix(usage, "BoxUsage")
}

package commitments_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/costexplorer"
	cetypes "github.com/aws/aws-sdk-go-v2/service/costexplorer/types"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/savingsplans"
	sptypes "github.com/aws/aws-sdk-go-v2/service/savingsplans/types"
	"github.com/aws/smithy-go"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/drawknife/drawknife/aws/catalog"
	"github.com/drawknife/drawknife/aws/internal/commitments"
	neutral "github.com/drawknife/drawknife/cloudprovider/commitments"
)

// account is an account in memory: what each call answers, and how often it was made.
type account struct {
	now       time.Time
	plans     []sptypes.SavingsPlan
	rates     map[string][]sptypes.SavingsPlanRate
	reserved  []ec2types.ReservedInstances
	instances []ec2types.Instance
	used      map[string]string // of Savings Plans, by ID
	groups    []cetypes.ReservationUtilizationGroup
	charges   map[string]string // by kind
	fail      map[string]error
	calls     map[string]int
}

func (a *account) call(name string) error {
	if a.calls == nil {
		a.calls = map[string]int{}
	}
	a.calls[name]++
	return a.fail[name]
}

func (a *account) DescribeSavingsPlans(_ context.Context, in *savingsplans.DescribeSavingsPlansInput, _ ...func(*savingsplans.Options)) (*savingsplans.DescribeSavingsPlansOutput, error) {
	if err := a.call("plans"); err != nil {
		return nil, err
	}
	if !slices.Equal(in.States, []sptypes.SavingsPlanState{sptypes.SavingsPlanStateActive}) {
		return nil, errors.New("asks for plans that are not active")
	}
	// A page for each plan.
	at := 0
	if in.NextToken != nil {
		at = int((*in.NextToken)[0] - '0')
	}
	out := &savingsplans.DescribeSavingsPlansOutput{}
	if at < len(a.plans) {
		out.SavingsPlans = a.plans[at : at+1]
	}
	if at+1 < len(a.plans) {
		out.NextToken = aws.String(string(rune('0' + at + 1)))
	}
	return out, nil
}

func (a *account) DescribeSavingsPlanRates(_ context.Context, in *savingsplans.DescribeSavingsPlanRatesInput, _ ...func(*savingsplans.Options)) (*savingsplans.DescribeSavingsPlanRatesOutput, error) {
	return &savingsplans.DescribeSavingsPlanRatesOutput{SearchResults: a.rates[*in.SavingsPlanId]}, a.call("rates")
}

func (a *account) DescribeReservedInstances(context.Context, *ec2.DescribeReservedInstancesInput, ...func(*ec2.Options)) (*ec2.DescribeReservedInstancesOutput, error) {
	return &ec2.DescribeReservedInstancesOutput{ReservedInstances: a.reserved}, a.call("reserved")
}

func (a *account) DescribeInstances(context.Context, *ec2.DescribeInstancesInput, ...func(*ec2.Options)) (*ec2.DescribeInstancesOutput, error) {
	return &ec2.DescribeInstancesOutput{Reservations: []ec2types.Reservation{{Instances: a.instances}}}, a.call("instances")
}

func (a *account) GetSavingsPlansUtilizationDetails(_ context.Context, in *costexplorer.GetSavingsPlansUtilizationDetailsInput, _ ...func(*costexplorer.Options)) (*costexplorer.GetSavingsPlansUtilizationDetailsOutput, error) {
	if err := a.call("used plans"); err != nil {
		return nil, err
	}
	// Of the 26th, the last day with whole figures is the 24th.
	day := a.now.Truncate(24 * time.Hour)
	if got, want := *in.TimePeriod.Start+" "+*in.TimePeriod.End, day.AddDate(0, 0, -2).Format(time.DateOnly)+" "+day.AddDate(0, 0, -1).Format(time.DateOnly); got != want {
		return nil, errors.New("asks for " + got)
	}
	out := &costexplorer.GetSavingsPlansUtilizationDetailsOutput{}
	for id, used := range a.used {
		out.SavingsPlansUtilizationDetails = append(out.SavingsPlansUtilizationDetails, cetypes.SavingsPlansUtilizationDetail{
			SavingsPlanArn: aws.String("arn:aws:savingsplans::111122223333:savingsplan/" + id), Utilization: &cetypes.SavingsPlansUtilization{UsedCommitment: aws.String(used)},
		})
	}
	return out, nil
}

func (a *account) GetReservationUtilization(context.Context, *costexplorer.GetReservationUtilizationInput, ...func(*costexplorer.Options)) (*costexplorer.GetReservationUtilizationOutput, error) {
	return &costexplorer.GetReservationUtilizationOutput{UtilizationsByTime: []cetypes.UtilizationByTime{{Groups: a.groups}}}, a.call("used reserved")
}

func (a *account) GetCostAndUsage(_ context.Context, in *costexplorer.GetCostAndUsageInput, _ ...func(*costexplorer.Options)) (*costexplorer.GetCostAndUsageOutput, error) {
	out := &costexplorer.GetCostAndUsageOutput{ResultsByTime: []cetypes.ResultByTime{{}}}
	for kind, amount := range a.charges {
		out.ResultsByTime[0].Groups = append(out.ResultsByTime[0].Groups, cetypes.Group{Keys: []string{kind}, Metrics: map[string]cetypes.MetricValue{"UnblendedCost": {Amount: aws.String(amount)}}})
	}
	return out, a.call("charges")
}

func rate(instanceType, usage, usd string) sptypes.SavingsPlanRate {
	return sptypes.SavingsPlanRate{
		Rate: aws.String(usd), Unit: sptypes.SavingsPlanRateUnitHours, ServiceCode: sptypes.SavingsPlanRateServiceCodeEc2, UsageType: aws.String(usage),
		Properties: []sptypes.SavingsPlanRateProperty{{Name: sptypes.SavingsPlanRatePropertyKeyInstanceType, Value: aws.String(instanceType)}},
	}
}

func running(instanceType, zone string, change func(*ec2types.Instance)) ec2types.Instance {
	i := ec2types.Instance{InstanceType: ec2types.InstanceType(instanceType), Placement: &ec2types.Placement{AvailabilityZone: aws.String(zone)}, PlatformDetails: aws.String("Linux/UNIX")}
	if change != nil {
		change(&i)
	}
	return i
}

func tagged(cluster string) func(*ec2types.Instance) {
	return func(i *ec2types.Instance) {
		i.Tags = []ec2types.Tag{{Key: aws.String("eks:eks-cluster-name"), Value: aws.String(cluster)}, {Key: aws.String("karpenter.sh/nodepool"), Value: aws.String("default")}}
	}
}

func newAccount() *account {
	return &account{
		now: time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC),
		plans: []sptypes.SavingsPlan{
			{SavingsPlanId: aws.String("compute"), SavingsPlanType: sptypes.SavingsPlanTypeCompute, Commitment: aws.String("2.5"), Currency: sptypes.CurrencyCodeUsd, End: aws.String("2027-06-01T00:00:00.000Z")},
			{SavingsPlanId: aws.String("here"), SavingsPlanType: sptypes.SavingsPlanTypeEc2Instance, Region: aws.String("eu-central-1"), Commitment: aws.String("1"), Currency: sptypes.CurrencyCodeUsd},
			{SavingsPlanId: aws.String("elsewhere"), SavingsPlanType: sptypes.SavingsPlanTypeEc2Instance, Region: aws.String("us-east-1"), Commitment: aws.String("9")},
			{SavingsPlanId: aws.String("sagemaker"), SavingsPlanType: sptypes.SavingsPlanTypeSagemaker, Commitment: aws.String("9")},
			{SavingsPlanId: aws.String("without rates"), SavingsPlanType: sptypes.SavingsPlanTypeCompute, Commitment: aws.String("1")},
		},
		rates: map[string][]sptypes.SavingsPlanRate{
			"compute": {rate("m5.large", "EUC1-BoxUsage:m5.large", "0.08"), rate("c5.large", "BoxUsage:c5.large", "0.06"), rate("c5.large", "EUC1-UnusedBox:c5.large", "0.07"), rate("m5.large", "EUC1-DedicatedUsage:m5.large", "0.2")},
			"here":    {rate("m5.large", "EUC1-BoxUsage:m5.large", "0.07")},
		},
		reserved: []ec2types.ReservedInstances{
			reserved("a", "m5.xlarge", 2, nil),
			reserved("b", "m5.large", 1, nil),
			reserved("c", "g5.xlarge", 3, nil),
			reserved("d", "m5.large", 1, func(r *ec2types.ReservedInstances) {
				r.Scope, r.AvailabilityZone = ec2types.ScopeAvailabilityZone, aws.String("eu-central-1a")
			}),
			reserved("e", "m5.large", 1, func(r *ec2types.ReservedInstances) { r.ProductDescription = "Windows (Amazon VPC)" }),
			reserved("f", "m5.large", 1, func(r *ec2types.ReservedInstances) { r.ProductDescription = "Red Hat Enterprise Linux" }),
			reserved("g", "m5.large", 1, func(r *ec2types.ReservedInstances) { r.InstanceTenancy = ec2types.TenancyDedicated }),
		},
	}
}

func reserved(id, name string, count int32, change func(*ec2types.ReservedInstances)) ec2types.ReservedInstances {
	r := ec2types.ReservedInstances{
		ReservedInstancesId: aws.String(id), InstanceType: ec2types.InstanceType(name), InstanceCount: aws.Int32(count), Scope: ec2types.ScopeRegional,
		ProductDescription: "Linux/UNIX", InstanceTenancy: ec2types.TenancyDefault,
	}
	if change != nil {
		change(&r)
	}
	return r
}

func (a *account) tracker(change func(*commitments.Options)) *commitments.Tracker {
	o := commitments.Options{
		Plans: a, EC2: a, Region: "eu-central-1", Cluster: "demo", Now: func() time.Time { return a.now },
		Known: func() *catalog.Catalog {
			return &catalog.Catalog{Types: []catalog.Type{{Name: "m5.2xlarge", VCPUs: 8}, {Name: "m5.metal", VCPUs: 96}, {Name: "c5.large", VCPUs: 2}}}
		},
	}
	if change != nil {
		change(&o)
	}
	return commitments.New(o)
}

func read(t *testing.T, tracker *commitments.Tracker) *neutral.Account {
	t.Helper()
	if _, err := tracker.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	return tracker.Account()
}

// Commitments come in the order in which AWS applies them: Reserved Instances of a zone, of the region, EC2 Instance Savings Plans, Compute
// Savings Plans. Those for the same instances are one, and what can't be used is named.
func TestCommitments(t *testing.T) {
	got := read(t, newAccount().tracker(nil))
	type row struct {
		ID, Unit, Zone, OS string
		Amount             float64
		ByType             map[string]float64
	}
	var rows []row
	for _, c := range got.Commitments {
		rows = append(rows, row{c.ID, c.Unit, c.Zone, c.OS, c.Amount, c.ByType})
	}
	m5 := map[string]float64{"m5.large": 4, "m5.xlarge": 8, "m5.2xlarge": 16, "m5.metal": 192}
	want := []row{
		{"ri/m5.large/eu-central-1a/linux", "instances", "eu-central-1a", "linux", 1, map[string]float64{"m5.large": 1}},
		{"ri/g5.xlarge/linux", "instances", "", "linux", 3, map[string]float64{"g5.xlarge": 1}},
		{"ri/m5.large/windows", "instances", "", "windows", 1, map[string]float64{"m5.large": 1}},
		{"ri/m5/linux", "normalized units", "", "linux", 20, m5},
		{"sp/here", "USD/h", "", "linux", 1, map[string]float64{"m5.large": 0.07}},
		{"sp/compute", "USD/h", "", "linux", 2.5, map[string]float64{"m5.large": 0.08, "c5.large": 0.06}},
	}
	if diff := cmp.Diff(want, rows); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if left := strings.Join(got.LeftOut, "\n"); len(got.LeftOut) != 3 || !strings.Contains(left, "f: they are for Red Hat") || !strings.Contains(left, "g: they are for dedicated tenancy") || !strings.Contains(left, "Savings Plan without rates") {
		t.Errorf("left out:\n%s", left)
	}
	if end := got.Commitments[5].End; !end.Equal(time.Date(2027, 6, 1, 0, 0, 0, 0, time.UTC)) {
		t.Errorf("the plan ends %s", end)
	}
}

// Instances that no cluster counts use commitments; spot instances, dedicated ones and those of sharing clusters do not.
func TestForeignInstances(t *testing.T) {
	a := newAccount()
	a.instances = []ec2types.Instance{
		running("m5.large", "eu-central-1a", nil),
		running("c5.large", "eu-central-1b", nil),
		running("c5.large", "eu-central-1b", tagged("demo")),
		running("c5.large", "eu-central-1b", tagged("friend")),
		running("c5.large", "eu-central-1b", tagged("stranger")),
		running("c5.large", "eu-central-1b", func(i *ec2types.Instance) {
			tagged("demo")(i)
			i.CapacityReservationId = aws.String("cr-1")
		}),
		running("c5.large", "eu-central-1b", func(i *ec2types.Instance) { i.InstanceLifecycle = ec2types.InstanceLifecycleTypeSpot }),
		running("c5.large", "eu-central-1b", func(i *ec2types.Instance) { i.Placement.Tenancy = ec2types.TenancyDedicated }),
		running("c5.large", "eu-central-1b", func(i *ec2types.Instance) { i.PlatformDetails = aws.String("SUSE Linux") }),
	}
	got := map[string]float64{}
	for _, c := range read(t, a.tracker(func(o *commitments.Options) { o.Sharing = func() []string { return []string{"friend"} } })).Commitments {
		if c.Foreign > 0 {
			got[c.ID] = c.Foreign
		}
	}
	// The one outside, that of the stranger, and the one in a capacity reservation.
	want := map[string]float64{"ri/m5.large/eu-central-1a/linux": 1, "sp/compute": 3 * 0.06}
	if diff := cmp.Diff(want, got, cmpopts.EquateApprox(0, 1e-9)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Cost Explorer says what the account used per hour of its last whole day, and what share of the charges is taken off again.
func TestBilled(t *testing.T) {
	a := newAccount()
	a.used = map[string]string{"compute": "48"}
	a.groups = []cetypes.ReservationUtilizationGroup{
		{Attributes: map[string]string{"instanceType": "m5.xlarge", "scope": "Region", "platform": "Linux/UNIX"}, Utilization: &cetypes.ReservationAggregates{TotalActualHours: aws.String("24"), TotalActualUnits: aws.String("192")}},
		{Attributes: map[string]string{"instanceType": "m5.large", "scope": "Region", "platform": "Linux/UNIX"}, Utilization: &cetypes.ReservationAggregates{TotalActualHours: aws.String("12"), TotalActualUnits: aws.String("48")}},
		{Attributes: map[string]string{"instanceType": "m5.large", "scope": "Availability Zone", "availabilityZone": "eu-central-1a", "platform": "Linux/UNIX"}, Utilization: &cetypes.ReservationAggregates{TotalActualHours: aws.String("6")}},
	}
	a.charges = map[string]string{
		"Usage": "900", "Recurring": "100", "SavingsPlanCoveredUsage": "50", "SavingsPlanNegation": "-50", "Tax": "190",
		"Enterprise Discount Program Discount": "-80", "Private Rate Discount": "-10", "Bundled Discount": "-500",
	}
	got := read(t, a.tracker(func(o *commitments.Options) { o.Costs = a }))
	used := map[string]float64{}
	for _, c := range got.Commitments {
		if c.UsedInTotal != nil {
			used[c.ID] = *c.UsedInTotal
		}
	}
	want := map[string]float64{"sp/compute": 2, "ri/m5/linux": 10, "ri/m5.large/eu-central-1a/linux": 0.25}
	if diff := cmp.Diff(want, used, cmpopts.EquateApprox(0, 1e-9)); diff != "" {
		t.Errorf("used (-want +got):\n%s", diff)
	}
	if len(got.Discounts) != 1 || got.Discounts[0].Percent != 9 {
		t.Errorf("discounts %+v, want 9 %%", got.Discounts)
	}
}

// Figures that Cost Explorer does not have are unknown, and no failure.
func TestNoFigures(t *testing.T) {
	a := newAccount()
	none := &smithy.OperationError{ServiceID: "Cost Explorer", Err: &smithy.GenericAPIError{Code: "DataUnavailableException"}}
	a.fail = map[string]error{"used plans": none, "used reserved": none, "charges": none}
	got := read(t, a.tracker(func(o *commitments.Options) { o.Costs = a }))
	for _, c := range got.Commitments {
		if c.UsedInTotal != nil {
			t.Errorf("%s is used for %v", c.ID, *c.UsedInTotal)
		}
	}
	if got.Discounts != nil {
		t.Errorf("discounts %+v", got.Discounts)
	}
}

// What is read is read again when it is due: the account every quarter of an hour, Cost Explorer twice a day, rates once. After a failure
// what was known stays.
func TestRefresh(t *testing.T) {
	a := newAccount()
	tracker := a.tracker(func(o *commitments.Options) { o.Costs = a })
	first := read(t, tracker)
	a.now = a.now.Add(time.Minute)
	if read(t, tracker) != first || a.calls["plans"] != 5 || a.calls["charges"] != 1 {
		t.Errorf("after a minute it is read again: %v", a.calls)
	}
	a.now = a.now.Add(15 * time.Minute)
	second := read(t, tracker)
	if second == first || a.calls["charges"] != 1 || a.calls["rates"] != 3 {
		t.Errorf("after a quarter of an hour: %v", a.calls)
	}
	a.now = a.now.Add(12 * time.Hour)
	a.fail = map[string]error{"reserved": errors.New("no")}
	next, err := tracker.Refresh(t.Context())
	if err == nil || !strings.Contains(err.Error(), "Reserved Instances") || tracker.Account() != second {
		t.Errorf("a failure: %v", err)
	}
	if a.calls["charges"] != 2 || next.Sub(a.now) > time.Minute {
		t.Errorf("next after %s: %v", next.Sub(a.now), a.calls)
	}
}

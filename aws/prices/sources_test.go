package prices_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/pricing"
	"github.com/aws/smithy-go"
	"github.com/google/go-cmp/cmp"
	"go.uber.org/mock/gomock"

	"github.com/drawknife/drawknife/aws/catalog"
	"github.com/drawknife/drawknife/aws/prices"
	"github.com/drawknife/drawknife/aws/sdk/mock"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/fake"
)

func product(name, currency string, amounts ...string) string {
	var dimensions []string
	for i, amount := range amounts {
		dimensions = append(dimensions, fmt.Sprintf(`"d%d": {"pricePerUnit": {%q: %q}}`, i, currency, amount))
	}
	return fmt.Sprintf(`{"product": {"attributes": {"instanceType": %q}}, "terms": {"OnDemand": {"t": {"priceDimensions": {%s}}}}}`,
		name, strings.Join(dimensions, ","))
}

// asked is what distinguishes one question to the price list from another.
func asked(in *pricing.GetProductsInput) map[string]string {
	out := map[string]string{}
	for _, f := range in.Filters {
		out[aws.ToString(f.Field)] = aws.ToString(f.Value)
	}
	return out
}

// priceList answers by product family and tenancy; each entry is a page.
func priceList(t *testing.T, answers map[string][][]string, fail map[string]error) (*mock.MockPricingAPI, *[]map[string]string) {
	t.Helper()
	api := mock.NewMockPricingAPI(gomock.NewController(t))
	var (
		mu        sync.Mutex
		questions []map[string]string
	)
	api.EXPECT().GetProducts(gomock.Any(), gomock.Any(), gomock.Any()).AnyTimes().DoAndReturn(
		func(_ context.Context, in *pricing.GetProductsInput, _ ...func(*pricing.Options)) (*pricing.GetProductsOutput, error) {
			q := asked(in)
			mu.Lock()
			questions = append(questions, q)
			mu.Unlock()
			key := q["productFamily"] + "/" + q["tenancy"]
			if strings.Count(q["regionCode"], "-") > 2 {
				key += "/" + q["regionCode"] // a Local Zone
			}
			if err := fail[key]; err != nil {
				return nil, err
			}
			page := 0
			if in.NextToken != nil {
				fmt.Sscan(*in.NextToken, &page)
			}
			out := &pricing.GetProductsOutput{}
			if pages := answers[key]; page < len(pages) {
				out.PriceList = pages[page]
				if page+1 < len(pages) {
					out.NextToken = aws.String(fmt.Sprint(page + 1))
				}
			}
			return out, nil
		})
	return api, &questions
}

const (
	virtual        = "Compute Instance/Shared"
	metalShared    = "Compute Instance (bare metal)/Shared"
	metalDedicated = "Compute Instance (bare metal)/Dedicated"
	dedicated      = "Compute Instance/Dedicated"
)

// AWI-108, AWI-109, AWI-110, AWI-113, OPP-05: virtual and bare-metal types, the latter with shared tenancy where there is
// such a price.
func TestOnDemand(t *testing.T) {
	api, questions := priceList(t, map[string][][]string{
		virtual: {
			{product("m5.large", "USD", "0.0960000000"), product("c5.large", "USD", "0", "0.085")},
			{product("r5.large", "USD", "0.1", "0.126", "0.12"), "not json", product("t3.nano", "EUR", "1"), product("", "USD", "1"), product("t3.micro", "USD", "cheap")},
		},
		metalShared:    {{product("c7i.metal-24xl", "USD", "4.284")}},
		metalDedicated: {{product("c7i.metal-24xl", "USD", "4.7124"), product("c6g.metal", "USD", "2.3066")}},
		dedicated:      {{product("m5.large", "USD", "0.106")}},
	}, nil)
	list, err := prices.OnDemand{API: api, Region: "eu-west-1"}.Prices(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := &prices.List{Source: "AWS price list", Currency: "USD", Skipped: 4, OnDemand: map[string]prices.Price{
		"m5.large": {PerHour: 0.096}, "c5.large": {PerHour: 0.085}, "r5.large": {PerHour: 0.126},
		"c7i.metal-24xl": {PerHour: 4.284},
		"c6g.metal":      {PerHour: 2.3066, Source: "AWS price list (dedicated tenancy)"},
	}, Dedicated: map[string]prices.Price{
		"m5.large":       {PerHour: 0.106, Source: "AWS price list (dedicated tenancy)"},
		"c7i.metal-24xl": {PerHour: 4.7124, Source: "AWS price list (dedicated tenancy)"},
		"c6g.metal":      {PerHour: 2.3066, Source: "AWS price list (dedicated tenancy)"},
	}, Local: map[prices.Pair]prices.Price{}}
	if diff := cmp.Diff(want, list); diff != "" {
		t.Error(diff)
	}
	if len(*questions) != 5 {
		t.Errorf("asked %d questions, want 5 pages", len(*questions))
	}
	for _, q := range *questions {
		for field, value := range map[string]string{
			"regionCode": "eu-west-1", "serviceCode": "AmazonEC2", "preInstalledSw": "NA", "operatingSystem": "Linux", "capacitystatus": "Used", "marketoption": "OnDemand",
		} {
			if q[field] != value {
				t.Errorf("AWI-109: filter %s is %q", field, q[field])
			}
		}
	}
}

// OPP-26: Local Zones have prices of their own, under the name of their group. Zones of other kinds and regions have none.
func TestOnDemandInLocalZones(t *testing.T) {
	api, questions := priceList(t, map[string][][]string{
		virtual:                        {{product("m5.large", "USD", "0.096")}},
		virtual + "/us-west-2-lax-1":   {{product("m5.large", "USD", "0.115")}},
		virtual + "/us-west-2-lax-2":   {},
		virtual + "/us-west-2-wl1-las": {{product("m5.large", "USD", "9")}},
	}, nil)
	zones := []string{"us-west-2a", "us-west-2-lax-1a", "us-west-2-lax-1b", "us-west-2-lax-2a", "us-west-2-wl1-las-wlz-1", "us-east-1-bos-1a", "us-west-2-", ""}
	source := prices.OnDemand{API: api, Region: "us-west-2", Zones: func() []string { return zones }}
	list, err := source.Prices(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	own := prices.Price{PerHour: 0.115, Source: "AWS price list of us-west-2-lax-1"}
	want := map[prices.Pair]prices.Price{{InstanceType: "m5.large", Zone: "us-west-2-lax-1a"}: own, {InstanceType: "m5.large", Zone: "us-west-2-lax-1b"}: own}
	if diff := cmp.Diff(want, list.Local); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(map[string]prices.Price{"m5.large": {PerHour: 0.096}}, list.OnDemand); diff != "" {
		t.Error(diff)
	}
	if len(*questions) != 6 {
		t.Errorf("asked %d questions, want 4 about the region and 2 about its Local Zones", len(*questions))
	}
	board, err := prices.NewBoard(prices.Options{Region: "us-west-2", Feeds: []prices.Feed{{Name: "list", Source: source}}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := board.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	if q, ok := board.Book().Local("m5.large", "us-west-2-lax-1b"); !ok || q.USD != 0.115 {
		t.Errorf("the book has %+v, %t for the Local Zone", q, ok)
	}
	if q, ok := board.Book().Local("m5.large", "us-west-2a"); ok {
		t.Errorf("the book has %+v for a zone without prices of its own", q)
	}
}

// AWI-110: prices of China are in CNY.
func TestOnDemandInChina(t *testing.T) {
	api, _ := priceList(t, map[string][][]string{virtual: {{product("m5.large", "CNY", "0.9"), product("c5.large", "USD", "0.1")}}}, nil)
	list, err := prices.OnDemand{API: api, Region: "cn-north-1"}.Prices(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if list.Currency != "CNY" || len(list.OnDemand) != 1 || list.OnDemand["m5.large"].PerHour != 0.9 || list.Skipped != 1 {
		t.Errorf("%+v", list)
	}
}

// AWI-111: a question that fails, or an answer without virtual machines, is no answer; the missing permission is named.
func TestOnDemandFails(t *testing.T) {
	one := [][]string{{product("m5.large", "USD", "1")}}
	denied := &smithy.OperationError{ServiceID: "Pricing", OperationName: "GetProducts", Err: &smithy.GenericAPIError{Code: "AccessDeniedException", Message: "no"}}
	for _, q := range []string{virtual, metalShared, metalDedicated} {
		api, _ := priceList(t, map[string][][]string{virtual: one, metalShared: one, metalDedicated: one}, map[string]error{q: denied})
		_, err := prices.OnDemand{API: api, Region: "eu-west-1"}.Prices(t.Context())
		if !errors.Is(err, cloudprovider.Unauthorized) || !strings.Contains(err.Error(), "pricing:GetProducts") {
			t.Errorf("%s: %v", q, err)
		}
	}
	api, _ := priceList(t, map[string][][]string{metalShared: one}, nil)
	var empty *prices.ListError
	if _, err := (prices.OnDemand{API: api, Region: "eu-west-1"}).Prices(t.Context()); !errors.As(err, &empty) {
		t.Errorf("an empty answer: %v", err)
	}
}

// AWI-112, AWI-117.
func TestPublished(t *testing.T) {
	for _, test := range []struct {
		region   string
		isolated bool
		want     bool
	}{{"us-east-1", false, true}, {"us-east-1", true, false}, {"us-gov-west-1", false, false}, {"us-iso-east-1", false, false}, {"eusc-de-east-1", false, false}, {"cn-north-1", false, true}} {
		if ok, why := prices.Published(test.region, test.isolated); ok != test.want || ok == (why != "") {
			t.Errorf("%s: %t, %q", test.region, ok, why)
		}
	}
}

func record(name, zone, amount string, at time.Time) ec2types.SpotPrice {
	return ec2types.SpotPrice{InstanceType: ec2types.InstanceType(name), AvailabilityZone: aws.String(zone), SpotPrice: aws.String(amount), Timestamp: aws.Time(at)}
}

// AWI-114: what is asked, all pages, the latest of several, records that can't be used left out.
func TestSpot(t *testing.T) {
	now := start()
	early, late := now.Add(-2*time.Hour), now.Add(-time.Hour)
	timeless := record("m5.large", "c", "0.5", now)
	timeless.Timestamp = nil
	pages := [][]ec2types.SpotPrice{
		{record("m5.large", "a", "0.04", late), record("m5.large", "b", "0.05", early), timeless},
		{record("m5.large", "a", "0.03", early), record("m5.large", "b", "0.06", early), record("c5.large", "a", "free", now), record("r5.large", "a", "0", now)},
	}
	api := mock.NewMockEC2API(gomock.NewController(t))
	call := 0
	api.EXPECT().DescribeSpotPriceHistory(gomock.Any(), gomock.Any(), gomock.Any()).Times(2).DoAndReturn(
		func(_ context.Context, in *ec2.DescribeSpotPriceHistoryInput, _ ...func(*ec2.Options)) (*ec2.DescribeSpotPriceHistoryOutput, error) {
			if !in.StartTime.Equal(now) || *in.MaxResults != 2000 || len(in.ProductDescriptions) != 2 || (in.NextToken != nil) != (call == 1) {
				t.Errorf("asked for %+v", in)
			}
			out := &ec2.DescribeSpotPriceHistoryOutput{SpotPriceHistory: pages[call]}
			if call++; call == 1 {
				out.NextToken = aws.String("more")
			}
			return out, nil
		})
	list, err := prices.Spot{API: api, Clock: fake.NewSimClock(now)}.Prices(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := &prices.List{Source: "EC2 spot price history", Currency: "USD", Skipped: 3, Spot: map[prices.Pair]prices.Price{
		{InstanceType: "m5.large", Zone: "a"}: {PerHour: 0.04, Since: late},
		{InstanceType: "m5.large", Zone: "b"}: {PerHour: 0.06, Since: early},
	}}
	if diff := cmp.Diff(want, list); diff != "" {
		t.Error(diff)
	}
}

// AWI-115: no price at all, and an answer whose second page fails, are no answer.
func TestSpotFails(t *testing.T) {
	api := mock.NewMockEC2API(gomock.NewController(t))
	gomock.InOrder(
		api.EXPECT().DescribeSpotPriceHistory(gomock.Any(), gomock.Any()).Return(&ec2.DescribeSpotPriceHistoryOutput{}, nil),
		api.EXPECT().DescribeSpotPriceHistory(gomock.Any(), gomock.Any()).Return(&ec2.DescribeSpotPriceHistoryOutput{
			SpotPriceHistory: []ec2types.SpotPrice{record("m5.large", "a", "1", start())}, NextToken: aws.String("2"),
		}, nil),
		api.EXPECT().DescribeSpotPriceHistory(gomock.Any(), gomock.Any()).Return(nil, &smithy.GenericAPIError{Code: "RequestLimitExceeded"}),
	)
	var empty *prices.ListError
	if _, err := (prices.Spot{API: api}).Prices(t.Context()); !errors.As(err, &empty) {
		t.Errorf("an empty answer: %v", err)
	}
	if list, err := (prices.Spot{API: api}).Prices(t.Context()); !errors.Is(err, cloudprovider.Throttled) || list != nil {
		t.Errorf("half an answer: %v, %v", list, err)
	}
}

// AWI-119, AWI-120, OPP-15: the tables built in, and what they say of themselves: the catalogue's own region, another one,
// GovCloud, and China, for which there is none.
func TestStatic(t *testing.T) {
	c, err := catalog.Embedded()
	if err != nil {
		t.Fatal(err)
	}
	const table, snapshot = "on-demand price table, 2026-07-20", "built-in price snapshot of all regions, 2025-05-28"
	for _, test := range []struct {
		region, typeName string
		price            float64
		source           string
	}{
		{"us-east-1", "m5.large", 0.096, table},
		{"eu-west-1", "m5.large", 0.107, snapshot},
		{"us-gov-west-1", "m5.large", 0.121, snapshot},
		{"cn-north-1", "m5.large", 0.096, table + ", estimated: the price of us-east-1, no price of cn-north-1 is built in"},
		{"eu-west-1", "p6-b200.48xlarge", 127.040113, table + ", estimated: the price of us-east-1 times what the type's family, or else the median type, costs in eu-west-1 in proportion"},
	} {
		list := prices.Static(c, test.region)
		if p := list.OnDemand[test.typeName]; p.PerHour != test.price || p.Source != test.source {
			t.Errorf("%s in %s is %+v", test.typeName, test.region, p)
		}
		if n := len(list.OnDemand); n < 1300 || len(list.Spot) != 0 {
			t.Errorf("%s has %d prices", test.region, n)
		}
	}
}

// Every region that is built in has hundreds of prices of a plausible size.
func TestRegional(t *testing.T) {
	for region, atLeast := range map[string]int{"us-east-1": 900, "us-gov-east-1": 380, "ap-southeast-7": 200, "eu-central-1": 800} {
		list, err := prices.Regional(region)
		if err != nil || len(list.OnDemand) < atLeast {
			t.Fatalf("%s: %v", region, err)
		}
		for name, p := range list.OnDemand {
			if p.PerHour < 0.001 || p.PerHour > 1000 {
				t.Errorf("%s in %s costs %g", name, region, p.PerHour)
			}
		}
	}
	for _, region := range []string{"cn-north-1", "", "2025-05-28"} {
		if list, err := prices.Regional(region); list != nil || err != nil {
			t.Errorf("%q has %v, %v", region, list, err)
		}
	}
}

const file = `{"schema": "drawknife-ec2-prices/1", "region": "eu-west-1", "source": "our contract", "asOf": "2026-07-01",
	"zones": [{"name": "eu-west-1a"}], "types": {"m5.large": {"onDemand": 0.09, "spot": {"eu-west-1a": 0.03}}}}`

// OPP-15: prices of a file, read again each time.
func TestFile(t *testing.T) {
	text := strings.Replace(file, `"onDemand": 0.09`, `"onDemand": 0.09, "dedicated": 0.1, "local": {"eu-west-1-x-1a": 0.11}`, 1)
	source := prices.File(func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(text)), nil })
	list, err := source.Prices(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := &prices.List{
		Source: "our contract", Confidence: cloudprovider.PriceGiven, AsOf: time.Date(2026, 7, 1, 0, 0, 0, 0, time.UTC),
		OnDemand: map[string]prices.Price{"m5.large": {PerHour: 0.09}}, Dedicated: map[string]prices.Price{"m5.large": {PerHour: 0.1}},
		Local: map[prices.Pair]prices.Price{{InstanceType: "m5.large", Zone: "eu-west-1-x-1a"}: {PerHour: 0.11}},
		Spot:  map[prices.Pair]prices.Price{{InstanceType: "m5.large", Zone: "eu-west-1a"}: {PerHour: 0.03}},
	}
	if diff := cmp.Diff(want, list); diff != "" {
		t.Error(diff)
	}
	text = strings.Replace(file, "2026-07-01", "July", 1)
	var wrong *prices.ListError
	if _, err := source.Prices(t.Context()); !errors.As(err, &wrong) {
		t.Errorf("a bad day: %v", err)
	}
	text = `{"schema": "other"}`
	if _, err := source.Prices(t.Context()); err == nil {
		t.Error("a file of another shape is read")
	}
	if _, err := prices.FileAt("testdata/nothing.json").Prices(t.Context()); err == nil {
		t.Error("a file that is not there is read")
	}
}

// OPP-15: discounts, on what they are for, with a word about it.
func TestAdjust(t *testing.T) {
	source := prices.SourceFunc(func(context.Context) (*prices.List, error) {
		return &prices.List{
			Source:   "list",
			OnDemand: map[string]prices.Price{"m5.large": {PerHour: 1}, "c5.metal": {PerHour: 2, Source: "list (dedicated tenancy)"}},
			Spot:     map[prices.Pair]prices.Price{{InstanceType: "m5.large", Zone: "a"}: {PerHour: 0.4}},
		}, nil
	})
	list, err := prices.Adjust(source, "less half", func(i prices.Item, perHour float64) float64 {
		if i.Spot {
			return perHour
		}
		return perHour / 2
	}).Prices(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := &prices.List{
		Source:   "list, less half",
		OnDemand: map[string]prices.Price{"m5.large": {PerHour: 0.5}, "c5.metal": {PerHour: 1, Source: "list (dedicated tenancy), less half"}},
		Spot:     map[prices.Pair]prices.Price{{InstanceType: "m5.large", Zone: "a"}: {PerHour: 0.4}},
	}
	if diff := cmp.Diff(want, list); diff != "" {
		t.Error(diff)
	}
}

// Local Zones have built-in prices of their own, with their day.
func TestStaticPricesOfLocalZones(t *testing.T) {
	builtIn, err := catalog.Embedded()
	if err != nil {
		t.Fatal(err)
	}
	for region, zone := range map[string]string{"us-east-1": "us-east-1-bos-1a", "us-west-2": "us-west-2-lax-1b"} {
		list := prices.Static(builtIn, region)
		local, ok := list.Local[prices.Pair{InstanceType: "t3.medium", Zone: zone}]
		if here := list.OnDemand["t3.medium"]; !ok || local.PerHour <= here.PerHour || local.PerHour > 2*here.PerHour || local.Since.IsZero() || !strings.Contains(local.Source, "Local Zones") {
			t.Errorf("%s: %+v, in the region %+v", zone, local, here)
		}
	}
	if list := prices.Static(builtIn, "eu-west-1"); len(list.Local) > 0 {
		t.Errorf("eu-west-1 has %d prices of Local Zones", len(list.Local))
	}
}

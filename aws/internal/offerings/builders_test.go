package offerings_test

import (
	"context"
	"sync"
	"testing"
	"time"

	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	"github.com/drawknife/drawknife/aws/catalog"
	"github.com/drawknife/drawknife/aws/instancetype"
	"github.com/drawknife/drawknife/aws/internal/offerings"
	"github.com/drawknife/drawknife/aws/prices"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/fake"
	"github.com/drawknife/drawknife/fake/build/ec2build"
)

func start() time.Time { return time.Date(2026, 8, 1, 0, 0, 0, 0, time.UTC) }

// builtIn is decoded once: catalogues are not changed.
var builtIn = sync.OnceValues(catalog.Embedded)

func embedded(tb testing.TB) *catalog.Catalog {
	tb.Helper()
	c, err := builtIn()
	if err != nil {
		tb.Fatal(err)
	}
	return c
}

// small is a catalogue of three zones and a few types.
func small(tb testing.TB) *catalog.Catalog {
	tb.Helper()
	from := embedded(tb)
	c := catalog.Catalog{Region: "us-east-1", Zones: []catalog.Zone{{Name: "us-east-1a", ID: "use1-az2"}, {Name: "us-east-1b", ID: "use1-az4"}, {Name: "us-east-1c", ID: "use1-az6"}}}
	for name, zones := range map[string][]int{"m5.large": {0, 1, 2}, "m5.xlarge": {0, 1}, "a1.medium": {0}, "p5.48xlarge": {2}, "t3.large": {0, 1, 2}} {
		t, ok := from.Lookup(name)
		if !ok {
			tb.Fatalf("%s is missing", name)
		}
		copied := *t
		copied.Zones, copied.SpotUSD, copied.OnDemandFrom, copied.SpotFrom, copied.OnDemandUSD = zones, nil, "", "", 0
		c.Types = append(c.Types, copied)
	}
	out, err := catalog.New(c)
	if err != nil {
		tb.Fatal(err)
	}
	return out
}

// book has an on-demand price for every type of the embedded catalogue, and spot prices of half of that in all zones.
func book(tb testing.TB, c *catalog.Catalog) *prices.Book {
	tb.Helper()
	list := &prices.List{Source: "test", AsOf: start(), OnDemand: map[string]prices.Price{}, Spot: map[prices.Pair]prices.Price{}}
	for _, t := range embedded(tb).Types {
		usd := t.OnDemandUSD
		if usd == 0 {
			usd = 1
		}
		list.OnDemand[t.Name] = prices.Price{PerHour: usd}
		for _, z := range c.Zones {
			list.Spot[prices.Pair{InstanceType: t.Name, Zone: z.Name}] = prices.Price{PerHour: usd / 2}
		}
	}
	return bookOf(tb, list)
}

func bookOf(tb testing.TB, list *prices.List) *prices.Book {
	tb.Helper()
	board, err := prices.NewBoard(prices.Options{
		Region: "us-east-1", Clock: fake.NewSimClock(start()),
		Feeds: []prices.Feed{{Name: "test", Source: prices.SourceFunc(func(context.Context) (*prices.List, error) { return list, nil })}},
	})
	if err != nil {
		tb.Fatal(err)
	}
	if _, err := board.Refresh(tb.Context()); err != nil {
		tb.Fatal(err)
	}
	return board.Book()
}

func market(tb testing.TB, c *catalog.Catalog) offerings.Market {
	tb.Helper()
	return offerings.Market{Catalog: c, Prices: book(tb, c), Time: start()}
}

// class has a subnet in each of three zones.
func class(name string, change ...ec2build.Option) *awsv1.EC2NodeClass {
	var subnets []ec2build.Option
	for i, zone := range []string{"a", "b", "c"} {
		subnets = append(subnets, ec2build.Subnet("subnet-"+name+"-"+zone, "us-east-1"+zone, []string{"use1-az2", "use1-az4", "use1-az6"}[i]))
	}
	return ec2build.Class(name, append(subnets, change...)...)
}

func view(tb testing.TB, c *catalog.Catalog, class *awsv1.EC2NodeClass, o ...offerings.Options) offerings.View {
	tb.Helper()
	var options offerings.Options
	if len(o) > 0 {
		options = o[0]
	}
	v, err := offerings.NewView(c, class, options)
	if err != nil {
		tb.Fatal(err)
	}
	return v
}

func resolve(tb testing.TB, m offerings.Market, v offerings.View) map[string]*cloudprovider.InstanceType {
	tb.Helper()
	types, err := offerings.Resolve(m, v)
	if err != nil {
		tb.Fatal(err)
	}
	return byName(types)
}

func byName(types []*cloudprovider.InstanceType) map[string]*cloudprovider.InstanceType {
	out := map[string]*cloudprovider.InstanceType{}
	for _, t := range types {
		out[t.Name] = t
	}
	return out
}

func capabilities() cloudprovider.Capabilities {
	return cloudprovider.Capabilities{
		Vocabulary:         instancetype.Vocabulary(),
		ReservationIDLabel: awsv1.LabelCapacityReservationID,
		ReservationLabels: []string{
			awsv1.LabelCapacityReservationID, awsv1.LabelCapacityReservationType, awsv1.LabelCapacityReservationInterruptible,
		},
		LabelValues: map[string][]string{awsv1.LabelInstanceTenancy: {awsv1.TenancyDefault, awsv1.TenancyDedicated}},
	}
}

package live

import (
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/drawknife/drawknife/aws/catalog"
	"github.com/drawknife/drawknife/aws/prices"
)

// facts are two types of a region in two zones; the second is in the second zone alone.
func facts(t *testing.T, region string) *catalog.Catalog {
	t.Helper()
	builtIn := embedded(t)
	c := catalog.Catalog{
		Region: region, Zones: []catalog.Zone{{Name: region + "a"}, {Name: region + "b"}}, Sources: map[string]string{"hardware": "EC2"},
	}
	for i, name := range []string{"m5.large", "c7g.large"} {
		known, ok := builtIn.Lookup(name)
		if !ok {
			t.Fatalf("no %s", name)
		}
		bare := *known
		bare.Zones = []int{0, 1}[i:]
		bare.OnDemandUSD, bare.OnDemandFrom, bare.SpotUSD, bare.SpotFrom = 0, "", nil, ""
		c.Types = append(c.Types, bare)
	}
	made, err := catalog.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// decoded is the built-in catalogue, decoded once: catalogues are not changed.
var decoded = sync.OnceValues(catalog.Embedded)

func embedded(t *testing.T) *catalog.Catalog {
	t.Helper()
	c, err := decoded()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// onDemand is a price list of m5.large alone.
func onDemand(currency string) *prices.List {
	return &prices.List{Source: "list", Currency: currency, OnDemand: map[string]prices.Price{"m5.large": {PerHour: 0.5}}}
}

func spot(currency, region string) *prices.List {
	return &prices.List{Source: "history", Currency: currency, Spot: map[prices.Pair]prices.Price{
		{InstanceType: "m5.large", Zone: region + "b"}: {PerHour: 0.25},
	}}
}

// AWI-107, AWI-111, AWI-115, AWI-116, AWI-119: AWS's prices count; what they lack is built in, of the same currency, and said.
func TestPricesOnFacts(t *testing.T) {
	const far, china = "eu-west-1", "cn-north-1"
	builtIn := embedded(t)
	m5, _ := builtIn.Lookup("m5.large")
	refused := errors.New("refused")
	// The built-in table is of us-east-1's own zones; it has the region's price in other regions.
	farList, err := prices.Regional(far)
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name, region string
		quotes       quotes
		onDemand     float64   // of m5.large
		spot         []float64 // of m5.large, by zone
		second       bool      // c7g.large has an on-demand price
		source       string    // of the spot price
		notes        string
	}{
		{"all of AWS", far, quotes{onDemand: onDemand(""), spot: spot("", far)}, 0.5, []float64{0, 0.25}, true, "history, 2026-11-26",
			"OnDemandPricesBuiltIn: AWS's price list lacks c7g.large"},
		{"no spot prices", far, quotes{onDemand: onDemand(""), spotErr: refused}, 0.5, []float64{0.5, 0.5}, true,
			"on-demand price, because spot prices are missing; list, 2026-11-26", "SpotPricesBuiltIn: spot nodes are planned at on-demand prices, which they stay below: refused"},
		{"no prices", far, quotes{onDemandErr: refused, spotErr: refused}, farList.OnDemand["m5.large"].PerHour,
			[]float64{farList.OnDemand["m5.large"].PerHour, farList.OnDemand["m5.large"].PerHour}, true, "because spot prices are missing; built-in",
			"OnDemandPricesBuiltIn: on-demand prices are those built in, which are older and may be of another region: refused"},
		{"no prices where they are built in", "us-east-1", quotes{onDemandErr: refused, spotErr: refused}, m5.OnDemandUSD,
			[]float64{m5.SpotPrice(0), m5.SpotPrice(1)}, true, "2025", "SpotPricesBuiltIn: spot prices are those built in"},
		{"another currency", china, quotes{onDemand: onDemand("CNY"), spot: spot("CNY", china)}, 0.5, []float64{0, 0.25}, false, "history",
			"Currency: prices of cn-north-1 are in CNY: read every amount as CNY"},
		{"on-demand prices of c7g.large in dollars are not mixed in", china, quotes{onDemand: onDemand("CNY"), spot: spot("CNY", china)}, 0.5,
			[]float64{0, 0.25}, false, "history", "OnDemandPricesUnknown: no on-demand price is known of c7g.large"},
		{"spot alone in another currency", china, quotes{onDemandErr: refused, spot: spot("CNY", china)}, m5.OnDemandUSD,
			[]float64{m5.OnDemandUSD, m5.OnDemandUSD}, true, "because spot prices are missing", "spot prices are in CNY, but on-demand prices are available only in USD"},
	} {
		t.Run(test.name, func(t *testing.T) {
			test.quotes.day = "2026-11-26"
			before := facts(t, test.region)
			c, notes, err := test.quotes.on(before, builtIn)
			if err != nil {
				t.Fatal(err)
			}
			large, _ := c.Lookup("m5.large")
			if large.OnDemandUSD != test.onDemand {
				t.Errorf("on-demand price is %v, want %v", large.OnDemandUSD, test.onDemand)
			}
			if facts := c.OnDemandFacts(large); test.quotes.onDemandErr == nil && facts != (catalog.PriceFacts{Day: "2026-11-26", Kind: catalog.PriceCurrent}) {
				t.Errorf("the on-demand price is %v", facts)
			} else if test.quotes.onDemandErr != nil && facts.Kind == catalog.PriceCurrent {
				t.Errorf("the built-in on-demand price is %v", facts)
			}
			if diff := cmp.Diff(test.spot, large.SpotUSD); diff != "" {
				t.Errorf("spot prices (-want +got):\n%s", diff)
			}
			if got := c.SpotSource(large); !strings.Contains(got, test.source) {
				t.Errorf("spot prices are of %q, want %q", got, test.source)
			}
			if small, _ := c.Lookup("c7g.large"); small.OnDemandUSD > 0 != test.second || len(small.SpotUSD) > 1 {
				t.Errorf("c7g.large has on-demand price %v and spot prices %v", small.OnDemandUSD, small.SpotUSD)
			}
			var said []string
			for _, n := range notes {
				said = append(said, n.Code+": "+n.Message)
			}
			if text := strings.Join(said, "\n"); !strings.Contains(text, test.notes) {
				t.Errorf("notes lack %q:\n%s", test.notes, text)
			}
			if diff := cmp.Diff(facts(t, test.region), before); diff != "" {
				t.Errorf("the facts handed in have changed:\n%s", diff)
			}
		})
	}
}

// A type that EC2 does not sell as spot has no spot price when the list says so.
func TestNoSpotWhereEC2NamesNone(t *testing.T) {
	q := quotes{onDemand: onDemand(""), spot: spot("", "eu-west-1")}
	c, _, err := q.on(facts(t, "eu-west-1"), embedded(t))
	if err != nil {
		t.Fatal(err)
	}
	if small, _ := c.Lookup("c7g.large"); small.SpotUSD != nil {
		t.Errorf("c7g.large has spot prices %v", small.SpotUSD)
	}
}

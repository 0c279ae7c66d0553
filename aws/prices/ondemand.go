package prices

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/pricing"
	pricingtypes "github.com/aws/aws-sdk-go-v2/service/pricing/types"

	"github.com/drawknife/drawknife/api/option"
	"github.com/drawknife/drawknife/aws/internal/refresh"
	"github.com/drawknife/drawknife/aws/sdk"
)

// Published reports whether AWS's price list service has on-demand prices of a region and can be reached. In GovCloud and in an isolated
// VPC this is false. If ok is false, why contains the reason, as a sentence.
func Published(region string, isolatedVPC bool) (ok bool, why string) {
	switch {
	case isolatedVPC:
		return false, "the price list service can't be reached from an isolated VPC"
	case strings.HasPrefix(region, "us-gov-"):
		return false, "the price list service does not cover GovCloud regions"
	case strings.HasPrefix(region, "us-iso"), strings.HasPrefix(region, "eu-isoe-"), strings.HasPrefix(region, "eusc-"):
		return false, "the price list service can't be reached from the partition of region " + region
	}
	return true, ""
}

// Currency returns the currency of AWS's prices for a region.
func Currency(region string) string {
	if strings.HasPrefix(region, "cn-") {
		return "CNY"
	}
	return "USD"
}

// OnDemand reads on-demand prices for Linux from the AWS price list: on shared hardware, and of Dedicated Instances.
type OnDemand struct {
	// API is a client for the region that sdk.PricingRegion names.
	API sdk.PricingAPI
	// Region whose prices are wanted.
	Region string
	// Zones returns the names of zones. Local Zones have prices of their own, which are also read. It is called once for each reading. Nil:
	// none.
	Zones func() []string
}

// query is one query to the price list.
type query struct {
	family, tenancy string
	// group is the region, or the group of a Local Zone: us-west-2-lax-1 for us-west-2-lax-1a.
	group string
}

// maxLocalGroups limits the number of groups of Local Zones whose prices are read: more than any region has.
const maxLocalGroups = 64

// localGroup returns the group of a Local Zone of the region, or "" for other zones. The price list has the prices of Local Zones by group.
func localGroup(region, zone string) string {
	rest, ok := strings.CutPrefix(zone, region+"-")
	if n := len(rest); !ok || n < 2 || rest[n-1] < 'a' || rest[n-1] > 'z' || rest[n-2] < '0' || rest[n-2] > '9' {
		return ""
	}
	return zone[:len(zone)-1]
}

// localZones returns the Local Zones by group.
func (s OnDemand) localZones() map[string][]string {
	groups := map[string][]string{}
	if s.Zones == nil {
		return groups
	}
	for _, zone := range s.Zones() {
		if group := localGroup(s.Region, zone); group != "" && (groups[group] != nil || len(groups) < maxLocalGroups) {
			groups[group] = append(groups[group], zone)
		}
	}
	return groups
}

const (
	virtualFamily = "Compute Instance"
	metalFamily   = "Compute Instance (bare metal)"
)

// Prices implements Source. Launches without a tenancy get shared tenancy, so the shared price of a bare-metal type takes precedence. Its
// dedicated price is used only if the list has no shared one.
func (s OnDemand) Prices(ctx context.Context) (*List, error) {
	if s.API == nil {
		return nil, option.Missing("OnDemand.Prices", "the API")
	}
	local := s.localZones()
	queries := []query{
		{metalFamily, "Dedicated", s.Region}, {virtualFamily, "Dedicated", s.Region}, {metalFamily, "Shared", s.Region}, {virtualFamily, "Shared", s.Region},
	}
	for _, group := range slices.Sorted(maps.Keys(local)) {
		queries = append(queries, query{virtualFamily, "Shared", group})
	}
	var (
		group   sync.WaitGroup
		answers = make([]map[string]float64, len(queries))
		skipped = make([]int, len(queries))
		errs    = make([]error, len(queries))
	)
	for i, q := range queries {
		group.Go(func() { answers[i], skipped[i], errs[i] = s.ask(ctx, q) })
	}
	group.Wait()
	list := &List{
		Source: "AWS price list", Currency: Currency(s.Region),
		OnDemand: map[string]Price{}, Dedicated: map[string]Price{}, Local: map[Pair]Price{},
	}
	virtual := 0
	for i, q := range queries {
		if errs[i] != nil {
			return nil, sdk.Wrap(fmt.Sprintf("reading on-demand prices of %q with tenancy %q in %s", q.family, q.tenancy, q.group), errs[i])
		}
		if q == (query{virtualFamily, "Shared", s.Region}) {
			virtual = len(answers[i])
		}
		list.take(q, answers[i], local[q.group])
		list.Skipped += skipped[i]
	}
	// Every region offers virtual instances, so an answer without prices of virtual instances is invalid.
	if virtual == 0 {
		return nil, &ListError{Source: list.Source, Problem: fmt.Sprintf("there are no prices of virtual machines in %s", s.Region)}
	}
	return list, nil
}

// take adds the prices of an answer. If the query's group is a group of Local Zones, zones are its zones. For a bare-metal type that is
// listed only with dedicated tenancy, that price is the on-demand price.
func (l *List) take(q query, answer map[string]float64, zones []string) {
	for name, amount := range answer {
		switch {
		case zones != nil:
			for _, zone := range zones {
				l.Local[Pair{InstanceType: name, Zone: zone}] = Price{PerHour: amount, Source: l.Source + " of " + q.group}
			}
		case q.tenancy == "Shared":
			l.OnDemand[name] = Price{PerHour: amount}
		default:
			dedicated := Price{PerHour: amount, Source: l.Source + " (dedicated tenancy)"}
			l.Dedicated[name] = dedicated
			if q.family == metalFamily {
				l.OnDemand[name] = dedicated
			}
		}
	}
}

// filters returns the filters of a query.
func (q query) filters() []pricingtypes.Filter {
	var out []pricingtypes.Filter
	for _, f := range [][2]string{
		{"regionCode", q.group},
		{"serviceCode", "AmazonEC2"},
		{"preInstalledSw", "NA"},
		{"operatingSystem", "Linux"},
		{"capacitystatus", "Used"},
		{"marketoption", "OnDemand"},
		{"tenancy", q.tenancy},
		{"productFamily", q.family},
	} {
		out = append(out, pricingtypes.Filter{Type: pricingtypes.FilterTypeTermMatch, Field: aws.String(f[0]), Value: aws.String(f[1])})
	}
	return out
}

func (s OnDemand) ask(ctx context.Context, q query) (prices map[string]float64, skipped int, err error) {
	prices = map[string]float64{}
	err = refresh.Pages(ctx, func(token *string) (*string, error) {
		out, err := s.API.GetProducts(ctx, &pricing.GetProductsInput{
			ServiceCode: aws.String("AmazonEC2"), Filters: q.filters(), MaxResults: aws.Int32(100), NextToken: token,
		})
		if err != nil {
			return nil, err
		}
		for _, text := range out.PriceList {
			name, amount, ok := parseProduct([]byte(text), Currency(s.Region))
			if !ok {
				skipped++
				continue
			}
			prices[name] = max(prices[name], amount)
		}
		return out.NextToken, nil
	})
	return prices, skipped, err
}

// parseProduct parses a document of the price list. If one type has several prices, the highest is used, so that the order does not matter
// and no instance costs more than stated.
func parseProduct(text []byte, currency string) (instanceType string, perHour float64, ok bool) {
	var doc struct {
		Product struct {
			Attributes struct {
				InstanceType string `json:"instanceType"`
			} `json:"attributes"`
		} `json:"product"`
		Terms struct {
			OnDemand map[string]struct {
				PriceDimensions map[string]struct {
					PricePerUnit map[string]string `json:"pricePerUnit"`
				} `json:"priceDimensions"`
			}
		} `json:"terms"`
	}
	if err := json.Unmarshal(text, &doc); err != nil {
		return "", 0, false
	}
	for _, term := range doc.Terms.OnDemand {
		for _, dimension := range term.PriceDimensions {
			if amount, err := strconv.ParseFloat(dimension.PricePerUnit[currency], 64); err == nil && usable(amount) {
				perHour = max(perHour, amount)
			}
		}
	}
	return doc.Product.Attributes.InstanceType, perHour, perHour > 0 && doc.Product.Attributes.InstanceType != ""
}

package prices

import (
	"context"
	"encoding/json"
	"fmt"
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

// Published reports whether AWS's price list service has on-demand prices of a region and can be reached: not in GovCloud, and not in an
// isolated VPC. why explains it for readers.
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

// OnDemand reads on-demand prices for Linux from the AWS price list.
type OnDemand struct {
	// API is a client for the region that sdk.PricingRegion names.
	API sdk.PricingAPI
	// Region whose prices are wanted.
	Region string
}

// query is one query to the price list.
type query struct {
	family, tenancy string
}

const (
	virtualFamily = "Compute Instance"
	metalFamily   = "Compute Instance (bare metal)"
)

// Prices implements Source. Bare-metal types are requested with shared tenancy, which launches without a tenancy get, and with dedicated
// tenancy if they are only listed with that.
func (s OnDemand) Prices(ctx context.Context) (*List, error) {
	if s.API == nil {
		return nil, option.Missing("OnDemand.Prices", "the API")
	}
	queries := []query{{metalFamily, "Dedicated"}, {metalFamily, "Shared"}, {virtualFamily, "Shared"}}
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
	list := &List{Source: "AWS price list", Currency: Currency(s.Region), OnDemand: map[string]Price{}}
	for i, q := range queries {
		if errs[i] != nil {
			return nil, sdk.Wrap(fmt.Sprintf("reading on-demand prices of %q with tenancy %q in %s", q.family, q.tenancy, s.Region), errs[i])
		}
		for name, amount := range answers[i] {
			p := Price{PerHour: amount}
			if q.tenancy == "Dedicated" {
				p.Source = list.Source + " (dedicated tenancy)"
			}
			list.OnDemand[name] = p
		}
		list.Skipped += skipped[i]
	}
	// Virtual instances are sold in every region: an answer without any is invalid.
	if len(answers[len(answers)-1]) == 0 {
		return nil, &ListError{Source: list.Source, Problem: fmt.Sprintf("there are no prices of virtual machines in %s", s.Region)}
	}
	return list, nil
}

// filters returns the filters of a query.
func (q query) filters(region string) []pricingtypes.Filter {
	var out []pricingtypes.Filter
	for _, f := range [][2]string{
		{"regionCode", region},
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
			ServiceCode: aws.String("AmazonEC2"), Filters: q.filters(s.Region), MaxResults: aws.Int32(100), NextToken: token,
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

// parseProduct parses a document of the price list. If one type has several prices, the highest counts, so that the order does not matter
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

package discovery

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/drawknife/drawknife/aws/catalog"
	"github.com/drawknife/drawknife/aws/internal/refresh"
	"github.com/drawknife/drawknife/aws/sdk"
)

// answers are EC2's answers in one refresh.
type answers struct {
	records    [][]byte
	zones      map[string][]string
	zoneIDs    map[string]string
	zoneIDsErr error
	skipped    []error
}

// read sends all queries to EC2 in parallel, and makes a catalogue of the answers.
func (d *Discoverer) read(ctx context.Context) (*catalog.Catalog, *answers, error) {
	var (
		a                  answers
		group              sync.WaitGroup
		typesErr, zonesErr error
	)
	group.Go(func() { a.records, typesErr = d.types(ctx) })
	group.Go(func() { a.zones, zonesErr = d.offerings(ctx) })
	group.Go(func() { a.zoneIDs, a.zoneIDsErr = d.zoneIDs(ctx) })
	group.Wait()
	switch {
	case typesErr != nil:
		return nil, nil, sdk.Wrap("reading instance types", typesErr)
	case zonesErr != nil:
		return nil, nil, sdk.Wrap("reading the zones of instance types", zonesErr)
	case len(a.records) == 0:
		return nil, nil, &EmptyError{Missing: "instance types", Region: d.options.Region}
	case len(a.zones) == 0:
		return nil, nil, &EmptyError{Missing: "zones", Region: d.options.Region}
	}
	if ctx.Err() != nil { // missing zone ids alone are no reason to fail, but an ended context is
		return nil, nil, ctx.Err()
	}
	c, skipped, err := catalog.FromDescription(catalog.Description{
		Region: d.options.Region, Source: "EC2 DescribeInstanceTypes", Records: a.records, Zones: a.zones, ZoneIDs: a.zoneIDs,
	}, d.options.BuiltIn)
	a.skipped = skipped
	if err == nil && len(c.Types) == 0 {
		err = &EmptyError{Missing: "instance types", Region: d.options.Region}
	}
	return c, &a, err
}

// types reads the records of all types that run Linux or Windows, as JSON with the API's field names. Package catalog reads this format and
// contains the only rules for turning records into facts.
func (d *Discoverer) types(ctx context.Context) ([][]byte, error) {
	in := &ec2.DescribeInstanceTypesInput{
		MaxResults: aws.Int32(100),
		Filters: []ec2types.Filter{
			{Name: aws.String("supported-virtualization-type"), Values: []string{"hvm"}},
			{Name: aws.String("processor-info.supported-architecture"), Values: []string{"x86_64", "arm64"}},
		},
	}
	var records [][]byte
	err := refresh.Pages(ctx, func(token *string) (*string, error) {
		page := *in
		page.NextToken = token
		out, err := d.options.API.DescribeInstanceTypes(ctx, &page)
		if err != nil {
			return nil, err
		}
		for i := range out.InstanceTypes {
			record, err := json.Marshal(&out.InstanceTypes[i])
			if err != nil {
				return nil, fmt.Errorf("instance type %q: %w", out.InstanceTypes[i].InstanceType, err)
			}
			records = append(records, record)
		}
		return out.NextToken, nil
	})
	return records, err
}

// offerings reads which zones offer each type.
func (d *Discoverer) offerings(ctx context.Context) (map[string][]string, error) {
	zones := map[string][]string{}
	err := refresh.Pages(ctx, func(token *string) (*string, error) {
		out, err := d.options.API.DescribeInstanceTypeOfferings(ctx, &ec2.DescribeInstanceTypeOfferingsInput{
			LocationType: ec2types.LocationTypeAvailabilityZone, MaxResults: aws.Int32(1000), NextToken: token,
		})
		if err != nil {
			return nil, err
		}
		for _, o := range out.InstanceTypeOfferings {
			if zone := aws.ToString(o.Location); zone != "" && o.InstanceType != "" {
				zones[string(o.InstanceType)] = append(zones[string(o.InstanceType)], zone)
			}
		}
		return out.NextToken, nil
	})
	return zones, err
}

// zoneIDs reads the ids of the account's zones. The permission for this is optional: without it, only the ids that subnets contain are
// known.
func (d *Discoverer) zoneIDs(ctx context.Context) (map[string]string, error) {
	out, err := d.options.API.DescribeAvailabilityZones(ctx, &ec2.DescribeAvailabilityZonesInput{})
	if err != nil {
		return nil, sdk.Wrap("reading the ids of zones", err)
	}
	ids := map[string]string{}
	for _, zone := range out.AvailabilityZones {
		ids[aws.ToString(zone.ZoneName)] = aws.ToString(zone.ZoneId)
	}
	return ids, nil
}

package commitments

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	"github.com/drawknife/drawknife/aws/catalog"
	"github.com/drawknife/drawknife/cloudprovider/commitments"
)

// reservedPrefix is the prefix of the IDs of Reserved Instances in commitments. Reserved Instances that cover the same instances are one
// commitment.
const reservedPrefix = "ri/"

// reserved returns the active Reserved Instances of the region: first zonal, then regional ones, in the order in which AWS applies them.
func (t *Tracker) reserved(ctx context.Context, account *commitments.Account) ([]commitments.Commitment, error) {
	out, err := t.options.EC2.DescribeReservedInstances(ctx, &ec2.DescribeReservedInstancesInput{
		Filters: []ec2types.Filter{{Name: aws.String("state"), Values: []string{string(ec2types.ReservedInstanceStateActive)}}},
	})
	if err != nil {
		return nil, err
	}
	var known *catalog.Catalog
	if t.options.Known != nil {
		known = t.options.Known()
	}
	merged := map[string]*commitments.Commitment{}
	for _, r := range out.ReservedInstances {
		c, why := reservedOf(r, known)
		if why != "" {
			account.LeftOut = append(account.LeftOut, fmt.Sprintf("Reserved Instances %s: %s", aws.ToString(r.ReservedInstancesId), why))
			continue
		}
		same := merged[c.ID]
		if same == nil {
			c.Source = fmt.Sprintf("Reserved Instances, read %s", account.ReadAt.UTC().Format(time.DateOnly))
			merged[c.ID] = &c
			continue
		}
		same.Amount += c.Amount
		maps.Copy(same.ByType, c.ByType)
		if !c.End.IsZero() && (same.End.IsZero() || c.End.Before(same.End)) {
			same.End = c.End // all commitments are read again long before this time
		}
	}
	list := make([]commitments.Commitment, 0, len(merged))
	for _, id := range slices.Sorted(maps.Keys(merged)) {
		list = append(list, *merged[id])
	}
	slices.SortStableFunc(list, func(a, b commitments.Commitment) int { return cmp.Compare(regional(a), regional(b)) })
	return list, nil
}

func regional(c commitments.Commitment) int {
	if c.Zone == "" {
		return 1
	}
	return 0
}

// reservedOf converts a record. why is the reason if the record can't be used, and otherwise empty.
func reservedOf(r ec2types.ReservedInstances, known *catalog.Catalog) (c commitments.Commitment, why string) {
	name, count := string(r.InstanceType), float64(aws.ToInt32(r.InstanceCount))
	os := osOf(string(r.ProductDescription))
	switch {
	case name == "" || count <= 0:
		return c, "they have no instance type or no count"
	case os == "":
		return c, fmt.Sprintf("they are for %s", r.ProductDescription)
	case r.InstanceTenancy != "" && r.InstanceTenancy != ec2types.TenancyDefault:
		return c, fmt.Sprintf("they are for %s tenancy", r.InstanceTenancy)
	case aws.ToFloat32(r.UsagePrice) > 0:
		return c, "each hour of use is charged"
	}
	c = commitments.Commitment{Kind: commitments.ReservedInstances, OS: os, Tenancy: awsv1.TenancyDefault, Amount: count, Unit: "instances", ByType: map[string]float64{name: 1}, End: aws.ToTime(r.End)}
	zone := aws.ToString(r.AvailabilityZone)
	switch {
	case r.Scope == ec2types.ScopeAvailabilityZone || zone != "":
		if zone == "" {
			return c, "they are zonal but name no zone"
		}
		c.ID, c.Zone = reservedID(name, zone, os), zone
	case os == "linux" && flexible(familyOf(name)) && units(name, vCPUs(known, name)) > 0:
		per := units(name, vCPUs(known, name))
		c.ID, c.Unit, c.Amount, c.ByType = reservedID(familyOf(name), "", os), "normalized units", count*per, family(known, name)
		c.ByType[name] = per
	default:
		c.ID = reservedID(name, "", os)
	}
	return c, ""
}

func reservedID(what, zone, os string) string {
	return reservedPrefix + strings.Join(slices.DeleteFunc([]string{what, zone, os}, func(s string) bool { return s == "" }), "/")
}

// osOf returns the operating system in a description of EC2 such as "Linux/UNIX (Amazon VPC)", as a value of the label kubernetes.io/os.
// It returns "" for systems such as Red Hat, whose licence is in the price, because Linux instances don't use their Reserved Instances.
func osOf(description string) string {
	switch strings.TrimSuffix(description, " (Amazon VPC)") {
	case "Linux/UNIX":
		return "linux"
	case "Windows":
		return "windows"
	}
	return ""
}

func vCPUs(known *catalog.Catalog, name string) int64 {
	if known == nil {
		return 0
	}
	if t, ok := known.Lookup(name); ok {
		return t.VCPUs
	}
	return 0
}

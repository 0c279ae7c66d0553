package discovery_test

import (
	"errors"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	"github.com/drawknife/drawknife/aws/internal/discovery"
	"github.com/drawknife/drawknife/aws/internal/mototest"
	"github.com/drawknife/drawknife/aws/internal/reservations"
	"github.com/drawknife/drawknife/aws/prices"
	"github.com/drawknife/drawknife/aws/sdk"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/internal/moto"
)

// These tests read a region through the real AWS SDK from moto, an EC2 that nobody here wrote. It differs from EC2 in
// that spot prices are all alike, and that no permissions are checked: refusals come from the proxy before it.

var server moto.Server

func TestMain(m *testing.M) { os.Exit(server.Run(m)) }

// types is moto's description of all types. Making it takes moto many seconds, so that it is asked once.
var types struct {
	sync.Once
	answer moto.Answer
}

// account is moto's us-east-1.
func account(t *testing.T) (*moto.Cloud, sdk.EC2API) {
	t.Helper()
	cloud := server.Start(t)
	cloud.Handle("DescribeInstanceTypes", func(call moto.Call, next func(moto.Call) moto.Answer) moto.Answer {
		types.Do(func() { types.answer = next(call) })
		return types.answer
	})
	return cloud, clients(t, cloud).EC2(sdk.Background)
}

// clients try a call twice: tests count calls.
func clients(t *testing.T, cloud *moto.Cloud) *sdk.Clients {
	t.Helper()
	settings, twice := mototest.Settings(cloud), 2
	settings.MaxAttempts = &twice
	clients, err := sdk.Load(t.Context(), settings)
	if err != nil {
		t.Fatal(err)
	}
	return clients
}

// AWI-011, AWI-012, AWI-013, OPP-07: what moto says of its types, page by page, becomes the facts of the embedded catalogue;
// what fails costs nothing that is known.
func TestMotoDiscovery(t *testing.T) {
	cloud, api := account(t)
	cloud.Paged("DescribeInstanceTypes", "instanceTypeSet", 300)
	d, c := discoverer(t, discovery.Options{API: api})
	cloud.Fail("DescribeInstanceTypes", 2, 503, "RequestLimitExceeded", "slow down")
	if _, err := d.Refresh(t.Context()); !errors.Is(err, cloudprovider.Throttled) || d.Ready() {
		t.Fatalf("throttled: %v", err)
	}
	c.now = c.now.Add(time.Minute)
	if _, err := d.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	s := d.Status()
	if s.Types < 500 || s.Pairs < 2000 || s.Zones < 5 || len(s.Skipped) > 0 || s.ZoneIDs != nil {
		t.Errorf("status is %+v", s)
	}
	if pages := cloud.Calls("DescribeInstanceTypes"); pages < s.Types/300 {
		t.Errorf("%d types came in %d calls", s.Types, pages)
	}
	m5, ok := d.Known().Lookup("m5.large")
	if !ok || m5.VCPUs != 2 || m5.MemoryMiB != 8192 || m5.Network.ENIsDefaultCard != 3 || m5.Network.Mbps != 750 || m5.BranchENIs == nil {
		t.Errorf("m5.large is %+v", m5)
	}
	if zone := d.Known().Zones[0]; zone.Name != "us-east-1a" || zone.ID == "" {
		t.Errorf("the first zone is %+v", zone)
	}
	known := d.Known()
	c.now = c.now.Add(12 * time.Hour)
	cloud.CutOff("DescribeInstanceTypes", 1)
	if _, err := d.Refresh(t.Context()); err == nil || d.Known() != known {
		t.Errorf("an answer that was cut off: %v", err)
	}
	c.now = c.now.Add(time.Hour)
	if _, err := d.Refresh(t.Context()); err != nil || d.Known() != known {
		t.Errorf("the same again: %v", err)
	}
	c.now = c.now.Add(12 * time.Hour)
	cloud.Fail("DescribeInstanceTypeOfferings", 2, 403, "UnauthorizedOperation", "You are not authorized to perform this operation.")
	var denied *cloudprovider.UnauthorizedError
	if _, err := d.Refresh(t.Context()); !errors.As(err, &denied) || denied.Action != "ec2:DescribeInstanceTypeOfferings" {
		t.Errorf("refused: %v", err)
	}
}

// AWI-114: spot prices of moto, by type and zone.
func TestMotoSpotPrices(t *testing.T) {
	_, api := account(t)
	list, err := prices.Spot{API: api}.Prices(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if p, ok := list.Spot[prices.Pair{InstanceType: "m5.large", Zone: "us-east-1a"}]; !ok || p.PerHour <= 0 || len(list.Spot) < 1000 {
		t.Errorf("%d prices, m5.large is %+v", len(list.Spot), p)
	}
}

// The facts that moto gives are enough to launch with: subnets of its default VPC are in zones that were discovered.
func TestMotoSubnets(t *testing.T) {
	_, api := account(t)
	d, _ := discoverer(t, discovery.Options{API: api})
	if _, err := d.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	out, err := api.DescribeSubnets(t.Context(), &ec2.DescribeSubnetsInput{})
	if err != nil || len(out.Subnets) == 0 {
		t.Fatal(err)
	}
	zones := map[string]string{}
	for _, z := range d.Known().Zones {
		zones[z.Name] = z.ID
	}
	class := &awsv1.EC2NodeClass{ObjectMeta: metav1.ObjectMeta{Name: "default"}}
	for _, s := range out.Subnets {
		if id := zones[aws.ToString(s.AvailabilityZone)]; id != aws.ToString(s.AvailabilityZoneId) {
			t.Errorf("zone %s is %q to subnets, %q to discovery", *s.AvailabilityZone, *s.AvailabilityZoneId, id)
		}
		class.Status.Subnets = append(class.Status.Subnets, awsv1.Subnet{ID: aws.ToString(s.SubnetId), Zone: aws.ToString(s.AvailabilityZone)})
	}
}

// AWI-109, AWI-110, AWI-122, AWI-124: moto has neither a price list nor capacity reservations; the proxy answers in AWS's form,
// and what the real SDK makes of it is understood.
func TestMotoLacksAnswers(t *testing.T) {
	cloud, api := account(t)
	clients := clients(t, cloud)
	cloud.Handle("GetProducts", func(moto.Call, func(moto.Call) moto.Answer) moto.Answer {
		return moto.JSON(`{"FormatVersion": "aws_v1", "PriceList": ["{\"product\": {\"attributes\": {\"instanceType\": \"m5.large\"}}, \"terms\": {\"OnDemand\": {\"a\": {\"priceDimensions\": {\"b\": {\"pricePerUnit\": {\"USD\": \"0.0960000000\"}}}}}}}"]}`)
	})
	list, err := prices.OnDemand{API: clients.Pricing(sdk.Background), Region: "us-east-1"}.Prices(t.Context())
	if err != nil || list.OnDemand["m5.large"].PerHour != 0.096 {
		t.Errorf("%+v, %v", list, err)
	}
	cloud.Handle("DescribeCapacityReservations", func(moto.Call, func(moto.Call) moto.Answer) moto.Answer {
		return moto.XML(`<DescribeCapacityReservationsResponse xmlns="http://ec2.amazonaws.com/doc/2016-11-15/"><capacityReservationSet><item>
			<capacityReservationId>cr-1</capacityReservationId><ownerId>123456789012</ownerId><instanceType>m5.large</instanceType>
			<availabilityZone>us-east-1a</availabilityZone><totalInstanceCount>5</totalInstanceCount><availableInstanceCount>3</availableInstanceCount>
			<state>active</state><instanceMatchCriteria>targeted</instanceMatchCriteria></item></capacityReservationSet></DescribeCapacityReservationsResponse>`)
	})
	finder := reservations.NewFinder(api, nil, start)
	found, rejected, err := finder.Find(t.Context(), []awsv1.CapacityReservationSelectorTerm{{Tags: map[string]string{"team": "ml"}}})
	if err != nil || rejected != nil || len(found) != 1 || found[0].ID != "cr-1" || finder.Tracker().Snapshot().Room("cr-1") != 3 {
		t.Errorf("%+v, %v, %v", found, rejected, err)
	}
}

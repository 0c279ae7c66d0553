package capacityblocks_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/drawknife/drawknife/aws/capacityblocks"
)

// seller answers as EC2 does, two offerings a page.
type seller struct {
	offerings []ec2types.CapacityBlockOffering
	asked     []*ec2.DescribeCapacityBlockOfferingsInput
	bought    []*ec2.PurchaseCapacityBlockInput
}

func (s *seller) DescribeCapacityBlockOfferings(_ context.Context, in *ec2.DescribeCapacityBlockOfferingsInput, _ ...func(*ec2.Options)) (*ec2.DescribeCapacityBlockOfferingsOutput, error) {
	copied := *in
	s.asked = append(s.asked, &copied)
	from := 0
	if in.NextToken != nil {
		from = 2
	}
	out := &ec2.DescribeCapacityBlockOfferingsOutput{CapacityBlockOfferings: s.offerings[from:min(from+2, len(s.offerings))]}
	if from+2 < len(s.offerings) {
		out.NextToken = awssdk.String("more")
	}
	return out, nil
}

func (s *seller) PurchaseCapacityBlock(_ context.Context, in *ec2.PurchaseCapacityBlockInput, _ ...func(*ec2.Options)) (*ec2.PurchaseCapacityBlockOutput, error) {
	s.bought = append(s.bought, in)
	return &ec2.PurchaseCapacityBlockOutput{CapacityReservation: &ec2types.CapacityReservation{CapacityReservationId: awssdk.String("cr-1")}}, nil
}

func block(id, zone, fee string, start int) ec2types.CapacityBlockOffering {
	at := time.Date(2026, 12, start, 11, 30, 0, 0, time.UTC)
	return ec2types.CapacityBlockOffering{
		CapacityBlockOfferingId: &id, InstanceType: awssdk.String("p5.48xlarge"), InstanceCount: awssdk.Int32(2), AvailabilityZone: &zone,
		StartDate: &at, EndDate: awssdk.Time(at.Add(24 * time.Hour)), CapacityBlockDurationHours: awssdk.Int32(24), UpfrontFee: &fee, CurrencyCode: awssdk.String("USD"),
	}
}

func market() *seller {
	return &seller{offerings: []ec2types.CapacityBlockOffering{
		block("cb-late", "us-east-1a", "1510.08", 9), block("cb-expensive", "us-east-1b", "1800.00", 1), block("cb-early", "us-east-1c", "1510.08", 2),
	}}
}

func query() capacityblocks.Query {
	return capacityblocks.Query{InstanceType: "p5.48xlarge", Instances: 2, Hours: 24}
}

func Example() {
	offerings, err := capacityblocks.Find(context.Background(), market(), query())
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, o := range offerings {
		fmt.Println(o)
	}
	// Output:
	// cb-early: 2 x p5.48xlarge in us-east-1c for 24 hours from 2026-12-02T11:30:00Z, 1510.08 USD, 31.4600 for each instance and hour
	// cb-late: 2 x p5.48xlarge in us-east-1a for 24 hours from 2026-12-09T11:30:00Z, 1510.08 USD, 31.4600 for each instance and hour
	// cb-expensive: 2 x p5.48xlarge in us-east-1b for 24 hours from 2026-12-01T11:30:00Z, 1800.00 USD, 37.5000 for each instance and hour
}

// Finding reads all pages, hands on the bounds, buys nothing, and refuses what can't be asked and what has no price.
func TestFind(t *testing.T) {
	s, q := market(), query()
	q.From, q.Until = time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC), time.Date(2026, 12, 20, 0, 0, 0, 0, time.UTC)
	offerings, err := capacityblocks.Find(t.Context(), s, q)
	if err != nil || len(offerings) != 3 || len(s.asked) != 2 || len(s.bought) != 0 {
		t.Fatalf("%v, %v, %d calls, %d bought", offerings, err, len(s.asked), len(s.bought))
	}
	if in := s.asked[0]; *in.InstanceCount != 2 || *in.CapacityDurationHours != 24 || !in.StartDateRange.Equal(q.From) || !in.EndDateRange.Equal(q.Until) {
		t.Errorf("asked %+v", in)
	}
	for field, change := range map[string]func(*capacityblocks.Query){
		"InstanceType": func(q *capacityblocks.Query) { q.InstanceType = "" },
		"Instances":    func(q *capacityblocks.Query) { q.Instances = 0 },
		"Hours":        func(q *capacityblocks.Query) { q.Hours = 0 },
		"Until":        func(q *capacityblocks.Query) { q.From, q.Until = time.Unix(2, 0), time.Unix(1, 0) },
	} {
		q := query()
		change(&q)
		var fault *capacityblocks.QueryError
		if _, err := capacityblocks.Find(t.Context(), s, q); !errors.As(err, &fault) || fault.Field != field {
			t.Errorf("%s: %v", field, err)
		}
	}
	s.offerings[2].UpfrontFee = awssdk.String("free")
	if _, err := capacityblocks.Find(t.Context(), s, query()); err == nil {
		t.Error("an offering without a price is listed")
	}
}

// Nothing is bought without an approval of exactly this offering at this price.
func TestPurchase(t *testing.T) {
	s := market()
	offerings, err := capacityblocks.Find(t.Context(), s, query())
	if err != nil {
		t.Fatal(err)
	}
	o := offerings[0]
	good := capacityblocks.Approval{By: "jo@example.com", OfferingID: o.ID, UpfrontFee: o.UpfrontFee, Currency: o.Currency}
	for field, change := range map[string]func(*capacityblocks.Approval){
		"By":         func(a *capacityblocks.Approval) { a.By = "" },
		"OfferingID": func(a *capacityblocks.Approval) { a.OfferingID = "cb-late" },
		"UpfrontFee": func(a *capacityblocks.Approval) { a.UpfrontFee = "15.10" },
		"Currency":   func(a *capacityblocks.Approval) { a.Currency = "" },
	} {
		approval := good
		change(&approval)
		var fault *capacityblocks.ApprovalError
		if _, err := capacityblocks.Purchase(t.Context(), s, o, approval, nil); !errors.As(err, &fault) || fault.Field != field {
			t.Errorf("%s: %v", field, err)
		}
	}
	if len(s.bought) != 0 {
		t.Fatalf("bought %d without approval", len(s.bought))
	}
	id, err := capacityblocks.Purchase(t.Context(), s, o, good, map[string]string{"team": "ml"})
	if err != nil || id != "cr-1" || len(s.bought) != 1 || *s.bought[0].CapacityBlockOfferingId != o.ID || *s.bought[0].TagSpecifications[0].Tags[0].Key != "team" {
		t.Errorf("%q, %v, %+v", id, err, s.bought)
	}
}

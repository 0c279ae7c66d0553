package commitments_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/drawknife/drawknife/aws/internal/commitments"
	"github.com/drawknife/drawknife/aws/internal/mototest"
	"github.com/drawknife/drawknife/aws/sdk"
	"github.com/drawknife/drawknife/internal/moto"
)

// Answers as AWS documents them, of services that moto does not have.
const (
	reservedAnswer = `<DescribeReservedInstancesResponse xmlns="http://ec2.amazonaws.com/doc/2016-11-15/"><reservedInstancesSet><item>
 <reservedInstancesId>e5a2ff3b-7d14-494f-90af-0b5d0e7a1b2c</reservedInstancesId><instanceType>m5.large</instanceType><scope>Region</scope>
 <start>2026-01-01T00:00:00.000Z</start><end>2027-01-01T00:00:00.000Z</end><duration>31536000</duration><usagePrice>0.0</usagePrice><fixedPrice>0.0</fixedPrice>
 <instanceCount>3</instanceCount><productDescription>Linux/UNIX</productDescription><state>active</state><instanceTenancy>default</instanceTenancy>
 <currencyCode>USD</currencyCode><offeringClass>standard</offeringClass><offeringType>No Upfront</offeringType>
</item></reservedInstancesSet></DescribeReservedInstancesResponse>`
	plansAnswer = `{"savingsPlans":[{"savingsPlanId":"4e3a1b2c","savingsPlanArn":"arn:aws:savingsplans::123456789012:savingsplan/4e3a1b2c","savingsPlanType":"Compute",
 "state":"active","commitment":"2.00000000","currency":"USD","start":"2026-01-01T00:00:00.000Z","end":"2027-01-01T00:00:00.000Z","productTypes":["Fargate","EC2","Lambda"]}]}`
	ratesAnswer = `{"savingsPlanId":"4e3a1b2c","searchResults":[{"rate":"0.0700000","currency":"USD","unit":"Hrs","productType":"EC2","serviceCode":"AmazonEC2",
 "usageType":"BoxUsage:m5.large","operation":"RunInstances","properties":[{"name":"instanceType","value":"m5.large"},{"name":"tenancy","value":"shared"}]}]}`
	usedPlansAnswer = `{"SavingsPlansUtilizationDetails":[{"SavingsPlanArn":"arn:aws:savingsplans::123456789012:savingsplan/4e3a1b2c",
 "Utilization":{"TotalCommitment":"48","UsedCommitment":"12","UnusedCommitment":"36","UtilizationPercentage":"25"}}],"TimePeriod":{"Start":"2026-11-24","End":"2026-11-25"}}`
	usedReservedAnswer = `{"UtilizationsByTime":[{"TimePeriod":{"Start":"2026-11-24","End":"2026-11-25"},"Groups":[{"Key":"SUBSCRIPTION_ID","Value":"1",
 "Attributes":{"instanceType":"m5.large","scope":"Region","platform":"Linux/UNIX"},"Utilization":{"TotalActualHours":"48","TotalActualUnits":"192"}}]}]}`
	chargesAnswer = `{"ResultsByTime":[{"Groups":[{"Keys":["Usage"],"Metrics":{"UnblendedCost":{"Amount":"100","Unit":"USD"}}},
 {"Keys":["Enterprise Discount Program Discount"],"Metrics":{"UnblendedCost":{"Amount":"-6","Unit":"USD"}}}]}]}`
)

// The whole of it over HTTP: instances of moto, and recorded answers of the services that moto lacks.
func TestOnMoto(t *testing.T) {
	cloud := server.Start(t)
	recorded := func(answer moto.Answer) moto.Handler {
		return func(moto.Call, func(moto.Call) moto.Answer) moto.Answer { return answer }
	}
	cloud.Handle("DescribeReservedInstances", recorded(moto.XML(reservedAnswer)))
	cloud.Handle("GetSavingsPlansUtilizationDetails", recorded(moto.JSON(usedPlansAnswer)))
	cloud.Handle("GetReservationUtilization", recorded(moto.JSON(usedReservedAnswer)))
	cloud.Handle("GetCostAndUsage", recorded(moto.JSON(chargesAnswer)))
	cloud.Handle("", func(call moto.Call, _ func(moto.Call) moto.Answer) moto.Answer { // Savings Plans names its actions in the path alone
		if strings.Contains(string(call.Body), "savingsPlanId") {
			return moto.JSON(ratesAnswer)
		}
		return moto.JSON(plansAnswer)
	})
	raw := ec2.NewFromConfig(mototest.Config(cloud))
	images, err := raw.DescribeImages(t.Context(), &ec2.DescribeImagesInput{Owners: []string{"amazon"}})
	if err != nil || len(images.Images) == 0 {
		t.Fatal(len(images.Images), err)
	}
	if _, err := raw.RunInstances(t.Context(), &ec2.RunInstancesInput{
		ImageId: images.Images[0].ImageId, InstanceType: ec2types.InstanceTypeM5Large, MinCount: aws.Int32(2), MaxCount: aws.Int32(2),
	}); err != nil {
		t.Fatal(err)
	}
	clients := mototest.Clients(t, cloud)
	tracker := commitments.New(commitments.Options{
		Plans: clients.SavingsPlans(sdk.Background), EC2: clients.ReservedInstances(sdk.Background), Costs: clients.CostExplorer(sdk.Background),
		Region: mototest.Region, Cluster: "demo", Now: func() time.Time { return time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC) },
	})
	got := read(t, tracker)
	if len(got.Commitments) != 2 || len(got.Discounts) != 1 {
		t.Fatalf("%+v", got)
	}
	reserved, plan := got.Commitments[0], got.Commitments[1]
	if reserved.Amount != 12 || reserved.Foreign != 8 || reserved.UsedInTotal == nil || *reserved.UsedInTotal != 8 {
		t.Errorf("Reserved Instances %+v: want 12 units, 8 of which the two instances use", reserved)
	}
	if plan.Amount != 2 || plan.Foreign != 0 || plan.UsedInTotal == nil || *plan.UsedInTotal != 0.5 || plan.ByType["m5.large"] != 0.07 {
		t.Errorf("Savings Plan %+v: want $2, of which $0.50 is used", plan)
	}
	if got.Discounts[0].Percent != 6 {
		t.Errorf("discount %+v, want 6 %%", got.Discounts[0])
	}
}

var server moto.Server

func TestMain(m *testing.M) { os.Exit(server.Run(m)) }

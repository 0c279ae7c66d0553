package capacityblocks_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"go.uber.org/mock/gomock"

	"github.com/drawknife/drawknife/aws/sdk"
	"github.com/drawknife/drawknife/aws/sdk/mock"
	"github.com/drawknife/drawknife/commands/capacityblocks"
)

func block(id, zone, fee string, day int) ec2types.CapacityBlockOffering {
	at := time.Date(2026, 12, day, 11, 30, 0, 0, time.UTC)
	return ec2types.CapacityBlockOffering{
		CapacityBlockOfferingId: &id, InstanceType: awssdk.String("p5.48xlarge"), InstanceCount: awssdk.Int32(2), AvailabilityZone: &zone,
		StartDate: &at, EndDate: awssdk.Time(at.Add(24 * time.Hour)), CapacityBlockDurationHours: awssdk.Int32(24), UpfrontFee: &fee, CurrencyCode: awssdk.String("USD"),
	}
}

// offers makes the client of an EC2 that offers these blocks, and says for which region it was made.
func offers(api sdk.EC2CapacityBlockAPI, region *string) capacityblocks.Options {
	return capacityblocks.Options{Connect: func(_ context.Context, r string) (sdk.EC2CapacityBlockAPI, error) {
		*region = r
		return api, nil
	}}
}

// run runs the command against EC2 with the blocks; purchases says how often it may be asked to buy.
func run(t *testing.T, purchases int, found []ec2types.CapacityBlockOffering, args ...string) (code int, out, messages string, bought *ec2.PurchaseCapacityBlockInput) {
	t.Helper()
	api := mock.NewMockEC2CapacityBlockAPI(gomock.NewController(t))
	api.EXPECT().DescribeCapacityBlockOfferings(gomock.Any(), gomock.Any()).AnyTimes().Return(&ec2.DescribeCapacityBlockOfferingsOutput{CapacityBlockOfferings: found}, nil)
	api.EXPECT().PurchaseCapacityBlock(gomock.Any(), gomock.Any(), gomock.Any()).Times(purchases).DoAndReturn(
		func(_ context.Context, in *ec2.PurchaseCapacityBlockInput, _ ...func(*ec2.Options)) (*ec2.PurchaseCapacityBlockOutput, error) {
			bought = in
			return &ec2.PurchaseCapacityBlockOutput{CapacityReservation: &ec2types.CapacityReservation{CapacityReservationId: awssdk.String("cr-1")}}, nil
		})
	var region string
	var stdout, stderr bytes.Buffer
	code = capacityblocks.Run(t.Context(), args, &stdout, &stderr, offers(api, &region))
	if len(args) > 1 && args[0] == "--region" && region != args[1] {
		t.Errorf("asked in region %q, want %q", region, args[1])
	}
	return code, stdout.String(), stderr.String(), bought
}

func two() []ec2types.CapacityBlockOffering {
	return []ec2types.CapacityBlockOffering{block("cb-expensive", "us-east-1b", "1800.00", 1), block("cb-early", "us-east-1c", "1510.08", 2)}
}

const want = `OFFERING      INSTANCES  TYPE         ZONE        START                 HOURS  PRICE        EACH AND HOUR
cb-early      2          p5.48xlarge  us-east-1c  2026-12-02T11:30:00Z  24     1510.08 USD  31.4600
cb-expensive  2          p5.48xlarge  us-east-1b  2026-12-01T11:30:00Z  24     1800.00 USD  37.5000
`

// Listing buys nothing; the cheapest comes first.
func TestList(t *testing.T) {
	code, out, messages, _ := run(t, 0, two(), "--region", "us-east-1", "--instance-type", "p5.48xlarge", "--instances", "2", "--hours", "24")
	if code != 0 || out != want || messages != "" {
		t.Errorf("status %d, %s\n%s", code, messages, out)
	}
	code, out, _, _ = run(t, 0, two(), "--instance-type", "p5.48xlarge", "-o", "json")
	var list struct {
		Kind      string
		Offerings []struct {
			ID              string
			PerInstanceHour float64
		}
	}
	if err := json.Unmarshal([]byte(out), &list); err != nil || code != 0 || list.Kind != "CapacityBlockOfferings" || len(list.Offerings) != 2 || math.Abs(list.Offerings[0].PerInstanceHour-31.46) > 1e-9 {
		t.Errorf("status %d, %v, %s", code, err, out)
	}
	code, out, messages, _ = run(t, 0, nil, "--instance-type", "p5.48xlarge", "-o", "json")
	if code != 1 || !strings.Contains(out, `"offerings": []`) || !strings.Contains(messages, "offers no such block") {
		t.Errorf("status %d, %s, %s", code, messages, out)
	}
}

// A block is bought if its ID, its price and the name of who approved it are given, and once only.
func TestBuy(t *testing.T) {
	flags := []string{"--instance-type", "p5.48xlarge", "--instances", "2", "--buy", "cb-early", "--fee", "1510.08", "--approved-by", "jo@example.com", "--tag", "team=ml"}
	code, out, messages, bought := run(t, 1, two(), flags...)
	if code != 0 || !strings.HasSuffix(out, "approved by jo@example.com\ncr-1\n") || messages != "" {
		t.Fatalf("status %d, %s\n%s", code, messages, out)
	}
	if *bought.CapacityBlockOfferingId != "cb-early" || len(bought.TagSpecifications) != 1 || *bought.TagSpecifications[0].Tags[0].Key != "team" {
		t.Errorf("bought %+v", bought)
	}
	if code, out, _, _ := run(t, 1, two(), append(flags, "-o", "json")...); code != 0 || !strings.Contains(out, `"capacityReservationID": "cr-1"`) || !strings.Contains(out, `"approvedBy": "jo@example.com"`) {
		t.Errorf("status %d, %s", code, out)
	}
}

// Nothing is bought without an approval of exactly what is offered.
func TestRefusals(t *testing.T) {
	for name, c := range map[string]struct {
		args string
		code int
		want string
	}{
		"another price":       {"--buy cb-early --fee 1510.00 --approved-by jo", 4, `UpfrontFee "1510.00" was approved, but the offering has "1510.08"`},
		"another currency":    {"--buy cb-early --fee 1510.08 --approved-by jo --currency EUR", 4, `Currency "EUR" was approved`},
		"gone":                {"--buy cb-gone --fee 1510.08 --approved-by jo", 4, "--buy cb-gone: EC2 no longer offers this capacity block, and nothing was bought"},
		"no price":            {"--buy cb-early --approved-by jo", 2, "repeat the price that was shown with --fee"},
		"nobody":              {"--buy cb-early --fee 1510.08", 2, "name who approved it with --approved-by"},
		"no ID":               {"--buy= --fee 1510.08 --approved-by jo", 2, "name the ID of an offering"},
		"a price alone":       {"--fee 1510.08", 2, "--fee: use it only with --buy"},
		"a tag alone":         {"--tag a=b", 2, "--tag: use it only with --buy"},
		"arguments":           {"cb-early", 2, `"cb-early": there are no arguments, only flags`},
		"no format":           {"-o yaml", 2, "--output yaml: must be text or json"},
		"no number":           {"--instances 1.5", 2, "must be a whole number"},
		"no time":             {"--from tomorrow", 2, "must be a time such as"},
		"ends before it does": {"--from 2026-12-02T00:00:00Z --until 2026-12-01T00:00:00Z", 2, "must be after From"},
		"no such flag":        {"--instance p5", 2, "instance"},
	} {
		code, out, messages, _ := run(t, 0, two(), append([]string{"--instance-type", "p5.48xlarge"}, strings.Fields(c.args)...)...)
		if code != c.code || !strings.Contains(messages, c.want) || out != "" {
			t.Errorf("%s: status %d, %q, %q", name, code, messages, out)
		}
	}
	if code, _, messages, _ := run(t, 0, two()); code != 2 || !strings.Contains(messages, "--instance-type") {
		t.Errorf("without a type: status %d, %s", code, messages)
	}
	failing := capacityblocks.Options{Connect: func(context.Context, string) (sdk.EC2CapacityBlockAPI, error) {
		return nil, errors.New("no credentials")
	}}
	var stderr bytes.Buffer
	if code := capacityblocks.Run(t.Context(), []string{"--instance-type", "p5.48xlarge"}, &bytes.Buffer{}, &stderr, failing); code != 3 || !strings.Contains(stderr.String(), "no credentials") {
		t.Errorf("status %d, %s", code, &stderr)
	}
}

// The help names all flags and statuses, and the command is one that a framework can run.
func TestHelp(t *testing.T) {
	code, out, _, _ := run(t, 0, nil, "--help")
	c := capacityblocks.New(capacityblocks.Options{})
	for _, part := range []string{c.Help, "-approved-by NAME", "-buy ID", "130  the command was interrupted"} {
		if !strings.Contains(out, part) {
			t.Errorf("the help lacks %q", part)
		}
	}
	if r := c.Begin(); code != 0 || r.Flags.Lookup("buy") == nil || r.Do == nil {
		t.Errorf("status %d, run %+v", code, r)
	}
	if code := capacityblocks.Run(t.Context(), nil, nil, nil, capacityblocks.Options{}); code != 2 {
		t.Errorf("status %d without anything", code)
	}
}

// A program lists what EC2 offers.
func Example() {
	options := capacityblocks.Options{Connect: func(context.Context, string) (sdk.EC2CapacityBlockAPI, error) { return nobody{}, nil }}
	code := capacityblocks.Run(context.Background(), []string{"--instance-type", "p5.48xlarge"}, os.Stdout, os.Stdout, options)
	fmt.Println("status", code)
	// Output:
	// capacityblocks: EC2 offers no such block: try another --hours, fewer --instances, or a later --until
	// status 1
}

// nobody sells nothing.
type nobody struct{ sdk.EC2CapacityBlockAPI }

func (nobody) DescribeCapacityBlockOfferings(context.Context, *ec2.DescribeCapacityBlockOfferingsInput, ...func(*ec2.Options)) (*ec2.DescribeCapacityBlockOfferingsOutput, error) {
	return &ec2.DescribeCapacityBlockOfferingsOutput{}, nil
}

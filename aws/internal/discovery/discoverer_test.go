package discovery_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/smithy-go"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/drawknife/drawknife/aws/catalog"
	"github.com/drawknife/drawknife/aws/internal/discovery"
	"github.com/drawknife/drawknife/aws/sdk"
	"github.com/drawknife/drawknife/cloudprovider"
)

func start() time.Time { return time.Date(2026, 8, 1, 0, 0, 0, 0, time.UTC) }

// ec2Stub answers the three questions of discovery, two entries a page, and can fail.
type ec2Stub struct {
	sdk.EC2API
	mu        sync.Mutex
	types     []ec2types.InstanceTypeInfo
	offerings []ec2types.InstanceTypeOffering
	fail      map[string]error // by call, "types 1" for its second page
	calls     map[string]int
	hold      chan struct{}
	entered   chan struct{}
}

// page gives the bounds of the page that a token names, and the next token.
func page(n int, token *string) (from, to int, next *string) {
	if token != nil {
		fmt.Sscan(*token, &from)
	}
	if to = min(n, from+2); to < n {
		next = aws.String(fmt.Sprint(to))
	}
	return from, to, next
}

func (s *ec2Stub) count(call string, from int) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.calls == nil {
		s.calls = map[string]int{}
	}
	s.calls[call]++
	return s.fail[fmt.Sprint(call, " ", from/2)]
}

func (s *ec2Stub) DescribeInstanceTypes(ctx context.Context, in *ec2.DescribeInstanceTypesInput, _ ...func(*ec2.Options)) (*ec2.DescribeInstanceTypesOutput, error) {
	if s.hold != nil {
		close(s.entered)
		<-s.hold
	}
	want := []ec2types.Filter{
		{Name: aws.String("supported-virtualization-type"), Values: []string{"hvm"}},
		{Name: aws.String("processor-info.supported-architecture"), Values: []string{"x86_64", "arm64"}},
	}
	if diff := cmp.Diff(want, in.Filters, cmpopts.IgnoreUnexported(ec2types.Filter{})); diff != "" || *in.MaxResults != 100 {
		return nil, fmt.Errorf("AWI-011: asked for %+v", in)
	}
	from, to, next := page(len(s.types), in.NextToken)
	if err := s.count("types", from); err != nil {
		return nil, err
	}
	return &ec2.DescribeInstanceTypesOutput{InstanceTypes: s.types[from:to], NextToken: next}, ctx.Err()
}

func (s *ec2Stub) DescribeInstanceTypeOfferings(_ context.Context, in *ec2.DescribeInstanceTypeOfferingsInput, _ ...func(*ec2.Options)) (*ec2.DescribeInstanceTypeOfferingsOutput, error) {
	if in.LocationType != "availability-zone" || *in.MaxResults != 1000 || len(in.Filters) != 0 {
		return nil, fmt.Errorf("AWI-013: asked for %+v", in)
	}
	from, to, next := page(len(s.offerings), in.NextToken)
	if err := s.count("offerings", from); err != nil {
		return nil, err
	}
	return &ec2.DescribeInstanceTypeOfferingsOutput{InstanceTypeOfferings: s.offerings[from:to], NextToken: next}, nil
}

func (s *ec2Stub) DescribeAvailabilityZones(context.Context, *ec2.DescribeAvailabilityZonesInput, ...func(*ec2.Options)) (*ec2.DescribeAvailabilityZonesOutput, error) {
	if err := s.count("zones", 0); err != nil {
		return nil, err
	}
	return &ec2.DescribeAvailabilityZonesOutput{AvailabilityZones: []ec2types.AvailabilityZone{{ZoneName: aws.String("us-east-1a"), ZoneId: aws.String("use1-az2")}}}, nil
}

func offering(name, zone string) ec2types.InstanceTypeOffering {
	return ec2types.InstanceTypeOffering{InstanceType: ec2types.InstanceType(name), Location: aws.String(zone)}
}

// region is an EC2 with fifteen types of many kinds.
func region(t testing.TB) *ec2Stub {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "catalog", "testdata", "describe-instance-types.json"))
	if err != nil {
		t.Fatal(err)
	}
	var answer struct{ InstanceTypes []ec2types.InstanceTypeInfo }
	if err := json.Unmarshal(text, &answer); err != nil {
		t.Fatal(err)
	}
	return &ec2Stub{types: answer.InstanceTypes, offerings: []ec2types.InstanceTypeOffering{
		offering("t3.large", "us-east-1b"), offering("t3.large", "us-east-1a"), offering("a1.medium", "us-east-1a"), {Location: aws.String("us-east-1z")},
	}}
}

// builtIn is decoded once: catalogues are not changed.
var builtIn = sync.OnceValues(catalog.EmbeddedAsSeen)

type clock struct{ now time.Time }

func (c *clock) Now() time.Time { return c.now }

func discoverer(t testing.TB, o discovery.Options) (*discovery.Discoverer, *clock) {
	t.Helper()
	c := &clock{now: start()}
	o.Region, o.Now = "us-east-1", c.Now
	var err error
	if o.BuiltIn, err = builtIn(); err != nil {
		t.Fatal(err)
	}
	d, err := discovery.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return d, c
}

// AWI-006, AWI-011, AWI-012, AWI-013, AWI-014: all pages of both answers, at once, and again some twelve hours later;
// the facts are those that the embedded catalogue has.
func TestRefresh(t *testing.T) {
	stub := region(t)
	d, _ := discoverer(t, discovery.Options{API: stub})
	if _, err := d.Catalog(); d.Ready() || err == nil {
		t.Fatal("ready before anything was read")
	}
	next, err := d.Refresh(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if wait := next.Sub(start()); wait < 10*time.Hour || wait > 12*time.Hour {
		t.Errorf("the next refresh is after %s", wait)
	}
	if stub.calls["types"] != 8 || stub.calls["offerings"] != 2 {
		t.Errorf("calls are %v", stub.calls)
	}
	c, err := d.Catalog()
	if err != nil || !d.Ready() || d.Known() != c || len(c.Types) != 15 {
		t.Fatalf("%d types, %v", len(c.Types), err)
	}
	t3, _ := c.Lookup("t3.large")
	if want := []catalog.Zone{{Name: "us-east-1a", ID: "use1-az2"}, {Name: "us-east-1b"}}; !cmp.Equal(c.Zones, want) || !cmp.Equal(t3.Zones, []int{0, 1}) {
		t.Errorf("zones are %v, those of t3.large %v", c.Zones, t3.Zones)
	}
	embedded, err := builtIn()
	if err != nil {
		t.Fatal(err)
	}
	market := cmpopts.IgnoreFields(catalog.Type{}, "Zones", "OnDemandUSD", "OnDemandFrom", "OnDemandTenancy", "SpotUSD", "SpotFrom", "SpotInterruption")
	for i := range c.Types {
		want, _ := embedded.Lookup(c.Types[i].Name)
		if diff := cmp.Diff(want, &c.Types[i], market, cmpopts.EquateEmpty()); diff != "" {
			t.Error(diff)
		}
	}
	s := d.Status()
	if s.Types != 15 || s.Pairs != 3 || s.Zones != 2 || !s.Read.Equal(start()) || s.Seeded || len(s.Skipped) != 0 || s.LastErr != nil {
		t.Errorf("status is %+v", s)
	}
	if _, err := d.Refresh(t.Context()); err != nil || stub.calls["types"] != 8 {
		t.Errorf("read again before it is due: %v", stub.calls)
	}
}

// AWI-015: the same answer, in another order, leaves the same catalogue; another answer makes another one.
func TestUnchangedAnswerKeepsTheCatalogue(t *testing.T) {
	stub := region(t)
	d, c := discoverer(t, discovery.Options{API: stub})
	refreshed := func() *catalog.Catalog {
		t.Helper()
		if _, err := d.Refresh(t.Context()); err != nil {
			t.Fatal(err)
		}
		c.now = c.now.Add(12 * time.Hour)
		return d.Known()
	}
	first := refreshed()
	stub.types[0], stub.types[3] = stub.types[3], stub.types[0]
	stub.offerings[0], stub.offerings[1] = stub.offerings[1], stub.offerings[0]
	if refreshed() != first {
		t.Error("another catalogue of the same facts")
	}
	stub.offerings = append(stub.offerings, offering("a1.medium", "us-east-1c"))
	if second := refreshed(); second == first || len(second.Zones) != 3 || len(first.Zones) != 2 {
		t.Error("a new zone is not in a new catalogue")
	}
	if s := d.Status(); !s.Changed.Equal(start().Add(24 * time.Hour)) {
		t.Errorf("changed at %s", s.Changed)
	}
}

// AWI-014, AWI-015, OPP-16: whatever goes wrong, what was known stays, the error has its kind, and the next read comes
// soon.
func TestFailedRefresh(t *testing.T) {
	throttled := &smithy.GenericAPIError{Code: "RequestLimitExceeded"}
	denied := &smithy.OperationError{ServiceID: "EC2", OperationName: "DescribeInstanceTypeOfferings", Err: &smithy.GenericAPIError{Code: "UnauthorizedOperation"}}
	for _, test := range []struct {
		name   string
		change func(*ec2Stub)
		is     func(error) bool
	}{
		{"the first page", func(s *ec2Stub) { s.fail = map[string]error{"types 0": throttled} }, func(err error) bool { return errors.Is(err, cloudprovider.Throttled) }},
		{"a later page", func(s *ec2Stub) { s.fail = map[string]error{"types 5": throttled} }, func(err error) bool { return errors.Is(err, cloudprovider.Throttled) }},
		{"zones of types", func(s *ec2Stub) { s.fail = map[string]error{"offerings 1": denied} }, func(err error) bool {
			return errors.Is(err, cloudprovider.Unauthorized) && strings.Contains(err.Error(), "ec2:DescribeInstanceTypeOfferings")
		}},
		{"AWI-015 no types", func(s *ec2Stub) { s.types = nil }, missing("instance types")},
		{"AWI-015 no zones", func(s *ec2Stub) { s.offerings = nil }, missing("zones")},
		{"no usable type", func(s *ec2Stub) { s.types = []ec2types.InstanceTypeInfo{{InstanceType: "x9.large"}} }, missing("instance types")},
	} {
		t.Run(test.name, func(t *testing.T) {
			stub := region(t)
			d, c := discoverer(t, discovery.Options{API: stub})
			if _, err := d.Refresh(t.Context()); err != nil {
				t.Fatal(err)
			}
			known := d.Known()
			test.change(stub)
			c.now = start().Add(12 * time.Hour)
			next, err := d.Refresh(t.Context())
			if !test.is(err) {
				t.Errorf("error is %v", err)
			}
			if d.Known() != known {
				t.Error("what was known is gone")
			}
			if wait := next.Sub(c.now); wait > time.Second {
				t.Errorf("the next refresh is after %s", wait)
			}
			if s := d.Status(); s.Failures != 1 || s.LastErr == nil {
				t.Errorf("status is %+v", s)
			}
			fresh, _ := discoverer(t, discovery.Options{API: stub})
			if _, err := fresh.Refresh(t.Context()); err == nil {
				t.Fatal("no error")
			}
			var not *discovery.NotReadyError
			if _, err := fresh.Catalog(); !errors.As(err, &not) || !test.is(err) {
				t.Errorf("AWI-016: error is %v", err)
			}
		})
	}
}

func missing(what string) func(error) bool {
	return func(err error) bool {
		var empty *discovery.EmptyError
		return errors.As(err, &empty) && empty.Missing == what && strings.Contains(err.Error(), "us-east-1")
	}
}

// Credentials that may not read the zones' ids are good enough, and a strange type costs only itself.
func TestDegradedAnswers(t *testing.T) {
	stub := region(t)
	stub.fail = map[string]error{"zones 0": &smithy.GenericAPIError{Code: "UnauthorizedOperation"}}
	stub.types = append(stub.types, ec2types.InstanceTypeInfo{InstanceType: "x9.large", MemoryInfo: &ec2types.MemoryInfo{SizeInMiB: aws.Int64(-1)}})
	d, _ := discoverer(t, discovery.Options{API: stub})
	if _, err := d.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	s := d.Status()
	if !errors.Is(s.ZoneIDs, cloudprovider.Unauthorized) || len(s.Skipped) != 1 || s.Types != 15 {
		t.Errorf("status is %+v", s)
	}
	if zone := d.Known().Zones[0]; zone.Name != "us-east-1a" || zone.ID != "" {
		t.Errorf("zone is %+v", zone)
	}
}

// OPP-16: a saved catalogue is good until EC2 answers; one of another region is refused.
func TestSeed(t *testing.T) {
	stub := region(t)
	d, _ := discoverer(t, discovery.Options{API: stub})
	if _, err := d.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	var saved bytes.Buffer
	if err := catalog.Write(&saved, d.Known()); err != nil {
		t.Fatal(err)
	}
	seed, err := catalog.Load(&saved)
	if err != nil {
		t.Fatal(err)
	}
	stub.fail = map[string]error{"types 0": &smithy.GenericAPIError{Code: "InternalError", Fault: smithy.FaultServer}}
	again, c := discoverer(t, discovery.Options{API: stub, Seed: seed})
	if _, err := again.Refresh(t.Context()); err == nil || !again.Ready() || again.Known() != seed || !again.Status().Seeded {
		t.Errorf("does not start from the seed: %v", err)
	}
	stub.fail = nil
	c.now = start().Add(time.Minute)
	if _, err := again.Refresh(t.Context()); err != nil || again.Known() != seed || again.Status().Seeded {
		t.Errorf("an answer that says what the seed says: %v, %+v", err, again.Status())
	}
	if _, err := discovery.New(discovery.Options{API: stub, Region: "eu-west-1", Seed: seed}); err == nil || !strings.Contains(err.Error(), "us-east-1") {
		t.Errorf("a seed of another region: %v", err)
	}
	for _, o := range []discovery.Options{{Region: "us-east-1"}, {API: stub}} {
		if _, err := discovery.New(o); err == nil {
			t.Errorf("%+v is taken", o)
		}
	}
}

// AWI-017, OPP-03: while EC2 takes its time, readers read, and a second refresh does not ask again.
func TestReadersDontWait(t *testing.T) {
	stub := region(t)
	seedOf := region(t)
	first, _ := discoverer(t, discovery.Options{API: seedOf})
	if _, err := first.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	stub.types = stub.types[:2]
	stub.hold, stub.entered = make(chan struct{}), make(chan struct{})
	d, _ := discoverer(t, discovery.Options{API: stub, Seed: first.Known()})
	done := make(chan error)
	go func() {
		_, err := d.Refresh(t.Context())
		done <- err
	}()
	<-stub.entered
	if c, err := d.Catalog(); err != nil || len(c.Types) != 15 {
		t.Errorf("meanwhile: %v", err)
	}
	d.Status()
	if _, err := d.Refresh(t.Context()); err != nil { // would close a channel twice
		t.Error(err)
	}
	close(stub.hold)
	if err := <-done; err != nil || len(d.Known().Types) != 2 {
		t.Errorf("afterwards: %d types, %v", len(d.Known().Types), err)
	}
}

// AWI-018: the facts that metrics show, vCPUs and memory as EC2 reports them, are in the catalogue.
func TestFactsForMetrics(t *testing.T) {
	d, _ := discoverer(t, discovery.Options{API: region(t)})
	if _, err := d.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	if t3, _ := d.Known().Lookup("t3.large"); t3.VCPUs != 2 || t3.MemoryMiB != 8192 {
		t.Errorf("t3.large has %d vCPUs and %d MiB", t3.VCPUs, t3.MemoryMiB)
	}
}

// A refresh that is called off says so, and can be called again.
func TestCancelled(t *testing.T) {
	d, c := discoverer(t, discovery.Options{API: region(t)})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := d.Refresh(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("error is %v", err)
	}
	c.now = start().Add(time.Second)
	if _, err := d.Refresh(t.Context()); err != nil {
		t.Error(err)
	}
}

func Example() {
	memory := discovery.NewMemory(start)
	memory.Observe(discovery.Sighting{InstanceType: "m5.large", Family: "AL2023", Images: discovery.ImageKey("ami-1", "ami-2"), Bytes: 7900 << 20})
	fmt.Println(memory.For("AL2023", discovery.ImageKey("ami-2", "ami-1"))["m5.large"] >> 20)
	fmt.Println(memory.For("AL2023", discovery.ImageKey("ami-3"))["m5.large"] >> 20)
	fmt.Println(memory.For("Bottlerocket", discovery.ImageKey("ami-1"))["m5.large"])
	// Output:
	// 7900
	// 7900
	// 0
}

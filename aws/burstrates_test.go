package aws_test

import (
	"context"
	"fmt"
	"math"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"go.uber.org/mock/gomock"

	"github.com/drawknife/drawknife/aws"
	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	"github.com/drawknife/drawknife/aws/sdk"
	"github.com/drawknife/drawknife/aws/sdk/mock"
)

// meteredEC2 is an EC2 in memory behind the rate limits that EC2 documents for an account and region: each call takes a token of the bucket
// of its action, and is refused without one. In front of it is the budget that package sdk keeps for the same limits. Calls take the time
// that they are assumed to take.
type meteredEC2 struct {
	*regionalEC2
	budget *sdk.Budget

	mu      sync.Mutex
	buckets map[string]*tokens
	// count has the calls of each action, last is when the last fleet was answered.
	count   map[string]int
	refused int
	last    time.Time
}

// tokens is a bucket as EC2 documents them: so many at first, and so many more each second.
type tokens struct {
	most, perSecond, left float64
	filled                time.Time
}

// meter is what EC2 documents of an action (Request throttling for the Amazon EC2 API), and how long a call is assumed to take.
var meter = map[string]struct {
	class           sdk.Class
	most, perSecond float64
	takes           time.Duration
}{
	"CreateFleet":          {sdk.ClassWrite, 50, 5, 1500 * time.Millisecond},
	"CreateLaunchTemplate": {sdk.ClassWrite, 50, 5, 300 * time.Millisecond},
	"CreateTags":           {sdk.ClassTag, 100, 10, 300 * time.Millisecond},
	"DescribeInstances":    {sdk.ClassRead, 100, 20, 300 * time.Millisecond},
	"DescribeSubnets":      {sdk.ClassRead, 100, 20, 300 * time.Millisecond},
}

func (m *meteredEC2) enter(ctx context.Context, action string) error {
	of := meter[action]
	if err := m.budget.Wait(ctx, of.class, sdk.Urgent); err != nil {
		return err
	}
	m.mu.Lock()
	now := time.Now()
	b := m.buckets[action]
	if b == nil {
		b = &tokens{most: of.most, perSecond: of.perSecond, left: of.most, filled: now}
		m.buckets[action] = b
	}
	b.left, b.filled = math.Min(b.most, b.left+now.Sub(b.filled).Seconds()*b.perSecond), now
	m.count[action]++
	full := b.left < 1-1e-6
	if full {
		m.refused++
	} else {
		b.left--
	}
	m.mu.Unlock()
	time.Sleep(of.takes)
	if full {
		return refusal("RequestLimitExceeded", "Request limit exceeded.", 0)
	}
	return nil
}

func (m *meteredEC2) CreateFleet(ctx context.Context, in *ec2.CreateFleetInput, o ...func(*ec2.Options)) (*ec2.CreateFleetOutput, error) {
	if err := m.enter(ctx, "CreateFleet"); err != nil {
		return nil, err
	}
	m.mu.Lock()
	m.last = time.Now()
	m.mu.Unlock()
	return m.regionalEC2.CreateFleet(ctx, in, o...)
}

func (m *meteredEC2) CreateLaunchTemplate(ctx context.Context, in *ec2.CreateLaunchTemplateInput, o ...func(*ec2.Options)) (*ec2.CreateLaunchTemplateOutput, error) {
	if err := m.enter(ctx, "CreateLaunchTemplate"); err != nil {
		return nil, err
	}
	return m.regionalEC2.CreateLaunchTemplate(ctx, in, o...)
}

func (m *meteredEC2) CreateTags(ctx context.Context, in *ec2.CreateTagsInput, o ...func(*ec2.Options)) (*ec2.CreateTagsOutput, error) {
	if err := m.enter(ctx, "CreateTags"); err != nil {
		return nil, err
	}
	return m.regionalEC2.CreateTags(ctx, in, o...)
}

func (m *meteredEC2) DescribeInstances(ctx context.Context, in *ec2.DescribeInstancesInput, o ...func(*ec2.Options)) (*ec2.DescribeInstancesOutput, error) {
	if err := m.enter(ctx, "DescribeInstances"); err != nil {
		return nil, err
	}
	return m.regionalEC2.DescribeInstances(ctx, in, o...)
}

func (m *meteredEC2) DescribeSubnets(ctx context.Context, in *ec2.DescribeSubnetsInput, o ...func(*ec2.Options)) (*ec2.DescribeSubnetsOutput, error) {
	if err := m.enter(ctx, "DescribeSubnets"); err != nil {
		return nil, err
	}
	return m.regionalEC2.DescribeSubnets(ctx, in, o...)
}

// meteredClients are clients whose EC2 is metered.
type meteredClients struct {
	clients
	ec2 *meteredEC2
}

func (c meteredClients) EC2(sdk.Priority) sdk.EC2API { return c.ec2 }

// burstWorkers is how many claims the example controller works on at a time (reconcilers.DefaultConcurrency).
const burstWorkers = 500

// measured is what it took to launch.
type measured struct {
	seconds float64
	calls   int
	refused int
}

// launchAll launches that many equal claims, and measures the time to the answer with the last instance, and the calls until then.
func launchAll(t *testing.T, n, threshold int) (got measured) {
	synctest.Test(t, func(t *testing.T) {
		b := newMemoryBench(t, awsv1.AMIFamilyAL2023)
		few, err := fewTypes()
		if err != nil {
			t.Fatal(err)
		}
		builtIn, err := embedded()
		if err != nil {
			t.Fatal(err)
		}
		metered := &meteredEC2{regionalEC2: b.ec2, budget: sdk.NewBudget(nil), buckets: map[string]*tokens{}, count: map[string]int{}}
		p, err := aws.New(t.Context(), aws.Config{ClusterName: "demo", BurstLaunches: &threshold}, aws.Options{
			NodeClasses: &b.reader, Clock: b.ec2.clock, Types: few, BuiltIn: builtIn,
			Cluster: aws.StaticCluster{Endpoint: "https://api.demo.example", ServiceCIDR: "172.20.0.0/16", CABundle: "Q0E="},
			Clients: meteredClients{clients{pricing: mock.NewMockPricingAPI(gomock.NewController(t))}, metered},
		})
		if err != nil {
			t.Fatal(err)
		}
		metered.count = map[string]int{}
		start, next := time.Now(), make(chan int, n)
		claims := alike(n)
		for i := range claims {
			next <- i
		}
		close(next)
		var working sync.WaitGroup
		for range burstWorkers {
			working.Go(func() {
				for i := range next {
					if _, err := p.Create(t.Context(), claims[i]); err != nil {
						t.Error(err)
					}
				}
			})
		}
		working.Wait()
		for _, calls := range metered.count {
			got.calls += calls
		}
		got.seconds, got.refused = metered.last.Sub(start).Seconds(), metered.refused
		if living := b.living(); living != n {
			t.Errorf("%d instances for %d claims", living, n)
		}
	})
	return got
}

// The time to the last instance and the number of calls, in simulated time: docs/launching.md has the table. Karpenter's batcher merges as
// well (at most 1,000 equal requests, a window of 35 ms to 1 s), so that it is compared by arithmetic.
func TestBurstRates(t *testing.T) {
	if testing.Short() {
		t.Skip("launches 5,000 instances")
	}
	for _, c := range []struct {
		nodes int
		most  float64 // seconds
	}{{100, 3}, {1000, 10}, {5000, 45}} {
		t.Run(fmt.Sprint(c.nodes), func(t *testing.T) {
			got := launchAll(t, c.nodes, aws.DefaultBurstLaunches)
			t.Logf("%d nodes: %.1f s, %d calls, %d refused", c.nodes, got.seconds, got.calls, got.refused)
			if got.seconds > c.most || got.calls*20 > c.nodes || got.refused > 0 {
				t.Errorf("%d nodes take %.1f s and %d calls, %d of them refused; at most %.0f s and %d calls", c.nodes, got.seconds, got.calls, got.refused, c.most, c.nodes/20)
			}
			if c.nodes > 100 {
				return // a call each takes 192.5 s and 1,459 calls for 1,000 nodes
			}
			alone := launchAll(t, c.nodes, 0)
			t.Logf("%d nodes, a call each: %.1f s, %d calls, %d refused", c.nodes, alone.seconds, alone.calls, alone.refused)
			if alone.seconds < got.seconds || alone.calls < c.nodes {
				t.Errorf("a call each takes %.1f s and %d calls", alone.seconds, alone.calls)
			}
		})
	}
}

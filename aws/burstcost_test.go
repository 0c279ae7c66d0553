package aws_test

import (
	"math"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/aws"
	"github.com/drawknife/drawknife/cloudprovider"
)

// costs adds a dollar to the price of m6g.large, and a little more each time that costs are asked for.
func costs(t *testing.T, step float64) func(*aws.Options) {
	var asked atomic.Int64
	return func(o *aws.Options) {
		o.LaunchCost = func(pool v1.PoolKey) cloudprovider.LaunchCost {
			if pool.Name != "pool" {
				t.Errorf("costs of nodepool %q are asked for", pool.Name)
			}
			more := 1 + float64(asked.Add(1))*step
			return func(it *cloudprovider.InstanceType, o *cloudprovider.Offering) float64 {
				if it.Name == "m6g.large" {
					return o.Price + more
				}
				return o.Price
			}
		}
	}
}

// Launches by cost are merged like others although costs change while they are gathered, and EC2 is told to follow them.
func TestBurstByCost(t *testing.T) {
	inBubble(t, func(t *testing.T, b *memoryBench) {
		mustCreateAll(t, b.another("demo", costs(t, 1e-7)), alike(60))
		if len(b.ec2.fleets) != 1 {
			t.Fatalf("%d calls for 60 launches, want 1", len(b.ec2.fleets))
		}
		var raised, others []float64
		for _, config := range b.ec2.fleets[0].LaunchTemplateConfigs {
			for _, o := range config.Overrides {
				if string(o.InstanceType) == "m6g.large" {
					raised = append(raised, *o.Priority)
				} else {
					others = append(others, *o.Priority)
				}
			}
		}
		if s := b.ec2.fleets[0].OnDemandOptions.AllocationStrategy; s != ec2types.FleetOnDemandAllocationStrategyPrioritized || len(raised) == 0 || slices.Min(raised) <= slices.Max(others) {
			t.Errorf("strategy %s, m6g.large at %v, others at %v", s, raised, others)
		}
		for _, priority := range raised {
			if math.Abs(priority*100-math.Round(priority*100)) > 1e-9 {
				t.Errorf("priority %v has more than three digits", priority)
			}
		}
	})
}

// A launch whose answer was lost is repeated word for word, whatever costs are by then: EC2 refuses another request under the same token.
func TestBurstByCostIsRepeated(t *testing.T) {
	inBubble(t, func(t *testing.T, b *memoryBench) {
		p, claims := b.another("demo", costs(t, 0.05)), alike(20)
		heal := b.ec2.meets(regionalTrouble{err: refusal("InternalError", "cut", 0), lost: true}, "CreateFleet")
		b.ec2.late = regionalMemory // the instances can't be seen yet
		if _, errs := createAll(t, p, claims); !slices.ContainsFunc(errs, func(err error) bool { return err != nil }) {
			t.Fatal("the answer was not lost")
		}
		heal()
		mustCreateAll(t, p, claims)
		if len(b.ec2.fleets) < 2 {
			t.Fatalf("%d calls", len(b.ec2.fleets))
		}
		ignored := cmpopts.IgnoreUnexported(ec2.CreateFleetInput{}, ec2types.TargetCapacitySpecificationRequest{}, ec2types.OnDemandOptionsRequest{},
			ec2types.FleetLaunchTemplateConfigRequest{}, ec2types.FleetLaunchTemplateSpecificationRequest{}, ec2types.FleetLaunchTemplateOverridesRequest{},
			ec2types.TagSpecification{}, ec2types.Tag{})
		for _, again := range b.ec2.fleets[1:] {
			if diff := cmp.Diff(b.ec2.fleets[0], again, ignored); diff != "" {
				t.Errorf("the repeated request differs (-first +again):\n%s", diff)
			}
		}
	})
}

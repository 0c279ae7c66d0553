package aws_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"go.uber.org/mock/gomock"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/aws"
	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	"github.com/drawknife/drawknife/aws/catalog"
	"github.com/drawknife/drawknife/aws/internal/launch"
	"github.com/drawknife/drawknife/aws/internal/reservations"
	"github.com/drawknife/drawknife/aws/sdk/mock"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/cloudprovider/conformance"
	"github.com/drawknife/drawknife/internal/seeded"
)

// TestConformance holds the provider to the contract on an EC2 in memory, which has what moto lacks: capacity reservations,
// instances that boot and shut down in a time of their own, and trouble of more kinds. What interrupts instances is moto's.
func TestConformance(t *testing.T) {
	options := conformance.DefaultOptions()
	options.Levels = []conformance.Level{conformance.Core, conformance.Spot, conformance.Reserved, conformance.Drift, conformance.Repair, conformance.Group}
	options.Trials, options.Steps, options.Parallel = 4, 10, 100
	options.MemorySlack = 4 << 20 // EC2 remembers the tokens of fleets
	if testing.Short() {
		options.Trials, options.Steps, options.Parallel = 1, 4, 20
	}
	report := checkInMemory(t, inMemory, options)
	if t.Failed() {
		return
	}
	for _, level := range options.Levels {
		if got := report.Level(level); got != conformance.Passed {
			t.Errorf("level %s: %s", level, got)
		}
	}
	committed(t, report, "aws-memory")
}

// checkInMemory runs the kit where time passes at once when everybody waits: calls are gathered and repeated in real time. Each
// clause is a sub-test afterwards.
func checkInMemory(t *testing.T, factory conformance.Factory, options conformance.Options) *conformance.Report {
	t.Helper()
	var report *conformance.Report
	seeded.Fix(t)
	synctest.Test(t, func(t *testing.T) { report = conformance.Check(t, factory, options) })
	for _, r := range report.Results {
		t.Run(string(r.Level)+"/"+r.Clause, func(t *testing.T) {
			switch r.Outcome {
			case conformance.Failed:
				t.Error(strings.Join(r.Faults, "\n"))
			case conformance.Skipped:
				t.Skip(r.Reason)
			}
		})
	}
	return report
}

// memoryBench is a provider on an EC2 in memory with what the conformance kit does to it.
type memoryBench struct {
	t        testing.TB
	ec2      *regionalEC2
	classes  *classes
	provider *aws.Provider
	finder   *reservations.Finder
	terms    []awsv1.CapacityReservationSelectorTerm
	family   awsv1.AMIFamily
	overlays troubledOverlays
	reader   troubledReader
}

// fewTypes are enough for the kit, and quick to go through.
var fewTypes = sync.OnceValues(func() (*catalog.Catalog, error) {
	all, err := embedded()
	if err != nil {
		return nil, err
	}
	few := *all
	few.Types = slices.DeleteFunc(slices.Clone(all.Types), func(t catalog.Type) bool {
		return !slices.Contains([]string{"c5.large", "m5.large", "m5.xlarge", "m6g.large", "r5.2xlarge", "t3.medium"}, t.Name)
	})
	return catalog.New(few)
})

func inMemory(t testing.TB) conformance.Subject {
	return newMemoryBench(t, awsv1.AMIFamilyAL2023).subject()
}

func newMemoryBench(t testing.TB, family awsv1.AMIFamily) *memoryBench {
	clock := &steppedClock{now: time.Date(2026, time.March, 1, 0, 0, 0, 0, time.UTC)}
	b := &memoryBench{
		t: t, family: family, classes: &classes{all: map[string]*awsv1.EC2NodeClass{}},
		terms: []awsv1.CapacityReservationSelectorTerm{{Tags: map[string]string{"team": "web"}}},
		ec2: &regionalEC2{
			MockEC2API: mock.NewMockEC2API(gomock.NewController(t)), clock: clock, templates: map[string]*ec2types.RequestLaunchTemplateData{},
			tokens: map[string]*ec2.CreateFleetOutput{}, booked: map[string]*regionalReservation{"cr-0123456789abcdef0": {"m5.large", "us-east-1a", 3}},
			trouble: map[string]regionalTrouble{}, gates: map[string]chan struct{}{},
		},
	}
	b.reader.NodeClassReader = b.classes
	b.classes.put("default", b.nodeClass())
	b.provider = b.another("demo")
	b.finder = reservations.NewFinder(b.ec2, b.provider.Reservations(), clock.Now)
	b.look()
	return b
}

// nodeClass is one that instances can be launched from, with the reservations that were found last.
func (b *memoryBench) nodeClass() *awsv1.EC2NodeClass {
	class := readyClass("default")
	class.Spec.AMIFamily, class.Spec.CapacityReservationSelectorTerms = b.family, b.terms
	if b.finder != nil {
		found, rejected, err := b.finder.FindNow(context.WithoutCancel(b.t.Context()), b.terms)
		if err != nil || rejected != nil {
			b.t.Errorf("looking for reservations: %v, %v", err, rejected)
		}
		class.Status.CapacityReservations = found.Status()
	}
	return class
}

// look is what the node class's controller does each minute.
func (b *memoryBench) look() {
	class := b.nodeClass()
	if known, _ := b.classes.NodeClass(b.t.Context(), "default"); known != nil && known.Generation == class.Generation && known.DeletionTimestamp == nil {
		known = known.DeepCopy()
		known.Status.CapacityReservations = class.Status.CapacityReservations
		b.classes.put("default", known)
	}
}

func (b *memoryBench) another(cluster string, edit ...func(*aws.Options)) *aws.Provider {
	few, err := fewTypes()
	if err != nil {
		b.t.Fatal(err)
	}
	builtIn, err := embedded()
	if err != nil {
		b.t.Fatal(err)
	}
	options := aws.Options{
		NodeClasses: &b.reader, Overlays: &b.overlays, Clock: b.ec2.clock, Types: few, BuiltIn: builtIn,
		Cluster: aws.StaticCluster{Endpoint: "https://api.demo.example", ServiceCIDR: "172.20.0.0/16", CABundle: "Q0E="},
		Clients: regionalClients{clients{pricing: mock.NewMockPricingAPI(gomock.NewController(b.t))}, b.ec2},
	}
	for _, e := range edit {
		e(&options)
	}
	p, err := aws.New(b.t.Context(), aws.Config{ClusterName: cluster}, options)
	if err != nil {
		b.t.Fatal(err)
	}
	return p
}

func (b *memoryBench) subject() conformance.Subject {
	return conformance.Subject{
		Provider: b.provider, NodePool: nodePool(), NodeClass: classRef("default"),
		VolumeTopologyKeys: []string{"topology.ebs.csi.aws.com/zone"},
		Hooks: conformance.Hooks{
			Advance:      func(d time.Duration) { b.ec2.clock.advance(d); b.look() },
			Restart:      func() cloudprovider.CloudProvider { return b.another("demo") },
			OtherCluster: func() cloudprovider.CloudProvider { return b.another("other") },
			Instances:    b.instances, SellOut: b.sellOut, Inject: b.inject, Stall: b.stall,
			SetNodeClass: func(ref v1.NodeClassReference, state conformance.NodeClassState) error {
				b.classes.put(ref.Name, inState(b.nodeClass(), state))
				return nil
			},
			MakeDrift: func(string) error { b.classes.put("default", withOtherImages(b.nodeClass())); return nil },
			Interrupt: func(providerID string, _ cloudprovider.InterruptionKind, _ time.Duration) error {
				b.ec2.terminate(providerID[strings.LastIndexByte(providerID, '/')+1:])
				return nil
			},
		},
	}
}

func (b *memoryBench) instances(context.Context) ([]conformance.Instance, error) {
	userData := map[string]string{}
	all := b.ec2.described()
	b.ec2.mu.Lock()
	for _, i := range b.ec2.instances {
		userData[*i.InstanceId] = i.userData
	}
	b.ec2.mu.Unlock()
	var instances []conformance.Instance
	for _, i := range all {
		if i.State.Name == ec2types.InstanceStateNameTerminated {
			continue
		}
		taints, err := taintsOf(userData[*i.InstanceId])
		if err != nil {
			return nil, fmt.Errorf("the user data of %s: %w", *i.InstanceId, err)
		}
		m := conformance.Instance{
			ProviderID: fmt.Sprintf("aws:///%s/%s", *i.Placement.AvailabilityZone, *i.InstanceId), Taints: taints,
			Live: i.State.Name == ec2types.InstanceStateNamePending || i.State.Name == ec2types.InstanceStateNameRunning,
		}
		m.ClaimUID = claimOf(all, i)
		instances = append(instances, m)
	}
	return instances, nil
}

// claimOf is the UID of an instance's claim: that of its tag, or the one that it was assigned of its batch.
func claimOf(all []ec2types.Instance, i ec2types.Instance) string {
	tags := tagsOf(&i)
	of, batched := launch.BatchOf(tags)
	if !batched || tags[launch.TagNodeClaimUID] != launch.Batched {
		return tags[launch.TagNodeClaimUID]
	}
	var ids []string
	for _, other := range all {
		if tagsOf(&other)[launch.TagBatch] == of.ID {
			ids = append(ids, *other.InstanceId)
		}
	}
	return string(launch.Assign(ids, of.UIDs)[*i.InstanceId])
}

func (b *memoryBench) sellOut(match func(cloudprovider.OfferingKey) bool) func() {
	types, err := b.provider.InstanceTypes(b.t.Context(), nodePool())
	if err != nil {
		b.t.Fatal(err)
	}
	sold := map[[3]string]bool{}
	for _, it := range types {
		for i := range it.Offerings {
			if key := cloudprovider.KeyOf(it, &it.Offerings[i]); match(key) {
				sold[[3]string{key.InstanceType, key.Zone, key.CapacityType}] = true
			}
		}
	}
	return b.without("InsufficientInstanceCapacity", func(instanceType, zone, capacityType string) bool {
		return sold[[3]string{instanceType, zone, capacityType}]
	})
}

// without has EC2 short of something until the result is called.
func (b *memoryBench) without(code string, sold func(instanceType, zone, capacityType string) bool) (restock func()) {
	b.ec2.mu.Lock()
	defer b.ec2.mu.Unlock()
	b.ec2.sold, b.ec2.short = sold, code
	return func() {
		b.ec2.mu.Lock()
		defer b.ec2.mu.Unlock()
		b.ec2.sold = nil
	}
}

// codes that EC2 answers with, and what it says.
var refusals = map[cloudprovider.ErrorKind][2]string{
	cloudprovider.Throttled:    {"RequestLimitExceeded", "Request limit exceeded."},
	cloudprovider.Unauthorized: {"UnauthorizedOperation", "You are not authorized to perform this operation."},
	cloudprovider.Transient:    {"InternalError", "An internal error has occurred."},
	cloudprovider.Permanent:    {"InvalidParameterValue", "The parameter is not good."},
	"":                         {"SomethingNobodyKnows", "It did not work."},
}

func (b *memoryBench) inject(f conformance.Fault) (func(), error) {
	if f.Method == conformance.MethodCreate && f.Kind == cloudprovider.QuotaExceeded {
		return b.without("VcpuLimitExceeded", func(_, _, _ string) bool { return true }), nil
	}
	refused, ok := refusals[f.Kind]
	switch {
	case f.Method == conformance.MethodInstanceTypes && f.Kind == cloudprovider.UnevaluatedNodePool:
		return b.overlays.fail(cloudprovider.NewUnevaluatedNodePoolError("pool", errors.New("not yet"))), nil
	case f.Method == conformance.MethodNodeClassStatus && f.Kind == cloudprovider.Transient && !f.Lost:
		return b.reader.fail(cloudprovider.NewTransientError(errors.New("the API server is away"))), nil
	case f.Method == conformance.MethodCreate && f.Also != "":
		also, known := refusals[f.Also]
		if !ok || !known {
			return nil, errors.ErrUnsupported
		}
		return b.ec2.meets(regionalTrouble{codes: []string{refused[0], also[0]}}, "CreateFleet"), nil
	}
	called := actions(f.Method)
	if f.Method == conformance.MethodIsDrifted {
		called = []string{"DescribeInstances"}
	}
	if !ok || len(called) == 0 || f.Also != "" {
		return nil, errors.ErrUnsupported
	}
	return b.ec2.meets(regionalTrouble{err: refusal(refused[0], refused[1], f.RetryAfter), lost: f.Lost}, called...), nil
}

func (b *memoryBench) stall(m conformance.Method) (func(), error) {
	called := actions(m)
	if len(called) == 0 || m == conformance.MethodDelete {
		return nil, errors.ErrUnsupported
	}
	release := b.ec2.hang(called...)
	b.t.Cleanup(release)
	return release, nil
}

// troubledOverlays change nothing, or can't say.
type troubledOverlays struct {
	mu  sync.Mutex
	err error
}

func (o *troubledOverlays) Overlay(_ context.Context, _ string, types []*cloudprovider.InstanceType) ([]*cloudprovider.InstanceType, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return types, o.err
}

func (o *troubledOverlays) fail(err error) (heal func()) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.err = err
	return func() { o.fail(nil) }
}

// troubledReader reads node classes, or can't.
type troubledReader struct {
	aws.NodeClassReader
	mu  sync.Mutex
	err error
}

func (r *troubledReader) NodeClass(ctx context.Context, name string) (*awsv1.EC2NodeClass, error) {
	r.mu.Lock()
	err := r.err
	r.mu.Unlock()
	if err != nil {
		return nil, err
	}
	return r.NodeClassReader.NodeClass(ctx, name)
}

func (r *troubledReader) fail(err error) (heal func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.err = err
	return func() { r.fail(nil) }
}

// CP-CREATE-04 by the user data of each family that has any: the taints are in it as the family's bootstrap reads them.
func TestConformanceTaints(t *testing.T) {
	for _, family := range []awsv1.AMIFamily{awsv1.AMIFamilyAL2, awsv1.AMIFamilyAL2023, awsv1.AMIFamilyBottlerocket, awsv1.AMIFamilyWindows2022} {
		t.Run(string(family), func(t *testing.T) {
			report := checkInMemory(t, func(t testing.TB) conformance.Subject {
				return newMemoryBench(t, family).subject()
			}, onlyClause("CP-CREATE-04"))
			if got := report.Level(conformance.Core); got != conformance.Passed {
				t.Errorf("%s: %+v", got, report.Results)
			}
		})
	}
}

// onlyClause are the default options with one clause.
func onlyClause(id string) conformance.Options {
	options := conformance.DefaultOptions()
	options.Clauses = []string{id}
	return options
}

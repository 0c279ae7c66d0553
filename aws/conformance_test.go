package aws_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/aws"
	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	"github.com/drawknife/drawknife/aws/internal/launch"
	"github.com/drawknife/drawknife/aws/internal/mototest"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/cloudprovider/conformance"
	"github.com/drawknife/drawknife/fake/build/ec2build"
	"github.com/drawknife/drawknife/internal/moto"
	"github.com/drawknife/drawknife/internal/seeded"
)

var updateConformance = flag.Bool("update-conformance", false, "write docs/conformance/aws*.* again")

// TestMotoConformance holds the provider to the contract, on moto. What moto can't do is skipped, and the report says so.
func TestMotoConformance(t *testing.T) {
	newSite(t) // skips without moto
	seeded.Fix(t)
	options, patience := conformance.DefaultOptions(), 2*time.Minute
	options.Trials, options.Steps, options.Parallel, options.Spread, options.Patience = 3, 8, 12, 5, &patience
	options.MemorySlack = 4 << 20 // moto's proxy keeps all calls
	report := conformance.Run(t, onMoto, options)
	if !t.Failed() {
		committed(t, report, "aws")
	}
}

// committed compares a report with the one in docs/conformance.
func committed(t *testing.T, report *conformance.Report, base string) {
	t.Helper()
	for name, write := range map[string]func(*os.File) error{
		base + ".json": func(f *os.File) error { return report.WriteJSON(f) },
		base + ".md":   func(f *os.File) error { return report.WriteMarkdown(f) },
	} {
		got := filepath.Join(t.TempDir(), name)
		f, err := os.Create(got)
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(write(f), f.Close()); err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(got)
		if err != nil {
			t.Fatal(err)
		}
		committed := filepath.Join("..", "docs", "conformance", name)
		if *updateConformance {
			if err := os.WriteFile(committed, data, 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if want, err := os.ReadFile(committed); err != nil || string(want) != string(data) {
			t.Errorf("%s is out of date (%v): run with -update-conformance and read what has changed", committed, err)
		}
	}
}

// clockAhead is the real time and a bit more.
type clockAhead struct {
	mu    sync.Mutex
	ahead time.Duration
}

func (c *clockAhead) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Now().Add(c.ahead)
}

func (c *clockAhead) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ahead += d
}

// classes is a NodeClassReader whose classes change.
type classes struct {
	mu  sync.Mutex
	all map[string]*awsv1.EC2NodeClass
}

func (c *classes) NodeClass(_ context.Context, name string) (*awsv1.EC2NodeClass, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.all[name], nil
}

func (c *classes) put(name string, class *awsv1.EC2NodeClass) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.all[name] = class
}

// bench is a provider on moto with what the conformance kit does to it.
type bench struct {
	*site
	clock   *clockAhead
	classes *classes
	queue   *sqs.Client
	url     *string
	sent    bool // something is or was in the queue
}

func onMoto(t testing.TB) conformance.Subject { return newBench(t, nil).subject() }

// newBench makes a provider with a queue. wait is for how many seconds EC2's queue looks for messages before it says that there
// are none; nil leaves that to the provider.
func newBench(t testing.TB, wait *int) *bench {
	b := &bench{clock: &clockAhead{}, classes: &classes{all: map[string]*awsv1.EC2NodeClass{}}}
	b.site = newSite(t, func(c *aws.Config, o *aws.Options) {
		c.InterruptionQueue, o.NodeClasses, o.Clock = queueName, b.classes, b.clock
	})
	b.openQueue(wait)
	b.classes.put("default", b.class)
	return b
}

func (b *bench) subject() conformance.Subject {
	another := func(cluster string) func() cloudprovider.CloudProvider {
		return func() cloudprovider.CloudProvider {
			p, err := aws.New(b.t.Context(), aws.Config{ClusterName: cluster, SDK: sdkConfig(b.cloud), Tags: map[string]string{"common": "yes"}}, aws.Options{
				NodeClasses: b.classes, Clock: b.clock, Cluster: aws.StaticCluster{Endpoint: "https://api.demo.example", ServiceCIDR: "172.20.0.0/16"},
			})
			if err != nil {
				b.t.Fatal(err)
			}
			return p
		}
	}
	return conformance.Subject{
		Provider: b.provider, NodePool: nodePool(), NodeClass: classRef("default"),
		Requirements:       []v1.NodeSelectorRequirementWithMinValues{v1.NodeSelectorRequirementWithMinValues(in(corev1.LabelInstanceTypeStable, "m5.large", "m6g.large", "c5.large"))},
		VolumeTopologyKeys: []string{"topology.ebs.csi.aws.com/zone"},
		Hooks: conformance.Hooks{
			Advance: b.advance, Interrupt: b.interrupt, Noise: b.noise, Restart: another("demo"), OtherCluster: another("other"), Instances: b.instances,
			SellOut: b.sellOut, Inject: b.inject, Stall: b.stall, SetNodeClass: b.setNodeClass, MakeDrift: b.makeDrift,
		},
	}
}

func (b *bench) instances(ctx context.Context) ([]conformance.Instance, error) {
	out, err := b.api.DescribeInstances(ctx, &ec2.DescribeInstancesInput{})
	if err != nil {
		return nil, err
	}
	var all []conformance.Instance
	for _, r := range out.Reservations {
		for _, i := range r.Instances {
			if i.State.Name == ec2types.InstanceStateNameTerminated {
				continue
			}
			m := conformance.Instance{
				ProviderID: fmt.Sprintf("aws:///%s/%s", *i.Placement.AvailabilityZone, *i.InstanceId),
				Live:       i.State.Name == ec2types.InstanceStateNamePending || i.State.Name == ec2types.InstanceStateNameRunning,
			}
			for _, tag := range i.Tags {
				if *tag.Key == launch.TagNodeClaimUID {
					m.ClaimUID = *tag.Value
				}
			}
			all = append(all, m)
		}
	}
	return all, nil
}

// queueName of the interruptions.
const queueName = "conformance"

// openQueue makes the queue. Its messages come again after a second of real time, since moto's clock can't be moved.
func (b *bench) openQueue(wait *int) {
	b.queue = sqs.NewFromConfig(mototest.Config(b.cloud))
	made, err := b.queue.CreateQueue(b.t.Context(), &sqs.CreateQueueInput{QueueName: awssdk.String(queueName)})
	if err != nil {
		b.t.Fatal(err)
	}
	b.url = made.QueueUrl
	b.cloud.Handle("ReceiveMessage", func(call moto.Call, next func(moto.Call) moto.Answer) moto.Answer {
		call.Body = visibility.ReplaceAll(call.Body, []byte(`"VisibilityTimeout":1`))
		if wait != nil {
			call.Body = waitTime.ReplaceAll(call.Body, fmt.Appendf(nil, `"WaitTimeSeconds":%d`, *wait))
		}
		return next(call)
	})
}

// visibility is how long a reader asks to have a message for itself, waitTime how long it is ready to wait for one.
var (
	visibility = regexp.MustCompile(`"VisibilityTimeout":\d+`)
	waitTime   = regexp.MustCompile(`"WaitTimeSeconds":\d+`)
)

// advance moves the provider's clock; where a message could come again, moto's time passes too.
func (b *bench) advance(d time.Duration) {
	b.clock.advance(d)
	if b.sent && d >= 10*time.Minute {
		time.Sleep(1500 * time.Millisecond)
	}
}

func (b *bench) send(body string) error {
	b.sent = true
	_, err := b.queue.SendMessage(b.t.Context(), &sqs.SendMessageInput{QueueUrl: b.url, MessageBody: &body})
	return err
}

func (b *bench) interrupt(providerID string, kind cloudprovider.InterruptionKind, _ time.Duration) error {
	id := providerID[strings.LastIndexByte(providerID, '/')+1:]
	about, detail := "EC2 Instance Rebalance Recommendation", ""
	switch kind {
	case cloudprovider.InterruptionRebalance:
	case cloudprovider.InterruptionSpotReclaim:
		about, detail = "EC2 Spot Instance Interruption Warning", `,"instance-action":"terminate"`
	default:
		return errors.ErrUnsupported
	}
	body := fmt.Sprintf(`{"version":"0","id":"e-%s","detail-type":%q,"source":"aws.ec2","account":"123456789012","time":%q,"region":"us-east-1","resources":[],"detail":{"instance-id":%q%s}}`,
		id, about, time.Now().UTC().Format(time.RFC3339), id, detail)
	if err := b.send(body); err != nil || kind == cloudprovider.InterruptionRebalance {
		return err
	}
	_, err := b.api.TerminateInstances(b.t.Context(), &ec2.TerminateInstancesInput{InstanceIds: []string{id}})
	return err
}

// noise is what others put into the queue.
func (b *bench) noise() error {
	return errors.Join(
		b.send("no JSON"),
		b.send(`{"version":"0","id":"e-1","detail-type":"Something Else","source":"aws.s3","detail":{}}`),
		b.send(`{"version":"0","id":"e-2","detail-type":"EC2 Spot Instance Interruption Warning","source":"aws.ec2","detail":{"instance-id":"i-00000000000000000"}}`),
	)
}

// switched is a handler that can be turned off for good.
type switched struct {
	mu  sync.Mutex
	off bool
}

func (s *switched) turnOff() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.off = true
}

func (s *switched) on() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.off
}

func (b *bench) sellOut(match func(cloudprovider.OfferingKey) bool) func() {
	s := &switched{}
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
	b.cloud.OutOfStock("InsufficientInstanceCapacity", func(instanceType, zone, capacityType string) bool {
		return s.on() && sold[[3]string{instanceType, zone, capacityType}]
	})
	return s.turnOff
}

// actions that a method calls, whatever the provider knows already.
func actions(m conformance.Method) []string {
	switch m {
	case conformance.MethodCreate, conformance.MethodCreateGroup:
		return []string{"CreateFleet"}
	case conformance.MethodDelete:
		return []string{"DescribeInstances", "TerminateInstances"}
	case conformance.MethodGet, conformance.MethodList:
		return []string{"DescribeInstances"}
	}
	return nil
}

func (b *bench) inject(f conformance.Fault) (func(), error) {
	called := actions(f.Method)
	if len(called) == 0 || f.Also != "" || f.RetryAfter != 0 {
		return nil, errors.ErrUnsupported
	}
	s := &switched{}
	if f.Kind == cloudprovider.QuotaExceeded && f.Method == conformance.MethodCreate {
		b.cloud.OutOfStock("VcpuLimitExceeded", func(_, _, _ string) bool { return s.on() })
		return s.turnOff, nil
	}
	var refusal moto.Answer
	switch f.Kind {
	case cloudprovider.Throttled:
		refusal = moto.Refusal(http.StatusServiceUnavailable, "RequestLimitExceeded", "Request limit exceeded.")
	case cloudprovider.Unauthorized:
		refusal = moto.Refusal(http.StatusForbidden, "UnauthorizedOperation", "You are not authorized to perform this operation.")
	case cloudprovider.Transient:
		refusal = moto.Refusal(http.StatusInternalServerError, "InternalError", "An internal error has occurred.")
	case cloudprovider.Permanent:
		refusal = moto.Refusal(http.StatusBadRequest, "InvalidParameterValue", "The parameter is not good.")
	case "":
		refusal = moto.Refusal(http.StatusBadRequest, "SomethingNobodyKnows", "It did not work.")
	default:
		return nil, errors.ErrUnsupported
	}
	for _, action := range called {
		b.cloud.Handle(action, func(call moto.Call, next func(moto.Call) moto.Answer) moto.Answer {
			switch {
			case !s.on():
				return next(call)
			case f.Lost:
				next(call)
				return moto.Answer{Cut: true}
			}
			return refusal
		})
	}
	return s.turnOff, nil
}

func (b *bench) stall(m conformance.Method) (func(), error) {
	called := actions(m)
	if len(called) == 0 || m == conformance.MethodDelete {
		return nil, errors.ErrUnsupported
	}
	gate := make(chan struct{})
	var once sync.Once
	release := func() { once.Do(func() { close(gate) }) }
	b.t.Cleanup(release)
	for _, action := range called {
		b.cloud.Handle(action, func(call moto.Call, next func(moto.Call) moto.Answer) moto.Answer {
			<-gate
			return next(call)
		})
	}
	return release, nil
}

func (b *bench) setNodeClass(ref v1.NodeClassReference, state conformance.NodeClassState) error {
	b.classes.put(ref.Name, inState(b.nodeClass(ref.Name), state))
	return nil
}

// inState is a node class put into a state.
func inState(class *awsv1.EC2NodeClass, state conformance.NodeClassState) *awsv1.EC2NodeClass {
	switch state {
	case conformance.NodeClassMissing:
		return nil
	case conformance.NodeClassUnready:
		class.Conditions().SetFalse(awsv1.ConditionSubnetsReady, "SubnetsNotFound", "no subnet matches", time.Unix(1.8e9, 0))
	case conformance.NodeClassTerminating:
		class.DeletionTimestamp, class.Finalizers = &metav1.Time{Time: time.Unix(1.8e9, 0)}, []string{"test"}
	}
	return class
}

// makeDrift has the node class ask for another image than any instance has.
func (b *bench) makeDrift(string) error {
	b.classes.put("default", withOtherImages(b.nodeClass("default")))
	return nil
}

func withOtherImages(class *awsv1.EC2NodeClass) *awsv1.EC2NodeClass {
	for i := range class.Status.AMIs {
		class.Status.AMIs[i].ID = "ami-" + strings.Repeat("0", 7) + fmt.Sprint(i+1)
	}
	class.Generation++
	ec2build.Ready(time.Unix(1.7e9, 0))(class)
	return class
}

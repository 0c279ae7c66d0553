package instances_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/smithy-go"
	"go.uber.org/mock/gomock"

	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	"github.com/drawknife/drawknife/aws/internal/batch"
	"github.com/drawknife/drawknife/aws/internal/instances"
	"github.com/drawknife/drawknife/aws/internal/launch"
	"github.com/drawknife/drawknife/aws/sdk/mock"
	"github.com/drawknife/drawknife/cloudprovider"
)

// account is an EC2 with instances in memory that understands the filters used here.
type account struct {
	mu        sync.Mutex
	instances []ec2types.Instance
	pageSize  int // instances on a page; 0: all
	failPage  int // the number of the page whose reading fails; 0: none
	failures  []error
	calls     []string
	described []*ec2.DescribeInstancesInput
	names     int // how many unknown instances an answer names; 0: all
}

func tags(pairs ...string) []ec2types.Tag {
	var list []ec2types.Tag
	for i := 0; i < len(pairs); i += 2 {
		list = append(list, ec2types.Tag{Key: &pairs[i], Value: &pairs[i+1]})
	}
	return list
}

// add puts an instance of the cluster "demo" into the account.
func (a *account) add(id, state string, more ...string) {
	a.instances = append(a.instances, ec2types.Instance{
		InstanceId: &id, State: &ec2types.InstanceState{Name: ec2types.InstanceStateName(state)}, InstanceType: "m5.large",
		Placement: &ec2types.Placement{AvailabilityZone: aws.String("us-east-1a"), AvailabilityZoneId: aws.String("use1-az1")},
		Tags:      append(tags(awsv1.TagClusterName, "demo", awsv1.TagNodePool, "pool", awsv1.TagNodeClass, "default"), tags(more...)...),
	})
}

func matches(i *ec2types.Instance, f ec2types.Filter) bool {
	var have []string
	name := aws.ToString(f.Name)
	switch key, isTag := strings.CutPrefix(name, "tag:"); {
	case name == "instance-id":
		have = []string{aws.ToString(i.InstanceId)}
	case name == "instance-state-name":
		have = []string{string(i.State.Name)}
	case name == "tag-key":
		for _, tag := range i.Tags {
			have = append(have, aws.ToString(tag.Key))
		}
	case isTag:
		for _, tag := range i.Tags {
			if aws.ToString(tag.Key) == key {
				have = append(have, aws.ToString(tag.Value))
			}
		}
	default:
		panic("no such filter: " + name)
	}
	return slices.ContainsFunc(have, func(h string) bool {
		return slices.ContainsFunc(f.Values, func(value string) bool {
			prefix, wild := strings.CutSuffix(value, "*")
			return h == value || wild && strings.HasPrefix(h, prefix)
		})
	})
}

// failure takes the next error in line.
func (a *account) failure(call string) error {
	a.calls = append(a.calls, call)
	if len(a.failures) == 0 {
		return nil
	}
	err := a.failures[0]
	a.failures = a.failures[1:]
	return err
}

func (a *account) describe(_ context.Context, in *ec2.DescribeInstancesInput, _ ...func(*ec2.Options)) (*ec2.DescribeInstancesOutput, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.described = append(a.described, in)
	if err := a.failure("DescribeInstances"); err != nil {
		return nil, err
	}
	for _, f := range in.Filters {
		if len(f.Values) > 200 {
			return nil, apiError("FilterLimitExceeded", "")
		}
	}
	var found []ec2types.Instance
	for _, i := range a.instances {
		if !slices.ContainsFunc(in.Filters, func(f ec2types.Filter) bool { return !matches(&i, f) }) {
			found = append(found, i)
		}
	}
	page := 0
	if in.NextToken != nil {
		_, _ = fmt.Sscan(*in.NextToken, &page)
	}
	if page+1 == a.failPage {
		return nil, apiError("InternalError", "this page can't be read")
	}
	out := &ec2.DescribeInstancesOutput{}
	if a.pageSize > 0 && len(found) > (page+1)*a.pageSize {
		out.NextToken = aws.String(fmt.Sprint(page + 1))
		found = found[:(page+1)*a.pageSize]
	}
	for _, i := range found[min(page*max(a.pageSize, 0), len(found)):] {
		out.Reservations = append(out.Reservations, ec2types.Reservation{Instances: []ec2types.Instance{i}})
	}
	return out, nil
}

func apiError(code, message string) error {
	return &smithy.OperationError{ServiceID: "EC2", OperationName: "Call", Err: &smithy.GenericAPIError{Code: code, Message: message}}
}

// known says which of ids are not there, as EC2 does.
func (a *account) known(ids []string) error {
	var unknown []string
	for _, id := range ids {
		if !slices.ContainsFunc(a.instances, func(i ec2types.Instance) bool { return *i.InstanceId == id }) {
			unknown = append(unknown, id)
		}
	}
	if a.names > 0 && len(unknown) > a.names {
		unknown = unknown[:a.names]
	}
	if len(unknown) == 0 {
		return nil
	}
	return apiError("InvalidInstanceID.NotFound", fmt.Sprintf("The instance IDs '%s' do not exist", strings.Join(unknown, ", ")))
}

func (a *account) terminate(_ context.Context, in *ec2.TerminateInstancesInput, _ ...func(*ec2.Options)) (*ec2.TerminateInstancesOutput, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if err := errors.Join(a.failure("TerminateInstances"), a.known(in.InstanceIds)); err != nil {
		return nil, err
	}
	for i := range a.instances {
		if slices.Contains(in.InstanceIds, *a.instances[i].InstanceId) {
			if _, protected := ptr(&a.instances[i]).Tags["protected"]; protected {
				return nil, apiError("OperationNotPermitted", "may not be terminated")
			}
		}
	}
	for i := range a.instances {
		if slices.Contains(in.InstanceIds, *a.instances[i].InstanceId) {
			a.instances[i].State.Name = ec2types.InstanceStateNameShuttingDown
		}
	}
	return &ec2.TerminateInstancesOutput{}, nil
}

func (a *account) createTags(_ context.Context, in *ec2.CreateTagsInput, _ ...func(*ec2.Options)) (*ec2.CreateTagsOutput, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if err := errors.Join(a.failure("CreateTags"), a.known(in.Resources)); err != nil {
		return nil, err
	}
	for i := range a.instances {
		if slices.Contains(in.Resources, *a.instances[i].InstanceId) {
			a.instances[i].Tags = append(a.instances[i].Tags, in.Tags...)
		}
	}
	return &ec2.CreateTagsOutput{}, nil
}

func (a *account) count(call string) int {
	n := 0
	for _, c := range a.calls {
		if c == call {
			n++
		}
	}
	return n
}

// client of an account. It is to be made inside of a synctest bubble, whose time it uses.
func client(t *testing.T, a *account, change ...func(*instances.Options)) *instances.Client {
	t.Helper()
	api := mock.NewMockEC2API(gomock.NewController(t))
	api.EXPECT().DescribeInstances(gomock.Any(), gomock.Any()).AnyTimes().DoAndReturn(a.describe)
	api.EXPECT().TerminateInstances(gomock.Any(), gomock.Any()).AnyTimes().DoAndReturn(a.terminate)
	api.EXPECT().CreateTags(gomock.Any(), gomock.Any()).AnyTimes().DoAndReturn(a.createTags)
	o := instances.Options{EC2: api, Cluster: "demo"}
	for _, c := range change {
		c(&o)
	}
	c, err := instances.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// AWI-203, CP-GET-02, CP-GET-03: what is there, what is ending, what is gone, what is another's.
func TestGet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &account{}
		a.add("i-run", "running")
		a.add("i-end", "shutting-down")
		a.add("i-gone", "terminated")
		a.instances = append(a.instances, ec2types.Instance{
			InstanceId: aws.String("i-foreign"), State: &ec2types.InstanceState{Name: "running"},
			Tags: tags(awsv1.TagClusterName, "other"),
		})
		a.instances = append(a.instances, ec2types.Instance{
			InstanceId: aws.String("i-old"), State: &ec2types.InstanceState{Name: "running"}, Tags: tags("kubernetes.io/cluster/demo", "owned"),
		})
		c := client(t, a)
		for id, state := range map[string]string{"i-run": "running", "i-end": "shutting-down", "i-old": "running"} {
			if got, err := c.Get(t.Context(), id); err != nil || got.State != state {
				t.Errorf("%s: %+v, %v", id, got, err)
			}
		}
		for _, id := range []string{"i-gone", "i-foreign", "i-unknown", ""} {
			if _, err := c.Get(t.Context(), id); !cloudprovider.IsNodeClaimNotFound(err) {
				t.Errorf("%s: %v, want not found", id, err)
			}
		}
	})
}

// AWI-194, AWI-198: many reads are few calls, and an unknown id fails no one else's.
func TestGetMany(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &account{}
		for i := range 450 {
			a.add(fmt.Sprintf("i-%03d", i), "running")
		}
		c := client(t, a)
		var wg sync.WaitGroup
		for i := range 451 {
			wg.Go(func() {
				id := fmt.Sprintf("i-%03d", i)
				if got, err := c.Get(t.Context(), id); i < 450 && (err != nil || got.ID != id) || i == 450 && !cloudprovider.IsNodeClaimNotFound(err) {
					t.Errorf("%s: %+v, %v", id, got, err)
				}
			})
		}
		wg.Wait()
		if n := a.count("DescribeInstances"); n != 3 {
			t.Errorf("%d calls for 451 instances, want 3 of up to 200", n)
		}
	})
}

// AWN-265, AWI-204, AWI-206, API-421: the filters, all pages, each once, by id.
func TestList(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &account{pageSize: 3}
		for i := range 10 {
			a.add(fmt.Sprintf("i-%d", 9-i), "running")
		}
		a.add("i-gone", "terminated")
		a.add("i-ending", "shutting-down")
		a.instances = append(a.instances, ec2types.Instance{InstanceId: aws.String("i-foreign"), State: &ec2types.InstanceState{Name: "running"},
			Tags: tags(awsv1.TagClusterName, "other", awsv1.TagNodePool, "p", awsv1.TagNodeClass, "c")})
		got, err := client(t, a).List(t.Context())
		if err != nil || len(got) != 11 || !slices.IsSortedFunc(got, func(x, y instances.Instance) int { return strings.Compare(x.ID, y.ID) }) {
			t.Errorf("%d instances, %v", len(got), err)
		}
		if n := *a.described[0].MaxResults; n != 1000 {
			t.Errorf("pages of %d", n)
		}
		if got, err := client(t, &account{}).List(t.Context()); err != nil || len(got) != 0 {
			t.Errorf("an empty account: %v, %v", got, err)
		}
	})
}

// CP-LIST-05: never part of the list. An answer that goes round in circles ends.
func TestListIsWhole(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &account{pageSize: 2, failPage: 3}
		for i := range 10 {
			a.add(fmt.Sprintf("i-%d", i), "running")
		}
		if got, err := client(t, a).List(t.Context()); err == nil || got != nil || !cloudprovider.IsTransient(err) {
			t.Errorf("a page is missing: %d instances, %v", len(got), err)
		}
		api := mock.NewMockEC2API(gomock.NewController(t))
		c, err := instances.New(instances.Options{EC2: api, Cluster: "demo"})
		if err != nil {
			t.Fatal(err)
		}
		api.EXPECT().DescribeInstances(gomock.Any(), gomock.Any()).MaxTimes(3).
			Return(&ec2.DescribeInstancesOutput{NextToken: aws.String("again")}, nil)
		if got, err := c.List(t.Context()); err == nil {
			t.Errorf("an endless answer: %v", got)
		}
		api.EXPECT().DescribeInstances(gomock.Any(), gomock.Any()).Return(nil, nil)
		if _, err := c.List(t.Context()); err == nil {
			t.Error("no answer at all is an empty list")
		}
	})
}

// Faults of reading: throttling is waited for inside the batch, refusals name the permission, a context ends.
func TestReadFaults(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &account{failures: []error{apiError("RequestLimitExceeded", ""), apiError("RequestLimitExceeded", "")}}
		a.add("i-1", "running")
		c := client(t, a)
		if _, err := c.Get(t.Context(), "i-1"); err != nil || a.count("DescribeInstances") != 3 {
			t.Errorf("throttled twice: %v after %d calls", err, a.count("DescribeInstances"))
		}
		a.failures = []error{apiError("UnauthorizedOperation", "not authorized to perform: ec2:DescribeInstances")}
		if _, err := c.Get(t.Context(), "i-1"); !cloudprovider.IsUnauthorized(err) || !strings.Contains(err.Error(), "ec2:DescribeInstances") {
			t.Errorf("refused: %v", err)
		}
		for range 20 {
			a.failures = append(a.failures, apiError("RequestLimitExceeded", ""))
		}
		if _, err := c.Get(t.Context(), "i-1"); !cloudprovider.IsThrottled(err) || len(a.failures) != 20-batch.DefaultAttempts {
			t.Errorf("throttled for ever: %v after %d calls", err, 20-len(a.failures))
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		if _, err := c.Get(ctx, "i-1"); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a hasty caller: %v", err)
		}
	})
}

// CP-CREATE-02: instances are found by their claim's UID, many claims with one call.
func TestByClaim(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &account{}
		a.add("i-2", "running", launch.TagNodeClaimUID, "uid-1")
		a.add("i-1", "pending", launch.TagNodeClaimUID, "uid-1")
		a.add("i-3", "terminated", launch.TagNodeClaimUID, "uid-1")
		a.add("i-4", "shutting-down", launch.TagNodeClaimUID, "uid-2")
		c := client(t, a)
		var one, two, three instances.Claim
		var wg sync.WaitGroup
		wg.Go(func() { one, _ = c.ByClaim(t.Context(), "uid-1") })
		wg.Go(func() { two, _ = c.ByClaim(t.Context(), "uid-2") })
		wg.Go(func() { three, _ = c.ByClaim(t.Context(), "uid-3") })
		wg.Wait()
		if len(one.Live) != 2 || one.Live[0].ID != "i-1" || !slices.Equal(one.Dead, []string{"i-3"}) {
			t.Errorf("uid-1: %+v", one)
		}
		if len(two.Live) != 0 || !slices.Equal(two.Dead, []string{"i-4"}) || len(three.Live)+len(three.Dead) != 0 {
			t.Errorf("uid-2: %+v, uid-3: %+v", two, three)
		}
		if n := a.count("DescribeInstances"); n != 1 {
			t.Errorf("%d calls, want 1", n)
		}
	})
}

// CP-LIST-02: what was launched just now is there although EC2 does not show it yet, and not for ever.
func TestRemember(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &account{}
		c := client(t, a)
		c.Remember(instances.Instance{ID: "i-new", State: "pending", LaunchTime: time.Now(), Tags: map[string]string{
			launch.TagNodeClaimUID: "uid-1", awsv1.TagClusterName: "demo",
		}})
		there := func() bool {
			listed, err := c.List(t.Context())
			got, getErr := c.Get(t.Context(), "i-new")
			claim, claimErr := c.ByClaim(t.Context(), "uid-1")
			if err != nil || claimErr != nil {
				t.Fatal(err, claimErr)
			}
			if n := len(listed) + len(claim.Live); getErr == nil && got.ID == "i-new" && n == 2 {
				return true
			} else if n != 0 || !cloudprovider.IsNodeClaimNotFound(getErr) {
				t.Errorf("%d entries, %v: the ways to find it disagree", n, getErr)
			}
			return false
		}
		if !there() {
			t.Error("a new instance is not there")
		}
		if other, err := c.ByClaim(t.Context(), "uid-2"); err != nil || len(other.Live) != 0 {
			t.Errorf("another claim has %+v, %v", other, err)
		}
		time.Sleep(launch.Visibility)
		if there() {
			t.Error("an instance that EC2 never showed is there after a minute")
		}
		a.add("i-new", "running", launch.TagNodeClaimUID, "uid-1")
		if !there() {
			t.Error("EC2 shows it")
		}
	})
}

// AWI-195, AWI-198, AWI-207: ends are merged; what is unknown, or protected, fails alone.
func TestTerminate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &account{}
		for i := range 300 {
			if i == 77 {
				a.add("i-077", "running", "protected", "")
				continue
			}
			a.add(fmt.Sprintf("i-%03d", i), "running")
		}
		var attempts []batch.Attempt
		c := client(t, a, func(o *instances.Options) { o.Observe = func(at batch.Attempt) { attempts = append(attempts, at) } })
		var wg sync.WaitGroup
		for i := range 303 {
			wg.Go(func() {
				err := c.Terminate(t.Context(), instances.Instance{ID: fmt.Sprintf("i-%03d", i)})
				switch {
				case i == 77:
					if err == nil || cloudprovider.IsNodeClaimNotFound(err) {
						t.Errorf("the protected one: %v", err)
					}
				case i >= 300:
					if !cloudprovider.IsNodeClaimNotFound(err) {
						t.Errorf("unknown %d: %v", i, err)
					}
				case err != nil:
					t.Errorf("%d: %v", i, err)
				}
			})
		}
		wg.Wait()
		first := 0
		for _, call := range a.calls {
			if call == "TerminateInstances" {
				first++
			}
		}
		if len(attempts) == 0 || attempts[0].Size != 303 || first > 30 {
			t.Errorf("%d calls, first attempt %+v: want one lot, divided for the protected one", first, attempts[0])
		}
		before := a.count("TerminateInstances")
		if err := c.Terminate(t.Context(), instances.Instance{ID: "i-001"}); err != nil || a.count("TerminateInstances") != before+1 {
			t.Errorf("a second time: %v", err)
		}
	})
}

// AWI-198: answers that name one unknown instance of many at a time don't cost a call for each of them. What is left is
// told as passing, not as gone.
func TestTerminateUnknownBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &account{names: 1}
		c := client(t, a)
		var gone, passing atomic.Int64
		var wg sync.WaitGroup
		for i := range 400 {
			wg.Go(func() {
				switch err := c.Terminate(t.Context(), instances.Instance{ID: fmt.Sprintf("i-%03d", i)}); {
				case cloudprovider.IsNodeClaimNotFound(err):
					gone.Add(1)
				case cloudprovider.IsTransient(err):
					passing.Add(1)
				default:
					t.Errorf("%d: %v", i, err)
				}
			})
		}
		wg.Wait()
		if calls := a.count("TerminateInstances"); calls > 200 || gone.Load() == 0 || gone.Load()+passing.Load() != 400 {
			t.Errorf("%d calls for 400 instances, %d gone, %d to be tried again", calls, gone.Load(), passing.Load())
		}
	})
}

// AWI-195: nothing is divided when the trouble is everybody's.
func TestTerminateThrottled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &account{}
		for range 4 {
			a.failures = append(a.failures, apiError("RequestLimitExceeded", ""))
		}
		a.add("i-1", "running")
		a.add("i-2", "running")
		c := client(t, a)
		var wg sync.WaitGroup
		for _, id := range []string{"i-1", "i-2"} {
			wg.Go(func() {
				if err := c.Terminate(t.Context(), instances.Instance{ID: id}); !cloudprovider.IsThrottled(err) {
					t.Errorf("got %v", err)
				}
			})
		}
		wg.Wait()
		if n := a.count("TerminateInstances"); n != 4 {
			t.Errorf("%d calls, want 4 attempts", n)
		}
	})
}

// An instance that is ended before EC2 shows it is ending, not running.
func TestTerminateUnseen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &account{}
		a.add("i-new", "pending")
		c := client(t, a)
		c.Remember(instances.Instance{ID: "i-new", State: "pending", LaunchTime: time.Now(), Tags: map[string]string{awsv1.TagClusterName: "demo"}})
		if err := c.Terminate(t.Context(), instances.Instance{ID: "i-new"}); err != nil {
			t.Fatal(err)
		}
		a.instances = nil
		if got, err := c.Get(t.Context(), "i-new"); err != nil || !got.Terminating() {
			t.Errorf("got %+v, %v", got, err)
		}
	})
}

// AWN-261, AWN-263, AWI-201, OPP-13: only what is missing is tagged, and equal tags of many with one call.
func TestTag(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &account{}
		for i := range 100 {
			a.add(fmt.Sprintf("i-%d", i), "running")
		}
		c := client(t, a)
		var wg sync.WaitGroup
		for i := range 101 {
			wg.Go(func() {
				err := c.Tag(t.Context(), instances.Instance{ID: fmt.Sprintf("i-%d", i)}, map[string]string{"a": "1", "b": "2"})
				if i == 100 != cloudprovider.IsNodeClaimNotFound(err) {
					t.Errorf("%d: %v", i, err)
				}
			})
		}
		wg.Wait()
		if n := a.count("CreateTags"); n != 2 {
			t.Errorf("%d calls for 100 instances and an unknown one, want 2", n)
		}
		i, err := c.Get(t.Context(), "i-7")
		if err != nil || i.Tags["a"] != "1" {
			t.Fatalf("%+v, %v", i, err)
		}
		if err := c.Tag(t.Context(), i, nil); err != nil || a.count("CreateTags") != 2 {
			t.Errorf("no tags: %v", err)
		}
		missing := c.MissingTags(i, "claim", "uid", "node")
		if len(missing) != 2 || missing["Name"] != "node" || missing[awsv1.TagNodeClaim] != "claim" {
			t.Errorf("missing are %v", missing)
		}
		i.Tags["Name"], i.Tags[awsv1.TagNodeClaim] = "mine", "claim"
		if missing := c.MissingTags(i, "claim", "uid", "node"); missing != nil {
			t.Errorf("missing are %v although all are there", missing)
		}
	})
}

// AWI-136: a zone that is shifted away from is left alone.
func TestShiftedZone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &account{}
		a.add("i-1", "running")
		c := client(t, a, func(o *instances.Options) { o.Shifted = func(_, id string) bool { return id == "use1-az1" } })
		i, err := c.Get(t.Context(), "i-1")
		if err != nil {
			t.Fatal(err)
		}
		for _, err := range []error{c.Terminate(t.Context(), i), c.Tag(t.Context(), i, map[string]string{"a": "b"})} {
			if !cloudprovider.IsTransient(err) || !strings.Contains(err.Error(), "us-east-1a") {
				t.Errorf("got %v", err)
			}
		}
		if len(a.calls) != 1 {
			t.Errorf("calls %q", a.calls)
		}
	})
}

func TestNewRefuses(t *testing.T) {
	if _, err := instances.New(instances.Options{Cluster: "x"}); err == nil {
		t.Error("no client")
	}
	if _, err := instances.New(instances.Options{EC2: mock.NewMockEC2API(gomock.NewController(t))}); err == nil {
		t.Error("no cluster")
	}
}

func ptr(in *ec2types.Instance) *instances.Instance {
	i := instances.FromEC2(in)
	return &i
}

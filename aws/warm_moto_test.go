package aws_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/drawknife/drawknife/api/option"
	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/aws"
	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	"github.com/drawknife/drawknife/aws/internal/instances"
	"github.com/drawknife/drawknife/cloudprovider"
)

// warmSite is a site whose node class keeps one instance, with a clock that can be set forward.
func warmSite(t *testing.T) (s *site, forward func(time.Duration)) {
	t.Helper()
	var ahead atomic.Int64
	s = newSite(t, func(_ *aws.Config, o *aws.Options) {
		o.Clock = option.ClockFunc(func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) })
	})
	s.class.Annotations = map[string]string{awsv1.AnnotationWarmPool: "1"}
	return s, func(d time.Duration) { ahead.Add(int64(d)) }
}

func warmClaim(name string) *v1.NodeClaim {
	c := claim(name, in(v1.CapacityTypeLabelKey, v1.CapacityTypeOnDemand))
	if c.Annotations == nil {
		c.Annotations = map[string]string{}
	}
	c.Annotations[v1.NodePoolHashAnnotationKey], c.Annotations[v1.NodePoolHashVersionAnnotationKey] = "11", v1.NodePoolHashVersion
	return c
}

// consolidated is the stored claim of a node that consolidation removes.
func consolidated(c, created *v1.NodeClaim) *v1.NodeClaim {
	c = c.DeepCopy()
	c.Status = created.Status
	for key, value := range created.Annotations {
		c.Annotations[key] = value
	}
	for key, value := range created.Labels {
		c.Labels[key] = value
	}
	c.Status.Conditions = []metav1.Condition{{Type: v1.ConditionDisruptionReason, Status: metav1.ConditionTrue, Reason: string(v1.DisruptionReasonEmpty)}}
	return c
}

func (s *site) create(c *v1.NodeClaim) *v1.NodeClaim {
	s.t.Helper()
	created, err := s.provider.Create(s.t.Context(), c)
	if err != nil {
		s.t.Fatal(err)
	}
	return created
}

// state of an instance, and the value of a tag.
func (s *site) state(c *v1.NodeClaim, key string) (state ec2types.InstanceStateName, tag string) {
	s.t.Helper()
	id, err := instances.ParseProviderID(c.Status.ProviderID)
	if err != nil {
		s.t.Fatal(err)
	}
	out, err := s.api.DescribeInstances(context.Background(), &ec2.DescribeInstancesInput{InstanceIds: []string{id}})
	if err != nil {
		s.t.Fatal(err)
	}
	i := out.Reservations[0].Instances[0]
	for _, t := range i.Tags {
		if awssdk.ToString(t.Key) == key {
			tag = awssdk.ToString(t.Value)
		}
	}
	return i.State.Name, tag
}

// gone fails if the provider still shows an instance of the claim.
func (s *site) gone(c *v1.NodeClaim) {
	s.t.Helper()
	ctx := s.t.Context()
	if err := s.provider.Delete(ctx, c); !cloudprovider.IsNodeClaimNotFound(err) {
		s.t.Errorf("a second Delete: %v", err)
	}
	if _, err := s.provider.Get(ctx, c.Status.ProviderID); !cloudprovider.IsNodeClaimNotFound(err) {
		s.t.Errorf("Get: %v", err)
	}
	if list, err := s.provider.List(ctx); err != nil || len(list) > 0 {
		s.t.Errorf("List: %v, %v", list, err)
	}
	none := func(context.Context) ([]aws.ClaimRef, error) { return nil, nil }
	if ended, _, err := s.provider.CollectOrphans(ctx, none, 0); err != nil || len(ended) > 0 {
		s.t.Errorf("collected %v, %v", ended, err)
	}
}

// An instance of a consolidated node is stopped, belongs to no claim, and starts for the next claim that is configured alike.
func TestMotoWarmPool(t *testing.T) {
	s, forward := warmSite(t)
	ctx := t.Context()
	first := warmClaim("first")
	created := s.create(first)
	forward(10 * time.Minute)
	first = consolidated(first, created)
	if err := s.provider.Delete(ctx, first); err != nil {
		t.Fatal(err)
	}
	if state, uid := s.state(first, "drawknife.dev/nodeclaim-uid"); state != "stopped" || uid == "" || uid == "uid-first" {
		t.Fatalf("the instance is %s, of claim %q", state, uid)
	}
	s.gone(first)
	if _, err := s.provider.Maintain(ctx); err != nil {
		t.Fatal(err)
	}

	other := warmClaim("other")
	other.Annotations[v1.NodePoolHashAnnotationKey] = "12" // another template: another launch
	different := s.create(other)
	if different.Status.ProviderID == created.Status.ProviderID {
		t.Fatal("a claim of another template got the warm instance")
	}
	launches := s.cloud.Calls("CreateFleet")
	second := warmClaim("second")
	for range 2 { // a repeated Create returns the same instance
		again := s.create(second)
		if again.Status.ProviderID != created.Status.ProviderID || again.UID != second.UID || again.Labels[v1.CapacityTypeLabelKey] != v1.CapacityTypeOnDemand || again.Status.Capacity.Cpu().IsZero() {
			t.Errorf("got %s %s %v, want %s", again.Status.ProviderID, again.UID, again.Labels, created.Status.ProviderID)
		}
	}
	if state, uid := s.state(created, "drawknife.dev/nodeclaim-uid"); state != "running" || uid != "uid-second" || s.cloud.Calls("CreateFleet") != launches {
		t.Errorf("the instance is %s, of claim %q, after %d launches", state, uid, s.cloud.Calls("CreateFleet"))
	}
	if got, err := s.provider.Get(ctx, created.Status.ProviderID); err != nil || got.UID != second.UID || got.Name != second.Name {
		t.Errorf("got %v, %v", got, err)
	}
	// Without a reason that says the instance is sound, it is terminated.
	second.Status.ProviderID = created.Status.ProviderID
	if err := s.provider.Delete(ctx, second); err != nil {
		t.Fatal(err)
	}
	if state, _ := s.state(created, ""); state != "terminated" {
		t.Errorf("the instance is %s", state)
	}
}

// A pool has no more instances than its class says, and none after the annotation is gone.
func TestMotoWarmPoolSize(t *testing.T) {
	s, forward := warmSite(t)
	ctx := t.Context()
	a, b := warmClaim("a"), warmClaim("b")
	createdA, createdB := s.create(a), s.create(b)
	forward(10 * time.Minute)
	for _, c := range []*v1.NodeClaim{consolidated(a, createdA), consolidated(b, createdB)} {
		if err := s.provider.Delete(ctx, c); err != nil {
			t.Fatal(err)
		}
	}
	stateA, _ := s.state(createdA, "")
	stateB, _ := s.state(createdB, "")
	if stateA != "stopped" || stateB != "terminated" {
		t.Errorf("the instances are %s and %s", stateA, stateB)
	}
	delete(s.class.Annotations, awsv1.AnnotationWarmPool)
	if _, err := s.provider.Maintain(ctx); err != nil {
		t.Fatal(err)
	}
	if state, _ := s.state(createdA, ""); state != "terminated" {
		t.Errorf("the class keeps none, and the instance is %s", state)
	}
}

// Failures never leave a claim without an instance, or an instance without anybody who ends it.
func TestMotoWarmPoolFailures(t *testing.T) {
	s, forward := warmSite(t)
	ctx := t.Context()
	// It can't be stopped: it is terminated.
	a := warmClaim("a")
	created := s.create(a)
	forward(10 * time.Minute)
	a = consolidated(a, created)
	s.cloud.Fail("StopInstances", 1, 400, "UnsupportedOperation", "it can't be stopped")
	if err := s.provider.Delete(ctx, a); err != nil {
		t.Fatal(err)
	}
	if state, _ := s.state(created, ""); state != "terminated" {
		t.Errorf("the instance that can't be stopped is %s", state)
	}
	// It can't be started: it stays, and another one is launched.
	b := warmClaim("b")
	created = s.create(b)
	forward(10 * time.Minute)
	if err := s.provider.Delete(ctx, consolidated(b, created)); err != nil {
		t.Fatal(err)
	}
	s.cloud.Fail("StartInstances", 3, 500, "InsufficientInstanceCapacity", "no capacity to start it") // for each attempt of the SDK
	c := warmClaim("c")
	launched := s.create(c)
	if launched.Status.ProviderID == created.Status.ProviderID {
		t.Error("an instance was used that did not start")
	}
	if state, uid := s.state(created, "drawknife.dev/nodeclaim-uid"); state != "stopped" || uid == "uid-c" {
		t.Errorf("the warm instance is %s, of claim %q", state, uid)
	}
	// The process dies after the instance was given to the claim, and before it was started: the next Create starts it.
	id, err := instances.ParseProviderID(created.Status.ProviderID)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.api.CreateTags(ctx, &ec2.CreateTagsInput{Resources: []string{id}, Tags: []ec2types.Tag{
		{Key: awssdk.String("drawknife.dev/nodeclaim-uid"), Value: awssdk.String("uid-d")}, {Key: awssdk.String("karpenter.sh/nodeclaim"), Value: awssdk.String("d")},
	}}); err != nil {
		t.Fatal(err)
	}
	if d := s.create(warmClaim("d")); d.Status.ProviderID != created.Status.ProviderID {
		t.Errorf("got %s, want %s", d.Status.ProviderID, created.Status.ProviderID)
	}
	if state, _ := s.state(created, ""); state != "running" {
		t.Errorf("the instance of the claim is %s", state)
	}
}

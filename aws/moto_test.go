package aws_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	corev1 "k8s.io/api/core/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/aws"
	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	"github.com/drawknife/drawknife/aws/internal/launch"
	"github.com/drawknife/drawknife/aws/internal/mototest"
	"github.com/drawknife/drawknife/aws/sdk"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/fake/build"
	"github.com/drawknife/drawknife/fake/build/ec2build"
	"github.com/drawknife/drawknife/internal/moto"
)

// These tests run the provider through the real AWS SDK against moto, an EC2 that nobody here wrote. Where moto differs from
// EC2 it says so where it matters; what the proxy before it makes good is listed at moto.Cloud. In addition:
//
//   - moto launches the first override of a fleet, whatever the allocation strategy asks for.
//   - moto's answer of DescribeInstanceTypes comes in one page whatever MaxResults says.
//   - moto's images have no architecture of use here; node classes are given images by hand, which moto does not check.
//   - moto checks no permissions, no quotas and no signatures: refusals come from the proxy.

var server moto.Server

func TestMain(m *testing.M) { os.Exit(server.Run(m)) }

// site is a provider on moto.
type site struct {
	t        testing.TB
	cloud    *moto.Cloud
	api      sdk.EC2API
	class    *awsv1.EC2NodeClass
	provider *aws.Provider
}

func sdkConfig(cloud *moto.Cloud) sdk.Config {
	settings := mototest.Settings(cloud)
	settings.MaxAttempts = ptr(2) // tests count calls
	return settings
}

func newSite(t testing.TB, change ...func(*aws.Config, *aws.Options)) *site {
	t.Helper()
	cloud := server.Start(t)
	clients, err := sdk.Load(t.Context(), sdkConfig(cloud))
	if err != nil {
		t.Fatal(err)
	}
	s := &site{t: t, cloud: cloud, api: clients.EC2(sdk.Urgent)}
	s.class = s.nodeClass("default")
	config := aws.Config{ClusterName: "demo", SDK: sdkConfig(cloud), Tags: map[string]string{"common": "yes"}}
	options := aws.Options{
		NodeClasses: aws.NodeClasses{"default": s.class},
		Cluster:     aws.StaticCluster{Endpoint: "https://api.demo.example", ServiceCIDR: "172.20.0.0/16"},
		Logger:      slog.New(slog.NewTextHandler(io.Discard, nil)),
	}
	for _, c := range change {
		c(&config, &options)
	}
	if s.provider, err = aws.New(t.Context(), config, options); err != nil {
		t.Fatal(err)
	}
	return s
}

// nodeClass is a class with the status that its controller would find in moto: the subnets and the security group of the
// default VPC.
func (s *site) nodeClass(name string) *awsv1.EC2NodeClass {
	s.t.Helper()
	subnets, err := s.api.DescribeSubnets(s.t.Context(), &ec2.DescribeSubnetsInput{})
	if err != nil || len(subnets.Subnets) != 6 {
		s.t.Fatalf("moto's default VPC has %v subnets, %v", subnets, err)
	}
	groups, err := s.api.DescribeSecurityGroups(s.t.Context(), &ec2.DescribeSecurityGroupsInput{})
	if err != nil || len(groups.SecurityGroups) == 0 {
		s.t.Fatal(err)
	}
	options := []ec2build.Option{
		func(c *awsv1.EC2NodeClass) {
			c.Spec.AMIFamily, c.Spec.Tags = awsv1.AMIFamilyAL2023, map[string]string{"team": "web"}
			c.Spec.AMISelectorTerms = []awsv1.AMISelectorTerm{{ID: "ami-12c6146b"}}
		},
		// moto knows these images; any architecture will do for them.
		ec2build.Image("ami-12c6146b", "amd64"), ec2build.Image("ami-03cf127a", "arm64"),
		ec2build.Profile("node-profile"), ec2build.SecurityGroups(*groups.SecurityGroups[0].GroupId), ec2build.Ready(time.Unix(1.7e9, 0)),
	}
	for _, found := range subnets.Subnets {
		options = append(options, ec2build.Subnet(*found.SubnetId, *found.AvailabilityZone, *found.AvailabilityZoneId))
	}
	return ec2build.Class(name, options...)
}

func nodePool() *v1.NodePool { return build.Pool("pool", ec2build.Of("default")) }

func classRef(name string) v1.NodeClassReference {
	return v1.NodeClassReference{Group: awsv1.Group, Kind: "EC2NodeClass", Name: name}
}

// claim is for a small instance of one of two types.
func claim(name string, more ...build.ClaimOption) *v1.NodeClaim {
	options := []build.ClaimOption{
		build.UID("uid-" + name), build.OfPool("pool"), ec2build.Of("default"), build.CPU("1"),
		in(corev1.LabelInstanceTypeStable, "m5.large", "m6g.large"),
	}
	return build.Claim(name, append(options, more...)...)
}

func in(key string, values ...string) build.RequirementOption {
	return build.Requires(key, "In", values...)
}

// all instances of the account that are not terminated.
func (s *site) instances() []ec2types.Instance {
	s.t.Helper()
	out, err := s.api.DescribeInstances(context.Background(), &ec2.DescribeInstancesInput{Filters: []ec2types.Filter{
		{Name: awssdk.String("instance-state-name"), Values: []string{"pending", "running"}},
	}})
	if err != nil {
		s.t.Fatal(err)
	}
	var all []ec2types.Instance
	for _, r := range out.Reservations {
		all = append(all, r.Instances...)
	}
	return all
}

// The whole life of instances: types, launch on-demand and spot, tags, get, list, tag, delete. CP-CREATE-01, CP-CREATE-05,
// AWN-274, CP-CREATE-08, CP-GET-01, CP-LIST-01, CP-LIST-04, CP-LIST-06, CP-DELETE-01, CP-DELETE-02, AWI-141 to AWI-148.
func TestMotoLife(t *testing.T) {
	s := newSite(t)
	ctx := t.Context()
	all, err := s.provider.InstanceTypes(ctx, nodePool())
	if err != nil || len(all) < 1000 {
		t.Fatalf("%d instance types, %v", len(all), err)
	}
	if err := cloudprovider.ValidateCatalog(all, s.provider.Describe()); err != nil {
		t.Fatal(err)
	}
	for _, capacityType := range []string{"spot", "on-demand"} {
		want := claim(capacityType, in(v1.CapacityTypeLabelKey, capacityType), in(corev1.LabelTopologyZone, "us-east-1b"))
		before := want.DeepCopy()
		created, err := s.provider.Create(ctx, want)
		if err != nil {
			t.Fatal(err)
		}
		if fmt.Sprint(want) != fmt.Sprint(before) {
			t.Error("the claim handed in was changed (CP-CREATE-06)")
		}
		for key, value := range map[string]string{
			v1.CapacityTypeLabelKey: capacityType, corev1.LabelTopologyZone: "us-east-1b", corev1.LabelTopologyRegion: mototest.Region,
			v1.NodePoolLabelKey: "pool", awsv1.LabelInstanceTenancy: "default", corev1.LabelOSStable: "linux",
		} {
			if created.Labels[key] != value {
				t.Errorf("label %s is %q, want %q", key, created.Labels[key], value)
			}
		}
		if !strings.HasPrefix(created.Status.ProviderID, "aws:///us-east-1b/i-") || created.Status.ImageID == "" || created.UID != want.UID ||
			created.Status.Capacity.Cpu().Value() != 2 || created.Status.Allocatable.Cpu().MilliValue() < 1000 {
			t.Errorf("created %+v", created)
		}
		if created.Annotations[awsv1.AnnotationHash] == "" || created.Annotations[awsv1.AnnotationInstanceProfileName] != "node-profile" {
			t.Errorf("annotations %v", created.Annotations)
		}
		got, err := s.provider.Get(ctx, created.Status.ProviderID)
		if err != nil || got.Name != want.Name || got.UID != want.UID || fmt.Sprint(got.Labels) != fmt.Sprint(created.Labels) ||
			fmt.Sprint(got.Status) != fmt.Sprint(created.Status) {
			t.Errorf("Get differs from Create (CP-GET-01): %v\n got %+v\nwant %+v", err, got, created)
		}
	}
	tags := map[string]string{}
	for _, tag := range s.instances()[0].Tags {
		tags[*tag.Key] = *tag.Value
	}
	for key, value := range map[string]string{
		"kubernetes.io/cluster/demo": "owned", "eks:eks-cluster-name": "demo", "karpenter.sh/nodepool": "pool", "karpenter.k8s.aws/ec2nodeclass": "default",
		"karpenter.sh/nodeclaim": "spot", launch.TagNodeClaimUID: "uid-spot", "team": "web", "common": "yes",
	} {
		if tags[key] != value {
			t.Errorf("tag %s is %q, want %q (AWI-200)", key, tags[key], value)
		}
	}
	listed, err := s.provider.List(ctx)
	if err != nil || len(listed) != 2 || listed[0].Status.ProviderID > listed[1].Status.ProviderID || listed[0].Name == "" {
		t.Fatalf("listed %v, %v", listed, err)
	}
	joined := listed[0].DeepCopy()
	joined.Status.NodeName = "ip-10-0-0-1"
	if err := s.provider.TagNode(ctx, joined); err != nil {
		t.Error(err)
	}
	for _, c := range listed {
		// moto terminates at once, EC2 takes its time: the second call may find it shutting down or gone.
		if err := s.provider.Delete(ctx, c); err != nil {
			t.Error(err)
		}
		for range 2 {
			if err := s.provider.Delete(ctx, c); cloudprovider.IgnoreNodeClaimNotFound(err) != nil {
				t.Error(err)
			}
		}
		if _, err := s.provider.Get(ctx, c.Status.ProviderID); err != nil && !cloudprovider.IsNodeClaimNotFound(err) {
			t.Error(err)
		}
	}
	if left := s.instances(); len(left) != 0 {
		t.Errorf("%d instances are left", len(left))
	}
}

// AWI-233: the record of API calls. A node costs one CreateFleet, and the launch template, the count of free addresses and the look
// for an earlier instance are shared. Ending it costs a shared read and a shared termination. Nothing is called at rest.
func TestMotoCallsPerNode(t *testing.T) {
	s := newSite(t)
	ctx := t.Context()
	if _, err := s.provider.Create(ctx, claim("first")); err != nil {
		t.Fatal(err)
	}
	s.cloud.Count()
	const nodes = 20
	claims := make([]*v1.NodeClaim, nodes)
	var wg sync.WaitGroup
	for i := range nodes {
		wg.Go(func() {
			var err error
			if claims[i], err = s.provider.Create(ctx, claim(fmt.Sprint("node-", i))); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if t.Failed() {
		return
	}
	count := s.cloud.Count()
	t.Logf("%d nodes were launched with %v", nodes, count)
	// Launches that are equal share a call; a slow computer may miss the moment in which all of them are there.
	if count["CreateFleet"] > nodes/2 || count["DescribeInstances"] > 3 || len(count) != 2 {
		t.Errorf("%d nodes took %v: want a few shared CreateFleet and DescribeInstances and nothing else", nodes, count)
	}
	for _, c := range claims {
		wg.Go(func() {
			if err := s.provider.Delete(ctx, c); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	count = s.cloud.Count()
	t.Logf("%d nodes were ended with %v", nodes, count)
	if count["DescribeInstances"] > 3 || count["TerminateInstances"] > 3 || len(count) != 2 {
		t.Errorf("ending %d nodes took %v", nodes, count)
	}
}

// CP-CREATE-02, CP-CREATE-09: answers that are lost, once or for ever, and calls that are repeated, by this process or the
// next, leave one instance for a claim.
func TestMotoOnce(t *testing.T) {
	for name, c := range map[string]struct {
		lost  int
		fails bool
	}{"one answer is lost": {1, false}, "all answers are lost": {2, true}} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t)
			s.cloud.Lose("CreateFleet", c.lost)
			_, err := s.provider.Create(t.Context(), claim("a"))
			if (err != nil) != c.fails || err != nil && !cloudprovider.IsTransient(err) {
				t.Fatalf("got %v", err)
			}
			again, err := s.provider.Create(t.Context(), claim("a"))
			if err != nil {
				t.Fatal(err)
			}
			next := s.nextProcess()
			third, err := next.Create(t.Context(), claim("a"))
			if err != nil || third.Status.ProviderID != again.Status.ProviderID {
				t.Errorf("the next process got %v, %v", third, err)
			}
			if all := s.instances(); len(all) != 1 {
				t.Errorf("%d instances for one claim", len(all))
			}
			if err := next.Delete(t.Context(), third); err != nil {
				t.Fatal(err)
			}
			fourth, err := next.Create(t.Context(), claim("a"))
			if err != nil || fourth.Status.ProviderID == third.Status.ProviderID {
				t.Errorf("once it is gone, another may be launched: %v, %v", fourth, err)
			}
		})
	}
}

// nextProcess is a provider that knows nothing of what s did.
func (s *site) nextProcess() *aws.Provider {
	s.t.Helper()
	p, err := aws.New(s.t.Context(), aws.Config{ClusterName: "demo", SDK: sdkConfig(s.cloud)}, aws.Options{
		NodeClasses: aws.NodeClasses{"default": s.class}, Cluster: aws.StaticCluster{Endpoint: "https://api.demo.example", ServiceCIDR: "172.20.0.0/16"},
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return p
}

// A thousand callers for one claim get one instance.
func TestMotoOneClaimManyCallers(t *testing.T) {
	s := newSite(t)
	ids := make([]string, 50)
	var wg sync.WaitGroup
	for i := range ids {
		wg.Go(func() {
			if created, err := s.provider.Create(t.Context(), claim("a")); err != nil {
				t.Error(err)
			} else {
				ids[i] = created.Status.ProviderID
			}
		})
	}
	wg.Wait()
	slices.Sort(ids)
	if distinct := slices.Compact(ids); len(distinct) != 1 || len(s.instances()) != 1 {
		t.Errorf("%d instances, %q", len(s.instances()), distinct)
	}
}

// CP-CREATE-07, AWI-101, AWI-102: stock-outs. What is found empty is remembered, the rest is launched, and when nothing is
// left the error names it all.
func TestMotoOutOfStock(t *testing.T) {
	s := newSite(t)
	sold := "m6g.large"
	s.cloud.OutOfStock("InsufficientInstanceCapacity", func(instanceType, _, _ string) bool {
		return sold == "all" || instanceType == sold
	})
	created, err := s.provider.Create(t.Context(), claim("a", in(v1.CapacityTypeLabelKey, "spot")))
	if err != nil || created.Labels[corev1.LabelInstanceTypeStable] != "m5.large" {
		t.Fatalf("got %v, %v", created, err)
	}
	closed := func() (n int) {
		all, err := s.provider.InstanceTypes(t.Context(), nodePool())
		if err != nil {
			t.Fatal(err)
		}
		for _, it := range all {
			for i := range it.Offerings {
				if o := &it.Offerings[i]; slices.Contains([]string{"m5.large", "m6g.large"}, it.Name) && o.CapacityType() == "spot" && !o.Available {
					n++
				}
			}
		}
		return n
	}
	if n := closed(); n != 5 {
		t.Errorf("%d spot offerings are closed, want the 5 of m6g.large", n)
	}
	sold = "all"
	_, err = s.provider.Create(t.Context(), claim("b", in(v1.CapacityTypeLabelKey, "spot")))
	if !cloudprovider.IsInsufficientCapacity(err) || len(cloudprovider.ExhaustedOfferings(err)) != 10 || closed() != 10 {
		t.Errorf("%d are named, %d closed, want 10: %v", len(cloudprovider.ExhaustedOfferings(err)), closed(), err)
	}
	before := s.cloud.Calls("CreateFleet")
	_, err = s.provider.Create(t.Context(), claim("c", in(v1.CapacityTypeLabelKey, "spot")))
	if !cloudprovider.IsInsufficientCapacity(err) || s.cloud.Calls("CreateFleet") != before {
		t.Errorf("what is known to be empty was asked for again: %v", err)
	}
}

// Throttling: short bursts are waited out, long ones are an error that says so; none is repeated without end.
func TestMotoThrottled(t *testing.T) {
	s := newSite(t)
	s.cloud.Fail("CreateFleet", 1, 503, "RequestLimitExceeded", "Request limit exceeded.")
	if _, err := s.provider.Create(t.Context(), claim("a")); err != nil {
		t.Errorf("throttled once: %v", err)
	}
	s.cloud.Fail("CreateFleet", 1000, 503, "RequestLimitExceeded", "Request limit exceeded.")
	before := s.cloud.Calls("CreateFleet")
	_, err := s.provider.Create(t.Context(), claim("b"))
	if !cloudprovider.IsThrottled(err) || s.cloud.Calls("CreateFleet")-before != 2 {
		t.Errorf("throttled for ever: %v after %d calls, want 2 attempts", err, s.cloud.Calls("CreateFleet")-before)
	}
	if n := len(s.instances()); n != 1 {
		t.Errorf("%d instances, want 1", n)
	}
}

// A missing permission is named, wherever it is met (CP-ERROR-05). API-435: calls are refused by the name of their action.
func TestMotoRefused(t *testing.T) {
	const message = "You are not authorized to perform this operation. User: arn:aws:iam::1:user/x is not authorized to perform: ec2:%s on resource: *"
	s := newSite(t)
	for action, call := range map[string]func() error{
		"CreateFleet": func() error { _, err := s.provider.Create(t.Context(), claim("a")); return err },
		"CreateLaunchTemplate": func() error {
			_, err := s.provider.Create(t.Context(), claim("b", in(corev1.LabelArchStable, "amd64")))
			return err
		},
		"DescribeInstances": func() error { _, err := s.provider.List(t.Context()); return err },
		"TerminateInstances": func() error {
			created, err := s.provider.Create(t.Context(), claim("c"))
			if err != nil {
				t.Fatal(err)
			}
			return s.provider.Delete(t.Context(), created)
		},
		"DescribeInstanceTypes": func() error { return s.startError() },
	} {
		t.Run(action, func(t *testing.T) {
			s = newSite(t)
			s.cloud.Fail(action, 1000, 403, "UnauthorizedOperation", fmt.Sprintf(message, action))
			err := call()
			if !errors.Is(err, cloudprovider.Unauthorized) || !strings.Contains(err.Error(), "ec2:"+action) {
				t.Errorf("got %v", err)
			}
		})
	}
}

func (s *site) startError() error {
	_, err := aws.New(s.t.Context(), aws.Config{ClusterName: "demo", SDK: sdkConfig(s.cloud)}, aws.Options{
		NodeClasses: aws.NodeClasses{}, Cluster: aws.StaticCluster{},
	})
	return err
}

// CP-LIST-05: pages. moto gives everything at once, so the proxy makes them; a page that can't be read is an error, not a
// shorter list.
func TestMotoPages(t *testing.T) {
	s := newSite(t)
	for i := range 7 {
		if _, err := s.provider.Create(t.Context(), claim(fmt.Sprint(i))); err != nil {
			t.Fatal(err)
		}
	}
	s.cloud.Paged("DescribeInstances", "reservationSet", 2)
	// A process that has launched nothing itself has only EC2 to go by.
	other := s.nextProcess()
	if all, err := other.List(t.Context()); err != nil || len(all) != 7 {
		t.Errorf("%d instances, %v", len(all), err)
	}
	s.cloud.Handle("DescribeInstances", func(call moto.Call, next func(moto.Call) moto.Answer) moto.Answer {
		answer := next(call)
		answer.Cut = call.Form.Get("NextToken") == "2"
		return answer
	})
	if all, err := other.List(t.Context()); err == nil {
		t.Errorf("the third page is cut off in the middle: %d instances and no error", len(all))
	}
}

// AWI-173: a launch template that somebody has deleted is made again and the launch goes on.
func TestMotoLaunchTemplateGone(t *testing.T) {
	s := newSite(t)
	if _, err := s.provider.Create(t.Context(), claim("a")); err != nil {
		t.Fatal(err)
	}
	found, err := s.api.DescribeLaunchTemplates(t.Context(), &ec2.DescribeLaunchTemplatesInput{})
	if err != nil || len(found.LaunchTemplates) == 0 {
		t.Fatal(err)
	}
	for _, l := range found.LaunchTemplates {
		if _, err := s.api.DeleteLaunchTemplate(t.Context(), &ec2.DeleteLaunchTemplateInput{LaunchTemplateId: l.LaunchTemplateId}); err != nil {
			t.Fatal(err)
		}
	}
	// moto fails on such a fleet in a way of its own; EC2 says this.
	s.cloud.Fail("CreateFleet", 1, http.StatusBadRequest, "InvalidLaunchTemplateName.NotFoundException", "At least one of the launch templates specified in the request does not exist.")
	if _, err := s.provider.Create(t.Context(), claim("b")); err != nil {
		t.Fatal(err)
	}
	if found, err = s.api.DescribeLaunchTemplates(t.Context(), &ec2.DescribeLaunchTemplatesInput{}); err != nil || len(found.LaunchTemplates) == 0 {
		t.Errorf("no launch template was made: %v", err)
	}
}

// AWI-206, AWI-208, CP-LIST-01: instances without a claim are collected, those of other clusters and of claims are not.
func TestMotoCollect(t *testing.T) {
	s := newSite(t)
	var kept []aws.ClaimRef
	for _, name := range []string{"a", "b", "c"} {
		created, err := s.provider.Create(t.Context(), claim(name))
		if err != nil {
			t.Fatal(err)
		}
		if name != "b" {
			kept = append(kept, aws.ClaimRef{UID: created.UID, ProviderID: created.Status.ProviderID})
		}
	}
	foreign, err := aws.New(t.Context(), aws.Config{ClusterName: "other", SDK: sdkConfig(s.cloud)}, aws.Options{
		NodeClasses: aws.NodeClasses{"default": s.class}, Cluster: aws.StaticCluster{Endpoint: "https://x.example", ServiceCIDR: "172.20.0.0/16"},
	})
	if err != nil {
		t.Fatal(err)
	}
	theirs, err := foreign.Create(t.Context(), claim("z"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.provider.Get(t.Context(), theirs.Status.ProviderID); !cloudprovider.IsNodeClaimNotFound(err) {
		t.Errorf("another cluster's instance: %v (CP-GET-03)", err)
	}
	if err := s.provider.Delete(t.Context(), theirs); !cloudprovider.IsNodeClaimNotFound(err) {
		t.Errorf("another cluster's instance: %v (CP-DELETE-04)", err)
	}
	claims := func(context.Context) ([]aws.ClaimRef, error) { return kept, nil }
	if ended, _, err := s.provider.CollectOrphans(t.Context(), claims, 0); err != nil || len(ended) != 0 {
		t.Errorf("young instances were collected: %q, %v", ended, err)
	}
	later, err := aws.New(t.Context(), aws.Config{ClusterName: "demo", SDK: sdkConfig(s.cloud)}, aws.Options{
		NodeClasses: aws.NodeClasses{"default": s.class}, Cluster: aws.StaticCluster{}, Clock: tomorrow{},
	})
	if err != nil {
		t.Fatal(err)
	}
	if ended, again, err := later.CollectOrphans(t.Context(), claims, 0); err != nil || len(ended) != 1 || again != 10*time.Second {
		t.Errorf("collected %q, again after %s, %v", ended, again, err)
	}
	if n := len(s.instances()); n != 3 {
		t.Errorf("%d instances are left, want 3", n)
	}
}

type tomorrow struct{}

func (tomorrow) Now() time.Time { return time.Now().Add(24 * time.Hour) }

package nodeclass

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/google/go-cmp/cmp"
	"go.uber.org/mock/gomock"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	v1 "github.com/drawknife/drawknife/api/v1"
	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	"github.com/drawknife/drawknife/aws/sdk/mock"
	"github.com/drawknife/drawknife/cloudprovider"
)

// dryRuns are the answers of EC2 to the dry runs that follow, the same each time.
type dryRuns struct {
	fleet, instances error
	fleets           []*ec2.CreateFleetInput
	runs             []*ec2.RunInstancesInput
}

func expect(api *mock.MockEC2API) *dryRuns {
	d := &dryRuns{fleet: apiError("DryRunOperation", "would have"), instances: apiError("DryRunOperation", "would have")}
	retries := func(options []func(*ec2.Options)) {
		o := ec2.Options{RetryMaxAttempts: 3}
		for _, option := range options {
			option(&o)
		}
		if o.RetryMaxAttempts != 1 {
			panic("a dry run is retried")
		}
	}
	api.EXPECT().CreateFleet(gomock.Any(), gomock.Any(), gomock.Any()).AnyTimes().DoAndReturn(
		func(_ context.Context, in *ec2.CreateFleetInput, options ...func(*ec2.Options)) (*ec2.CreateFleetOutput, error) {
			retries(options)
			d.fleets = append(d.fleets, in)
			return nil, d.fleet
		})
	api.EXPECT().RunInstances(gomock.Any(), gomock.Any(), gomock.Any()).AnyTimes().DoAndReturn(
		func(_ context.Context, in *ec2.RunInstancesInput, options ...func(*ec2.Options)) (*ec2.RunInstancesOutput, error) {
			retries(options)
			d.runs = append(d.runs, in)
			return nil, d.instances
		})
	return d
}

// AWN-162, AWN-163, AWN-164, AWN-365, AWI-177: what is asked.
func TestDryRun(t *testing.T) {
	r, w, api := newReconciler(t)
	d := expect(api)
	c := reconcile(t, r, class()).NodeClass
	wantCondition(t, c, awsv1.ConditionReady, "True", "Ready")
	if len(w.templates) != 1 || len(d.fleets) != 1 || len(d.runs) != 1 {
		t.Fatalf("%d templates, %d fleets, %d runs", len(w.templates), len(d.fleets), len(d.runs))
	}
	template, fleet, run := w.templates[0], d.fleets[0], d.runs[0]
	if got := fleet.LaunchTemplateConfigs[0]; !*fleet.DryRun || *got.LaunchTemplateSpecification.LaunchTemplateName != template.Name || len(got.Overrides) != 2 ||
		*got.Overrides[1].SubnetId != "subnet-2" || got.Overrides[0].InstanceType != "m5.large" || fleet.TargetCapacitySpecification.DefaultTargetCapacityType != "on-demand" {
		t.Errorf("%+v", fleet)
	}
	if !*run.DryRun || *run.MinCount != 1 || *run.MaxCount != 1 || *run.LaunchTemplate.Version != "$Latest" || run.InstanceType != "m5.large" ||
		len(run.NetworkInterfaces) != 1 || *run.NetworkInterfaces[0].SubnetId != "subnet-1" || *run.NetworkInterfaces[0].DeviceIndex != 0 {
		t.Errorf("%+v", run)
	}
	tags := map[string]string{}
	for _, tag := range run.TagSpecifications[2].Tags {
		tags[*tag.Key] = *tag.Value
	}
	want := map[string]string{"kubernetes.io/cluster/demo": "owned", "eks:eks-cluster-name": "demo", "karpenter.sh/nodepool": "", "karpenter.k8s.aws/ec2nodeclass": "std"}
	if diff := cmp.Diff(want, tags); diff != "" || run.TagSpecifications[2].ResourceType != "network-interface" {
		t.Error(diff)
	}

	// The class's own interfaces are put into the subnet.
	c.Spec.NetworkInterfaces = []awsv1.NetworkInterface{{InterfaceType: "interface"}, {NetworkCardIndex: 1, DeviceIndex: 1, InterfaceType: "efa-only"}}
	reconcile(t, r, c)
	if got := d.runs[1].NetworkInterfaces; len(got) != 2 || *got[1].SubnetId != "subnet-1" || *got[1].NetworkCardIndex != 1 || *got[1].InterfaceType != "efa-only" {
		t.Errorf("%+v", got)
	}
}

// AWN-164, AWN-365: the next subnet may do; if none does, the first one's answer counts.
func TestSubnetBySubnet(t *testing.T) {
	r, _, api := newReconciler(t)
	api.EXPECT().CreateFleet(gomock.Any(), gomock.Any(), gomock.Any()).AnyTimes().Return(nil, apiError("DryRunOperation", ""))
	answers := map[string]error{"subnet-1": apiError("UnauthorizedOperation", "first"), "subnet-2": apiError("DryRunOperation", "")}
	api.EXPECT().RunInstances(gomock.Any(), gomock.Any(), gomock.Any()).AnyTimes().DoAndReturn(
		func(_ context.Context, in *ec2.RunInstancesInput, _ ...func(*ec2.Options)) (*ec2.RunInstancesOutput, error) {
			return nil, answers[*in.NetworkInterfaces[0].SubnetId]
		})
	c := reconcile(t, r, class()).NodeClass
	wantCondition(t, c, awsv1.ConditionValidationSucceeded, "True", "ValidationSucceeded")
	answers["subnet-2"] = apiError("InvalidSubnetID.NotFound", "second")
	c.Annotations["look"] = "again"
	c = reconcile(t, r, c).NodeClass
	if got := wantCondition(t, c, awsv1.ConditionValidationSucceeded, "False", "RunInstancesAuthCheckFailed"); !strings.Contains(got.Message, "first") {
		t.Errorf("%q", got.Message)
	}
}

// AWN-165, AWN-166, AWN-365: what an answer means; which are remembered is seen by whether EC2 is asked again (AWN-159).
func TestVerdicts(t *testing.T) {
	denied := apiError("UnauthorizedOperation", "You are not authorized to perform this operation. User: x is not authorized to perform: ec2:CreateFleet on resource: y with an explicit deny in a service control policy. Encoded authorization failure message: AbC-1_2")
	for name, c := range map[string]struct {
		template, fleet, run error
		own                  bool
		status               metav1.ConditionStatus
		reason, text         string
		again                bool // EC2 is asked again by the next round
		failed               bool
	}{
		"all may be":        {status: "True", reason: "ValidationSucceeded"},
		"no template":       {template: denied, status: "False", reason: "CreateLaunchTemplateAuthCheckFailed", text: "launch templates may not be created: "},
		"no fleet":          {fleet: denied, status: "False", reason: "CreateFleetAuthCheckFailed", text: "denied by a service control policy"},
		"no instance":       {run: denied, status: "False", reason: "RunInstancesAuthCheckFailed", text: "instances may not be run: "},
		"long user data":    {run: apiError("InvalidUserData.Malformed", "User data is limited to 16384 bytes"), status: "False", reason: "UserDataSizeLimitExceeded"},
		"throttled":         {fleet: apiError("RequestLimitExceeded", "slow down"), status: "Unknown", reason: "ResolutionFailed", again: true},
		"no profile of own": {run: apiError("InvalidParameterValue", "Value (own) for parameter iamInstanceProfile.name is invalid. Invalid IAM Instance Profile name"), own: true, status: "False", reason: "InstanceProfileNotFound", again: true},
		"profile not known": {run: apiError("InvalidParameterValue", "Invalid IAM Instance Profile name"), status: "Unknown", reason: "ResolutionFailed", again: true},
		"something else":    {fleet: apiError("InvalidParameterCombination", "odd"), status: "Unknown", reason: "ResolutionFailed", text: "odd", again: true, failed: true},
	} {
		t.Run(name, func(t *testing.T) {
			r, w, api := newReconciler(t)
			d := expect(api)
			w.fail["template"] = c.template
			if c.fleet != nil {
				d.fleet = c.fleet
			}
			if c.run != nil {
				d.instances = c.run
			}
			looked := class(func(nc *awsv1.EC2NodeClass) {
				if c.own {
					nc.Spec.Role, nc.Spec.InstanceProfile = nil, ptr("own")
				}
			})
			for range 2 {
				result, err := r.Reconcile(t.Context(), Observed{NodeClass: looked})
				if (err != nil) != c.failed {
					t.Errorf("error %v", err)
				}
				looked = result.NodeClass
				got := wantCondition(t, looked, awsv1.ConditionValidationSucceeded, c.status, c.reason)
				if !strings.Contains(got.Message, c.text) || strings.Contains(got.Message, "Encoded") {
					t.Errorf("message %q", got.Message)
				}
				if wait := result.RequeueAfter; (wait == noVerdictEvery) != c.again {
					t.Errorf("looks again after %s", wait)
				}
			}
			asked := 0
			for _, call := range w.calls {
				if call == "template" {
					asked++
				}
			}
			if again := asked == 2; again != c.again {
				t.Errorf("EC2 was asked %d times", asked)
			}
		})
	}
}

// AWN-159: half an hour, or until something of the class changes; the order of what was found is nothing.
func TestVerdictLifetime(t *testing.T) {
	r, w, api := newReconciler(t)
	d := expect(api)
	c := reconcile(t, r, class()).NodeClass
	asked := func(what string, want int, change func()) {
		t.Helper()
		change()
		c = reconcile(t, r, c).NodeClass
		if len(d.fleets) != want {
			t.Errorf("%s: asked %d times, want %d", what, len(d.fleets), want)
		}
	}
	asked("nothing changed", 1, func() {})
	asked("other order", 1, func() { w.subnets = []awsv1.Subnet{w.subnets[1], w.subnets[0]} })
	asked("29 minutes", 1, func() { w.now = w.now.Add(29 * time.Minute) })
	asked("30 minutes", 2, func() { w.now = w.now.Add(time.Minute) })
	asked("annotation", 3, func() { c.Annotations["look"] = "again" })
	asked("subnet", 4, func() { w.subnets = w.subnets[:1] })
	asked("image", 5, func() { w.images = []awsv1.AMI{image("ami-2", "amd64", corev1.NodeSelectorOpDoesNotExist)} })
	asked("profile", 6, func() { w.profile = "demo_2" })
	asked("spec", 7, func() { c.Spec.Tags = map[string]string{"a": "b"}; c.Generation++ })
}

// AWN-333: an instance that was launched shows as much as a dry run, as long as the class is what it was launched from.
func TestLaunchProvesPermission(t *testing.T) {
	launchedAt := time.Date(2026, 7, 31, 23, 45, 0, 0, time.UTC) // a quarter of an hour before the first round
	for name, test := range map[string]struct {
		change func(*v1.NodeClaim)
		class  func(*awsv1.EC2NodeClass)
		asked  int
	}{
		"launched":         {},
		"not launched yet": {change: func(c *v1.NodeClaim) { c.Status.Conditions = nil }, asked: 1},
		"launched long ago": {change: func(c *v1.NodeClaim) {
			c.Conditions().SetFalse(v1.ConditionLaunched, "x", "", launchedAt.Add(-time.Hour))
			c.Conditions().SetTrue(v1.ConditionLaunched, launchedAt.Add(-time.Hour))
		}, asked: 1},
		"another hash":          {change: func(c *v1.NodeClaim) { c.Annotations[awsv1.AnnotationHash] = "1" }, asked: 1},
		"a hash of another age": {change: func(c *v1.NodeClaim) { c.Annotations[awsv1.AnnotationHashVersion] = "v1" }, asked: 1},
		"another profile":       {change: func(c *v1.NodeClaim) { c.Annotations[awsv1.AnnotationInstanceProfileName] = "demo_0" }, asked: 1},
		"another image":         {change: func(c *v1.NodeClaim) { c.Status.ImageID = "ami-0" }, asked: 1},
	} {
		t.Run(name, func(t *testing.T) {
			r, w, api := newReconciler(t)
			d := expect(api)
			c := class()
			claim := &v1.NodeClaim{Status: v1.NodeClaimStatus{ImageID: "ami-1"}}
			claim.Annotations = map[string]string{awsv1.AnnotationHash: c.Hash(""), awsv1.AnnotationHashVersion: awsv1.HashVersion, awsv1.AnnotationInstanceProfileName: "demo_1"}
			claim.Conditions().SetTrue(v1.ConditionLaunched, launchedAt)
			if test.change != nil {
				test.change(claim)
			}
			round := func() {
				t.Helper()
				result, err := r.Reconcile(t.Context(), Observed{NodeClass: c, NodeClaims: []*v1.NodeClaim{claim}})
				if err != nil {
					t.Fatal(err)
				}
				c = result.NodeClass
				wantCondition(t, c, awsv1.ConditionReady, "True", "Ready")
			}
			round()
			if len(d.fleets) != test.asked {
				t.Errorf("asked %d times, want %d", len(d.fleets), test.asked)
			}
			// It proves nothing about what was not launched: who asks for a new look gets one (AWN-159, AWN-365).
			c.Annotations["look"] = "again"
			round()
			if len(d.fleets) != test.asked+1 {
				t.Errorf("after an annotation: asked %d times, want %d", len(d.fleets), test.asked+1)
			}
			// And once the launch is as old as a verdict may be, EC2 is asked.
			w.now = w.now.Add(VerdictLifetime)
			round()
			if len(d.fleets) != test.asked+2 {
				t.Errorf("half an hour later: asked %d times, want %d", len(d.fleets), test.asked+2)
			}
		})
	}
}

// API-262: a class of the first generation has a name that no API takes; its fields are judged as others'.
func TestFaultsOfTheFirstGeneration(t *testing.T) {
	c := class()
	c.Name = "v1alpha5/default"
	if faults := Faults(c, awsv1.Features{}); len(faults) > 0 {
		t.Errorf("of a good class: %+v", faults)
	}
	c.Spec.SubnetSelectorTerms = nil
	if faults := Faults(c, awsv1.Features{}); len(faults) != 1 || !strings.Contains(faults[0].Message, "spec.subnetSelectorTerms") {
		t.Errorf("of one without subnets: %+v", faults)
	}
}

// AWN-157, AWN-260: what is told of a class with several faults, in order.
func TestFaults(t *testing.T) {
	c := class(func(c *awsv1.EC2NodeClass) {
		c.Spec.AMISelectorTerms = []awsv1.AMISelectorTerm{{Alias: "bottlerocket@latest"}}
		c.Spec.Kubelet = &awsv1.KubeletConfiguration{
			EvictionHard: map[string]string{"nonsense": "5%"}, MaxPods: ptr(intstr.FromString("cpus * 2")), PodsPerCore: ptr(int32(2)),
		}
		c.Spec.InstanceStorePolicy = ptr(awsv1.InstanceStorePolicy("RAID7"))
		c.Spec.Tags = map[string]string{"eks:eks-cluster-name": "x"}
	})
	cures := []func(){
		func() { c.Spec.Kubelet.EvictionHard = nil },
		func() { c.Spec.Kubelet.MaxPods = nil },
		func() { c.Spec.Kubelet = nil },
		func() { c.Spec.InstanceStorePolicy = nil },
		func() { c.Spec.Tags = nil },
	}
	r, _, _ := newReconciler(t, withoutDryRuns)
	for i, reason := range []string{"InvalidKubeletConfiguration", "KubeletExpressionsDisabled", "UnsupportedKubeletConfiguration", "InvalidSpec", "TagValidationFailed"} {
		got := wantCondition(t, reconcile(t, r, c).NodeClass, awsv1.ConditionValidationSucceeded, "False", reason)
		if !strings.HasPrefix(got.Message, "spec.") {
			t.Errorf("%s: %q", reason, got.Message)
		}
		cures[i]()
	}
	wantCondition(t, reconcile(t, r, c).NodeClass, awsv1.ConditionValidationSucceeded, "True", "ValidationSucceeded")
}

// API-384: a role that a conversion left open is no role.
func TestRolePlaceholder(t *testing.T) {
	c := class(func(c *awsv1.EC2NodeClass) { c.Spec.Role, c.Spec.InstanceProfile = ptr("$KARPENTER_NODE_ROLE"), nil })
	faults := Faults(c, awsv1.Features{})
	if len(faults) != 1 || faults[0].Reason != awsv1.ReasonInvalidSpec || !strings.Contains(faults[0].Message, "spec.role") {
		t.Errorf("faults: %+v", faults)
	}
}

// AWN-157, AWN-158, AWN-344: AL2023 needs the service range, wherever it comes from; others don't.
func TestServiceRange(t *testing.T) {
	r, w, _ := newReconciler(t, withoutDryRuns)
	w.cluster.ServiceCIDR = ""
	result, err := r.Reconcile(t.Context(), Observed{NodeClass: class()})
	if !cloudprovider.IsNodeClassNotReady(err) {
		t.Errorf("%v", err)
	}
	wantCondition(t, result.NodeClass, awsv1.ConditionValidationSucceeded, "False", "ClusterCIDRResolutionFailed")
	w.cluster.ServiceCIDR = "10.0.0.0/16"
	wantCondition(t, reconcile(t, r, result.NodeClass).NodeClass, awsv1.ConditionReady, "True", "Ready")
	w.fail["cluster"] = cloudprovider.NewTransientError(errors.New("EKS is in trouble"))
	result, _ = r.Reconcile(t.Context(), Observed{NodeClass: class()})
	wantCondition(t, result.NodeClass, awsv1.ConditionValidationSucceeded, "Unknown", "ResolutionFailed")
	w.fail, w.cluster.ServiceCIDR = nil, ""
	al2 := class(func(c *awsv1.EC2NodeClass) { c.Spec.AMISelectorTerms[0].Alias = "al2@latest" })
	wantCondition(t, reconcile(t, r, al2).NodeClass, awsv1.ConditionReady, "True", "Ready")
}

// AWN-183: user data that breaks the format of its family is the class's fault.
func TestMalformedUserData(t *testing.T) {
	r, _, api := newReconciler(t)
	d := expect(api)
	c := class(func(c *awsv1.EC2NodeClass) {
		c.Spec.AMISelectorTerms[0].Alias = "bottlerocket@latest"
		c.Spec.UserData = ptr("[settings")
	})
	wantCondition(t, reconcile(t, r, c).NodeClass, awsv1.ConditionValidationSucceeded, "False", "UserDataMalformed")
	if len(d.fleets) != 0 {
		t.Error("EC2 was asked all the same")
	}
}

// AWN-185: user data that a node reads although it is odd does not stop a class, and is told.
func TestOddUserData(t *testing.T) {
	r, _, api := newReconciler(t)
	expect(api)
	c := class(func(c *awsv1.EC2NodeClass) {
		c.Spec.UserData = ptr("MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=\"//\"\n\n--//\nContent-Type: text/x-shellscript\n\n#!/bin/sh\necho secret\n--//\n")
	})
	result := reconcile(t, r, c)
	wantCondition(t, result.NodeClass, awsv1.ConditionValidationSucceeded, "True", "ValidationSucceeded")
	if len(result.Events) != 1 || result.Events[0].Reason != EventUserDataWarning || !strings.Contains(result.Events[0].Message, "line 9: the last line opens another part") {
		t.Errorf("events are %+v", result.Events)
	}
	if again := reconcile(t, r, result.NodeClass); len(again.Events) != 0 {
		t.Errorf("told in each round: %+v", again.Events)
	}
}

// AWN-003, AWN-160, AWN-365: the instance of the dry run, whichever of the pools that share the class would launch it.
func TestCandidate(t *testing.T) {
	_, w, _ := newReconciler(t)
	c := class()
	c.Status.AMIs = w.images
	pool := func(key string, values ...string) *v1.NodePool {
		p := &v1.NodePool{}
		p.Spec.Template.Spec.Requirements = []v1.NodeSelectorRequirementWithMinValues{{Key: key, Operator: corev1.NodeSelectorOpIn, Values: values}}
		return p
	}
	const typeKey = corev1.LabelInstanceTypeStable
	for name, test := range map[string]struct {
		pools  []*v1.NodePool
		change func(*awsv1.EC2NodeClass)
		want   string
	}{
		"no pool":                       {want: "m5.large"},
		"a pool's":                      {pools: []*v1.NodePool{pool(typeKey, "g5.large"), pool(typeKey, "c5.large")}, want: "c5.large"},
		"with GPUs if the pool says so": {pools: []*v1.NodePool{pool(typeKey, "g5.large")}, want: "g5.large"},
		"a pool that nothing suits":     {pools: []*v1.NodePool{pool(typeKey, "x1.large")}, want: "m5.large"},
		"no image boots":                {pools: []*v1.NodePool{pool(typeKey, "a1.large")}, want: ""},
		"windows": {pools: []*v1.NodePool{pool(typeKey, "c5.large")}, want: "m5.large",
			change: func(c *awsv1.EC2NodeClass) { c.Spec.AMISelectorTerms[0].Alias = "windows2022@latest" }},
		"neither usual type": {want: "a1.large", change: func(c *awsv1.EC2NodeClass) {
			c.Status.AMIs = []awsv1.AMI{image("ami-arm", "arm64", corev1.NodeSelectorOpDoesNotExist)}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			c := c.DeepCopy()
			types := w.types
			if test.change != nil {
				test.change(c)
			}
			if name == "neither usual type" {
				types = slices.DeleteFunc(slices.Clone(types), func(i *cloudprovider.InstanceType) bool { return i.Name == "m5.large" })
			}
			wants, err := poolWants(test.pools)
			if err != nil {
				t.Fatal(err)
			}
			got, err := candidate(c, types, wants)
			if err != nil {
				t.Fatal(err)
			}
			if name := ""; got != nil {
				name = got.Name
				if name != test.want {
					t.Errorf("%s, want %s", name, test.want)
				}
			} else if test.want != "" {
				t.Errorf("none, want %s", test.want)
			}
		})
	}
}

// AWN-161, AWN-365: dedicated hardware if a pool asks for it.
func TestTenancyOfDryRun(t *testing.T) {
	r, w, api := newReconciler(t)
	expect(api)
	pool := &v1.NodePool{}
	pool.Spec.Template.Spec.Requirements = []v1.NodeSelectorRequirementWithMinValues{{Key: awsv1.LabelInstanceTenancy, Operator: corev1.NodeSelectorOpIn, Values: []string{"dedicated", "default"}}}
	reconcile(t, r, class(), pool)
	if got := w.templates[0].Data.Placement.Tenancy; got != "dedicated" {
		t.Errorf("tenancy %s", got)
	}
	r.verdicts.forget("u-1")
	reconcile(t, r, class(), &v1.NodePool{})
	if got := w.templates[1].Data.Placement.Tenancy; got != "default" {
		t.Errorf("tenancy %s", got)
	}
}

// AWN-332: an answer that is no verdict does not leave the condition saying that something is missing.
func TestOvertaken(t *testing.T) {
	r, w, api := newReconciler(t)
	d := expect(api)
	d.fleet = apiError("RequestLimitExceeded", "slow down")
	w.subnets = nil
	c := reconcile(t, r, class()).NodeClass
	wantCondition(t, c, awsv1.ConditionValidationSucceeded, "False", "DependenciesNotReady")
	w.subnets = []awsv1.Subnet{{ID: "subnet-1"}}
	c = reconcile(t, r, c).NodeClass
	wantCondition(t, c, awsv1.ConditionValidationSucceeded, "Unknown", "ResolutionFailed")
	if aws.ToString(d.fleets[0].LaunchTemplateConfigs[0].Overrides[0].SubnetId) != "subnet-1" {
		t.Error("another subnet")
	}
}

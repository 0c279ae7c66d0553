package nodeclass

import (
	"context"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	"github.com/drawknife/drawknife/aws/internal/amis"
	"github.com/drawknife/drawknife/aws/internal/instanceprofile"
	"github.com/drawknife/drawknife/aws/internal/launchtemplates"
	"github.com/drawknife/drawknife/aws/internal/mototest"
	"github.com/drawknife/drawknife/aws/internal/placement"
	"github.com/drawknife/drawknife/aws/internal/reservations"
	"github.com/drawknife/drawknife/aws/internal/subnets"
	"github.com/drawknife/drawknife/aws/launchtemplate"
	"github.com/drawknife/drawknife/aws/sdk"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/internal/moto"
)

var server moto.Server

func TestMain(m *testing.M) { os.Exit(server.Run(m)) }

// AWN-071, AWN-072, AWN-075, AWN-140, AWN-152, AWN-162 to AWN-164, AWN-168 to AWN-170: a class from its first sight to its
// end, and an instance that is launched from it meanwhile, in an AWS that is not ours.
func TestMotoLifeOfAClass(t *testing.T) {
	ctx, cloud := t.Context(), server.Start(t)
	raw, roles := ec2.NewFromConfig(mototest.Config(cloud)), iam.NewFromConfig(mototest.Config(cloud))
	clients := mototest.Clients(t, cloud)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}

	// What there is in the account: two tagged subnets and a group of a VPC, a placement group, a role.
	all, err := raw.DescribeSubnets(ctx, &ec2.DescribeSubnetsInput{})
	must(err)
	tagged := []string{*all.Subnets[0].SubnetId, *all.Subnets[1].SubnetId}
	slices.Sort(tagged)
	_, err = raw.CreateTags(ctx, &ec2.CreateTagsInput{Resources: tagged, Tags: []ec2types.Tag{{Key: aws.String("discovery"), Value: aws.String("demo")}}})
	must(err)
	group, err := raw.CreateSecurityGroup(ctx, &ec2.CreateSecurityGroupInput{GroupName: aws.String("nodes"), Description: aws.String("nodes"), VpcId: all.Subnets[0].VpcId})
	must(err)
	image, err := raw.DescribeImages(ctx, &ec2.DescribeImagesInput{Filters: []ec2types.Filter{{Name: aws.String("architecture"), Values: []string{"x86_64"}}}})
	must(err)
	_, err = roles.CreateRole(ctx, &iam.CreateRoleInput{RoleName: aws.String("nodes"), AssumeRolePolicyDocument: aws.String("{}")})
	must(err)

	now := func() time.Time { return time.Date(2026, 8, 1, 0, 0, 0, 0, time.UTC) }
	api := clients.EC2(sdk.Normal)
	resolver, err := amis.New(api, clients.SSM(sdk.Normal), amis.Options{Now: now})
	must(err)
	profiles, err := instanceprofile.New(instanceprofile.Options{IAM: clients.IAM(sdk.Normal), Region: "us-east-1", ClusterName: "demo", Now: now})
	must(err)
	store, err := launchtemplates.New(api, launchtemplates.Options{ClusterName: "demo", Now: now})
	must(err)
	tracker := subnets.New(subnets.Options{Now: now})
	r, err := New(Options{
		EC2: api, Network: NewFinder(api, FinderOptions{Counts: tracker, Now: now}), Images: resolver, Reservations: reservations.NewFinder(api, nil, now),
		Groups: placement.NewFinder(api, now), Profiles: profiles, Templates: store, Now: now,
		Cluster: func(context.Context) (Cluster, error) {
			return Cluster{Version: "1.33", Cluster: launchtemplate.Cluster{Name: "demo", Endpoint: "https://api.demo.example", ServiceCIDR: "172.20.0.0/16"}}, nil
		},
		InstanceTypes: func(context.Context, *awsv1.EC2NodeClass) ([]*cloudprovider.InstanceType, error) {
			return []*cloudprovider.InstanceType{machine("m5.large", "amd64", 0)}, nil
		},
	})
	must(err)
	// moto launches where EC2 would only say that it could.
	for _, action := range []string{"CreateFleet", "RunInstances"} {
		cloud.Handle(action, func(call moto.Call, next func(moto.Call) moto.Answer) moto.Answer {
			if call.Form.Get("DryRun") == "true" {
				return moto.Refusal(412, "DryRunOperation", "Request would have succeeded, but DryRun flag is set.")
			}
			return next(call)
		})
	}

	c := class(func(c *awsv1.EC2NodeClass) {
		c.Spec.SubnetSelectorTerms = []awsv1.SubnetSelectorTerm{{Tags: map[string]string{"discovery": "demo"}}, {ID: tagged[0]}}
		c.Spec.SecurityGroupSelectorTerms = []awsv1.SecurityGroupSelectorTerm{{Name: "node*"}}
		c.Spec.AMIFamily, c.Spec.AMISelectorTerms = awsv1.AMIFamilyAL2023, []awsv1.AMISelectorTerm{{ID: *image.Images[0].ImageId}}
	})
	c = reconcile(t, r, c).NodeClass
	wantCondition(t, c, awsv1.ConditionReady, "True", "Ready")
	found := []string{c.Status.Subnets[0].ID, c.Status.Subnets[1].ID}
	if slices.Sort(found); !slices.Equal(found, tagged) || len(c.Status.Subnets) != 2 || c.Status.Subnets[0].ZoneID == "" {
		t.Errorf("subnets %+v, want %v", c.Status.Subnets, tagged)
	}
	if free, ok := tracker.Free(tagged[0]); !ok || free == 0 {
		t.Errorf("free addresses: %d, %t", free, ok)
	}
	if got := c.Status.SecurityGroups; len(got) != 1 || got[0].ID != *group.GroupId || got[0].Name != "nodes" {
		t.Errorf("security groups %+v", got)
	}
	if got := c.Status.AMIs; len(got) != 1 || got[0].ID != *image.Images[0].ImageId {
		t.Errorf("images %+v", got)
	}
	profile, err := roles.GetInstanceProfile(ctx, &iam.GetInstanceProfileInput{InstanceProfileName: &c.Status.InstanceProfile})
	must(err)
	if *profile.InstanceProfile.Path != "/karpenter/us-east-1/demo/u-1/" || *profile.InstanceProfile.Roles[0].RoleName != "nodes" || len(profile.InstanceProfile.Tags) != 4 {
		t.Errorf("profile %+v", profile.InstanceProfile)
	}
	if store.Len() != 1 || cloud.Calls("CreateFleet") != 1 || cloud.Calls("RunInstances") != 1 {
		t.Errorf("%d templates, %d fleets, %d instances", store.Len(), cloud.Calls("CreateFleet"), cloud.Calls("RunInstances"))
	}

	known, err := r.options.Cluster(ctx)
	must(err)
	launchInto(t, api, raw, store, known.Cluster, c, now)

	// A group that is not there, as EC2 says it, since moto knows no groups; and a role that is not.
	cloud.Handle("DescribePlacementGroups", func(moto.Call, func(moto.Call) moto.Answer) moto.Answer {
		return moto.Refusal(400, "InvalidPlacementGroup.Unknown", "The Placement Group 'gone' is unknown.")
	})
	lost := c.DeepCopy()
	lost.Spec.PlacementGroupSelector, lost.Spec.Role = &awsv1.PlacementGroupSelector{Name: aws.String("gone")}, aws.String("gone")
	result, err := r.Reconcile(ctx, Observed{NodeClass: lost})
	if !cloudprovider.IsPermanent(err) {
		t.Errorf("a role that is not there: %v", err)
	}
	wantCondition(t, result.NodeClass, awsv1.ConditionPlacementGroupReady, "False", "PlacementGroupNotFound")

	deleted := metav1.NewTime(now())
	c.DeletionTimestamp = &deleted
	if c = reconcile(t, r, c).NodeClass; len(c.Finalizers) != 0 {
		t.Errorf("finalizers %v", c.Finalizers)
	}
	templates, err := raw.DescribeLaunchTemplates(ctx, &ec2.DescribeLaunchTemplatesInput{})
	must(err)
	left, err := roles.ListInstanceProfiles(ctx, &iam.ListInstanceProfilesInput{})
	must(err)
	if len(templates.LaunchTemplates) != 0 || len(left.InstanceProfiles) != 0 {
		t.Errorf("left: %d templates, %d profiles", len(templates.LaunchTemplates), len(left.InstanceProfiles))
	}
}

package launchtemplates

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"go.uber.org/mock/gomock"

	"github.com/drawknife/drawknife/api/requirements"
	v1 "github.com/drawknife/drawknife/api/v1"
	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	"github.com/drawknife/drawknife/aws/internal/launch"
	"github.com/drawknife/drawknife/aws/launchtemplate"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/fake/build"
	"github.com/drawknife/drawknife/fake/build/ec2build"
)

func instanceType(name string, pods int64) *cloudprovider.InstanceType {
	reserved := build.Offering("us-east-1a", v1.CapacityTypeReserved, 0)
	reserved.ReservationCapacity = 1
	reserved.Requirements = reserved.Requirements.With(
		requirements.In(awsv1.LabelCapacityReservationID, "cr-"+name), requirements.In(awsv1.LabelCapacityReservationType, "default"))
	return build.InstanceType(name, build.MaxPods(pods), build.Sold(reserved))
}

func request(capacityType string) launch.TemplateRequest {
	return launch.TemplateRequest{
		NodeClass: ec2build.Class("std", ec2build.Profile("demo"), ec2build.SecurityGroups("sg-1"), ec2build.Image("ami-1", "amd64"),
			func(c *awsv1.EC2NodeClass) { c.Spec.AMISelectorTerms[0].Alias = "bottlerocket@latest" }),
		NodeClaim:     build.Claim("blue-1", build.OfPool("blue")),
		InstanceTypes: []*cloudprovider.InstanceType{instanceType("b", 29), instanceType("a", 29), instanceType("c", 58)},
		CapacityType:  capacityType,
	}
}

func demoCluster(context.Context) (launchtemplate.Cluster, error) {
	return launchtemplate.Cluster{Name: "demo", Endpoint: "https://api.demo.example"}, nil
}

// AWN-232, AWN-233: a launch gets the templates its claim needs, with the types and the reservation each serves, tagged
// and with user data; the next one gets the same without a call.
func TestLaunches(t *testing.T) {
	s, api, _ := newStore(t)
	made := map[string]*ec2.CreateLaunchTemplateInput{}
	api.EXPECT().CreateLaunchTemplate(gomock.Any(), gomock.Any()).DoAndReturn(
		func(_ context.Context, in *ec2.CreateLaunchTemplateInput, _ ...func(*ec2.Options)) (*ec2.CreateLaunchTemplateOutput, error) {
			s.mu.Lock()
			defer s.mu.Unlock()
			made[*in.LaunchTemplateName] = in
			return created("x"), nil
		}).Times(2)
	launches := &Launches{Store: s, Cluster: demoCluster, Extend: func(d *ec2types.RequestLaunchTemplateData) { d.KeyName = ptr("key") }}
	first, err := launches.Ensure(t.Context(), request(v1.CapacityTypeSpot))
	if err != nil {
		t.Fatal(err)
	}
	if len(first) != 2 || !slices.Equal(first[0].InstanceTypes, []string{"a", "b"}) || !slices.Equal(first[1].InstanceTypes, []string{"c"}) || first[0].ImageID != "ami-1" {
		t.Errorf("templates are %+v", first)
	}
	in := made[first[0].Name]
	if in == nil || tag(in.TagSpecifications[0].Tags, awsv1.TagNodePool) != "blue" || *in.LaunchTemplateData.KeyName != "key" || *in.LaunchTemplateData.UserData == "" {
		t.Errorf("EC2 was told %+v", in)
	}
	again, err := launches.Ensure(t.Context(), request(v1.CapacityTypeSpot))
	if err != nil || len(again) != 2 || again[0].Name != first[0].Name {
		t.Errorf("again: %+v, %v", again, err)
	}
}

func TestLaunchesOfReservations(t *testing.T) {
	s, api, _ := newStore(t)
	api.EXPECT().CreateLaunchTemplate(gomock.Any(), gomock.Any()).Return(created("x"), nil).Times(3)
	launches := &Launches{Store: s, Cluster: demoCluster}
	templates, err := launches.Ensure(t.Context(), request(v1.CapacityTypeReserved))
	if err != nil || len(templates) != 3 || templates[0].ReservationID != "cr-a" || !slices.Equal(templates[0].InstanceTypes, []string{"a"}) {
		t.Errorf("%+v, %v", templates, err)
	}
	launches.Forget(templates[0].Name)
	if s.Len() != 2 {
		t.Errorf("knows %d", s.Len())
	}
}

func TestLaunchesErrors(t *testing.T) {
	s, _, _ := newStore(t)
	unknown := errors.New("not discovered yet")
	for _, tc := range []struct {
		name     string
		launches *Launches
		want     string
	}{
		{"nothing set", &Launches{}, "needs a Store"},
		{"unknown cluster", &Launches{Store: s, Cluster: func(context.Context) (launchtemplate.Cluster, error) { return launchtemplate.Cluster{}, unknown }}, "not discovered yet"},
		{"another cluster", &Launches{Store: s, Cluster: func(context.Context) (launchtemplate.Cluster, error) { return launchtemplate.Cluster{Name: "x"}, nil }}, "same name"},
		{"nothing to build", &Launches{Store: s, Cluster: func(context.Context) (launchtemplate.Cluster, error) {
			return launchtemplate.Cluster{Name: "demo"}, nil
		}}, "endpoint"},
	} {
		if _, err := tc.launches.Ensure(t.Context(), request(v1.CapacityTypeSpot)); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: error is %v", tc.name, err)
		}
	}
}

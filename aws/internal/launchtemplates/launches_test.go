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
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/drawknife/drawknife/api/requirements"
	v1 "github.com/drawknife/drawknife/api/v1"
	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	"github.com/drawknife/drawknife/aws/internal/launch"
	"github.com/drawknife/drawknife/aws/launchtemplate"
	"github.com/drawknife/drawknife/cloudprovider"
)

func instanceType(name string, pods int64) *cloudprovider.InstanceType {
	return &cloudprovider.InstanceType{
		Name:         name,
		Requirements: requirements.NewSet(requirements.In(corev1.LabelArchStable, "amd64")),
		Capacity:     corev1.ResourceList{corev1.ResourcePods: *resource.NewQuantity(pods, resource.DecimalSI)},
		Offerings: []cloudprovider.Offering{{
			Requirements: requirements.FromLabels(map[string]string{
				corev1.LabelTopologyZone: "us-east-1a", v1.CapacityTypeLabelKey: v1.CapacityTypeReserved,
				awsv1.LabelCapacityReservationID: "cr-" + name, awsv1.LabelCapacityReservationType: "default",
			}),
			Available: true, ReservationCapacity: 1,
		}},
	}
}

func request(capacityType string) launch.TemplateRequest {
	class := &awsv1.EC2NodeClass{ObjectMeta: metav1.ObjectMeta{Name: "std"}}
	class.Spec.AMISelectorTerms = []awsv1.AMISelectorTerm{{Alias: "bottlerocket@latest"}}
	class.Status.AMIs = []awsv1.AMI{{ID: "ami-1"}}
	class.Status.SecurityGroups = []awsv1.SecurityGroup{{ID: "sg-1"}}
	class.Status.InstanceProfile = "demo"
	return launch.TemplateRequest{
		NodeClass:     class,
		NodeClaim:     &v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "blue-1", Labels: map[string]string{v1.NodePoolLabelKey: "blue"}}},
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

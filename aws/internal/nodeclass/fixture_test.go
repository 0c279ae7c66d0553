package nodeclass

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/aws/smithy-go"
	"go.uber.org/mock/gomock"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/drawknife/drawknife/api/requirements"
	v1 "github.com/drawknife/drawknife/api/v1"
	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	"github.com/drawknife/drawknife/aws/internal/amis"
	"github.com/drawknife/drawknife/aws/internal/instanceprofile"
	"github.com/drawknife/drawknife/aws/internal/placement"
	"github.com/drawknife/drawknife/aws/internal/reservations"
	"github.com/drawknife/drawknife/aws/launchtemplate"
	"github.com/drawknife/drawknife/aws/sdk/mock"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/fake/build"
	"github.com/drawknife/drawknife/fake/build/ec2build"
)

func ptr[T any](v T) *T { return &v }

func apiError(code, message string) error {
	return &smithy.GenericAPIError{Code: code, Message: message, Fault: smithy.FaultClient}
}

// world is all that a reconciler is connected to, with an error for each part that is to fail.
type world struct {
	mu    sync.Mutex
	now   time.Time
	calls []string
	fail  map[string]error

	subnets   []awsv1.Subnet
	security  []awsv1.SecurityGroup
	images    []awsv1.AMI
	outcomes  []amis.Outcome
	reserved  reservations.Found
	group     *placement.Group
	profile   string
	wanted    []instanceprofile.Wanted
	types     []*cloudprovider.InstanceType
	templates []launchtemplate.Template
	cluster   Cluster
}

func (w *world) call(name string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.calls = append(w.calls, name)
	return w.fail[name]
}

func (w *world) Now() time.Time { return w.now }

func (w *world) Subnets(context.Context, []awsv1.SubnetSelectorTerm) ([]awsv1.Subnet, error) {
	err := w.call("subnets")
	if err != nil {
		return nil, err
	}
	return w.subnets, nil
}

func (w *world) SecurityGroups(context.Context, []awsv1.SecurityGroupSelectorTerm) ([]awsv1.SecurityGroup, error) {
	if err := w.call("securityGroups"); err != nil {
		return nil, err
	}
	return w.security, nil
}

func (w *world) Resolve(_ context.Context, _ []awsv1.AMISelectorTerm, version string) (amis.Result, error) {
	if err := w.call("images " + version); err != nil {
		return amis.Result{}, err
	}
	return amis.Result{AMIs: w.images, Outcomes: w.outcomes}, nil
}

type worldReservations struct{ *world }

func (w worldReservations) Find(context.Context, []awsv1.CapacityReservationSelectorTerm) (reservations.Found, error, error) {
	if err := w.call("reservations"); err != nil {
		return nil, nil, err
	}
	return w.reserved, nil, nil
}

type worldGroups struct{ *world }

func (w worldGroups) Find(context.Context, *awsv1.PlacementGroupSelector) (*placement.Group, error) {
	return w.group, w.call("placementGroup")
}

type worldProfiles struct{ *world }

func (w worldProfiles) Ensure(_ context.Context, wanted instanceprofile.Wanted) (string, error) {

	w.wanted = append(w.wanted, wanted)
	if err := w.call("profile"); err != nil {
		return "", err
	}
	return w.profile, nil
}

func (w worldProfiles) DeleteNodeClass(_ context.Context, name string, uid types.UID) error {
	return w.call("delete profiles of " + name + " " + string(uid))
}

type worldTemplates struct{ *world }

func (w worldTemplates) Ensure(_ context.Context, templates []launchtemplate.Template) ([]launchtemplate.Template, error) {
	if err := w.call("template"); err != nil {
		return nil, err
	}

	w.templates = append(w.templates, templates...)
	return templates, nil
}

func (w worldTemplates) DeleteNodeClass(_ context.Context, name string) error {
	return w.call("delete templates of " + name)
}

// instance is a type, of arm64 or with GPUs if its name says so.
func machine(name, arch string, gpus int) *cloudprovider.InstanceType {
	count := requirements.DoesNotExist(awsv1.LabelInstanceGPUCount)
	if gpus > 0 {
		count = requirements.In(awsv1.LabelInstanceGPUCount, "1")
	}
	return build.InstanceType(name,
		build.With(requirements.In(corev1.LabelArchStable, arch), count, requirements.DoesNotExist(awsv1.LabelInstanceAcceleratorCount)))
}

func image(id, arch string, gpu corev1.NodeSelectorOperator) awsv1.AMI {
	return awsv1.AMI{ID: id, Name: id, Requirements: []corev1.NodeSelectorRequirement{
		{Key: corev1.LabelArchStable, Operator: corev1.NodeSelectorOpIn, Values: []string{arch}},
		{Key: awsv1.LabelInstanceGPUCount, Operator: gpu},
	}}
}

// newReconciler makes one for a world in which everything is there.
func newReconciler(t *testing.T, changes ...func(*Options)) (*Reconciler, *world, *mock.MockEC2API) {
	t.Helper()
	api := mock.NewMockEC2API(gomock.NewController(t))
	w := &world{
		now: time.Date(2026, 8, 1, 0, 0, 0, 0, time.UTC), fail: map[string]error{},
		subnets: []awsv1.Subnet{{ID: "subnet-1", Zone: "a"}, {ID: "subnet-2", Zone: "b"}}, security: []awsv1.SecurityGroup{{ID: "sg-1"}},
		images:  []awsv1.AMI{image("ami-gpu", "amd64", corev1.NodeSelectorOpExists), image("ami-1", "amd64", corev1.NodeSelectorOpDoesNotExist)},
		types:   []*cloudprovider.InstanceType{machine("g5.large", "amd64", 1), machine("m5.large", "amd64", 0), machine("a1.large", "arm64", 0), machine("c5.large", "amd64", 0)},
		profile: "demo_1",
		cluster: Cluster{Version: "1.33", Cluster: launchtemplate.Cluster{Name: "demo", Endpoint: "https://api.demo.example", ServiceCIDR: "172.20.0.0/16"}},
	}
	o := Options{
		EC2: api, Network: w, Images: w, Reservations: worldReservations{w}, Groups: worldGroups{w}, Profiles: worldProfiles{w}, Templates: worldTemplates{w},
		Cluster: func(context.Context) (Cluster, error) { return w.cluster, w.call("cluster") },
		InstanceTypes: func(context.Context, *awsv1.EC2NodeClass) ([]*cloudprovider.InstanceType, error) {
			return w.types, w.call("types")
		},
		Now: w.Now,
	}
	for _, change := range changes {
		change(&o)
	}
	r, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return r, w, api
}

func withoutDryRuns(o *Options) { o.WithoutDryRuns = true }

// class is one that has its finalizer and has not been looked at.
func class(changes ...ec2build.Option) *awsv1.EC2NodeClass {
	meta := ec2build.Meta(build.UID("u-1"), build.Finalizers(awsv1.TerminationFinalizer), build.Created(time.Date(2026, 7, 1, 0, 0, 0, 0, time.UTC)))
	return ec2build.Class("std", append([]ec2build.Option{meta, func(c *awsv1.EC2NodeClass) {
		c.Generation, c.Spec.Role = 3, ptr("nodes")
		c.Spec.SubnetSelectorTerms[0].Tags = map[string]string{"k": "v"}
		c.Spec.SecurityGroupSelectorTerms[0].Tags = map[string]string{"k": "v"}
	}}, changes...)...)
}

func reconcile(t *testing.T, r *Reconciler, c *awsv1.EC2NodeClass, pools ...*v1.NodePool) Result {
	t.Helper()
	result, err := r.Reconcile(t.Context(), Observed{NodeClass: c, NodePools: pools})
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// wantCondition checks status and reason of one.
func wantCondition(t *testing.T, c *awsv1.EC2NodeClass, condition string, status metav1.ConditionStatus, reason string) metav1.Condition {
	t.Helper()
	got := c.Conditions().Get(condition)
	if condition == awsv1.ConditionReady {
		got = c.Conditions().Ready()
	}
	if got.Status != status || got.Reason != reason {
		t.Errorf("%s is %s (%s: %s), want %s (%s)", condition, got.Status, got.Reason, got.Message, status, reason)
	}
	return got
}

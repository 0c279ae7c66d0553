package launchtemplates

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/smithy-go"
	"go.uber.org/mock/gomock"

	"github.com/drawknife/drawknife/aws/launchtemplate"
	"github.com/drawknife/drawknife/aws/sdk/mock"
)

func ptr[T any](v T) *T { return &v }

// apiError is what EC2 answers with.
func apiError(code string) error {
	fault := smithy.FaultClient
	if code == "InternalError" {
		fault = smithy.FaultServer
	}
	return &smithy.GenericAPIError{Code: code, Message: "as EC2 says it", Fault: fault}
}

func template(name string) launchtemplate.Template {
	return launchtemplate.Template{
		Name: "karpenter.k8s.aws/" + name,
		Data: &ec2types.RequestLaunchTemplateData{ImageId: ptr("ami-1"), UserData: ptr("c2VjcmV0")},
		Tags: []ec2types.Tag{{Key: ptr("eks:eks-cluster-name"), Value: ptr("demo")}, {Key: ptr("karpenter.k8s.aws/ec2nodeclass"), Value: ptr("std")}},
	}
}

// clock is moved by tests.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// newStore makes a store on a mock, at a time that stands still.
func newStore(t *testing.T, changes ...func(*Options)) (*Store, *mock.MockEC2API, *clock) {
	t.Helper()
	api := mock.NewMockEC2API(gomock.NewController(t))
	c := &clock{now: time.Date(2026, 8, 1, 0, 0, 0, 0, time.UTC)}
	o := Options{ClusterName: "demo", Now: c.Now}
	for _, change := range changes {
		change(&o)
	}
	s, err := New(api, o)
	if err != nil {
		t.Fatal(err)
	}
	return s, api, c
}

// creates expects one call that makes the template.
func creates(api *mock.MockEC2API, name string) *gomock.Call {
	return api.EXPECT().CreateLaunchTemplate(gomock.Any(), creating(name)).Return(created(name), nil)
}

func created(name string) *ec2.CreateLaunchTemplateOutput {
	return &ec2.CreateLaunchTemplateOutput{LaunchTemplate: &ec2types.LaunchTemplate{LaunchTemplateId: ptr("lt-" + name)}}
}

func creating(name string) gomock.Matcher {
	return gomock.Cond(func(in *ec2.CreateLaunchTemplateInput) bool {
		return *in.LaunchTemplateName == "karpenter.k8s.aws/"+name && in.LaunchTemplateData != nil && len(in.TagSpecifications) == 1 &&
			in.TagSpecifications[0].ResourceType == ec2types.ResourceTypeLaunchTemplate && len(in.TagSpecifications[0].Tags) == 2
	})
}

// deletes expects one call that deletes the template by its id.
func deletes(api *mock.MockEC2API, name string) *gomock.Call {
	return api.EXPECT().DeleteLaunchTemplate(gomock.Any(), deleting(name)).Return(nil, nil)
}

func deleting(name string) gomock.Matcher {
	return gomock.Cond(func(in *ec2.DeleteLaunchTemplateInput) bool {
		return in.LaunchTemplateId != nil && *in.LaunchTemplateId == "lt-"+name && in.LaunchTemplateName == nil
	})
}

// lists answers a listing with templates of these names, a page each.
func lists(t *testing.T, api *mock.MockEC2API, wantFilters string, names ...string) {
	api.EXPECT().DescribeLaunchTemplates(gomock.Any(), gomock.Any()).DoAndReturn(
		func(_ context.Context, in *ec2.DescribeLaunchTemplatesInput, _ ...func(*ec2.Options)) (*ec2.DescribeLaunchTemplatesOutput, error) {
			filters := ""
			for _, f := range in.Filters {
				filters += *f.Name + "=" + f.Values[0] + " "
			}
			if filters != wantFilters || *in.MaxResults != 200 {
				t.Errorf("lists %q, %d at once", filters, *in.MaxResults)
			}
			page := 0
			if in.NextToken != nil {
				fmt.Sscan(*in.NextToken, &page)
			}
			out := &ec2.DescribeLaunchTemplatesOutput{}
			if page < len(names) {
				out.LaunchTemplates = []ec2types.LaunchTemplate{{LaunchTemplateName: ptr("karpenter.k8s.aws/" + names[page]), LaunchTemplateId: ptr("lt-" + names[page])}}
			}
			if page+1 < len(names) {
				out.NextToken = ptr(fmt.Sprint(page + 1))
			}
			return out, nil
		}).Times(max(1, len(names)))
}

func ensure(t *testing.T, s *Store, names ...string) {
	t.Helper()
	var templates []launchtemplate.Template
	for _, name := range names {
		templates = append(templates, template(name))
	}
	ready, err := s.Ensure(t.Context(), templates)
	if err != nil || len(ready) != len(names) {
		t.Fatalf("%d of %d templates are ready: %v", len(ready), len(names), err)
	}
}

package instanceprofile

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	iamtypes "github.com/aws/aws-sdk-go-v2/service/iam/types"
	"github.com/aws/smithy-go"
	"go.uber.org/mock/gomock"

	"github.com/drawknife/drawknife/aws/sdk/mock"
)

// account is IAM's side of a mock: what there is, what was called, and what is to fail.
type account struct {
	mu       sync.Mutex
	profiles map[string]*Profile
	roles    []string
	calls    []string
	fail     map[string]error // by call, once
	now      time.Time
}

func apiError(code, message string) error {
	return &smithy.GenericAPIError{Code: code, Message: message}
}

func (a *account) begin(call string) error {
	a.calls = append(a.calls, call)
	err := a.fail[call]
	delete(a.fail, call)
	return err
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

func (a *account) profile(name string) (*Profile, error) {
	if p, ok := a.profiles[name]; ok {
		return p, nil
	}
	return nil, apiError("NoSuchEntity", "Instance Profile "+name+" cannot be found.")
}

func toIAM(p *Profile) *iamtypes.InstanceProfile {
	out := &iamtypes.InstanceProfile{InstanceProfileName: aws.String(p.Name), Path: aws.String(p.Path), Tags: tagList(p.Tags)}
	for _, role := range p.Roles {
		out.Roles = append(out.Roles, iamtypes.Role{RoleName: aws.String(role)})
	}
	return out
}

// newManager makes a manager on an account with the role "nodes" and nothing else.
func newManager(t *testing.T) (*Manager, *account) {
	t.Helper()
	a := &account{profiles: map[string]*Profile{}, roles: []string{"nodes", "other"}, fail: map[string]error{}, now: time.Date(2026, 8, 1, 0, 0, 0, 0, time.UTC)}
	api := mock.NewMockIAMAPI(gomock.NewController(t))
	api.EXPECT().GetInstanceProfile(gomock.Any(), gomock.Any()).AnyTimes().DoAndReturn(
		func(_ context.Context, in *iam.GetInstanceProfileInput, _ ...func(*iam.Options)) (*iam.GetInstanceProfileOutput, error) {
			a.mu.Lock()
			defer a.mu.Unlock()
			if err := a.begin("Get"); err != nil {
				return nil, err
			}
			p, err := a.profile(*in.InstanceProfileName)
			if err != nil {
				return nil, err
			}
			return &iam.GetInstanceProfileOutput{InstanceProfile: toIAM(p)}, nil
		})
	// Two a page.
	api.EXPECT().ListInstanceProfiles(gomock.Any(), gomock.Any()).AnyTimes().DoAndReturn(
		func(_ context.Context, in *iam.ListInstanceProfilesInput, _ ...func(*iam.Options)) (*iam.ListInstanceProfilesOutput, error) {
			a.mu.Lock()
			defer a.mu.Unlock()
			if err := a.begin("List"); err != nil {
				return nil, err
			}
			var names []string
			for name, p := range a.profiles {
				if strings.HasPrefix(p.Path, *in.PathPrefix) && name > aws.ToString(in.Marker) {
					names = append(names, name)
				}
			}
			slices.Sort(names)
			out := &iam.ListInstanceProfilesOutput{}
			for i, name := range names {
				if i == 2 {
					out.IsTruncated, out.Marker = true, aws.String(names[1])
					break
				}
				p := toIAM(a.profiles[name])
				p.Tags = nil
				out.InstanceProfiles = append(out.InstanceProfiles, *p)
			}
			return out, nil
		})
	api.EXPECT().CreateInstanceProfile(gomock.Any(), gomock.Any()).AnyTimes().DoAndReturn(
		func(_ context.Context, in *iam.CreateInstanceProfileInput, _ ...func(*iam.Options)) (*iam.CreateInstanceProfileOutput, error) {
			a.mu.Lock()
			defer a.mu.Unlock()
			if err := a.begin("Create"); err != nil {
				return nil, err
			}
			p := fromIAM(&iamtypes.InstanceProfile{InstanceProfileName: in.InstanceProfileName, Path: in.Path, Tags: in.Tags})
			a.profiles[p.Name] = &p
			return &iam.CreateInstanceProfileOutput{}, nil
		})
	api.EXPECT().DeleteInstanceProfile(gomock.Any(), gomock.Any()).AnyTimes().DoAndReturn(
		func(_ context.Context, in *iam.DeleteInstanceProfileInput, _ ...func(*iam.Options)) (*iam.DeleteInstanceProfileOutput, error) {
			a.mu.Lock()
			defer a.mu.Unlock()
			if err := a.begin("Delete"); err != nil {
				return nil, err
			}
			p, err := a.profile(*in.InstanceProfileName)
			if err == nil && len(p.Roles) > 0 {
				err = apiError("DeleteConflict", "Cannot delete entity, must remove roles from instance profile first.")
			}
			if err != nil {
				return nil, err
			}
			delete(a.profiles, p.Name)
			return &iam.DeleteInstanceProfileOutput{}, nil
		})
	api.EXPECT().AddRoleToInstanceProfile(gomock.Any(), gomock.Any()).AnyTimes().DoAndReturn(
		func(_ context.Context, in *iam.AddRoleToInstanceProfileInput, _ ...func(*iam.Options)) (*iam.AddRoleToInstanceProfileOutput, error) {
			a.mu.Lock()
			defer a.mu.Unlock()
			if err := a.begin("AddRole"); err != nil {
				return nil, err
			}
			if !slices.Contains(a.roles, *in.RoleName) {
				return nil, apiError("NoSuchEntity", "The role with name "+*in.RoleName+" cannot be found.")
			}
			p, err := a.profile(*in.InstanceProfileName)
			if err == nil && len(p.Roles) > 0 {
				err = apiError("LimitExceeded", "Cannot exceed quota for InstanceSessionsPerInstanceProfile: 1")
			}
			if err != nil {
				return nil, err
			}
			p.Roles = []string{*in.RoleName}
			return &iam.AddRoleToInstanceProfileOutput{}, nil
		})
	api.EXPECT().RemoveRoleFromInstanceProfile(gomock.Any(), gomock.Any()).AnyTimes().DoAndReturn(
		func(_ context.Context, in *iam.RemoveRoleFromInstanceProfileInput, _ ...func(*iam.Options)) (*iam.RemoveRoleFromInstanceProfileOutput, error) {
			a.mu.Lock()
			defer a.mu.Unlock()
			if err := a.begin("RemoveRole"); err != nil {
				return nil, err
			}
			p, err := a.profile(*in.InstanceProfileName)
			if err != nil {
				return nil, err
			}
			p.Roles = nil
			return &iam.RemoveRoleFromInstanceProfileOutput{}, nil
		})
	api.EXPECT().TagInstanceProfile(gomock.Any(), gomock.Any()).AnyTimes().DoAndReturn(
		func(_ context.Context, in *iam.TagInstanceProfileInput, _ ...func(*iam.Options)) (*iam.TagInstanceProfileOutput, error) {
			a.mu.Lock()
			defer a.mu.Unlock()
			if err := a.begin("Tag"); err != nil {
				return nil, err
			}
			p, err := a.profile(*in.InstanceProfileName)
			if err != nil {
				return nil, err
			}
			// The policy asks for the tags that say whose it is (AWN-323).
			if !slices.ContainsFunc(in.Tags, func(tag iamtypes.Tag) bool { return *tag.Key == "kubernetes.io/cluster/demo" }) {
				return nil, apiError("AccessDenied", "not authorized to perform: iam:TagInstanceProfile")
			}
			if p.Tags == nil {
				p.Tags = map[string]string{}
			}
			for _, tag := range in.Tags {
				p.Tags[*tag.Key] = *tag.Value
			}
			return &iam.TagInstanceProfileOutput{}, nil
		})
	m, err := New(Options{IAM: api, Region: "us-east-1", ClusterName: "demo", Now: func() time.Time {
		a.mu.Lock()
		defer a.mu.Unlock()
		return a.now
	}})
	if err != nil {
		t.Fatal(err)
	}
	return m, a
}

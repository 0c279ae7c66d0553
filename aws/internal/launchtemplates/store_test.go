package launchtemplates

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"go.uber.org/mock/gomock"

	"github.com/drawknife/drawknife/aws/launchtemplate"
	"github.com/drawknife/drawknife/cloudprovider"
)

func sweep(t *testing.T, s *Store, want int) {
	t.Helper()
	if deleted, err := s.Sweep(t.Context()); err != nil || deleted != want {
		t.Errorf("swept %d, %v; want %d", deleted, err, want)
	}
}

// AWN-241, AWN-242, AWN-363: a template is made once, each use gives it a new life, and once that is over it is deleted
// by its id.
func TestLifeOfATemplate(t *testing.T) {
	s, api, clock := newStore(t, func(o *Options) { o.Lifetime = 10 * time.Minute })
	creates(api, "1")
	ensure(t, s, "1")
	clock.advance(9 * time.Minute)
	ensure(t, s, "1")
	clock.advance(9 * time.Minute)
	sweep(t, s, 0)
	clock.advance(time.Minute)
	deletes(api, "1")
	sweep(t, s, 1)
	sweep(t, s, 0)
	if s.Len() != 0 {
		t.Errorf("knows %d", s.Len())
	}
	creates(api, "1")
	ensure(t, s, "1")
}

// AWN-242: a deletion that fails is repeated; a template that is gone was deleted.
func TestDeletionThatFails(t *testing.T) {
	s, api, clock := newStore(t)
	creates(api, "1")
	creates(api, "2")
	ensure(t, s, "1", "2")
	clock.advance(DefaultLifetime)
	api.EXPECT().DeleteLaunchTemplate(gomock.Any(), deleting("1")).Return(nil, apiError("UnauthorizedOperation"))
	api.EXPECT().DeleteLaunchTemplate(gomock.Any(), deleting("2")).Return(nil, apiError("InvalidLaunchTemplateId.NotFound"))
	if deleted, err := s.Sweep(t.Context()); deleted != 1 || !errors.Is(err, cloudprovider.Unauthorized) || !strings.Contains(err.Error(), "karpenter.k8s.aws/1") {
		t.Errorf("swept %d, %v", deleted, err)
	}
	deletes(api, "1")
	sweep(t, s, 1)
}

// AWN-329: beyond the bound those not used for longest go, but never one that a launch may be using.
func TestNumberIsBounded(t *testing.T) {
	s, api, clock := newStore(t, func(o *Options) { o.MaxTemplates = 2 })
	for _, name := range []string{"1", "2", "3", "4"} {
		creates(api, name)
		ensure(t, s, name)
		clock.advance(20 * time.Second)
	}
	ensure(t, s, "1")
	// 2 was last used 60 s ago, 3 40 s ago.
	deletes(api, "2")
	sweep(t, s, 1)
	if s.Len() != 3 {
		t.Errorf("knows %d", s.Len())
	}
}

// AWN-258, AWN-329: in a full account unused templates make room; if there are none the error says which quota.
func TestFullAccount(t *testing.T) {
	s, api, clock := newStore(t)
	creates(api, "old")
	ensure(t, s, "old")
	full := func() *gomock.Call {
		return api.EXPECT().CreateLaunchTemplate(gomock.Any(), creating("new")).Return(nil, apiError("MaxTemplateLimitExceeded"))
	}
	full()
	_, err := s.Ensure(t.Context(), []launchtemplate.Template{template("new")})
	var quota *cloudprovider.QuotaExceededError
	if !errors.As(err, &quota) || !strings.Contains(quota.Quota, "launch templates") {
		t.Errorf("error is %v", err)
	}
	clock.advance(time.Minute)
	gomock.InOrder(full(), deletes(api, "old"), creates(api, "new"))
	ensure(t, s, "new")
}

// AWN-241: a template that is there already is taken over, if it is the cluster's.
func TestAdoption(t *testing.T) {
	describe := func(owner string, n int) (*ec2.DescribeLaunchTemplatesOutput, error) {
		out := &ec2.DescribeLaunchTemplatesOutput{}
		for range n {
			out.LaunchTemplates = append(out.LaunchTemplates, ec2types.LaunchTemplate{
				LaunchTemplateId: ptr("lt-1"), Tags: []ec2types.Tag{{Key: ptr("eks:eks-cluster-name"), Value: &owner}},
			})
		}
		return out, nil
	}
	for _, tc := range []struct {
		name  string
		owner string
		n     int
		want  string
	}{{"ours", "demo", 1, ""}, {"another cluster's", "other", 1, "but must be \"demo\""}, {"gone again", "demo", 0, "lists 0"}, {"two", "demo", 2, "lists 2"}} {
		t.Run(tc.name, func(t *testing.T) {
			s, api, clock := newStore(t)
			api.EXPECT().CreateLaunchTemplate(gomock.Any(), creating("1")).Return(nil, apiError("InvalidLaunchTemplateName.AlreadyExistsException"))
			api.EXPECT().DescribeLaunchTemplates(gomock.Any(), gomock.Cond(func(in *ec2.DescribeLaunchTemplatesInput) bool {
				return len(in.LaunchTemplateNames) == 1 && in.LaunchTemplateNames[0] == "karpenter.k8s.aws/1"
			})).Return(describe(tc.owner, tc.n))
			_, err := s.Ensure(t.Context(), []launchtemplate.Template{template("1")})
			if tc.want != "" {
				if err == nil || !strings.Contains(err.Error(), tc.want) || s.Len() != 0 {
					t.Errorf("error is %v, knows %d", err, s.Len())
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			clock.advance(DefaultLifetime)
			deletes(api, "1")
			sweep(t, s, 1)
		})
	}
}

// AWN-244: what EC2 does not know is made again, and not deleted.
func TestForget(t *testing.T) {
	s, api, _ := newStore(t)
	creates(api, "1").Times(2)
	ensure(t, s, "1")
	s.Forget("karpenter.k8s.aws/1", "karpenter.k8s.aws/unknown")
	ensure(t, s, "1")
}

// AWN-243: what an earlier process left is found at start, used, or deleted when its time is over.
func TestHydrate(t *testing.T) {
	s, api, clock := newStore(t)
	lists(t, api, "tag:eks:eks-cluster-name=demo ", "1", "2", "3")
	if err := s.Hydrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	clock.advance(DefaultLifetime / 2)
	ensure(t, s, "2") // no call: it is there
	clock.advance(DefaultLifetime / 2)
	deletes(api, "1")
	deletes(api, "3")
	sweep(t, s, 2)

	api.EXPECT().DescribeLaunchTemplates(gomock.Any(), gomock.Any()).Return(nil, apiError("RequestLimitExceeded"))
	if err := s.Hydrate(t.Context()); !errors.Is(err, cloudprovider.Throttled) {
		t.Errorf("error is %v", err)
	}
}

// AWN-170, AWN-245, AWN-363: all templates of a class are deleted, page by page; a failure is told and leaves the others
// deleted; what is gone is none.
func TestDeleteNodeClass(t *testing.T) {
	s, api, _ := newStore(t)
	creates(api, "1")
	ensure(t, s, "1")
	const filters = "tag:eks:eks-cluster-name=demo tag:karpenter.k8s.aws/ec2nodeclass=std "
	lists(t, api, filters, "1", "2", "3")
	deletes(api, "1")
	api.EXPECT().DeleteLaunchTemplate(gomock.Any(), deleting("2")).Return(nil, apiError("InternalError"))
	api.EXPECT().DeleteLaunchTemplate(gomock.Any(), deleting("3")).Return(nil, apiError("InvalidLaunchTemplateId.NotFound"))
	if err := s.DeleteNodeClass(t.Context(), "std"); err == nil || !strings.Contains(err.Error(), "karpenter.k8s.aws/2") {
		t.Errorf("error is %v", err)
	}
	lists(t, api, filters, "2")
	deletes(api, "2")
	if err := s.DeleteNodeClass(t.Context(), "std"); err != nil {
		t.Error(err)
	}
	if s.Len() != 0 {
		t.Errorf("knows %d", s.Len())
	}
	if err := s.DeleteNodeClass(t.Context(), ""); err == nil {
		t.Error("no name would be every class")
	}
}

// AWN-171, AWN-358: everything of the cluster goes.
func TestDeleteAll(t *testing.T) {
	s, api, _ := newStore(t)
	lists(t, api, "tag:eks:eks-cluster-name=demo ", "1")
	deletes(api, "1")
	if err := s.DeleteAll(t.Context()); err != nil {
		t.Error(err)
	}
}

// AWN-232, AWN-330: one call for one template however many want it, and calls for different ones side by side.
func TestConcurrentEnsure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, api, _ := newStore(t)
		var under, most atomic.Int32
		api.EXPECT().CreateLaunchTemplate(gomock.Any(), gomock.Any()).DoAndReturn(
			func(_ context.Context, in *ec2.CreateLaunchTemplateInput, _ ...func(*ec2.Options)) (*ec2.CreateLaunchTemplateOutput, error) {
				if n := under.Add(1); n > most.Load() {
					most.Store(n)
				}
				time.Sleep(time.Second) // of the bubble's clock
				under.Add(-1)
				return created(strings.TrimPrefix(*in.LaunchTemplateName, "karpenter.k8s.aws/")), nil
			}).Times(3)
		var wait sync.WaitGroup
		for range 50 {
			wait.Go(func() { ensure(t, s, "1", "2", "3") })
		}
		wait.Wait()
		if most.Load() != 3 {
			t.Errorf("%d calls at once, want 3", most.Load())
		}
	})
}

// AWN-330: a caller that gives up takes nobody with it: another makes the template.
func TestCallerGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, api, _ := newStore(t)
		var calls atomic.Int32
		api.EXPECT().CreateLaunchTemplate(gomock.Any(), gomock.Any()).DoAndReturn(
			func(ctx context.Context, _ *ec2.CreateLaunchTemplateInput, _ ...func(*ec2.Options)) (*ec2.CreateLaunchTemplateOutput, error) {
				if calls.Add(1) == 1 {
					<-ctx.Done()
					return nil, ctx.Err()
				}
				return created("1"), nil
			}).Times(2)
		ctx, cancel := context.WithCancel(t.Context())
		var wait sync.WaitGroup
		wait.Go(func() {
			if _, err := s.Ensure(ctx, []launchtemplate.Template{template("1")}); !errors.Is(err, context.Canceled) {
				t.Errorf("error is %v", err)
			}
		})
		synctest.Wait()
		wait.Go(func() { ensure(t, s, "1") })
		waiting, stop := context.WithTimeout(t.Context(), time.Second)
		defer stop()
		if _, err := s.Ensure(waiting, []launchtemplate.Template{template("1")}); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error is %v", err)
		}
		cancel()
		wait.Wait()
	})
}

// A template that is being deleted is not handed out: it is made again.
func TestEnsureDuringDeletion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, api, clock := newStore(t)
		creates(api, "1")
		ensure(t, s, "1")
		clock.advance(DefaultLifetime)
		api.EXPECT().DeleteLaunchTemplate(gomock.Any(), deleting("1")).DoAndReturn(
			func(context.Context, *ec2.DeleteLaunchTemplateInput, ...func(*ec2.Options)) (*ec2.DeleteLaunchTemplateOutput, error) {
				time.Sleep(time.Second)
				return nil, nil
			})
		var wait sync.WaitGroup
		wait.Go(func() { sweep(t, s, 1) })
		synctest.Wait()
		creates(api, "1")
		ensure(t, s, "1")
		wait.Wait()
		if s.Len() != 1 {
			t.Errorf("knows %d", s.Len())
		}
	})
}

// One template that can't be made does not keep a launch from the others; none is an error with all causes.
func TestPartialFailure(t *testing.T) {
	s, api, _ := newStore(t)
	for _, name := range []string{"1", "2"} {
		api.EXPECT().CreateLaunchTemplate(gomock.Any(), creating(name)).Return(nil, apiError("UnauthorizedOperation")).AnyTimes()
	}
	creates(api, "3")
	ready, err := s.Ensure(t.Context(), []launchtemplate.Template{template("1"), template("3"), template("2")})
	if err != nil || len(ready) != 1 || ready[0].Name != "karpenter.k8s.aws/3" {
		t.Errorf("ready %v, %v", ready, err)
	}
	_, err = s.Ensure(t.Context(), []launchtemplate.Template{template("1"), template("2")})
	if !errors.Is(err, cloudprovider.Unauthorized) || !strings.Contains(err.Error(), "aws/1") || !strings.Contains(err.Error(), "aws/2") {
		t.Errorf("error is %v", err)
	}
}

// AWN-331: after some failures of EC2's own, calls are kept back for a while that grows, and templates that are there go
// on being used.
func TestBreaker(t *testing.T) {
	s, api, clock := newStore(t)
	creates(api, "there")
	ensure(t, s, "there")
	failing := func(times int) {
		api.EXPECT().CreateLaunchTemplate(gomock.Any(), creating("1")).Return(nil, apiError("InternalError")).Times(times)
	}
	try := func() error {
		_, err := s.Ensure(t.Context(), []launchtemplate.Template{template("1")})
		return err
	}
	failing(breakAfter)
	for range breakAfter {
		if err := try(); err == nil || errors.Is(err, cloudprovider.Throttled) {
			t.Fatalf("error is %v", err)
		}
	}
	var throttled *cloudprovider.ThrottledError
	if err := try(); !errors.As(err, &throttled) || throttled.RetryAfter <= 0 || throttled.RetryAfter > minBreak {
		t.Fatalf("error is %v", err)
	}
	ensure(t, s, "there")
	for range 10 {
		clock.advance(maxBreak)
		failing(1)
		if err := try(); err == nil {
			t.Fatal("no error")
		}
	}
	if err := try(); !errors.As(err, &throttled) || throttled.RetryAfter < maxBreak/2 || throttled.RetryAfter > maxBreak {
		t.Fatalf("error is %v", err)
	}
	clock.advance(maxBreak)
	creates(api, "1")
	ensure(t, s, "1")
}

// The log has the name and the id of what was made and deleted, and never the user data, which may be secret; anyone who
// counts is told of what was made (AWN-320).
func TestLog(t *testing.T) {
	var log bytes.Buffer
	var made []string
	s, api, clock := newStore(t, func(o *Options) {
		o.Logger = slog.New(slog.NewTextHandler(&log, nil))
		o.OnCreate = func(lt launchtemplate.Template) { made = append(made, lt.Name) }
	})
	creates(api, "1")
	ensure(t, s, "1")
	ensure(t, s, "1")
	clock.advance(DefaultLifetime)
	deletes(api, "1")
	sweep(t, s, 1)
	for _, want := range []string{`msg="created launch template" launchTemplateID=lt-1 launchTemplate.name=karpenter.k8s.aws/1`, `msg="deleted launch template" name=karpenter.k8s.aws/1 launchTemplateID=lt-1`} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("lacks %q:\n%s", want, log.String())
		}
	}
	if strings.Contains(log.String(), "c2VjcmV0") || len(made) != 1 {
		t.Errorf("made %v:\n%s", made, log.String())
	}
}

func TestOptions(t *testing.T) {
	_, api, _ := newStore(t)
	for _, o := range []Options{{}, {ClusterName: "a", Lifetime: time.Second}, {ClusterName: "a", MaxTemplates: -1}, {ClusterName: "a", Parallelism: -1}} {
		if _, err := New(api, o); err == nil {
			t.Errorf("%+v is taken", o)
		}
	}
	if _, err := New(nil, Options{ClusterName: "a"}); err == nil {
		t.Error("no client is taken")
	}
}

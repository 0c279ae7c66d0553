package provisioning_test

import (
	"errors"
	"testing"

	"go.uber.org/mock/gomock"

	"github.com/drawknife/drawknife/api/option"
	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/cloudprovider/mock"
	"github.com/drawknife/drawknife/fake"
	"github.com/drawknife/drawknife/provisioning"
)

// groupProvider is a provider that creates groups.
type groupProvider struct {
	*mock.MockCloudProvider
	*mock.MockGroupCreator
}

func (p groupProvider) EXPECT() *mock.MockCloudProviderMockRecorder {
	return p.MockCloudProvider.EXPECT()
}

// launchOf is the effect by which a claim of a group that is ready launches.
func launchOf(t *testing.T, claims []*v1.NodeClaim, i int) provisioning.CreateInstance {
	t.Helper()
	for n := range claims {
		nextOf(t, claims, n, 1)
	}
	l := newLifecycle(t, provisioning.DefaultLifecycleOptions())
	step := l.Next(provisioning.ClaimState{Claim: claims[i], Group: claims}, at(2))
	if len(step.Effects) == 1 {
		if create, ok := step.Effects[0].(provisioning.CreateInstance); ok {
			return create
		}
	}
	t.Fatalf("claim %d does not launch: %v", i, step.Effects)
	return provisioning.CreateInstance{}
}

// Each claim of a group asks for the whole group, in the same order, and takes its own part of the answer.
func TestLaunchTogether(t *testing.T) {
	claims := grouped(3)
	created := make([]*v1.NodeClaim, 3)
	for i, c := range claims {
		created[i] = &v1.NodeClaim{ObjectMeta: c.ObjectMeta, Status: v1.NodeClaimStatus{ProviderID: "fake:///" + c.Name}}
	}
	for i := range claims {
		effect := launchOf(t, claims, i)
		control := gomock.NewController(t)
		groups := mock.NewMockGroupCreator(control)
		groups.EXPECT().CreateGroup(gomock.Any(), effect.Group).Return(created, nil)
		got, err := effect.Launch(t.Context(), groupProvider{mock.NewMockCloudProvider(control), groups})
		if err != nil || got != created[i] {
			t.Errorf("claim %d: %+v, %v", i, got, err)
		}
		for n, member := range effect.Group {
			if member.UID != claims[n].UID {
				t.Errorf("claim %d asks for %s as number %d", i, member.UID, n)
			}
		}
	}
}

// A provider that can't launch the group as one, or has no groups at all, is asked for one instance a claim; any other error is the
// claim's own, and so is an answer that is too short.
func TestLaunchTogetherOrAlone(t *testing.T) {
	claims := grouped(2)
	effect := launchOf(t, claims, 0)
	answer := &v1.NodeClaim{}
	for name, c := range map[string]struct {
		created []*v1.NodeClaim
		err     error
		alone   bool
		want    error
	}{
		"unsupported": {err: cloudprovider.NewGroupUnsupportedError("they differ", nil), alone: true},
		"no capacity": {err: cloudprovider.NewInsufficientCapacityError(errors.New("sold out")), want: cloudprovider.InsufficientCapacity},
		"too short":   {created: nil, want: cloudprovider.Transient},
	} {
		control := gomock.NewController(t)
		p := groupProvider{mock.NewMockCloudProvider(control), mock.NewMockGroupCreator(control)}
		p.MockGroupCreator.EXPECT().CreateGroup(gomock.Any(), gomock.Any()).Return(c.created, c.err)
		if c.alone {
			p.EXPECT().Create(gomock.Any(), effect.Claim).Return(answer, nil)
		}
		got, err := effect.Launch(t.Context(), p)
		if c.alone && (got != answer || err != nil) || !c.alone && !errors.Is(err, c.want) {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
	control := gomock.NewController(t)
	plain := mock.NewMockCloudProvider(control)
	plain.EXPECT().Create(gomock.Any(), effect.Claim).Return(answer, nil)
	if got, err := effect.Launch(t.Context(), plain); got != answer || err != nil {
		t.Errorf("a provider without groups: %v, %v", got, err)
	}
}

// Without a provider or a claim there is nothing to launch, and no panic.
func TestLaunchNothing(t *testing.T) {
	var missing *option.ArgumentError
	if _, err := (provisioning.CreateInstance{Claim: &v1.NodeClaim{}}).Launch(t.Context(), nil); !errors.As(err, &missing) {
		t.Errorf("no provider: %v", err)
	}
	plain := mock.NewMockCloudProvider(gomock.NewController(t))
	if _, err := (provisioning.CreateInstance{}).Launch(t.Context(), plain); !errors.As(err, &missing) {
		t.Errorf("no claim: %v", err)
	}
}

// Claims that are kept, and those of groups that are not waited for, launch on their own.
func TestLaunchAlone(t *testing.T) {
	claims := grouped(3)
	kept := v1.LaunchGroup{Name: "ns/train@t", Claims: 3, Kept: true}
	for _, i := range []int{1, 2} {
		claims[i].Annotations[v1.LaunchGroupAnnotationKey] = kept.String()
	}
	if effect := launchOf(t, claims, 0); effect.Group != nil {
		t.Errorf("one claim is not kept, and %d launch together", len(effect.Group))
	}
	if effect := launchOf(t, claims, 1); effect.Group != nil {
		t.Errorf("a claim that is kept launches together with %d", len(effect.Group))
	}
}

// Without stock for the whole group, nothing is launched, and each claim's error names what is out of stock.
func TestLaunchTogetherOnTheFake(t *testing.T) {
	cloud, err := fake.New(gangTypes(), fake.Options{})
	if err != nil {
		t.Fatal(err)
	}
	claims := grouped(3)
	for _, c := range claims {
		c.Spec.NodeClassRef = v1.NodeClassReference{Group: fake.NodeClassGroup, Kind: fake.NodeClassKind, Name: "default"}
	}
	cloud.SetStock(0, all)
	cloud.SetStock(2, func(k cloudprovider.OfferingKey) bool {
		return k.InstanceType == "m1.large" && k.Zone == "test-region-1a" && k.CapacityType == "spot"
	})
	for i := range claims {
		if _, err := launchOf(t, claims, i).Launch(t.Context(), cloud); !cloudprovider.IsInsufficientCapacity(err) {
			t.Errorf("claim %d: %v", i, err)
		}
	}
	if n := len(cloud.Instances()); n != 0 || cloud.Calls(fake.MethodCreate) != 0 {
		t.Errorf("%d instances, %d calls of Create", n, cloud.Calls(fake.MethodCreate))
	}
}

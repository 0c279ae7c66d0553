package instances_test

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	v1 "github.com/drawknife/drawknife/api/v1"
	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	"github.com/drawknife/drawknife/aws/internal/instances"
	"github.com/drawknife/drawknife/aws/internal/launch"
	"github.com/drawknife/drawknife/cloudprovider"
)

// old adds a running instance with nothing but these tags.
func (a *account) old(id string, pairs ...string) {
	a.instances = append(a.instances, ec2types.Instance{InstanceId: &id, State: &ec2types.InstanceState{Name: "running"}, Tags: tags(pairs...)})
}

func serveAlpha(o *instances.Options) { o.ServeAlpha = true }

// API-416, API-417, API-420, API-421, API-424: while pools of the first generation are served, their instances are listed by their own
// keys and found by their claims, if this cluster manages them. What another cluster manages, and what an older release left
// that does not say who does, is neither listed nor, therefore, collected.
func TestFirstGeneration(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const owned = awsv1.TagClusterPrefix + "demo"
		a := &account{}
		a.add("i-v1", "running")
		a.add("i-both", "running", owned, "owned", awsv1.TagProvisioner, "pool", awsv1.TagManagedBy, "demo")
		a.old("i-alpha", owned, "owned", awsv1.TagProvisioner, "web", awsv1.TagManagedBy, "demo", launch.TagNodeClaimUID, "uid-1")
		a.old("i-before-0.28", owned, "owned", awsv1.TagProvisioner, "web")
		a.old("i-of-another", owned, "owned", awsv1.TagProvisioner, "web", awsv1.TagManagedBy, "other", launch.TagNodeClaimUID, "uid-2")
		a.old("i-elsewhere", awsv1.TagClusterPrefix+"other", "owned", awsv1.TagProvisioner, "web", awsv1.TagManagedBy, "other")
		a.old("i-of-a-node-group", owned, "owned")
		for _, c := range []struct {
			serve  []func(*instances.Options)
			listed []string
			live   int
		}{
			{nil, []string{"i-both", "i-v1"}, 0},
			{[]func(*instances.Options){serveAlpha}, []string{"i-alpha", "i-both", "i-v1"}, 1},
		} {
			client := client(t, a, c.serve...)
			list, err := client.List(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			var ids, collected []string
			for _, i := range list {
				ids = append(ids, i.ID)
			}
			for _, i := range instances.Next(list, []instances.ClaimRef{{ProviderID: "aws:///us-east-1a/i-v1"}}, 0, time.Now()).Terminate {
				collected = append(collected, i.ID)
			}
			if want := slices.DeleteFunc(slices.Clone(c.listed), func(id string) bool { return id == "i-v1" }); !slices.Equal(ids, c.listed) || !slices.Equal(collected, want) {
				t.Errorf("listed %q, collected %q; want %q and what has no claim", ids, collected, c.listed)
			}
			claim, err := client.ByClaim(t.Context(), "uid-1")
			if err != nil || len(claim.Live) != c.live {
				t.Errorf("claim uid-1: %+v, %v", claim, err)
			}
		}
		client := client(t, a, serveAlpha)
		alpha, err := client.Get(t.Context(), "i-alpha")
		if key := alpha.NodePool(); err != nil || key != (v1.PoolKey{Generation: v1.GenerationV1Alpha5, Name: "web"}) {
			t.Errorf("%v, %v", key, err)
		}
		if missing := client.MissingTags(alpha, "claim", "uid", "node"); missing != nil {
			t.Errorf("tagged later with %v", missing)
		}
		both, err := client.Get(t.Context(), "i-both")
		if key := both.NodePool(); err != nil || key != v1.NewPoolKey("pool") {
			t.Errorf("the later key counts first: %v, %v", key, err)
		}
		if i, err := client.Get(t.Context(), "i-before-0.28"); err != nil {
			t.Errorf("a claim may name an instance of before 0.28: %+v, %v", i, err)
		}
		for _, id := range []string{"i-of-another", "i-elsewhere"} {
			if i, err := client.Get(t.Context(), id); !cloudprovider.IsNodeClaimNotFound(err) {
				t.Errorf("%s is taken for the cluster's: %+v, %v", id, i, err)
			}
		}
	})
}

// CP-LIST-05, API-420: a list without the instances of one generation is none.
func TestListOfBothGenerationsIsWhole(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &account{failures: []error{nil, apiError("UnauthorizedOperation", "no")}}
		a.add("i-1", "running")
		if got, err := client(t, a, serveAlpha).List(t.Context()); err == nil || got != nil {
			t.Errorf("%d instances, %v", len(got), err)
		}
	})
}

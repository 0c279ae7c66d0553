package instances_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/drawknife/drawknife/aws/internal/instances"
	"github.com/drawknife/drawknife/aws/internal/launch"
	"github.com/drawknife/drawknife/cloudprovider"
)

// batched puts the n-th of a batch's instances into the account, launched so long ago. The claims are "=u0", "=u1" and so on.
func (a *account) batched(n, claims int, whole bool, age time.Duration, state string) string {
	var uids []types.UID
	packed := ""
	for i := range claims {
		uid := types.UID(fmt.Sprintf("u%d", i))
		uids = append(uids, uid)
		packed += ":=" + string(uid)
	}
	id := fmt.Sprintf("i-%d", n)
	a.add(id, state, launch.TagNodeClaimUID, launch.Batched, launch.TagBatch, launch.BatchID(uids, 0, whole), launch.TagBatchUIDs+"0", packed[1:])
	launched := time.Now().Add(-age)
	a.instances[len(a.instances)-1].LaunchTime = &launched
	return id
}

// Which instances of batches List gives which claims: all of a batch that is complete, those of a part once all of it must be visible, and
// never those of a group of which some are not there any more.
func TestBatchesInList(t *testing.T) {
	const young, settled, late = 10 * time.Second, 2 * time.Minute, 2 * time.Hour
	for name, c := range map[string]struct {
		there    int
		claims   int
		whole    bool
		age      time.Duration
		assigned int
	}{
		"complete, at once":             {3, 3, false, young, 3},
		"complete, hours later":         {3, 3, true, late, 3},
		"a part, not all visible":       {2, 3, false, young, 0},
		"a part, all visible":           {2, 3, false, settled, 2},
		"a part, some forgotten":        {2, 3, false, late, 0},
		"a group, not all visible":      {2, 3, true, young, 0},
		"a group, some are not there":   {2, 3, true, settled, 0},
		"more instances than claims":    {4, 3, false, settled, 3},
		"more instances than a group's": {4, 3, true, young, 3},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a := &account{}
				for n := range c.there {
					a.batched(n, c.claims, c.whole, c.age, "running")
				}
				all, err := client(t, a).List(t.Context())
				if err != nil || len(all) != c.there {
					t.Fatalf("%v, %v", all, err)
				}
				for n, i := range all {
					want := ""
					if n < c.assigned {
						want = fmt.Sprintf("u%d", n)
					}
					if got := i.NodeClaimUID(); got != want {
						t.Errorf("instance %s belongs to %q, want %q", i.ID, got, want)
					}
				}
			})
		})
	}
}

// An instance that is terminated has its place in the order of its batch, though List does not show it.
func TestBatchWithATerminatedInstance(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &account{}
		a.batched(0, 3, true, time.Minute, "terminated")
		a.batched(1, 3, true, time.Minute, "running")
		a.batched(2, 3, true, time.Minute, "running")
		c := client(t, a)
		all, err := c.List(t.Context())
		if err != nil || len(all) != 2 || all[0].NodeClaimUID() != "u1" || all[1].NodeClaimUID() != "u2" {
			t.Fatalf("%v, %v", all, err)
		}
		one, err := c.Get(t.Context(), "i-2")
		if err != nil || one.NodeClaimUID() != "u2" {
			t.Errorf("%v, %v", one, err)
		}
		found, err := c.ByClaim(t.Context(), "u0")
		if err != nil || len(found.Live) != 0 || len(found.Dead) != 1 {
			t.Errorf("the claim of the terminated instance: %+v, %v", found, err)
		}
		if found, err = c.ByClaim(t.Context(), "u1"); err != nil || len(found.Live) != 1 || found.Live[0].ID != "i-1" {
			t.Errorf("%+v, %v", found, err)
		}
		together, err := c.ByClaims(t.Context(), []types.UID{"u2", "u0", "u1"})
		if err != nil || together.Generation != 1 || len(together.Live) != 2 || len(together.Dead) != 1 || together.Undecided {
			t.Errorf("%+v, %v", together, err)
		}
		if together, err = c.ByClaims(t.Context(), []types.UID{"u0", "u1"}); err != nil || together.Live != nil || together.Generation != 0 {
			t.Errorf("two of the three were launched as another batch: %+v, %v", together, err)
		}
	})
}

// A claim of a batch that is not all visible waits; a claim of none does not.
func TestClaimOfABatchWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &account{}
		a.batched(0, 3, false, time.Second, "pending")
		c := client(t, a)
		if _, err := c.ByClaim(t.Context(), "u2"); !cloudprovider.IsTransient(err) {
			t.Errorf("the claim may have an instance: %v", err)
		}
		if found, err := c.ByClaim(t.Context(), "u9"); err != nil || len(found.Live) != 0 {
			t.Errorf("a claim of no batch: %+v, %v", found, err)
		}
		time.Sleep(2 * launch.Visibility)
		if found, err := c.ByClaim(t.Context(), "u2"); err != nil || len(found.Live) != 0 {
			t.Errorf("EC2 launched one of three, and it is another's: %+v, %v", found, err)
		}
		if found, err := c.ByClaim(t.Context(), "u0"); err != nil || len(found.Live) != 1 {
			t.Errorf("the first: %+v, %v", found, err)
		}
	})
}

// An orphan of a batch is one whose claim is gone or has another instance. As long as it is not known whose it is, it is spared for the
// claims of the batch that have none.
func TestNextOfBatches(t *testing.T) {
	now := time.Unix(1.8e9, 0)
	instance := func(assigned string) instances.Instance {
		return instances.Instance{ID: "i-1", State: "running", LaunchTime: now.Add(-time.Minute), Zone: "a", AssignedUID: assigned, Tags: map[string]string{
			launch.TagNodeClaimUID: launch.Batched, launch.TagBatch: "x-0", launch.TagBatchUIDs + "0": "=u0:=u1",
		}}
	}
	for name, c := range map[string]struct {
		assigned string
		claims   []instances.ClaimRef
		orphan   bool
	}{
		"its claim waits for it":                    {"u0", []instances.ClaimRef{{UID: "u0"}}, false},
		"its claim is gone":                         {"u0", []instances.ClaimRef{{UID: "u1"}}, true},
		"its claim has another":                     {"u0", []instances.ClaimRef{{UID: "u0", ProviderID: "aws:///a/i-2"}}, true},
		"not known, a claim of the batch waits":     {"", []instances.ClaimRef{{UID: "u1"}}, false},
		"not known, no claim of the batch is there": {"", []instances.ClaimRef{{UID: "u7"}}, true},
		"not known, a claim names it":               {"", []instances.ClaimRef{{UID: "u1", ProviderID: "aws:///a/i-1"}}, false},
	} {
		if d := instances.Next([]instances.Instance{instance(c.assigned)}, c.claims, 0, now); len(d.Terminate) == 1 != c.orphan {
			t.Errorf("%s: to be ended are %v", name, d.Terminate)
		}
	}
}

// An instance of a batch gets the UID of its claim when its node has joined, and keeps it.
func TestMissingTagsOfABatch(t *testing.T) {
	a := &account{}
	a.batched(0, 2, false, time.Minute, "running")
	c := client(t, a)
	i := instances.FromEC2(&a.instances[0])
	if missing := c.MissingTags(i, "claim", "u0", "node"); missing[launch.TagNodeClaimUID] != "u0" || len(missing) != 3 {
		t.Errorf("missing are %v", missing)
	}
	i.Tags[launch.TagNodeClaimUID] = "u0"
	if missing := c.MissingTags(i, "claim", "u0", "node"); missing[launch.TagNodeClaimUID] != "" {
		t.Errorf("missing are %v", missing)
	}
	if i.NodeClaimUID() != "u0" {
		t.Errorf("it belongs to %q", i.NodeClaimUID())
	}
}

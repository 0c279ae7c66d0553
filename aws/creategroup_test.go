package aws_test

import (
	"errors"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/aws"
	"github.com/drawknife/drawknife/aws/internal/launch"
	"github.com/drawknife/drawknife/cloudprovider"
)

func mustCreateGroup(t *testing.T, p *aws.Provider, claims []*v1.NodeClaim) []string {
	t.Helper()
	created, err := p.CreateGroup(t.Context(), claims)
	if err != nil {
		t.Fatal(err)
	}
	ids := make([]string, len(created))
	for i, c := range created {
		if c.UID != claims[i].UID || c.Labels[corev1.LabelTopologyZone] != created[0].Labels[corev1.LabelTopologyZone] ||
			c.Labels[corev1.LabelInstanceTypeStable] != created[0].Labels[corev1.LabelInstanceTypeStable] {
			t.Errorf("claim %s got the instance of %s: %v", claims[i].Name, c.Name, c.Labels)
		}
		ids[i] = c.Status.ProviderID
	}
	return ids
}

// The crash table of groups: whatever is lost, all claims of a group have their instances, or the group is given up and nothing is left.
func TestCreateGroupCrashes(t *testing.T) {
	t.Run("the answer is lost, the process restarts", func(t *testing.T) {
		inBubble(t, func(t *testing.T, b *memoryBench) {
			claims := alike(4)
			heal := b.ec2.meets(regionalTrouble{err: refusal("InternalError", "cut", 0), lost: true}, "CreateFleet")
			if _, err := b.provider.CreateGroup(t.Context(), claims); !errors.Is(err, cloudprovider.Transient) {
				t.Fatal(err)
			}
			heal()
			next := b.another("demo")
			ids := mustCreateGroup(t, next, claims)
			got := listed(t, next)
			for i, c := range claims {
				if got[c.UID] != ids[i] {
					t.Errorf("claim %s has %s, and %s in List", c.Name, ids[i], got[c.UID])
				}
			}
			if n := b.living(); n != 4 || b.called("CreateFleet") != 1 {
				t.Errorf("%d instances after %d calls", n, b.called("CreateFleet"))
			}
		})
	})
	t.Run("an instance is gone and forgotten", func(t *testing.T) {
		inBubble(t, func(t *testing.T, b *memoryBench) {
			claims := alike(3)
			ids := mustCreateGroup(t, b.provider, claims)
			if err := b.provider.Delete(t.Context(), &v1.NodeClaim{Status: v1.NodeClaimStatus{ProviderID: ids[0]}}); err != nil {
				t.Fatal(err)
			}
			next := b.another("demo")
			if _, err := next.CreateGroup(t.Context(), claims); !cloudprovider.IsInsufficientCapacity(err) {
				t.Errorf("one is shutting down: %v", err)
			}
			b.ec2.clock.advance(10 * time.Minute)
			got := listed(t, next)
			for i, c := range claims[1:] {
				if has := got[c.UID]; has != "" && has != ids[i+1] {
					t.Errorf("claim %s had %s and is said to have %s", c.Name, ids[i+1], has)
				}
			}
			if n := b.living(); n != 2 {
				t.Errorf("%d instances", n)
			}
			// The claims know theirs: nothing is collected while they are there, and everything once they are gone.
			if ended := collect(t, next, claims[1:], ids[1:]); len(ended) != 0 {
				t.Errorf("%v were collected", ended)
			}
			if ended := collect(t, next, nil, nil); len(ended) != 2 {
				t.Errorf("%v were collected", ended)
			}
		})
	})
	t.Run("a claim is deleted before its instance is known", func(t *testing.T) {
		inBubble(t, func(t *testing.T, b *memoryBench) {
			claims := alike(3)
			ids := mustCreateGroup(t, b.provider, claims)
			next := b.another("demo")
			b.ec2.clock.advance(2 * time.Minute)
			if ended := collect(t, next, claims[1:], make([]string, 2)); len(ended) != 1 || ended[0] != ids[0] {
				t.Errorf("collected %v, want %s", ended, ids[0])
			}
		})
	})
	t.Run("the set has shrunk", func(t *testing.T) {
		inBubble(t, func(t *testing.T, b *memoryBench) {
			claims := alike(3)
			heal := b.ec2.meets(regionalTrouble{err: refusal("RequestLimitExceeded", "slow down", 0)}, "CreateFleet")
			if _, err := b.provider.CreateGroup(t.Context(), claims); !errors.Is(err, cloudprovider.Throttled) {
				t.Fatal(err)
			}
			heal()
			mustCreateGroup(t, b.provider, claims[:2])
			if n := b.living(); n != 2 {
				t.Errorf("%d instances", n)
			}
		})
	})
	t.Run("all of them are gone", func(t *testing.T) {
		inBubble(t, func(t *testing.T, b *memoryBench) {
			claims := alike(3)
			for _, id := range mustCreateGroup(t, b.provider, claims) {
				if err := b.provider.Delete(t.Context(), &v1.NodeClaim{Status: v1.NodeClaimStatus{ProviderID: id}}); err != nil {
					t.Fatal(err)
				}
			}
			mustCreateGroup(t, b.another("demo"), claims)
			if n := b.living(); n != 3 {
				t.Errorf("%d instances", n)
			}
		})
	})
}

// EC2 gives less than the minimum that was asked for, which it should not: what it gave is ended, and the group fails.
func TestCreateGroupOfAPart(t *testing.T) {
	inBubble(t, func(t *testing.T, b *memoryBench) {
		b.ec2.most = 2
		if created, err := b.provider.CreateGroup(t.Context(), alike(3)); err == nil {
			t.Errorf("two of three: %v", created)
		}
		if n := b.living(); n != 0 {
			t.Errorf("%d instances are left", n)
		}
	})
}

// What EC2 can't launch as one is unsupported: claims of several pools, claims one of which has an instance already.
func TestCreateGroupUnsupported(t *testing.T) {
	inBubble(t, func(t *testing.T, b *memoryBench) {
		mixed := alike(2)
		mixed[1].Labels = map[string]string{v1.NodePoolLabelKey: "other"}
		if _, err := b.provider.CreateGroup(t.Context(), mixed); !errors.Is(err, errors.ErrUnsupported) {
			t.Error(err)
		}
		claims := alike(2)
		mustCreateAll(t, b.provider, claims[:1])
		if _, err := b.provider.CreateGroup(t.Context(), claims); !errors.Is(err, errors.ErrUnsupported) {
			t.Error(err)
		}
		if n := b.living(); n != 1 {
			t.Errorf("%d instances", n)
		}
	})
}

// Operators can't set the tags by which batches are known.
func TestTagsOfBatchesAreReserved(t *testing.T) {
	for _, key := range []string{launch.TagBatch, launch.TagBatchUIDs + "0", launch.TagNodeClaimUID} {
		if err := (aws.Config{ClusterName: "demo", Tags: map[string]string{key: "x"}}).Validate(); err == nil {
			t.Errorf("%s may be set", key)
		}
	}
	one := 1
	if err := (aws.Config{ClusterName: "demo", BurstLaunches: &one}).Validate(); err == nil {
		t.Error("a burst of one is accepted")
	}
}

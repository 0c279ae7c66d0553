package aws_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/aws"
	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	"github.com/drawknife/drawknife/aws/internal/launch"
	"github.com/drawknife/drawknife/cloudprovider"
)

// alike are claims that ask for the same.
func alike(n int) []*v1.NodeClaim {
	claims := make([]*v1.NodeClaim, n)
	for i := range claims {
		claims[i] = claim(fmt.Sprintf("c%03d", i), in(v1.CapacityTypeLabelKey, v1.CapacityTypeOnDemand))
		claims[i].UID = types.UID(fmt.Sprintf("%08x-1111-4222-8333-%012x", i*7919%4096, i))
	}
	return claims
}

// createAll calls Create for all claims at the same time.
func createAll(t *testing.T, p *aws.Provider, claims []*v1.NodeClaim) ([]*v1.NodeClaim, []error) {
	created, errs := make([]*v1.NodeClaim, len(claims)), make([]error, len(claims))
	var calling sync.WaitGroup
	for i, c := range claims {
		calling.Go(func() { created[i], errs[i] = p.Create(t.Context(), c) })
	}
	calling.Wait()
	return created, errs
}

// mustCreateAll fails unless every claim gets an instance of its own, and returns their provider IDs.
func mustCreateAll(t *testing.T, p *aws.Provider, claims []*v1.NodeClaim) []string {
	t.Helper()
	created, errs := createAll(t, p, claims)
	var ids []string
	for i, c := range created {
		if errs[i] != nil {
			t.Fatalf("claim %s: %v", claims[i].Name, errs[i])
		}
		if c.UID != claims[i].UID || c.Name != claims[i].Name || slices.Contains(ids, c.Status.ProviderID) {
			t.Fatalf("claim %s got %s, which is described as that of %s", claims[i].Name, c.Status.ProviderID, c.Name)
		}
		ids = append(ids, c.Status.ProviderID)
	}
	return ids
}

// living counts the instances that are not shutting down, of all clusters.
func (b *memoryBench) living() (n int) {
	b.ec2.mu.Lock()
	defer b.ec2.mu.Unlock()
	for _, i := range b.ec2.instances {
		if i.ended.IsZero() {
			n++
		}
	}
	return n
}

func (b *memoryBench) called(call string) int {
	b.ec2.mu.Lock()
	defer b.ec2.mu.Unlock()
	return b.ec2.calls[call]
}

// inBubble runs a test where time passes at once when everybody waits.
func inBubble(t *testing.T, test func(t *testing.T, b *memoryBench)) {
	synctest.Test(t, func(t *testing.T) { test(t, newMemoryBench(t, awsv1.AMIFamilyAL2023)) })
}

// listed are the provider IDs of the cluster's live instances by the UID of their claim.
func listed(t *testing.T, p *aws.Provider) map[types.UID]string {
	t.Helper()
	all, err := p.List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	byUID := map[types.UID]string{}
	for _, c := range all {
		if c.DeletionTimestamp == nil {
			byUID[c.UID] = c.Status.ProviderID
		}
	}
	return byUID
}

// collect ends the orphans, given the claims with the instances that they name.
func collect(t *testing.T, p *aws.Provider, claims []*v1.NodeClaim, ids []string) []string {
	t.Helper()
	var refs []aws.ClaimRef
	for i, c := range claims {
		refs = append(refs, aws.ClaimRef{UID: c.UID, ProviderID: ids[i]})
	}
	ended, _, err := p.CollectOrphans(t.Context(), func(context.Context) ([]aws.ClaimRef, error) { return refs, nil }, 100)
	if err != nil {
		t.Fatal(err)
	}
	return ended
}

// Equal launches from the threshold on are one CreateFleet call; fewer are one each, and so are launches that are not equal.
func TestBurstIsOneCall(t *testing.T) {
	for n, want := range map[int]int{aws.DefaultBurstLaunches - 1: aws.DefaultBurstLaunches - 1, aws.DefaultBurstLaunches: 1, 60: 1} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			inBubble(t, func(t *testing.T, b *memoryBench) {
				claims := alike(n)
				ids := mustCreateAll(t, b.provider, claims)
				if got := b.called("CreateFleet"); got != want {
					t.Errorf("%d calls for %d launches, want %d", got, n, want)
				}
				for _, p := range []*aws.Provider{b.provider, b.another("demo")} {
					got := listed(t, p)
					for i, c := range claims {
						if got[c.UID] != ids[i] {
							t.Errorf("claim %s has %s, and %s in List", c.Name, ids[i], got[c.UID])
						}
					}
				}
				if again := mustCreateAll(t, b.another("demo"), claims); !slices.Equal(again, ids) {
					t.Errorf("another process: %v, had %v", again, ids)
				}
			})
		})
	}
	inBubble(t, func(t *testing.T, b *memoryBench) {
		claims := alike(24)
		for _, c := range claims[:12] {
			c.Labels["team"] = "a"
		}
		mustCreateAll(t, b.provider, claims)
		if got := b.called("CreateFleet"); got != 2 {
			t.Errorf("%d calls for twelve launches of each of two kinds", got)
		}
	})
}

// EC2 gives fleets a part of what they ask for: the rest is asked for again as long as there is any, and nobody gets two.
func TestBurstOfParts(t *testing.T) {
	inBubble(t, func(t *testing.T, b *memoryBench) {
		b.ec2.most = 7
		mustCreateAll(t, b.provider, alike(30))
		if n := b.living(); n != 30 {
			t.Errorf("%d instances for 30 claims", n)
		}
		// 30, 23, 16 and 9 are left; nine are launched one by one.
		if got := b.called("CreateFleet"); got != 3+9 {
			t.Errorf("%d calls", got)
		}
	})
	inBubble(t, func(t *testing.T, b *memoryBench) {
		restock := b.without("InsufficientInstanceCapacity", func(_, _, _ string) bool { return true })
		defer restock()
		_, errs := createAll(t, b.provider, alike(20))
		for _, err := range errs {
			if !cloudprovider.IsInsufficientCapacity(err) {
				t.Errorf("nothing is in stock: %v", err)
			}
		}
		if got := b.called("CreateFleet"); got != 1 {
			t.Errorf("%d calls find that nothing is in stock", got)
		}
	})
}

// Launches that suit a capacity reservation take its places first, one by one; the rest is one fleet.
func TestBurstWithReservation(t *testing.T) {
	inBubble(t, func(t *testing.T, b *memoryBench) {
		claims := alike(20)
		for _, c := range claims {
			c.Spec.Requirements = claim("any").Spec.Requirements
		}
		created, errs := createAll(t, b.provider, claims)
		reserved := 0
		for i, c := range created {
			if errs[i] != nil {
				t.Fatal(errs[i])
			}
			if c.Labels[v1.CapacityTypeLabelKey] == v1.CapacityTypeReserved {
				reserved++
			}
		}
		if got := b.called("CreateFleet"); reserved != 3 || got != 4 {
			t.Errorf("%d of 20 are in the reservation of three, after %d calls", reserved, got)
		}
	})
}

// The crash table of bursts: whatever is lost, in the end each claim has one instance, and none is left over.
func TestBurstCrashes(t *testing.T) {
	const n = 12
	lost := func(b *memoryBench) func() {
		return b.ec2.meets(regionalTrouble{err: refusal("InternalError", "cut", 0), lost: true}, "CreateFleet")
	}
	failsAll := func(t *testing.T, b *memoryBench, claims []*v1.NodeClaim) {
		t.Helper()
		_, errs := createAll(t, b.provider, claims)
		for _, err := range errs {
			if !errors.Is(err, cloudprovider.Transient) {
				t.Fatalf("the answer was lost: %v", err)
			}
		}
	}
	t.Run("the answer is lost", func(t *testing.T) {
		inBubble(t, func(t *testing.T, b *memoryBench) {
			heal, claims := lost(b), alike(n)
			failsAll(t, b, claims)
			heal()
			mustCreateAll(t, b.provider, claims)
			if got := b.living(); got != n {
				t.Errorf("%d instances", got)
			}
		})
	})
	t.Run("the answer is lost and the instances are not visible", func(t *testing.T) {
		inBubble(t, func(t *testing.T, b *memoryBench) {
			b.ec2.late = 20 * time.Second
			heal, claims := lost(b), alike(n)
			failsAll(t, b, claims)
			heal()
			// Not all of them come back at once, and others come with them.
			first := mustCreateAll(t, b.provider, append(slices.Clone(claims[:5]), alike(30)[20:]...))
			b.ec2.clock.advance(30 * time.Second)
			rest := mustCreateAll(t, b.provider, claims[5:])
			if got := b.living(); got != n+10 || slices.Contains(rest, first[0]) {
				t.Errorf("%d instances for %d claims", got, n+10)
			}
		})
	})
	t.Run("the process restarts", func(t *testing.T) {
		inBubble(t, func(t *testing.T, b *memoryBench) {
			heal, claims := lost(b), alike(n)
			failsAll(t, b, claims)
			heal()
			next := b.another("demo")
			half := mustCreateAll(t, next, claims[:n/2])
			rest := mustCreateAll(t, b.another("demo"), claims[n/2:])
			if got := b.living(); got != n {
				t.Errorf("%d instances", got)
			}
			b.ec2.clock.advance(time.Minute)
			if ended := collect(t, next, claims, append(half, rest...)); len(ended) != 0 {
				t.Errorf("%v were collected", ended)
			}
		})
	})
	t.Run("the process restarts and the instances are not visible", func(t *testing.T) {
		inBubble(t, func(t *testing.T, b *memoryBench) {
			b.ec2.late = 20 * time.Second
			heal, claims := lost(b), alike(n)
			failsAll(t, b, claims)
			heal()
			next := b.another("demo")
			ids := mustCreateAll(t, next, claims[:n-1]) // the last claim has been deleted
			b.ec2.clock.advance(2 * time.Minute)
			ended := collect(t, next, claims[:n-1], ids)
			if got := b.living(); len(ended) != n || got != n-1 {
				t.Errorf("%d leftovers of the first process were collected, %d instances are left", len(ended), got)
			}
		})
	})
	t.Run("a part was launched, the answer is lost, the process restarts", func(t *testing.T) {
		inBubble(t, func(t *testing.T, b *memoryBench) {
			b.ec2.most = 8
			heal, claims := lost(b), alike(n)
			failsAll(t, b, claims)
			heal()
			b.ec2.most = 0
			next := b.another("demo")
			if _, err := next.Create(t.Context(), claims[0]); !cloudprovider.IsTransient(err) {
				t.Errorf("it is not known yet whose the instances are: %v", err)
			}
			b.ec2.clock.advance(launch.Visibility)
			mustCreateAll(t, next, claims)
			if got := b.living(); got != n {
				t.Errorf("%d instances", got)
			}
		})
	})
	t.Run("a claim is deleted", func(t *testing.T) {
		inBubble(t, func(t *testing.T, b *memoryBench) {
			claims := alike(n)
			ids := mustCreateAll(t, b.provider, claims)
			b.ec2.clock.advance(2 * time.Minute)
			if ended := collect(t, b.another("demo"), claims[1:], ids[1:]); len(ended) != 1 || ended[0] != ids[0] {
				t.Errorf("collected %v, want %s", ended, ids[0])
			}
		})
	})
}

// Once its node has joined, an instance of a burst has the tags of its own claim; a policy without the permission for the tag with the UID
// leaves the others.
func TestTagNodeOfABurst(t *testing.T) {
	inBubble(t, func(t *testing.T, b *memoryBench) {
		claims := alike(12)
		ids := mustCreateAll(t, b.provider, claims)
		joined := claims[3].DeepCopy()
		joined.Status.ProviderID, joined.Status.NodeName = ids[3], "node-3"
		if err := b.provider.TagNode(t.Context(), joined); err != nil {
			t.Fatal(err)
		}
		for _, i := range b.ec2.described() {
			tags, own := tagsOf(&i), ids[3] == "aws:///"+*i.Placement.AvailabilityZone+"/"+*i.InstanceId
			if own != (tags[launch.TagNodeClaimUID] == string(joined.UID)) || own != (tags[awsv1.TagNodeClaim] == joined.Name) || own != (tags[awsv1.TagName] == "node-3") {
				t.Errorf("instance %s has the tags %v", *i.InstanceId, tags)
			}
		}
		got := listed(t, b.another("demo"))
		for i, c := range claims {
			if got[c.UID] != ids[i] {
				t.Errorf("claim %s has %s, and %s in List", c.Name, ids[i], got[c.UID])
			}
		}
	})
}

package conformance_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/fake"
)

func brokenInstances() []broken {
	return []broken{
		{clause: "CP-DELETE-01", what: "what shuts down is called gone", how: func(d *double) {
			d.delete = func(ctx context.Context, c *v1.NodeClaim) error {
				if got, err := d.Cloud.Get(ctx, c.Status.ProviderID); err == nil && !got.DeletionTimestamp.IsZero() {
					return cloudprovider.NewNodeClaimNotFoundError(c.Status.ProviderID, nil)
				}
				return d.Cloud.Delete(ctx, c)
			}
		}},
		{clause: "CP-DELETE-01", what: "instances of another zone are taken for gone", how: func(d *double) {
			d.delete = func(ctx context.Context, c *v1.NodeClaim) error {
				if got, err := d.Cloud.Get(ctx, c.Status.ProviderID); err == nil && far(got) {
					return cloudprovider.NewNodeClaimNotFoundError(c.Status.ProviderID, nil)
				}
				return d.Cloud.Delete(ctx, c)
			}
		}},
		{clause: "CP-DELETE-02", what: "the second Delete complains", how: func(d *double) {
			d.delete = func(ctx context.Context, c *v1.NodeClaim) error {
				if got, err := d.Cloud.Get(ctx, c.Status.ProviderID); err == nil && !got.DeletionTimestamp.IsZero() {
					return errors.New("incorrect instance state")
				}
				return d.Cloud.Delete(ctx, c)
			}
		}},
		{clause: "CP-DELETE-03", what: "an empty provider ID is a plain error", how: func(d *double) {
			d.delete = func(ctx context.Context, c *v1.NodeClaim) error {
				if c.Status.ProviderID == "" {
					return errors.New("parsing provider id")
				}
				return d.Cloud.Delete(ctx, c)
			}
		}},
		{clause: "CP-DELETE-04", what: "the claim's UID is believed", how: func(d *double) {
			d.delete = func(ctx context.Context, c *v1.NodeClaim) error {
				all, err := d.Cloud.List(context.WithoutCancel(ctx))
				for _, m := range all {
					if err == nil && m.UID == c.UID && m.DeletionTimestamp.IsZero() && c.Status.ProviderID != "" && len(c.Labels) == 0 {
						return d.Cloud.Delete(ctx, m)
					}
				}
				return d.Cloud.Delete(ctx, c)
			}
		}},
		{clause: "CP-GET-01", what: "Get does not state the image", how: func(d *double) {
			d.get = func(ctx context.Context, id string) (*v1.NodeClaim, error) {
				got, err := d.Cloud.Get(ctx, id)
				if got != nil {
					got.Status.ImageID = ""
				}
				return got, err
			}
		}},
		{clause: "CP-GET-01", what: "instances on the spot market are not found", how: func(d *double) {
			d.get = func(ctx context.Context, id string) (*v1.NodeClaim, error) {
				got, err := d.Cloud.Get(ctx, id)
				if got != nil && far(got) && got.Labels[v1.CapacityTypeLabelKey] == v1.CapacityTypeSpot {
					return nil, cloudprovider.NewNodeClaimNotFoundError(id, nil)
				}
				return got, err
			}
		}},
		{clause: "CP-GET-02", what: "what shuts down is gone to Get", how: func(d *double) {
			d.get = func(ctx context.Context, id string) (*v1.NodeClaim, error) {
				got, err := d.Cloud.Get(ctx, id)
				if got != nil && !got.DeletionTimestamp.IsZero() {
					return nil, cloudprovider.NewNodeClaimNotFoundError(id, nil)
				}
				return got, err
			}
		}},
		{clause: "CP-GET-03", what: "a malformed provider ID is a permanent error", how: func(d *double) {
			d.get = func(ctx context.Context, id string) (*v1.NodeClaim, error) {
				if id != "" && !strings.HasPrefix(id, "fake:///") {
					return nil, cloudprovider.NewPermanentError(errors.New("parsing provider id"))
				}
				return d.Cloud.Get(ctx, id)
			}
		}},
		{clause: "CP-LIST-01", what: "the next process lists its own instances only", how: func(d *double) {
			own := map[string]bool{}
			if d.restarts == 0 {
				return
			}
			d.create = func(ctx context.Context, c *v1.NodeClaim) (*v1.NodeClaim, error) {
				created, err := d.Cloud.Create(ctx, c)
				d.state.Lock()
				defer d.state.Unlock()
				if err == nil {
					own[created.Status.ProviderID] = true
				}
				return created, err
			}
			d.listing(func(all []*v1.NodeClaim) []*v1.NodeClaim {
				d.state.Lock()
				defer d.state.Unlock()
				return slices.DeleteFunc(all, func(c *v1.NodeClaim) bool { return !own[c.Status.ProviderID] })
			})
		}},
		{clause: "CP-LIST-01", what: "instances of another zone are not listed", how: func(d *double) {
			d.listing(func(all []*v1.NodeClaim) []*v1.NodeClaim { return slices.DeleteFunc(all, far) })
		}},
		{clause: "CP-LIST-01", what: "instances of another cluster are listed", how: func(d *double) {
			another := d.ForCluster("another")
			d.list = func(ctx context.Context) ([]*v1.NodeClaim, error) {
				all, err := d.Cloud.List(ctx)
				if err != nil {
					return nil, err
				}
				theirs, err := another.List(ctx)
				all = append(all, theirs...)
				slices.SortFunc(all, func(a, b *v1.NodeClaim) int { return strings.Compare(a.Status.ProviderID, b.Status.ProviderID) })
				return all, err
			}
		}},
		{clause: "CP-LIST-02", what: "dead instances stay in a cache", how: func(d *double) {
			dead := map[string]*v1.NodeClaim{}
			d.list = func(ctx context.Context) ([]*v1.NodeClaim, error) {
				all, err := d.Cloud.List(ctx)
				if err != nil {
					return nil, err
				}
				d.state.Lock()
				defer d.state.Unlock()
				there := map[string]bool{}
				for _, c := range all {
					there[c.Status.ProviderID] = true
					dead[c.Status.ProviderID] = c
				}
				for _, id := range slices.Sorted(maps.Keys(dead)) {
					if !there[id] {
						all = append(all, dead[id])
					}
				}
				slices.SortFunc(all, func(a, b *v1.NodeClaim) int { return strings.Compare(a.Status.ProviderID, b.Status.ProviderID) })
				return all, nil
			}
		}},
		{clause: "CP-LIST-03", what: "what shuts down is listed as running", how: func(d *double) {
			d.listing(func(all []*v1.NodeClaim) []*v1.NodeClaim {
				for _, c := range all {
					c.DeletionTimestamp = nil
				}
				return all
			})
		}},
		{clause: "CP-LIST-04", what: "UIDs are not listed", how: func(d *double) {
			d.listing(func(all []*v1.NodeClaim) []*v1.NodeClaim {
				for _, c := range all {
					c.UID = ""
				}
				return all
			})
		}},
		{clause: "CP-LIST-04", what: "the pool of instances in another zone is not listed", how: func(d *double) {
			d.listing(func(all []*v1.NodeClaim) []*v1.NodeClaim {
				for _, c := range all {
					if far(c) {
						delete(c.Labels, v1.NodePoolLabelKey)
					}
				}
				return all
			})
		}},
		{clause: "CP-LIST-05", what: "what could not be read is left out", how: func(d *double) {
			d.list = func(ctx context.Context) ([]*v1.NodeClaim, error) {
				all, err := d.Cloud.List(ctx)
				if err != nil && ctx.Err() == nil {
					return all, nil
				}
				return all, err
			}
		}},
		{clause: "CP-LIST-06", what: "the list is upside down", how: func(d *double) {
			d.listing(func(all []*v1.NodeClaim) []*v1.NodeClaim { slices.Reverse(all); return all })
		}},
	}
}

// far is an instance in a zone where none is the cheapest.
func far(c *v1.NodeClaim) bool {
	zones := fake.GenericZones()
	return c.Labels[corev1.LabelTopologyZone] == zones[len(zones)-1]
}

func brokenErrors() []broken {
	return []broken{
		{clause: "CP-ERROR-01", what: "throttling has no kind", how: func(d *double) {
			d.errors(func(err error) error {
				if cloudprovider.IsThrottled(err) {
					return errors.New("try again")
				}
				return err
			})
		}},
		{clause: "CP-ERROR-02", what: "an error is its kind and nothing more", how: func(d *double) {
			d.errors(func(err error) error {
				if cloudprovider.KindOf(err) == cloudprovider.Permanent {
					return fmt.Errorf("no: %w", cloudprovider.Permanent)
				}
				return err
			})
		}},
		{clause: "CP-ERROR-03", what: "what is not understood is permanent", how: func(d *double) {
			d.errors(func(err error) error {
				if err.Error() != "" && errors.Unwrap(errors.Unwrap(err)) == nil && cloudprovider.IsTransient(err) {
					return cloudprovider.NewPermanentError(err)
				}
				return err
			})
		}},
		{clause: "CP-ERROR-04", what: "how long to wait is not passed on", how: func(d *double) {
			d.errors(func(err error) error {
				if cloudprovider.IsThrottled(err) && !errors.Is(err, cloudprovider.Unauthorized) {
					return cloudprovider.NewThrottledError("fake:Do", 0, nil)
				}
				return err
			})
		}},
		{clause: "CP-ERROR-05", what: "a permission is not named", how: func(d *double) {
			d.errors(func(err error) error {
				if cloudprovider.KindOf(err) == cloudprovider.Unauthorized {
					return cloudprovider.NewUnauthorizedError("", err)
				}
				return err
			})
		}},
		{clause: "CP-ERROR-06", what: "the first cause is all that is told", how: func(d *double) {
			d.errors(func(err error) error {
				if cloudprovider.IsThrottled(err) {
					wait, _ := cloudprovider.RetryAfter(err)
					return cloudprovider.NewThrottledError("fake:Do", wait, nil)
				}
				return err
			})
		}},
		{clause: "CP-ERROR-07", what: "an ended context is an error of the provider's own", how: func(d *double) {
			d.errors(func(err error) error {
				if errors.Is(err, context.Canceled) {
					return errors.New("interrupted")
				}
				return err
			})
		}},
	}
}

func brokenConcurrency() []broken {
	return []broken{
		{clause: "CP-CONCURRENCY-01", what: "a page is all that is listed", how: func(d *double) {
			d.listing(func(all []*v1.NodeClaim) []*v1.NodeClaim { return all[:min(len(all), 50)] })
		}},
		{clause: "CP-CONCURRENCY-02", what: "a lock is held across calls of the cloud", how: func(d *double) {
			var mu sync.Mutex
			d.types = func(ctx context.Context, p *v1.NodePool) ([]*cloudprovider.InstanceType, error) {
				mu.Lock()
				defer mu.Unlock()
				return d.Cloud.InstanceTypes(ctx, p)
			}
			d.create = func(ctx context.Context, c *v1.NodeClaim) (*v1.NodeClaim, error) {
				mu.Lock()
				defer mu.Unlock()
				return d.Cloud.Create(ctx, c)
			}
		}},
		{clause: "CP-CONCURRENCY-03", what: "a goroutine is left by each call", how: func(d *double) {
			stop := make(chan struct{})
			d.t.Cleanup(func() { close(stop) })
			d.list = func(ctx context.Context) ([]*v1.NodeClaim, error) {
				go func() { <-stop }()
				return d.Cloud.List(ctx)
			}
		}},
		{clause: "CP-CONCURRENCY-04", what: "instances that are gone are remembered", how: func(d *double) {
			var mu sync.Mutex
			var kept [][]byte
			d.create = func(ctx context.Context, c *v1.NodeClaim) (*v1.NodeClaim, error) {
				mu.Lock()
				defer mu.Unlock()
				kept = append(kept, make([]byte, 16<<10))
				return d.Cloud.Create(ctx, c)
			}
			d.t.Cleanup(func() { kept = nil })
		}},
	}
}

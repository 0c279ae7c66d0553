package instances

import (
	"context"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/drawknife/drawknife/aws/internal/launch"
)

// assignWindow is how long after its launch a batch is assigned if EC2 launched only a part of its instances. EC2 shows an instance for
// about an hour after its termination. During assignWindow every process therefore sees all instances of the batch and assigns them in the
// same way. A claim without an instance is deleted before assignWindow is over.
const assignWindow = 45 * time.Minute

// Batch returns the batch with which the instance was launched, by its tags. It returns false if the instance was launched for one claim.
func (i *Instance) Batch() (launch.Batch, bool) { return launch.BatchOf(i.Tags) }

// unassigned reports whether the instance's claim is not known, because it has only the tags of its batch.
func (i *Instance) unassigned() bool {
	return i.AssignedUID == "" && i.Tags[launch.TagNodeClaimUID] == launch.Batched
}

// assign sets the claims of instances of batches whose claim is certain. The parameter members has all instances of these batches that EC2
// shows, including terminated instances. A batch is assigned when EC2 shows as many instances as the batch has claims. If EC2 may have
// launched only a part of a batch, the batch is also assigned once all its instances must be visible (launch.Visibility), until it is older
// than assignWindow. assign is a pure function.
func assign(found, members []Instance, now time.Time) []Instance {
	batches := map[string][]*Instance{}
	for n := range members {
		id := members[n].Tags[launch.TagBatch]
		batches[id] = append(batches[id], &members[n])
	}
	assigned := make(map[string]map[string]types.UID, len(batches))
	out := slices.Clone(found)
	for n := range out {
		if !out[n].unassigned() {
			continue
		}
		batch, ok := out[n].Batch()
		if !ok {
			continue
		}
		if _, known := assigned[batch.ID]; !known {
			assigned[batch.ID] = assignBatch(batch, batches[batch.ID], now)
		}
		out[n].AssignedUID = string(assigned[batch.ID][out[n].ID])
	}
	return out
}

// assignBatch returns the UID of the claim of each instance, or nil while the batch can't be assigned.
func assignBatch(batch launch.Batch, members []*Instance, now time.Time) map[string]types.UID {
	if len(members) == 0 {
		return nil
	}
	ids, first := make([]string, len(members)), members[0].LaunchTime
	for n, m := range members {
		ids[n] = m.ID
		if m.LaunchTime.Before(first) {
			first = m.LaunchTime
		}
	}
	age := now.Sub(first)
	if len(members) < len(batch.UIDs) && (batch.Whole() || age < launch.Visibility || age > assignWindow) {
		return nil
	}
	return launch.Assign(ids, batch.UIDs)
}

// owned sets the claims of instances that were launched in batches. It remembers the claims of instances that this process has launched.
// For other instances, it reads all instances of their batches.
func (c *Client) owned(ctx context.Context, found []Instance) ([]Instance, error) {
	found = c.recall(found)
	var ids []string
	for n := range found {
		if batch, ok := found[n].Batch(); ok && found[n].unassigned() {
			ids = append(ids, batch.ID)
		}
	}
	if len(ids) == 0 {
		return found, nil
	}
	members, err := c.batches(ctx, distinct(ids))
	if err != nil {
		return nil, err
	}
	return assign(found, members, c.options.Now()), nil
}

// openFor is how long openBatches returns the same list again. A list of this age is recent enough: this process knows its own launches,
// and an earlier process launches no more instances.
const openFor = 5 * time.Second

// openBatches returns the list of instances of batches that are not yet tagged with their own claims. known is false if the list is older
// than openFor. EC2 can't filter these instances by the UID of a claim, so the instances of all batches are read. The list is reused,
// because otherwise each claim of a burst would read the whole burst again.
func (c *Client) openBatches() (open []Instance, known bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	age := c.options.Now().Sub(c.openedAt)
	return c.open, !c.openedAt.IsZero() && age >= 0 && age < openFor
}

// splitOpen separates instances of batches that are not yet tagged with their own claims (the result open) from all other instances. It
// remembers the list open for openBatches.
func (c *Client) splitOpen(found []Instance) (rest, open []Instance) {
	for _, i := range found {
		if i.Tags[launch.TagNodeClaimUID] == launch.Batched {
			open = append(open, i)
		} else {
			rest = append(rest, i)
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.open, c.openedAt = open, c.options.Now()
	return rest, open
}

// ofClaims returns the instances of the batches that contain at least one of the claims.
func ofClaims(open []Instance, uids []types.UID) []Instance {
	wanted := make(map[types.UID]bool, len(uids))
	for _, uid := range uids {
		wanted[uid] = true
	}
	var found []Instance
	looked := map[string]bool{} // keys are the tag values of batches; true if the batch contains one of the claims
	for _, i := range open {
		id := i.Tags[launch.TagBatch]
		of, known := looked[id]
		if !known {
			batch, _ := i.Batch()
			of = slices.ContainsFunc(batch.UIDs, func(uid types.UID) bool { return wanted[uid] })
			looked[id] = of
		}
		if of {
			found = append(found, i)
		}
	}
	return found
}

// recall sets the claims of instances that this process has just launched.
func (c *Client) recall(found []Instance) []Instance {
	out := slices.Clone(found)
	c.mu.Lock()
	defer c.mu.Unlock()
	for n := range out {
		if recent, ok := c.recent[out[n].ID]; ok && out[n].unassigned() {
			out[n].AssignedUID, out[n].DealtName = recent.AssignedUID, recent.DealtName
		}
	}
	return out
}

// batches returns the instances of the batches in any state.
func (c *Client) batches(ctx context.Context, ids []string) ([]Instance, error) {
	var all []Instance
	for part := range slices.Chunk(ids, filterValues) {
		found, err := c.read(ctx, filter("tag:"+launch.TagBatch, part...))
		if err != nil {
			return nil, err
		}
		for _, i := range found {
			if i.Of(c.options.Cluster) {
				all = append(all, i)
			}
		}
	}
	return all, nil
}

// Together contains the instances that were launched as one batch for the same claims.
type Together struct {
	// Generation is the next generation that no batch has used yet: see launch.BatchID.
	Generation int
	// Live and Dead are the newest batch's instances by the UID of their claim; instances without a claim are left out. Both are nil if
	// there is no batch.
	Live, Dead map[types.UID]Instance
	// Undecided means that some instances of the newest batch are not visible yet, so that it is not known which claim each instance
	// belongs to.
	Undecided bool
}

// ByClaims finds the instances that were launched for exactly these claims together.
func (c *Client) ByClaims(ctx context.Context, uids []types.UID) (Together, error) {
	// The generation of the batch is not known here, so the filter has a wildcard.
	found, err := c.read(ctx, filter("tag:"+launch.TagBatch, launch.BatchFilter(uids)))
	if err != nil {
		return Together{}, err
	}
	var t Together
	newest := ""
	for n := range found {
		if batch, ok := found[n].Batch(); ok && found[n].Of(c.options.Cluster) && batch.Generation() >= t.Generation {
			t.Generation, newest = batch.Generation()+1, batch.ID
		}
	}
	if newest == "" {
		return t, nil
	}
	found = slices.DeleteFunc(found, func(i Instance) bool { return i.Tags[launch.TagBatch] != newest })
	t.Live, t.Dead = map[types.UID]Instance{}, map[types.UID]Instance{}
	for _, i := range assign(c.recall(found), found, c.options.Now()) {
		switch uid := types.UID(i.NodeClaimUID()); {
		case uid == "":
			t.Undecided = t.Undecided || c.options.Now().Sub(i.LaunchTime) < launch.Visibility
		case i.Terminating():
			t.Dead[uid] = i
		default:
			t.Live[uid] = i
		}
	}
	return t, nil
}

package overlay

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
)

// Result contains the instance types of pools after overlays were applied. It never changes and is safe for concurrent use. A nil Result
// contains no pools.
type Result struct {
	// Pools are the pools of the input, sorted by key.
	Pools []PoolTypes
	// Lists are the distinct lists of instance types of all Pools. PoolTypes.List is an index into it.
	Lists [][]*cloudprovider.InstanceType
	// Verdicts say for each overlay whether it was applied. They are sorted like the overlays: by descending weight, then by name in
	// reverse alphabetical order.
	Verdicts []Verdict

	byPool map[v1.PoolKey]int
	copies map[*cloudprovider.InstanceType][]*corrected
	known  map[*cloudprovider.InstanceType]*corrected
}

// PoolTypes are the instance types of one pool, with overlays applied.
type PoolTypes struct {
	// Key is the key of the pool.
	Key v1.PoolKey
	// Types are in the same order as in the input. If no overlay changes any of the types, Types is the slice that was passed in for this
	// pool, or for another pool with the same types. Read only.
	Types []*cloudprovider.InstanceType
	// List is the index of Types in Result.Lists: pools with the same index share one slice.
	List int
}

// InstanceTypes returns the types of the pool, with overlays applied. Callers must not change them. If the pool was not in the input, the
// error has kind [cloudprovider.UnevaluatedNodePool]: plan without this pool for now.
func (r *Result) InstanceTypes(key v1.PoolKey) ([]*cloudprovider.InstanceType, error) {
	if r != nil {
		if i, ok := r.byPool[key]; ok {
			return r.Pools[i].Types, nil
		}
	}
	return nil, cloudprovider.NewUnevaluatedNodePoolError(key.String(), nil)
}

// Overlaid describes the changes of overlays to one instance type. The zero value means no changes.
type Overlaid struct {
	// Base is the type before the changes, as the provider returned it.
	Base *cloudprovider.InstanceType
	// Price has the names of the overlays that set prices of the type's offerings, sorted.
	Price []string
	// Capacity has the names of the overlays that set resources of the type, sorted.
	Capacity []string
}

// Overlaid returns the changes to a type of the result, or the zero value for any other type.
func (r *Result) Overlaid(t *cloudprovider.InstanceType) Overlaid {
	if r == nil || r.known[t] == nil {
		return Overlaid{}
	}
	return r.known[t].overlaid()
}

// Annotations returns the annotations of a NodeClaim that may become any of types. karpenter.sh/price-overlay-applied and
// karpenter.sh/capacity-overlay-applied are "true" if an overlay set the price or the capacity of one of these types. It returns nil if no
// overlay set a price or capacity of them.
func (r *Result) Annotations(types []*cloudprovider.InstanceType) map[string]string {
	if r == nil {
		return nil
	}
	var annotations map[string]string
	mark := func(key string) {
		if annotations == nil {
			annotations = make(map[string]string, 2)
		}
		annotations[key] = "true"
	}
	for _, t := range types {
		c := r.known[t]
		if c == nil {
			continue
		}
		if c.repriced() {
			mark(v1.PriceOverlayAppliedAnnotationKey)
		}
		if len(c.capacity) > 0 {
			mark(v1.CapacityOverlayAppliedAnnotationKey)
		}
	}
	return annotations
}

// Reason says why an overlay was applied or refused: it is the reason of its condition ValidationSucceeded.
type Reason string

const (
	// ReasonApplied: the overlay is valid. It is applied to everything that it matches, except where an earlier overlay has set the same
	// price or resource.
	ReasonApplied Reason = v1.ConditionValidationSucceeded
	// ReasonInvalid: the overlay breaks a rule for NodeOverlays, or has the same name as another overlay.
	ReasonInvalid Reason = "Invalid"
	// ReasonConflict: an earlier overlay of the same weight sets the same price or resource.
	ReasonConflict Reason = "Conflict"
)

// Verdict says whether one overlay was applied or refused.
type Verdict struct {
	// Overlay is the overlay that was passed in, unchanged.
	Overlay *v1.NodeOverlay
	// Reason says whether and why the overlay was applied or refused.
	Reason Reason
	// Message says why the overlay was refused and what to do; empty if it was applied.
	Message string
	// Conflict says which other overlay sets the same price or resource. It is nil unless Reason is ReasonConflict.
	Conflict *Conflict
	// Offerings is the number of offerings that the overlay selects, added up over all pools, whether or not it sets their final price. If
	// it is 0 for an applied overlay, its requirements match nothing, probably by mistake. For a refused overlay it is 0.
	Offerings int
}

// Applied reports whether the overlay was accepted.
func (v Verdict) Applied() bool { return v.Reason == ReasonApplied }

// Record writes the verdict to o as the condition ValidationSucceeded with the time now. o must not be shared. It reports whether the
// condition changed.
func (v Verdict) Record(o *v1.NodeOverlay, now time.Time) bool {
	if o == nil {
		return false
	}
	status := metav1.ConditionFalse
	if v.Applied() {
		status = metav1.ConditionTrue
	}
	return o.Conditions().Set(v1.ConditionValidationSucceeded, status, string(v.Reason), v.Message, now)
}

// String returns one sentence for an operator.
func (v Verdict) String() string {
	name := ""
	if v.Overlay != nil {
		name = v.Overlay.Name
	}
	switch {
	case !v.Applied():
		return fmt.Sprintf("overlay %s is not applied: %s", name, v.Message)
	case v.Offerings == 0:
		return fmt.Sprintf("overlay %s is applied but matches no offering of any pool: check its requirements", name)
	}
	return fmt.Sprintf("overlay %s is applied; offerings it matches: %d", name, v.Offerings)
}

// Conflict is the first price or resource that two overlays of equal weight both set.
type Conflict struct {
	// With is the name of the overlay that was accepted before.
	With string
	// Pool is the pool in which both overlays match.
	Pool v1.PoolKey
	// Offering is the offering whose price both overlays set. For a resource, only its InstanceType is set.
	Offering cloudprovider.OfferingKey
	// Resource is the resource that both overlays set; empty if the conflict is about a price.
	Resource string
}

// String returns one sentence that says which price or resource both overlays set, in which pool, and how to correct it.
func (c Conflict) String() string {
	what, where := "the price", c.Offering.String()
	if c.Resource != "" {
		what, where = "the capacity "+c.Resource, c.Offering.InstanceType
	}
	return fmt.Sprintf("overlay %s has the same weight and states %s of %s in nodepool %s as well: give one of them another weight or narrow its requirements",
		c.With, what, where, c.Pool)
}

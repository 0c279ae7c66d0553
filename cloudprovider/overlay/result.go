package overlay

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
)

// Result contains the instance types of pools after overlays were applied. It is never changed and safe for concurrent use. A nil Result
// knows no pool.
type Result struct {
	// Pools are the pools of the input, ordered by key.
	Pools []PoolTypes
	// Lists are the distinct lists of instance types that Pools see; PoolTypes.List is an index into it.
	Lists [][]*cloudprovider.InstanceType
	// Verdicts say of each overlay whether it was applied, in the order of application: by weight, the highest first, then by name, the
	// last first.
	Verdicts []Verdict

	byPool map[v1.PoolKey]int
	copies map[*cloudprovider.InstanceType][]*corrected
	known  map[*cloudprovider.InstanceType]*corrected
}

// PoolTypes are the instance types of one pool, with overlays applied.
type PoolTypes struct {
	// Key is the pool's.
	Key v1.PoolKey
	// Types are in the order in which they were given. If no overlay changes any of them, it is exactly the slice that was
	// given, or that of another pool with the same types. Read only.
	Types []*cloudprovider.InstanceType
	// List is the index of Types in Result.Lists: pools with the same index share one slice.
	List int
}

// InstanceTypes returns the types of the pool, with overlays applied; read only. For a pool that was not evaluated the error has kind
// [cloudprovider.UnevaluatedNodePool]: leave the pool out for now.
func (r *Result) InstanceTypes(key v1.PoolKey) ([]*cloudprovider.InstanceType, error) {
	if r != nil {
		if i, ok := r.byPool[key]; ok {
			return r.Pools[i].Types, nil
		}
	}
	return nil, cloudprovider.NewUnevaluatedNodePoolError(key.String(), nil)
}

// Overlaid describes the changes of overlays to one instance type. The zero value: nothing.
type Overlaid struct {
	// Base is the type as the provider gave it.
	Base *cloudprovider.InstanceType
	// Price names the overlays whose prices some of its offerings have, sorted.
	Price []string
	// Capacity names the overlays that some of its resources are from, sorted.
	Capacity []string
}

// Overlaid returns the changes to a type of the result; the zero value for any other type.
func (r *Result) Overlaid(t *cloudprovider.InstanceType) Overlaid {
	if r == nil || r.known[t] == nil {
		return Overlaid{}
	}
	return r.known[t].overlaid()
}

// Annotations returns the annotations of a NodeClaim that may become any of types: karpenter.sh/price-overlay-applied
// and karpenter.sh/capacity-overlay-applied are "true" if the price or capacity of one of them was overlaid. Nil if
// neither is.
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

// Reason is why an overlay was applied or refused: the reason of its condition ValidationSucceeded.
type Reason string

const (
	// ReasonApplied: the overlay is valid, and applied wherever it matches and no overlay of higher weight takes precedence.
	ReasonApplied Reason = v1.ConditionValidationSucceeded
	// ReasonInvalid: the overlay breaks a rule of its kind, or shares its name with another.
	ReasonInvalid Reason = "Invalid"
	// ReasonConflict: an earlier overlay of the same weight states the same price or resource.
	ReasonConflict Reason = "Conflict"
)

// Verdict says what became of one overlay.
type Verdict struct {
	// Overlay is the given overlay, unchanged.
	Overlay *v1.NodeOverlay
	// Reason says whether it was applied.
	Reason Reason
	// Message says why it was refused and what to do; empty when it was applied.
	Message string
	// Conflict says with which overlay there is a conflict, and about what. It is nil unless Reason is ReasonConflict.
	Conflict *Conflict
	// Offerings is how many offerings the overlay selects, summed over pools, whether or not its price is the final one. 0 for an
	// applied overlay means that its requirements match nothing, probably by mistake; a refused overlay has no count.
	Offerings int
}

// Applied reports whether the overlay was accepted.
func (v Verdict) Applied() bool { return v.Reason == ReasonApplied }

// Record writes the verdict as the condition ValidationSucceeded of o, which must not be shared, as of now. It reports
// whether that changed anything.
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

// String is one sentence for an operator.
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

// Conflict is the first price or resource that two overlays of equal weight both state.
type Conflict struct {
	// With names the overlay that was taken before.
	With string
	// Pool is where they met.
	Pool v1.PoolKey
	// Offering is the offering whose price both overlays set. For a resource, only its InstanceType is set.
	Offering cloudprovider.OfferingKey
	// Resource is the resource that both overlays state; empty for a price.
	Resource string
}

// String is one sentence: what both overlays state, where, and the cure.
func (c Conflict) String() string {
	what, where := "the price", c.Offering.String()
	if c.Resource != "" {
		what, where = "the capacity "+c.Resource, c.Offering.InstanceType
	}
	return fmt.Sprintf("overlay %s has the same weight and states %s of %s in nodepool %s as well: give one of them another weight or narrow its requirements",
		c.With, what, where, c.Pool)
}

package overlay

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/drawknife/drawknife/api/requirements"
	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
)

// rule is the compiled form of an overlay. It never changes after its creation.
type rule struct {
	name   string
	weight int32
	want   requirements.Set
	// price is the text that sets or adjusts prices; empty if the overlay does not change prices.
	price   string
	reprice func(price float64) float64
	// given is true if the overlay sets the price, and false if it adjusts it.
	given    bool
	capacity []amount
}

// amount is one entry of an overlay's capacity.
type amount struct {
	name     corev1.ResourceName
	quantity corev1.ResourceList // has one entry; it is a ResourceList because that type has DeepCopy
	text     string
}

// taken has the overlays in the order of application. verdicts and rules have one entry for each overlay; the rule of an invalid overlay is
// nil.
type taken struct {
	verdicts []Verdict
	rules    []*rule
}

// take sorts overlays in the order of application and compiles them.
func take(overlays []*v1.NodeOverlay, lookup *requirements.Lookup) taken {
	sorted := slices.DeleteFunc(slices.Clone(overlays), func(o *v1.NodeOverlay) bool { return o == nil })
	slices.SortStableFunc(sorted, func(a, b *v1.NodeOverlay) int {
		return cmp.Or(cmp.Compare(weightOf(b), weightOf(a)), strings.Compare(b.Name, a.Name))
	})
	named := make(map[string]int, len(sorted))
	for _, o := range sorted {
		named[o.Name]++
	}
	t := taken{verdicts: make([]Verdict, len(sorted)), rules: make([]*rule, len(sorted))}
	for i, o := range sorted {
		t.verdicts[i] = Verdict{Overlay: o, Reason: ReasonApplied}
		if named[o.Name] > 1 {
			t.refuse(i, ReasonInvalid, fmt.Sprintf("metadata.name: %d overlays are named %q: keep one", named[o.Name], o.Name))
			continue
		}
		r, err := newRule(o, lookup)
		if err != nil {
			t.refuse(i, ReasonInvalid, err.Error())
			continue
		}
		t.rules[i] = r
	}
	return t
}

func (t *taken) refuse(i int, reason Reason, message string) {
	t.verdicts[i].Reason, t.verdicts[i].Message = reason, message
	t.rules[i] = nil
}

// keys returns all label keys that the rules use, sorted.
func (t *taken) keys() []string {
	var keys []string
	for _, r := range t.rules {
		if r != nil {
			keys = append(keys, r.want.Keys()...)
		}
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

// newRule compiles an overlay; the error lists all of its faults.
func newRule(o *v1.NodeOverlay, lookup *requirements.Lookup) (*rule, error) {
	errs := o.Validate()
	errs = append(errs, requirements.ValidateRequirements(o.Spec.Requirements, lookup, field.NewPath("spec", "requirements"))...)
	if len(errs) > 0 {
		return nil, errs.ToAggregate()
	}
	want, err := lookup.ParseSet(o.Spec.Requirements)
	if err != nil {
		return nil, fmt.Errorf("spec.requirements: %w", err)
	}
	r := &rule{name: o.Name, weight: weightOf(o), want: want}
	if err := r.readPrice(&o.Spec); err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(o.Spec.Capacity)) {
		q := o.Spec.Capacity[name]
		r.capacity = append(r.capacity, amount{name: name, quantity: corev1.ResourceList{name: q.DeepCopy()}, text: q.String()})
	}
	return r, nil
}

func (r *rule) readPrice(spec *v1.NodeOverlaySpec) error {
	switch {
	case spec.Price != nil:
		price, err := v1.ParsePrice(*spec.Price)
		if err != nil {
			return fmt.Errorf("spec.price: %w", err)
		}
		r.price, r.reprice, r.given = *spec.Price, func(float64) float64 { return price }, true
	case spec.PriceAdjustment != nil:
		adjustment, err := v1.ParsePriceAdjustment(*spec.PriceAdjustment)
		if err != nil {
			return fmt.Errorf("spec.priceAdjustment: %w", err)
		}
		// A price stays finite (CP-CATALOG-07), however large the adjustment is.
		r.price, r.reprice = *spec.PriceAdjustment, func(price float64) float64 {
			return min(adjustment.Apply(price), math.MaxFloat64)
		}
	}
	return nil
}

// StandInPrices returns the prices that overlays set, by the name of the instance type. If several overlays set the price of one type, it
// uses the overlay that Apply would use. Adjustments state none. It ignores invalid overlays.
func StandInPrices(overlays []*v1.NodeOverlay, lookup *requirements.Lookup, types []*cloudprovider.InstanceType) map[string]float64 {
	prices := make(map[string]float64)
	t := take(overlays, lookup)
	for _, instance := range types {
		for i, r := range t.rules {
			if r == nil || !r.sets() || lookup.Compatible(instance.Requirements, r.want) != nil {
				continue
			}
			if t.verdicts[i].Overlay.Spec.Price != nil {
				if price := r.reprice(0); price > 0 {
					prices[instance.Name] = price
				}
			}
			break
		}
	}
	return prices
}

// rebase returns the basis of a price after the overlay has changed the price. If the overlay sets the price itself, it is a price given by
// the user, without a range.
func (r *rule) rebase(basis *cloudprovider.PriceBasis) *cloudprovider.PriceBasis {
	switch {
	case basis == nil:
		return nil
	case r.given:
		return &cloudprovider.PriceBasis{Region: basis.Region, Confidence: cloudprovider.PriceGiven}
	}
	return basis.Repriced(r.reprice)
}

// sets reports whether the overlay sets or adjusts prices.
func (r *rule) sets() bool { return r.reprice != nil }

// samePrice reports whether two rules, perhaps of different calls, change a price in the same way and with the same source.
func samePrice(a, b *rule) bool {
	return a == b || a != nil && b != nil && a.name == b.name && a.price == b.price
}

func weightOf(o *v1.NodeOverlay) int32 {
	if o.Spec.Weight == nil {
		return 0
	}
	return *o.Spec.Weight
}

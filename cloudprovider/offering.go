package cloudprovider

import (
	"cmp"
	"iter"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/api/requirements"
	v1 "github.com/drawknife/drawknife/api/v1"
)

// Value returns the offering's value of a label key, or "" if it has no value.
func (o *Offering) Value(key string) string { return single(o.Requirements, key) }

// Zone returns the offering's topology.kubernetes.io/zone.
func (o *Offering) Zone() string { return o.Value(corev1.LabelTopologyZone) }

// CapacityType returns the offering's karpenter.sh/capacity-type: spot, on-demand or reserved.
func (o *Offering) CapacityType() string { return o.Value(v1.CapacityTypeLabelKey) }

// Reserved reports whether the instance would use a reservation.
func (o *Offering) Reserved() bool { return o.CapacityType() == v1.CapacityTypeReserved }

// HasRoom reports whether a launch should succeed: the offering is available and, if it is reserved, its reservation is not full.
func (o *Offering) HasRoom() bool {
	return o.Available && (!o.Reserved() || o.ReservationCapacity > 0)
}

// OfferingKey identifies an offering: two offerings of a provider are the same if and only if their keys are equal. It is
// comparable, for use as a map key and in errors.
type OfferingKey struct {
	// InstanceType is the type's name.
	InstanceType string `json:"instanceType"`
	// Zone is the value of topology.kubernetes.io/zone.
	Zone string `json:"zone"`
	// CapacityType is the value of karpenter.sh/capacity-type.
	CapacityType string `json:"capacityType"`
	// Others contains the offering's further labels, for instance a reservation, as "key=value", sorted by key and separated by commas.
	// Labels with the operator DoesNotExist are left out: they have the same meaning as labels without a requirement.
	Others string `json:"others,omitempty"`
}

// KeyOf returns the key of an offering of the type.
func KeyOf(t *InstanceType, o *Offering) OfferingKey {
	if t == nil || o == nil {
		return OfferingKey{}
	}
	key := OfferingKey{InstanceType: t.Name}
	var others strings.Builder
	for r := range o.Requirements.All {
		value, ok := onlyValue(r)
		switch {
		case !ok:
		case r.Key() == corev1.LabelTopologyZone:
			key.Zone = value
		case r.Key() == v1.CapacityTypeLabelKey:
			key.CapacityType = value
		default:
			if others.Len() > 0 {
				others.WriteByte(',')
			}
			others.WriteString(r.Key() + "=" + value)
		}
	}
	key.Others = others.String()
	return key
}

// String returns "type/zone/capacity type", with the other labels in brackets.
func (k OfferingKey) String() string {
	s := k.InstanceType + "/" + k.Zone + "/" + k.CapacityType
	if k.Others != "" {
		s += "[" + k.Others + "]"
	}
	return s
}

// Compare orders keys by instance type, zone, capacity type, then the other labels.
func (k OfferingKey) Compare(o OfferingKey) int {
	return cmp.Or(
		strings.Compare(k.InstanceType, o.InstanceType),
		strings.Compare(k.Zone, o.Zone),
		strings.Compare(k.CapacityType, o.CapacityType),
		strings.Compare(k.Others, o.Others),
	)
}

// OfferingsWithRoom yields the type's offerings with which a launch should succeed, in their order. The offerings are part of the type and
// must not be changed.
func (t *InstanceType) OfferingsWithRoom() iter.Seq[*Offering] {
	return func(yield func(*Offering) bool) {
		for i := range t.Offerings {
			if o := &t.Offerings[i]; o.HasRoom() && !yield(o) {
				return
			}
		}
	}
}

// single returns the value of a key in a set, or "" if the key has no value or several.
func single(set requirements.Set, key string) string {
	value, _ := onlyValue(set.Get(key))
	return value
}

func onlyValue(r requirements.Requirement) (string, bool) {
	if r.Complement() || len(r.Values()) != 1 {
		return "", false
	}
	return r.Values()[0], true
}

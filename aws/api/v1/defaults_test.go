package v1

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// AWN-004, AWN-035, AWN-036, API-069 to API-073: for an absent block and for each absent member.
func TestMetadataDefaults(t *testing.T) {
	for _, tc := range []struct {
		name    string
		options *MetadataOptions
		change  func(*MetadataOptions)
	}{
		{"absent", nil, func(*MetadataOptions) {}},
		{"empty", &MetadataOptions{}, func(*MetadataOptions) {}},
		{"hop limit given", &MetadataOptions{HTTPPutResponseHopLimit: ptr(int64(2))}, func(o *MetadataOptions) { *o.HTTPPutResponseHopLimit = 2 }},
		{"endpoint given", &MetadataOptions{HTTPEndpoint: ptr(Disabled)}, func(o *MetadataOptions) { *o.HTTPEndpoint = Disabled }},
		{"IPv6 given", &MetadataOptions{HTTPProtocolIPv6: ptr(Enabled)}, func(o *MetadataOptions) { *o.HTTPProtocolIPv6 = Enabled }},
		{"tokens given", &MetadataOptions{HTTPTokens: ptr(HTTPTokensOptional)}, func(o *MetadataOptions) { *o.HTTPTokens = HTTPTokensOptional }},
	} {
		t.Run(tc.name, func(t *testing.T) {
			want := &MetadataOptions{
				HTTPEndpoint: ptr(Switch("enabled")), HTTPProtocolIPv6: ptr(Switch("disabled")),
				HTTPPutResponseHopLimit: ptr(int64(1)), HTTPTokens: ptr(HTTPTokens("required")),
			}
			tc.change(want)
			class := &EC2NodeClass{Spec: EC2NodeClassSpec{MetadataOptions: tc.options}}
			class.Default()
			if diff := cmp.Diff(want, class.Spec.MetadataOptions); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// AWN-074.
func TestReservationDefaults(t *testing.T) {
	class := &EC2NodeClass{Status: EC2NodeClassStatus{CapacityReservations: []CapacityReservation{
		{ID: "cr-1"},
		{ID: "cr-2", ReservationType: CapacityReservationTypeCapacityBlock, State: CapacityReservationStateExpiring},
	}}}
	class.Default()
	want := []CapacityReservation{
		{ID: "cr-1", ReservationType: "default", State: "active"},
		{ID: "cr-2", ReservationType: "capacity-block", State: "expiring"},
	}
	if diff := cmp.Diff(want, class.Status.CapacityReservations); diff != "" {
		t.Error(diff)
	}
}

// AWN-012, AWN-175: what follows from another field is not written out.
func TestNothingElseIsDefaulted(t *testing.T) {
	class := read(t, "alias.yaml")
	want := class.DeepCopy()
	want.Spec.MetadataOptions = DefaultMetadataOptions()
	class.Default()
	if diff := cmp.Diff(want, class); diff != "" {
		t.Error(diff)
	}
}

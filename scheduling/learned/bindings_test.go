package learned_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/scheduling/learned"
)

// What nodes publish for a bound attribute is of their own zones: it is no correction, and types that are corrected otherwise keep the binding.
func TestBoundAttributes(t *testing.T) {
	site := cloudprovider.AttributeBinding{Attribute: "site", Label: corev1.LabelTopologyZone}
	some := cloudprovider.AttributeBinding{Attribute: "port", Label: corev1.LabelTopologyZone, Devices: []string{"gpu-0", "gpu-1"}}
	s := fleet(gpus(2, "24Gi", "model=A")...)
	large := s.Catalogs["all"][1]
	large.Devices[0].Bindings = []cloudprovider.AttributeBinding{site, some}
	join(s, "a", gpus(2, "24Gi", "model=A", "site=x", "port=x")...)
	join(s, "b", gpus(2, "24Gi", "model=A", "site=y", "port=y")...)
	if got := learn(t, s); len(got) > 0 {
		t.Errorf("learned: %v", print(got))
	}
	s = fleet(gpus(2, "24Gi", "model=A")...)
	large = s.Catalogs["all"][1]
	large.Devices[0].Bindings = []cloudprovider.AttributeBinding{site, some}
	join(s, "a", gpus(1, "22Gi", "model=A", "site=x", "port=x")...)
	join(s, "b", gpus(1, "22Gi", "model=A", "site=x", "port=x")...)
	corrections := learn(t, s)
	if diff := cmp.Diff([]string{driver + " gpu-0 memory=22Gi model=A"}, print(corrections)); diff != "" {
		t.Error(diff)
	}
	new(learned.Corrector).Apply(s, corrections)
	some.Devices = []string{"gpu-0"}
	got := s.Catalogs[s.NodePools[0].Catalog][1].Devices[0]
	if diff := cmp.Diff([]cloudprovider.AttributeBinding{site, some}, got.Bindings); diff != "" || len(got.Devices) != 1 {
		t.Errorf("%d devices, bindings %s", len(got.Devices), diff)
	}
	if len(large.Devices[0].Bindings[1].Devices) != 2 {
		t.Error("the provider's type is changed")
	}
}

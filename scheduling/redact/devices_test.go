package redact_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"

	"github.com/drawknife/drawknife/api/requirements"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/scheduling"
	"github.com/drawknife/drawknife/scheduling/redact"
)

// Labels that attributes of devices are bound to keep their values, and bindings stay as they are: else claims would select by what no offering has.
func TestBindingsAreKept(t *testing.T) {
	const label = "example.com/fabric"
	value := "left"
	s := &scheduling.Snapshot{Catalogs: map[string][]*cloudprovider.InstanceType{"types": {{
		Name: "h2", Offerings: []cloudprovider.Offering{{Requirements: requirements.NewSet(requirements.In(label, "f1"))}},
		Devices: []cloudprovider.DevicePool{{Driver: "gpu.example.com", Devices: []resourcev1.Device{{Name: "gpu-0"}}, Bindings: []cloudprovider.AttributeBinding{
			{Attribute: "fabric", Label: label, Values: map[string]resourcev1.DeviceAttribute{"f1": {StringValue: &value}}},
		}}},
	}}}}
	n := &corev1.Node{}
	n.Name, n.Labels = "n", map[string]string{label: "f1"}
	s.Nodes = []scheduling.Node{{Name: "n", Object: n}}
	out := redact.Anonymize(redact.Strip(s), []byte("key"))
	for _, types := range out.Catalogs {
		if diff := cmp.Diff(s.Catalogs["types"][0].Devices, types[0].Devices); diff != "" || types[0].Offerings[0].Value(label) != "f1" {
			t.Errorf("offering of %s; %s", types[0].Offerings[0].Value(label), diff)
		}
	}
	if got := out.Nodes[0].Object.Labels[label]; got != "f1" || len(out.Catalogs) != 1 {
		t.Errorf("the node is labelled %q", got)
	}
}

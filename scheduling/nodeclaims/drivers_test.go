package nodeclaims_test

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/drawknife/drawknife/api/requirements"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/fake/build"
	"github.com/drawknife/drawknife/scheduling"
	"github.com/drawknife/drawknife/scheduling/nodeclaims"
)

// byText takes an expression for the name of a driver, of a device, or for a value of its attribute site.
type byText struct{}

func (byText) Matches(expression, driver string, d *resourcev1.Device) (bool, error) {
	if expression == "error" {
		return true, fmt.Errorf("no value")
	}
	site := d.Attributes["site"].StringValue
	return expression == driver || expression == d.Name || site != nil && expression == *site, nil
}

func selecting(expressions ...string) []resourcev1.DeviceSelector {
	var out []resourcev1.DeviceSelector
	for _, e := range expressions {
		out = append(out, resourcev1.DeviceSelector{CEL: &resourcev1.CELDeviceSelector{Expression: e}})
	}
	return out
}

// typeWith has a device of each driver, named as given: "driver/device".
func typeWith(devices ...string) *cloudprovider.InstanceType {
	it := build.InstanceType("t", build.CPU("4"))
	for i, text := range devices {
		driver, name, _ := strings.Cut(text, "/")
		it.Devices = append(it.Devices, cloudprovider.DevicePool{Driver: driver, Suffix: fmt.Sprint("-", i), Devices: []resourcev1.Device{{Name: name}}})
	}
	return it
}

// typeOfSites has a device of gpu.x whose attribute site is that of the zone, a or b.
func typeOfSites() *cloudprovider.InstanceType {
	it := typeWith("gpu.x/a")
	it.Devices[0].Bindings = []cloudprovider.AttributeBinding{{Attribute: "site", Label: corev1.LabelTopologyZone}}
	it.Offerings = nil
	for _, zone := range []string{"site-a", "site-b"} {
		it.Offerings = append(it.Offerings, cloudprovider.Offering{Requirements: requirements.NewSet(requirements.In(corev1.LabelTopologyZone, zone)), Available: true})
	}
	return it
}

// The drivers that a claim waits for are those with a device for one of the pods' requests on every type that the node may become.
func TestRequestedDrivers(t *testing.T) {
	request := func(class string, selectors ...string) resourcev1.DeviceRequest {
		return resourcev1.DeviceRequest{Name: "r", Exactly: &resourcev1.ExactDeviceRequest{DeviceClassName: class, Selectors: selecting(selectors...)}}
	}
	alternatives := resourcev1.DeviceRequest{Name: "r", FirstAvailable: []resourcev1.DeviceSubRequest{
		{Name: "a", DeviceClassName: "gpu", Selectors: selecting("large")}, {Name: "b", DeviceClassName: "gpu"},
	}}
	for name, c := range map[string]struct {
		requests []resourcev1.DeviceRequest
		types    []*cloudprovider.InstanceType
		matcher  scheduling.DeviceMatcher
		want     string
	}{
		"one":                     {[]resourcev1.DeviceRequest{request("gpu")}, []*cloudprovider.InstanceType{typeWith("gpu.x/a", "nic.x/n")}, byText{}, "gpu.x"},
		"two":                     {[]resourcev1.DeviceRequest{request("nic"), request("gpu")}, []*cloudprovider.InstanceType{typeWith("gpu.x/a", "nic.x/n")}, byText{}, "gpu.x,nic.x"},
		"a class of all":          {[]resourcev1.DeviceRequest{request("any")}, []*cloudprovider.InstanceType{typeWith("gpu.x/a", "nic.x/n")}, nil, "gpu.x,nic.x"},
		"on every type":           {[]resourcev1.DeviceRequest{request("any")}, []*cloudprovider.InstanceType{typeWith("gpu.x/a", "nic.x/n"), typeWith("nic.x/n")}, byText{}, "nic.x"},
		"none on every type":      {[]resourcev1.DeviceRequest{request("any")}, []*cloudprovider.InstanceType{typeWith("gpu.x/a"), typeWith("nic.x/n")}, byText{}, ""},
		"a selector of a request": {[]resourcev1.DeviceRequest{request("gpu", "b")}, []*cloudprovider.InstanceType{typeWith("gpu.x/a", "gpu.x/b")}, byText{}, "gpu.x"},
		"no device meets it":      {[]resourcev1.DeviceRequest{request("gpu", "c")}, []*cloudprovider.InstanceType{typeWith("gpu.x/a")}, byText{}, ""},
		"an error":                {[]resourcev1.DeviceRequest{request("gpu", "error")}, []*cloudprovider.InstanceType{typeWith("gpu.x/a")}, byText{}, ""},
		"alternatives":            {[]resourcev1.DeviceRequest{alternatives}, []*cloudprovider.InstanceType{typeWith("gpu.x/small")}, byText{}, "gpu.x"},
		"without a matcher":       {[]resourcev1.DeviceRequest{request("gpu")}, []*cloudprovider.InstanceType{typeWith("gpu.x/a")}, nil, ""},
		"an unknown class":        {[]resourcev1.DeviceRequest{request("tpu")}, []*cloudprovider.InstanceType{typeWith("gpu.x/a")}, byText{}, ""},
		"an attribute of a zone":  {[]resourcev1.DeviceRequest{request("gpu", "site-b")}, []*cloudprovider.InstanceType{typeOfSites()}, byText{}, "gpu.x"},
		"an attribute of no zone": {[]resourcev1.DeviceRequest{request("gpu", "site-c")}, []*cloudprovider.InstanceType{typeOfSites()}, byText{}, ""},
		"types without devices":   {[]resourcev1.DeviceRequest{request("any")}, []*cloudprovider.InstanceType{typeWith()}, byText{}, ""},
		"no type":                 {[]resourcev1.DeviceRequest{request("any")}, nil, byText{}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			spec := resourcev1.ResourceClaimSpec{Devices: resourcev1.DeviceClaim{Requests: c.requests}}
			claim := "claim"
			waiting, moving, other := build.Pod("waiting"), build.Pod("moving"), build.Pod("other")
			waiting.Spec.ResourceClaims = []corev1.PodResourceClaim{{Name: "d", ResourceClaimTemplateName: &claim}}
			moving.Spec.ResourceClaims = []corev1.PodResourceClaim{{Name: "d", ResourceClaimName: &claim}}
			meta := metav1.ObjectMeta{Namespace: waiting.Namespace, Name: claim}
			s := &scheduling.Snapshot{
				Pods: []*corev1.Pod{other, waiting}, Nodes: []scheduling.Node{{Name: "n", Pods: []*corev1.Pod{moving}}},
				ResourceClaims:         []*resourcev1.ResourceClaim{{ObjectMeta: meta, Spec: spec}},
				ResourceClaimTemplates: []*resourcev1.ResourceClaimTemplate{{ObjectMeta: meta, Spec: resourcev1.ResourceClaimTemplateSpec{Spec: spec}}},
			}
			for class, selectors := range map[string][]string{"gpu": {"gpu.x"}, "nic": {"nic.x"}, "any": nil} {
				s.DeviceClasses = append(s.DeviceClasses, &resourcev1.DeviceClass{ObjectMeta: metav1.ObjectMeta{Name: class}, Spec: resourcev1.DeviceClassSpec{Selectors: selecting(selectors...)}})
			}
			for _, pod := range []*corev1.Pod{waiting, moving} {
				got := nodeclaims.RequestedDrivers(s, []scheduling.PodKey{{Namespace: pod.Namespace, Name: pod.Name}}, c.types, c.matcher)
				if strings.Join(got, ",") != c.want {
					t.Errorf("for pod %s: %v, want %s", pod.Name, got, c.want)
				}
			}
			if got := nodeclaims.RequestedDrivers(s, []scheduling.PodKey{{Namespace: other.Namespace, Name: other.Name}}, c.types, c.matcher); got != nil {
				t.Errorf("for a pod without claims: %v", got)
			}
		})
	}
}

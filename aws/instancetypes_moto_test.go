package aws_test

import (
	"encoding/base64"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/aws"
	"github.com/drawknife/drawknife/aws/instancetype"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/internal/moto"
)

// What Config.InstanceTypes says of instance types is what EC2 is asked for and what the node is told: more pods by prefix delegation
// reach the user data, and huge pages and branch interfaces what the launched claim says it has.
func TestMotoInstanceTypeOptions(t *testing.T) {
	// One after the other: a site has the server to itself.
	var types []*cloudprovider.InstanceType // of the last site
	launched := func(o instancetype.Options) (capacity corev1.ResourceList, userData string) {
		s := newSite(t, func(c *aws.Config, _ *aws.Options) { c.InstanceTypes = o })
		s.cloud.Handle("CreateLaunchTemplate", func(call moto.Call, next func(moto.Call) moto.Answer) moto.Answer {
			text, err := base64.StdEncoding.DecodeString(call.Form.Get("LaunchTemplateData.UserData"))
			if err != nil {
				t.Error(err)
			}
			userData = string(text)
			return next(call)
		})
		claim, err := s.provider.Create(t.Context(), claim("a", in(corev1.LabelInstanceTypeStable, "m5.large")))
		if err != nil {
			t.Fatal(err)
		}
		if types, err = s.provider.InstanceTypes(t.Context(), nodePool()); err != nil {
			t.Fatal(err)
		}
		return claim.Status.Capacity, userData
	}
	// The prior that follows measurements leaves more of large instances than the flat one.
	memory := func() string {
		for _, it := range types {
			if it.Name == "m5.24xlarge" {
				q := it.Capacity[corev1.ResourceMemory]
				return q.String()
			}
		}
		return "none"
	}
	without, _ := launched(instancetype.Options{})
	if got := memory(); got != "363724Mi" {
		t.Errorf("m5.24xlarge has %s of memory without the options, want 92.5 %% of 384 GiB", got)
	}
	with, told := launched(instancetype.Options{
		PodDensity: instancetype.VPCCNI{PrefixDelegation: true}, WithoutPodENI: true, HugePages: map[string]string{"hugepages-2Mi": "1Gi"},
		MemoryPrior: instancetype.MemoryPriorMeasured, FractionalGPUs: true, DeviceResources: map[string]string{"U30": "xilinx.com/u30"},
	})
	for name, want := range map[corev1.ResourceName][2]string{
		"pods": {"110", "29"}, "hugepages-2Mi": {"1Gi", "0"}, "vpc.amazonaws.com/pod-eni": {"0", "9"},
	} {
		has, had := with[name], without[name]
		if has.String() != want[0] || had.String() != want[1] {
			t.Errorf("%s is %s with the options and %s without, want %s and %s", name, has.String(), had.String(), want[0], want[1])
		}
	}
	if !strings.Contains(told, "maxPods: 110") {
		t.Errorf("the node is not told of 110 pods:\n%s", told)
	}
	// Types that the launch above does not use.
	if got := memory(); got != "374041Mi" {
		t.Errorf("m5.24xlarge has %s of memory with the options, want 384 GiB less 300 MiB and 4.8 %%", got)
	}
	found := 0
	for _, it := range types {
		for name, resource := range map[string]corev1.ResourceName{"g6f.large": "nvidia.com/gpu", "vt1.3xlarge": "xilinx.com/u30"} {
			if q := it.Capacity[resource]; it.Name == name && !q.IsZero() {
				found++
			}
		}
	}
	if found != 2 {
		t.Errorf("%d of g6f.large and vt1.3xlarge have their devices", found)
	}
}

// A type that AWS has no price for, as preview types have none, is launched at the price of a NodeOverlay, and not at all without one.
func TestMotoOverlayPrice(t *testing.T) {
	var unpriced []string
	launch := func(priced, wanted string) (launched int, price float64, err error) {
		s := newSite(t, func(_ *aws.Config, o *aws.Options) { o.Overlays = pricing{name: priced, asked: &unpriced} })
		types, err := s.provider.InstanceTypes(t.Context(), nodePool())
		if err != nil {
			t.Fatal(err)
		}
		for _, it := range types {
			if it.Name == wanted && wanted != "" {
				price = it.Offerings[0].Price
			}
		}
		if wanted == "" {
			return 0, 0, nil
		}
		c := claim("a")
		c.Spec.Requirements = []v1.NodeSelectorRequirementWithMinValues{v1.NodeSelectorRequirementWithMinValues(in(corev1.LabelInstanceTypeStable, wanted))}
		_, err = s.provider.Create(t.Context(), c)
		return len(s.instances()), price, err
	}
	_, _, _ = launch("", "") // asks for the prices of all types that have none
	i := slices.IndexFunc(unpriced, func(name string) bool { return strings.HasSuffix(name, ".large") })
	if i < 0 {
		t.Fatalf("of moto's types none of size large lacks a price: %v", unpriced)
	}
	preview := unpriced[i]
	if n, price, err := launch(preview, preview); err != nil || n != 1 || price != 0.25 {
		t.Errorf("%s with a price of 0.25: %d instances, price %v, %v", preview, n, price, err)
	}
	if n, _, err := launch("m5.large", preview); !cloudprovider.IsInsufficientCapacity(err) || n != 0 {
		t.Errorf("%s without a price: %d instances, %v", preview, n, err)
	}
}

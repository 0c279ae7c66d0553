package instancetype_test

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	"github.com/drawknife/drawknife/aws/catalog"
	"github.com/drawknife/drawknife/aws/instancetype"
)

// Threads and cores that a class chooses are the vCPUs that pods get, and what is reserved follows; the price is that of the type. Types that
// can't have them can't be launched.
func TestCPUOptions(t *testing.T) {
	facts, err := catalog.Embedded()
	if err != nil {
		t.Fatal(err)
	}
	one, two, four, eight := int32(1), int32(2), int32(4), int32(8)
	plain := shapesByName(t, facts, nil)
	for _, c := range []struct {
		name    string
		options awsv1.CPUOptions
		vcpus   map[string]int64  // of types that can be launched
		refused map[string]string // a part of the reason
	}{
		{"one thread", awsv1.CPUOptions{ThreadsPerCore: &one}, map[string]int64{"m5.xlarge": 2, "m5.24xlarge": 48, "m7g.xlarge": 4, "t3.large": 1},
			map[string]string{"m5.metal": "bare metal", "t2.large": "xen"}},
		{"two threads", awsv1.CPUOptions{ThreadsPerCore: &two}, map[string]int64{"m5.xlarge": 4}, map[string]string{"m7g.xlarge": "one thread"}},
		{"four cores", awsv1.CPUOptions{CoreCount: &four}, map[string]int64{"m5.4xlarge": 8, "m7g.2xlarge": 4}, map[string]string{"m5.large": "it has 1 cores, and the class asks for 4"}},
		{"eight cores of one thread", awsv1.CPUOptions{CoreCount: &eight, ThreadsPerCore: &one}, map[string]int64{"m5.4xlarge": 8}, map[string]string{"m5.2xlarge": "cores"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			class := &awsv1.EC2NodeClass{}
			class.Spec.CPUOptions = &c.options
			shapes := shapesByName(t, facts, class)
			for name, want := range c.vcpus {
				shape := shapes[name]
				cpu := shape.Type.Capacity[corev1.ResourceCPU]
				if shape.Incompatible != "" || cpu.Value() != want {
					t.Errorf("%s has %d vCPUs (%s), want %d", name, cpu.Value(), shape.Incompatible, want)
				}
				before, now := plain[name].Type.Overhead.KubeReserved[corev1.ResourceCPU], shape.Type.Overhead.KubeReserved[corev1.ResourceCPU]
				had := plain[name].Type.Capacity[corev1.ResourceCPU]
				if got, changed := now.Cmp(before) < 0, want < had.Value(); got != changed {
					t.Errorf("%s reserves %s of %d vCPUs, and %s of %d", name, &now, want, &before, had.Value())
				}
				if !shape.Type.Requirements.Get(awsv1.LabelInstanceCPU).Has(had.String()) {
					t.Errorf("%s: the label for CPUs is not the type's", name)
				}
			}
			for name, why := range c.refused {
				if !strings.Contains(shapes[name].Incompatible, why) {
					t.Errorf("%s: %q, want %q", name, shapes[name].Incompatible, why)
				}
			}
		})
	}
	for _, s := range []instancetype.Settings{{ThreadsPerCore: 3}, {CoreCount: -1}} {
		if _, err := instancetype.Shapes(facts, s); err == nil {
			t.Errorf("%+v is accepted", s)
		}
	}
}

func shapesByName(t *testing.T, facts *catalog.Catalog, class *awsv1.EC2NodeClass) map[string]instancetype.Shape {
	t.Helper()
	settings, err := instancetype.NewSettings(facts, class, instancetype.Options{})
	if err != nil {
		t.Fatal(err)
	}
	shapes, err := instancetype.Shapes(facts, settings)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]instancetype.Shape{}
	for _, shape := range shapes {
		out[shape.Type.Name] = shape
	}
	return out
}

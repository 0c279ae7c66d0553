package offerings_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	"github.com/drawknife/drawknife/aws/catalog"
	"github.com/drawknife/drawknife/aws/internal/offerings"
	"github.com/drawknife/drawknife/aws/internal/unavailable"
)

// everywhere is the embedded catalogue with every type offered in every zone, and sold either way: 1,354 types x 6 zones
// x 2 capacity types.
func everywhere(tb testing.TB) *catalog.Catalog {
	tb.Helper()
	from := embedded(tb)
	c := *from
	c.Types = append([]catalog.Type(nil), from.Types...)
	for i := range c.Types {
		t := &c.Types[i]
		t.Zones = nil
		for z := range c.Zones {
			t.Zones = append(t.Zones, z)
		}
		t.UsageClasses = []string{"on-demand", "spot"}
		t.SpotUSD, t.OnDemandFrom, t.SpotFrom = nil, "", ""
	}
	out, err := catalog.New(c)
	if err != nil {
		tb.Fatal(err)
	}
	return out
}

// al2023Images are what the alias finds: standard ones and ones for each kind of accelerator.
func al2023Images() []awsv1.AMI {
	is := func(key string, operator corev1.NodeSelectorOperator, values ...string) corev1.NodeSelectorRequirement {
		return corev1.NodeSelectorRequirement{Key: key, Operator: operator, Values: values}
	}
	var images []awsv1.AMI
	for _, arch := range []string{"amd64", "arm64"} {
		on := is(corev1.LabelArchStable, corev1.NodeSelectorOpIn, arch)
		images = append(images,
			awsv1.AMI{ID: "ami-" + arch, Requirements: []corev1.NodeSelectorRequirement{
				on, is(awsv1.LabelInstanceGPUCount, corev1.NodeSelectorOpDoesNotExist), is(awsv1.LabelInstanceAcceleratorCount, corev1.NodeSelectorOpDoesNotExist),
			}},
			awsv1.AMI{ID: "ami-nvidia-" + arch, Requirements: []corev1.NodeSelectorRequirement{on, is(awsv1.LabelInstanceGPUCount, corev1.NodeSelectorOpExists)}})
	}
	return append(images, awsv1.AMI{ID: "ami-neuron", Requirements: []corev1.NodeSelectorRequirement{
		is(corev1.LabelArchStable, corev1.NodeSelectorOpIn, "amd64"), is(awsv1.LabelInstanceAcceleratorCount, corev1.NodeSelectorOpExists),
	}})
}

// BenchmarkResolve is a first answer: at most 20 ms and 10 MB.
func BenchmarkResolve(b *testing.B) {
	m := market(b, everywhere(b))
	v := view(b, m.Catalog, class("default", func(c *awsv1.EC2NodeClass) { c.Status.AMIs = al2023Images() }))
	b.ReportAllocs()
	for b.Loop() {
		types, err := offerings.Resolve(m, v)
		if err != nil || len(types) < 1345 {
			b.Fatal(len(types), err)
		}
	}
}

// BenchmarkStore is the next answers: nothing changed; another mark each time.
func BenchmarkStore(b *testing.B) {
	m := market(b, everywhere(b))
	v := view(b, m.Catalog, class("default"))
	b.Run("unchanged", func(b *testing.B) {
		var store offerings.Store
		b.ReportAllocs()
		for b.Loop() {
			if _, err := store.Types(m, v); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("marked", func(b *testing.B) {
		var store offerings.Store
		memory := unavailable.New(unavailable.Options{})
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			memory.Mark(unavailable.Key{CapacityType: "spot", InstanceType: m.Catalog.Types[i%1000].Name, Zone: "us-east-1a"})
			m.Unavailable = memory.Snapshot()
			if _, err := store.Types(m, v); err != nil {
				b.Fatal(err)
			}
		}
	})
}

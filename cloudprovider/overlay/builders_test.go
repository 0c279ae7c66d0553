package overlay

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/drawknife/drawknife/api/requirements"
	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/fake/build"
)

const fuse = corev1.ResourceName("example.com/fuse")

func ptr[T any](v T) *T { return &v }

func offer(zone, capacityType string, price float64) cloudprovider.Offering {
	o := build.Offering(zone, capacityType, price)
	o.PriceSource = "list"
	return o
}

func instance(name, arch string, offerings ...cloudprovider.Offering) *cloudprovider.InstanceType {
	return build.InstanceType(name, build.CPU("4"), build.Memory("16Gi"), build.MaxPods(50), build.Sold(offerings...),
		build.With(requirements.In(corev1.LabelArchStable, arch), requirements.DoesNotExist("example.com/gpu")))
}

// ladder are three types: large and small in two zones and two capacity types, arm on demand in one.
func ladder() []*cloudprovider.InstanceType {
	return []*cloudprovider.InstanceType{
		instance("large", "amd64", offer("a", "on-demand", 2), offer("a", "spot", 0.8), offer("b", "on-demand", 2), offer("b", "spot", 0.9)),
		instance("small", "amd64", offer("a", "on-demand", 1), offer("a", "spot", 0.4), offer("b", "on-demand", 1), offer("b", "spot", 0.5)),
		instance("arm", "arm64", offer("a", "on-demand", 1.5)),
	}
}

type option func(*v1.NodeOverlay)

func newOverlay(name string, options ...option) *v1.NodeOverlay {
	o := &v1.NodeOverlay{}
	o.Name = name
	for _, apply := range options {
		apply(o)
	}
	return o
}

func weight(w int32) option { return func(o *v1.NodeOverlay) { o.Spec.Weight = &w } }

func price(text string) option { return func(o *v1.NodeOverlay) { o.Spec.Price = &text } }

func adjust(text string) option { return func(o *v1.NodeOverlay) { o.Spec.PriceAdjustment = &text } }

func adds(name corev1.ResourceName, q string) option {
	return func(o *v1.NodeOverlay) {
		if o.Spec.Capacity == nil {
			o.Spec.Capacity = corev1.ResourceList{}
		}
		o.Spec.Capacity[name] = resource.MustParse(q)
	}
}

func where(key string, operator corev1.NodeSelectorOperator, values ...string) option {
	return func(o *v1.NodeOverlay) {
		o.Spec.Requirements = append(o.Spec.Requirements, v1.NodeSelectorRequirementWithMinValues{Key: key, Operator: operator, Values: values})
	}
}

func onType(name string) option { return where(corev1.LabelInstanceTypeStable, "In", name) }

func pool(name string, types []*cloudprovider.InstanceType, labels ...string) Pool {
	object := &v1.NodePool{}
	object.Name = name
	for i := 0; i+1 < len(labels); i += 2 {
		if object.Spec.Template.Labels == nil {
			object.Spec.Template.Labels = map[string]string{}
		}
		object.Spec.Template.Labels[labels[i]] = labels[i+1]
	}
	return Pool{Key: v1.NewPoolKey(name), Object: object, Types: types}
}

func core() *requirements.Lookup {
	vocabulary := requirements.CoreVocabulary()
	return vocabulary.Compile()
}

func apply(t interface {
	Helper()
	Fatalf(string, ...any)
}, pools []Pool, overlays ...*v1.NodeOverlay) *Result {
	t.Helper()
	return Apply(Input{Overlays: overlays, Pools: pools, Lookup: core()})
}

// one applies overlays to the ladder in a pool named "default" and returns its types.
func one(t *testing.T, overlays ...*v1.NodeOverlay) []*cloudprovider.InstanceType {
	t.Helper()
	types, err := apply(t, []Pool{pool("default", ladder())}, overlays...).InstanceTypes(v1.NewPoolKey("default"))
	if err != nil {
		t.Fatal(err)
	}
	return types
}

// prices are those of all offerings, type by type.
func prices(types []*cloudprovider.InstanceType) [][]float64 {
	out := make([][]float64, len(types))
	for i, it := range types {
		for j := range it.Offerings {
			out[i] = append(out[i], it.Offerings[j].Price)
		}
	}
	return out
}

// amounts is what each type has of a resource; empty where it has none.
func amounts(types []*cloudprovider.InstanceType, name corev1.ResourceName) []string {
	out := make([]string, len(types))
	for i, it := range types {
		if q, ok := it.Capacity[name]; ok {
			out[i] = q.String()
		}
	}
	return out
}

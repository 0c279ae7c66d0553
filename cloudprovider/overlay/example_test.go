package overlay_test

import (
	"fmt"

	"sigs.k8s.io/yaml"

	"github.com/drawknife/drawknife/api/requirements"
	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/cloudprovider/overlay"
	"github.com/drawknife/drawknife/fake/build"
)

// A discount that the provider doesn't know of, and a device that it can't know of.
func Example() {
	manifests := []string{`
metadata: {name: discount}
spec:
  requirements: [{key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}]
  priceAdjustment: "-10%"
`, `
metadata: {name: fuse}
spec:
  requirements: [{key: kubernetes.io/arch, operator: In, values: [amd64]}]
  capacity: {example.com/fuse: 8}
`}
	var overlays []*v1.NodeOverlay
	for _, manifest := range manifests {
		o := &v1.NodeOverlay{}
		if err := yaml.UnmarshalStrict([]byte(manifest), o); err != nil {
			fmt.Println(err)
			return
		}
		overlays = append(overlays, o)
	}
	pools := []overlay.Pool{{Key: v1.NewPoolKey("default"), Types: []*cloudprovider.InstanceType{medium()}}}
	vocabulary := requirements.CoreVocabulary()

	result := overlay.Apply(overlay.Input{Overlays: overlays, Pools: pools, Lookup: vocabulary.Compile()})
	types, err := result.InstanceTypes(v1.NewPoolKey("default"))
	if err != nil {
		fmt.Println(err)
		return
	}
	offering, fuses := types[0].Offerings[0], types[0].Capacity["example.com/fuse"]
	fmt.Printf("%.2f USD/h (%s), %s fuses\n", offering.Price, offering.PriceSource, fuses.String())
	fmt.Println(result.Annotations(types))
	// Output:
	// 0.09 USD/h (overlay discount over list of May), 8 fuses
	// map[karpenter.sh/capacity-overlay-applied:true karpenter.sh/price-overlay-applied:true]
}

// Of two overlays of one weight that state the same price, one is refused and told why.
func ExampleVerdict() {
	cheap, dear := "0.01", "1"
	pools := []overlay.Pool{{Key: v1.NewPoolKey("default"), Types: []*cloudprovider.InstanceType{medium()}}}
	overlays := []*v1.NodeOverlay{{Spec: v1.NodeOverlaySpec{Price: &cheap}}, {Spec: v1.NodeOverlaySpec{Price: &dear}}}
	overlays[0].Name, overlays[1].Name = "cheap", "dear"

	for _, verdict := range overlay.Apply(overlay.Input{Overlays: overlays, Pools: pools}).Verdicts {
		fmt.Println(verdict)
	}
	// Output:
	// overlay dear is applied; offerings it matches: 1
	// overlay cheap is not applied: overlay dear has the same weight and states the price of medium/a/on-demand in nodepool default as well: give one of them another weight or narrow its requirements
}

func medium() *cloudprovider.InstanceType {
	listed := build.Offering("a", v1.CapacityTypeOnDemand, 0.1)
	listed.PriceSource = "list of May"
	return build.InstanceType("medium", build.CPU("2"), build.Memory("8Gi"), build.Sold(listed))
}

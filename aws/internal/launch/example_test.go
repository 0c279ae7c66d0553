package launch_test

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/api/requirements"
	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/aws/catalog"
	"github.com/drawknife/drawknife/aws/instancetype"
	"github.com/drawknife/drawknife/aws/internal/launch"
)

// What EC2 would be asked for, found out without asking it.
func ExampleChoose() {
	facts, err := catalog.Embedded()
	if err != nil {
		fmt.Println(err)
		return
	}
	types, err := instancetype.Resolve(facts, nil, instancetype.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	choice, err := launch.Choose(types, launch.Wish{Requirements: requirements.NewSet(
		requirements.In(v1.CapacityTypeLabelKey, v1.CapacityTypeSpot, v1.CapacityTypeOnDemand),
		requirements.In(corev1.LabelInstanceTypeStable, "m7g.xlarge", "g5g.xlarge"),
	)})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(choice.CapacityType, choice.InstanceTypes()[0].Name)
	fmt.Println(choice.Ruled[0])
	// Output:
	// spot m7g.xlarge
	// bare metal or accelerated: g5g.xlarge
}

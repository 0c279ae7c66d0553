package instancetype_test

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	"github.com/drawknife/drawknife/aws/catalog"
	"github.com/drawknife/drawknife/aws/instancetype"
)

func Example() {
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
	for _, it := range types {
		if it.Name != "g6.xlarge" {
			continue
		}
		left := it.Allocatable()
		fmt.Printf("%s: %dm CPU, %d MiB, %d pods, %s GPU\n", it.Name, left.Cpu().MilliValue(), left.Memory().Value()>>20,
			left.Pods().Value(), left.Name(instancetype.ResourceNVIDIAGPU, "").String())
		fmt.Println(it.Requirements.Get(awsv1.LabelInstanceGPUName))
		cheapest := it.Offerings[0]
		for _, o := range it.Offerings {
			if o.Price < cheapest.Price {
				cheapest = o
			}
		}
		fmt.Printf("$%g/h in %s\n", cheapest.Price, cheapest.Requirements.Get(corev1.LabelTopologyZone).Values()[0])
	}
	// Output:
	// g6.xlarge: 3920m CPU, 14162 MiB, 58 pods, 1 GPU
	// karpenter.k8s.aws/instance-gpu-name In [l4]
	// $0.38285/h in us-east-1a
}

// A node class changes what is left for pods.
func ExampleResolve() {
	facts, err := catalog.Embedded()
	if err != nil {
		fmt.Println(err)
		return
	}
	class := &awsv1.EC2NodeClass{}
	class.Name = "small"
	class.Spec.AMIFamily = awsv1.AMIFamilyAL2023
	class.Spec.Kubelet = &awsv1.KubeletConfiguration{SystemReserved: map[string]string{"memory": "512Mi"}}
	types, err := instancetype.Resolve(facts, class, instancetype.Options{Zones: []catalog.Zone{{Name: "us-east-1a"}}})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, it := range types {
		if it.Name == "m5.large" {
			left := it.Allocatable()
			fmt.Println(left.Memory(), len(it.Offerings))
		}
	}
	// Output: 6391Mi 2
}

// A type that a class can't launch says why.
func ExampleIncompatible() {
	facts, err := catalog.Embedded()
	if err != nil {
		fmt.Println(err)
		return
	}
	a1, _ := facts.Lookup("a1.large")
	fmt.Println(instancetype.Incompatible(a1, instancetype.Settings{}))
	// Output: AL2023 does not run on a1 types
}

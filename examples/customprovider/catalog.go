package customprovider

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/drawknife/drawknife/api/requirements"
	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
)

// Describe declares the provider.
func (p *Provider) Describe() cloudprovider.Capabilities {
	return cloudprovider.Capabilities{
		NodeClasses: []metav1.GroupKind{{Group: NodeClassGroup, Kind: NodeClassKind}},
		Vocabulary:  requirements.CoreVocabulary(),
		LabelValues: map[string][]string{
			corev1.LabelTopologyZone: p.zones(),
			corev1.LabelArchStable:   {v1.ArchitectureAmd64, v1.ArchitectureArm64},
			corev1.LabelOSStable:     {string(corev1.Linux)},
			v1.CapacityTypeLabelKey:  {v1.CapacityTypeOnDemand},
		},
	}
}

func (p *Provider) zones() []string {
	zones := map[string]bool{"nowhere": len(p.inventory.Machines) == 0}
	for _, m := range p.inventory.Machines {
		zones[m.Zone] = true
	}
	var list []string
	for zone, there := range zones {
		if there {
			list = append(list, zone)
		}
	}
	slices.Sort(list)
	return list
}

// newType creates an instance type for planners from a machine type. It has an offering in each zone; free lists the zones with a free
// machine.
func newType(t *MachineType, zones []string, free map[string]bool) *cloudprovider.InstanceType {
	arch := t.Arch
	if arch == "" {
		arch = v1.ArchitectureAmd64
	}
	pods := t.Pods
	if pods == 0 {
		pods = 110
	}
	it := &cloudprovider.InstanceType{
		Name: t.Name,
		Requirements: requirements.NewSet(
			requirements.In(corev1.LabelInstanceTypeStable, t.Name),
			requirements.In(corev1.LabelArchStable, arch),
			requirements.In(corev1.LabelOSStable, string(corev1.Linux)),
			requirements.DoesNotExist(corev1.LabelTopologyRegion),
			requirements.DoesNotExist(corev1.LabelWindowsBuild),
		),
		Capacity: corev1.ResourceList{
			corev1.ResourceCPU: t.CPU.Quantity, corev1.ResourceMemory: t.Memory.Quantity, corev1.ResourcePods: *resource.NewQuantity(pods, resource.DecimalSI),
		},
		Overhead: cloudprovider.Overhead{KubeReserved: corev1.ResourceList{
			corev1.ResourceCPU: t.ReservedCPU.Quantity, corev1.ResourceMemory: t.ReservedMemory.Quantity,
		}},
	}
	for _, zone := range zones {
		it.Offerings = append(it.Offerings, cloudprovider.Offering{
			Requirements: requirements.NewSet(
				requirements.In(corev1.LabelTopologyZone, zone),
				requirements.In(v1.CapacityTypeLabelKey, v1.CapacityTypeOnDemand),
			),
			Price:       t.HourlyPrice,
			PriceSource: "inventory",
			Available:   free[zone],
		})
	}
	return it
}

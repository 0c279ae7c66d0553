package cloudprovider_test

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/drawknife/drawknife/api/requirements"
	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/fake/build"
)

const reservationKey = "cloud.test/reservation"

// testCapabilities declares a small cloud with two zones and reservations.
func testCapabilities() cloudprovider.Capabilities {
	return cloudprovider.Capabilities{
		NodeClasses: []metav1.GroupKind{{Group: "cloud.test", Kind: "TestNodeClass"}, {Group: "cloud.test", Kind: "OldNodeClass"}},
		Vocabulary: requirements.CoreVocabulary().Merge(requirements.Vocabulary{
			WellKnown: []string{reservationKey, "cloud.test/family"},
			Aliases:   map[string]string{"csi.cloud.test/zone": corev1.LabelTopologyZone},
		}),
		LabelValues:        map[string][]string{corev1.LabelTopologyZone: {"a", "b"}},
		ReservationIDLabel: reservationKey,
		ReservationLabels:  []string{reservationKey},
	}
}

func offering(zone, capacityType string, price float64, more ...requirements.Requirement) cloudprovider.Offering {
	o := build.Offering(zone, capacityType, price)
	o.Requirements = o.Requirements.With(more...)
	return o
}

func reserved(zone, id string, price float64, room int) cloudprovider.Offering {
	o := offering(zone, v1.CapacityTypeReserved, price, requirements.In(reservationKey, id))
	o.ReservationCapacity = room
	return o
}

// testType is an instance of 4 cpu and 16Gi that keeps every clause of the contract.
func testType(name string, offerings ...cloudprovider.Offering) *cloudprovider.InstanceType {
	it := build.InstanceType(name, build.CPU("4"), build.Memory("16Gi"), build.Sold(offerings...), build.With(
		requirements.In(corev1.LabelTopologyRegion, "r"), requirements.In("cloud.test/family", "m"),
		requirements.DoesNotExist(corev1.LabelWindowsBuild), requirements.DoesNotExist(reservationKey),
	))
	it.Overhead.KubeReserved = build.Amounts("cpu", "100m", "memory", "1Gi")
	return it
}

package cloudprovider

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	v1 "github.com/drawknife/drawknife/api/v1"
)

// OfferingOf returns the key of the offering that an instance with these labels was launched from, as far as the labels of its NodeClaim or
// node show it. The key has the instance type, zone, capacity type, and HardwareLabels if the hardware is not ordinary. If a label is
// missing, its field is empty.
func (c Capabilities) OfferingOf(labels map[string]string) OfferingKey {
	key := OfferingKey{
		InstanceType: labels[corev1.LabelInstanceTypeStable], Zone: labels[corev1.LabelTopologyZone], CapacityType: labels[v1.CapacityTypeLabelKey],
	}
	var others []string
	for _, label := range slices.Sorted(maps.Keys(c.HardwareLabels)) {
		if value := labels[label]; value != "" && value != c.HardwareLabels[label] {
			others = append(others, label+"="+value)
		}
	}
	key.Others = strings.Join(others, ",")
	return key
}

// Hardware returns the labels in an offering's key that show hardware other than ordinary hardware, in the format of OfferingKey.Others.
// hardware is Capabilities.HardwareLabels. The result is empty for ordinary hardware. Offerings with equal results share the same stock.
func (k OfferingKey) Hardware(hardware map[string]string) string {
	if len(hardware) == 0 || k.Others == "" {
		return ""
	}
	var kept []string
	for label := range strings.SplitSeq(k.Others, ",") {
		name, value, _ := strings.Cut(label, "=")
		if ordinary, ok := hardware[name]; ok && value != ordinary {
			kept = append(kept, label)
		}
	}
	return strings.Join(kept, ",")
}

// validateHardwareLabels checks the labels of hardware and their ordinary values.
func (c Capabilities) validateHardwareLabels() field.ErrorList {
	var faults field.ErrorList
	for _, key := range slices.Sorted(maps.Keys(c.HardwareLabels)) {
		at, value := field.NewPath("hardwareLabels").Key(key), c.HardwareLabels[key]
		if !slices.Contains(c.Vocabulary.WellKnown, key) {
			faults = append(faults, field.Invalid(at, key, "is not well-known: add it to vocabulary.wellKnown"))
		}
		if problems := validation.IsValidLabelValue(value); len(problems) > 0 {
			faults = append(faults, field.Invalid(at, value, "must be the value that ordinary instances have, or empty: "+strings.Join(problems, "; ")))
		}
	}
	return faults
}

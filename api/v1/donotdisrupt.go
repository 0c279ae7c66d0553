package v1

import (
	"fmt"
	"time"
)

// DoNotDisrupt is what the annotation DoNotDisruptAnnotationKey of a pod asks for. The zero value asks for nothing.
//
// +kubebuilder:object:generate=false
type DoNotDisrupt struct {
	// Always protects the pod for as long as it runs.
	Always bool
	// For protects the pod for this long after its start. It is used only if Always is false. 0 means no protection.
	For time.Duration
}

// ParseDoNotDisrupt parses the value of a pod's annotation: "true", or a positive Go duration. Any other value gives no protection
// and an error for the pod's owner.
func ParseDoNotDisrupt(value string) (DoNotDisrupt, error) {
	if value == "true" {
		return DoNotDisrupt{Always: true}, nil
	}
	span, err := time.ParseDuration(value)
	if err != nil || span <= 0 {
		return DoNotDisrupt{}, fmt.Errorf("annotation %s: %q is neither \"true\" nor a positive duration and is ignored: write it like \"true\" or \"4h\"",
			DoNotDisruptAnnotationKey, value)
	}
	return DoNotDisrupt{For: span}, nil
}

// Protects reports whether a pod that started at start is protected now. A zero start is a pod that has not started; it counts as
// just started.
func (d DoNotDisrupt) Protects(start, now time.Time) bool {
	switch {
	case d.Always:
		return true
	case d.For <= 0:
		return false
	default:
		return start.IsZero() || now.Sub(start) < d.For
	}
}

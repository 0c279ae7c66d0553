package conformance

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	v1 "github.com/drawknife/drawknife/api/v1"
)

// Correction is the difference between a provider's model of one instance type and a real node of that type, for one resource.
type Correction struct {
	// InstanceType is the name of the type.
	InstanceType string `json:"instanceType"`
	// Resource that differs.
	Resource corev1.ResourceName `json:"resource"`
	// Modelled is the provider's amount for the instance; Observed is the amount that its node reports.
	Modelled resource.Quantity `json:"modelled"`
	Observed resource.Quantity `json:"observed"`
}

// Excess returns the amount by which the model exceeds the node's amount. If it is negative, the model wastes capacity.
func (c Correction) Excess() resource.Quantity {
	excess := c.Modelled.DeepCopy()
	excess.Sub(c.Observed)
	return excess
}

// Compare returns the corrections for the resources in which the instance's node differs from the provider's description, ordered by name,
// or nil if they agree. Resources that only the node has, such as those of device plug-ins, are ignored.
func Compare(instance *v1.NodeClaim, observed corev1.ResourceList) []Correction {
	names := make([]corev1.ResourceName, 0, len(instance.Status.Allocatable))
	for name := range instance.Status.Allocatable {
		names = append(names, name)
	}
	slices.Sort(names)
	var corrections []Correction
	for _, name := range names {
		modelled := instance.Status.Allocatable[name]
		has, reported := observed[name]
		if !reported && modelled.IsZero() || modelled.Cmp(has) == 0 {
			continue
		}
		corrections = append(corrections, Correction{
			InstanceType: instance.Labels[corev1.LabelInstanceTypeStable], Resource: name, Modelled: modelled, Observed: has,
		})
	}
	return corrections
}

// CorrectionTable returns the corrections as a Markdown table: what to add to each type's overhead, or to subtract from it.
func CorrectionTable(corrections []Correction) string {
	var b strings.Builder
	b.WriteString("| instance type | resource | modelled | observed | add to overhead |\n|---|---|---|---|---|\n")
	for _, c := range corrections {
		excess := c.Excess()
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n",
			c.InstanceType, c.Resource, c.Modelled.String(), c.Observed.String(), excess.String())
	}
	return b.String()
}

// learn adds corrections to the report, without duplicates.
func (r *Report) learn(corrections []Correction) {
	for _, c := range corrections {
		if !slices.ContainsFunc(r.Corrections, func(known Correction) bool {
			return known.InstanceType == c.InstanceType && known.Resource == c.Resource
		}) {
			r.Corrections = append(r.Corrections, c)
		}
	}
}

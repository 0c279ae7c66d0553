package judge

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/scheduling/planning"
)

// wholePods are the resources for which a certificate considers only whole pods on an instance type, not fractions of pods. Like the
// certificate's values, this list is only a hint. If pods together use more units of a resource than the node has, they don't fit on the
// node.
type wholePods []wholeUnit

// maxTable limits the size of the table in the method most. The size is the number of combinations of units of all resources. Certificates
// count in large units, so the tables for them are smaller than this limit.
const maxTable = 1 << 20

func (j *Judge) wholePods(t *planning.CertificateType) wholePods {
	var out wholePods
	for _, c := range t.Whole {
		at := slices.Index(j.resources, c.Resource)
		unit := c.Unit.Value()
		if c.Resource == corev1.ResourceCPU {
			unit = c.Unit.MilliValue()
		}
		if at >= 0 && unit > 0 {
			out = append(out, wholeUnit{resource: at, unit: unit})
		}
	}
	return out
}

// most returns the highest total value of whole pods that fit together. value has, for each class, the value of one pod. The method fills a
// table, one pod after another. The table has an entry for each combination of units of the resources. If the table would have more than
// maxTable entries, it returns a higher bound: the sum, over the classes, of the value of all pods of the class that fit without other
// pods.
func (w wholePods) most(classes []*class, value []float64, room amounts) float64 {
	size, width := int64(1), make([]int64, len(w))
	for i, u := range w {
		width[i] = size
		size *= max(room[u.resource], 0)/u.unit + 1
	}
	if size > maxTable {
		sum := 0.0
		for i, c := range classes {
			sum += max(value[i], 0) * float64(c.fitting(room))
		}
		return sum
	}
	table := make([]float64, size)
	fits := func(at int64, need []int64) bool {
		for i := len(w) - 1; i >= 0; i-- {
			if at/width[i] < need[i] {
				return false
			}
			at %= width[i]
		}
		return true
	}
	need := make([]int64, len(w))
	for k, c := range classes {
		left := int64(0)
		if value[k] > 0 {
			left = c.fitting(room)
		}
		for n := int64(1); left > 0; n *= 2 {
			n = min(n, left)
			left -= n
			step := int64(0)
			for i, u := range w {
				need[i] = c.need[u.resource] / u.unit * n
				step += need[i] * width[i]
			}
			for at := size - 1; at >= step; at-- {
				if with := table[at-step] + value[k]*float64(n); with > table[at] && fits(at, need) {
					table[at] = with
				}
			}
		}
	}
	return table[size-1]
}

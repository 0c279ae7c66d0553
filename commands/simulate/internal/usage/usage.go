// Package usage reads what containers use from answers of Prometheus and from VerticalPodAutoscalers, finds the workloads of a snapshot to
// which it belongs, and makes a snapshot whose requests are the usage.
//
//	u := usage.New(95)
//	if err := u.Read("memory.json", corev1.ResourceMemory, file); err != nil {
//		return err // names the file, and the series or the object
//	}
//	other, outcome := u.Apply(snapshot, workloadOf)
//
// Stability: internal.
package usage

import (
	"cmp"
	"fmt"
	"io"
	"math"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// Bounds of the input.
const (
	mostBytes      = 128 << 20
	mostYAMLBytes  = 32 << 20
	mostContainers = 1_000_000
)

// Bounds of an amount. No node has more; a larger amount has the wrong unit, or is the value of a counter.
const (
	mostMilliCPU = 10_000 * 1000
	mostMemory   = 100 << 40
	leastMemory  = 1 << 20
)

// Workload is the object whose controller makes pods. A pod without a controller is a workload itself, with the kind Pod.
type Workload struct{ Kind, Namespace, Name string }

// String returns "Deployment shop/web".
func (w Workload) String() string { return w.Kind + " " + w.Namespace + "/" + w.Name }

func (w Workload) compare(o Workload) int {
	return cmp.Or(cmp.Compare(w.Namespace, o.Namespace), cmp.Compare(w.Name, o.Name), cmp.Compare(w.Kind, o.Kind))
}

// amounts are what a container uses; 0 means that it is not known.
type amounts struct{ milliCPU, memory int64 }

// add keeps the larger of two values for each resource.
func (a *amounts) add(o amounts) {
	a.milliCPU, a.memory = max(a.milliCPU, o.milliCPU), max(a.memory, o.memory)
}

func (a amounts) plus(o amounts) amounts {
	return amounts{a.milliCPU + o.milliCPU, a.memory + o.memory}
}

// list returns the known amounts.
func (a amounts) list() corev1.ResourceList {
	list := corev1.ResourceList{}
	if a.milliCPU > 0 {
		list[corev1.ResourceCPU] = *resource.NewMilliQuantity(a.milliCPU, resource.DecimalSI)
	}
	if a.memory > 0 {
		list[corev1.ResourceMemory] = *resource.NewQuantity(a.memory, resource.BinarySI)
	}
	return list
}

// podContainer is a container of a pod that Prometheus has observed.
type podContainer struct{ namespace, pod, container string }

// containerKey is a container of a workload.
type containerKey struct {
	workload  Workload
	container string
}

// Usage is what the containers of a cluster use. Create it with New.
type Usage struct {
	percentile int
	// observed and recommended contain the amounts; seen and targets contain their keys in the order of the files.
	observed    map[podContainer]amounts
	seen        []podContainer
	recommended map[containerKey]amounts
	targets     []containerKey
	sampled     bool
	sums        int
	empty       []string
}

// New returns a Usage without values. A series with several samples counts with this percentile of them, from 1 to 100.
func New(percentile int) *Usage {
	return &Usage{percentile: percentile, observed: map[podContainer]amounts{}, recommended: map[containerKey]amounts{}}
}

// Read adds the values of a file: answers of Prometheus' HTTP API as JSON, or VerticalPodAutoscalers as YAML or JSON, in one or several
// documents. what is the resource of the file's series; empty means that labels of each series say it. Name is the file in errors. If a
// container has several values, the largest counts.
func (u *Usage) Read(name string, what corev1.ResourceName, r io.Reader) error {
	text, err := io.ReadAll(io.LimitReader(r, mostBytes+1))
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if len(text) > mostBytes {
		return fmt.Errorf("%s: is larger than %d bytes; let Prometheus compute the percentile (quantile_over_time), so that each series has one value", name, mostBytes)
	}
	if err := (&reader{usage: u, resource: what}).read(text); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// Percentile returns the percentile that was computed; ok is false if no series had several samples.
func (u *Usage) Percentile() (percentile int, ok bool) { return u.percentile, u.sampled }

// FromTargets reports whether all values are targets of VerticalPodAutoscalers.
func (u *Usage) FromTargets() bool { return len(u.seen) == 0 && len(u.targets) > 0 }

// Sums returns the number of series that were skipped because they are sums of pods, or of pause containers.
func (u *Usage) Sums() int { return u.sums }

// WithoutRecommendation returns the VerticalPodAutoscalers that were skipped because they have no recommendation yet, as "namespace/name".
func (u *Usage) WithoutRecommendation() []string { return u.empty }

// observe adds a value of a container of a pod.
func (u *Usage) observe(at podContainer, value amounts) error {
	known, ok := u.observed[at]
	if !ok {
		u.seen = append(u.seen, at)
	}
	known.add(value)
	u.observed[at] = known
	return u.bounded()
}

// recommend adds a recommendation for a container of a workload.
func (u *Usage) recommend(at containerKey, value amounts) error {
	known, ok := u.recommended[at]
	if !ok {
		u.targets = append(u.targets, at)
	}
	known.add(value)
	u.recommended[at] = known
	return u.bounded()
}

func (u *Usage) bounded() error {
	if len(u.seen)+len(u.targets) > mostContainers {
		return fmt.Errorf("the files have more than %d containers; select fewer namespaces", mostContainers)
	}
	return nil
}

// rounding hides the error of a float64 that should be a whole number, such as 1.1 * 1000.
const rounding = 1e-6

// cores converts a number of cores to amounts; it is rounded up to a millicore.
func cores(value float64) amounts {
	return amounts{milliCPU: max(int64(math.Ceil(value*1000-rounding)), 1)}
}

// bytesOf converts a number of bytes to amounts.
func bytesOf(value float64) amounts {
	return amounts{memory: max(int64(math.Ceil(value-rounding)), leastMemory)}
}

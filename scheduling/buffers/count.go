package buffers

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/drawknife/drawknife/api/autoscaling/v1beta1"
	"github.com/drawknife/drawknife/scheduling"
)

// countPods returns the number of placeholders of the buffer. Each placeholder has the requests of the given pod. The number is the larger
// of spec.replicas and spec.percentage, but at most the number that spec.limits allow. If both are missing, it is the number that
// spec.limits allow. replicas is the number of pods of the workload. The message says how the limits reduced the number.
func countPods(spec *v1beta1.CapacityBufferSpec, replicas int32, pod *corev1.Pod) (count int64, message string, err error) {
	size, sized := sizeOf(spec, replicas)
	fit, tightest := fitting(spec.Limits, scheduling.PodRequests(pod))
	switch {
	case tightest == "" && !sized && len(spec.Limits) > 0:
		return 0, "", errors.New("spec.limits: names no resource that the pods request, so it bounds nothing: name one, or set replicas")
	case tightest == "":
		return size, "", nil
	case !sized:
		return fit, "", nil
	case fit < size:
		return fit, fmt.Sprintf("spec.limits[%s] holds %d of the %d pods asked for", tightest, fit, size), nil
	}
	return size, "", nil
}

// sizeOf returns the larger of spec.replicas and the given percentage (spec.percentage) of the workload's replicas. The result sized is
// false if the spec has neither field.
func sizeOf(spec *v1beta1.CapacityBufferSpec, replicas int32) (size int64, sized bool) {
	if spec.Replicas != nil {
		size, sized = int64(*spec.Replicas), true
	}
	if spec.Percentage != nil && spec.ScalableRef != nil {
		share := (int64(replicas)*int64(*spec.Percentage) + 99) / 100 // the share is rounded up, so it is 0 only if replicas or the percentage is 0
		size, sized = max(size, share), true
	}
	return size, sized
}

// fitting returns how many times the requests fit into the limits, and the resource that limits this number most. The resource is empty if
// no resource is both limited and requested.
func fitting(limits, requests corev1.ResourceList) (fit int64, tightest corev1.ResourceName) {
	for _, name := range slices.Sorted(maps.Keys(limits)) {
		request := requests[name]
		if request.Sign() <= 0 {
			continue
		}
		if times := quotient(limits[name], request); tightest == "" || times < fit {
			fit, tightest = times, name
		}
	}
	return fit, tightest
}

// quotient returns how many times the positive quantity small fits into large, rounded down and at most MaxInt32. It is exact for any
// units, even if the values in a common unit might not fit in 64 bits.
func quotient(large, small resource.Quantity) int64 {
	holds := func(times int64) bool {
		product := small.DeepCopy()
		product.Mul(times) // if the product needs more than 64 bits, Mul uses arbitrary precision
		return product.Cmp(large) <= 0
	}
	low, high := int64(0), int64(math.MaxInt32)
	for low < high {
		if middle := (low + high + 1) / 2; holds(middle) {
			low = middle
		} else {
			high = middle - 1
		}
	}
	return low
}

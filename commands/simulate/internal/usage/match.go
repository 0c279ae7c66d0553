package usage

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/scheduling"
)

// objectName is a namespace and a name.
type objectName struct{ namespace, name string }

// workloads finds the workload of a pod, also of a pod that no longer exists.
type workloads struct {
	// of returns the workload of a pod of the snapshot.
	of     func(*corev1.Pod) Workload
	pods   map[objectName]Workload
	byName map[objectName][]Workload
}

// index returns the workloads of a snapshot.
func index(snapshot *scheduling.Snapshot, of func(*corev1.Pod) Workload) *workloads {
	x := &workloads{of: of, pods: map[objectName]Workload{}, byName: map[objectName][]Workload{}}
	eachPod(snapshot, func(pod *corev1.Pod) {
		w := of(pod)
		x.pods[objectName{pod.Namespace, pod.Name}] = w
		x.add(w)
	})
	for _, set := range snapshot.DaemonSets {
		x.add(Workload{"DaemonSet", set.Namespace, set.Name})
	}
	return x
}

// eachPod visits the pods of a snapshot, pending and running ones.
func eachPod(snapshot *scheduling.Snapshot, visit func(*corev1.Pod)) {
	for _, pod := range snapshot.Pods {
		visit(pod)
	}
	for i := range snapshot.Nodes {
		for _, pod := range snapshot.Nodes[i].Pods {
			visit(pod)
		}
	}
}

func (x *workloads) add(w Workload) {
	name := objectName{w.Namespace, w.Name}
	if !slices.Contains(x.byName[name], w) {
		x.byName[name] = append(x.byName[name], w)
	}
}

// find returns the workload of a pod by the pod's name: that of the pod in the snapshot, or the workload with the longest name whose
// controller gives its pods such names.
func (x *workloads) find(namespace, pod string) (Workload, bool) {
	if w, ok := x.pods[objectName{namespace, pod}]; ok {
		return w, true
	}
	cut := strings.LastIndexByte(pod, '-')
	if cut < 0 {
		return Workload{}, false
	}
	base, last := pod[:cut], pod[cut+1:]
	if w, ok := x.first(objectName{namespace, base}, func(kind string) bool { return endsWith(kind, last) }); ok {
		return w, true
	}
	if cut = strings.LastIndexByte(base, '-'); cut < 0 {
		return Workload{}, false
	}
	base, middle := base[:cut], base[cut+1:]
	return x.first(objectName{namespace, base}, func(kind string) bool { return endsWithTwo(kind, middle, last) })
}

// first returns the first workload of the name, by kind, whose kind fits.
func (x *workloads) first(name objectName, fits func(kind string) bool) (Workload, bool) {
	var found Workload
	for _, w := range x.byName[name] {
		if fits(w.Kind) && (found.Kind == "" || w.Kind < found.Kind) {
			found = w
		}
	}
	return found, found.Kind != ""
}

// endsWith reports whether workloads of the kind have pods called NAME-last.
func endsWith(kind, last string) bool {
	switch kind {
	case "Deployment", "CronJob", "Pod":
		return false
	case "StatefulSet":
		return isNumber(last)
	case "ReplicaSet", "ReplicationController", "DaemonSet", "Job":
		return isRandom(last)
	}
	return isNumber(last) || isRandom(last) // a kind of another project
}

// endsWithTwo reports whether workloads of the kind have pods called NAME-middle-last. A CronJob adds a time to the name of its Jobs; an
// indexed Job adds a number.
func endsWithTwo(kind, middle, last string) bool {
	switch kind {
	case "StatefulSet", "ReplicaSet", "ReplicationController", "DaemonSet", "Pod":
		return false
	case "Deployment":
		return isHash(middle) && isRandom(last)
	case "Job", "CronJob":
		return isNumber(middle) && isRandom(last)
	}
	return (isNumber(middle) || isHash(middle)) && (isNumber(last) || isRandom(last))
}

func isNumber(text string) bool { return text != "" && strings.Trim(text, "0123456789") == "" }

// isRandom reports whether Kubernetes may have added the text to a name: five characters without vowels.
func isRandom(text string) bool {
	return len(text) == 5 && strings.Trim(text, "bcdfghjklmnpqrstvwxz2456789") == ""
}

// isHash reports whether the text may be the hash of a pod template: hardly any has fewer than five characters or no digit.
func isHash(text string) bool {
	return len(text) >= 5 && len(text) <= 10 && strings.Trim(text, "abcdefghijklmnopqrstuvwxyz0123456789") == "" && strings.ContainsAny(text, "0123456789")
}

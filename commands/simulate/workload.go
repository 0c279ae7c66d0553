package simulate

import (
	"cmp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/drawknife/drawknife/scheduling"
	"github.com/drawknife/drawknife/scheduling/pods"
)

// workload names a group of pods by the object that created them.
type workload struct {
	// kind is the owner's kind; empty for pods without an owner, which form one group per namespace.
	kind, namespace, name string
}

// String returns "Deployment shop/web", or "namespace shop" for its bare pods.
func (w workload) String() string {
	if w.bare() {
		return "namespace " + w.namespace
	}
	return w.kind + " " + w.namespace + "/" + w.name
}

// named returns the same as String, or "" for a pod without a controller.
func (w workload) named() string {
	if w.bare() {
		return ""
	}
	return w.String()
}

func (w workload) bare() bool { return w.kind == "" }

func (w workload) compare(o workload) int {
	return cmp.Or(strings.Compare(w.namespace, o.namespace), strings.Compare(w.name, o.name),
		strings.Compare(w.kind, o.kind))
}

// workloadIndex contains the workload of each pending pod of a snapshot.
type workloadIndex map[scheduling.PodKey]workload

// deploymentsOf returns the name of the Deployment of each ReplicaSet in the snapshot.
func deploymentsOf(snapshot *scheduling.Snapshot) map[scheduling.PodKey]string {
	deployments := make(map[scheduling.PodKey]string)
	for _, set := range snapshot.ReplicaSets {
		if owner := metav1.GetControllerOfNoCopy(set); owner != nil && owner.Kind == "Deployment" {
			deployments[scheduling.PodKey{Namespace: set.Namespace, Name: set.Name}] = owner.Name
		}
	}
	return deployments
}

func indexWorkloads(snapshot *scheduling.Snapshot) workloadIndex {
	deployments := deploymentsOf(snapshot)
	index := make(workloadIndex, len(snapshot.Pods))
	for _, pod := range snapshot.Pods {
		index[scheduling.PodKey{Namespace: pod.Namespace, Name: pod.Name}] = workloadOf(pod, deployments)
	}
	index.addAsked(snapshot)
	return index
}

// workloadOf follows the owner references from a pod to its controller, and from a ReplicaSet to its Deployment. If the snapshot lacks the
// ReplicaSet, the Deployment's name is found in that of the ReplicaSet: a Deployment appends the pod-template-hash, which is also a label
// of the pod.
func workloadOf(pod *corev1.Pod, deployments map[scheduling.PodKey]string) workload {
	owner := metav1.GetControllerOfNoCopy(pod)
	if owner == nil {
		return workload{namespace: pod.Namespace}
	}
	w := workload{kind: owner.Kind, namespace: pod.Namespace, name: owner.Name}
	if owner.Kind != "ReplicaSet" {
		return w
	}
	if name, ok := deployments[scheduling.PodKey{Namespace: pod.Namespace, Name: owner.Name}]; ok {
		return workload{kind: "Deployment", namespace: pod.Namespace, name: name}
	}
	if hash := pod.Labels["pod-template-hash"]; hash != "" {
		if name, ok := strings.CutSuffix(owner.Name, "-"+hash); ok && name != "" {
			return workload{kind: "Deployment", namespace: pod.Namespace, name: name}
		}
	}
	return w
}

// workloadCount is a number of pods of a workload.
type workloadCount struct {
	workload workload
	count    int
	// only is the name of the pod if there is exactly one.
	only string
}

// String returns "3 pods of Job ml/huge" or "3 bare pods of namespace ml".
func (c workloadCount) String() string {
	what := "pod"
	if c.workload.bare() {
		what = "bare pod"
	}
	return counted(c.count, what) + " of " + c.workload.String()
}

// short returns "shop/web", for lists with little space. For pods without an owner, it returns the name of a single pod, or "bare pods of"
// the namespace for several.
func (c workloadCount) short() string {
	switch w := c.workload; {
	case !w.bare():
		return w.namespace + "/" + w.name
	case c.only != "":
		return w.namespace + "/" + c.only
	default:
		return "bare pods of " + w.namespace
	}
}

// counts returns the number of pods of each workload, the largest first.
func (x workloadIndex) counts(pods []scheduling.PodKey) []workloadCount {
	var t workloadTally
	for _, pod := range pods {
		t.add(x[pod], pod.Name, 1)
	}
	return t.counts()
}

// workloadTally counts pods by workload.
type workloadTally struct {
	sums map[workload]int
	last map[workload]string
}

// add counts pods of a workload; name is the name of one of them.
func (t *workloadTally) add(w workload, name string, pods int) {
	if t.sums == nil {
		t.sums, t.last = make(map[workload]int), make(map[workload]string)
	}
	t.sums[w] += pods
	t.last[w] = name
}

// counts returns the sums, the largest first.
func (t *workloadTally) counts() []workloadCount {
	sums, last := t.sums, t.last
	counts := make([]workloadCount, 0, len(sums))
	for w, n := range sums {
		c := workloadCount{workload: w, count: n}
		if n == 1 {
			c.only = last[w]
		}
		counts = append(counts, c)
	}
	slices.SortFunc(counts, func(a, b workloadCount) int {
		return cmp.Or(cmp.Compare(b.count, a.count), a.workload.compare(b.workload))
	})
	return counts
}

// workloadSize is the number of pods of a workload, and what these pods request together.
type workloadSize struct {
	Pods int
	// CPU (in cores) and Memory (in GiB) are the sums of the requests of its pods.
	CPU, Memory float64
}

func (z *workloadSize) add(pod *corev1.Pod) {
	requests := scheduling.PodRequests(pod)
	z.Pods++
	z.CPU += requests.Cpu().AsApproximateFloat64()
	z.Memory += requests.Memory().AsApproximateFloat64() / (1 << 30)
}

// workloadChange is a workload whose size differs.
type workloadChange struct {
	workload      workload
	before, after workloadSize
}

// change is "added", "removed" or "changed".
func (c workloadChange) change() string {
	switch {
	case c.before.Pods == 0:
		return "added"
	case c.after.Pods == 0:
		return "removed"
	}
	return "changed"
}

// compareWorkloads returns the workloads whose number of pods or whose requests differ, by namespace and name.
func compareWorkloads(before, after *scheduling.Snapshot) []workloadChange {
	was, is := sizesOf(before), sizesOf(after)
	var list []workloadChange
	for w, size := range was {
		if is[w].differs(size) {
			list = append(list, workloadChange{w, size, is[w]})
		}
	}
	for w, size := range is {
		if _, known := was[w]; !known {
			list = append(list, workloadChange{w, workloadSize{}, size})
		}
	}
	slices.SortFunc(list, func(a, b workloadChange) int { return a.workload.compare(b.workload) })
	return list
}

// differs reports whether the sizes differ by more than a rounding error: the order of additions may change the last digits of CPU and Memory.
func (z workloadSize) differs(other workloadSize) bool {
	near := func(a, b float64) bool { return a-b < 1e-6 && b-a < 1e-6 }
	return z.Pods != other.Pods || !near(z.CPU, other.CPU) || !near(z.Memory, other.Memory)
}

// sizesOf returns the sizes of all workloads; DaemonSets and static pods are not counted.
func sizesOf(snapshot *scheduling.Snapshot) map[workload]workloadSize {
	sizes, deployments := map[workload]workloadSize{}, deploymentsOf(snapshot)
	add := func(pod *corev1.Pod) {
		w := workloadOf(pod, deployments)
		z := sizes[w]
		z.add(pod)
		sizes[w] = z
	}
	for _, pod := range snapshot.Pods {
		add(pod)
	}
	for i := range snapshot.Nodes {
		for _, pod := range snapshot.Nodes[i].Pods {
			if !pods.OwnedByDaemonSet(pod) && !pods.Static(pod) && !pods.Terminal(pod) {
				add(pod)
			}
		}
	}
	return sizes
}

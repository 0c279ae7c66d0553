package usage

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/drawknife/drawknife/scheduling"
)

// Outcome says for which pods of a snapshot the usage is known, and compares it with their requests.
type Outcome struct {
	// Workloads is the number of workloads with known usage. Pods is the number of their pods with known usage, pending and running, and
	// Without is the number of all other pods.
	Workloads, Pods, Without int
	// Requested and Used are the sums of CPU and memory of the pods with usage: before the change, and after it.
	Requested, Used corev1.ResourceList
	// Containers are sorted: first those whose requests exceed the usage of all their pods by most.
	Containers []Container
	// Unmatched is the number of observed containers and recommendations that belong to no container of the snapshot; Example is the first.
	Unmatched int
	Example   string
}

// Container is a container of a workload. Its lists have only CPU and memory.
type Container struct {
	Workload  Workload
	Container string
	// Pods is the number of pods. It is 0 for a DaemonSet without pods in the snapshot.
	Pods int
	// Requests are those of one pod; if pods differ, the largest. A resource without a request is missing.
	Requests corev1.ResourceList
	// Usage is what the container uses; a resource of unknown usage is missing.
	Usage corev1.ResourceList
}

// gibPerCore is how much memory counts as much as a core when containers are sorted: clouds charge about the same for both.
const gibPerCore = 8

// Excess returns by how much the requests exceed the usage in all pods, and how much they are below it, in cores. 8 GiB of memory count as a
// core.
func (c *Container) Excess() (above, below float64) {
	for name, used := range c.Usage {
		request := c.Requests[name]
		difference := (request.AsApproximateFloat64() - used.AsApproximateFloat64()) * float64(max(c.Pods, 1))
		if name == corev1.ResourceMemory {
			difference /= gibPerCore << 30
		}
		above, below = above+max(difference, 0), below+max(-difference, 0)
	}
	return above, below
}

// applier replaces the requests of pods.
type applier struct {
	known map[containerKey]amounts
	of    func(*corev1.Pod) Workload
	seen  map[containerKey]*Container
	out   Outcome
	// requested and used are the sums of Outcome.
	requested, used amounts
	last            applied
}

// applied is a pod and what became of it. Pods of one template get the same lists, so that planning still recognises them as equal.
type applied struct {
	pod      *corev1.Pod
	workload Workload
	spec     corev1.PodSpec
	changed  []string
	before   amounts
	after    amounts
}

// Apply returns a copy of the snapshot in which containers request what they use, and the comparison. It changes the requests for CPU and
// memory of pending and running pods and of DaemonSets. Containers and resources of unknown usage keep their requests, and so do
// placeholders of capacity buffers, and pods that don't exist yet. The given snapshot stays unchanged. of returns the workload of a pod.
func (u *Usage) Apply(snapshot *scheduling.Snapshot, of func(*corev1.Pod) Workload) (*scheduling.Snapshot, *Outcome) {
	x := index(snapshot, of)
	a := &applier{known: map[containerKey]amounts{}, of: of, seen: map[containerKey]*Container{}}
	add := func(key containerKey, value amounts) {
		known := a.known[key]
		known.add(value)
		a.known[key] = known
	}
	for _, at := range u.seen {
		if w, ok := x.find(at.namespace, at.pod); ok {
			add(containerKey{w, at.container}, u.observed[at])
		}
	}
	for _, at := range u.targets {
		add(at, u.recommended[at])
	}
	out := *snapshot
	out.Pods = a.pods(snapshot.Pods)
	out.Nodes = slices.Clone(snapshot.Nodes)
	for i := range out.Nodes {
		out.Nodes[i].Pods = a.pods(out.Nodes[i].Pods)
	}
	out.DaemonSets = a.daemonSets(snapshot.DaemonSets)
	a.finish()
	for _, at := range u.seen {
		w, ok := x.find(at.namespace, at.pod)
		if !ok || a.seen[containerKey{w, at.container}] == nil {
			a.unmatched(fmt.Sprintf("container %s of pod %s/%s", at.container, at.namespace, at.pod))
		}
	}
	for _, at := range u.targets {
		if a.seen[at] == nil {
			a.unmatched(fmt.Sprintf("container %s of %s", at.container, at.workload))
		}
	}
	return &out, &a.out
}

func (a *applier) unmatched(example string) {
	a.out.Example = cmp.Or(a.out.Example, example)
	a.out.Unmatched++
}

// pods returns the pods with other requests.
func (a *applier) pods(pods []*corev1.Pod) []*corev1.Pod {
	var out []*corev1.Pod
	for i, pod := range pods {
		changed := a.pod(pod)
		if changed == pod {
			continue
		}
		if out == nil {
			out = slices.Clone(pods)
		}
		out[i] = changed
	}
	if out == nil {
		return pods
	}
	return out
}

// pod returns a pod with other requests, or the same pod if the usage of none of its containers is known.
func (a *applier) pod(pod *corev1.Pod) *corev1.Pod {
	shared := a.last.pod != nil && sameTemplate(a.last.pod, pod)
	if !shared {
		a.last = applied{workload: a.of(pod)}
		a.last.spec, a.last.changed = a.spec(a.last.workload, pod.Spec)
	}
	a.last.pod = pod
	if len(a.last.changed) == 0 {
		a.out.Without++
		return pod
	}
	changed := *pod
	changed.Spec.Containers, changed.Spec.InitContainers, changed.Spec.Resources = a.last.spec.Containers, a.last.spec.InitContainers, a.last.spec.Resources
	changed.Status.ContainerStatuses = a.statuses(a.last.workload, pod.Status.ContainerStatuses)
	changed.Status.InitContainerStatuses = a.statuses(a.last.workload, pod.Status.InitContainerStatuses)
	if !shared {
		a.last.before, a.last.after = totals(pod), totals(&changed)
	}
	a.requested = a.requested.plus(a.last.before)
	a.used = a.used.plus(a.last.after)
	a.out.Pods++
	for _, name := range a.last.changed {
		a.seen[containerKey{a.last.workload, name}].Pods++
	}
	return &changed
}

// totals returns what a pod takes of a node.
func totals(pod *corev1.Pod) amounts {
	requests := scheduling.PodRequests(pod)
	return amounts{milliCPU: requests.Cpu().MilliValue(), memory: requests.Memory().Value()}
}

// sameTemplate reports whether two pods share the containers of one template, and have no statuses with amounts of their own.
func sameTemplate(a, b *corev1.Pod) bool {
	same := func(x, y []corev1.Container) bool { return len(x) == len(y) && (len(x) == 0 || &x[0] == &y[0]) }
	return len(a.Spec.Containers) > 0 && same(a.Spec.Containers, b.Spec.Containers) && same(a.Spec.InitContainers, b.Spec.InitContainers) &&
		a.Spec.Resources == b.Spec.Resources && len(a.OwnerReferences) > 0 && len(b.OwnerReferences) > 0 && &a.OwnerReferences[0] == &b.OwnerReferences[0] &&
		a.Namespace == b.Namespace && len(a.Status.ContainerStatuses)+len(a.Status.InitContainerStatuses)+len(b.Status.ContainerStatuses)+len(b.Status.InitContainerStatuses) == 0
}

// spec returns a spec with other requests, and the names of the changed containers. Requests for the pod as a whole are removed if the usage
// of all its running containers is known, because they would replace it.
func (a *applier) spec(w Workload, spec corev1.PodSpec) (corev1.PodSpec, []string) {
	var changed []string
	replace := func(list []corev1.Container) []corev1.Container {
		out := list
		for i := range list {
			known := a.known[containerKey{w, list[i].Name}]
			if known == (amounts{}) {
				continue
			}
			if &out[0] == &list[0] {
				out = slices.Clone(list)
			}
			out[i].Resources.Requests = with(list[i].Resources.Requests, known)
			a.note(w, &list[i], known)
			changed = append(changed, list[i].Name)
		}
		return out
	}
	running := slices.Clone(spec.Containers)
	for _, c := range spec.InitContainers {
		if c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways {
			running = append(running, c)
		}
	}
	spec.Containers, spec.InitContainers = replace(spec.Containers), replace(spec.InitContainers)
	if spec.Resources != nil && len(changed) > 0 {
		whole := *spec.Resources
		whole.Requests = maps.Clone(whole.Requests)
		for name := range (amounts{1, 1}).list() {
			if !slices.ContainsFunc(running, func(c corev1.Container) bool { return !a.knows(containerKey{w, c.Name}, name) }) {
				delete(whole.Requests, name)
			}
		}
		spec.Resources = &whole
	}
	return spec, changed
}

func (a *applier) knows(key containerKey, name corev1.ResourceName) bool {
	_, ok := a.known[key].list()[name]
	return ok
}

// with returns the list with known amounts in place of its own.
func with(list corev1.ResourceList, known amounts) corev1.ResourceList {
	out := maps.Clone(list)
	if out == nil {
		out = corev1.ResourceList{}
	}
	maps.Copy(out, known.list())
	return out
}

// statuses returns statuses whose amounts are the usage, because the largest of a container's amounts counts: those of its spec and those
// that its node has allocated.
func (a *applier) statuses(w Workload, list []corev1.ContainerStatus) []corev1.ContainerStatus {
	out := list
	for i := range list {
		known := a.known[containerKey{w, list[i].Name}]
		if list[i].Resources == nil || known == (amounts{}) {
			continue
		}
		if &out[0] == &list[0] {
			out = slices.Clone(list)
		}
		held := *list[i].Resources
		held.Requests = with(held.Requests, known)
		out[i].Resources, out[i].AllocatedResources = &held, with(list[i].AllocatedResources, known)
	}
	return out
}

// note remembers the requests and the usage of a container.
func (a *applier) note(w Workload, c *corev1.Container, known amounts) {
	key := containerKey{w, c.Name}
	entry := a.seen[key]
	if entry == nil {
		entry = &Container{Workload: w, Container: c.Name, Requests: corev1.ResourceList{}, Usage: known.list()}
		a.seen[key] = entry
	}
	for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
		if q, ok := c.Resources.Requests[name]; ok {
			if before, known := entry.Requests[name]; !known || before.Cmp(q) < 0 {
				entry.Requests[name] = q.DeepCopy()
			}
		}
	}
}

// daemonSets returns the DaemonSets with other requests of their pods on new nodes.
func (a *applier) daemonSets(sets []*appsv1.DaemonSet) []*appsv1.DaemonSet {
	out := slices.Clone(sets)
	for i, set := range sets {
		spec, changed := a.spec(Workload{"DaemonSet", set.Namespace, set.Name}, set.Spec.Template.Spec)
		if len(changed) > 0 {
			copied := *set
			copied.Spec.Template.Spec = spec
			out[i] = &copied
		}
	}
	return out
}

// finish completes the outcome.
func (a *applier) finish() {
	of := map[Workload]bool{}
	for _, c := range a.seen {
		of[c.Workload] = true
		a.out.Containers = append(a.out.Containers, *c)
	}
	a.out.Workloads = len(of)
	slices.SortFunc(a.out.Containers, func(x, y Container) int {
		xAbove, xBelow := x.Excess()
		yAbove, yBelow := y.Excess()
		return cmp.Or(cmp.Compare(yAbove-yBelow, xAbove-xBelow), x.Workload.compare(y.Workload), cmp.Compare(x.Container, y.Container))
	})
	sum := func(s amounts) corev1.ResourceList {
		return corev1.ResourceList{
			corev1.ResourceCPU:    *resource.NewMilliQuantity(s.milliCPU, resource.DecimalSI),
			corev1.ResourceMemory: *resource.NewQuantity(s.memory, resource.BinarySI),
		}
	}
	a.out.Requested, a.out.Used = sum(a.requested), sum(a.used)
}

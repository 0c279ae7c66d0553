package requests

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/drawknife/drawknife/api/autoscaling/v1"
	"github.com/drawknife/drawknife/scheduling"
)

// consumer is a pod that uses a request.
type consumer struct {
	pod *corev1.Pod
	// node is the name of the node that the consumer is bound to. It is empty while the consumer waits.
	node string
}

func (c consumer) key() scheduling.PodKey {
	return scheduling.PodKey{Namespace: c.pod.Namespace, Name: c.pod.Name}
}

// findConsumers returns the pods of the snapshot that use requests, by request. For each request, pods with a node come first.
func findConsumers(s *scheduling.Snapshot) map[types.NamespacedName][]consumer {
	found := map[types.NamespacedName][]consumer{}
	note := func(pod *corev1.Pod, node string) {
		if name := v1.ConsumedBy(pod); name != "" && pod.Status.Phase != corev1.PodSucceeded && pod.Status.Phase != corev1.PodFailed {
			key := types.NamespacedName{Namespace: pod.Namespace, Name: name}
			found[key] = append(found[key], consumer{pod, node})
		}
	}
	for i := range s.Nodes {
		if s.Nodes[i].Leaving {
			continue // pods that must move to another node are also listed as pending pods
		}
		for _, pod := range s.Nodes[i].Pods {
			note(pod, s.Nodes[i].Name)
		}
	}
	for _, pod := range s.Pods {
		note(pod, "")
	}
	return found
}

// used reports whether any pods use the request.
func (d *demand) used() bool { return d.pods > 0 }

// match finds the PodSets of the consumers, because the annotation names only the request. Each consumer belongs to the first incomplete
// PodSet whose pods have the same resource requests. If no such PodSet exists, it belongs to the first incomplete PodSet.
func (d *demand) match(consumers []consumer) {
	sets := d.given.Spec.PodSets
	d.bound, d.waiting = make([][]consumer, len(sets)), make([][]consumer, len(sets))
	requests := make([]corev1.ResourceList, len(sets))
	for i, mould := range d.moulds {
		requests[i] = scheduling.PodRequests(mould)
	}
	for _, c := range consumers {
		set := -1
		own := scheduling.PodRequests(c.pod)
		for i := range sets {
			if len(d.bound[i])+len(d.waiting[i]) >= int(sets[i].Count) {
				continue
			}
			if equality.Semantic.DeepEqual(requests[i], own) {
				set = i
				break
			}
			if set < 0 {
				set = i
			}
		}
		switch {
		case set >= 0 && c.node != "":
			d.bound[set] = append(d.bound[set], c)
		case set >= 0:
			d.waiting[set] = append(d.waiting[set], c)
		case c.node == "":
			d.surplus = append(d.surplus, c)
		}
	}
}

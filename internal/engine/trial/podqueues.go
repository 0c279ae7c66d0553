package trial

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/scheduling/planning"
)

// PodQueues returns the pods of each class one after another. The snapshot's pending pods come first, then the pods of hidden nodes.
type PodQueues struct {
	t    *Trial
	Next []int
	// freed is indexed by class. It is nil if no node is hidden.
	freed map[int32][]*corev1.Pod
}

// NewPodQueues returns a PodQueues that starts with the first pod of each class.
func NewPodQueues(t *Trial) *PodQueues {
	q := &PodQueues{t: t, Next: make([]int, len(t.M.Classes))}
	if len(t.S.Freed) > 0 {
		q.freed = map[int32][]*corev1.Pod{}
		for _, p := range t.S.Freed {
			q.freed[p.Class] = append(q.freed[p.Class], p.Pod)
		}
	}
	return q
}

// Take appends the names of the next n pods of the class to the list into.
func (q *PodQueues) Take(into []planning.PodKey, class int32, n int) []planning.PodKey {
	for range n {
		pod := q.One(class)
		into = append(into, planning.PodKey{Namespace: pod.Namespace, Name: pod.Name})
	}
	return into
}

// One returns the next pod of the class.
func (q *PodQueues) One(class int32) *corev1.Pod {
	pending := GangsOf(q.t).QueueOf(class)
	i := q.Next[class]
	q.Next[class]++
	if i < len(pending) {
		return q.t.M.Pods[pending[i]]
	}
	return q.freed[class][i-len(pending)]
}

package oracle

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"github.com/drawknife/drawknife/scheduling"
)

// Preference says which of the nodes that accept a pod kube-scheduler prefers.
type Preference uint8

const (
	// PlannedNode prefers the planned node of the pod. If it does not accept the pod, it prefers the first node.
	PlannedNode Preference = iota
	// LeastAllocated prefers the node with the largest free share of CPU and memory, like kube-scheduler's default scores.
	LeastAllocated
	// AnyNode chooses a pseudorandom node, which is the same in each run.
	AnyNode
)

// String returns the name of the preference.
func (p Preference) String() string {
	return [...]string{"the planned node first", "the least allocated node", "any node"}[p]
}

// Queued is the result of Queue.
type Queued struct {
	// Pods is the number of pods that the plan places.
	Pods int
	// Refused are the pods that their planned node did not accept when they were first tried.
	Refused []scheduling.PodKey
	// Left are the pods that no node accepted, although they were tried again.
	Left []scheduling.PodKey
}

// Queue binds the plan's pods, with the plan's nodes present as the choice says. Pods come in the order of kube-scheduler's queue: by
// priority, then by creation, then by name (w-2 before w-10), placeholders last. Each pod is bound to one of the nodes that all filter
// plugins accept. prefer says to which one. Pods without such a node are tried again after the others, until a round binds no pod. Pods
// that the plan does not place are left out. It returns the same errors as Replay.
func Queue(ctx context.Context, snapshot *scheduling.Snapshot, plan *scheduling.Plan, choice Choice, prefer Preference) (Queued, error) {
	s, err := newStage(ctx, snapshot, plan, choice)
	if err != nil {
		return Queued{}, err
	}
	defer s.close()
	queue, err := s.queue()
	if err != nil {
		return Queued{}, err
	}
	out, lots := Queued{Pods: len(queue)}, rand.New(rand.NewPCG(uint64(len(queue)), 0))
	for first := true; len(queue) > 0; first = false {
		var again []placement
		for _, p := range queue {
			pod := s.pods[p.pod]
			nodes, err := s.takers(ctx, pod, p.node)
			if err != nil {
				return out, err
			}
			if first && !slices.Contains(nodes, p.node) {
				out.Refused = append(out.Refused, p.pod)
			}
			if len(nodes) == 0 {
				again = append(again, p)
				continue
			}
			node := s.preferred(prefer, lots, nodes, p.node)
			if err := s.judge.bindVolumes(pod, node); err != nil {
				return out, err
			}
			if err := s.judge.cluster.bind(pod, node); err != nil {
				return out, err
			}
		}
		if len(again) == len(queue) {
			for _, p := range again {
				out.Left = append(out.Left, p.pod)
			}
			break
		}
		queue = again
	}
	return out, nil
}

// queue returns the placements of the plan in the order of kube-scheduler's queue.
func (s *stage) queue() ([]placement, error) {
	promises, err := placements(s.plan)
	if err != nil {
		return nil, err
	}
	later := map[scheduling.PodKey]int{}
	for _, pod := range s.snapshot.Placeholders {
		later[scheduling.PodKey{Namespace: pod.Namespace, Name: pod.Name}] = 1
	}
	for _, p := range promises {
		if s.pods[p.pod] == nil {
			return nil, fmt.Errorf("the plan places pod %s, which the snapshot does not have", p.pod)
		}
	}
	slices.SortFunc(promises, func(a, b placement) int {
		x, y := s.pods[a.pod], s.pods[b.pod]
		return cmp.Or(cmp.Compare(later[a.pod], later[b.pod]), cmp.Compare(priorityOf(y), priorityOf(x)),
			x.CreationTimestamp.Compare(y.CreationTimestamp.Time), cmp.Compare(a.pod.Namespace, b.pod.Namespace),
			cmp.Compare(len(a.pod.Name), len(b.pod.Name)), cmp.Compare(a.pod.Name, b.pod.Name))
	})
	return promises, nil
}

func priorityOf(pod *corev1.Pod) int32 {
	if pod.Spec.Priority == nil {
		return 0
	}
	return *pod.Spec.Priority
}

// takers returns the nodes that all plugins accept for the pod, in the order of the cluster. Manually created volumes exist for the planned
// node.
func (s *stage) takers(ctx context.Context, pod *corev1.Pod, planned string) ([]string, error) {
	if _, isNew := s.options[planned]; isNew {
		if err := s.judge.supplyVolumes(pod, planned); err != nil {
			return nil, err
		}
	}
	var out []string
	for _, info := range s.judge.cluster.infos {
		name := info.Node().Name
		verdicts, err := s.judge.ask(ctx, pod, name)
		if err != nil {
			return nil, err
		}
		if len(verdicts) == 0 {
			out = append(out, name)
		}
	}
	return out, nil
}

// preferred returns the node to which the pod is bound. There must be at least one node.
func (s *stage) preferred(prefer Preference, lots *rand.Rand, nodes []string, planned string) string {
	switch prefer {
	case LeastAllocated:
		best, most := nodes[0], -1.0
		for _, name := range nodes {
			if left := leftOn(s.judge.cluster.byName[name]); left > most {
				best, most = name, left
			}
		}
		return best
	case AnyNode:
		return nodes[lots.IntN(len(nodes))]
	}
	if slices.Contains(nodes, planned) {
		return planned
	}
	return nodes[0]
}

// leftOn returns the free share of a node's CPU and memory, as the mean of both.
func leftOn(info *framework.NodeInfo) float64 {
	share := func(free, all int64) float64 { return float64(free) / float64(max(all, 1)) }
	have, asked := info.GetAllocatable(), info.GetRequested()
	return (share(have.GetMilliCPU()-asked.GetMilliCPU(), have.GetMilliCPU()) + share(have.GetMemory()-asked.GetMemory(), have.GetMemory())) / 2
}

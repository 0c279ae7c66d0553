package oracle

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"

	"github.com/drawknife/drawknife/disruption"
	"github.com/drawknife/drawknife/scheduling"
)

// Rollout simulates the commands of a disruption plan, one after another. First, the replacements of a command join, and its members are
// removed with all of their pods. Then each pod for which the command plans a place is bound there, if all of kube-scheduler's filter
// plugins accept it. Refused pods of a command are tried again until no more pods are accepted, because kube-scheduler also tries again.
// Each command is checked in the state after all earlier commands, so every prefix of the list is checked. It returns the refusals. A
// refused pod is not bound, and the rollout continues without it.
//
// The snapshot must not have pending pods, because a disruption plan assumes that these have places. The choice says with which options the
// replacements are created: see RolloutChoices. Rollout changes neither snapshot nor commands.
func Rollout(ctx context.Context, snapshot *scheduling.Snapshot, commands []*disruption.Command, choice Choice) ([]Refusal, error) {
	moved, plan := moves(snapshot, commands)
	if len(choice.Options) != len(plan.NewNodes) {
		return nil, fmt.Errorf("the choice is for %d nodes, the commands launch %d: take it from RolloutChoices of the same commands", len(choice.Options), len(plan.NewNodes))
	}
	s, err := newStage(ctx, moved, &scheduling.Plan{}, Choice{})
	if err != nil {
		return nil, err
	}
	defer s.close()
	var refusals []Refusal
	launched := 0
	for n, cmd := range commands {
		var promises []placement
		for i := range cmd.Replacements {
			if cmd.Replacements[i].Node == nil {
				continue // it belongs to a static pool, and no pods are planned for it
			}
			node := &plan.NewNodes[launched]
			if err := s.addPlannedNode(node, choice.Options[launched], choice.Label); err != nil {
				return nil, err
			}
			launched++
			promises = append(promises, promisesOf(node.Name, node.Pods)...)
		}
		for _, name := range cmd.Nodes() {
			if err := s.judge.cluster.removeNode(name); err != nil {
				return nil, fmt.Errorf("command %d, %s: %w", n, cmd, err)
			}
		}
		for i := range cmd.Receivers {
			promises = append(promises, promisesOf(cmd.Receivers[i].Name, cmd.Receivers[i].Pods)...)
		}
		some, err := s.keep(ctx, promises)
		if err != nil {
			return nil, fmt.Errorf("command %d, %s: %w", n, cmd, err)
		}
		refusals = append(refusals, some...)
	}
	return refusals, nil
}

// RolloutChoices returns the choices for which the commands must work: see Choices.
func RolloutChoices(snapshot *scheduling.Snapshot, commands []*disruption.Command) ([]Choice, error) {
	moved, plan := moves(snapshot, commands)
	return Choices(moved, plan)
}

// Homeless returns the pods of the commands' members that need a place and have no planned place. Pods of nodes that emptiness and static
// drift remove need no place. It also returns pods that drift leaves on their nodes: protected pods, and pods that no PodDisruptionBudget
// allows to evict.
func Homeless(snapshot *scheduling.Snapshot, commands []*disruption.Command) []string {
	moved, _ := moves(snapshot, commands)
	placed := podsOf(moved)
	var out []string
	for _, cmd := range commands {
		if cmd.Method == disruption.MethodEmptiness || cmd.Method == disruption.MethodStaticDrift {
			continue
		}
		for i := range cmd.Members {
			for _, pod := range podsAt(snapshot, cmd.Members[i].Node) {
				key := scheduling.PodKey{Namespace: pod.Namespace, Name: pod.Name}
				if slices.Contains(cmd.Members[i].Pods, key) && placed[key] == nil {
					out = append(out, fmt.Sprintf("%s: pod %s of %s has no place in it", cmd, key, cmd.Members[i].Node))
				}
			}
		}
	}
	return out
}

// moves returns the snapshot with additional pending pods: copies of the pods for which the commands plan places. It also returns a plan
// with all nodes that the commands launch, under unique names.
func moves(snapshot *scheduling.Snapshot, commands []*disruption.Command) (*scheduling.Snapshot, *scheduling.Plan) {
	out, plan := *snapshot, &scheduling.Plan{}
	placed := map[scheduling.PodKey]bool{}
	for n, cmd := range commands {
		for i := range cmd.Receivers {
			for _, key := range cmd.Receivers[i].Pods {
				placed[key] = true
			}
		}
		for i := range cmd.Replacements {
			if cmd.Replacements[i].Node == nil {
				continue
			}
			node := *cmd.Replacements[i].Node
			node.Name = fmt.Sprintf("launched-%d-%d", n, i)
			plan.NewNodes = append(plan.NewNodes, node)
			for _, key := range node.Pods {
				placed[key] = true
			}
		}
	}
	out.Pods = nil
	for i := range snapshot.Nodes {
		for _, pod := range snapshot.Nodes[i].Pods {
			if placed[scheduling.PodKey{Namespace: pod.Namespace, Name: pod.Name}] {
				pod = pod.DeepCopy()
				pod.Spec.NodeName, pod.Status = "", corev1.PodStatus{Phase: corev1.PodPending}
				pod.DeletionTimestamp = nil
				out.Pods = append(out.Pods, pod)
			}
		}
	}
	return &out, plan
}

func podsAt(snapshot *scheduling.Snapshot, node string) []*corev1.Pod {
	for i := range snapshot.Nodes {
		if snapshot.Nodes[i].Name == node {
			return snapshot.Nodes[i].Pods
		}
	}
	return nil
}

func promisesOf(node string, pods []scheduling.PodKey) []placement {
	out := make([]placement, len(pods))
	for i, key := range pods {
		out[i] = placement{key, node}
	}
	return out
}

// keep binds the pods to their promised nodes. It tries refused pods again until no more are accepted.
func (s *stage) keep(ctx context.Context, promises []placement) ([]Refusal, error) {
	var refusals []Refusal
	for left := promises; len(left) > 0; {
		var next []placement
		refusals = nil
		for _, p := range left {
			pod, ok := s.pods[p.pod]
			if !ok {
				return nil, fmt.Errorf("pod %s is on no node of the snapshot", p.pod)
			}
			verdicts, err := s.tryBind(ctx, pod, p.node)
			if err != nil {
				return nil, err
			}
			if len(verdicts) == 0 {
				continue
			}
			next = append(next, p)
			for _, v := range verdicts {
				refusals = append(refusals, Refusal{Pod: p.pod, Node: p.node, Option: s.options[p.node].String(), Plugin: v.plugin, Message: v.message})
			}
		}
		if len(next) == len(left) {
			break
		}
		left = next
	}
	return refusals, nil
}

// removeNode removes a node with all its pods.
func (c *cluster) removeNode(name string) error {
	info, ok := c.byName[name]
	if !ok {
		return fmt.Errorf("removing node %q: there is none", name)
	}
	for _, p := range info.GetPods() {
		pod := p.GetPod()
		for i := range pod.Spec.Volumes {
			if claim := claimName(pod, &pod.Spec.Volumes[i]); claim != "" {
				c.claims[pod.Namespace+"/"+claim]--
			}
		}
	}
	delete(c.byName, name)
	c.infos = slices.DeleteFunc(c.infos, func(other fwk.NodeInfo) bool { return other.Node().Name == name })
	return nil
}

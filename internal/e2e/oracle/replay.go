package oracle

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/scheduling"
)

// Refusal says that kube-scheduler would not bind a pod to the node that the plan promises.
type Refusal struct {
	// Pod is the pod that is refused.
	Pod scheduling.PodKey
	// Node is the promised node: the name of a node of the snapshot or of a planned node.
	Node string
	// Option is the option with which the planned node was created. It is empty for a node of the snapshot.
	Option string
	// Plugin is the plugin of kube-scheduler that refuses the pod.
	Plugin string
	// Message is the message of this plugin.
	Message string
}

// String returns the refusal as a sentence.
func (r Refusal) String() string {
	where := r.Node
	if r.Option != "" {
		where += " (" + r.Option + ")"
	}
	return fmt.Sprintf("%s refuses pod %s on %s: %s", r.Plugin, r.Pod, where, r.Message)
}

// Replay binds the plan's pods one after another. The nodes are those of the snapshot and all planned nodes, created as the choice says. It
// binds a pod only if all of kube-scheduler's filter plugins accept it. It returns the refusals. A refused pod is not bound, and the replay
// continues without it. It returns an error if plan and snapshot don't belong together, or if the snapshot contains something that this
// package can't simulate.
//
// It changes neither snapshot nor plan.
func Replay(ctx context.Context, snapshot *scheduling.Snapshot, plan *scheduling.Plan, choice Choice) ([]Refusal, error) {
	s, err := newStage(ctx, snapshot, plan, choice)
	if err != nil {
		return nil, err
	}
	defer s.close()
	return s.play(ctx)
}

// stage is a cluster set up for one replay.
type stage struct {
	snapshot *scheduling.Snapshot
	stock    *stock
	plan     *scheduling.Plan
	judge    *judge
	pods     map[scheduling.PodKey]*corev1.Pod
	// options has the option with which each planned node was created, by the node's name.
	options map[string]Option
	close   context.CancelFunc
}

func newStage(ctx context.Context, snapshot *scheduling.Snapshot, plan *scheduling.Plan, choice Choice) (_ *stage, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer func() {
		if err != nil {
			cancel()
		}
	}()
	c := newCluster()
	j, err := newJudge(ctx, c, snapshot.DefaultTopologySpread)
	if err != nil {
		return nil, err
	}
	s := &stage{snapshot: snapshot, stock: newStock(snapshot), plan: plan, judge: j, pods: podsOf(snapshot), options: map[string]Option{}, close: cancel}
	if err := j.addObjects(snapshot); err != nil {
		return nil, err
	}
	for i := range snapshot.Nodes {
		// A plan is made for the time after the nodes that are being removed have disappeared with their pods. Until then, kube-scheduler
		// may keep pods pending because a topology rule counts the pods on these nodes.
		if snapshot.Nodes[i].Leaving {
			continue
		}
		if err := s.addExisting(&snapshot.Nodes[i]); err != nil {
			return nil, err
		}
	}
	if len(choice.Options) != len(plan.NewNodes) {
		return nil, fmt.Errorf("the choice is for %d nodes, the plan has %d: take it from Choices of the same plan", len(choice.Options), len(plan.NewNodes))
	}
	for i := range plan.NewNodes {
		if err := s.addPlannedNode(&plan.NewNodes[i], choice.Options[i], choice.Label); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// play checks and binds the pods in the plan's order.
func (s *stage) play(ctx context.Context) ([]Refusal, error) {
	var refusals []Refusal
	promises, err := placements(s.plan)
	if err != nil {
		return nil, err
	}
	for _, p := range promises {
		pod, ok := s.pods[p.pod]
		if !ok {
			return nil, fmt.Errorf("the plan places pod %s, which the snapshot does not have", p.pod)
		}
		verdicts, err := s.tryBind(ctx, pod, p.node)
		if err != nil {
			return nil, err
		}
		for _, v := range verdicts {
			refusals = append(refusals, Refusal{Pod: p.pod, Node: p.node, Option: s.options[p.node].String(), Plugin: v.plugin, Message: v.message})
		}
	}
	return refusals, nil
}

// tryBind binds the pod if all plugins accept it on the node. Otherwise it returns the verdicts of the plugins that refuse it.
func (s *stage) tryBind(ctx context.Context, pod *corev1.Pod, node string) ([]verdict, error) {
	if _, planned := s.options[node]; planned {
		if err := s.judge.supplyVolumes(pod, node); err != nil {
			return nil, err
		}
	}
	verdicts, err := s.judge.ask(ctx, pod, node)
	if err != nil || len(verdicts) > 0 {
		return verdicts, err
	}
	if err := s.judge.bindVolumes(pod, node); err != nil {
		return nil, err
	}
	return nil, s.judge.cluster.bind(pod, node)
}

// podsOf returns the snapshot's pending pods, including placeholders, as the API server would store them.
func podsOf(snapshot *scheduling.Snapshot) map[scheduling.PodKey]*corev1.Pod {
	out := make(map[scheduling.PodKey]*corev1.Pod, len(snapshot.Pods))
	for _, list := range [][]*corev1.Pod{snapshot.Pods, snapshot.Placeholders} {
		for _, pod := range list {
			out[scheduling.PodKey{Namespace: pod.Namespace, Name: pod.Name}] = asStored(pod)
		}
	}
	return out
}

// placement is one promise of a plan: a pod and its node.
type placement struct {
	pod  scheduling.PodKey
	node string
}

// placements returns the plan's promises in the order in which pods can be bound. It refuses a plan if Order does not contain each placed
// pod exactly once.
func placements(plan *scheduling.Plan) ([]placement, error) {
	place := map[scheduling.PodKey]string{}
	put := func(node string, pods []scheduling.PodKey) error {
		for _, pod := range pods {
			if other, twice := place[pod]; twice {
				return fmt.Errorf("the plan places pod %s on %s and on %s", pod, other, node)
			}
			place[pod] = node
		}
		return nil
	}
	for i := range plan.Existing {
		if err := put(plan.Existing[i].Name, plan.Existing[i].Pods); err != nil {
			return nil, err
		}
	}
	for i := range plan.NewNodes {
		if err := put(plan.NewNodes[i].Name, plan.NewNodes[i].Pods); err != nil {
			return nil, err
		}
	}
	var out []placement
	for _, pod := range plan.Order {
		node, ok := place[pod]
		if !ok {
			return nil, fmt.Errorf("the plan's order has pod %s twice or without a place", pod)
		}
		delete(place, pod)
		out = append(out, placement{pod, node})
	}
	if len(place) > 0 {
		return nil, fmt.Errorf("the plan's order lacks %d placed pods", len(place))
	}
	return out, nil
}

package judge

import (
	"encoding/json"
	"fmt"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	schedulinghelpers "k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/scheduling"
)

// Judge has a workload and can check any number of plans, one at a time.
type Judge struct {
	s         *scheduling.Snapshot
	resources []corev1.ResourceName
	daemons   []*corev1.Pod
	pools     map[string]*pool
	pods      map[string]*asking
	shapes    map[string]*shape
	bought    []*offer // the result of Judge.offers
}

// asking is a pending pod, with its resource requests and its shape, which has its conditions for nodes.
type asking struct {
	key   string
	pod   *corev1.Pod
	need  amounts
	shape *shape
}

// shape has a pod's conditions for its node. Pods with equal node selector, node affinity and tolerations share one shape.
type shape struct {
	key         string
	affinity    nodeaffinity.RequiredNodeAffinity
	tolerations []corev1.Toleration
}

// New makes a Judge for a workload, which must not change afterwards.
func New(s *scheduling.Snapshot) *Judge {
	j := &Judge{s: s, pools: make(map[string]*pool), pods: make(map[string]*asking, len(s.Pods)), shapes: make(map[string]*shape)}
	for _, set := range s.DaemonSets {
		pod := &corev1.Pod{ObjectMeta: set.Spec.Template.ObjectMeta, Spec: set.Spec.Template.Spec}
		pod.Namespace = set.Namespace
		j.daemons = append(j.daemons, pod)
	}
	j.findResources()
	for i := range s.NodePools {
		j.pools[s.NodePools[i].Object.Name] = j.newPool(&s.NodePools[i])
	}
	for _, pod := range s.Pods {
		a := &asking{key: pod.Namespace + "/" + pod.Name, pod: pod, need: j.requests(pod), shape: j.shapeOf(pod)}
		j.pods[a.key] = a
	}
	return j
}

func (j *Judge) shapeOf(pod *corev1.Pod) *shape {
	parts := struct {
		Selector    map[string]string
		Affinity    *corev1.NodeAffinity
		Tolerations []corev1.Toleration
	}{pod.Spec.NodeSelector, nil, pod.Spec.Tolerations}
	if a := pod.Spec.Affinity; a != nil && a.NodeAffinity != nil && a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution != nil {
		parts.Affinity = &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution}
	}
	text, err := json.Marshal(parts)
	if err != nil { // cannot happen, because plain data can always be encoded
		text = []byte(pod.Namespace + "/" + pod.Name)
	}
	if j.shapes[string(text)] == nil {
		j.shapes[string(text)] = &shape{string(text), nodeaffinity.GetRequiredNodeAffinity(pod), pod.Spec.Tolerations}
	}
	return j.shapes[string(text)]
}

// accepts returns the reason why a pod of the shape can't run on the node, or "" if the pod can run on it.
func (s *shape) accepts(node *corev1.Node) string {
	if match, err := s.affinity.Match(node); err != nil || !match {
		return "node selector or affinity does not match"
	}
	if taint, found := s.untolerated(node); found {
		return "does not tolerate " + taint.ToString()
	}
	return ""
}

func (s *shape) untolerated(node *corev1.Node) (corev1.Taint, bool) {
	return schedulinghelpers.FindMatchingUntoleratedTaint(logr.Discard(), node.Spec.Taints, s.tolerations, func(t *corev1.Taint) bool {
		return t.Effect == corev1.TaintEffectNoSchedule || t.Effect == corev1.TaintEffectNoExecute
	}, false)
}

// runsOn reports whether a DaemonSet with this pod runs on the node.
func (j *Judge) runsOn(pod *corev1.Pod, node *corev1.Node) bool {
	match, err := nodeaffinity.GetRequiredNodeAffinity(pod).Match(node)
	s := shape{tolerations: pod.Spec.Tolerations}
	_, repelled := s.untolerated(node)
	return err == nil && match && !repelled
}

// Check computes the cost of a plan, binds its pods, and returns the Verdict.
func (j *Judge) Check(p *Plan) Verdict {
	v := Verdict{Nodes: len(p.NewNodes), Unschedulable: len(p.Unschedulable)}
	b := newBinding(j)
	used := make(map[string]amounts) // capacity by pool
	for i := range p.NewNodes {
		n := &p.NewNodes[i]
		m, err := j.launch(i, n)
		if err != nil {
			v.Refusals = append(v.Refusals, err.Error())
			b.homeless(n.Pods)
			continue
		}
		if len(n.Pods) == 0 {
			v.Refusals = append(v.Refusals, fmt.Sprintf("node %d is launched for no pod", i))
		}
		v.HourlyCost += m.option.offering.Price
		if used[n.Pool] == nil {
			used[n.Pool] = make(amounts, len(limited()))
		}
		used[n.Pool].add(capacityOf(m.option))
		b.add(m, n.Pods)
	}
	placedOn := make(map[string][]string)
	for _, e := range p.Existing {
		placedOn[e.Name] = append(placedOn[e.Name], e.Pods...)
	}
	for i := range j.s.Nodes {
		n := &j.s.Nodes[i]
		if n.Leaving {
			continue
		}
		b.add(j.standing(n), placedOn[n.Name])
		b.stand(n)
		delete(placedOn, n.Name)
	}
	for name, pods := range placedOn {
		v.Refusals = append(v.Refusals, fmt.Sprintf("node %s is not there, or leaving", name))
		b.homeless(pods)
	}
	v.Refusals = append(v.Refusals, j.overLimits(used)...)
	for _, u := range p.Unschedulable {
		b.leaveOut(u.Pod)
	}
	v.Refusals = append(v.Refusals, b.bind(p.Order)...)
	return v
}

// limited returns the resources for which the limits of pools are checked.
func limited() []corev1.ResourceName {
	return []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory, v1.ResourceNodes}
}

func capacityOf(o *option) amounts {
	cpu, memory := o.it.Capacity[corev1.ResourceCPU], o.it.Capacity[corev1.ResourceMemory]
	if q, replaced := o.offering.Capacity[corev1.ResourceMemory]; replaced {
		memory = q
	}
	return amounts{cpu.MilliValue(), memory.Value(), 1}
}

// overLimits returns a refusal for each pool whose existing and new nodes together exceed the pool's limits.
func (j *Judge) overLimits(used map[string]amounts) []string {
	for i := range j.s.Nodes {
		n := &j.s.Nodes[i]
		if used[n.Pool.Name] == nil || n.Leaving || n.Object == nil {
			continue
		}
		cpu, memory := n.Object.Status.Capacity[corev1.ResourceCPU], n.Object.Status.Capacity[corev1.ResourceMemory]
		used[n.Pool.Name].add(amounts{cpu.MilliValue(), memory.Value(), 1})
	}
	var refusals []string
	for name, sum := range used {
		for i, resource := range limited() {
			limit, stated := j.pools[name].object.Spec.Limits[resource]
			most := limit.Value()
			if resource == corev1.ResourceCPU {
				most = limit.MilliValue()
			}
			if stated && sum[i] > most {
				refusals = append(refusals, fmt.Sprintf("pool %s is over its limit of %s %s", name, limit.String(), resource))
			}
		}
	}
	return refusals
}

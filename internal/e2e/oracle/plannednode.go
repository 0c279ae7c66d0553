package oracle

import (
	"fmt"
	"maps"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/drawknife/drawknife/api/requirements"
	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/scheduling"
)

// addPlannedNode creates a planned node with the option, and with the DaemonSet pods that run on it.
func (s *stage) addPlannedNode(node *scheduling.NewNode, option Option, label int) error {
	pool, _, err := s.stock.of(node)
	if err != nil {
		return err
	}
	object, err := nodeOf(pool, node, option, label)
	if err != nil {
		return err
	}
	s.options[node.Name] = option
	if err := s.judge.cluster.addNode(object); err != nil {
		return err
	}
	if err := s.judge.addVolumeLimits(node.Name, option.Type.VolumeLimits); err != nil {
		return err
	}
	for _, pod := range daemonPods(s.snapshot.DaemonSets, object) {
		if err := s.judge.cluster.bind(pod, object.Name); err != nil {
			return err
		}
	}
	return nil
}

// nodeOf returns the Node object of a planned node after it is initialized. It has no startup taints, and none of the taints that a node
// has until it is ready.
func nodeOf(pool *scheduling.NodePool, node *scheduling.NewNode, option Option, label int) (*corev1.Node, error) {
	labels, err := labelsOf(pool, node, option, label)
	if err != nil {
		return nil, err
	}
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: node.Name, Labels: labels},
		Spec:       corev1.NodeSpec{Taints: pool.Object.Spec.Template.Spec.Taints},
		Status: corev1.NodeStatus{
			Capacity:    option.Type.CapacityOf(option.Offering),
			Allocatable: option.Type.AllocatableOf(option.Offering),
		},
	}, nil
}

// labelsOf returns the node's labels. Labels of type and offering have priority over labels that the claim leaves undecided. If the
// NodeClaim contradicts the labels of type and offering, the pods' selectors will not match the node.
func labelsOf(pool *scheduling.NodePool, node *scheduling.NewNode, option Option, label int) (map[string]string, error) {
	template := &pool.Object.Spec.Template
	out := maps.Clone(template.Labels)
	if out == nil {
		out = map[string]string{}
	}
	out[v1.NodePoolLabelKey] = node.Pool.Name
	if class := template.Spec.NodeClassRef; class.Kind != "" {
		out[requirements.NodeClassLabelKey(class.Group, class.Kind)] = class.Name
	}
	labels := stated(option)
	for r := range labels.All {
		both := r
		if _, ok := only(r); !ok {
			both = r.Intersect(node.Requirements.Get(r.Key()))
		}
		if value, ok := pick(both, label); ok {
			out[r.Key()] = value
		} else {
			delete(out, r.Key())
		}
	}
	for r := range node.Requirements.All {
		if labels.Has(r.Key()) {
			continue
		}
		if _, ok := out[r.Key()]; ok {
			continue
		}
		value, ok := pick(r, label)
		if !ok && r.Operator() != requirements.OpDoesNotExist {
			return nil, fmt.Errorf("node %s: no value satisfies its requirement %s", node.Name, r)
		}
		if ok {
			out[r.Key()] = value
		}
	}
	out[corev1.LabelInstanceTypeStable] = option.Type.Name
	out[v1.NodeRegisteredLabelKey] = "true"
	out[v1.NodeInitializedLabelKey] = "true"
	out[corev1.LabelHostname] = node.Name
	return out, nil
}

// pick returns the n-th value that the requirement allows. After the last value, the count starts again at the first. If any value is
// allowed, it returns a number that the requirement does not exclude.
func pick(r requirements.Requirement, n int) (string, bool) {
	if !r.Complement() {
		values := r.Values()
		if len(values) == 0 {
			return "", false
		}
		return values[n%len(values)], true
	}
	if lower, upper := r.Bounds(); lower == nil && upper == nil {
		for i := n; ; i++ {
			if value := strconv.Itoa(i); r.Has(value) {
				return value, true
			}
		}
	}
	return r.AnyValue()
}

// roomFor returns the room on the node that remains for other pods after DaemonSets.
func roomFor(snapshot *scheduling.Snapshot, pool *scheduling.NodePool, node *scheduling.NewNode, option Option) corev1.ResourceList {
	room := option.Type.AllocatableOf(option.Offering)
	object, err := nodeOf(pool, node, option, 0)
	if err != nil {
		return room // the replay finds and reports the same error
	}
	for _, pod := range daemonPods(snapshot.DaemonSets, object) {
		add(room, scheduling.PodRequests(pod), -1)
	}
	return room
}

package reconcilers

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/drawknife/drawknife/api/option"
	v1 "github.com/drawknife/drawknife/api/v1"
)

// conditionReader reads the conditions of all kinds for events and metrics.
type conditionReader struct {
	client client.Client
	// versions are the API versions of the kinds of node classes.
	versions map[string]string
}

func newConditionReader(c client.Client, classes []client.Object) (*conditionReader, error) {
	r := &conditionReader{client: c, versions: map[string]string{}}
	for i, class := range classes {
		gvk, err := c.GroupVersionKindFor(class)
		if err != nil {
			return nil, &option.Error{Package: "reconcilers", Option: fmt.Sprintf("NodeClasses[%d]", i), Rule: "the manager's scheme must know it: " + err.Error()}
		}
		r.versions[gvk.Kind] = gvk.GroupVersion().String()
	}
	return r, nil
}

// of returns the kind of an object and its conditions. The kind is empty if the object is not reported. Nodes without a pool are not
// reported.
func (r *conditionReader) of(object client.Object) (kind string, conditions []metav1.Condition) {
	switch o := object.(type) {
	case nil:
		return "", nil
	case *v1.NodePool:
		return "NodePool", o.Status.Conditions
	case *v1.NodeClaim:
		return "NodeClaim", o.Status.Conditions
	case *corev1.Node:
		if v1.PoolOf(o.Labels).IsZero() {
			return "", nil
		}
		return "Node", conditionsOfNode(o)
	}
	if len(r.versions) == 0 {
		return "", nil
	}
	gvk, err := r.client.GroupVersionKindFor(object)
	if err != nil || r.versions[gvk.Kind] != gvk.GroupVersion().String() {
		return "", nil
	}
	return gvk.Kind, conditionsOfClass(object)
}

// conditionsOfClass returns the conditions in status.conditions, or none for a kind without this field.
func conditionsOfClass(class client.Object) []metav1.Condition {
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(class)
	if err != nil {
		return nil
	}
	var of struct {
		Conditions []metav1.Condition `json:"conditions"`
	}
	status, _ := fields["status"].(map[string]any)
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(status, &of); err != nil {
		return nil
	}
	return of.Conditions
}

func conditionsOfNode(node *corev1.Node) []metav1.Condition {
	list := make([]metav1.Condition, 0, len(node.Status.Conditions))
	for i := range node.Status.Conditions {
		c := &node.Status.Conditions[i]
		list = append(list, metav1.Condition{
			Type: string(c.Type), Status: metav1.ConditionStatus(c.Status), Reason: c.Reason, Message: c.Message, LastTransitionTime: c.LastTransitionTime,
		})
	}
	return list
}

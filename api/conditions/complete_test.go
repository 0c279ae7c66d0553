package conditions

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Conditions that Karpenter up to 0.36 wrote get a reason; those that have one keep it.
func TestComplete(t *testing.T) {
	list := []metav1.Condition{{Type: "Launched", Status: "True"}, {Type: "Registered", Status: "False", Reason: "NodeNotFound"}}
	if !Incomplete(list) || !Complete(list) {
		t.Error("a condition without a reason is not seen")
	}
	if list[0].Reason != "Launched" || list[1].Reason != "NodeNotFound" {
		t.Errorf("%+v", list)
	}
	if Incomplete(list) || Complete(list) {
		t.Error("complete conditions are completed again")
	}
}

// Conditions that speak of no generation speak of the present one; those that speak of one keep it.
func TestObserve(t *testing.T) {
	list := []metav1.Condition{{Type: "Launched"}, {Type: "Registered", ObservedGeneration: 1}}
	if !Observe(list, 2) || list[0].ObservedGeneration != 2 || list[1].ObservedGeneration != 1 {
		t.Errorf("%+v", list)
	}
	if Observe(list, 3) || Observe([]metav1.Condition{{}}, 0) {
		t.Error("there is nothing to do")
	}
}

package pods_test

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/drawknife/drawknife/scheduling/pods"
)

// Two pods of one budget that lets one go: the second has to wait.
func ExamplePDBTracker() {
	now := time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)
	budgets, err := pods.NewBudgets([]*policyv1.PodDisruptionBudget{{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web"},
		Spec:       policyv1.PodDisruptionBudgetSpec{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}},
		Status:     policyv1.PodDisruptionBudgetStatus{DisruptionsAllowed: 1},
	}})
	if err != nil {
		fmt.Println(err)
		return
	}
	tracker := pods.NewPDBTracker(budgets)
	for _, name := range []string{"web-1", "web-2"} {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, Labels: map[string]string{"app": "web"}}}
		if why := tracker.Take(pod, now); why != nil {
			fmt.Println(why)
			continue
		}
		fmt.Println(name, "may go")
	}
	// Output:
	// web-1 may go
	// pod shop/web-2: disruption budget shop/web allows no disruption now
}

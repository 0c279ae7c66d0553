package conditions_test

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/drawknife/drawknife/api/conditions"
)

// Ready follows the conditions that it depends on.
func ExampleOf() {
	var list []metav1.Condition
	meta := &metav1.ObjectMeta{Name: "default-7xk2p", Generation: 1}
	c := conditions.Of(meta, &list, "Launched", "Registered")
	now := time.Date(2026, 5, 4, 10, 0, 0, 0, time.UTC)

	c.SetTrue("Launched", now)
	fmt.Println(c.Ready().Status)
	c.SetTrue("Registered", now)
	fmt.Println(c.Ready().Status)
	// Output:
	// Unknown
	// True
}

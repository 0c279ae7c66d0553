package nodefacts_test

import (
	"fmt"
	"log"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/scheduling"
	"github.com/drawknife/drawknife/scheduling/nodefacts"
)

// A node with less memory than was estimated: later plans count on what it has.
func Example() {
	book, err := nodefacts.New(nodefacts.DefaultOptions())
	if err != nil {
		log.Fatal(err)
	}
	joined := node("n1", start.Add(-time.Hour), 90*time.Second, map[corev1.ResourceName]string{corev1.ResourceMemory: "15Gi"})
	book.Observe(snapshot(start, []scheduling.Node{joined}...))
	next := snapshot(start.Add(time.Minute))
	book.Apply(next)
	fmt.Println(next.Assumptions[0])
	ready, _ := book.Ready("m", "Class/default")
	fmt.Println("ready after", ready)
	// Output:
	// Learned from 1 nodes of m and Class/default: memory 15Gi, not 16Gi.
	// ready after 1m30s
}

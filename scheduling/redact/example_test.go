package redact_test

import (
	"fmt"
	"os"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/drawknife/drawknife/scheduling"
	"github.com/drawknife/drawknife/scheduling/redact"
)

// What is kept of a pod is what planning reads.
func ExampleStrip() {
	snapshot := &scheduling.Snapshot{Pods: []*corev1.Pod{{
		ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "default"},
		Spec: corev1.PodSpec{
			ServiceAccountName: "web",
			Containers:         []corev1.Container{{Name: "web", Env: []corev1.EnvVar{{Name: "PASSWORD", Value: "hunter2"}}}},
		},
	}}}
	stripped := redact.Strip(snapshot)
	fmt.Println(stripped.Pods[0].Name, len(stripped.Pods[0].Spec.Containers[0].Env))
	if err := stripped.Encode(os.Stdout); err != nil {
		fmt.Println(err)
	}
	// Output:
	// web 0
	// pods:
	// - metadata:
	//     name: web
	//     namespace: default
	//   spec:
	//     containers:
	//     - name: web
	//       resources: {}
	//   status: {}
	// time: "0001-01-01T00:00:00Z"
}

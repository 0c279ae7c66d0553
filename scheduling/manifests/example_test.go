package manifests_test

import (
	"errors"
	"fmt"
	"time"

	"github.com/drawknife/drawknife/scheduling/manifests"
)

func ExampleLoad() {
	source := manifests.Source{Name: "web.yaml", Data: []byte(`
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
spec:
  replicas: 2
  template:
    spec:
      priorityClassName: high
      containers:
      - name: web
        resources:
          limits: {cpu: 500m}
`)}
	result, err := manifests.Load([]manifests.Source{source}, manifests.Options{
		Now: time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, w := range result.Warnings {
		fmt.Println(w)
	}
	for _, pod := range result.Snapshot.Pods {
		fmt.Println(pod.Namespace, pod.Name, pod.Spec.Containers[0].Resources.Requests.Cpu())
	}
	// Output:
	// web.yaml: document 1, line 2: Deployment default/web: PriorityClass "high" is not in the input; its pods get priority 0
	// default web-0 500m
	// default web-1 500m
}

func ExampleLoadError() {
	source := manifests.Source{Name: "pod.yaml", Data: []byte(`
apiVersion: v1
kind: Pod
metadata:
  name: web
spec:
  containers:
  - name: web
    resources:
      requests:
        cpu: 2000
        memory: 512
`)}
	_, err := manifests.Load([]manifests.Source{source}, manifests.Options{})
	var refused *manifests.LoadError
	if errors.As(err, &refused) {
		for _, p := range refused.Problems {
			fmt.Printf("%s:%d: %s: %s\n", p.Source, p.Line, p.Path, p.Message)
		}
	}
	// Output:
	// pod.yaml:11: spec.containers[0].resources.requests[cpu]: 2000 CPUs are more than any node has; did you mean "2000m"?
	// pod.yaml:12: spec.containers[0].resources.requests[memory]: "512" is 512 bytes of memory; did you mean "512Mi"?
}

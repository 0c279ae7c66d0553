package manifests

import (
	"fmt"
	"strings"
	"testing"
)

// podList is a list of n pods as kubectl prints it, each with what a real pod carries along.
func podList(n int) string {
	var b strings.Builder
	b.WriteString("{\n    \"apiVersion\": \"v1\",\n    \"items\": [\n")
	for i := range n {
		if i > 0 {
			b.WriteString(",\n")
		}
		fmt.Fprintf(&b, `        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {
                "labels": {"app": "app-%d", "qos": "LS"},
                "name": "pod-%05d",
                "namespace": "default",
                "ownerReferences": [{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "app-%d", "uid": "%d"}],
                "uid": "uid-%d"
            },
            "spec": {
                "containers": [
                    {
                        "image": "registry.example/app:v1",
                        "name": "main",
                        "resources": {
                            "limits": {"nvidia.com/gpu": "1"},
                            "requests": {"cpu": "%dm", "memory": "%dMi", "nvidia.com/gpu": "1"}
                        }
                    }
                ]
            },
            "status": {
                "conditions": [{"reason": "Unschedulable", "status": "False", "type": "PodScheduled"}],
                "phase": "Pending"
            }
        }`, i%50, i, i%50, i%50, i, 100+i%20*100, 128+i%9*128)
	}
	b.WriteString("\n    ],\n    \"kind\": \"List\",\n    \"metadata\": {\"resourceVersion\": \"\"}\n}\n")
	return b.String()
}

func BenchmarkLoadJSONList(b *testing.B) {
	for _, n := range []int{8152, 20_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			benchmarkLoad(b, podList(n), n)
		})
	}
}

func BenchmarkLoadYAMLList(b *testing.B) {
	const n = 5000
	text := "apiVersion: v1\nitems:\n"
	for i := range n {
		text += fmt.Sprintf("- apiVersion: v1\n  kind: Pod\n  metadata:\n    labels:\n      app: app-%d\n    name: pod-%d\n    namespace: default\n"+
			"  spec:\n    containers:\n    - image: registry.example/app:v1\n      name: main\n      resources:\n        requests:\n"+
			"          cpu: %dm\n          memory: 128Mi\n  status:\n    phase: Pending\n", i%50, i, 100+i)
	}
	benchmarkLoad(b, text+"kind: List\nmetadata:\n  resourceVersion: \"\"\n", n)
}

func BenchmarkLoadDeployments(b *testing.B) {
	const deployments, replicas = 50, 1000
	var text strings.Builder
	for i := range deployments {
		fmt.Fprintf(&text, "---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: app-%d}\nspec:\n  replicas: %d\n"+
			"  selector: {matchLabels: {app: app-%d}}\n  template:\n    metadata: {labels: {app: app-%d}}\n    spec:\n"+
			"      containers: [{name: main, resources: {requests: {cpu: 250m, memory: 512Mi}}}]\n", i, replicas, i, i)
	}
	benchmarkLoad(b, text.String(), deployments*replicas)
}

func benchmarkLoad(b *testing.B, text string, pods int) {
	b.Helper()
	sources := []Source{{Name: "list", Data: []byte(text)}}
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		result, err := Load(sources, onAWS(Options{}))
		if err != nil {
			b.Fatal(err)
		}
		if got := len(result.Snapshot.Pods); got != pods {
			b.Fatalf("%d pods, want %d", got, pods)
		}
	}
}

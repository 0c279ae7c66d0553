package manifests

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/drawknife/drawknife/fake/build"
)

// clusterDump is what kubectl prints of a cluster: nodes with the fields that kubelets report, and 20 running pods on each.
func clusterDump(tb testing.TB, nodes int) []byte {
	tb.Helper()
	var items []any
	for i := range nodes {
		name := fmt.Sprintf("ip-10-0-%d-%d.ec2.internal", i/250, i%250)
		node := build.Node(name, build.CPU("16"), build.Memory("64Gi"), build.Labels(
			corev1.LabelInstanceTypeStable, "m5.4xlarge", corev1.LabelTopologyZone, "us-east-1a", corev1.LabelArchStable, "amd64", corev1.LabelOSStable, "linux",
			corev1.LabelHostname, name, "karpenter.sh/nodepool", "default", "karpenter.sh/capacity-type", "on-demand"))
		node.APIVersion, node.Kind = "v1", "Node"
		for image := range 30 {
			node.Status.Images = append(node.Status.Images, corev1.ContainerImage{Names: []string{fmt.Sprintf("registry.example.com/team-%d/app:v1.%d", image%7, image)}, SizeBytes: int64(1000 * image)})
		}
		items = append(items, node)
		for j := range 20 {
			pod := build.Pod(fmt.Sprintf("web-%d-%d", i, j), build.On(name), build.Labels("app", fmt.Sprintf("web-%d", j), "version", "v1"), build.CPU("250m"), build.Memory("512Mi"),
				build.OwnedBy("apps/v1", "ReplicaSet", fmt.Sprintf("web-%d", j)), build.PodFunc(func(p *corev1.Pod) {
					c := &p.Spec.Containers[0]
					c.Image = "registry.example.com/web:v1"
					for e := range 8 {
						c.Env = append(c.Env, corev1.EnvVar{Name: fmt.Sprintf("SETTING_%d", e), Value: "some value of a setting"})
					}
					c.Resources.Limits = corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("1Gi")}
					c.LivenessProbe = &corev1.Probe{PeriodSeconds: 10, ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: "/healthz"}}}
				}))
			pod.APIVersion, pod.Kind = "v1", "Pod"
			items = append(items, pod)
		}
	}
	text, err := json.MarshalIndent(map[string]any{"apiVersion": "v1", "kind": "List", "metadata": map[string]string{"resourceVersion": ""}, "items": items}, "", "    ")
	if err != nil {
		tb.Fatal(err)
	}
	return text
}

// BenchmarkLoadDump reads the dump of a large cluster, and reports the time as a multiple of what encoding/json takes to decode the same text
// into the same types, and of what it takes to decode it into maps.
func BenchmarkLoadDump(b *testing.B) {
	nodes := 5000
	if testing.Short() {
		nodes = 200
	}
	text := clusterDump(b, nodes)
	b.SetBytes(int64(len(text)))
	var load, typed, maps time.Duration
	for b.Loop() {
		start := time.Now()
		result, err := Load([]Source{{Name: "dump", Data: text}}, onAWS(Options{}))
		load += time.Since(start)
		if err != nil || len(result.Snapshot.Nodes) != nodes {
			b.Fatal(len(result.Snapshot.Nodes), err)
		}
		start = time.Now()
		decodeTyped(b, text)
		typed += time.Since(start)
		start = time.Now()
		var any map[string]any
		if err := json.Unmarshal(text, &any); err != nil {
			b.Fatal(err)
		}
		maps += time.Since(start)
	}
	b.ReportMetric(load.Seconds()/typed.Seconds(), "x-typed")
	b.ReportMetric(load.Seconds()/maps.Seconds(), "x-maps")
}

// decodeTyped decodes a list of nodes and pods in the simplest way: each item twice, first for its kind.
func decodeTyped(b *testing.B, text []byte) {
	b.Helper()
	var list struct{ Items []json.RawMessage }
	if err := json.Unmarshal(text, &list); err != nil {
		b.Fatal(err)
	}
	for _, item := range list.Items {
		var head struct{ Kind string }
		if err := json.Unmarshal(item, &head); err != nil {
			b.Fatal(err)
		}
		var into any = &corev1.Pod{}
		if head.Kind == "Node" {
			into = &corev1.Node{}
		}
		if err := json.Unmarshal(item, into); err != nil {
			b.Fatal(err)
		}
	}
}

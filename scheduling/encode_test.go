package scheduling_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/scheduling"
)

func encodings() map[string]func(*scheduling.Snapshot, *bytes.Buffer) error {
	return map[string]func(*scheduling.Snapshot, *bytes.Buffer) error{
		"YAML": func(s *scheduling.Snapshot, b *bytes.Buffer) error { return s.Encode(b) },
		"JSON": func(s *scheduling.Snapshot, b *bytes.Buffer) error { return s.EncodeJSON(b) },
	}
}

// fullCluster has something in every field that planning reads.
func fullCluster() *scheduling.Snapshot {
	set := daemonSet("d", []string{"cpu=100m"}, required(in(archKey, "amd64")))
	inFlight := claimNode()
	inFlight.Name, inFlight.Object = "claim", nil
	return cluster(
		nodePool("default", weight(3), limit("cpu=100", "nodes=7"), poolLabel("team", "a"), poolNeeds("stage", opExists), poolTaints("x=y:PreferNoSchedule")),
		nodePool("default", bornIn(v1.GenerationV1Alpha5), startupTaints("s=:NoExecute")),
		set, node("n", bound(pod("d-1", ownedBy(set), requests("cpu=100m")), pod("a"))), inFlight,
		node("old", func(n *scheduling.Node) { n.Leaving = true }),
		pods("p", 9), pods("q", 4, requests("cpu=1500m", "memory=3Gi"), selector("stage=prod"), preferred(3, in(zoneKey, "b"))),
		pod("never", requests("cpu=99")), pod("typo", requests("cpu=-1")),
	)
}

// A snapshot that was saved reproduces the decision byte for byte, in either form.
func TestReplay(t *testing.T) {
	s := fullCluster()
	want := text(t, solve(t, s))
	for name, encode := range encodings() {
		t.Run(name, func(t *testing.T) {
			var first, second bytes.Buffer
			if err := encode(s, &first); err != nil {
				t.Fatal(err)
			}
			back, err := scheduling.DecodeSnapshot(bytes.NewReader(first.Bytes()))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, text(t, solve(t, back))); diff != "" {
				t.Errorf("plan (-original +replayed):\n%s", diff)
			}
			if err := encode(back, &second); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(first.String(), second.String()); diff != "" {
				t.Errorf("encoding (-first +second):\n%s", diff)
			}
		})
	}
}

// Amounts that Kubernetes writes in more than one way replay alike: 3,000,000 bytes are 3M once they were read.
func TestReplayOfOddAmounts(t *testing.T) {
	it := typeOf("odd", 1, "cpu=4")
	it.Capacity[corev1.ResourceMemory] = *resource.NewQuantity(3_000_000, resource.BinarySI)
	it.Capacity["example.com/gpu"] = *resource.NewQuantity(4096, resource.BinarySI)
	s := cluster(it, pod("p", requests("cpu=0.5", "memory=1000", "example.com/gpu=1024")))
	want := text(t, solve(t, s))
	for name, encode := range encodings() {
		var b bytes.Buffer
		if err := encode(s, &b); err != nil {
			t.Fatal(err)
		}
		back, err := scheduling.DecodeSnapshot(&b)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, text(t, solve(t, back))); diff != "" {
			t.Errorf("%s: plan (-original +replayed):\n%s", name, diff)
		}
	}
}

func TestDecodeSnapshotRefuses(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"an unknown field in JSON", `{"time":"2026-01-01T00:00:00Z","pots":[]}`, "pots"},
		{"an unknown field in YAML", "time: 2026-01-01T00:00:00Z\npots: []\n", "pots"},
		{"an unknown field of an object", `{"time":"2026-01-01T00:00:00Z","pods":[{"metadata":{"name":"p"},"spec":{"container":[]}}]}`, "container"},
		{"the same field twice in YAML", "time: 2026-01-01T00:00:00Z\npods: []\npods: []\n", "pods"},
		{"something after the JSON", `{"time":"2026-01-01T00:00:00Z"} {"pods":[]}`, ""},
		{"a second YAML document", "time: 2026-01-01T00:00:00Z\n---\npods: []\n", ""},
		{"no document at all", "", ""},
		{"half a document", `{"time":"2026-01-01T00:00:00Z","pods":[`, ""},
		{"a list", "- a\n", ""},
		{"a manifest", "apiVersion: apps/v1\nkind: Deployment\n---\napiVersion: v1\nkind: Pod\n", "holds Kubernetes objects (the first is a Deployment)"},
		{"a list of objects in JSON", `{"apiVersion":"v1","kind":"List","items":[]}`, "holds Kubernetes objects (the first is a List)"},
		{"a line too long to be parsed", "pods:\n- metadata: {name: " + strings.Repeat("x", 9<<20) + "}\n", "is longer than 8388608 bytes"},
		{"a text too long to be parsed", `{"pods":[{"metadata":{"name":"\"` + strings.Repeat("x", 9<<20) + `"}}]}`, "is longer than 8388608 bytes"},
		{"a requirement that can't be read", `{"time":"2026-01-01T00:00:00Z","catalogs":{"c":[{"name":"t","requirements":[{"key":"k","operator":"Almost"}]}]}}`, "Almost"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := scheduling.DecodeSnapshot(strings.NewReader(c.text))
			if err == nil {
				t.Fatal("was read")
			}
			if !strings.Contains(err.Error(), c.want) {
				t.Errorf("%q does not name %q", err, c.want)
			}
		})
	}
}

// A cost model has no such texts either, and JSON may be one long line of short ones.
func TestLongTexts(t *testing.T) {
	for _, text := range []string{`{"terms":[{"name":"` + strings.Repeat("x", 9<<20) + `"}]}`, "terms:\n- name: " + strings.Repeat("x", 9<<20) + "\n"} {
		if _, err := scheduling.DecodeCostModel(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), "is longer than 8388608 bytes") {
			t.Errorf("%.20s: %v", text, err)
		}
	}
	text := `{"namespaces":[` + strings.Repeat(`{"metadata":{"name":"a\\"}},`, 400_000) + `{"metadata":{"name":"b"}}]}`
	if snapshot, err := scheduling.DecodeSnapshot(strings.NewReader(text)); err != nil || len(snapshot.Namespaces) != 400_001 {
		t.Errorf("%d bytes in one line: %v", len(text), err)
	}
}

// A pool without a key is one of the current generation with its object's name; a key that is given stays.
func TestDecodeFillsPoolKeys(t *testing.T) {
	s, err := scheduling.DecodeSnapshot(strings.NewReader(`
time: 2026-01-01T00:00:00Z
nodePools:
- object: {metadata: {name: a}, spec: {template: {spec: {requirements: [], nodeClassRef: {group: g, kind: K, name: n}}}}}
- key: {generation: v1alpha5, name: a}
  object: {metadata: {name: a}, spec: {template: {spec: {requirements: [], nodeClassRef: {group: g, kind: K, name: n}}}}}
`))
	if err != nil {
		t.Fatal(err)
	}
	got := []v1.PoolKey{s.NodePools[0].Key, s.NodePools[1].Key}
	if diff := cmp.Diff([]v1.PoolKey{v1.NewPoolKey("a"), {Generation: v1.GenerationV1Alpha5, Name: "a"}}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// FuzzDecodeSnapshot: whatever is read never panics, on the way in, in Compile, or on the way out; and what was read
// once is written the same way from then on.
func FuzzDecodeSnapshot(f *testing.F) {
	for _, encode := range encodings() {
		var b bytes.Buffer
		if err := encode(fullCluster(), &b); err != nil {
			f.Fatal(err)
		}
		f.Add(b.Bytes())
	}
	for _, text := range []string{
		"", "{}", "null", "[]", "time: 2026-01-01T00:00:00Z", "pods: [null]", "nodes: [{name: n, object: null, claim: null}]",
		"daemonSets: [null]", "nodes: [{name: n, object: {}, pods: [null]}]", "catalogs: {a: [null]}", "nodePools: [{key: {name: x}}]",
		"nodePools: [{object: {metadata: {name: a}, spec: {limits: {cpu: -1}}}}]", "pods: [{spec: {containers: [{resources: {requests: {cpu: 1e99}}}]}}]",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := scheduling.DecodeSnapshot(bytes.NewReader(data))
		if err != nil {
			return
		}
		_, _ = scheduling.Compile(s)
		var first, second bytes.Buffer
		if err := s.EncodeJSON(&first); err != nil {
			t.Fatalf("what was read can't be written: %v", err)
		}
		back, err := scheduling.DecodeSnapshot(bytes.NewReader(first.Bytes()))
		if err != nil {
			t.Fatalf("what was written can't be read: %v\n%s", err, first.Bytes())
		}
		if err := back.EncodeJSON(&second); err != nil {
			t.Fatal(err)
		}
		// Quantities may be written in another form after the first reading, then no more.
		third, err := scheduling.DecodeSnapshot(bytes.NewReader(second.Bytes()))
		if err != nil {
			t.Fatal(err)
		}
		var last bytes.Buffer
		if err := third.EncodeJSON(&last); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(second.Bytes(), last.Bytes()) {
			t.Errorf("encoding is not stable:\n%s\n%s", second.Bytes(), last.Bytes())
		}
	})
}

// A quantity that takes minutes to read is refused at once, in JSON and in YAML.
func TestDecodeSnapshotBoundsQuantities(t *testing.T) {
	for name, text := range map[string]string{
		"YAML": "pods:\n- metadata: {name: a}\n  spec: {containers: [{name: c, resources: {requests: {cpu: \"1e-999999999\"}}}]}\n",
		"JSON": `{"pods":[{"metadata":{"name":"a"},"Spec":{"containers":[{"name":"c","resources":{"requests":{"cpu":"1e-999999999"}}}]}}]}`,
	} {
		_, err := scheduling.DecodeSnapshot(strings.NewReader(text))
		if err == nil || !strings.Contains(err.Error(), "pec.containers[0].resources.requests[cpu]") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := scheduling.DecodeSnapshot(nil); err == nil {
		t.Error("read from nothing")
	}
}

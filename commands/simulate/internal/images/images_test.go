package images

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/drawknife/drawknife/scheduling"
)

func TestRead(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want Known
	}{
		"lists":      {"nginx: [arm64, amd64]\nghcr.io/a/b:1.0: [amd64]", Known{"docker.io/library/nginx:latest": {"amd64", "arm64"}, "ghcr.io/a/b:1.0": {"amd64"}}},
		"an index":   {`{"a/b:2": {"schemaVersion": 2, "manifests": [{"digest": "x", "platform": {"architecture": "amd64", "os": "linux"}}, {"platform": {"architecture": "unknown", "os": "unknown"}}, {"platform": {"architecture": "arm64", "os": "linux", "variant": "v8"}}]}}`, Known{"docker.io/a/b:2": {"amd64", "arm64"}}},
		"one by one": {`{"a": ["amd64"]}` + "\n" + `{"b": {"architecture": "arm64"}, "a": ["arm64"]}`, Known{"docker.io/library/a:latest": {"arm64"}, "docker.io/library/b:latest": {"arm64"}}},
		"nothing":    {"", Known{}},
		"long names": {`{"localhost:5000/x": ["amd64"], "index.docker.io/library/y:1@sha256:0a": ["amd64"], "z@sha256:0b": ["amd64"]}`, Known{"localhost:5000/x:latest": {"amd64"}, "docker.io/library/y@sha256:0a": {"amd64"}, "docker.io/library/z@sha256:0b": {"amd64"}}},
	} {
		got, err := Read(strings.NewReader(c.text))
		if diff := cmp.Diff(c.want, got); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got):\n%s", name, err, diff)
		}
	}
	for name, text := range map[string]string{
		"no mapping": "[1]", "broken": "{\"a\":", "a number": "a: 1", "of one platform": `{"a": {"config": {}, "layers": []}}`, "no architecture": "a: [AMD 64]", "long": "a: [" + strings.Repeat("x", 64) + "]",
	} {
		if got, err := Read(strings.NewReader(text)); err == nil {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func FuzzRead(f *testing.F) {
	for _, text := range []string{"nginx: [amd64]", `{"a": {"manifests": [{"platform": {"architecture": "arm64"}}]}}{"b": ["x"]}`, "&a [*a]", `{"a":`, "a@b:c/d@: [q]"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		known, err := Read(strings.NewReader(text))
		if err != nil {
			return
		}
		for image, list := range known {
			if len(list) == 0 || normal(image) != image {
				t.Errorf("%q: %v, normalised %q", image, list, normal(image))
			}
		}
	})
}

func pod(name string, change func(*corev1.Pod)) *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "both"}}}}
	if change != nil {
		change(p)
	}
	return p
}

func TestRestrict(t *testing.T) {
	known := Known{normal("both"): {"amd64", "arm64"}, normal("intel"): {"amd64"}, normal("arm"): {"arm64"}}
	in := func(values ...string) corev1.NodeSelectorRequirement {
		return corev1.NodeSelectorRequirement{Key: corev1.LabelArchStable, Operator: corev1.NodeSelectorOpIn, Values: values}
	}
	zone := corev1.NodeSelectorRequirement{Key: "zone", Operator: corev1.NodeSelectorOpExists}
	withTerms := func(terms ...corev1.NodeSelectorTerm) *corev1.Affinity {
		return &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: terms}}}
	}
	term := func(list ...corev1.NodeSelectorRequirement) corev1.NodeSelectorTerm {
		return corev1.NodeSelectorTerm{MatchExpressions: list}
	}
	for name, c := range map[string]struct {
		change func(*corev1.Pod)
		want   []corev1.NodeSelectorTerm
	}{
		"known":     {nil, []corev1.NodeSelectorTerm{term(in("amd64", "arm64"))}},
		"not known": {func(p *corev1.Pod) { p.Spec.Containers[0].Image = "other" }, nil},
		"no image":  {func(p *corev1.Pod) { p.Spec.Containers[0].Image = "" }, nil},
		"common to two containers": {func(p *corev1.Pod) {
			p.Spec.InitContainers = []corev1.Container{{Image: "intel"}, {Image: "other"}}
		}, []corev1.NodeSelectorTerm{term(in("amd64"))}},
		"an annotation": {func(p *corev1.Pod) { p.Annotations = map[string]string{Annotation: "s390x, amd64"} }, []corev1.NodeSelectorTerm{term(in("amd64", "s390x"))}},
		"with terms of its own": {func(p *corev1.Pod) { p.Spec.Affinity = withTerms(term(zone), corev1.NodeSelectorTerm{}) },
			[]corev1.NodeSelectorTerm{term(zone, in("amd64", "arm64")), {}}},
	} {
		before := pod("p", c.change)
		kept := before.DeepCopy()
		snapshot := &scheduling.Snapshot{Pods: []*corev1.Pod{before}, Nodes: []scheduling.Node{{Name: "n", Pods: []*corev1.Pod{before}}}}
		got, err := Restrict(snapshot, known)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range []*corev1.Pod{got.Pods[0], got.Nodes[0].Pods[0]} {
			if diff := cmp.Diff(c.want, requiredTerms(p)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", name, diff)
			}
		}
		if diff := cmp.Diff(kept, before); diff != "" || snapshot.Pods[0] != before {
			t.Errorf("%s: the input was changed:\n%s", name, diff)
		}
	}

	_, err := Restrict(&scheduling.Snapshot{Pods: []*corev1.Pod{pod("p", func(p *corev1.Pod) {
		p.Spec.Containers = append(p.Spec.Containers, corev1.Container{Image: "intel"}, corev1.Container{Image: "arm"})
	})}}, known)
	var conflict *ConflictError
	if !errors.As(err, &conflict) || conflict.Pod != "ns/p" || conflict.Image != "arm" {
		t.Errorf("%v", err)
	}
	if _, err := Restrict(&scheduling.Snapshot{Pods: []*corev1.Pod{pod("p", func(p *corev1.Pod) { p.Annotations = map[string]string{Annotation: "AMD 64"} })}}, nil); err == nil {
		t.Error("a bad annotation is taken")
	}
	if got, err := Restrict(&scheduling.Snapshot{}, nil); err != nil || got == nil {
		t.Errorf("%v, %v", got, err)
	}
}

// Pods of one template are looked at once, and share what they get.
func TestRestrictTemplates(t *testing.T) {
	owners, containers := []metav1.OwnerReference{{Name: "web"}}, []corev1.Container{{Image: "intel"}}
	snapshot := &scheduling.Snapshot{}
	for range 3 {
		snapshot.Pods = append(snapshot.Pods, pod("p", func(p *corev1.Pod) { p.OwnerReferences, p.Spec.Containers = owners, containers }))
	}
	got, err := Restrict(snapshot, Known{normal("intel"): {"amd64"}})
	if err != nil {
		t.Fatal(err)
	}
	if got.Pods[0].Spec.Affinity == nil || got.Pods[0].Spec.Affinity != got.Pods[2].Spec.Affinity {
		t.Error("pods of one template do not share their affinity")
	}
}

func TestStated(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*corev1.Pod)
		want   bool
	}{
		"nothing":    {nil, false},
		"a selector": {func(p *corev1.Pod) { p.Spec.NodeSelector = map[string]string{corev1.LabelArchStable: "arm64"} }, true},
		"an affinity": {func(p *corev1.Pod) {
			p.Spec.Affinity = withArchitectures(p, []string{"amd64"})
		}, true},
	} {
		if got := Stated(pod("p", c.change)); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

package likeness_test

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/drawknife/drawknife/fake/build"
	"github.com/drawknife/drawknife/internal/engine/likeness"
)

func pod(name string, changes ...func(*corev1.Pod)) *corev1.Pod {
	p := build.Pod(name, build.CPU("1"), build.Labels("app", "w"))
	for _, change := range changes {
		change(p)
	}
	return p
}

// Pods are of one pattern if nothing but name and age differs, and the oldest stands for them.
func TestPatterns(t *testing.T) {
	old := pod("old", func(p *corev1.Pod) { p.CreationTimestamp = metav1.NewTime(time.Unix(1, 0)) })
	young := pod("young", func(p *corev1.Pod) { p.CreationTimestamp = metav1.NewTime(time.Unix(2, 0)) })
	for name, c := range map[string]struct {
		change func(*corev1.Pod)
		alike  bool
	}{
		"another name": {func(*corev1.Pod) {}, true},
		"the same amount": {func(p *corev1.Pod) {
			p.Spec.Containers[0].Resources.Requests[corev1.ResourceCPU] = resource.MustParse("1000m")
		}, true},
		"a limit": {func(p *corev1.Pod) { p.Spec.Containers[0].Image = "other" }, true},
		"more memory": {func(p *corev1.Pod) {
			p.Spec.Containers[0].Resources.Requests[corev1.ResourceMemory] = resource.MustParse("1")
		}, false},
		"a resource, none": {func(p *corev1.Pod) {
			p.Spec.Containers[0].Resources.Requests["example.com/gpu"] = resource.MustParse("0")
		}, false},
		"another label": {func(p *corev1.Pod) { p.Labels["app"] = "v" }, false},
		"a selector":    {func(p *corev1.Pod) { p.Spec.NodeSelector = map[string]string{"zone": "a"} }, false},
		"a host port":   {func(p *corev1.Pod) { p.Spec.Containers[0].Ports = []corev1.ContainerPort{{HostPort: 80}} }, false},
		"a nomination":  {func(p *corev1.Pod) { p.Status.NominatedNodeName = "n" }, false},
		"a claim": {func(p *corev1.Pod) {
			p.Spec.Volumes = []corev1.Volume{{VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "c"}}}}
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			r := likeness.NewRoster(3, 0, nil, false)
			for _, p := range []*corev1.Pod{young, pod("other", c.change), old} {
				if !r.Add(p, false) {
					t.Fatalf("%s is listed already", p.Name)
				}
			}
			if alike := r.Like[1] == r.Like[0]; alike != c.alike || r.Like[2] != r.Like[0] {
				t.Errorf("patterns %v, want alike %v", r.Like, c.alike)
			}
			if first := r.Patterns[r.Like[2]].First; !c.alike && first != old {
				t.Errorf("%s stands for the pods, want the oldest", first.Name)
			}
			if r.Add(pod("old"), false) {
				t.Error("a second pod of one name is listed")
			}
		})
	}
}

// The roster has pods of nodes after those that wait, and yields those with claims, bound ones first.
func TestRosterIsOrdered(t *testing.T) {
	claimed := func(p *corev1.Pod) {
		p.Spec.Volumes = []corev1.Volume{{VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: p.Name}}}}
	}
	r := likeness.NewRoster(2, 1, []int{0, 2}, false)
	for i, p := range []*corev1.Pod{pod("a", claimed), pod("b"), pod("placeholder"), pod("c"), pod("d", claimed)} {
		r.Add(p, i == 2)
	}
	var spans []likeness.Span
	for _, s := range r.OfNodes {
		spans = append(spans, s)
	}
	if len(spans) != 2 || spans[0] != (likeness.Span{From: 3, To: 3}) || spans[1] != (likeness.Span{From: 3, To: 5}) {
		t.Errorf("pods of nodes are at %v", spans)
	}
	var names string
	for p, bound := range r.Claimants {
		names += p.Name
		if bound {
			names += "*"
		}
	}
	if names != "d*a" {
		t.Errorf("with claims are %q, want d*a", names)
	}
}

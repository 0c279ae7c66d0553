package scheduling_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/drawknife/drawknife/internal/seeded"
	"github.com/drawknife/drawknife/scheduling"
)

// evolve is a snapshot a moment later: little has changed, and what has not is the very same.
func evolve(t *rapid.T, s *scheduling.Snapshot, moment int) *scheduling.Snapshot {
	o := *s
	o.Time = s.Time.Add(time.Second)
	o.Nodes, o.Pods, o.Placeholders = slices.Clone(s.Nodes), slices.Clone(s.Pods), slices.Clone(s.Placeholders)
	o.PersistentVolumeClaims, o.PersistentVolumes = slices.Clip(s.PersistentVolumeClaims), slices.Clip(s.PersistentVolumes)
	for i := range number(t, 1, 4) {
		name := fmt.Sprintf("new-%d-%d", moment, i)
		node := -1
		if len(o.Nodes) > 0 {
			node = draw(t, len(o.Nodes))
		}
		switch what := draw(t, 20); {
		case what == 0 && len(o.Pods) > 0 && node >= 0: // bound
			p := take(t, &o.Pods).DeepCopy()
			p.Spec.NodeName = o.Nodes[node].Name
			o.Nodes[node].Pods = append(slices.Clone(o.Nodes[node].Pods), p)
		case what == 1 && len(o.Pods) > 0:
			take(t, &o.Pods)
		case what <= 4: // another of a kind that is there
			if like := anyPodOf(t, &o); like != nil {
				p := like.DeepCopy()
				p.Name = name
				p.CreationTimestamp = metav1.NewTime(o.Time.Add(time.Duration(number(t, -2, 2)) * time.Hour))
				p.Spec.NodeName = ""
				if _, owned := scheduling.DaemonOf(p); owned || chance(t, 5) && node >= 0 {
					if node < 0 {
						continue
					}
					p.Spec.NodeName = o.Nodes[node].Name
					o.Nodes[node].Pods = append(slices.Clone(o.Nodes[node].Pods), p)
				} else {
					o.Pods = append(o.Pods, p)
				}
			}
		case what == 5 && node >= 0 && len(o.Nodes[node].Pods) > 0: // gone
			pods := slices.Clone(o.Nodes[node].Pods)
			take(t, &pods)
			o.Nodes[node].Pods = pods
		case what == 6 && node >= 0 && len(o.Nodes[node].Pods) > 0: // told to go, or ended
			pods := slices.Clone(o.Nodes[node].Pods)
			p := take(t, &pods).DeepCopy()
			if chance(t, 5) {
				p.DeletionTimestamp = &metav1.Time{Time: o.Time}
			} else {
				p.Status.Phase = corev1.PodSucceeded
			}
			o.Nodes[node].Pods = append(pods, p)
		case what == 7 && node >= 0 && o.Nodes[node].Object != nil: // heartbeat, cordon or label
			object := o.Nodes[node].Object.DeepCopy()
			switch draw(t, 3) {
			case 0:
				object.Spec.Unschedulable = !object.Spec.Unschedulable
			case 1:
				object.Labels[zoneKey] = oneOf(t, "a", "b", "c")
			}
			o.Nodes[node].Object = object
		case what == 8 && node >= 0:
			o.Nodes[node].Leaving = !o.Nodes[node].Leaving
		case what == 9 && node >= 0:
			o.Nodes = slices.Delete(o.Nodes, node, node+1)
		case what == 10 && node >= 0: // one more of the kind
			n := o.Nodes[node]
			n.Name, n.Pods = name, nil
			o.Nodes = append(o.Nodes, n)
		case what == 11 && len(o.NodePools) > 0: // its status changed
			o.NodePools = slices.Clone(o.NodePools)
			p := &o.NodePools[draw(t, len(o.NodePools))]
			object := p.Object.DeepCopy()
			object.Status.Resources = corev1.ResourceList{}
			p.Object = object
		case what == 12 && len(o.DaemonSets) > 0:
			o.DaemonSets = slices.Clone(o.DaemonSets)
			at := draw(t, len(o.DaemonSets))
			set := o.DaemonSets[at].DeepCopy()
			set.Status.NumberReady++
			o.DaemonSets[at] = set
		case what == 13:
			o.Pods = append(o.Pods, pod(name, randomSpec(t)...)) // of a new kind
		case what >= 15 && what <= 16: // of a new kind, with rules about pods that are there, and volumes
			options := ruled(t, oneOf(t, "k0", "k1", name), randomSpec(t))
			if chance(t, 2) {
				options = append(options, namespace(oneOf(t, "default", "other", name)))
			}
			for j := range number(t, 1, 3) {
				p := pod(fmt.Sprint(name, "-", j), options...)
				runs := node >= 0 && chance(t, 3)
				if runs {
					p.Spec.NodeName = o.Nodes[node].Name
					o.Nodes[node].Pods = append(slices.Clone(o.Nodes[node].Pods), p)
				} else {
					o.Pods = append(o.Pods, p)
				}
				if chance(t, 9) {
					makeClaims(&o, p, runs)
				}
			}
		case what == 17: // all of a kind go, as when a Deployment is deleted
			if like := anyPodOf(t, &o); like != nil {
				same := func(p *corev1.Pod) bool { return p.Labels["app"] == like.Labels["app"] }
				o.Pods = slices.DeleteFunc(o.Pods, same)
				for j := range o.Nodes {
					o.Nodes[j].Pods = slices.DeleteFunc(slices.Clone(o.Nodes[j].Pods), same)
				}
			}
		case what == 18 && len(o.PersistentVolumeClaims) > 0: // bound, or being deleted
			o.PersistentVolumeClaims = slices.Clone(o.PersistentVolumeClaims)
			at := draw(t, len(o.PersistentVolumeClaims))
			claim := o.PersistentVolumeClaims[at].DeepCopy()
			if claim.Spec.VolumeName != "" || chance(t, 3) {
				claim.DeletionTimestamp = &metav1.Time{Time: o.Time}
			} else {
				pv := &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: "late-" + claim.Name}}
				pv.Spec.CSI = &corev1.CSIPersistentVolumeSource{Driver: driverName, VolumeHandle: "late-" + claim.Name}
				claim.Spec.VolumeName = pv.Name
				claim.Annotations = map[string]string{"pv.kubernetes.io/bind-completed": "yes"}
				o.PersistentVolumes = append(slices.Clone(o.PersistentVolumes), pv)
			}
			o.PersistentVolumeClaims[at] = claim
		case what == 19:
			o.Namespaces = append(slices.Clone(o.Namespaces), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: oneOf(t, "other", name), Labels: map[string]string{"tier": "x"}}})
		case what == 14 && chance(t, 5):
			if like := anyPodOf(t, &o); like != nil {
				p := like.DeepCopy()
				p.Name, p.Spec.NodeName = name, ""
				o.Placeholders = append(o.Placeholders, p)
			}
		case what == 14 && len(o.Placeholders) > 0:
			take(t, &o.Placeholders)
		}
	}
	return &o
}

func take(t *rapid.T, list *[]*corev1.Pod) *corev1.Pod {
	at := draw(t, len(*list))
	p := (*list)[at]
	*list = slices.Delete(*list, at, at+1)
	return p
}

func anyPodOf(t *rapid.T, s *scheduling.Snapshot) *corev1.Pod {
	all := slices.Clone(s.Pods)
	for i := range s.Nodes {
		all = append(all, s.Nodes[i].Pods...)
	}
	if len(all) == 0 {
		return nil
	}
	return oneOf(t, all...)
}

// generated gives the objects of a snapshot what the API server would.
func generated(s *scheduling.Snapshot) *scheduling.Snapshot {
	for i, p := range s.NodePools {
		p.Object.UID, p.Object.Generation = types.UID(fmt.Sprint("pool-", i)), 1
	}
	for _, d := range s.DaemonSets {
		d.Generation = 1
	}
	return s
}

// A chain of updates gives, at each step, the model that compiling gives: part by part, and plan by plan. Most steps need no
// compiling.
func TestChainOfUpdatesEqualsCompile(t *testing.T) {
	inPlace, steps := 0, 0
	seeded.Check(t, func(t *rapid.T) {
		s := generated(randomRuledSnapshot(t))
		model, err := scheduling.Compile(s)
		if err != nil {
			t.Skip("a snapshot that is refused")
		}
		for moment := range number(t, 2, 8) {
			s = evolve(t, s, moment)
			next := scheduling.UpdateInPlace(model, s)
			if steps++; next != nil {
				inPlace++
			} else if next, err = model.Update(s); err != nil {
				t.Fatal(err)
			}
			model = next
			want, err := scheduling.Compile(s)
			if err != nil {
				t.Fatal(err)
			}
			if parts := scheduling.ModelDifferences(model, want); len(parts) > 0 {
				t.Fatalf("the updated model differs in %v", parts)
			}
			if chance(t, 2) {
				if diff := cmp.Diff(text(t, solvedBy(t, want)), text(t, solvedBy(t, model))); diff != "" {
					t.Fatalf("(-Compile +Update):\n%s", diff)
				}
			}
		}
	})
	if inPlace*2 < steps {
		t.Errorf("%d of %d steps were made without compiling: too few to prove anything", inPlace, steps)
	} else {
		t.Logf("%d of %d steps were made without compiling", inPlace, steps)
	}
}

// What Compile refuses, Update refuses too, also when it has a model to go by.
func TestUpdateRefusesWhatCompileRefuses(t *testing.T) {
	start := cluster(node("n", bound(pod("a"))), nodePool("p"), pod("w"), pod("v"))
	for name, spoil := range map[string]func(*scheduling.Snapshot){
		"pod twice":        func(s *scheduling.Snapshot) { s.Pods = append(slices.Clone(s.Pods), pod("w")) },
		"pod on two nodes": func(s *scheduling.Snapshot) { s.Nodes = append(slices.Clone(s.Nodes), node("o", bound(pod("a")))) },
		"null pod":         func(s *scheduling.Snapshot) { s.Pods = append(slices.Clone(s.Pods), nil) },
		"node twice":       func(s *scheduling.Snapshot) { s.Nodes = append(slices.Clone(s.Nodes), node("n")) },
		"new node twice":   func(s *scheduling.Snapshot) { s.Nodes = append(slices.Clone(s.Nodes), node("o"), node("o")) },
		"nameless node":    func(s *scheduling.Snapshot) { s.Nodes = append(slices.Clone(s.Nodes), node("")) },
		"node of nothing":  func(s *scheduling.Snapshot) { s.Nodes = append(slices.Clone(s.Nodes), scheduling.Node{Name: "o"}) },
		"absurd node": func(s *scheduling.Snapshot) {
			s.Nodes = append(slices.Clone(s.Nodes), node("o", allocatable("cpu=1e99")))
		},
		"null daemon set":     func(s *scheduling.Snapshot) { s.DaemonSets = []*appsv1.DaemonSet{nil} },
		"null service":        func(s *scheduling.Snapshot) { s.Services = []*corev1.Service{nil} },
		"pool without object": func(s *scheduling.Snapshot) { s.NodePools = []scheduling.NodePool{{}} },
	} {
		model, err := scheduling.Compile(start)
		if err != nil {
			t.Fatal(err)
		}
		same := *start
		if model, err = model.Update(&same); err != nil { // from here on it has something to go by
			t.Fatal(err)
		}
		spoilt := *start
		spoil(&spoilt)
		_, want := scheduling.Compile(&spoilt)
		if _, got := model.Update(&spoilt); want == nil || got == nil || got.Error() != want.Error() {
			t.Errorf("%s: Update says %v, Compile %v", name, got, want)
		}
	}
	model, _ := scheduling.Compile(start)
	if _, err := model.Update(nil); err == nil {
		t.Error("a nil snapshot is taken")
	}
}

// Models that were updated once can be updated again, and to something else.
func TestUpdateTwiceFromOneModel(t *testing.T) {
	start := cluster(node("n", allocatable("cpu=4", "memory=8Gi")), nodePool("p"), pod("w", requests("cpu=1")), catalogue())
	model, err := scheduling.Compile(start)
	if err != nil {
		t.Fatal(err)
	}
	same := *start
	if model, err = model.Update(&same); err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		more := *start
		more.Pods = append(slices.Clone(start.Pods), pods("more", i, requests("cpu=1"))...)
		next, err := model.Update(&more)
		if err != nil {
			t.Fatal(err)
		}
		want, err := scheduling.Compile(&more)
		if err != nil {
			t.Fatal(err)
		}
		if parts := scheduling.ModelDifferences(next, want); len(parts) > 0 {
			t.Errorf("update %d of one model differs in %v", i, parts)
		}
	}
}

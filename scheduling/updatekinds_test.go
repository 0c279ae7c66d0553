package scheduling_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	"github.com/drawknife/drawknife/internal/seeded"
	"github.com/drawknife/drawknife/scheduling"
)

// strangers is a snapshot a moment later, with pods and nodes that have something that was nowhere before: of the names of
// moment, so that most are of one moment alone, and some come again.
func strangers(t *rapid.T, s *scheduling.Snapshot, moment int) *scheduling.Snapshot {
	o := *s
	o.Time = s.Time.Add(time.Second)
	o.Nodes, o.Pods, o.DaemonSets = slices.Clone(s.Nodes), slices.Clone(s.Pods), slices.Clone(s.DaemonSets)
	o.PersistentVolumeClaims, o.PersistentVolumes = slices.Clip(s.PersistentVolumeClaims), slices.Clip(s.PersistentVolumes)
	for i := range number(t, 1, 4) {
		turn := moment
		if chance(t, 3) {
			turn = draw(t, 3) // what was there some moments ago
		}
		name, thing := fmt.Sprintf("stranger-%d-%d", moment, i), fmt.Sprintf("example.com/thing-%d", turn)
		node := -1
		if len(o.Nodes) > 0 {
			node = draw(t, len(o.Nodes))
		}
		options := randomSpec(t)
		own := matching("app", fmt.Sprint("stranger-", turn))
		switch draw(t, 13) {
		case 0: // a node selector that no pod had, and a node that has the label
			options = append(options, selector(thing+"=x"))
			if node >= 0 && o.Nodes[node].Object != nil {
				object := o.Nodes[node].Object.DeepCopy()
				object.Labels[thing] = oneOf(t, "x", "y")
				o.Nodes[node].Object = object
			}
		case 1: // a label that rules read that none read before
			options = append(options, label(thing, "x"), apart(corev1.PodAffinityTerm{TopologyKey: oneOf(t, zoneKey, corev1.LabelHostname), LabelSelector: matching(thing, "x")}))
		case 2: // a topology key
			options = append(options, spreadOver(corev1.TopologySpreadConstraint{TopologyKey: thing, MaxSkew: 1, LabelSelector: own, WhenUnsatisfiable: oneOf(t, corev1.DoNotSchedule, corev1.ScheduleAnyway)}))
			for j := range o.Nodes {
				if o.Nodes[j].Object != nil && chance(t, 4) {
					object := o.Nodes[j].Object.DeepCopy()
					object.Labels[thing] = oneOf(t, "x", "y")
					o.Nodes[j].Object = object
				}
			}
		case 3: // a port, on one address or on all
			options = append(options, func(p *corev1.Pod) {
				p.Spec.Containers[0].Ports = []corev1.ContainerPort{{HostPort: int32(9000 + turn), HostIP: oneOf(t, "", "", "10.0.0.1", "10.0.0.2")}}
			})
		case 4: // a toleration, and a node with the taint
			options = append(options, tolerates(toleration(thing, corev1.TolerationOpExists, "", "")))
			if node >= 0 && o.Nodes[node].Object != nil {
				object := o.Nodes[node].Object.DeepCopy()
				object.Spec.Taints = append(object.Spec.Taints, corev1.Taint{Key: thing, Effect: oneOf(t, corev1.TaintEffectNoSchedule, corev1.TaintEffectPreferNoSchedule)})
				o.Nodes[node].Object = object
			}
		case 5: // a resource, which the node has perhaps
			options = append(options, requests("cpu=100m", thing+"="+oneOf(t, "0", "1")))
			if node >= 0 && o.Nodes[node].Object != nil && chance(t, 5) {
				object := o.Nodes[node].Object.DeepCopy()
				object.Status.Allocatable = object.Status.Allocatable.DeepCopy()
				object.Status.Allocatable[corev1.ResourceName(thing)] = object.Status.Allocatable[corev1.ResourcePods]
				o.Nodes[node].Object = object
			}
		case 6: // a disk that the pod names
			options = append(options, func(p *corev1.Pod) {
				v := corev1.Volume{Name: "disk"}
				switch draw(t, 3) {
				case 0:
					v.ISCSI = &corev1.ISCSIVolumeSource{IQN: thing, ReadOnly: chance(t, 5)}
				case 1:
					v.NFS = &corev1.NFSVolumeSource{Server: "s", Path: "/"}
				case 2:
					v.AWSElasticBlockStore = &corev1.AWSElasticBlockStoreVolumeSource{VolumeID: fmt.Sprint("vol-", turn)}
				}
				p.Spec.Volumes = append(p.Spec.Volumes, v)
			})
		case 7: // a DaemonSet
			set := &appsv1.DaemonSet{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}}
			set.Spec.Template.Labels = map[string]string{"app": name}
			set.Spec.Template.Spec = pod("template", requests("cpu=10m")).Spec
			o.DaemonSets = append(o.DaemonSets, set)
		case 8: // a priority and a nomination
			options = append(options, func(p *corev1.Pod) {
				priority := int32(100 + turn)
				p.Spec.Priority = &priority
				if node >= 0 && chance(t, 5) {
					p.Status.NominatedNodeName = o.Nodes[node].Name
				}
			})
		case 9: // a node goes, with its pods or without
			if node >= 0 {
				pods := o.Nodes[node].Pods
				o.Nodes = slices.Delete(o.Nodes, node, node+1)
				if chance(t, 5) {
					for _, p := range pods {
						if _, daemon := scheduling.DaemonOf(p); !daemon {
							p = p.DeepCopy()
							p.Name, p.Spec.NodeName = p.Name+"-again-"+fmt.Sprint(moment, "-", i), ""
							o.Pods = append(o.Pods, p)
						}
					}
				}
			}
			continue
		case 10: // strangers of before go
			gone := func(p *corev1.Pod) bool { return p.Labels["app"] == fmt.Sprint("stranger-", turn) }
			o.Pods = slices.DeleteFunc(o.Pods, gone)
			for j := range o.Nodes {
				if slices.ContainsFunc(o.Nodes[j].Pods, gone) {
					o.Nodes[j].Pods = slices.DeleteFunc(slices.Clone(o.Nodes[j].Pods), gone)
				}
			}
			continue
		}
		options = append(options, label("app", fmt.Sprint("stranger-", turn)))
		for j := range number(t, 1, 3) {
			p := pod(fmt.Sprint(name, "-", j), options...)
			runs := node >= 0 && node < len(o.Nodes) && chance(t, 3)
			if runs {
				p.Spec.NodeName = o.Nodes[node].Name
				o.Nodes[node].Pods = append(slices.Clone(o.Nodes[node].Pods), p)
			} else {
				o.Pods = append(o.Pods, p)
			}
			if chance(t, 3) {
				volume("waits", false, "")(p)
				makeClaims(&o, p, runs)
			}
		}
	}
	return &o
}

// Whatever comes that was nowhere before, a model after any series of updates is the one that compiling gives, and plans alike;
// the models before it plan what they planned.
func TestUpdatesWithStrangersEqualCompile(t *testing.T) {
	inPlace, steps := 0, 0
	seeded.Times(t, seeded.Draws(40, 100), func(t *rapid.T) {
		s := generated(randomRuledSnapshot(t))
		model, err := scheduling.Compile(s)
		if err != nil {
			t.Skip("a snapshot that is refused")
		}
		first, before := model, ""
		for moment := range number(t, 3, 8) {
			if chance(t, 3) {
				s = evolve(t, s, moment)
			} else {
				s = strangers(t, s, moment)
			}
			if moment == 2 {
				first, before = model, text(t, solvedBy(t, model))
			}
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
		}
		want, err := scheduling.Compile(s)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(text(t, solvedBy(t, want)), text(t, solvedBy(t, model))); diff != "" {
			t.Fatalf("(-Compile +Update):\n%s", diff)
		}
		if diff := cmp.Diff(before, text(t, solvedBy(t, first))); before != "" && diff != "" {
			t.Fatalf("a model that was updated since plans otherwise (-before +now):\n%s", diff)
		}
	})
	if inPlace*3 < steps {
		t.Errorf("%d of %d steps were made without compiling: too few to prove anything", inPlace, steps)
	} else {
		t.Logf("%d of %d steps were made without compiling", inPlace, steps)
	}
}

// Models are used while later ones are made of them.
func TestModelsAreUsedWhileTheyAreUpdated(t *testing.T) {
	seeded.Times(t, seeded.Draws(25, 100), func(t *rapid.T) {
		s := generated(randomRuledSnapshot(t))
		model, err := scheduling.Compile(s)
		if err != nil {
			t.Skip("a snapshot that is refused")
		}
		var wait sync.WaitGroup
		var models []*scheduling.Model
		var plans [][2]*scheduling.Plan
		for moment := range 4 {
			models, plans = append(models, model), append(plans, [2]*scheduling.Plan{})
			for k := range 2 {
				wait.Go(func() { plans[moment][k], _ = models[moment].Solve(t.Context(), scheduling.Query{}) })
			}
			s = strangers(t, s, moment)
			if model, err = model.Update(s); err != nil {
				t.Fatal(err)
			}
			wait.Wait()
		}
		for i, p := range plans {
			if p[0] == nil || p[1] == nil {
				t.Fatalf("model %d has no plan", i)
			}
			want := text(t, p[0])
			if again := text(t, p[1]); again != want {
				t.Fatalf("two plans of model %d differ:\n%s", i, cmp.Diff(want, again))
			}
			if again := text(t, solvedBy(t, models[i])); again != want {
				t.Fatalf("model %d plans otherwise after updates:\n%s", i, cmp.Diff(want, again))
			}
		}
	})
}

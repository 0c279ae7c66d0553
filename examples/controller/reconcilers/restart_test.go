package reconcilers

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/api/v1alpha5"
	"github.com/drawknife/drawknife/disruption"
	"github.com/drawknife/drawknife/fake"
)

// errDead is what a process that has ended gets to see.
var errDead = errors.New("the process has ended")

// byProcess reports whether the object is one that reconcilers write, not the cloud, a kubelet or the test.
func byProcess(verb string, o client.Object) bool {
	switch o.(type) {
	case *v1.NodeClaim, *v1.NodePool:
		return verb != "created"
	case *corev1.Node:
		return verb == "patch" || verb == "delete"
	}
	return false
}

// replaced runs a cluster in which one drifted node is replaced, by a process that ends at its dies-th write, which is the last
// that gets through; 0 never. It returns how many writes there were, and what was not as it has to be.
func replaced(t *testing.T, dies int, change func(*Options)) (writes int) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, change)
		_, claim := w.settledNode(newPod("a"))
		w.change("default", func(p *v1.NodePool) {
			p.Spec.Template.Labels = map[string]string{"team": "blue"}
			p.Spec.Disruption.ConsolidateAfter = v1.Never()
		})
		launchedBy := "" // the command that the first replacement was launched for
		w.faults = func(verb string, o client.Object) error {
			if !byProcess(verb, o) {
				return nil
			}
			if writes++; dies > 0 && writes > dies {
				return errDead
			}
			if claim, ok := o.(*v1.NodeClaim); ok && verb == "create" && launchedBy == "" {
				if r, err := disruption.RecordOf(claim); err == nil && r != nil {
					launchedBy = r.ID
				}
			}
			return nil
		}
		restarted := dies == 0
		most := 0
		for range 120 {
			w.disrupt(1)
			if !restarted && writes > dies {
				restarted, w.faults = true, nil
				w.start(change) // another process begins
			}
			most = max(most, len(w.allClaims()))
			if old := get(w, &v1.NodeClaim{}, claim.Name); old != nil && old.DeletionTimestamp != nil && get(w, &corev1.Pod{}, "a") != nil {
				w.delete(newPod("a")) // it is evicted, and runs elsewhere
			}
		}
		claims, nodes := w.allClaims(), w.allNodes()
		if len(claims) != 1 || len(nodes) != 1 || claims[0].UID == claim.UID || claims[0].Labels["team"] != "blue" {
			t.Fatalf("died at write %d: %d claims and %d nodes, want the replacement alone", dies, len(claims), len(nodes))
		}
		if calls := w.cloud.Calls(fake.MethodCreate); calls > 3 || most > 2 {
			t.Errorf("died at write %d: %d launches, %d claims at one time; want a node, its replacement, and another in its stead at most", dies, calls, most)
		}
		running := 0
		for _, i := range w.cloud.Instances() {
			if i.Phase == fake.Running {
				running++
			}
		}
		if running != 1 {
			t.Errorf("died at write %d: %d instances run", dies, running)
		}
		if v1.DisruptionMarked(nodes[0]) || claims[0].Annotations[v1.DisruptionCommandAnnotationKey] != "" || claims[0].Conditions().IsTrue(v1.ConditionDisruptionReason) {
			t.Errorf("died at write %d: a command left %v on node, %v on claim", dies, nodes[0].Spec.Taints, claims[0].Annotations)
		}
		if _, copied := nodes[0].Annotations[v1.DisruptionCommandAnnotationKey]; copied {
			t.Error("the node bears the record of a command")
		}
		history, err := disruption.HistoryOf(get(w, &v1.NodePool{}, "default"))
		if err != nil || len(history) != 1 || !strings.Contains(fmt.Sprint(history[0].Owners), "uid-web") {
			t.Fatalf("died at write %d: history %+v, %v; want the one disruption", dies, history, err)
		}
		if launchedBy != "" && history[0].Command != launchedBy {
			t.Errorf("died at write %d: the replacement was launched for command %s, and %s was carried out", dies, launchedBy, history[0].Command)
		}
	})
	return writes
}

// DIS-073, DIS-184, DIS-196: a process that ends at any of its writes while it replaces a node is followed by one that goes on with
// the command or takes it back: the node is replaced, nothing is left, and no machine is launched in vain beyond the one taken back.
func TestProcessEndsAtEveryWrite(t *testing.T) {
	for name, change := range map[string]func(*Options){"reference": asKarpenter, "global": nil} {
		t.Run(name, func(t *testing.T) {
			writes := replaced(t, 0, change)
			if writes < 15 {
				t.Fatalf("%d writes: there is nothing to die at", writes)
			}
			stride := 1
			if testing.Short() {
				stride = 4
			}
			for dies := 1; dies < writes; dies += stride {
				replaced(t, dies, change)
			}
		})
	}
}

// DIS-196: a process whose cache does not show yet what the one before it wrote last waits until it does, for a while: by less than all that
// is there it would take back commands that go on, and leave their last replacement to come up for nothing.
func TestNothingIsAdoptedFromAnOldView(t *testing.T) {
	for _, shows := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, asKarpenter)
			_, claim := w.settledNode(newPod("a"))
			w.change("default", func(p *v1.NodePool) {
				p.Spec.Template.Labels = map[string]string{"team": "blue"}
				p.Spec.Disruption.ConsolidateAfter = v1.Never()
			})
			for range 60 {
				if w.disrupt(1); len(w.allClaims()) == 2 {
					break
				}
			}
			var replacement *v1.NodeClaim
			for _, c := range w.allClaims() {
				if c.UID != claim.UID {
					replacement = c
				}
			}
			w.start(asKarpenter)
			old := replacement.DeepCopy()
			old.ResourceVersion = "" // it counts whatever was seen before
			delete(old.Annotations, v1.DisruptionCommandAnnotationKey)
			w.feed.notify(replacement, old) // what the API has is yet to be shown
			pass := func() {
				t.Helper()
				if _, _, err := w.disruptor.pass(t.Context()); err != nil {
					t.Fatal(err)
				}
				w.disruptor.advance(t.Context())
			}
			pass()
			if len(w.disruptor.running) != 0 {
				t.Fatal("a command was adopted without its replacement")
			}
			if shows {
				w.feed.notify(old, replacement)
			} else {
				time.Sleep(adoptionPatience)
			}
			pass()
			if len(w.disruptor.running) != 1 {
				t.Fatalf("shown %v: %d commands are adopted", shows, len(w.disruptor.running))
			}
			for _, run := range w.disruptor.running {
				if state := run.execution.State(); (state == disruption.StateUndoing) == shows {
					t.Errorf("shown %v: %s", shows, state)
				}
			}
		})
	}
}

// API-220: commands and histories of the first generation are kept on its own objects, Machines and Provisioners.
func TestCommandsOfFirstGenerationAreKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newFirstWorld(t, nil)
		w.create(wanting(newPod("old"), v1alpha5.ProvisionerNameLabelKey, "default"))
		w.plan()
		w.live(8)
		claim := w.machine()
		pool := newProvisioner("default").Key()
		record := &disruption.Record{ID: "x", Role: disruption.RoleMember, Method: disruption.MethodDrift, Reason: disruption.ReasonDrifted, Members: 1}
		for _, e := range []disruption.Effect{
			disruption.WriteRecord{Claim: claim.Name, UID: claim.UID, Record: record.String()},
			disruption.NoteDisruptions{Disruptions: []disruption.Disruption{{Node: "n", Command: "x", Time: time.Now(), Reason: disruption.ReasonDrifted, Pool: pool}}},
		} {
			if err := w.disruptor.effect(t.Context(), nil, e); err != nil {
				t.Fatal(err)
			}
		}
		if r, err := disruption.RecordOf(w.machine()); err != nil || r == nil || *r != *record {
			t.Errorf("on the Machine: %+v, %v", r, err)
		}
		stored := &v1alpha5.Provisioner{}
		if err := w.client.Get(t.Context(), client.ObjectKey{Name: "default"}, stored); err != nil || stored.Annotations[v1.DisruptionHistoryAnnotationKey] == "" {
			t.Errorf("the Provisioner has annotations %v, %v", stored.Annotations, err)
		}
		history, err := disruption.HistoryOf(get(w, &v1.NodePool{}, "v1alpha5/default"))
		if err != nil || len(history) != 1 || history[0].Pool != pool {
			t.Errorf("history %+v, %v", history, err)
		}
		if err := w.disruptor.effect(t.Context(), nil, disruption.ClearRecord{Claim: claim.Name, UID: claim.UID}); err != nil {
			t.Fatal(err)
		}
		if r, _ := disruption.RecordOf(w.machine()); r != nil {
			t.Errorf("it stays on the Machine: %+v", r)
		}
	})
}

package reconcilers

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/disruption"
	"github.com/drawknife/drawknife/scheduling"
)

const approvalNamespace = "kube-system"

// asksApproval has commands wait as ConfigMaps for ten minutes.
func asksApproval(o *Options) {
	asKarpenter(o)
	o.Disruption.ApprovalNamespace = approvalNamespace
	o.Disruption.Approval.Wait = new(10 * time.Minute)
}

// proposals are the ConfigMaps of commands.
func (w *world) proposals() []corev1.ConfigMap {
	w.t.Helper()
	list := &corev1.ConfigMapList{}
	if err := w.client.List(w.t.Context(), list, client.InNamespace(approvalNamespace), client.HasLabels{ApprovalStateLabelKey}); err != nil {
		w.t.Fatal(err)
	}
	return list.Items
}

// proposal is the only one, in that state.
func (w *world) proposal(state ApprovalState) *corev1.ConfigMap {
	w.t.Helper()
	list := w.proposals()
	if len(list) != 1 || list[0].Labels[ApprovalStateLabelKey] != string(state) {
		w.t.Fatalf("ConfigMaps %v, want one that is %s", list, state)
	}
	return &list[0]
}

// annotate does as kubectl annotate.
func (w *world) annotate(object *corev1.ConfigMap, pairs ...string) {
	w.t.Helper()
	want := object.DeepCopy()
	for i := 0; i < len(pairs); i += 2 {
		want.Annotations[pairs[i]] = pairs[i+1]
	}
	if err := w.client.Patch(w.t.Context(), want, client.MergeFrom(object)); err != nil {
		w.t.Fatal(err)
	}
}

// approve approves of what waits.
func (w *world) approve(object *corev1.ConfigMap) {
	w.t.Helper()
	w.annotate(object, ApprovedAnnotationKey, object.Annotations[ApprovalDigestAnnotationKey], DecidedByAnnotationKey, "ann")
}

// emptied is a world with an empty node whose removal waits for approval.
func emptied(t *testing.T, change func(*Options)) (*world, *corev1.Node) {
	t.Helper()
	w := newWorld(t, change)
	node, _ := w.settledNode(newPod("a"))
	w.delete(newPod("a"))
	w.disrupt(30)
	return w, node
}

// untouched reports whether nothing was done to the node.
func (w *world) untouched(node *corev1.Node) bool {
	n := get(w, &corev1.Node{}, node.Name)
	return n != nil && !hasTaint(n, v1.DisruptedTaint()) && n.DeletionTimestamp == nil
}

// A command waits as a ConfigMap that says what it does, and how to approve; approved it is carried out, and the ConfigMap says so for
// an hour.
func TestApprovalByConfigMap(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, registry := measured(t, asksApproval)
		node, claim := w.settledNode(newPod("a"))
		w.delete(newPod("a"))
		w.disrupt(120)
		object := w.proposal(ApprovalWaiting)
		digest := object.Annotations[ApprovalDigestAnnotationKey]
		if !w.untouched(node) || object.Name != "drawknife-disruption-"+digest || len(digest) != 32 {
			t.Fatalf("node untouched %v, ConfigMap %s of %s", w.untouched(node), object.Name, digest)
		}
		var d ApprovalDocument
		if err := yaml.UnmarshalStrict([]byte(object.Data[ApprovalCommandKey]), &d); err != nil {
			t.Fatal(err)
		}
		if d.APIVersion != ApprovalDocumentVersion || d.Kind != ApprovalDocumentKind || d.Digest != digest || d.Decision != "delete" || d.Reason != "Empty" || d.Savings <= 0 ||
			len(d.Nodes) != 1 || d.Nodes[0].Name != node.Name || d.Nodes[0].NodeClaim != claim.Name || !strings.Contains(object.Data[ApprovalSummaryKey], node.Name) {
			t.Errorf("it says %s\n%s", object.Data[ApprovalSummaryKey], object.Data[ApprovalCommandKey])
		}
		hint := fmt.Sprintf("kubectl annotate configmap -n %s %s %s=%s", approvalNamespace, object.Name, ApprovedAnnotationKey, digest)
		if told := w.events("DisruptionAwaitingApproval Node/" + node.Name); len(told) == 0 || !strings.Contains(told[len(told)-1], hint) {
			t.Errorf("events %q, want %q", told, hint)
		}
		if n := gathered(t, registry)["karpenter_voluntary_disruption_commands_awaiting_approval{}"]; n != 1 {
			t.Errorf("%v commands wait, says the metric", n)
		}
		w.annotate(object, ApprovedAnnotationKey, "something-else")
		w.disrupt(20)
		if !w.untouched(node) {
			t.Fatal("another digest was taken for approval")
		}
		w.approve(w.proposal(ApprovalWaiting))
		w.disrupt(60)
		if claims := w.allClaims(); len(claims) != 0 {
			t.Errorf("approved, and %d claims are left", len(claims))
		}
		w.proposal(ApprovalDone)
		all := gathered(t, registry)
		if all["karpenter_voluntary_disruption_approvals_total{decision=approved}"] != 1 || all["karpenter_voluntary_disruption_commands_awaiting_approval{}"] != 0 {
			t.Errorf("metrics: %v", all)
		}
		time.Sleep(90 * time.Minute)
		w.disrupt(1)
		if list := w.proposals(); len(list) != 0 {
			t.Errorf("%d ConfigMaps are kept", len(list))
		}
	})
}

// What is refused, not approved in time or deleted is left alone for a while, and then proposed again with another chance.
func TestApprovalIsNotGiven(t *testing.T) {
	for name, c := range map[string]struct {
		decide func(*world, *corev1.ConfigMap)
		rests  time.Duration
		state  ApprovalState
		says   string
	}{
		"refused": {func(w *world, o *corev1.ConfigMap) {
			w.annotate(o, RefusedAnnotationKey, "release today", DecidedByAnnotationKey, "ann", ApprovedAnnotationKey, o.Annotations[ApprovalDigestAnnotationKey])
		}, 10 * time.Minute, ApprovalRefused, "by ann: release today"},
		"expired": {func(w *world, _ *corev1.ConfigMap) {
			time.Sleep(9 * time.Minute)
			w.disrupt(60)
		}, 15 * time.Minute, ApprovalExpired, "nobody approved of it within 10m0s"},
		"approved too late, while no process looked": {func(w *world, o *corev1.ConfigMap) {
			time.Sleep(11 * time.Minute)
			w.approve(o)
		}, 15 * time.Minute, ApprovalExpired, "nobody approved of it within 10m0s"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w, node := emptied(t, asksApproval)
				first := w.proposal(ApprovalWaiting)
				c.decide(w, first)
				w.disrupt(10)
				object := w.proposal(c.state)
				if !strings.Contains(object.Annotations[ApprovalOutcomeAnnotationKey], c.says) || !w.untouched(node) {
					t.Errorf("untouched %v; it says %q, want %q", w.untouched(node), object.Annotations[ApprovalOutcomeAnnotationKey], c.says)
				}
				w.start(asksApproval) // another process leaves it alone as long
				w.disrupt(30)
				time.Sleep(c.rests - 3*time.Minute)
				w.proposal(c.state)
				w.disrupt(10)
				w.proposal(c.state)
				time.Sleep(4 * time.Minute)
				w.disrupt(30)
				again := w.proposal(ApprovalWaiting)
				if again.UID == first.UID || again.Annotations[ApprovalDigestAnnotationKey] != first.Annotations[ApprovalDigestAnnotationKey] {
					t.Errorf("proposed again as %s %s, before as %s", again.Name, again.UID, first.UID)
				}
				w.approve(again)
				w.disrupt(60)
				if w.untouched(node) {
					t.Error("it was approved in the end")
				}
			})
		})
	}
}

// A refusal that is too long to be repeated on the ConfigMap is cut off there: its state is stored all the same.
func TestApprovalOfManyWords(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, node := emptied(t, asksApproval)
		w.faults = func(verb string, o client.Object) error {
			if object, is := o.(*corev1.ConfigMap); is && verb == "patch" {
				size := 0
				for key, value := range object.Annotations {
					size += len(key) + len(value)
				}
				if size > 256<<10 { // as the API server does
					return errors.New("metadata.annotations: Too long: may not be more than 262144 bytes")
				}
			}
			return nil
		}
		w.annotate(w.proposal(ApprovalWaiting), RefusedAnnotationKey, strings.Repeat("no, ", 50_000))
		w.disrupt(10)
		object := w.proposal(ApprovalRefused)
		if why := object.Annotations[ApprovalOutcomeAnnotationKey]; !strings.Contains(why, "no, no, ") || len(why) > 2000 || !w.untouched(node) {
			t.Errorf("untouched %v, it says %d characters", w.untouched(node), len(why))
		}
	})
}

// An outcome that can't be stored keeps neither those of others from being stored nor other ConfigMaps from being looked over.
func TestApprovalsOneByOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, asksApproval)
		a := w.disruptor.approvals
		for i, name := range []string{"a", "b", "c"} {
			object, err := a.object(&disruption.Command{ID: name, Members: []disruption.Member{{Node: name}}}, name, time.Now().Add(-2*approvalKept))
			if err != nil {
				t.Fatal(err)
			}
			w.create(object)
			if i < 2 {
				a.unsaved[name] = approvalOutcome{state: ApprovalDone, uid: object.UID}
			}
		}
		w.faults = func(verb string, o client.Object) error {
			if o.GetName() == approvalPrefix+"a" {
				return errors.New("not this one")
			}
			return nil
		}
		for range 3 { // they are looked at in any order
			time.Sleep(approvalSweep)
			if err := a.sweep(t.Context()); err == nil || !strings.Contains(err.Error(), "not this one") {
				t.Errorf("the error is %v", err)
			}
			if _, left := a.unsaved["b"]; left {
				t.Error("the outcome of another is not stored")
			}
		}
		if list := w.proposals(); len(list) != 1 || list[0].Name != approvalPrefix+"a" {
			t.Errorf("%d ConfigMaps are left whose time is over", len(list))
		}
	})
}

// An approved command that a later process goes on with has its outcome stored, too.
func TestApprovalOfAnAdoptedCommand(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, asksApproval)
		_, claim := w.settledNode(newPod("a"))
		w.change("default", func(p *v1.NodePool) {
			p.Spec.Template.Labels = map[string]string{"team": "blue"}
			p.Spec.Disruption.ConsolidateAfter = v1.Never()
		})
		w.disrupt(60)
		w.approve(w.proposal(ApprovalWaiting))
		for range 60 {
			if w.disrupt(1); len(w.allClaims()) == 2 {
				break
			}
		}
		w.proposal(ApprovalApproved)
		w.start(asksApproval)
		w.disrupt(30)
		if old := get(w, &v1.NodeClaim{}, claim.Name); old != nil && old.DeletionTimestamp == nil {
			t.Fatal("the command did not go on")
		}
		w.proposal(ApprovalDone)
	})
}

func TestApprovalConfigMapIsDeleted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, node := emptied(t, asksApproval)
		if err := w.client.Delete(t.Context(), w.proposal(ApprovalWaiting)); err != nil {
			t.Fatal(err)
		}
		w.disrupt(60)
		if !w.untouched(node) || len(w.proposals()) != 0 {
			t.Errorf("untouched %v, proposed %d times", w.untouched(node), len(w.proposals()))
		}
		time.Sleep(10 * time.Minute)
		w.disrupt(20)
		w.proposal(ApprovalWaiting)
	})
}

// A process that begins finds what was proposed, and what was approved while no process was there.
func TestApprovalOutlivesProcess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, node := emptied(t, asksApproval)
		before := w.proposal(ApprovalWaiting)
		w.start(asksApproval)
		w.disrupt(60)
		if after := w.proposal(ApprovalWaiting); after.UID != before.UID || after.Annotations[ApprovalDeadlineAnnotationKey] != before.Annotations[ApprovalDeadlineAnnotationKey] || !w.untouched(node) {
			t.Errorf("after a restart %+v, before %+v", after.ObjectMeta, before.ObjectMeta)
		}
		w.approve(before)
		w.start(asksApproval)
		w.disrupt(60)
		if w.untouched(node) {
			t.Error("approved before the process began, and nothing happens")
		}
		w.proposal(ApprovalDone)
	})
}

// A standby that has run for long finds what the leader before it proposed, and what was approved since, as one that has just begun.
func TestApprovalOutlivesLeader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		forAnHour := func(o *Options) {
			asksApproval(o)
			o.Disruption.Approval.Wait = new(time.Hour)
		}
		w := newWorld(t, forAnHour)
		leader := w.wiring
		w.start(forAnHour)
		standby := w.wiring
		time.Sleep(2 * unplannedAfter)
		w.wiring = leader
		node, _ := w.settledNode(newPod("a"))
		w.delete(newPod("a"))
		w.disrupt(30)
		before := w.proposal(ApprovalWaiting)
		w.approve(before)
		w.wiring = standby
		clear(w.known)
		w.disrupt(60)
		if w.untouched(node) {
			t.Error("approved before the standby led, and nothing happens")
		}
		if after := w.proposal(ApprovalDone); after.UID != before.UID {
			t.Error("it was proposed again")
		}
	})
}

// Nobody can change what others are shown: ConfigMaps are immutable, and one that is not is made again, approved or not.
func TestApprovalOfWhatIsShown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, node := emptied(t, asksApproval)
		shown := w.proposal(ApprovalWaiting)
		if shown.Immutable == nil || !*shown.Immutable {
			t.Error("what is shown can be changed")
		}
		forged := shown.DeepCopy()
		forged.ResourceVersion, forged.UID, forged.Immutable = "", "", nil
		forged.Data[ApprovalSummaryKey] = "nothing of importance"
		forged.Annotations[ApprovedAnnotationKey] = forged.Annotations[ApprovalDigestAnnotationKey]
		w.delete(shown)
		w.create(forged)
		w.start(asksApproval)
		w.disrupt(60)
		if again := w.proposal(ApprovalWaiting); again.Data[ApprovalSummaryKey] != shown.Data[ApprovalSummaryKey] || !w.untouched(node) {
			t.Errorf("node untouched %v, shown is %q", w.untouched(node), again.Data[ApprovalSummaryKey])
		}
	})
}

// An approval that comes after the fleet has moved on has no effect: the command is void, and what is planned instead asks again.
func TestApprovalOfYesterday(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, asksApproval)
		node, claim := w.settledNode(newPod("a"))
		w.change("default", func(p *v1.NodePool) {
			p.Spec.Template.Labels = map[string]string{"team": "blue"}
			p.Spec.Disruption.ConsolidateAfter = v1.Never()
		})
		w.disrupt(60)
		object := w.proposal(ApprovalWaiting)
		late := newPod("b")
		late.Spec.NodeName = node.Name
		w.create(late)
		w.watch()
		w.approve(object)
		w.disrupt(30)
		if !w.untouched(node) || get(w, &v1.NodeClaim{}, claim.Name).DeletionTimestamp != nil {
			t.Error("a pod is evicted that nobody approved of")
		}
		var states []string
		for _, o := range w.proposals() {
			states = append(states, o.Labels[ApprovalStateLabelKey])
			if o.UID == object.UID && !strings.Contains(o.Annotations[ApprovalOutcomeAnnotationKey], "pod default/b came after the command was approved") {
				t.Errorf("it says %q", o.Annotations[ApprovalOutcomeAnnotationKey])
			}
		}
		slices.Sort(states)
		if want := []string{string(ApprovalOutdated), string(ApprovalWaiting)}; !slices.Equal(states, want) {
			t.Errorf("ConfigMaps are %q, want %q", states, want)
		}
	})
}

// What an earlier process proposed and this one does not plan is outdated after a while, no matter who approves then.
func TestApprovalOfNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		forAnHour := func(o *Options) {
			asksApproval(o)
			o.Disruption.Approval.Wait = new(time.Hour)
		}
		w, node := emptied(t, forAnHour)
		back := newPod("back")
		back.Spec.NodeName = node.Name
		w.create(back)
		w.start(forAnHour)
		w.disrupt(60)
		time.Sleep(unplannedAfter)
		w.disrupt(10)
		object := w.proposal(ApprovalOutdated)
		w.approve(object)
		w.disrupt(60)
		if !w.untouched(node) {
			t.Error("it was done although it was not planned")
		}
		time.Sleep(2 * time.Hour)
		w.disrupt(1)
		if list := w.proposals(); len(list) != 0 {
			t.Errorf("%d ConfigMaps are kept", len(list))
		}
	})
}

// While the API answers no requests about ConfigMaps, nothing is done, and afterwards all goes on.
func TestApprovalWithoutAPI(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, asksApproval)
		node, _ := w.settledNode(newPod("a"))
		w.delete(newPod("a"))
		w.faults = func(_ string, o client.Object) error {
			if _, is := o.(*corev1.ConfigMap); is {
				return errors.New("try later")
			}
			return nil
		}
		w.disrupt(60)
		if !w.untouched(node) || len(w.proposals()) != 0 {
			t.Fatalf("untouched %v, %d ConfigMaps", w.untouched(node), len(w.proposals()))
		}
		w.faults = nil
		w.disrupt(30)
		w.approve(w.proposal(ApprovalWaiting))
		w.faults = func(verb string, o client.Object) error {
			if _, is := o.(*corev1.ConfigMap); is && verb == "patch" {
				return errors.New("try later")
			}
			return nil
		}
		w.disrupt(30)
		if w.untouched(node) {
			t.Error("approved, and nothing happens since the API does not take a note of it")
		}
		w.faults = nil
		w.disrupt(120)
		w.proposal(ApprovalDone)
	})
}

// A document that a ConfigMap has no room for leaves pods out and says so; events say no more than the API takes.
func TestApprovalDocumentIsBounded(t *testing.T) {
	cmd := &disruption.Command{ID: "c", Members: make([]disruption.Member, 2000)}
	for i := range cmd.Members {
		cmd.Members[i].Node = fmt.Sprintf("node-with-a-rather-long-name-of-its-own-%d", i)
		for k := range 20 {
			cmd.Members[i].Pods = append(cmd.Members[i].Pods, scheduling.PodKey{Namespace: "default", Name: fmt.Sprintf("pod-%d-%d-with-a-name-too", i, k)})
		}
	}
	a := &approvals{namespace: approvalNamespace}
	object, err := a.object(cmd, cmd.Digest(), time.Now())
	if err != nil {
		t.Fatal(err)
	}
	var d ApprovalDocument
	if err := yaml.UnmarshalStrict([]byte(object.Data[ApprovalCommandKey]), &d); err != nil || !d.Shortened || len(d.Nodes) != 2000 {
		t.Errorf("shortened %v, %d nodes, %v", d.Shortened, len(d.Nodes), err)
	}
	size := 0
	for _, text := range object.Data {
		size += len(text)
	}
	if size > 1<<20-10_000 {
		t.Errorf("%d bytes", size)
	}
	if text := cut(strings.Repeat("ä", 600), 1024); len(text) > 1024 || len(text) < 1020 || !strings.HasSuffix(text, "ä...") {
		t.Errorf("cut to %d bytes: %q", len(text), text[1000:])
	}
}

// The commands for kubectl in the documentation have the names that the controller goes by.
func TestApprovalIsDocumented(t *testing.T) {
	text, err := os.ReadFile("../../../docs/disruption.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"kubectl get configmaps -n drawknife -l " + ApprovalStateLabelKey + "=" + string(ApprovalWaiting),
		ApprovedAnnotationKey + "=", RefusedAnnotationKey + "=", DecidedByAnnotationKey + "=", ApprovalDeadlineAnnotationKey, ApprovalOutcomeAnnotationKey,
		`jsonpath='{.data.command\.yaml}'`, approvalPrefix, "karpenter_voluntary_disruption_approvals_total", "karpenter_voluntary_disruption_commands_awaiting_approval",
	} {
		if !strings.Contains(string(text), want) {
			t.Errorf("docs/disruption.md lacks %q", want)
		}
	}
}

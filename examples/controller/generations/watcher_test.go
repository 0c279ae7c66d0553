package generations

import (
	"fmt"
	"log/slog"
	"os"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/yaml"

	"github.com/drawknife/drawknife/api/option"
	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/api/v1alpha5"
	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	awsv1alpha1 "github.com/drawknife/drawknife/aws/api/v1alpha1"
)

func read(t *testing.T, path string, into any) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.UnmarshalStrict(text, into); err != nil {
		t.Fatal(err)
	}
}

// newScheme knows all kinds.
func newScheme(t *testing.T) *runtime.Scheme {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{AddToScheme, v1.AddToScheme, awsv1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	return scheme
}

// watched is a watcher of objects, and what is heard from it.
type watched struct {
	*watcher
	t     *testing.T
	heard *events.FakeRecorder
	at    time.Time
}

func watch(t *testing.T, has kinds, objects ...client.Object) *watched {
	t.Helper()
	c := fake.NewClientBuilder().WithScheme(newScheme(t)).WithObjects(objects...).WithStatusSubresource(&v1alpha5.Provisioner{}).Build()
	out := &watched{t: t, heard: events.NewFakeRecorder(20), at: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
	out.watcher = newWatcher(newTranslator(has, nil), c, c, out.heard, Options{Logger: slog.New(slog.DiscardHandler), Clock: option.ClockFunc(func() time.Time { return out.at })})
	return out
}

// look looks at an object, and returns the event that is told.
func (w *watched) look(object client.Object) string {
	w.t.Helper()
	look := w.template
	switch object.(type) {
	case *v1alpha5.Provisioner:
		look = w.provisioner
	case *v1alpha5.Machine:
		look = w.machine
	}
	if _, err := look(w.t.Context(), reconcile.Request{NamespacedName: client.ObjectKeyFromObject(object)}); err != nil {
		w.t.Fatal(err)
	}
	select {
	case event := <-w.heard.Events:
		return event
	default:
		return ""
	}
}

// active is the Provisioner's condition.
func (w *watched) active(name string) string {
	w.t.Helper()
	p := &v1alpha5.Provisioner{}
	if err := w.client.Get(w.t.Context(), client.ObjectKey{Name: name}, p); err != nil {
		w.t.Fatal(err)
	}
	for _, c := range p.Status.Conditions {
		if c.Type == v1alpha5.ConditionActive {
			return fmt.Sprint(c.Status, " ", c.Reason, " ", c.LastTransitionTime.UTC().Format(time.RFC3339))
		}
	}
	return ""
}

// What can't be acted on says so, with all its problems at once, in an event and, if it is a Provisioner, in its condition Active; of
// the rest is told once what to mind. API-001, API-009, API-089, API-299, API-336, SET-111, S0-002.
func TestAdvice(t *testing.T) {
	provisioner, machine, template, launching := &v1alpha5.Provisioner{}, &v1alpha5.Machine{}, &awsv1alpha1.AWSNodeTemplate{}, &awsv1alpha1.AWSNodeTemplate{}
	read(t, "../../../api/v1alpha5/testdata/provisioner-full.yaml", provisioner)
	read(t, "../../../api/v1alpha5/testdata/machine.yaml", machine)
	read(t, "../../../aws/api/v1alpha1/testdata/full.yaml", template)
	read(t, "../../../aws/api/v1alpha1/testdata/launchtemplate.yaml", launching)
	broken := machine.DeepCopy()
	broken.Name, broken.Spec.MachineTemplateRef = "broken", nil
	refused := provisioner.DeepCopy()
	refused.Name, refused.Spec.ProviderRef.Name = "refused", launching.Name
	refused.Spec.TTLSecondsAfterEmpty, refused.Spec.Consolidation = new(int64(30)), &v1alpha5.Consolidation{Enabled: new(true)}
	for i, o := range []client.Object{provisioner, machine, template, launching, broken, refused} {
		o.SetUID(types.UID(fmt.Sprintf("uid-%d", i)))
	}
	w := watch(t, kinds{true, true, true}, provisioner, machine, template, launching, broken, refused)
	for _, c := range []struct {
		object client.Object
		says   []string
	}{
		{provisioner, []string{"Normal FirstGeneration it is acted on", "NodePool that examples/convert prints"}},
		{machine, []string{""}},
		{broken, []string{"Warning Unconvertible it is left alone", "W109"}},
		{template, []string{""}},
		{launching, []string{"Warning Unconvertible nothing is launched from it", "W201", "spec.launchTemplate"}},
		{refused, []string{"Warning Unconvertible nothing is launched for it", "W113", "W201"}},
	} {
		event := w.look(c.object)
		for _, want := range c.says {
			if !strings.Contains(event, want) || want == "" && strings.HasPrefix(event, "Warning") {
				t.Errorf("%s: the event is %q, without %q", c.object.GetName(), event, want)
			}
		}
		if again := w.look(c.object); again != "" {
			t.Errorf("%s: told again: %q", c.object.GetName(), again)
		}
	}
	if got := w.active("refused"); got != "False Unconvertible 2026-01-02T03:04:05Z" {
		t.Errorf("the condition is %s", got)
	}
	if got := w.active(provisioner.Name); !strings.HasPrefix(got, "Unknown AwaitingReconciliation") {
		t.Errorf("the condition is %s", got)
	}
	if err := w.client.Create(t.Context(), &v1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: provisioner.Name}}); err != nil {
		t.Fatal(err)
	}
	if event := w.look(provisioner); !strings.Contains(event, "Normal Superseded NodePool/default exists in addition to it") {
		t.Errorf("the event is %q", event)
	}
}

// A Provisioner whose machines can't be stored is not acted on, and says so. API-001, SET-111.
func TestWithoutMachines(t *testing.T) {
	p := &v1alpha5.Provisioner{ObjectMeta: metav1.ObjectMeta{Name: "default", UID: "p"}}
	p.Spec.ProviderRef = &v1alpha5.MachineTemplateRef{Name: "default"}
	w := watch(t, kinds{provisioners: true}, p)
	if event := w.look(p); !strings.Contains(event, "Warning NoMachines") || !strings.Contains(event, "lacks the kind Machine of karpenter.sh/v1alpha5") {
		t.Errorf("the event is %q", event)
	}
	if got := w.active("default"); got != "False NoMachines 2026-01-02T03:04:05Z" {
		t.Errorf("the condition is %s", got)
	}
	view := &reader{base: w.client, translator: w.translator}
	var pools v1.NodePoolList
	if err := view.List(t.Context(), &pools); err != nil || len(pools.Items) != 0 {
		t.Errorf("it is there as %d pools: %v", len(pools.Items), err)
	}
}

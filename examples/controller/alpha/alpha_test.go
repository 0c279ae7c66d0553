package alpha

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/yaml"

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

// Objects of the first generation are told of: an event each, once as long as nothing changes, with the later object to write and
// the codes of what the conversion loses; a Provisioner says so in its condition too. API-001, API-009, API-089, API-336, SET-111, S0-002.
func TestAdvice(t *testing.T) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{AddToScheme, v1.AddToScheme, awsv1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	provisioner, machine, template, launching := &v1alpha5.Provisioner{}, &v1alpha5.Machine{}, &awsv1alpha1.AWSNodeTemplate{}, &awsv1alpha1.AWSNodeTemplate{}
	read(t, "../../../api/v1alpha5/testdata/provisioner-full.yaml", provisioner)
	read(t, "../../../api/v1alpha5/testdata/machine.yaml", machine)
	read(t, "../../../aws/api/v1alpha1/testdata/full.yaml", template)
	read(t, "../../../aws/api/v1alpha1/testdata/launchtemplate.yaml", launching)
	provisioner.UID, machine.UID, template.UID, launching.UID = "p", "m", "t", "l"
	c := fake.NewClientBuilder().WithScheme(scheme).WithObjects(provisioner, machine, template, launching).WithStatusSubresource(provisioner).Build()
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	heard := events.NewFakeRecorder(20)
	reconcilers := map[string]*reconciler{}
	for _, k := range kinds() {
		reconcilers[k.served.Kind] = newReconciler(k, c, c, heard, Options{Now: func() time.Time { return now }})
	}
	look := func(object client.Object) string {
		t.Helper()
		kind := strings.TrimPrefix(fmt.Sprintf("%T", object), "*")
		kind = kind[strings.LastIndex(kind, ".")+1:]
		if _, err := reconcilers[kind].Reconcile(context.Background(), reconcile.Request{NamespacedName: client.ObjectKeyFromObject(object)}); err != nil {
			t.Fatal(err)
		}
		select {
		case event := <-heard.Events:
			return event
		default:
			return ""
		}
	}
	for _, c := range []struct {
		object client.Object
		says   []string
	}{
		{provisioner, []string{"Warning NotActedOn", "write it as NodePool of karpenter.sh/v1"}},
		{machine, []string{"Warning NotActedOn", "roll node ip-10-0-0-1.ec2.internal"}},
		{template, []string{"Warning NotActedOn", "write it as EC2NodeClass of karpenter.k8s.aws/v1", "W203 spec.instanceProfile"}},
		{launching, []string{"W201 spec.launchTemplate"}},
	} {
		event := look(c.object)
		for _, want := range c.says {
			if !strings.Contains(event, want) {
				t.Errorf("%s: the event is %q, without %q", c.object.GetName(), event, want)
			}
		}
		if again := look(c.object); again != "" {
			t.Errorf("%s: told again: %q", c.object.GetName(), again)
		}
	}
	shown := func() string {
		t.Helper()
		p := &v1alpha5.Provisioner{}
		if err := c.Get(t.Context(), client.ObjectKeyFromObject(provisioner), p); err != nil {
			t.Fatal(err)
		}
		if len(p.Status.Conditions) != 1 {
			t.Fatalf("conditions are %+v", p.Status.Conditions)
		}
		a := p.Status.Conditions[0]
		return fmt.Sprint(a.Type, " ", a.Status, " ", a.Reason, " ", a.LastTransitionTime.UTC().Format(time.RFC3339))
	}
	if got := shown(); got != "Active False NotActedOn 2026-01-02T03:04:05Z" {
		t.Errorf("the condition is %s", got)
	}
	now = now.Add(time.Hour)
	if err := c.Create(t.Context(), &v1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: provisioner.Name}}); err != nil {
		t.Fatal(err)
	}
	if event := look(provisioner); !strings.Contains(event, "Warning Superseded NodePool/default has taken its place") {
		t.Errorf("the event is %q", event)
	}
	if got := shown(); got != "Active False Superseded 2026-01-02T03:04:05Z" {
		t.Errorf("the condition is %s", got)
	}
}

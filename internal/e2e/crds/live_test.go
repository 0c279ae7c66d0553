package crds

import (
	"errors"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/drawknife/drawknife/api/crds"
	"github.com/drawknife/drawknife/internal/e2e/plane"
)

// definitions of kinds that can be installed side by side, as an API server is to have them.
type definitions struct {
	kinds    map[string]*judged
	refusals []refusal
	crds     []crds.CRD
	// version that a definition serves and stores alone.
	version func(crds.CRD) string
}

// live is a real API server.
type live struct {
	t       *testing.T
	objects dynamic.Interface
}

// A real API server takes the definitions of all kinds of every generation and their good objects, and refuses what the judge of
// this package refuses, in the same words: every bad object of the other tests, and an object for every constraint of the schemas.
// Kinds of v1beta1 are served by themselves here, as in their day. API-001 to API-008.
func TestAPIServer(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a control plane")
	}
	l := &live{t: t, objects: startAPIServer(t)}
	for _, d := range []definitions{
		{kinds: kinds(t), refusals: refusals(), crds: crds.All(), version: func(c crds.CRD) string { return c.Versions[len(c.Versions)-1] }},
		{kinds: oldKinds(t), refusals: oldRefusals(), crds: append(crds.WithV1Beta1(), crds.Alpha()...), version: func(c crds.CRD) string { return c.Versions[0] }},
	} {
		for _, c := range d.crds {
			l.install(c, d.version(c))
		}
		for kind, k := range d.kinds {
			l.judge(kind, k, d)
		}
		for _, c := range d.crds {
			l.uninstall(c)
		}
	}
}

// startAPIServer starts a control plane for the test, which is skipped if none is built.
func startAPIServer(t *testing.T) dynamic.Interface {
	t.Helper()
	t.Chdir("..") // the control plane is looked for from its module
	binary, err := plane.Binary(t.Context())
	t.Chdir("crds")
	if errors.Is(err, plane.ErrNotBuilt) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	p, err := plane.Start(t.Context(), plane.Options{Binary: binary})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Stop(); err != nil {
			t.Error(err)
		}
	})
	return dynamic.NewForConfigOrDie(p.Config())
}

var definitionsResource = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}

// eventually tries until it succeeds.
func (l *live) eventually(what string, try func() error) {
	l.t.Helper()
	var err error
	for began := time.Now(); time.Since(began) < 2*time.Minute; time.Sleep(50 * time.Millisecond) {
		if err = try(); err == nil {
			return
		}
	}
	l.t.Fatalf("%s: %v", what, err)
}

// install has the API server serve and store one version of a kind.
func (l *live) install(c crds.CRD, version string) {
	l.t.Helper()
	crd := &unstructured.Unstructured{Object: decoded(l.t, c.YAML())}
	spec := crd.Object["spec"].(map[string]any)
	var one []any
	for _, v := range spec["versions"].([]any) {
		if v := v.(map[string]any); v["name"] == version {
			v["served"], v["storage"] = true, true
			one = append(one, v)
		}
	}
	spec["versions"] = one
	delete(spec, "conversion")
	if _, err := l.objects.Resource(definitionsResource).Create(l.t.Context(), crd, metav1.CreateOptions{FieldValidation: "Strict"}); err != nil {
		l.t.Fatal(err)
	}
	l.eventually(c.Name()+" is served", func() error {
		_, err := l.of(c, version).List(l.t.Context(), metav1.ListOptions{})
		return err
	})
}

func (l *live) uninstall(c crds.CRD) {
	l.t.Helper()
	resource := l.objects.Resource(definitionsResource)
	if err := resource.Delete(l.t.Context(), c.Name(), metav1.DeleteOptions{}); err != nil {
		l.t.Fatal(err)
	}
	l.eventually(c.Name()+" is gone", func() error {
		_, err := resource.Get(l.t.Context(), c.Name(), metav1.GetOptions{})
		if err == nil {
			return errors.New("it is there")
		}
		return notFound(err)
	})
}

// notFound is nil for the error that says so.
func notFound(err error) error {
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

func (l *live) of(c crds.CRD, version string) dynamic.ResourceInterface {
	resource := l.objects.Resource(schema.GroupVersionResource{Group: c.Group, Version: version, Resource: c.Plural})
	if c.Namespaced {
		return resource.Namespace(metav1.NamespaceDefault)
	}
	return resource
}

// judge has the API server judge all objects of a kind.
func (l *live) judge(kind string, k *judged, d definitions) {
	l.t.Helper()
	var resource dynamic.ResourceInterface
	for _, c := range d.crds {
		if strings.HasPrefix(kind, c.Kind) {
			resource = l.of(c, d.version(c))
		}
	}
	good := &unstructured.Unstructured{Object: k.good}
	stored, err := resource.Create(l.t.Context(), good.DeepCopy(), metav1.CreateOptions{FieldValidation: "Strict"})
	if err != nil {
		l.t.Errorf("%s: the good object: %v", kind, err)
		return
	}
	defer func() {
		// Nobody takes the finalizers off that some good objects have.
		if _, err := resource.Patch(l.t.Context(), stored.GetName(), types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{}); err != nil {
			l.t.Error(err)
		}
		if err := resource.Delete(l.t.Context(), stored.GetName(), metav1.DeleteOptions{}); err != nil {
			l.t.Error(err)
		}
	}()
	if status, there := k.good["status"]; there {
		stored.Object["status"] = status
		if stored, err = resource.UpdateStatus(l.t.Context(), stored, metav1.UpdateOptions{FieldValidation: "Strict"}); err != nil {
			l.t.Fatalf("%s: the good object's status: %v", kind, err)
		}
	}
	if missing := lost("", k.good, stored.Object); len(missing) > 0 {
		l.t.Errorf("%s: the API server drops %v", kind, missing)
	}
	refused := 0
	// refuse fails the test unless the API server refuses the object, and says all of the words.
	refuse := func(what string, bad map[string]any, update bool, says ...string) {
		l.t.Helper()
		refused++
		object := (&unstructured.Unstructured{Object: bad}).DeepCopy()
		_, changesStatus := bad["status"]
		var err error
		switch dry := []string{metav1.DryRunAll}; {
		case update:
			object.SetResourceVersion(stored.GetResourceVersion())
			_, err = resource.Update(l.t.Context(), object, metav1.UpdateOptions{DryRun: dry})
		case changesStatus && strings.Contains(what, "status"):
			object.SetResourceVersion(stored.GetResourceVersion())
			_, err = resource.UpdateStatus(l.t.Context(), object, metav1.UpdateOptions{DryRun: dry})
		default:
			_, err = resource.Create(l.t.Context(), object, metav1.CreateOptions{DryRun: dry})
		}
		if !apierrors.IsInvalid(err) {
			l.t.Errorf("%s: %s: the API server says %v", kind, what, err)
			return
		}
		for _, words := range says {
			if !strings.Contains(err.Error(), words) {
				l.t.Errorf("%s: %s: the API server says %v, not %q", kind, what, err, words)
			}
		}
	}
	for _, c := range d.refusals {
		if c.kind == kind {
			refuse(c.name, changed(l.t, k.good, c.change), c.update, c.says)
		}
	}
	for _, c := range constraints(k.judge.structural) {
		bad, at := c.broken(k.good)
		_, errs := k.judge.Admit(l.t.Context(), &unstructured.Unstructured{Object: bad}, nil)
		if e := c.refused(errs, at); e != nil { // else TestConstraints fails
			refuse(c.String(), bad, false, e.Field+": "+e.Type.String(), c.says)
		}
	}
	l.t.Logf("%s: %d objects refused", kind, refused)
}

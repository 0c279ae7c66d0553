package e2e_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/restmapper"

	"github.com/drawknife/drawknife/internal/e2e/harness"
)

// repository is the folder that the commands of documents are run in.
const repository = "../.."

// documentNamespace is where the documents' objects are; in tests they are in the test's namespace.
const documentNamespace = "research"

// api does with objects of any kind what kubectl does.
type api struct {
	t       *testing.T
	cluster *harness.Cluster
	client  *dynamic.DynamicClient
	mapper  *restmapper.DeferredDiscoveryRESTMapper
}

func newAPI(t *testing.T, cluster *harness.Cluster) *api {
	t.Helper()
	client, err := dynamic.NewForConfig(cluster.Config())
	if err != nil {
		t.Fatal(err)
	}
	return &api{t: t, cluster: cluster, client: client, mapper: restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(cluster.Client.Discovery()))}
}

// of is the client of an object's kind.
func (a *api) of(object *unstructured.Unstructured) (dynamic.ResourceInterface, error) {
	kind := object.GroupVersionKind()
	mapping, err := a.mapper.RESTMapping(kind.GroupKind(), kind.Version)
	if err != nil {
		return nil, err
	}
	if mapping.Scope.Name() == meta.RESTScopeNameNamespace {
		return a.client.Resource(mapping.Resource).Namespace(object.GetNamespace()), nil
	}
	return a.client.Resource(mapping.Resource), nil
}

// create creates an object, unless it is there.
func (a *api) create(object *unstructured.Unstructured) {
	a.t.Helper()
	a.cluster.Retry("creating "+object.GetKind()+" "+object.GetName(), func() error {
		client, err := a.of(object)
		if err == nil {
			_, err = client.Create(a.t.Context(), object, metav1.CreateOptions{})
		}
		if apierrors.IsAlreadyExists(err) {
			return nil
		}
		return err
	})
}

// apply is kubectl apply --server-side.
func (a *api) apply(object *unstructured.Unstructured) {
	a.t.Helper()
	content, err := json.Marshal(object)
	if err != nil {
		a.t.Fatal(err)
	}
	a.cluster.Retry("applying "+object.GetKind()+" "+object.GetName(), func() error {
		client, err := a.of(object)
		if err == nil {
			_, err = client.Patch(a.t.Context(), object.GetName(), types.ApplyPatchType, content, metav1.PatchOptions{FieldManager: "kubectl", Force: new(true)})
		}
		return err
	})
}

// remove deletes an object, also after the end of the test.
func (a *api) remove(object *unstructured.Unstructured) {
	a.t.Helper()
	client, err := a.of(object)
	if err == nil {
		err = client.Delete(context.Background(), object.GetName(), metav1.DeleteOptions{})
	}
	if err != nil && !apierrors.IsNotFound(err) {
		a.t.Errorf("deleting %s %s: %v", object.GetKind(), object.GetName(), err)
	}
}

// resource is the client of a resource by its name, "jobs" or "workloads.kueue.x-k8s.io", in the test's namespace.
func (a *api) resource(name string) (dynamic.ResourceInterface, error) {
	wanted := schema.ParseGroupResource(strings.ToLower(name))
	resource, err := a.mapper.ResourceFor(wanted.WithVersion(""))
	if err != nil {
		a.mapper.Reset()
		return nil, err
	}
	kind, err := a.mapper.KindFor(resource)
	if err != nil {
		return nil, err
	}
	mapping, err := a.mapper.RESTMapping(kind.GroupKind(), kind.Version)
	if err != nil {
		return nil, err
	}
	if mapping.Scope.Name() == meta.RESTScopeNameNamespace {
		return a.client.Resource(resource).Namespace(a.cluster.Namespace), nil
	}
	return a.client.Resource(resource), nil
}

// list are the objects of a resource.
func (a *api) list(name string) ([]unstructured.Unstructured, error) {
	client, err := a.resource(name)
	if err != nil {
		return nil, err
	}
	list, err := client.List(a.t.Context(), metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	return list.Items, nil
}

// commands are those that a section of a document has its reader run, without "$ ".
func commands(t *testing.T, document, section string) []string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(repository, document))
	if err != nil {
		t.Fatal(err)
	}
	_, text, found := strings.Cut(string(content), "\n"+section+"\n")
	if !found {
		t.Fatalf("%s has no section %q", document, section)
	}
	level, _, _ := strings.Cut(section, " ")
	var out []string
	for line := range strings.Lines(text) {
		if hashes, _, heading := strings.Cut(line, "# "); heading && strings.Trim(hashes, "#") == "" && len(hashes)+1 <= len(level) {
			break
		}
		if command, ok := strings.CutPrefix(strings.TrimSpace(line), "$ kubectl "); ok {
			out = append(out, command)
		}
	}
	if len(out) == 0 {
		t.Fatalf("section %q of %s has no commands", section, document)
	}
	return out
}

// run does what a kubectl command of a document does, to objects that may be changed before. What only shows something is left out.
func (a *api) run(command string, change func(*unstructured.Unstructured)) {
	a.t.Helper()
	var flags []string
	words := slices.DeleteFunc(strings.Fields(strings.ReplaceAll(command, "-n "+documentNamespace, "")), func(word string) bool {
		if strings.HasPrefix(word, "--") {
			flags = append(flags, word)
		}
		return strings.HasPrefix(word, "--")
	})
	switch {
	case words[0] == "get", words[0] == "describe":
	case words[0] == "create" && words[1] == "namespace": // the test's is there
	case words[0] == "apply" && words[1] == "-f":
		a.applyFile(words[2], change)
	case words[0] == "wait":
		condition, status := "", "true"
		for _, flag := range flags {
			if of, ok := strings.CutPrefix(flag, "--for=condition="); ok {
				condition = of
			}
		}
		if of, wanted, ok := strings.Cut(condition, "="); ok {
			condition, status = of, wanted
		}
		a.cluster.Eventually(command, patience, a.have(strings.Join(words[1:], "/"), condition, status))
	case words[0] == "patch":
		patch, ok := strings.CutPrefix(words[len(words)-1], "-p=")
		if !ok || !slices.Contains(flags, "--type=merge") {
			a.t.Fatalf("the test knows no patch %q", command)
		}
		a.patch(words[1], words[2], patch)
	case words[0] == "delete":
		a.delete(strings.Join(words[1:], "/"))
	default:
		a.t.Fatalf("the test knows no command %q", command)
	}
	a.cluster.Note("kubectl %s", command)
}

func (a *api) applyFile(path string, change func(*unstructured.Unstructured)) {
	a.t.Helper()
	content, err := os.ReadFile(filepath.Join(repository, path))
	if err != nil {
		a.t.Fatal(err)
	}
	objects, err := documents(content)
	if err != nil {
		a.t.Fatal(err)
	}
	for _, object := range objects {
		o := &unstructured.Unstructured{Object: object}
		if o.GetNamespace() == documentNamespace {
			o.SetNamespace(a.cluster.Namespace)
		}
		change(o)
		a.apply(o)
	}
}

// have is the condition that an object, "jobs/train", or all objects of a kind, "jobs", have a condition of that status. There must be such an object.
func (a *api) have(what, condition, status string) harness.Condition {
	resource, name, _ := strings.Cut(what, "/")
	return func() (bool, string) {
		list, err := a.list(resource)
		if err != nil {
			return false, err.Error()
		}
		found, seen := 0, []string{}
		for i := range list {
			if name != "" && list[i].GetName() != name {
				continue
			}
			found++
			if c := conditionOf(&list[i], condition); !strings.EqualFold(fmt.Sprint(c["status"]), status) {
				seen = append(seen, fmt.Sprintf("%s: %v", list[i].GetName(), list[i].Object["status"]))
			}
		}
		return found > 0 && len(seen) == 0, fmt.Sprintf("%d found; %s", found, strings.Join(seen, "; "))
	}
}

// conditionOf is a condition of an object; empty if it has none of the kind.
func conditionOf(object *unstructured.Unstructured, condition string) map[string]any {
	list, _, _ := unstructured.NestedSlice(object.Object, "status", "conditions")
	for _, c := range list {
		if c, ok := c.(map[string]any); ok && c["type"] == condition {
			return c
		}
	}
	return nil
}

// patch is kubectl patch --type=merge.
func (a *api) patch(resource, name, patch string) {
	a.t.Helper()
	patch = strings.Trim(patch, "'")
	a.cluster.Retry("patching "+name, func() error {
		client, err := a.resource(resource)
		if err == nil {
			_, err = client.Patch(a.t.Context(), name, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
		}
		return err
	})
}

// delete deletes an object, or all objects of a kind, with what they own.
func (a *api) delete(what string) {
	a.t.Helper()
	resource, name, _ := strings.Cut(what, "/")
	a.cluster.Retry("deleting "+what, func() error {
		list, err := a.list(resource)
		if err != nil {
			return err
		}
		client, err := a.resource(resource)
		if err != nil {
			return err
		}
		for i := range list {
			if name == "" || list[i].GetName() == name {
				err = errors.Join(err, client.Delete(a.t.Context(), list[i].GetName(), metav1.DeleteOptions{PropagationPolicy: new(metav1.DeletePropagationBackground)}))
			}
		}
		return err
	})
}

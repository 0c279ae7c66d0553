package charts

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"helm.sh/helm/v3/pkg/action"
	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/cli"
	"helm.sh/helm/v3/pkg/release"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/yaml"

	"github.com/drawknife/drawknife/internal/e2e/plane"
)

// version is a chart with another version.
func version(t *testing.T, dir, version string) *chart.Chart {
	t.Helper()
	c, err := loader.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	c.Metadata.Version, c.Metadata.AppVersion = version, version
	return c
}

// S3-003, S3-004, S3-005, S3-053, SET-094: both charts are installed on a real API server and upgraded in place, with the values
// file of 0.26 and of 1.14.1; pools and claims stay as they are, and both releases are deployed at the same version. Objects come after the charts.
func TestInstallAndUpgrade(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a control plane")
	}
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir("..") // the control plane is looked for from its module
	binary, err := plane.Binary(t.Context())
	t.Chdir(here)
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
	environment := cli.New()
	environment.KubeConfig = p.Kubeconfig()
	environment.SetNamespace("karpenter")
	helm := new(action.Configuration)
	if err := helm.Init(environment.RESTClientGetter(), "karpenter", "secret", t.Logf); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("../../../examples/settings/testdata/values-0.26.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var values map[string]any
	if err := yaml.Unmarshal(text, &values); err != nil {
		t.Fatal(err)
	}
	install := func(name, dir string, values map[string]any) {
		t.Helper()
		a := action.NewInstall(helm)
		a.ReleaseName, a.Namespace, a.CreateNamespace, a.Timeout = name, "karpenter", true, 5*time.Minute
		if _, err := a.Run(version(t, dir, "0.1.0"), values); err != nil {
			t.Fatalf("installing %s: %v", name, err)
		}
	}
	upgrade := func(name, dir string, values map[string]any) {
		t.Helper()
		a := action.NewUpgrade(helm)
		a.Namespace, a.Timeout = "karpenter", 5*time.Minute
		r, err := a.Run(name, version(t, dir, "0.1.1"), values)
		if err != nil {
			t.Fatalf("upgrading %s: %v", name, err)
		}
		if r.Info.Status != release.StatusDeployed || r.Chart.Metadata.Version != "0.1.1" {
			t.Errorf("%s: %s at %s", name, r.Info.Status, r.Chart.Metadata.Version)
		}
	}

	install("karpenter-crd", CRDs, nil)
	install("karpenter", Controller, map[string]any{"settings": map[string]any{"clusterName": "blue"}})
	objects := dynamic.NewForConfigOrDie(p.Config())
	before := make(map[string]*unstructured.Unstructured)
	for kind, plural := range map[string]string{"NodePool": "nodepools", "NodeClaim": "nodeclaims"} {
		manifest, err := os.ReadFile(filepath.Join("..", "crds", "testdata", kind+".yaml"))
		if err != nil {
			t.Fatal(err)
		}
		var object unstructured.Unstructured
		if err := yaml.Unmarshal(manifest, &object.Object); err != nil {
			t.Fatal(err)
		}
		resource := objects.Resource(schema.GroupVersionResource{Group: "karpenter.sh", Version: "v1", Resource: plural})
		// The API server serves a kind a moment after its definition is there.
		if err := wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, 2*time.Minute, true, func(ctx context.Context) (bool, error) {
			created, err := resource.Create(ctx, object.DeepCopy(), metav1.CreateOptions{FieldValidation: "Strict"})
			before[plural] = created
			if apierrors.IsNotFound(err) {
				return false, nil
			}
			return err == nil, err
		}); err != nil {
			t.Fatal(err)
		}
	}
	upgrade("karpenter-crd", CRDs, nil)
	upgrade("karpenter", Controller, values)
	for plural, was := range before {
		now, err := objects.Resource(schema.GroupVersionResource{Group: "karpenter.sh", Version: "v1", Resource: plural}).Get(t.Context(), was.GetName(), metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if now.GetUID() != was.GetUID() || now.GetResourceVersion() != was.GetResourceVersion() {
			t.Errorf("%s were changed", plural)
		}
	}

	// With the values of Karpenter's 1.14.1 too, in a namespace that takes nothing but what is restricted.
	namespaces := objects.Resource(schema.GroupVersionResource{Version: "v1", Resource: "namespaces"})
	enforce := []byte(`{"metadata": {"labels": {"pod-security.kubernetes.io/enforce": "restricted"}}}`)
	if _, err := namespaces.Patch(t.Context(), "karpenter", types.MergePatchType, enforce, metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	var upstream map[string]any
	if text, err = os.ReadFile("testdata/v1.14.1.yaml"); err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(text, &upstream); err != nil {
		t.Fatal(err)
	}
	upgrade("karpenter", Controller, upstream)
	deployment, err := objects.Resource(schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}).
		Namespace("karpenter").Get(t.Context(), "karpenter-drawknife", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	template, _, err := unstructured.NestedMap(deployment.Object, "spec", "template", "spec")
	if err != nil {
		t.Fatal(err)
	}
	pod := unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Pod", "metadata": map[string]any{"name": "controller"}, "spec": template,
	}}
	if _, err := objects.Resource(schema.GroupVersionResource{Version: "v1", Resource: "pods"}).
		Namespace("karpenter").Create(t.Context(), &pod, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}, FieldValidation: "Strict"}); err != nil {
		t.Errorf("the controller's pod: %v", err)
	}

	// Uninstalling the definitions' chart keeps them, and with them all nodes.
	if _, err := action.NewUninstall(helm).Run("karpenter-crd"); err != nil {
		t.Fatal(err)
	}
	if _, err := objects.Resource(schema.GroupVersionResource{Group: "karpenter.sh", Version: "v1", Resource: "nodepools"}).Get(t.Context(), "general", metav1.GetOptions{}); err != nil {
		t.Errorf("after uninstalling the definitions: %v", err)
	}
}

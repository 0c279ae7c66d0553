package e2e_test

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/examples/controller/conversion"
	"github.com/drawknife/drawknife/examples/controller/install"
	"github.com/drawknife/drawknife/internal/e2e/harness"
)

// twoVersions is an API server that serves v1beta1 next to v1, through the controller's webhook.
type twoVersions struct {
	t       *testing.T
	cluster *harness.Cluster
	objects dynamic.Interface
	client  client.Client
}

func serveTwoVersions(t *testing.T) *twoVersions {
	t.Helper()
	cluster := server.Start(t, harness.Options{})
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, apiextensionsv1.AddToScheme, v1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	c, err := client.New(cluster.Config(), client.Options{Scheme: scheme})
	if err != nil {
		t.Fatal(err)
	}
	keeper := &conversion.Keeper{Client: c, Namespace: metav1.NamespaceSystem, Secret: "drawknife-webhook", DNSNames: []string{"127.0.0.1"}}
	handler := &conversion.Handler{Converter: conversion.Converter{OwnerExpireAfter: conversion.FromPools(c)}}
	mux := http.NewServeMux()
	mux.Handle(conversion.Path, handler)
	webhook := httptest.NewUnstartedServer(mux)
	webhook.TLS = &tls.Config{}
	conversion.TLS(keeper)(webhook.TLS)
	if err := keeper.Ensure(t.Context()); err != nil {
		t.Fatal(err)
	}
	webhook.StartTLS()
	// httptest puts a certificate of its own in, which is only asked for by those who name no host.
	webhook.TLS.Certificates = nil
	t.Cleanup(webhook.Close)
	address := webhook.URL + conversion.Path
	if err := install.CRDs(t.Context(), cluster.Config(), install.Options{Webhook: &apiextensionsv1.WebhookClientConfig{URL: &address}}); err != nil {
		t.Fatal(err)
	}
	if err := keeper.Ensure(t.Context()); err != nil { // the definitions name a webhook now
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := install.CRDs(context.Background(), cluster.Config(), install.Options{}); err != nil {
			t.Error(err)
		}
	})
	return &twoVersions{t: t, cluster: cluster, objects: dynamic.NewForConfigOrDie(cluster.Config()), client: c}
}

func (s *twoVersions) of(version, plural string) dynamic.ResourceInterface {
	group := "karpenter.sh"
	if plural == "ec2nodeclasses" {
		group = "karpenter.k8s.aws"
	}
	return s.objects.Resource(schema.GroupVersionResource{Group: group, Version: version, Resource: plural})
}

// create creates an object, once the API server serves its version.
func (s *twoVersions) create(version, plural, manifest string) *unstructured.Unstructured {
	s.t.Helper()
	var object unstructured.Unstructured
	if err := yaml.Unmarshal([]byte(manifest), &object.Object); err != nil {
		s.t.Fatal(err)
	}
	var created *unstructured.Unstructured
	s.cluster.Eventually(plural+" of "+version+" are served", patience, func() (bool, string) {
		got, err := s.of(version, plural).Create(s.t.Context(), &object, metav1.CreateOptions{FieldValidation: "Strict"})
		if apierrors.IsInvalid(err) {
			s.t.Fatal(err)
		}
		if apierrors.IsAlreadyExists(err) { // the answer to an earlier try was lost
			got, err = s.of(version, plural).Get(s.t.Context(), object.GetName(), metav1.GetOptions{})
		}
		if err != nil {
			return false, err.Error()
		}
		created = got
		return true, ""
	})
	name := created.GetName()
	s.t.Cleanup(func() {
		if err := s.of("v1", plural).Delete(context.Background(), name, metav1.DeleteOptions{}); err != nil && !apierrors.IsNotFound(err) {
			s.t.Error(err)
		}
	})
	return created
}

// get reads an object that is there, once the API server serves the version.
func (s *twoVersions) get(version, plural, name string) *unstructured.Unstructured {
	s.t.Helper()
	var got *unstructured.Unstructured
	s.cluster.Retry("reading "+plural+" "+name+" as "+version, func() (err error) {
		got, err = s.of(version, plural).Get(s.t.Context(), name, metav1.GetOptions{})
		return err
	})
	return got
}

func (s *twoVersions) update(version, plural string, object *unstructured.Unstructured) {
	s.t.Helper()
	if _, err := s.of(version, plural).Update(s.t.Context(), object, metav1.UpdateOptions{FieldValidation: "Strict"}); err != nil {
		s.t.Fatal(err)
	}
}

func spec(o *unstructured.Unstructured) any { return o.Object["spec"] }

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestTwoVersions has an API server convert through the controller's webhook: objects written in one version are read and changed
// in the other, and nothing is lost; each version's own rules hold; objects that were stored as v1beta1 are stored as v1 in the
// end. API-002, API-003, API-005, API-147, API-350, API-381, API-413, API-414.
func TestTwoVersions(t *testing.T) {
	s := serveTwoVersions(t)

	// v1beta1, read as v1, changed as v1, read as v1beta1.
	written := s.create("v1beta1", "nodepools", read(t, "../../api/v1beta1/testdata/nodepool-full.yaml"))
	pool := &v1.NodePool{}
	if err := s.client.Get(t.Context(), client.ObjectKey{Name: "web"}, pool); err != nil {
		t.Fatal(err)
	}
	if pool.Spec.Template.Spec.ExpireAfter.String() != "360h" || pool.Spec.Template.Spec.NodeClassRef.Group != "karpenter.k8s.aws" {
		t.Errorf("as v1 it is %+v", pool.Spec)
	}
	before := pool.DeepCopy()
	pool.Spec.Template.Spec.TerminationGracePeriod = &v1.Duration{Duration: time.Hour} // v1beta1 has no such field
	pool.Spec.Weight = new(int32(70))
	if err := s.client.Patch(t.Context(), pool, client.MergeFrom(before)); err != nil {
		t.Fatal(err)
	}
	again := s.get("v1beta1", "nodepools", "web")
	want := written.DeepCopy()
	want.Object["spec"].(map[string]any)["weight"] = int64(70)
	if diff := cmp.Diff(spec(want), spec(again)); diff != "" {
		t.Errorf("as v1beta1 (-want +got):\n%s", diff)
	}
	// A change as v1beta1 leaves what only v1 can say alone.
	again.Object["spec"].(map[string]any)["weight"] = int64(80)
	s.update("v1beta1", "nodepools", again)
	if err := s.client.Get(t.Context(), client.ObjectKey{Name: "web"}, pool); err != nil {
		t.Fatal(err)
	}
	if *pool.Spec.Weight != 80 || pool.Spec.Template.Spec.TerminationGracePeriod == nil || pool.Spec.Template.Spec.TerminationGracePeriod.Duration != time.Hour {
		t.Errorf("after a change as v1beta1 it is %+v", pool.Spec)
	}

	// A class the other way round.
	class := s.create("v1", "ec2nodeclasses", read(t, "crds/testdata/EC2NodeClass.yaml"))
	old := s.get("v1beta1", "ec2nodeclasses", class.GetName())
	if family := old.Object["spec"].(map[string]any)["amiFamily"]; family != "AL2023" {
		t.Errorf("as v1beta1 its family is %v", family)
	}
	s.update("v1beta1", "ec2nodeclasses", old)
	if diff := cmp.Diff(spec(class), spec(s.get("v1", "ec2nodeclasses", class.GetName()))); diff != "" {
		t.Errorf("the class after an update that changes nothing (-want +got):\n%s", diff)
	}

	// A claim's life is its pool's; each version's rules hold.
	claim := s.create("v1beta1", "nodeclaims", "apiVersion: karpenter.sh/v1beta1\nkind: NodeClaim\nmetadata: {name: web-1, labels: {karpenter.sh/nodepool: web}}\nspec: {requirements: [], nodeClassRef: {name: default}}\n")
	if after := s.get("v1", "nodeclaims", claim.GetName()).Object["spec"].(map[string]any)["expireAfter"]; after != "360h" {
		t.Errorf("the claim lives for %v, its pool's nodes for 360h", after)
	}
	bad := written.DeepCopy()
	bad.SetName("bad")
	bad.SetResourceVersion("")
	delete(bad.Object["spec"].(map[string]any)["disruption"].(map[string]any), "consolidateAfter")
	if _, err := s.of("v1beta1", "nodepools").Create(t.Context(), bad, metav1.CreateOptions{}); !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), "WhenEmpty needs consolidateAfter") {
		t.Errorf("a pool that breaks a rule of v1beta1: %v", err)
	}
	s.cluster.Note("round trips")
	s.migrate()
}

// migrate has pools stored as v1beta1, as Karpenter 0.37 leaves them, and then moved.
func (s *twoVersions) migrate() {
	s.t.Helper()
	const name = "nodepools.karpenter.sh"
	store := func(version string) {
		s.t.Helper()
		s.cluster.Retry("storing "+name+" as "+version, func() error { // the API server writes conditions of it in between
			crd := &apiextensionsv1.CustomResourceDefinition{}
			if err := s.client.Get(s.t.Context(), client.ObjectKey{Name: name}, crd); err != nil {
				return err
			}
			for i := range crd.Spec.Versions {
				crd.Spec.Versions[i].Storage = crd.Spec.Versions[i].Name == version
			}
			return s.client.Update(s.t.Context(), crd)
		})
	}
	store("v1beta1")
	// Written until it is stored in that version: the API server hears of it a moment later.
	first := s.get("v1beta1", "nodepools", "web").GetResourceVersion()
	s.cluster.Eventually("the pool is stored as v1beta1", patience, func() (bool, string) {
		got, err := s.of("v1beta1", "nodepools").Patch(s.t.Context(), "web", "application/merge-patch+json", []byte("{}"), metav1.PatchOptions{})
		if err != nil {
			return false, err.Error()
		}
		return got.GetResourceVersion() != first, "a change of nothing writes nothing: it is stored as v1"
	})
	store("v1")
	stored := func() []string {
		crd := &apiextensionsv1.CustomResourceDefinition{}
		if err := s.client.Get(s.t.Context(), client.ObjectKey{Name: name}, crd); err != nil {
			s.t.Fatal(err)
		}
		return crd.Status.StoredVersions
	}
	if !slices.Contains(stored(), "v1beta1") {
		s.t.Fatalf("stored versions are %v", stored())
	}
	was := s.get("v1", "nodepools", "web")
	migrator := &conversion.Migrator{Client: s.client}
	s.cluster.Eventually("the pool is stored as v1 again", patience, func() (bool, string) {
		crd := &apiextensionsv1.CustomResourceDefinition{}
		if err := s.client.Get(s.t.Context(), client.ObjectKey{Name: name}, crd); err != nil {
			return false, err.Error()
		}
		if err := migrator.Migrate(s.t.Context()); err != nil {
			return false, err.Error()
		}
		now := s.get("v1", "nodepools", "web")
		text, _ := json.Marshal(stored())
		return string(text) == `["v1"]` && now.GetResourceVersion() != was.GetResourceVersion(), string(text) + " " + now.GetResourceVersion()
	})
	if diff := cmp.Diff(spec(was), spec(s.get("v1", "nodepools", "web"))); diff != "" {
		s.t.Errorf("the pool after it was stored again (-want +got):\n%s", diff)
	}
	s.cluster.Note("stored again")
}

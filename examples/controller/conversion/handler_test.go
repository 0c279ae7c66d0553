package conversion_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/examples/controller/conversion"
)

func review(t *testing.T, to string, objects ...object) string {
	t.Helper()
	text, err := json.Marshal(object{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "ConversionReview",
		"request": object{"uid": "1-2-3", "desiredAPIVersion": to, "objects": objects},
	})
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func post(t *testing.T, h http.Handler, body string) *httptest.ResponseRecorder {
	t.Helper()
	w, r := httptest.NewRecorder(), httptest.NewRequest(http.MethodPost, conversion.Path, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	h.ServeHTTP(w, r)
	return w
}

func answer(t *testing.T, w *httptest.ResponseRecorder) *apiextensionsv1.ConversionReview {
	t.Helper()
	var out apiextensionsv1.ConversionReview
	if w.Code != http.StatusOK {
		t.Fatalf("status %d: %s", w.Code, w.Body)
	}
	if err := json.Unmarshal(w.Body.Bytes(), &out); err != nil {
		t.Fatal(err)
	}
	if out.APIVersion != "apiextensions.k8s.io/v1" || out.Kind != "ConversionReview" || out.Request != nil || out.Response == nil || out.Response.UID != "1-2-3" {
		t.Fatalf("answered %s", w.Body)
	}
	return &out
}

// API-002, API-003: a review of a list is answered with all objects in order, those that are of the version already among them.
func TestReview(t *testing.T) {
	all := manifests(t)
	out := answer(t, post(t, &conversion.Handler{}, review(t, "karpenter.sh/v1", all["v1beta1 NodePool"], all["v1 NodePool"], all["v1beta1 NodeClaim"])))
	if out.Response.Result.Status != "Success" || len(out.Response.ConvertedObjects) != 3 {
		t.Fatalf("answered %+v", out.Response.Result)
	}
	for i, name := range []string{"web", "general", "web-x7k2p"} {
		got := decode(t, string(out.Response.ConvertedObjects[i].Raw))
		if got["apiVersion"] != "karpenter.sh/v1" || at(got, "metadata", "name") != name {
			t.Errorf("object %d is %v %v", i, got["apiVersion"], at(got, "metadata", "name"))
		}
	}
}

// All objects that can't be converted are named, each with its reason, and nothing is given; a fault of the program is an answer too.
func TestReviewFails(t *testing.T) {
	claim := func(name, pool string) object {
		return object{
			"apiVersion": "karpenter.sh/v1beta1", "kind": "NodeClaim", "metadata": object{"name": name, "labels": object{v1.NodePoolLabelKey: pool}},
			"spec": object{"requirements": []any{}, "nodeClassRef": object{"name": "x"}},
		}
	}
	h := &conversion.Handler{Converter: conversion.Converter{OwnerExpireAfter: func(_ context.Context, pool string) (v1.NillableDuration, error) {
		if pool == "fault" {
			panic("a fault")
		}
		return v1.NillableDuration{}, errors.New("no answer")
	}}}
	objects := []object{claim("fine", ""), claim("bad", "x"), claim("faulty", "fault")}
	for i := range 20 {
		objects = append(objects, claim(fmt.Sprint("more-", i), "x"))
	}
	out := answer(t, post(t, h, review(t, "karpenter.sh/v1", objects...)))
	result := out.Response.Result
	if result.Status != "Failure" || len(out.Response.ConvertedObjects) != 0 {
		t.Errorf("answered %+v", result)
	}
	for _, want := range []string{"NodeClaim/bad can't be converted from karpenter.sh/v1beta1 to karpenter.sh/v1: cannot read expireAfter of NodePool x: no answer", "the converter failed unexpectedly: a fault", "NodeClaim/more-7", "and 12 more"} {
		if !strings.Contains(result.Message, want) {
			t.Errorf("%q is not in %q", want, result.Message)
		}
	}
}

// What is no review is refused with a status that says so; the size is bounded.
func TestNoReview(t *testing.T) {
	h := &conversion.Handler{MaxBytes: new(int64(4096))}
	for name, c := range map[string]struct {
		body string
		want int
	}{
		"nothing":         {"", http.StatusBadRequest},
		"no JSON":         {"{", http.StatusBadRequest},
		"another version": {strings.Replace(review(t, "karpenter.sh/v1"), "k8s.io/v1", "k8s.io/v1beta1", 1), http.StatusBadRequest},
		"another kind":    {strings.Replace(review(t, "karpenter.sh/v1"), "ConversionReview", "AdmissionReview", 1), http.StatusBadRequest},
		"no request":      {`{"apiVersion":"apiextensions.k8s.io/v1","kind":"ConversionReview"}`, http.StatusBadRequest},
		"too large":       {review(t, "karpenter.sh/v1", object{"x": strings.Repeat("x", 5000)}), http.StatusRequestEntityTooLarge},
	} {
		if w := post(t, h, c.body); w.Code != c.want {
			t.Errorf("%s: %d %s, want %d", name, w.Code, w.Body, c.want)
		}
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, conversion.Path, nil))
	if w.Code != http.StatusMethodNotAllowed || w.Header().Get("Allow") != http.MethodPost {
		t.Errorf("GET: %d", w.Code)
	}
	w = httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodPost, conversion.Path, strings.NewReader("{}")))
	if w.Code != http.StatusUnsupportedMediaType {
		t.Errorf("without a type: %d", w.Code)
	}
}

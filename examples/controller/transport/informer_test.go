package transport_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/cache"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/api/v1alpha5"
	"github.com/drawknife/drawknife/examples/controller/transport"
)

// An API server has stored quantities that take minutes to read, in typed fields and in a field of any shape: informers list and watch
// all objects all the same, and a field of any shape keeps its text, which the code that decodes it refuses.
func TestInformersListWhatIsStored(t *testing.T) {
	const (
		pools        = `{"apiVersion":"karpenter.sh/v1","kind":"NodePool","metadata":{"name":%q,"resourceVersion":"1"},"spec":{"limits":{"cpu":%q},"template":{"spec":{"requirements":[],"nodeClassRef":{"group":"g","kind":"k","name":"n"}}}}}`
		provisioners = `{"apiVersion":"karpenter.sh/v1alpha5","kind":"Provisioner","metadata":{"name":"p","resourceVersion":"1"},"spec":{"limits":{"resources":{"cpu":"1e-999999999"}},"provider":{"blockDeviceMappings":[{"ebs":{"volumeSize":"1e-999999999"}}]}}}`
	)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		kind, items := "NodePool", fmt.Sprintf(pools, "web", bad)+","+fmt.Sprintf(pools, "api", "5")
		version := "karpenter.sh/v1"
		if strings.HasSuffix(r.URL.Path, "/provisioners") {
			kind, items, version = "Provisioner", provisioners, "karpenter.sh/v1alpha5"
		}
		switch {
		case r.URL.Query().Get("sendInitialEvents") != "":
			http.Error(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Invalid","code":422}`, http.StatusUnprocessableEntity)
		case r.URL.Query().Get("watch") != "":
			w.Header().Set("Content-Type", "application/json")
			if kind == "NodePool" {
				_, _ = io.WriteString(w, `{"type":"ADDED","object":`+fmt.Sprintf(pools, "late", bad)+"}\n")
			}
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		default:
			w.Header().Set("Content-Type", "application/json")
			_, _ = fmt.Fprintf(w, `{"apiVersion":%q,"kind":"%sList","metadata":{"resourceVersion":"1"},"items":[%s]}`, version, kind, items)
		}
	}))
	defer server.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	defer server.CloseClientConnections()

	known := runtime.NewScheme()
	if err := v1.AddToScheme(known); err != nil {
		t.Fatal(err)
	}
	if err := v1alpha5.AddToScheme(known); err != nil {
		t.Fatal(err)
	}
	mapper := meta.NewDefaultRESTMapper(nil)
	mapper.Add(v1.GroupVersion().WithKind("NodePool"), meta.RESTScopeRoot)
	mapper.Add(v1alpha5.GroupVersion().WithKind("Provisioner"), meta.RESTScopeRoot)
	config := &rest.Config{Host: server.URL}
	config.Wrap(transport.Bounded(slog.New(slog.DiscardHandler)))
	informers, err := cache.New(config, cache.Options{Scheme: known, Mapper: mapper})
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = informers.Start(ctx) }() // ends with ctx

	var list v1.NodePoolList
	for len(list.Items) < 3 {
		// The cache may not have started yet.
		if err := informers.List(ctx, &list); ctx.Err() != nil {
			t.Fatalf("%d pools in half a minute: %v", len(list.Items), err)
		}
		time.Sleep(10 * time.Millisecond)
	}
	want := map[string]string{"web": "0", "api": "5", "late": "0"}
	for _, pool := range list.Items {
		cpu := pool.Spec.Limits["cpu"]
		if cpu.String() != want[pool.Name] {
			t.Errorf("%s: the limit is %s, want %s", pool.Name, cpu.String(), want[pool.Name])
		}
	}
	var old v1alpha5.ProvisionerList
	if err := informers.List(ctx, &old); err != nil || len(old.Items) != 1 {
		t.Fatalf("%d provisioners: %v", len(old.Items), err)
	}
	provisioner := &old.Items[0]
	if provisioner.Spec.Provider == nil || !strings.Contains(string(provisioner.Spec.Provider.Raw), bad) || !json.Valid(provisioner.Spec.Provider.Raw) {
		t.Errorf("the provider block is another: %+v", provisioner.Spec.Provider)
	}
}

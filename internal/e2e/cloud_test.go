package e2e_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/internal/e2e/harness"
)

// cloudVariable has the address of the cloud for the program of buildRemote.
const cloudVariable = "E2E_CLOUD"

// buildRemote makes the controller's program as build does, but for the cloud, which is the test's and outlives it.
func buildRemote(t *testing.T) string {
	t.Helper()
	theirs, err := filepath.Abs("../../examples/controller/simulation.go")
	if err != nil {
		t.Fatal(err)
	}
	ours, err := filepath.Abs("testdata/cloud/simulation.go")
	if err != nil {
		t.Fatal(err)
	}
	overlay, err := json.Marshal(map[string]map[string]string{"Replace": {theirs: ours}})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	file, path := filepath.Join(dir, "overlay.json"), filepath.Join(dir, "controller")
	if err := os.WriteFile(file, overlay, 0o600); err != nil {
		t.Fatal(err)
	}
	command := exec.Command("go", "build", "-C", filepath.Dir(theirs), "-ldflags=-s -w", "-overlay", file, "-o", path, ".")
	if output, err := command.CombinedOutput(); err != nil {
		t.Fatalf("building the controller: %v\n%s", err, output)
	}
	return path
}

// question and answer are as in testdata/cloud.
type (
	question struct {
		Claim      *v1.NodeClaim `json:"claim,omitempty"`
		ProviderID string        `json:"providerID,omitempty"`
	}
	answer struct {
		Claim     *v1.NodeClaim               `json:"claim,omitempty"`
		Claims    []*v1.NodeClaim             `json:"claims,omitempty"`
		Drift     cloudprovider.DriftReason   `json:"drift,omitempty"`
		Gate      cloudprovider.GateResult    `json:"gate"`
		Kind      cloudprovider.ErrorKind     `json:"kind,omitempty"`
		Error     string                      `json:"error,omitempty"`
		Offerings []cloudprovider.OfferingKey `json:"offerings,omitempty"`
	}
)

// serveCloud has programs launch and end instances of the cluster's cloud. What changes something goes through the gate, which may
// be nil. What was asked for is done also if who asked is dead by then.
func serveCloud(t *testing.T, cluster *harness.Cluster, gate func(effect string, do func())) (url string) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		var q question
		if err := json.NewDecoder(r.Body).Decode(&q); err != nil {
			http.Error(out, err.Error(), http.StatusBadRequest)
			return
		}
		var a answer
		method := filepath.Base(r.URL.Path)
		do := func() { a = askCloud(context.WithoutCancel(r.Context()), cluster, method, q) }
		if gate != nil && (method == "Create" || method == "Delete") {
			gate(method+" of the cloud for "+q.Claim.Name, do)
		} else {
			do()
		}
		_ = json.NewEncoder(out).Encode(a)
	}))
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	return server.URL
}

func askCloud(ctx context.Context, cluster *harness.Cluster, method string, q question) answer {
	var a answer
	var err error
	switch method {
	case "Create":
		a.Claim, err = cluster.Cloud.Create(ctx, q.Claim)
	case "Delete":
		err = cluster.Cloud.Delete(ctx, q.Claim)
	case "Get":
		a.Claim, err = cluster.Cloud.Get(ctx, q.ProviderID)
	case "List":
		a.Claims, err = cluster.Cloud.List(ctx)
	case "IsDrifted":
		a.Drift, err = cluster.Cloud.IsDrifted(ctx, q.Claim)
	case "Registered":
		a.Gate, err = cluster.Cloud.Registered(ctx, q.Claim)
	}
	if err != nil {
		a.Kind, a.Error, a.Offerings = cloudprovider.KindOf(err), err.Error(), cloudprovider.ExhaustedOfferings(err)
	}
	return a
}

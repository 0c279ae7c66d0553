package verifymigration

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/drawknife/drawknife/aws/migration"
)

func try(t *testing.T, stdin string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errors bytes.Buffer
	code = Run(t.Context(), args, strings.NewReader(stdin), &out, &errors)
	return code, out.String(), errors.String()
}

func TestUsage(t *testing.T) {
	if code, stdout, _ := try(t, "", "--help"); code != 0 || !strings.Contains(stdout, "Exit status:") {
		t.Errorf("--help: %d, %s", code, stdout)
	}
	if code, stdout, _ := try(t, "", "--version"); code != 0 || !strings.HasPrefix(stdout, "drawknife verifymigration ") {
		t.Errorf("--version: %d, %s", code, stdout)
	}
	const class = "apiVersion: karpenter.k8s.aws/v1\nkind: EC2NodeClass\nmetadata: {name: default}\nspec: {instanceProfile: x}\n"
	for _, c := range []struct {
		says  string
		stdin string
		args  []string
	}{
		{"--cluster-name is missing", "", nil},
		{"did you mean --region", "", []string{"--reigon", "x"}},
		{"arguments are not accepted", "", []string{"--cluster-name", "demo", "extra"}},
		{"--output", "", []string{"--cluster-name", "demo", "-o", "yaml"}},
		{"only once", "", []string{"--cluster-name", "demo", "-f", "-", "--karpenter-metrics", "-"}},
		{"--api-server", "", []string{"--cluster-name", "demo", "--ca-bundle", "QQ=="}},
		{"install kubectl", "", []string{"--cluster-name", "demo", "--kubectl", "/no/such/kubectl"}},
		{"only v1 is read", "apiVersion: karpenter.sh/v1beta1\nkind: NodePool\n", []string{"--cluster-name", "demo", "-f", "-"}},
		{"document 1", "apiVersion: [", []string{"--cluster-name", "demo", "-f", "-"}},
		{"has no metrics", "", []string{"--cluster-name", "demo", "-f", os.DevNull, "--karpenter-metrics", "-"}},
		{"not the ARN of a role", class, []string{"--cluster-name", "demo", "--region", "us-east-1", "-f", "-", "--api-server", "https://x.example", "--controller-role", "demo"}},
		{"--node-roles", class, []string{"--cluster-name", "demo", "--region", "us-east-1", "-f", "-", "--api-server", "https://x.example", "--controller-role", "arn:aws:iam::111122223333:role/x"}},
	} {
		code, stdout, stderr := try(t, c.stdin, c.args...)
		if code != exitInput || stdout != "" || !strings.Contains(stderr, c.says) {
			t.Errorf("%v: %d, %s, %s; want %q", c.args, code, stdout, stderr, c.says)
		}
	}
}

// A kubectl that fails without a message is there: only the other cure is named.
func TestKubectlFailsSilently(t *testing.T) {
	kubectl := filepath.Join(t.TempDir(), "kubectl")
	if err := os.WriteFile(kubectl, []byte("#!/bin/sh\nexit 3\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	code, _, stderr := try(t, "", "--cluster-name", "demo", "--kubectl", kubectl)
	if code == 0 || strings.Contains(stderr, "install kubectl") || !strings.Contains(stderr, "--filename") {
		t.Errorf("status %d, %s", code, stderr)
	}
}

// Without standard input it is empty; without a place for the output the command does nothing.
func TestMissingStreams(t *testing.T) {
	args := []string{"--cluster-name", "demo", "-f", "-"}
	var empty, none, stdout bytes.Buffer
	if code := Run(t.Context(), args, strings.NewReader(""), &stdout, &empty); code != exitInput || empty.Len() == 0 {
		t.Errorf("status %d, %s", code, &empty)
	}
	if code := Run(t.Context(), args, nil, &stdout, &none); code != exitInput || none.String() != empty.String() {
		t.Errorf("status %d, %s, with empty input %s", code, &none, &empty)
	}
	if code := Run(t.Context(), args, nil, nil, nil); code != exitInput {
		t.Errorf("status %d", code)
	}
}

// Objects are read from lists and documents, in YAML and JSON; other kinds are passed over, and the address of the DNS service is kept.
func TestReadCluster(t *testing.T) {
	file := filepath.Join(t.TempDir(), "cluster.yaml")
	const text = `apiVersion: v1
kind: List
items:
- {apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: default}, spec: {aFieldOfTheFuture: true}}
- {apiVersion: v1, kind: Pod, metadata: {name: web}}
---
{"apiVersion": "karpenter.k8s.aws/v1", "kind": "EC2NodeClass", "metadata": {"name": "default"}}
---
apiVersion: v1
kind: Service
metadata: {name: kube-dns, namespace: kube-system}
spec: {clusterIP: 172.20.0.10}
`
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	all, err := readCluster(t.Context(), options{files: []string{file}}, nil)
	if err != nil || len(all.pools) != 1 || len(all.classes) != 1 || len(all.claims) != 0 || all.dns != "172.20.0.10" {
		t.Errorf("%+v, %v", all, err)
	}
}

func TestKarpenterTypes(t *testing.T) {
	got, err := karpenterTypes([]byte(`# HELP karpenter_cloudprovider_instance_type_cpu_cores VCPUs cores for a given instance type.
karpenter_cloudprovider_instance_type_cpu_cores{instance_type="m5.large"} 2
karpenter_cloudprovider_instance_type_memory_bytes{instance_type="m5.large"} 8.589934592e+09
karpenter_cloudprovider_instance_type_offering_price_estimate{capacity_type="spot",instance_type="c5.large",zone="us-east-1a"} 0.03
other{instance_type="x1.large"} 1
`))
	if err != nil || !slices.Equal(got, []string{"c5.large", "m5.large"}) {
		t.Errorf("%v, %v", got, err)
	}
}

// The document of a report says what it is, and has the keys of the report.
func TestDocument(t *testing.T) {
	var out bytes.Buffer
	if err := show(migration.Report{Cluster: "demo"}, outputJSON, &out); err != nil {
		t.Fatal(err)
	}
	if got := out.String(); !strings.HasPrefix(got, "{\n  \"apiVersion\": \"migration.drawknife.dev/v1\",\n  \"kind\": \"Report\",\n  \"cluster\": \"demo\"") {
		t.Error(got)
	}
}

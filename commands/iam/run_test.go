package iam

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var given = []string{"--cluster-name", "demo", "--region", "eu-central-1", "--account-id", "111122223333", "--node-roles", "demo-nodes", "--queue", "demo"}

func try(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errors bytes.Buffer
	code = run(args, &out, &errors, func(string) {})
	return code, out.String(), errors.String()
}

// Every file is written, and the text says of each what it is for.
func TestFiles(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "setup")
	code, stdout, stderr := try(t, append(given, "--out", dir)...)
	if code != 0 {
		t.Fatal(stderr)
	}
	files, err := os.ReadDir(dir)
	if err != nil || len(files) != 13 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, f := range files {
		_, rest, ok := strings.Cut(stdout, f.Name())
		line, _, _ := strings.Cut(rest, "\n")
		if !ok || strings.TrimSpace(line) == "" {
			t.Errorf("it is not said what %s is", f.Name())
		}
	}
}

// The JSON is that of iam.Setup, and says what it is.
func TestJSON(t *testing.T) {
	code, stdout, stderr := try(t, append(given, "-o", "json", "--oidc-issuer", "https://oidc.example.com/id/1")...)
	var setup document
	if err := json.Unmarshal([]byte(stdout), &setup); err != nil || code != 0 {
		t.Fatal(err, stderr)
	}
	if setup.APIVersion != "iam.drawknife.dev/v1" || setup.Kind != "Setup" {
		t.Errorf("the document says that it is %s %s", setup.APIVersion, setup.Kind)
	}
	if got := setup.ControllerTrust.Statement[0].Principal.Federated; len(got) != 1 {
		t.Errorf("the controller's role trusts %v", got)
	}
}

// Each tool gets its own form, and what it cannot do is bad usage.
func TestTools(t *testing.T) {
	for form, begins := range map[string]string{"cloudformation": "AWSTemplateFormatVersion:", "terraform": "# What", "eksctl": "# eksctl"} {
		code, stdout, stderr := try(t, append(given, "-o", form)...)
		if code != 0 || !strings.HasPrefix(stdout, begins) {
			t.Errorf("%s: %d, %.100s, %s", form, code, stdout, stderr)
		}
	}
	if code, stdout, stderr := try(t, append(given, "-o", "eksctl", "--without-eks")...); code != exitInput || stdout != "" || !strings.Contains(stderr, "WithoutEKS") {
		t.Errorf("eksctl without EKS: %d, %s, %s", code, stdout, stderr)
	}
}

func TestUsage(t *testing.T) {
	if code, stdout, _ := try(t, "--help"); code != 0 || !strings.Contains(stdout, "Examples:") {
		t.Errorf("--help: %d, %s", code, stdout)
	}
	for _, c := range []struct {
		says string
		args []string
		code int
	}{
		{"AccountID", []string{"--cluster-name", "demo"}, exitInput},
		{"no-such-flag", []string{"--no-such-flag"}, exitInput},
		{"--output", append(given, "-o", "yaml"), exitInput},
		{"extra", append(given, "extra"), exitInput},
		{"writing: ", append(given, "--out", "/dev/null/x"), exitOutput},
	} {
		code, _, stderr := try(t, c.args...)
		if code != c.code || !strings.Contains(stderr, c.says) {
			t.Errorf("%v: %d, %s", c.args, code, stderr)
		}
	}
}

// Every command says what it was built from, and which flag a mistyped one may stand for.
func TestVersionAndTypos(t *testing.T) {
	code, stdout, stderr := try(t, "--version")
	if code != 0 || stderr != "" || !strings.HasPrefix(stdout, "drawknife iam ") || strings.Count(stdout, "\n") != 1 {
		t.Errorf("--version: %d, %q, %q", code, stdout, stderr)
	}
	code, _, stderr = try(t, "--reigon=x")
	if code != exitInput || !strings.Contains(stderr, "did you mean --region?") {
		t.Errorf("a mistyped flag: %d, %q", code, stderr)
	}
}

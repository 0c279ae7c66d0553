package userdata

import (
	"errors"
	"strings"
	"testing"

	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
)

// AWN-183, AWN-185, AWN-198, AWN-210, AWN-223, AWN-342, AWN-362: what breaks the family's format is refused with the
// line, and nothing of the text, which may be secret, is quoted.
func TestMalformedUserData(t *testing.T) {
	const al2, al2023 = awsv1.AMIFamilyAL2, awsv1.AMIFamilyAL2023
	const toml, win = awsv1.AMIFamilyBottlerocket, awsv1.AMIFamilyWindows2022
	for _, tc := range []struct {
		name    string
		family  awsv1.AMIFamily
		text    string
		line    int
		problem string
	}{
		{"not multipart", al2, "MIME-Version: 1.0\nContent-Type: text/plain\n\nsecret", 2, "not multipart"},
		{"no type", al2, "\n\nMIME-Version: 1.0\n\nsecret", 3, "not multipart"},
		{"no boundary", al2, "Content-Type: multipart/mixed\n\n--x--", 1, "names no boundary"},
		{"bad parameters", al2, "Content-Type: multipart/mixed; boundary=\"\n\n--x--", 1, "not multipart"},
		{"headers without end", al2, "MIME-Version: 1.0", 1, "among headers"},

		{"broken NodeConfig", al2023, "apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec:\n  kubelet: {secret\n", 4, "is not YAML"},
		{"broken indentation", al2023, "apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec:\n  a: b\n c: d\n", 5, "is not YAML"},
		{"a quote left open", al2023, "apiVersion: node.eks.aws/v1alpha1\nkind: \"NodeConfig\nspec: x\n", 2, "is not YAML"},
		{"a tab", al2023, "apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec:\n\tsecret: x\n", 4, "is not YAML"},
		{"NodeConfig without apiVersion", al2023, "# mine\nkind: NodeConfig\nspec: {}\n", 2, "apiVersion: node.eks.aws/v1alpha1"},
		{"another kind", al2023, "apiVersion: node.eks.aws/v1alpha1\nkind: Config\n", 1, "kind: NodeConfig"},
		{"nothing but a spec", al2023, "spec:\n  kubelet:\n    config: {}\n", 1, "but none"},
		{"two documents", al2023, "apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\n---\nkind: NodeConfig\n", 3, "reads one document"},
		{"broken NodeConfig in an archive", al2023,
			"MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=b\n\n--b\nContent-Type: application/node.eks.aws\n\nkind: NodeConfig\na: b: c\n--b--\n", 8, "is not YAML"},
		{"a part that is no NodeConfig", al2023,
			"MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=b\n\n--b\nContent-Type: application/node.eks.aws\n\n# secret\nkind: Other\n--b--\n", 8, "contains no NodeConfig"},
		{"a part of two documents", al2023,
			"MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=b\n\n--b\nContent-Type: application/node.eks.aws\n\napiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\n---\nx: y\n--b--\n", 9, "a part of its own"},

		{"not TOML", toml, "[settings.kubernetes]\nkube-api-qps = secret\n", 2, "is not TOML"},
		{"an open table", toml, "[settings.kubernetes\n", 1, "is not TOML"},
		{"a key twice", toml, "[settings.motd]\na = 1\na = 2\n", 3, "is not TOML"},
		{"settings that are no table", toml, "# secret\nsettings = 3\n", 2, "wrong type"},
		{"kubernetes that is no table", toml, "[settings]\nkubernetes = 'secret'\n", 2, "wrong type"},
		{"a label that is a number", toml, "[settings.kubernetes.node-labels]\nteam = 3\n", 2, "labels are strings"},
		{"a taint that is a string", toml, "[settings.kubernetes.node-taints]\n'secret' = 'x:NoSchedule'\n", 2, "lists of strings"},
		{"a mode there is not", toml, "[settings.bootstrap-commands.x]\ncommands = [['ls']]\nmode = 'secret'\n", 3, "always, once or off"},
		{"a command that is one string", toml, "[settings.bootstrap-commands.x]\ncommands = ['secret']\n", 2, "lists of lists"},

		{"PowerShell on Linux", al2023, "\n<powershell>\nsecret\n</powershell>", 2, "is for Windows"},
		{"a batch script on Linux", al2, "<script>secret</script>", 1, "is for Windows"},
		{"a coded part that is no NodeConfig", al2023,
			"MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=b\n\n--b\nContent-Type: application/node.eks.aws\nContent-Transfer-Encoding: base64\n\nc2VjcmV0OiB4Cg==\n--b--\n", 8, "contains no NodeConfig"},

		{"a tag of its own", win, "Write-Host secret\n<powershell>\nWrite-Host x\n</powershell>", 2, "remove the tags"},
		{"the end of the block", win, "</PowerShell>secret", 1, "remove the tags"},
		{"a batch script", win, "\n<script>\nsecret\n</script>", 2, "remove the tags"},
	} {
		t.Run(string(tc.family)+" "+tc.name, func(t *testing.T) {
			_, err := Render(with(demo(tc.family), serviceCIDR, user(tc.text)))
			var malformed *MalformedError
			if !errors.As(err, &malformed) {
				t.Fatalf("error is %v, want a MalformedError", err)
			}
			if malformed.Line != tc.line || !strings.Contains(malformed.Problem, tc.problem) {
				t.Errorf("got %v, want line %d, %q", err, tc.line, tc.problem)
			}
			if strings.Contains(err.Error(), "secret") {
				t.Errorf("the error quotes the user data: %v", err)
			}
		})
	}
}

// AWN-198: what is a script stays one, though it can be read as YAML.
func TestScriptsThatLookLikeYAML(t *testing.T) {
	for _, text := range []string{
		"#!/bin/bash\n# kind: NodeConfig\n", "# comments alone\n", "key: value\n", "echo: hi", "[ -f x ] && ls", "- a\n- b\n", "\"unclosed", "a: b: c\n",
		"#!/bin/bash\ncat <<E\napiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nE\n", "spec: x\n", "spec:\n  containers: []\n",
	} {
		rendered, err := Render(with(demo(awsv1.AMIFamilyAL2023), serviceCIDR, user(text)))
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		if parts := readByStandardLibrary(t, rendered.Text); len(parts) != 2 || parts[0].contentType != contentTypeScript || parts[0].body != text {
			t.Errorf("%q became %+v", text, parts[0])
		}
	}
	for _, text := range []string{
		"{\"apiVersion\": \"node.eks.aws/v1alpha1\", \"kind\": \"NodeConfig\"}", "---\n# mine\nkind: NodeConfig\napiVersion: node.eks.aws/v1alpha1\n",
	} {
		rendered, err := Render(with(demo(awsv1.AMIFamilyAL2023), serviceCIDR, user(text)))
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		if parts := readByStandardLibrary(t, rendered.Text); parts[0].contentType != mediaTypeNodeConfig || parts[0].body != text {
			t.Errorf("%q became %+v", text, parts[0])
		}
	}
}

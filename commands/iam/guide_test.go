package iam

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	v1 "github.com/drawknife/drawknife/api/v1"
	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
)

// The guide of migration: its command writes the policy for machines of Provisioners, which the guide of EKS has not, under the name by
// which the command after it takes it. API-425, API-426, API-432.
func TestMigrationGuide(t *testing.T) {
	text, err := os.ReadFile("../../docs/migration.md")
	if err != nil {
		t.Fatal(err)
	}
	commands := regexp.MustCompile(`(?m)^ *go run \./examples/iam (.*) --out setup\n *aws iam put-role-policy .* --policy-name (\S+) --policy-document file://setup/(\S+)$`).FindStringSubmatch(string(text))
	if commands == nil {
		t.Fatal("the guide does not run these commands")
	}
	dir := t.TempDir()
	var stdout, stderr bytes.Buffer
	if code := run(append(strings.Fields(commands[1]), "--out", dir), &stdout, &stderr, func(string) {}); code != 0 {
		t.Fatal(&stderr)
	}
	policy, err := os.ReadFile(filepath.Join(dir, commands[3]))
	if err != nil || !strings.Contains(string(policy), "karpenter.sh/provisioner-name") || commands[3] != commands[2]+".json" {
		t.Errorf("policy %s of file %s: %v", commands[2], commands[3], err)
	}
	without := t.TempDir()
	if code := run(append(strings.Fields(strings.ReplaceAll(commands[1], "--serve-alpha", "")), "--out", without), &stdout, &stderr, func(string) {}); code != 0 {
		t.Fatal(&stderr)
	}
	if _, err := os.Stat(filepath.Join(without, commands[3])); err == nil {
		t.Errorf("%s is written without --serve-alpha too", commands[3])
	}
}

// The guide of EKS: its command writes every file that the commands after it use, with the policies that it attaches, and its
// objects are valid. S1-013, S2-019, S2-027, S2-028.
func TestGuide(t *testing.T) {
	text, err := os.ReadFile("../../docs/eks.md")
	if err != nil {
		t.Fatal(err)
	}
	guide := string(text)
	command := regexp.MustCompile(`(?m)^go run \./examples/iam (.*) --out setup$`).FindStringSubmatch(guide)
	if command == nil {
		t.Fatal("the guide does not run this command")
	}
	dir := t.TempDir()
	var stdout, stderr bytes.Buffer
	if code := run(append(strings.Fields(command[1]), "--out", dir), &stdout, &stderr, func(string) {}); code != 0 {
		t.Fatal(&stderr)
	}
	written := make(map[string]bool)
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		written[f.Name()] = true
	}
	// Loops name several files at once.
	loop := regexp.MustCompile(`(?s)for (\w+) in ([a-z -]+); do\n(.*?)done`)
	used := loop.ReplaceAllStringFunc(guide, func(all string) string {
		m := loop.FindStringSubmatch(all)
		var body strings.Builder
		for word := range strings.FieldsSeq(m[2]) {
			body.WriteString(strings.ReplaceAll(m[3], "$"+m[1], word))
		}
		return body.String()
	})
	for _, m := range regexp.MustCompile(`setup/([A-Za-z0-9.-]+\.json)`).FindAllStringSubmatch(used, -1) {
		if _, err := os.Stat(filepath.Join(dir, m[1])); err != nil {
			t.Errorf("the guide uses %s, which is not written", m[1])
		}
		delete(written, m[1])
	}
	for name := range written {
		t.Errorf("the guide has no use for %s", name)
	}
	for line := range strings.Lines(stdout.String()) {
		if _, policy, ok := strings.Cut(line, ":policy/"); ok && !strings.Contains(guide, strings.TrimSpace(policy)) {
			t.Errorf("the guide does not attach %s", policy)
		}
	}

	_, objects, _ := strings.Cut(guide, "```yaml\n")
	objects, _, _ = strings.Cut(objects, "```")
	class, pool, ok := strings.Cut(objects, "---\n")
	if !ok {
		t.Fatal("the guide has no node class and pool")
	}
	var c awsv1.EC2NodeClass
	var p v1.NodePool
	if err := yaml.UnmarshalStrict([]byte(class), &c); err != nil {
		t.Fatal(err)
	}
	if err := yaml.UnmarshalStrict([]byte(pool), &p); err != nil {
		t.Fatal(err)
	}
	c.Default()
	p.Default()
	if faults := append(c.Validate(), p.Validate()...); len(faults) > 0 {
		t.Error(faults.ToAggregate())
	}
}

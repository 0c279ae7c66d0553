package convert

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const withVariables = `apiVersion: karpenter.sh/v1beta1
kind: NodePool
metadata: {name: "${POOL}", labels: {team: <TEAM>}}
spec:
  template:
    spec:
      nodeClassRef: {name: $(CLASS)}   # of ${TEAM_NAME}
      requirements:
      - {key: topology.kubernetes.io/zone, operator: In, values: ["${KIND:-spot}"]}
  limits:
    cpu: ${CPU}
    memory: "${MEMORY}Gi"
`

// Variables stay where they are: in names, values and numbers, in what is printed and in files.
func TestVariables(t *testing.T) {
	code, printed, errs := exec(t, withVariables, "-f", "-", "--allow-variables")
	if code != exitConverted {
		t.Fatalf("status %d: %s", code, errs)
	}
	for _, want := range []string{"apiVersion: karpenter.sh/v1\n", "name: ${POOL}\n", "team: <TEAM>\n", "name: $(CLASS)\n", "- ${KIND:-spot}\n", "cpu: ${CPU}\n", "memory: ${MEMORY}Gi\n"} {
		if want == "cpu: ${CPU}\n" { // a quantity is written as text
			want = "cpu: \"${CPU}\"\n"
		}
		if !strings.Contains(printed, want) {
			t.Errorf("no %q in\n%s", want, printed)
		}
	}
	dir := folder(t, map[string]string{"pool.yaml": withVariables})
	if code, _, errs := exec(t, "", "-R", "-f", dir, "--in-place", "--allow-variables"); code != exitConverted {
		t.Fatalf("status %d: %s", code, errs)
	}
	text, err := os.ReadFile(filepath.Join(dir, "pool.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`metadata: {name: "${POOL}", labels: {team: <TEAM>}}`, "# of ${TEAM_NAME}", "    cpu: ${CPU}\n    memory: \"${MEMORY}Gi\"\n"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if strings.Contains(string(text)+printed+errs, standInPrefix) {
		t.Errorf("a stand-in is left:\n%s%s%s", text, printed, errs)
	}
}

// Without the flag a message names it, and a value that the conversion computes with is refused.
func TestVariablesRefused(t *testing.T) {
	if code, _, errs := exec(t, withVariables, "-f", "-"); code == exitConverted || !strings.Contains(errs+"", "${") {
		t.Errorf("status %d: %s", code, errs)
	}
	const invalid = "apiVersion: karpenter.sh/v1beta1\nkind: NodePool\nmetadata: {name: a, labels: {team: \"${TEAM}\"}}\nspec: {template: {spec: {requirements: [{key: a/b, operator: In, values: [\"${KIND}\"]}], nodeClassRef: {name: a}}}}\n"
	if code, _, errs := exec(t, invalid, "-f", "-"); code != exitLost || !strings.Contains(errs, "let them through with --allow-variables") {
		t.Errorf("status %d: %s", code, errs)
	}
	code, printed, errs := exec(t, "apiVersion: karpenter.sh/v1alpha5\nkind: Provisioner\nmetadata: {name: a}\nspec: {providerRef: {name: a}, weight: 1}\nstatus: {}\n---\napiVersion: karpenter.sh/v1alpha5\nkind: Provisioner\nmetadata: {name: b, annotations: {kubectl.kubernetes.io/last-applied-configuration: \"${OLD}\"}}\nspec: {providerRef: {name: a}}\n", "-f", "-", "--allow-variables")
	if code != exitLost || printed != "" || !strings.Contains(errs, "--allow-variables: the result does not have ${OLD}") {
		t.Errorf("status %d: %s%s", code, printed, errs)
	}
}

// Placeholders in double braces are variables too. Without the flag, a message names it.
func TestVariablesInBraces(t *testing.T) {
	const pool = `apiVersion: karpenter.sh/v1beta1
kind: NodePool
metadata: {name: "shared-{{az}}"}
spec:
  template:
    spec:
      nodeClassRef: {name: a}
      requirements: [{key: topology.kubernetes.io/zone, operator: In, values: ["{{ az }}"]}]
---
apiVersion: karpenter.k8s.aws/v1beta1
kind: EC2NodeClass
metadata: {name: a}
spec:
  amiFamily: AL2
  role: a
  subnetSelectorTerms:
  - id: {{subnet-id}}
  - id: subnet-{{number}}
  securityGroupSelectorTerms: [{name: a}, {id: "${GROUP}"}]
`
	code, printed, errs := exec(t, pool, "-f", "-", "--allow-variables")
	for _, want := range []string{"name: shared-{{az}}\n", "- {{ az }}\n", "- id: {{subnet-id}}\n", "- id: subnet-{{number}}\n", "- id: ${GROUP}\n"} {
		if code != exitConverted || !strings.Contains(printed, want) {
			t.Errorf("status %d: no %q in\n%s%s", code, want, printed, errs)
		}
	}
	code, _, errs = exec(t, pool, "-f", "-")
	for _, want := range []string{"-:17 (document 2): text that begins with a brace needs quotes", "--allow-variables accepts placeholders such as {{az}}"} {
		if code != exitInput || !strings.Contains(errs, want) {
			t.Errorf("status %d: no %q in %s", code, want, errs)
		}
	}
	if code, _, errs := exec(t, pool+"{{ end }}\n", "-f", "-", "--allow-variables"); code != exitInput || !strings.Contains(errs, "it looks like a template") {
		t.Errorf("status %d: %s", code, errs)
	}
}

// The role that replaces an instance profile is not in the input: a variable in the profile's name is in the warning, and not lost.
func TestVariableInProfile(t *testing.T) {
	const template = "apiVersion: karpenter.k8s.aws/v1alpha1\nkind: AWSNodeTemplate\nmetadata: {name: a}\nspec: {subnetSelector: {a: b}, securityGroupSelector: {a: b}, instanceProfile: \"nodes-${CLUSTER}\"}\n"
	code, printed, errs := exec(t, template, "-f", "-", "--allow-variables")
	if code != exitConverted || !strings.Contains(printed, "role: $KARPENTER_NODE_ROLE") || !strings.Contains(errs, "instance profile nodes-${CLUSTER}") {
		t.Errorf("status %d: %s%s", code, printed, errs)
	}
}

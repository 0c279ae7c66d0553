package iam_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/drawknife/drawknife/aws/iam"
)

// forms are the documents for the tools.
func forms() map[string]func(iam.Settings) ([]byte, error) {
	return map[string]func(iam.Settings) ([]byte, error){
		"cloudformation.yaml": iam.CloudFormation, "terraform.tf": iam.Terraform, "eksctl.yaml": iam.Eksctl,
	}
}

// The whole of the documents for the tools, with EKS Pod Identity and with an OIDC provider.
func TestToolGoldens(t *testing.T) {
	for name, s := range map[string]iam.Settings{
		"aws":      settings(),
		"aws-oidc": settings(func(s *iam.Settings) { s.OIDCIssuer, s.Queue = "https://oidc.example.com/id/1", "" }),
	} {
		for form, make := range forms() {
			t.Run(name+"-"+form, func(t *testing.T) {
				got, err := make(s)
				if err != nil {
					t.Fatal(err)
				}
				golden := filepath.Join("testdata", name+"-"+form)
				if *update {
					if err := os.WriteFile(golden, got, 0o644); err != nil {
						t.Fatal(err)
					}
				}
				want, err := os.ReadFile(golden)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(string(want), string(got)); diff != "" {
					t.Errorf("%s (-want +got):\n%s", golden, diff)
				}
			})
		}
	}
}

// stack is a CloudFormation template.
type stack struct {
	Parameters map[string]any
	Conditions map[string]any
	Resources  map[string]struct {
		Type, Condition string
		Properties      map[string]any
	}
}

func readStack(t *testing.T, s iam.Settings) stack {
	t.Helper()
	text, err := iam.CloudFormation(s)
	if err != nil {
		t.Fatal(err)
	}
	var out stack
	if err := yaml.Unmarshal(text, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// document is a value as the JSON of a policy document, to compare both.
func document(t *testing.T, value any) string {
	t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	var d iam.Document
	if err := json.Unmarshal(text, &d); err != nil {
		t.Fatal(err)
	}
	return string(d.JSON())
}

// CloudFormation and Terraform create what Generate describes: each policy with its whole content, both kinds of roles, the queue and the
// rules. What they say about a resource that is not there is an error of the tool.
func TestToolsCreateEverything(t *testing.T) {
	s := settings(everything, func(s *iam.Settings) { s.ClusterName = strings.Repeat("a-long.name_", 8) })
	setup := generate(t, s)
	var policies, inStack, inTerraform []string
	for _, p := range setup.ControllerPolicies {
		policies = append(policies, string(p.Document.JSON()))
	}
	got := readStack(t, s)
	count := map[string]int{}
	for id, r := range got.Resources {
		count[r.Type]++
		if r.Type == "AWS::IAM::ManagedPolicy" {
			inStack = append(inStack, document(t, r.Properties["PolicyDocument"]))
		}
		if name, ok := r.Properties["RoleName"].(string); ok && len(name) > 64 {
			t.Errorf("%s: role name %s has %d characters", id, name, len(name))
		}
		if r.Condition != "" && got.Conditions[r.Condition] == nil {
			t.Errorf("%s: there is no condition %s", id, r.Condition)
		}
	}
	for _, m := range regexp.MustCompile(`(?:Ref|GetAtt)":\[?"([A-Za-z0-9]+)"`).FindAllStringSubmatch(string(mustJSON(t, got)), -1) {
		if _, ok := got.Resources[m[1]]; !ok && got.Parameters[m[1]] == nil {
			t.Errorf("the template refers to %s, which it does not have", m[1])
		}
	}
	want := map[string]int{
		"AWS::IAM::ManagedPolicy": len(policies), "AWS::IAM::Role": 3, "AWS::EKS::PodIdentityAssociation": 1, "AWS::EKS::AccessEntry": 2,
		"AWS::SQS::Queue": 1, "AWS::SQS::QueuePolicy": 1, "AWS::Events::Rule": len(setup.Rules),
	}
	if diff := cmp.Diff(want, count); diff != "" {
		t.Errorf("resources of the stack (-want +got):\n%s", diff)
	}

	text, err := iam.Terraform(s)
	if err != nil {
		t.Fatal(err)
	}
	hcl := string(text)
	for _, m := range regexp.MustCompile(`(?s)resource "aws_iam_policy" .*?jsonencode\((.*?)\n  \)?`).FindAllStringIndex(hcl, -1) {
		rest := hcl[m[0]:]
		_, rest, _ = strings.Cut(rest, "jsonencode(")
		var value any
		if err := json.NewDecoder(strings.NewReader(strings.ReplaceAll(rest, "$${", "${"))).Decode(&value); err != nil {
			t.Fatal(err)
		}
		inTerraform = append(inTerraform, document(t, value))
	}
	for _, list := range []*[]string{&policies, &inStack, &inTerraform} {
		slices.Sort(*list)
	}
	if diff := cmp.Diff(policies, inStack); diff != "" {
		t.Errorf("policies of the stack (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(policies, inTerraform); diff != "" {
		t.Errorf("policies of the configuration (-want +got):\n%s", diff)
	}
	declared := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^resource "(\w+)" "(\w+)"`).FindAllStringSubmatch(hcl, -1) {
		if declared[m[1]+"."+m[2]] {
			t.Errorf("%s.%s is declared twice", m[1], m[2])
		}
		declared[m[1]+"."+m[2]] = true
	}
	for _, m := range regexp.MustCompile(`\b(aws_\w+\.\w+)(?:\[0\])?\.\w+`).FindAllStringSubmatch(hcl, -1) {
		if !declared[m[1]] {
			t.Errorf("the configuration refers to %s, which it does not have", m[1])
		}
	}
}

func mustJSON(t *testing.T, value any) []byte {
	t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// eksctl gets its policies by the ARNs of those that the stack creates, and cannot serve a cluster outside EKS. No tool takes bad settings.
func TestEksctl(t *testing.T) {
	text, err := iam.Eksctl(settings())
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range generate(t, settings()).ControllerPolicies {
		if !strings.Contains(string(text), "arn:aws:iam::111122223333:policy/"+p.Name+"\n") {
			t.Errorf("policy %s is not attached:\n%s", p.Name, text)
		}
	}
	var fault *iam.SettingError
	if _, err := iam.Eksctl(settings(func(s *iam.Settings) { s.WithoutEKS = true })); !errors.As(err, &fault) || fault.Setting != "WithoutEKS" {
		t.Errorf("without EKS: %v", err)
	}
	for form, make := range forms() {
		if _, err := make(settings(func(s *iam.Settings) { s.AccountID = "" })); !errors.As(err, &fault) || fault.Setting != "AccountID" {
			t.Errorf("%s without an account: %v", form, err)
		}
	}
}

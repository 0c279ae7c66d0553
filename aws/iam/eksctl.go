package iam

import (
	"bytes"
	"fmt"
	"strings"

	"sigs.k8s.io/yaml"
)

// eksctlConfig is the part of eksctl's ClusterConfig that the controller needs.
type eksctlConfig struct {
	APIVersion   string           `json:"apiVersion"`
	Kind         string           `json:"kind"`
	Metadata     eksctlMetadata   `json:"metadata"`
	Addons       []map[string]any `json:"addons,omitempty"`
	IAM          map[string]any   `json:"iam"`
	AccessConfig map[string]any   `json:"accessConfig,omitempty"`
}

type eksctlMetadata struct {
	Name   string `json:"name"`
	Region string `json:"region"`
}

// Eksctl returns a ClusterConfig of eksctl, as YAML: the controller's role with its policies, as an EKS Pod Identity association (or as a
// service account of the cluster's OIDC provider, with Settings.OIDCIssuer), and the access entries of the instances' roles. eksctl does
// not create managed policies, roles of instances or queues. Therefore deploy the template of CloudFormation first, with
// ParameterControllerRole and ParameterAccessEntries set to "false". A comment at the top of the document says so. Errors are those of
// Generate, and a *SettingError for WithoutEKS. It is a pure function, safe for concurrent use, and equal for equal settings.
func Eksctl(settings Settings) ([]byte, error) {
	a, setup, err := settings.setup()
	if err != nil {
		return nil, err
	}
	if a.WithoutEKS {
		return nil, fmt.Errorf("eksctl document: %w", &SettingError{
			Setting: "WithoutEKS", Rule: "eksctl manages EKS clusters only: leave the setting out, or use another form of the documents",
		})
	}
	var policies []string
	for _, p := range setup.ControllerPolicies {
		policies = append(policies, a.policyARN(p))
	}
	namespace, name, _ := strings.Cut(a.ServiceAccount, "/")
	config := eksctlConfig{
		APIVersion: "eksctl.io/v1alpha5", Kind: "ClusterConfig",
		Metadata: eksctlMetadata{Name: a.ClusterName, Region: a.Region},
	}
	if a.podIdentity() {
		config.Addons = []map[string]any{{"name": "eks-pod-identity-agent"}}
		config.IAM = map[string]any{"podIdentityAssociations": []any{map[string]any{
			"namespace": namespace, "serviceAccountName": name, "roleName": ControllerRoleName(a.ClusterName), "permissionPolicyARNs": policies,
		}}}
	} else {
		config.IAM = map[string]any{"withOIDC": true, "serviceAccounts": []any{map[string]any{
			"metadata": map[string]string{"namespace": namespace, "name": name},
			"roleName": ControllerRoleName(a.ClusterName), "roleOnly": true, "attachPolicyARNs": policies,
		}}}
	}
	var entries []any
	for _, role := range a.nodeRoles() {
		entries = append(entries, map[string]any{"principalARN": role.arn, "type": accessType})
	}
	config.AccessConfig = map[string]any{"accessEntries": entries}
	text, err := yaml.Marshal(config)
	if err != nil {
		return nil, fmt.Errorf("eksctl document of cluster %q: %w", a.ClusterName, err)
	}
	var out bytes.Buffer
	fmt.Fprintf(&out, `# eksctl does not create managed policies, roles of instances, queues or rules. Create them first, from the CloudFormation template of the
# same settings, with %s=false and %s=false.
`, ParameterControllerRole, ParameterAccessEntries)
	out.Write(text)
	return out.Bytes(), nil
}

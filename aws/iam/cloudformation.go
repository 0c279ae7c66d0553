package iam

import (
	"fmt"
	"strings"
	"unicode"

	"sigs.k8s.io/yaml"
)

// Parameters of the CloudFormation template: "true" (the default) or "false".
const (
	// ParameterControllerRole creates the controller's role. Set it to "false" if another tool creates the role, as eksctl does with the
	// document of Eksctl.
	ParameterControllerRole = "CreateControllerRole"
	// ParameterNodeRoles creates the roles of Settings.NodeRoles. Set it to "false" if they exist.
	ParameterNodeRoles = "CreateNodeRoles"
	// ParameterAccessEntries creates an access entry for each of the roles of Settings.NodeRoles. Set it to "false" if they exist, or if
	// the cluster lists its users in the ConfigMap aws-auth.
	ParameterAccessEntries = "CreateAccessEntries"
)

// resource is a resource of a CloudFormation template.
type resource struct {
	Type       string         `json:"Type"`
	Condition  string         `json:"Condition,omitempty"`
	Properties map[string]any `json:"Properties"`
}

// template is a CloudFormation template.
type template struct {
	Version     string                    `json:"AWSTemplateFormatVersion"`
	Description string                    `json:"Description"`
	Parameters  map[string]any            `json:"Parameters"`
	Conditions  map[string]any            `json:"Conditions"`
	Resources   map[string]resource       `json:"Resources"`
	Outputs     map[string]map[string]any `json:"Outputs"`
}

// CloudFormation returns a CloudFormation template, as YAML, of everything that Generate describes: policies, the controller's role with its
// EKS Pod Identity association, the instances' roles with their access entries, the queue, and the rules. Roles and policies have names, so
// the stack needs CAPABILITY_NAMED_IAM. With the parameters of the Parameter constants, users leave out parts that exist already. Errors
// are those of Generate. It is a pure function, safe for concurrent use, and equal for equal settings.
func CloudFormation(settings Settings) ([]byte, error) {
	a, setup, err := settings.setup()
	if err != nil {
		return nil, err
	}
	t := template{
		Version:     "2010-09-09",
		Description: "What drawknife needs in the account for cluster " + a.ClusterName,
		Parameters:  map[string]any{},
		Conditions:  map[string]any{},
		Resources:   map[string]resource{},
		Outputs:     map[string]map[string]any{},
	}
	t.choose(ParameterControllerRole, "Create the controller's role")
	t.choose(ParameterNodeRoles, "Create the roles of the instances")
	t.addController(a, setup)
	t.addNodeRoles(a, setup)
	t.addQueue(setup)
	out, err := yaml.Marshal(t)
	if err != nil {
		return nil, fmt.Errorf("CloudFormation template of cluster %q: %w", a.ClusterName, err)
	}
	return out, nil
}

// choose adds a parameter of "true" or "false", and the condition "Do" + name.
func (t *template) choose(name, what string) {
	t.Parameters[name] = map[string]any{
		"Type": "String", "Default": "true", "AllowedValues": []string{"true", "false"}, "Description": what,
	}
	t.Conditions["Do"+name] = map[string]any{"Fn::Equals": []any{ref(name), "true"}}
}

// addController adds the policies, the controller's role and its association.
func (t *template) addController(a account, setup Setup) {
	var policies []any
	for _, p := range setup.ControllerPolicies {
		id := "Policy" + logical(suffix(a.ClusterName, p.Name))
		t.Resources[id] = resource{Type: "AWS::IAM::ManagedPolicy", Properties: map[string]any{
			"ManagedPolicyName": p.Name, "Description": p.Description, "PolicyDocument": p.Document,
		}}
		policies = append(policies, ref(id))
	}
	const condition = "Do" + ParameterControllerRole
	t.Resources["ControllerRole"] = resource{Type: "AWS::IAM::Role", Condition: condition, Properties: map[string]any{
		"RoleName": ControllerRoleName(a.ClusterName), "AssumeRolePolicyDocument": setup.ControllerTrust, "ManagedPolicyArns": policies,
	}}
	arn := map[string]any{"Fn::GetAtt": []string{"ControllerRole", "Arn"}}
	t.Outputs["ControllerRoleArn"] = map[string]any{"Condition": condition, "Value": arn}
	if !a.podIdentity() {
		return
	}
	namespace, name, _ := strings.Cut(a.ServiceAccount, "/")
	t.Resources["ControllerPodIdentity"] = resource{Type: "AWS::EKS::PodIdentityAssociation", Condition: condition, Properties: map[string]any{
		"ClusterName": a.ClusterName, "Namespace": namespace, "ServiceAccount": name, "RoleArn": arn,
	}}
}

// addNodeRoles adds the roles of the instances and their access entries.
func (t *template) addNodeRoles(a account, setup Setup) {
	if !a.WithoutEKS {
		t.choose(ParameterAccessEntries, "Let the roles of the instances join the cluster by access entries")
	}
	for i, role := range a.nodeRoles() {
		id := fmt.Sprintf("NodeRole%d", i+1)
		t.Resources[id] = resource{Type: "AWS::IAM::Role", Condition: "Do" + ParameterNodeRoles, Properties: map[string]any{
			"RoleName": role.name, "Path": role.path, "AssumeRolePolicyDocument": setup.NodeRole.Trust, "ManagedPolicyArns": setup.NodeRole.ManagedPolicies,
		}}
		if !a.WithoutEKS {
			// EKS creates the entry only for a role that exists, so the entry depends on the role if the stack creates it.
			arn := map[string]any{"Fn::If": []any{"Do" + ParameterNodeRoles, map[string]any{"Fn::GetAtt": []string{id, "Arn"}}, role.arn}}
			t.Resources[fmt.Sprintf("NodeAccess%d", i+1)] = resource{Type: "AWS::EKS::AccessEntry", Condition: "Do" + ParameterAccessEntries, Properties: map[string]any{
				"ClusterName": a.ClusterName, "PrincipalArn": arn, "Type": accessType,
			}}
		}
	}
}

// accessType is the type of access entries for Linux nodes. For entries of this type, EKS itself sets the user name and the groups of the
// nodes.
const accessType = "EC2_LINUX"

// addQueue adds the queue with its policy and the rules that fill it.
func (t *template) addQueue(setup Setup) {
	if setup.Queue == nil {
		return
	}
	t.Resources["Queue"] = resource{Type: "AWS::SQS::Queue", Properties: map[string]any{
		"QueueName": setup.Queue.Name, "MessageRetentionPeriod": int(setup.Queue.Retention.Seconds()), "SqsManagedSseEnabled": true,
	}}
	t.Resources["QueuePolicy"] = resource{Type: "AWS::SQS::QueuePolicy", Properties: map[string]any{
		"Queues": []any{ref("Queue")}, "PolicyDocument": setup.Queue.Policy,
	}}
	for _, r := range setup.Rules {
		t.Resources["Rule"+logical(r.kind())] = resource{Type: "AWS::Events::Rule", Properties: map[string]any{
			"Name": r.Name, "Description": r.Description, "EventPattern": r.Pattern, "State": "ENABLED",
			"Targets": []any{map[string]any{"Id": r.TargetID, "Arn": map[string]any{"Fn::GetAtt": []string{"Queue", "Arn"}}}},
		}}
	}
	t.Outputs["QueueName"] = map[string]any{"Value": setup.Queue.Name}
}

func ref(name string) map[string]any { return map[string]any{"Ref": name} }

// logical returns a name as an id of a template: letters and digits, each word with a capital.
func logical(name string) string {
	var out strings.Builder
	start := true
	for _, r := range name {
		switch {
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			start = true
		case start:
			out.WriteRune(unicode.ToUpper(r))
			start = false
		default:
			out.WriteRune(r)
		}
	}
	return out.String()
}

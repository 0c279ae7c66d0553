package iam

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
)

// Terraform returns a Terraform configuration, as HCL, of everything that Generate describes: policies, the controller's role with its EKS
// Pod Identity association, the instances' roles with their access entries, the queue, and the rules. It uses the provider hashicorp/aws,
// which the caller configures for the account and the region. The variables create_node_roles and create_access_entries are true by
// default. Set these variables to false if the roles or the access entries exist already. Errors are those of Generate. It is a pure
// function, safe for concurrent use, and equal for equal settings.
func Terraform(settings Settings) ([]byte, error) {
	a, setup, err := settings.setup()
	if err != nil {
		return nil, err
	}
	var h hcl
	h.line("# What drawknife needs in the account for cluster %s.", a.ClusterName)
	h.open("terraform")
	h.open("required_providers")
	h.line(`aws = { source = "hashicorp/aws", version = ">= 5.40" }`)
	h.close()
	h.close()
	h.variable("create_node_roles", "Create the roles of the instances.")
	h.controller(a, setup)
	h.nodeRoles(a, setup)
	h.queue(setup)
	return h.text.Bytes(), nil
}

// hcl writes a Terraform configuration.
type hcl struct {
	text  bytes.Buffer
	depth int
}

// line writes a line with the indentation of its block.
func (h *hcl) line(format string, args ...any) {
	h.text.WriteString(strings.Repeat("  ", h.depth))
	fmt.Fprintf(&h.text, format, args...)
	h.text.WriteByte('\n')
}

// open writes the first line of a block: its type and its labels.
func (h *hcl) open(kind string, labels ...string) {
	if h.depth == 0 {
		h.text.WriteByte('\n')
	}
	for _, label := range labels {
		kind += " " + strconv.Quote(label)
	}
	h.line("%s {", kind)
	h.depth++
}

func (h *hcl) close() {
	h.depth--
	h.line("}")
}

// resource writes a whole resource, with its attributes as pairs of name and expression.
func (h *hcl) resource(kind, label string, attributes ...string) {
	h.open("resource", kind, label)
	for i := 0; i < len(attributes); i += 2 {
		h.line("%s = %s", attributes[i], attributes[i+1])
	}
	h.close()
}

// variable declares a boolean variable that is true by default.
func (h *hcl) variable(name, what string) {
	h.open("variable", name)
	h.line("type = bool")
	h.line("default = true")
	h.line("description = %s", text(what))
	h.close()
}

// controller writes the policies, the controller's role and its association.
func (h *hcl) controller(a account, setup Setup) {
	const role = "aws_iam_role.controller"
	h.resource("aws_iam_role", "controller",
		"name", text(ControllerRoleName(a.ClusterName)), "assume_role_policy", h.document(setup.ControllerTrust))
	for _, p := range setup.ControllerPolicies {
		label := identifier(suffix(a.ClusterName, p.Name))
		h.resource("aws_iam_policy", label, "name", text(p.Name), "description", text(p.Description), "policy", h.document(p.Document))
		h.resource("aws_iam_role_policy_attachment", label, "role", role+".name", "policy_arn", "aws_iam_policy."+label+".arn")
	}
	if a.podIdentity() {
		namespace, name, _ := strings.Cut(a.ServiceAccount, "/")
		h.resource("aws_eks_pod_identity_association", "controller",
			"cluster_name", text(a.ClusterName), "namespace", text(namespace), "service_account", text(name), "role_arn", role+".arn")
	}
	h.open("output", "controller_role_arn")
	h.line("value = %s.arn", role)
	h.close()
}

// nodeRoles writes the roles of the instances and their access entries.
func (h *hcl) nodeRoles(a account, setup Setup) {
	if !a.WithoutEKS {
		h.variable("create_access_entries", "Let the roles of the instances join the cluster by access entries.")
	}
	for i, role := range a.nodeRoles() {
		label := fmt.Sprintf("node_%d", i+1)
		h.resource("aws_iam_role", label, "count", "var.create_node_roles ? 1 : 0",
			"name", text(role.name), "path", text(role.path), "assume_role_policy", h.document(setup.NodeRole.Trust))
		for _, arn := range setup.NodeRole.ManagedPolicies {
			_, name, _ := strings.Cut(arn, ":policy/")
			h.resource("aws_iam_role_policy_attachment", label+"_"+identifier(name), "count", "var.create_node_roles ? 1 : 0",
				"role", "aws_iam_role."+label+"[0].name", "policy_arn", text(arn))
		}
		if !a.WithoutEKS {
			h.resource("aws_eks_access_entry", label, "count", "var.create_access_entries ? 1 : 0",
				"cluster_name", text(a.ClusterName), "type", text(accessType),
				"principal_arn", fmt.Sprintf("var.create_node_roles ? aws_iam_role.%s[0].arn : %s", label, text(role.arn)))
		}
	}
}

// queue writes the queue with its policy and the rules that fill it.
func (h *hcl) queue(setup Setup) {
	if setup.Queue == nil {
		return
	}
	h.resource("aws_sqs_queue", "interruption", "name", text(setup.Queue.Name),
		"message_retention_seconds", strconv.Itoa(int(setup.Queue.Retention.Seconds())), "sqs_managed_sse_enabled", "true")
	h.resource("aws_sqs_queue_policy", "interruption", "queue_url", "aws_sqs_queue.interruption.url", "policy", h.document(setup.Queue.Policy))
	for _, r := range setup.Rules {
		label := identifier(r.kind())
		h.resource("aws_cloudwatch_event_rule", label,
			"name", text(r.Name), "description", text(r.Description), "event_pattern", h.document(r.Pattern))
		h.resource("aws_cloudwatch_event_target", label,
			"rule", "aws_cloudwatch_event_rule."+label+".name", "target_id", text(r.TargetID), "arn", "aws_sqs_queue.interruption.arn")
	}
}

// document returns a call of jsonencode with the value: HCL reads its JSON as an expression.
func (h *hcl) document(value any) string {
	lines := strings.Split(strings.TrimSuffix(string(encode(value, true)), "\n"), "\n")
	indent := "\n" + strings.Repeat("  ", h.depth+1)
	return "jsonencode(" + literal(strings.Join(lines, indent)) + ")"
}

// text returns a string in quotes.
func text(value string) string {
	return literal(strings.TrimSuffix(string(encode(value, false)), "\n"))
}

// literal escapes "${" and "%{" in a string, so that HCL reads them literally instead of as a template.
func literal(value string) string {
	return strings.NewReplacer("${", "$${", "%{", "%%{").Replace(value)
}

// identifier converts a name to a label of Terraform: words in lower case, joined by underscores.
func identifier(name string) string {
	return strings.ToLower(strings.ReplaceAll(name, "-", "_"))
}

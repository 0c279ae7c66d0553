package iam

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// maxRoleName is the maximum length of a role's name in IAM.
const maxRoleName = 64

// ControllerRoleName returns the name of the controller's role in documents that create it: the cluster's name and "-drawknife". If that is
// longer than IAM allows, it has the beginning of the cluster's name and a hash of the whole name.
func ControllerRoleName(cluster string) string {
	const suffix = "-drawknife"
	if len(cluster)+len(suffix) <= maxRoleName {
		return cluster + suffix
	}
	sum := sha256.Sum256([]byte(cluster))
	tail := "-" + hex.EncodeToString(sum[:4]) + suffix
	return cluster[:maxRoleName-len(tail)] + tail
}

// nodeRole is a role of the instances, divided into the parts that the tools need.
type nodeRole struct {
	arn, name string
	// path begins and ends with "/".
	path string
}

// nodeRoles returns the roles of the instances in the order of their ARNs.
func (a account) nodeRoles() []nodeRole {
	var out []nodeRole
	for _, arn := range a.roles {
		_, full, _ := strings.Cut(arn, ":role/")
		at := strings.LastIndex(full, "/") + 1
		out = append(out, nodeRole{arn: arn, name: full[at:], path: "/" + full[:at]})
	}
	return out
}

// podIdentity reports whether the controller gets its role by an association of EKS Pod Identity.
func (a account) podIdentity() bool { return !a.WithoutEKS && a.OIDCIssuer == "" }

// policyARN returns the ARN of a managed policy of the account.
func (a account) policyARN(p Policy) string { return a.iam("policy/" + p.Name) }

// suffix returns the part of a policy's or rule's name after the cluster's name.
func suffix(cluster, name string) string { return strings.TrimPrefix(name, cluster+"-") }

// kind returns the subject of the rule: the end of its name, without the cluster's name.
func (r Rule) kind() string {
	for _, kind := range []string{"scheduled-change", "spot-interruption", "rebalance", "state-change", "reservation-interruption"} {
		if strings.HasSuffix(r.Name, "-"+kind) {
			return kind
		}
	}
	return r.Name
}

// setup checks the settings and makes the documents.
func (s Settings) setup() (account, Setup, error) {
	a, err := check(s)
	if err != nil {
		return account{}, Setup{}, err
	}
	setup, err := Generate(s)
	return a, setup, err
}

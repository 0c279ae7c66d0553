package iam

import (
	"fmt"
	"slices"
	"strconv"
)

// Limits of IAM.
const (
	// MaxPolicySize is the largest number of characters in a managed policy, without white space.
	MaxPolicySize = 6144
	// MaxPoliciesPerRole is AWS's default limit of managed policies per role.
	MaxPoliciesPerRole = 10
)

// Policy is a managed policy for the role that the controller runs with.
type Policy struct {
	// Name of the policy, which begins with the cluster's name.
	Name string `json:"name"`
	// Description of its purpose, for people.
	Description string `json:"description"`
	// Document is its content, of at most MaxPolicySize characters.
	Document Document `json:"document"`
}

// LimitError means that the settings need more than IAM's limits allow.
type LimitError struct {
	// Policies is the number of policies that would be needed.
	Policies int
	// Max is the largest possible number.
	Max int
}

func (e *LimitError) Error() string {
	return fmt.Sprintf("IAM documents: %d managed policies would be needed, and a role may have %d: name fewer NodeRoles, SSMParameters and LaunchResources, or use \"*\" in parameters", e.Policies, e.Max)
}

const languageVersion = "2012-10-17"

// policies makes the controller's policies from the table of calls.
func policies(a account) ([]Policy, error) {
	actions := make([][]string, scopes)
	for _, c := range table() {
		if c.when != nil && !c.when(a.Settings) {
			continue
		}
		for _, g := range c.grants {
			if !slices.Contains(actions[g.scope], g.action) {
				actions[g.scope] = append(actions[g.scope], g.action)
			}
		}
	}
	statements := map[string][]Statement{}
	for s := range scopes {
		statement := s.statement(a)
		if len(actions[s]) == 0 || len(statement.Resource) == 0 {
			continue
		}
		statement.Effect = Allow
		statement.Action = slices.Sorted(slices.Values(actions[s]))
		statements[s.policy()] = append(statements[s.policy()], statement)
	}
	var out []Policy
	for _, kind := range []struct{ name, description string }{
		{policyNodes, "launches, tags and ends the instances of"},
		{policyProfiles, "makes and removes the instance profiles of"},
		{policyDiscovery, "reads which instance types there are for"},
		{policyInterruption, "reads the queue of interruption events of"},
		{policyAlpha, "launches, tags and ends the machines of Provisioners of"},
		{policyMigration, "checks before a migration, in addition to " + a.ClusterName + "-" + policyDiscovery + ", what launches"},
		{policyBlocks, "finds capacity blocks, and may buy them, for"},
	} {
		for i, document := range divide(statements[kind.name]) {
			name := a.ClusterName + "-" + kind.name
			if i > 0 {
				name += "-" + strconv.Itoa(i+1)
			}
			out = append(out, Policy{Name: name, Description: kind.description + " cluster " + a.ClusterName, Document: document})
		}
	}
	if len(out) > MaxPoliciesPerRole {
		return nil, &LimitError{Policies: len(out), Max: MaxPoliciesPerRole}
	}
	return out, nil
}

// divide distributes statements over as many documents as they need, keeping their order. It divides a statement that is too large for one
// document into several statements, each with a part of the resources. Together these statements allow the same as the original.
func divide(statements []Statement) []Document {
	var out []Document
	for len(statements) > 0 {
		first := statements[0]
		if alone := document(first); alone.Size() > MaxPolicySize && len(first.Resource) > 1 {
			half := len(first.Resource) / 2
			front, back := first, first
			front.Resource, back.Resource = first.Resource[:half], first.Resource[half:]
			statements = append([]Statement{front, back}, statements[1:]...)
			continue
		}
		if len(out) > 0 {
			last := &out[len(out)-1]
			grown := document(append(slices.Clone(last.Statement), first)...)
			if grown.Size() <= MaxPolicySize && !hasSid(*last, first.Sid) {
				*last = grown
				statements = statements[1:]
				continue
			}
		}
		out = append(out, document(first))
		statements = statements[1:]
	}
	return out
}

func document(statements ...Statement) Document {
	return Document{Version: languageVersion, Statement: statements}
}

func hasSid(d Document, sid string) bool {
	return slices.ContainsFunc(d.Statement, func(s Statement) bool { return s.Sid == sid })
}

package migration

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	awsiam "github.com/aws/aws-sdk-go-v2/service/iam"
	iamtypes "github.com/aws/aws-sdk-go-v2/service/iam/types"

	"github.com/drawknife/drawknife/aws/iam"
	"github.com/drawknife/drawknife/aws/internal/refresh"
	"github.com/drawknife/drawknife/aws/sdk"
)

// checkIAM simulates each statement of the controller's policies with the controller's role. It simulates each action on an example of each
// resource, with the tags and values of a request that drawknife makes.
func (v *verifier) checkIAM(ctx context.Context) {
	switch {
	case v.ControllerRole == "" || len(v.Policies) == 0:
		v.report.skip(CheckIAM, "", "the controller's role is not known: give its ARN")
		return
	case v.api.IAM == nil:
		v.report.skip(CheckIAM, "", "there is no client for IAM")
		return
	}
	for _, policy := range v.Policies {
		for i := range policy.Document.Statement {
			statement := &policy.Document.Statement[i]
			results, err := v.simulate(ctx, statement)
			if err != nil {
				v.report.skip(CheckIAM, "", "permissions cannot be simulated, which needs iam:SimulatePrincipalPolicy on the role: %v", err)
				return
			}
			for j := range results {
				v.judge(&results[j], policy.Name)
			}
		}
	}
}

// simulate asks IAM about a statement.
func (v *verifier) simulate(ctx context.Context, s *iam.Statement) ([]iamtypes.EvaluationResult, error) {
	input := &awsiam.SimulatePrincipalPolicyInput{PolicySourceArn: &v.ControllerRole, ActionNames: s.Action, ContextEntries: contextOf(s.Condition)}
	for _, resource := range s.Resource {
		if resource != "*" {
			resource = strings.ReplaceAll(resource, "*", "drawknife-example")
		}
		input.ResourceArns = append(input.ResourceArns, resource)
	}
	var out []iamtypes.EvaluationResult
	err := refresh.Pages(ctx, func(marker *string) (*string, error) {
		input.Marker = marker
		answer, err := v.api.IAM.SimulatePrincipalPolicy(ctx, input)
		if err != nil {
			return nil, sdk.Wrap("simulating the permissions of "+v.ControllerRole, err)
		}
		out = append(out, answer.EvaluationResults...)
		if !answer.IsTruncated {
			return nil, nil
		}
		return answer.Marker, nil
	})
	return out, err
}

// contextOf returns the context keys of a request that meets a condition: for each key its first value, with an example instead of "*".
func contextOf(c iam.Condition) []iamtypes.ContextEntry {
	var out []iamtypes.ContextEntry
	for _, operator := range slices.Sorted(maps.Keys(c)) {
		for _, key := range slices.Sorted(maps.Keys(c[operator])) {
			values := c[operator][key]
			entry := iamtypes.ContextEntry{ContextKeyName: awssdk.String(key), ContextKeyType: iamtypes.ContextKeyTypeEnumString}
			if strings.HasPrefix(operator, "ForAllValues:") {
				entry.ContextKeyType, entry.ContextKeyValues = iamtypes.ContextKeyTypeEnumStringList, values
			} else if len(values) > 0 {
				entry.ContextKeyValues = []string{strings.ReplaceAll(values[0], "*", "example")}
			}
			out = append(out, entry)
		}
	}
	return out
}

// judge adds a finding for each action that is not allowed.
func (v *verifier) judge(r *iamtypes.EvaluationResult, policy string) {
	one := func(resource string, decision iamtypes.PolicyEvaluationDecisionType, boundary *iamtypes.PermissionsBoundaryDecisionDetail) {
		v.report.Checked.Permissions++
		if decision == iamtypes.PolicyEvaluationDecisionTypeAllowed {
			return
		}
		cure := fmt.Sprintf("attach the policy %s to the role, or correct it", policy)
		why := "nothing allows it"
		switch {
		case r.OrganizationsDecisionDetail != nil && !r.OrganizationsDecisionDetail.AllowedByOrganizations:
			why, cure = "a policy of the organisation does not allow it", "have the organisation's policy allow it for the role"
		case boundary != nil && !boundary.AllowedByPermissionsBoundary:
			why, cure = "the role's permissions boundary does not allow it", "have the permissions boundary allow it"
		case decision == iamtypes.PolicyEvaluationDecisionTypeExplicitDeny:
			why, cure = "a statement denies it", "remove the statement that denies it, or exempt the role from it"
		}
		v.report.found(SeverityError, CheckIAM, v.ControllerRole, awssdk.ToString(r.EvalActionName), cure, "the controller's role may not do this on %s: %s", resource, why)
	}
	if len(r.ResourceSpecificResults) == 0 {
		one(awssdk.ToString(r.EvalResourceName), r.EvalDecision, r.PermissionsBoundaryDecisionDetail)
		return
	}
	for i := range r.ResourceSpecificResults {
		each := &r.ResourceSpecificResults[i]
		one(awssdk.ToString(each.EvalResourceName), each.EvalResourceDecision, each.PermissionsBoundaryDecisionDetail)
	}
}

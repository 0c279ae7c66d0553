package migration

import (
	"context"
	"encoding/base64"
	"fmt"
	"maps"
	"slices"
	"strings"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/api/requirements"
	v1 "github.com/drawknife/drawknife/api/v1"
	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	"github.com/drawknife/drawknife/aws/instancetype"
	"github.com/drawknife/drawknife/aws/internal/refresh"
	"github.com/drawknife/drawknife/aws/launchtemplate"
	"github.com/drawknife/drawknife/aws/sdk"
	"github.com/drawknife/drawknife/cloudprovider"
)

// tagKarpenterCluster is the tag of Karpenter's launch templates from the time before it used EKS's own tag.
const tagKarpenterCluster = "karpenter.k8s.aws/cluster"

// made is a launch template that Karpenter made, or an instance of which only the user data is known.
type made struct {
	// source names the template or instance for people: "launch template karpenter.k8s.aws/123".
	source      string
	class, pool string
	// data is the content of the launch template; nil for an instance.
	data     *ec2types.ResponseLaunchTemplateData
	userData string
}

// checkLaunchTemplates compares each of Karpenter's launch templates with the most similar template of drawknife. For classes without a
// template of Karpenter, it compares the user data of an instance.
func (v *verifier) checkLaunchTemplates(ctx context.Context) {
	found, err := v.templates(ctx)
	if err != nil {
		v.report.skip(CheckLaunchTemplates, "", "launch templates cannot be read: %v", err)
	}
	compared := map[string]bool{}
	for i := range found {
		if v.compareTemplate(&found[i]) {
			v.report.Checked.LaunchTemplates++
			compared[found[i].class] = true
		}
	}
	for _, class := range v.NodeClasses {
		if compared[class.Name] || len(v.poolsOf(class.Name)) == 0 {
			continue
		}
		one, err := v.userDataOf(ctx, class.Name)
		switch {
		case err != nil:
			v.report.skip(CheckLaunchTemplates, classObject(class.Name), "there is no launch template of Karpenter, and the user data of its instances cannot be read: %v", err)
		case one == nil:
			v.report.skip(CheckLaunchTemplates, classObject(class.Name), "there is no launch template of Karpenter and no instance: Karpenter deletes templates minutes after the last launch, so run the command soon after one")
		case v.compareTemplate(one):
			v.report.Checked.Instances++
		}
	}
}

// templates lists Karpenter's launch templates of the cluster with their content, sorted by name.
func (v *verifier) templates(ctx context.Context) ([]made, error) {
	byID := map[string]ec2types.LaunchTemplate{}
	for _, key := range []string{awsv1.TagClusterName, tagKarpenterCluster} {
		filter := ec2types.Filter{Name: awssdk.String("tag:" + key), Values: []string{v.Cluster.Name}}
		err := refresh.Pages(ctx, func(token *string) (*string, error) {
			out, err := v.api.EC2.DescribeLaunchTemplates(ctx, &ec2.DescribeLaunchTemplatesInput{Filters: []ec2types.Filter{filter}, NextToken: token})
			if err != nil {
				return nil, sdk.Wrap("listing launch templates", err)
			}
			for _, t := range out.LaunchTemplates {
				byID[awssdk.ToString(t.LaunchTemplateId)] = t
			}
			return out.NextToken, nil
		})
		if err != nil {
			return nil, err
		}
	}
	var out []made
	for _, id := range slices.Sorted(maps.Keys(byID)) {
		t := byID[id]
		answer, err := v.api.Migration.DescribeLaunchTemplateVersions(ctx, &ec2.DescribeLaunchTemplateVersionsInput{LaunchTemplateId: &id, Versions: []string{"$Latest"}})
		if sdk.IsNotFound(err) {
			continue // Karpenter has deleted the template since it was listed
		}
		if err != nil {
			return out, sdk.Wrap("reading launch template "+id, err)
		}
		if len(answer.LaunchTemplateVersions) == 0 || answer.LaunchTemplateVersions[0].LaunchTemplateData == nil {
			continue
		}
		data := answer.LaunchTemplateVersions[0].LaunchTemplateData
		m := made{source: "Karpenter's launch template " + awssdk.ToString(t.LaunchTemplateName), data: data}
		for _, tag := range t.Tags {
			switch awssdk.ToString(tag.Key) {
			case awsv1.TagNodeClass:
				m.class = awssdk.ToString(tag.Value)
			case awsv1.TagNodePool:
				m.pool = awssdk.ToString(tag.Value)
			}
		}
		if m.userData, err = decoded(data.UserData); err != nil {
			v.report.skip(CheckLaunchTemplates, classObject(m.class), "the user data of %s is not base64", m.source)
			continue
		}
		out = append(out, m)
	}
	slices.SortFunc(out, func(a, b made) int { return strings.Compare(a.source, b.source) })
	return out, nil
}

func decoded(text *string) (string, error) {
	data, err := base64.StdEncoding.DecodeString(awssdk.ToString(text))
	return string(data), err
}

// userDataOf reads the user data of one instance of a class. It returns nil if no instance of the class has user data.
func (v *verifier) userDataOf(ctx context.Context, class string) (*made, error) {
	for _, claim := range v.NodeClaims {
		id := claim.Status.ProviderID[strings.LastIndex(claim.Status.ProviderID, "/")+1:]
		if claim.Spec.NodeClassRef.Name != class || claim.DeletionTimestamp != nil || !strings.HasPrefix(id, "i-") {
			continue
		}
		out, err := v.api.Migration.DescribeInstanceAttribute(ctx, &ec2.DescribeInstanceAttributeInput{InstanceId: &id, Attribute: ec2types.InstanceAttributeNameUserData})
		if sdk.IsNotFound(err) {
			continue
		}
		if err != nil {
			return nil, sdk.Wrap("reading the user data of instance "+id, err)
		}
		if out.UserData == nil || awssdk.ToString(out.UserData.Value) == "" {
			continue
		}
		m := &made{source: "instance " + id, class: class, pool: claim.Labels[v1.NodePoolLabelKey]}
		m.userData, err = decoded(out.UserData.Value)
		return m, err
	}
	return nil, nil
}

// compareTemplate compares a template with the most similar template of drawknife. It reports whether the templates could be compared.
func (v *verifier) compareTemplate(m *made) bool {
	class := v.classes[m.class]
	if class == nil || m.pool == "" {
		return false // the class has been deleted, or Karpenter made the template for a dry run
	}
	object := classObject(class.Name)
	theirs, err := readUserData(class.Spec.EffectiveAMIFamily(), m.userData)
	if err != nil {
		v.report.skip(CheckLaunchTemplates, object, "the user data of %s cannot be read: %v", m.source, err)
		return false
	}
	candidates, err := v.candidates(class, m.pool)
	if err != nil {
		v.buildFailed(object, err)
		return false
	}
	var best *verifier
	for _, candidate := range candidates {
		ours, err := readUserData(class.Spec.EffectiveAMIFamily(), candidate.UserData.Text)
		if err != nil {
			continue
		}
		trial := &verifier{Input: v.Input}
		trial.compareReadings(object, m.source, theirs, ours)
		if m.data != nil {
			trial.compareData(object, m, candidate)
		}
		if best == nil || len(trial.report.Findings) < len(best.report.Findings) {
			best = trial
		}
	}
	if best == nil {
		v.report.skip(CheckLaunchTemplates, object, "NodePool %q of %s does not exist any more, or asks for no instance type", m.pool, m.source)
		return false
	}
	v.report.Findings = append(v.report.Findings, best.report.Findings...)
	return true
}

// buildFailed reports that drawknife can't make a template.
func (v *verifier) buildFailed(object string, err error) {
	if cloudprovider.IsNodeClassNotReady(err) {
		v.report.skip(CheckLaunchTemplates, object, "drawknife's launch template needs the status of the class and the details of the cluster: %v", err)
		return
	}
	v.report.found(SeverityError, CheckLaunchTemplates, object, "", "correct the class or the NodePool before the move", "drawknife cannot make a launch template: %v", err)
}

// candidates returns the launch templates that drawknife would use for a pool: for all its instance types and capacity types, in a fixed
// order.
func (v *verifier) candidates(class *awsv1.EC2NodeClass, poolName string) ([]launchtemplate.Template, error) {
	var out []launchtemplate.Template
	var failed error
	for _, pool := range v.poolsOf(class.Name) {
		if pool.Name != poolName {
			continue
		}
		want, err := requirements.ParseSet(pool.Spec.Template.Spec.Requirements)
		if err != nil {
			return nil, fmt.Errorf("NodePool %q: %w", pool.Name, err)
		}
		types := v.wanted(class, want)
		if len(types) == 0 {
			continue
		}
		for _, capacity := range []string{v1.CapacityTypeOnDemand, v1.CapacityTypeSpot} {
			if !want.Get(v1.CapacityTypeLabelKey).Has(capacity) {
				continue
			}
			result, err := launchtemplate.Build(launchtemplate.Request{
				Cluster: v.Cluster, NodeClass: class, NodeClaim: claimOf(pool, class.Name), InstanceTypes: types, CapacityType: capacity,
			})
			if err != nil {
				failed = err
				continue
			}
			out = append(out, result.Templates...)
		}
	}
	if len(out) == 0 {
		return nil, failed
	}
	return out, nil
}

// wanted returns the instance types of a class that meet the requirements want and that can be launched with the class.
func (v *verifier) wanted(class *awsv1.EC2NodeClass, want requirements.Set) []*cloudprovider.InstanceType {
	var out []*cloudprovider.InstanceType
	for i := range v.lists[class.Name] {
		if shape := &v.lists[class.Name][i]; shape.Incompatible == "" && v.sold(shape, class, want) {
			out = append(out, &shape.Type)
		}
	}
	return out
}

// claimOf returns a NodeClaim like those that plans create for the pool.
func claimOf(pool *v1.NodePool, class string) *v1.NodeClaim {
	claim := &v1.NodeClaim{}
	claim.Labels = maps.Clone(pool.Spec.Template.Labels)
	if claim.Labels == nil {
		claim.Labels = map[string]string{}
	}
	// If a requirement has one value and no instance type states its key, it is a label of the node.
	known := instancetype.Vocabulary().Compile()
	for _, r := range pool.Spec.Template.Spec.Requirements {
		if r.Operator == corev1.NodeSelectorOpIn && len(r.Values) == 1 && !known.IsWellKnown(known.Canonical(r.Key)) {
			claim.Labels[r.Key] = r.Values[0]
		}
	}
	claim.Labels[v1.NodePoolLabelKey], claim.Labels[awsv1.LabelNodeClass] = pool.Name, class
	claim.Spec.Taints, claim.Spec.StartupTaints = pool.Spec.Template.Spec.Taints, pool.Spec.Template.Spec.StartupTaints
	claim.Spec.Requirements = pool.Spec.Template.Spec.Requirements
	return claim
}

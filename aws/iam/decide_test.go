package iam_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/drawknife/drawknife/aws/iam"
	"github.com/drawknife/drawknife/aws/internal/launch"
)

// request is one that IAM decides about: on one resource, in a context of condition keys.
type request struct {
	action, resource string
	context          map[string][]string
}

// decide is IAM's logic as far as the documents use it: something must allow, nothing may deny.
func decide(t *testing.T, documents []iam.Document, service string, r request) bool {
	t.Helper()
	ok := false
	for _, d := range documents {
		for _, s := range d.Statement {
			if !slices.ContainsFunc(s.Action, func(p string) bool { return like(p, r.action) }) ||
				!slices.ContainsFunc(s.Resource, func(p string) bool { return like(p, r.resource) }) ||
				!about(s.Principal, service) || !holds(t, s.Condition, r.context) {
				continue
			}
			if s.Effect == iam.Deny {
				return false
			}
			ok = true
		}
	}
	return ok
}

func about(p *iam.Principal, service string) bool {
	return p == nil || slices.Contains(p.AWS, "*") || slices.Contains(p.Service, service)
}

func like(pattern, text string) bool {
	quoted := strings.ReplaceAll(regexp.QuoteMeta(pattern), `\*`, `.*`)
	return regexp.MustCompile(`^` + quoted + `$`).MatchString(text)
}

func holds(t *testing.T, c iam.Condition, context map[string][]string) bool {
	t.Helper()
	for operator, keys := range c {
		for key, values := range keys {
			has, exists := context[key]
			one := func(match func(pattern, text string) bool) bool {
				return exists && slices.ContainsFunc(has, func(text string) bool {
					return slices.ContainsFunc(values, func(pattern string) bool { return match(pattern, text) })
				})
			}
			equal := func(a, b string) bool { return a == b }
			met := false
			switch operator {
			case "StringEquals", "Bool":
				met = one(equal)
			case "StringLike", "ArnEquals":
				met = one(like)
			case "StringEqualsIfExists":
				met = !exists || one(equal)
			case "ForAllValues:StringEquals":
				met = !slices.ContainsFunc(has, func(text string) bool { return !slices.Contains(values, text) })
			default:
				t.Fatalf("unknown operator %s", operator)
			}
			if !met {
				return false
			}
		}
	}
	return true
}

// tags makes a context of tags with a prefix, and more keys.
func context(prefix string, tags map[string]string, more ...string) map[string][]string {
	out := map[string][]string{}
	for key, value := range tags {
		out[prefix+key] = []string{value}
	}
	for i := 0; i < len(more); i += 2 {
		out[more[i]] = append(out[more[i]], more[i+1])
	}
	return out
}

// API-425, API-426, API-432: machines of Provisioners are launched, tagged and ended by the tags of their generation, if the settings say
// so; those of another cluster are not, nor those that don't say who manages them, and nothing is tagged later.
func TestDecisionsOfTheFirstGeneration(t *testing.T) {
	const arn = "arn:aws:ec2:eu-central-1:111122223333:"
	ours := map[string]string{"kubernetes.io/cluster/demo": "owned", "karpenter.sh/provisioner-name": "default", "karpenter.sh/managed-by": "demo"}
	unmanaged := map[string]string{"kubernetes.io/cluster/demo": "owned", "karpenter.sh/provisioner-name": "default"}
	others := map[string]string{"kubernetes.io/cluster/demo": "owned", "karpenter.sh/provisioner-name": "default", "karpenter.sh/managed-by": "other"}
	for _, c := range []struct {
		name string
		request
		want bool // with ServeAlpha; without it never
	}{
		{"launch", request{"ec2:CreateFleet", arn + "fleet/*", context("aws:RequestTag/", ours)}, true},
		{"run", request{"ec2:RunInstances", arn + "instance/*", context("aws:RequestTag/", ours)}, true},
		{"launch without saying who manages it", request{"ec2:RunInstances", arn + "instance/*", context("aws:RequestTag/", unmanaged)}, false},
		{"launch for another", request{"ec2:RunInstances", arn + "instance/*", context("aws:RequestTag/", others)}, false},
		{"tag at creation", request{"ec2:CreateTags", arn + "instance/i-1", context("aws:RequestTag/", ours, "ec2:CreateAction", "CreateFleet")}, true},
		{"tag later", request{"ec2:CreateTags", arn + "instance/i-1", context("aws:ResourceTag/", ours, "aws:TagKeys", "Name")}, false},
		{"end", request{"ec2:TerminateInstances", arn + "instance/i-1", context("aws:ResourceTag/", ours)}, true},
		{"end what does not say who manages it", request{"ec2:TerminateInstances", arn + "instance/i-1", context("aws:ResourceTag/", unmanaged)}, false},
		{"end another's", request{"ec2:TerminateInstances", arn + "instance/i-1", context("aws:ResourceTag/", others)}, false},
		{"end a volume", request{"ec2:TerminateInstances", arn + "volume/v-1", context("aws:ResourceTag/", ours)}, false},
	} {
		for _, serve := range []bool{false, true} {
			var documents []iam.Document
			for _, p := range generate(t, settings(func(s *iam.Settings) { s.ServeAlpha = serve })).ControllerPolicies {
				documents = append(documents, p.Document)
			}
			if got := decide(t, documents, "", c.request); got != (c.want && serve) {
				t.Errorf("%s: %t with ServeAlpha %t", c.name, got, serve)
			}
		}
	}
}

// TestDecisions: what the policies let the controller do, and what not, row by row of AWN-323. API-427, API-428, API-430: what is
// launched, ended and deleted bears the cluster's and the pool's tag, and a role is passed to EC2 alone.
func TestDecisions(t *testing.T) {
	var documents []iam.Document
	for _, p := range generate(t, settings(everything)).ControllerPolicies {
		documents = append(documents, p.Document)
	}
	const (
		request_ = "aws:RequestTag/"
		resource = "aws:ResourceTag/"
		ec2      = "arn:aws:ec2:eu-central-1:111122223333:"
		foreign  = "arn:aws:ec2:eu-central-1:999999999999:"
		iamARN   = "arn:aws:iam::111122223333:"
		profile  = iamARN + "instance-profile/karpenter/eu-central-1/demo/0b1c/demo_123"
	)
	node := func(changes ...string) map[string]string {
		tags := map[string]string{
			"kubernetes.io/cluster/demo": "owned", "eks:eks-cluster-name": "demo", "karpenter.sh/nodepool": "default",
			"karpenter.k8s.aws/ec2nodeclass": "default", "topology.kubernetes.io/region": "eu-central-1",
		}
		for i := 0; i < len(changes); i += 2 {
			if tags[changes[i]] = changes[i+1]; changes[i+1] == "-" {
				delete(tags, changes[i])
			}
		}
		return tags
	}
	other := map[string]string{"kubernetes.io/cluster/other": "owned", "eks:eks-cluster-name": "other", "karpenter.sh/nodepool": "default"}
	both := context(request_, node())
	for key, value := range context(resource, node()) {
		both[key] = value
	}
	for _, c := range []struct {
		name string
		request
		want bool
	}{
		{"AWI-236 any image", request{"ec2:RunInstances", "arn:aws:ec2:eu-central-1::image/ami-1", nil}, true},
		{"AWI-236 a shared subnet", request{"ec2:CreateFleet", foreign + "subnet/subnet-1", nil}, true},
		{"AWI-236 a shared reservation", request{"ec2:RunInstances", foreign + "capacity-reservation/cr-1", nil}, true},
		{"AWI-236 a placement group", request{"ec2:CreateFleet", ec2 + "placement-group/pg", nil}, true},
		{"a resource that launches were said to use", request{"ec2:RunInstances", ec2 + "key-pair/admin", nil}, true},
		{"one that they weren't", request{"ec2:RunInstances", ec2 + "elastic-ip/e", nil}, false},
		{"another region's subnet", request{"ec2:RunInstances", "arn:aws:ec2:eu-west-1:111122223333:subnet/subnet-1", nil}, false},

		{"AWI-236 an own launch template", request{"ec2:CreateFleet", ec2 + "launch-template/lt-1", context(resource, node())}, true},
		{"AWN-324 that of a dry run", request{"ec2:RunInstances", ec2 + "launch-template/lt-1", context(resource, node("karpenter.sh/nodepool", ""))}, true},
		{"another cluster's", request{"ec2:CreateFleet", ec2 + "launch-template/lt-1", context(resource, other)}, false},
		{"another's, in a tagged request", request{"ec2:RunInstances", ec2 + "launch-template/lt-1", context(request_, node())}, false},
		{"an own instance is made", request{"ec2:RunInstances", ec2 + "instance/*", context(request_, node())}, true},
		{"and a volume of a fleet", request{"ec2:CreateFleet", ec2 + "volume/*", context(request_, node())}, true},
		{"and a spot request", request{"ec2:RunInstances", ec2 + "spot-instances-request/*", context(request_, node())}, true},
		{"AWN-324 a dry run", request{"ec2:RunInstances", ec2 + "instance/*", context(request_, node("karpenter.sh/nodepool", ""))}, true},
		{"without a pool", request{"ec2:RunInstances", ec2 + "instance/*", context(request_, node("karpenter.sh/nodepool", "-"))}, false},
		{"API-431 without the cluster's name", request{"ec2:RunInstances", ec2 + "instance/*", context(request_, node("eks:eks-cluster-name", "-"))}, false},
		{"for another cluster", request{"ec2:CreateFleet", ec2 + "fleet/*", context(request_, other)}, false},
		{"a launch template is made", request{"ec2:CreateLaunchTemplate", ec2 + "launch-template/*", context(request_, node())}, true},
		{"one without tags", request{"ec2:CreateLaunchTemplate", ec2 + "launch-template/*", nil}, false},

		{"tags at launch", request{"ec2:CreateTags", ec2 + "instance/*", context(request_, node(), "ec2:CreateAction", "CreateFleet")}, true},
		{"tags by another creation", request{"ec2:CreateTags", ec2 + "volume/*", context(request_, node(), "ec2:CreateAction", "CreateVolume")}, false},
		{"adoption of an instance", request{"ec2:CreateTags", ec2 + "instance/i-1", context(request_, node(), "aws:TagKeys", "karpenter.sh/nodepool")}, false},
		{"AWI-237 late tags", request{"ec2:CreateTags", ec2 + "instance/i-1", context(resource, node(), "aws:TagKeys", "Name", "aws:TagKeys", "karpenter.sh/nodeclaim",
			"aws:TagKeys", "eks:eks-cluster-name", "aws:RequestTag/eks:eks-cluster-name", "demo")}, true},
		{"late tags of an instance of a batch", request{"ec2:CreateTags", ec2 + "instance/i-1", context(resource, node(), "aws:TagKeys", "Name", "aws:TagKeys", launch.TagNodeClaimUID)}, true},
		{"AWI-237 another key", request{"ec2:CreateTags", ec2 + "instance/i-1", context(resource, node(), "aws:TagKeys", "team")}, false},
		{"AWI-237 another cluster's name", request{"ec2:CreateTags", ec2 + "instance/i-1", context(resource, node(), "aws:TagKeys", "eks:eks-cluster-name",
			"aws:RequestTag/eks:eks-cluster-name", "other")}, false},
		{"AWI-237 another's instance", request{"ec2:CreateTags", ec2 + "instance/i-1", context(resource, other, "aws:TagKeys", "Name")}, false},

		{"AWI-237 an own instance ends", request{"ec2:TerminateInstances", ec2 + "instance/i-1", context(resource, node())}, true},
		{"AWI-237 not another's", request{"ec2:TerminateInstances", ec2 + "instance/i-1", context(resource, other)}, false},
		{"AWI-237 nor one of no pool", request{"ec2:TerminateInstances", ec2 + "instance/i-1", context(resource, node("karpenter.sh/nodepool", "-"))}, false},
		{"AWI-237 an own launch template goes", request{"ec2:DeleteLaunchTemplate", ec2 + "launch-template/lt-1", context(resource, node())}, true},
		{"AWI-237 not another's template", request{"ec2:DeleteLaunchTemplate", ec2 + "launch-template/lt-1", nil}, false},

		{"AWI-238 the node role to EC2", request{"iam:PassRole", iamARN + "role/demo-nodes", context("", nil, "iam:PassedToService", "ec2.amazonaws.com")}, true},
		{"AWI-238 a role with a path", request{"iam:PassRole", iamARN + "role/team/windows", context("", nil, "iam:PassedToService", "ec2.amazonaws.com")}, true},
		{"AWI-238 to another service", request{"iam:PassRole", iamARN + "role/demo-nodes", context("", nil, "iam:PassedToService", "lambda.amazonaws.com")}, false},
		{"AWI-238 another role", request{"iam:PassRole", iamARN + "role/admin", context("", nil, "iam:PassedToService", "ec2.amazonaws.com")}, false},
		{"AWN-326 the role for spot", request{"iam:CreateServiceLinkedRole", iamARN + "role/aws-service-role/spot.amazonaws.com/AWSServiceRoleForEC2Spot",
			context("", nil, "iam:AWSServiceName", "spot.amazonaws.com")}, true},

		{"AWI-238 a profile is made", request{"iam:CreateInstanceProfile", profile, context(request_, node())}, true},
		{"AWN-140 not outside the cluster's path", request{"iam:CreateInstanceProfile", iamARN + "instance-profile/demo_123", context(request_, node())}, false},
		{"API-429 for another region", request{"iam:CreateInstanceProfile", profile, context(request_, node("topology.kubernetes.io/region", "eu-west-1"))}, false},
		{"API-429 without a class", request{"iam:CreateInstanceProfile", profile, context(request_, node("karpenter.k8s.aws/ec2nodeclass", "-"))}, false},
		{"AWI-238 its tags", request{"iam:TagInstanceProfile", profile, both}, true},
		{"AWI-238 tags of a foreign profile", request{"iam:TagInstanceProfile", profile, context(request_, node())}, false},
		{"AWI-238 its role", request{"iam:AddRoleToInstanceProfile", profile, context(resource, node())}, true},
		{"AWI-238 a profile of an earlier version", request{"iam:DeleteInstanceProfile", iamARN + "instance-profile/demo_123", context(resource, node("eks:eks-cluster-name", "-"))}, true},
		{"AWI-238 another cluster's profile", request{"iam:DeleteInstanceProfile", profile, context(resource, other)}, false},
		{"AWI-238 another cluster's path", request{"iam:RemoveRoleFromInstanceProfile", iamARN + "instance-profile/karpenter/eu-central-1/other/1/x", context(resource, node())}, false},
		{"AWI-238 reading one that is not there", request{"iam:GetInstanceProfile", iamARN + "instance-profile/demo_77", nil}, true},
		{"AWI-238 the list", request{"iam:ListInstanceProfiles", iamARN + "instance-profile/karpenter/eu-central-1/demo/", nil}, true},

		{"AWI-235 discovery", request{"ec2:DescribeInstanceTypes", "*", context("", nil, "aws:RequestedRegion", "eu-central-1")}, true},
		{"AWI-235 zones", request{"ec2:DescribeAvailabilityZones", "*", context("", nil, "aws:RequestedRegion", "eu-central-1")}, true},
		{"AWI-235 in another region", request{"ec2:DescribeInstances", "*", context("", nil, "aws:RequestedRegion", "eu-west-1")}, false},
		{"AWI-235 AWS's parameters", request{"ssm:GetParameter", "arn:aws:ssm:eu-central-1::parameter/aws/service/eks/optimized-ami/1.33/x", nil}, true},
		{"AWI-235 the user's", request{"ssm:GetParameter", "arn:aws:ssm:eu-central-1:111122223333:parameter/images/golden", nil}, true},
		{"AWI-235 a shared one", request{"ssm:GetParameter", "arn:aws:ssm:eu-central-1:444455556666:parameter/shared/ami", nil}, true},
		{"AWI-235 no other", request{"ssm:GetParameter", "arn:aws:ssm:eu-central-1:111122223333:parameter/secrets/db", nil}, false},
		{"AWI-235 prices, wherever they are served", request{"pricing:GetProducts", "*", context("", nil, "aws:RequestedRegion", "us-east-1")}, true},
		{"AWI-235 the cluster", request{"eks:DescribeCluster", "arn:aws:eks:eu-central-1:111122223333:cluster/demo", nil}, true},
		{"AWI-235 not another", request{"eks:DescribeCluster", "arn:aws:eks:eu-central-1:111122223333:cluster/demo2", nil}, false},
		{"AWI-239 the queue", request{"sqs:ReceiveMessage", "arn:aws:sqs:eu-central-1:111122223333:demo", nil}, true},
		{"AWI-239 not another", request{"sqs:DeleteMessage", "arn:aws:sqs:eu-central-1:111122223333:demo2", nil}, false},
		{"AWI-239 zonal shifts", request{"arc-zonal-shift:GetManagedResource", "*",
			context("", nil, "arc-zonal-shift:ResourceIdentifier", "arn:aws:eks:eu-central-1:111122223333:cluster/demo")}, true},
		{"AWI-239 of another cluster", request{"arc-zonal-shift:GetManagedResource", "*",
			context("", nil, "arc-zonal-shift:ResourceIdentifier", "arn:aws:eks:eu-central-1:111122223333:cluster/other")}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := decide(t, documents, "", c.request); got != c.want {
				t.Errorf("%s on %s: allowed: %t, want %t", c.action, c.resource, got, c.want)
			}
		})
	}
}

// TestQueuePolicy: AWN-295. The rules send to the queue, others don't, and nobody does anything without TLS.
func TestQueuePolicy(t *testing.T) {
	setup := generate(t, settings())
	documents := []iam.Document{setup.Queue.Policy}
	for _, c := range []struct {
		name, service string
		context       []string
		want          bool
	}{
		{"a rule of the cluster", "events.amazonaws.com", []string{"aws:SourceArn", setup.Rules[1].ARN}, true},
		{"a rule of nobody's", "events.amazonaws.com", []string{"aws:SourceArn", "arn:aws:events:eu-central-1:111122223333:rule/x"}, false},
		{"a rule of another account", "events.amazonaws.com", []string{"aws:SourceArn", strings.ReplaceAll(setup.Rules[1].ARN, "111122223333", "999999999999")}, false},
		{"SQS itself", "sqs.amazonaws.com", []string{"aws:SourceAccount", "111122223333"}, true},
		{"SQS for another account", "sqs.amazonaws.com", []string{"aws:SourceAccount", "999999999999"}, false},
		{"another service", "sns.amazonaws.com", []string{"aws:SourceAccount", "111122223333"}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := request{"sqs:SendMessage", setup.Queue.ARN, context("", nil, append(c.context, "aws:SecureTransport", "true")...)}
			if got := decide(t, documents, c.service, r); got != c.want {
				t.Errorf("allowed: %t, want %t", got, c.want)
			}
			r.context = context("", nil, append(c.context, "aws:SecureTransport", "false")...)
			if decide(t, documents, c.service, r) {
				t.Error("allowed without TLS")
			}
		})
	}
}

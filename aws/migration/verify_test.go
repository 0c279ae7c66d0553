package migration_test

import (
	"bytes"
	"encoding/base64"
	"errors"
	"slices"
	"strings"
	"testing"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	iamtypes "github.com/aws/aws-sdk-go-v2/service/iam/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	v1 "github.com/drawknife/drawknife/api/v1"
	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	"github.com/drawknife/drawknife/aws/iam"
	"github.com/drawknife/drawknife/aws/migration"
)

func verify(t *testing.T, in migration.Input, a *account) migration.Report {
	t.Helper()
	report, err := migration.Verify(t.Context(), in, a.clients())
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// A cluster as Karpenter leaves it has nothing that the move would change: its launch template has the same meaning as drawknife's.
func TestNothingChanges(t *testing.T) {
	report := verify(t, cluster(), newAccount())
	for _, f := range report.Findings {
		t.Errorf("%+v", f)
	}
	if report.Checked.LaunchTemplates != 1 || report.Checked.NodeClaims != 1 {
		t.Errorf("checked %+v", report.Checked)
	}
	again := verify(t, cluster(), newAccount())
	var one, two bytes.Buffer
	if err := errors.Join(report.WriteText(&one), again.WriteText(&two)); err != nil || one.String() != two.String() {
		t.Errorf("two reports of the same cluster differ, %v", err)
	}
}

// Each change of the cluster or the account gives its finding.
func TestFindings(t *testing.T) {
	for _, c := range []struct {
		name     string
		change   func(*migration.Input, *account)
		severity migration.Severity
		check    string
		field    string
		says     string
	}{
		{"a class that is refused", func(in *migration.Input, _ *account) { in.NodeClasses[0].Spec.SubnetSelectorTerms = nil },
			migration.SeverityError, migration.CheckObjects, "spec.subnetSelectorTerms", "refuses"},
		{"a pool without a class", func(in *migration.Input, _ *account) { in.NodePools[0].Spec.Template.Spec.NodeClassRef.Name = "gone" },
			migration.SeverityError, migration.CheckObjects, "spec.template.spec.nodeClassRef", "does not exist"},
		{"user data that cannot be read", func(in *migration.Input, _ *account) {
			in.NodeClasses[0].Spec.UserData = awssdk.String("MIME-Version: 1.0\nContent-Type: text/plain\n\nhello")
		}, migration.SeverityError, migration.CheckUserData, "spec.userData", "does not read"},
		{"an archive that is not closed", func(in *migration.Input, _ *account) {
			in.NodeClasses[0].Spec.UserData = awssdk.String("MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=\"//\"\n\n--//\nContent-Type: text/x-shellscript\n\n#!/bin/bash\ntrue\n\n--//\n")
		}, migration.SeverityWarning, migration.CheckUserData, "spec.userData", "closing"},
		{"another limit of pods", func(in *migration.Input, _ *account) {
			limit := intstr.FromInt32(50)
			in.NodeClasses[0].Spec.Kubelet = &awsv1.KubeletConfiguration{MaxPods: &limit}
		}, migration.SeverityWarning, migration.CheckLaunchTemplates, "userData kubelet.config.maxPods", `"29" before, "50" now`},
		{"a label that the pool no longer has", func(in *migration.Input, _ *account) { in.NodePools[0].Spec.Template.Labels = nil },
			migration.SeverityWarning, migration.CheckLaunchTemplates, "userData labels.team", "does not write"},
		{"a script of the user", func(_ *migration.Input, a *account) {
			a.template.UserData = awssdk.String(base64.StdEncoding.EncodeToString([]byte(strings.Replace(karpentersUserData, "--//\n", "--//\nContent-Type: text/x-shellscript\n\n#!/bin/bash\nsecret\n\n--//\n", 1))))
		}, migration.SeverityWarning, migration.CheckLaunchTemplates, "userData", "text/x-shellscript"},
		{"another volume", func(_ *migration.Input, a *account) {
			a.template.BlockDeviceMappings[0].Ebs.VolumeSize = awssdk.Int32(100)
		}, migration.SeverityWarning, migration.CheckLaunchTemplates, "BlockDeviceMappings[/dev/xvda].Ebs.VolumeSize", `has "100", drawknife writes "20"`},
		{"another hop limit", func(_ *migration.Input, a *account) {
			a.template.MetadataOptions.HttpPutResponseHopLimit = awssdk.Int32(2)
		}, migration.SeverityWarning, migration.CheckLaunchTemplates, "MetadataOptions.HttpPutResponseHopLimit", `"2"`},
		{"a user data of an instance", func(_ *migration.Input, a *account) {
			a.template, a.userData = nil, strings.ReplaceAll(karpentersUserData, "maxPods: 29", "maxPods: 58")
		}, migration.SeverityWarning, migration.CheckLaunchTemplates, "userData kubelet.config.maxPods", "instance i-0123456789abcdef0"},
		{"a denied action", func(_ *migration.Input, a *account) {
			a.denied = map[string]iamtypes.PolicyEvaluationDecisionType{"ec2:CreateFleet": iamtypes.PolicyEvaluationDecisionTypeExplicitDeny}
		}, migration.SeverityError, migration.CheckIAM, "ec2:CreateFleet", "a statement denies it"},
		{"an action that nothing allows", func(_ *migration.Input, a *account) {
			a.denied = map[string]iamtypes.PolicyEvaluationDecisionType{"iam:PassRole": iamtypes.PolicyEvaluationDecisionTypeImplicitDeny}
		}, migration.SeverityError, migration.CheckIAM, "iam:PassRole", "nothing allows it"},
		{"a type that Karpenter does not offer", func(in *migration.Input, _ *account) { in.KarpenterTypes = []string{"c5.large"} },
			migration.SeverityInfo, migration.CheckInstanceTypes, "spec.template.spec.requirements", "gains 1 instance types that Karpenter does not offer: m5.large"},
		{"a class that reserves everything", func(in *migration.Input, _ *account) {
			in.NodeClasses[0].Spec.Kubelet = &awsv1.KubeletConfiguration{SystemReserved: map[string]string{"memory": "100Gi"}}
		}, migration.SeverityError, migration.CheckInstanceTypes, "spec.template.spec.requirements", "loses 1 of 1"},
		{"another image", func(_ *migration.Input, a *account) { a.instance.ImageId = awssdk.String("ami-0fedcba9876543210") },
			migration.SeverityWarning, migration.CheckDrift, "status.amis", "ami-0fedcba9876543210"},
		{"another subnet", func(_ *migration.Input, a *account) { a.instance.SubnetId = awssdk.String("subnet-9") },
			migration.SeverityWarning, migration.CheckDrift, "status.subnets", "subnet-9"},
		{"an instance that is gone", func(_ *migration.Input, a *account) {
			a.instance.State = &ec2types.InstanceState{Name: ec2types.InstanceStateNameTerminated}
		}, migration.SeverityWarning, migration.CheckDrift, "status.providerID", "does not exist"},
		{"an instance without tags", func(_ *migration.Input, a *account) { a.instance.Tags = nil },
			migration.SeverityError, migration.CheckDrift, "status.providerID", "tags"},
		{"a pool that has changed", func(in *migration.Input, _ *account) { in.NodePools[0].Annotations[v1.NodePoolHashAnnotationKey] = "8" },
			migration.SeverityWarning, migration.CheckDrift, "metadata.annotations[karpenter.sh/nodepool-hash]", "has changed"},
		{"a claim without a pool", func(in *migration.Input, _ *account) { in.NodePools = nil },
			migration.SeverityError, migration.CheckDrift, "metadata.labels[karpenter.sh/nodepool]", "does not exist"},
	} {
		t.Run(c.name, func(t *testing.T) {
			in, a := cluster(), newAccount()
			in.ControllerRole = "arn:aws:iam::111122223333:role/demo-drawknife"
			setup, err := iam.Generate(iam.Settings{Region: "us-east-1", AccountID: "111122223333", ClusterName: "demo", NodeRoles: []string{"demo-nodes"}})
			if err != nil {
				t.Fatal(err)
			}
			in.Policies = setup.ControllerPolicies
			c.change(&in, a)
			report := verify(t, in, a)
			if !slices.ContainsFunc(report.Findings, func(f migration.Finding) bool {
				return f.Severity == c.severity && f.Check == c.check && f.Field == c.field && strings.Contains(f.Message, c.says)
			}) {
				t.Errorf("no such finding among %+v\nnot checked: %+v", report.Findings, report.NotChecked)
			}
			for _, f := range report.Findings {
				if strings.Contains(f.Message, "secret") {
					t.Errorf("the report quotes the user's script: %s", f.Message)
				}
				if f.Cure == "" && f.Severity != migration.SeverityInfo {
					t.Errorf("no cure: %+v", f)
				}
			}
		})
	}
}

// What could not be checked is said, with the reason.
func TestNotChecked(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*migration.Input, *account)
		check  string
		says   string
	}{
		{"no role", func(in *migration.Input, _ *account) { in.ControllerRole = "" }, migration.CheckIAM, "ARN"},
		{"no permission to simulate", func(_ *migration.Input, a *account) { a.refuse = errors.New("AccessDenied") }, migration.CheckIAM, "iam:SimulatePrincipalPolicy"},
		{"no status", func(in *migration.Input, _ *account) { in.NodeClasses[0].Status = awsv1.EC2NodeClassStatus{} }, migration.CheckLaunchTemplates, "status"},
		{"no template and no instance", func(in *migration.Input, a *account) { in.NodeClaims, a.template = nil, nil }, migration.CheckLaunchTemplates, "soon after"},
		{"no metrics", func(*migration.Input, *account) {}, migration.CheckInstanceTypes, "metrics"},
	} {
		t.Run(c.name, func(t *testing.T) {
			in, a := cluster(), newAccount()
			in.ControllerRole, in.Policies = "arn:aws:iam::111122223333:role/demo-drawknife", []iam.Policy{{Name: "p", Document: iam.Document{Statement: []iam.Statement{{Action: []string{"ec2:CreateFleet"}, Resource: []string{"*"}}}}}}
			c.change(&in, a)
			report := verify(t, in, a)
			if !slices.ContainsFunc(report.NotChecked, func(s migration.Skipped) bool { return s.Check == c.check && strings.Contains(s.Reason, c.says) }) {
				t.Errorf("not checked: %+v", report.NotChecked)
			}
		})
	}
	if _, err := migration.Verify(t.Context(), migration.Input{}, newAccount().clients()); err == nil {
		t.Error("a cluster without a name is accepted")
	}
}

// The simulation asks about each action with the tags of a real request, and about no pattern.
func TestSimulation(t *testing.T) {
	in, a := cluster(), newAccount()
	setup, err := iam.Generate(iam.Settings{Region: "us-east-1", AccountID: "111122223333", ClusterName: "demo", NodeRoles: []string{"demo-nodes"}})
	if err != nil {
		t.Fatal(err)
	}
	in.ControllerRole, in.Policies = "arn:aws:iam::111122223333:role/demo-drawknife", setup.ControllerPolicies
	report := verify(t, in, a)
	if report.Checked.Permissions == 0 || len(a.asked) == 0 {
		t.Fatal("nothing was asked")
	}
	tagged := false
	for _, asked := range a.asked {
		for _, resource := range asked.ResourceArns {
			if resource != "*" && strings.Contains(resource, "*") {
				t.Errorf("asked about the pattern %s", resource)
			}
		}
		for _, entry := range asked.ContextEntries {
			if *entry.ContextKeyName == "aws:RequestTag/kubernetes.io/cluster/demo" && slices.Equal(entry.ContextKeyValues, []string{"owned"}) {
				tagged = true
			}
			for _, value := range entry.ContextKeyValues {
				if strings.Contains(value, "*") {
					t.Errorf("the context has the pattern %s", value)
				}
			}
		}
	}
	if !tagged {
		t.Error("the request has no tags of the cluster")
	}
}

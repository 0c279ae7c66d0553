package iam_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/drawknife/drawknife/aws/iam"
)

// TestControllerTrust: one service account may assume the controller's role, by either way that EKS has. SET-007, SET-071.
func TestControllerTrust(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*iam.Settings)
		want   iam.Statement
	}{
		{
			"web identity", // S1-013, S2-019
			func(s *iam.Settings) {
				s.OIDCIssuer, s.ServiceAccount = "https://oidc.eks.eu-central-1.amazonaws.com/id/0123", "karpenter/karpenter"
			},
			iam.Statement{
				Sid: "ServiceAccountAssumes", Effect: iam.Allow, Action: []string{"sts:AssumeRoleWithWebIdentity"},
				Principal: &iam.Principal{Federated: []string{"arn:aws:iam::111122223333:oidc-provider/oidc.eks.eu-central-1.amazonaws.com/id/0123"}},
				Condition: iam.Condition{"StringEquals": {
					"oidc.eks.eu-central-1.amazonaws.com/id/0123:aud": {"sts.amazonaws.com"},
					"oidc.eks.eu-central-1.amazonaws.com/id/0123:sub": {"system:serviceaccount:karpenter:karpenter"},
				}},
			},
		},
		{
			"pod identity",
			func(*iam.Settings) {},
			iam.Statement{
				Sid: "PodIdentityAssumes", Effect: iam.Allow, Action: []string{"sts:AssumeRole", "sts:TagSession"},
				Principal: &iam.Principal{Service: []string{"pods.eks.amazonaws.com"}},
				Condition: iam.Condition{"StringEquals": {
					"aws:RequestTag/eks-cluster-arn":            {"arn:aws:eks:eu-central-1:111122223333:cluster/demo"},
					"aws:RequestTag/kubernetes-namespace":       {"kube-system"},
					"aws:RequestTag/kubernetes-service-account": {"drawknife"},
				}},
			},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff([]iam.Statement{c.want}, generate(t, settings(c.change)).ControllerTrust.Statement); diff != "" {
				t.Errorf("trust (-want +got):\n%s", diff)
			}
		})
	}
}

// TestMappings: API-433, S1-012, S2-027, S2-028. Instances join by the role's ARN, without a path; the placeholder stays.
func TestMappings(t *testing.T) {
	got, err := json.Marshal(generate(t, settings(func(s *iam.Settings) { s.NodeRoles = []string{"nodes", "team/windows"} })).NodeRole.Mappings)
	if err != nil {
		t.Fatal(err)
	}
	want := `[{"rolearn":"arn:aws:iam::111122223333:role/nodes","username":"system:node:{{EC2PrivateDNSName}}","groups":["system:bootstrappers","system:nodes"]},` +
		`{"rolearn":"arn:aws:iam::111122223333:role/windows","username":"system:node:{{EC2PrivateDNSName}}","groups":["system:bootstrappers","system:nodes"]}]`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("mappings (-want +got):\n%s", diff)
	}
}

package iam

import "strings"

// DefaultServiceAccount is the service account that the controller's chart creates, in the namespace that Karpenter recommends.
const DefaultServiceAccount = "kube-system/drawknife"

// Mapping allows instances with a role to join the cluster, as an entry of mapRoles in the ConfigMap kube-system/aws-auth.
type Mapping struct {
	// RoleARN is the ARN of the role, not of its instance profile. It does not contain the role's path, which aws-auth does not support.
	RoleARN string `json:"rolearn"`
	// Username has a placeholder that the cluster fills in: keep it unchanged.
	Username string `json:"username"`
	// Groups of the instance.
	Groups []string `json:"groups"`
}

func mapping(role string) Mapping {
	folder, path, _ := strings.Cut(role, ":role/")
	return Mapping{
		RoleARN:  folder + ":role/" + path[strings.LastIndex(path, "/")+1:],
		Username: "system:node:{{EC2PrivateDNSName}}",
		Groups:   []string{"system:bootstrappers", "system:nodes"},
	}
}

// controllerTrust allows only the controller's service account to assume the controller's role: by the tokens of the cluster, or by EKS Pod
// Identity, which tags the session with its origin.
func controllerTrust(a account) Document {
	namespace, name, _ := strings.Cut(a.ServiceAccount, "/")
	if a.OIDCIssuer != "" {
		return document(Statement{
			Sid: "ServiceAccountAssumes", Effect: Allow,
			Principal: &Principal{Federated: []string{a.iam("oidc-provider/" + a.OIDCIssuer)}},
			Action:    []string{"sts:AssumeRoleWithWebIdentity"},
			Condition: Condition{}.
				with("StringEquals", a.OIDCIssuer+":aud", "sts.amazonaws.com").
				with("StringEquals", a.OIDCIssuer+":sub", "system:serviceaccount:"+namespace+":"+name),
		})
	}
	return document(Statement{
		Sid: "PodIdentityAssumes", Effect: Allow,
		Principal: &Principal{Service: []string{"pods.eks.amazonaws.com"}},
		Action:    []string{"sts:AssumeRole", "sts:TagSession"},
		Condition: Condition{}.
			with("StringEquals", "aws:RequestTag/eks-cluster-arn", a.cluster()).
			with("StringEquals", "aws:RequestTag/kubernetes-namespace", namespace).
			with("StringEquals", "aws:RequestTag/kubernetes-service-account", name),
	})
}

package requirements

import "strings"

// NodeClassLabelKey is the key of the label that every NodeClaim and node has to name its node class: the group of
// the class and its kind in lower case, as in karpenter.k8s.aws/ec2nodeclass. The label's value is the class's name.
func NodeClassLabelKey(group, kind string) string {
	return group + "/" + strings.ToLower(kind)
}

package requirements

import "strings"

// NodeClassLabelKey returns the key of the label with which every NodeClaim and node names its node class: the group of the class and its
// kind in lower case, as in karpenter.k8s.aws/ec2nodeclass. The label's value is the class's name.
func NodeClassLabelKey(group, kind string) string {
	return group + "/" + strings.ToLower(kind)
}

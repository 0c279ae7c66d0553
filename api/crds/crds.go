package crds

import (
	"embed"
	"path"
	"slices"
)

//go:generate go run generate.go

//go:embed *.yaml v1beta1/*.yaml alpha/*.yaml
var files embed.FS

// CRD is one CustomResourceDefinition.
type CRD struct {
	// Group, Kind and Plural are the names of the kind: "karpenter.sh", "NodePool", "nodepools".
	Group, Kind, Plural string
	// Versions that the definition has; the last is the stored version.
	Versions []string
	// Namespaced is true for kinds whose objects live in namespaces.
	Namespaced bool

	// folder is the folder of the definition's file, or empty for the definitions that All returns.
	folder string
}

// Name returns the name of the CustomResourceDefinition: "nodepools.karpenter.sh".
func (c CRD) Name() string { return c.Plural + "." + c.Group }

// YAML returns the definition as one document. The caller owns the slice.
func (c CRD) YAML() []byte {
	text, err := files.ReadFile(path.Join(c.folder, c.Group+"_"+c.Plural+".yaml"))
	if err != nil {
		return nil // c is not a CRD of this package
	}
	return slices.Clone(text)
}

// All returns the definitions of every kind of the present generation, in the order of their names. The caller owns the slice.
func All() []CRD {
	return []CRD{
		{Group: "autoscaling.x-k8s.io", Kind: "CapacityBuffer", Plural: "capacitybuffers", Versions: []string{"v1beta1"}, Namespaced: true},
		{Group: "autoscaling.x-k8s.io", Kind: "ProvisioningRequest", Plural: "provisioningrequests", Versions: []string{"v1beta1", "v1"}, Namespaced: true},
		{Group: "karpenter.k8s.aws", Kind: "EC2NodeClass", Plural: "ec2nodeclasses", Versions: []string{"v1"}},
		{Group: "karpenter.sh", Kind: "NodeClaim", Plural: "nodeclaims", Versions: []string{"v1"}},
		{Group: "karpenter.sh", Kind: "NodeOverlay", Plural: "nodeoverlays", Versions: []string{"v1alpha1"}},
		{Group: "karpenter.sh", Kind: "NodePool", Plural: "nodepools", Versions: []string{"v1"}},
	}
}

// WithV1Beta1 returns the definitions of the kinds that also exist in v1beta1, with both versions, in the order of their names. Their
// version v1 is the same as in the definitions of All. v1beta1 is not served, because an API server can't convert between the two versions
// itself. To serve it, set spec.versions[0].served to true and install a conversion webhook. The caller owns the slice.
func WithV1Beta1() []CRD {
	both := func(group, kind, plural string) CRD {
		return CRD{Group: group, Kind: kind, Plural: plural, Versions: []string{"v1beta1", "v1"}, folder: "v1beta1"}
	}
	return []CRD{
		both("karpenter.k8s.aws", "EC2NodeClass", "ec2nodeclasses"), both("karpenter.sh", "NodeClaim", "nodeclaims"), both("karpenter.sh", "NodePool", "nodepools"),
	}
}

// Alpha returns the definitions of v1alpha5's kinds, in the order of their names. They are for clusters whose manifests have not been
// rewritten yet. These kinds have other names than later kinds, so the API server never converts them. The caller owns the slice.
func Alpha() []CRD {
	return []CRD{
		{Group: "karpenter.k8s.aws", Kind: "AWSNodeTemplate", Plural: "awsnodetemplates", Versions: []string{"v1alpha1"}, folder: "alpha"},
		{Group: "karpenter.sh", Kind: "Machine", Plural: "machines", Versions: []string{"v1alpha5"}, folder: "alpha"},
		{Group: "karpenter.sh", Kind: "Provisioner", Plural: "provisioners", Versions: []string{"v1alpha5"}, folder: "alpha"},
	}
}

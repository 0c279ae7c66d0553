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
	// Group, Kind and Plural are its names: "karpenter.sh", "NodePool", "nodepools".
	Group, Kind, Plural string
	// Versions that it serves; the last is the one that is stored.
	Versions []string
	// Namespaced is true for kinds whose objects live in namespaces.
	Namespaced bool

	// folder that the definition is in; empty for those of All.
	folder string
}

// Name is that of the CustomResourceDefinition: "nodepools.karpenter.sh".
func (c CRD) Name() string { return c.Plural + "." + c.Group }

// YAML is the definition as one document. The caller owns the slice.
func (c CRD) YAML() []byte {
	text, err := files.ReadFile(path.Join(c.folder, c.Group+"_"+c.Plural+".yaml"))
	if err != nil {
		return nil // a CRD that is none of this package's
	}
	return slices.Clone(text)
}

// All are the definitions of every kind of the present generation, in the order of their names. The caller owns the slice.
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

// WithV1Beta1 are the definitions of those kinds of All that v1beta1 has too, with both versions, in the order of their names. What
// they say of v1 is what All says; v1beta1 is not served: an API server can't tell one from the other by itself, so that
// anyone who serves it sets spec.versions[0].served together with a conversion webhook. The caller owns the slice.
func WithV1Beta1() []CRD {
	both := func(group, kind, plural string) CRD {
		return CRD{Group: group, Kind: kind, Plural: plural, Versions: []string{"v1beta1", "v1"}, folder: "v1beta1"}
	}
	return []CRD{
		both("karpenter.k8s.aws", "EC2NodeClass", "ec2nodeclasses"), both("karpenter.sh", "NodeClaim", "nodeclaims"), both("karpenter.sh", "NodePool", "nodepools"),
	}
}

// Alpha are the definitions of v1alpha5's kinds, in the order of their names. Their names are not those of later
// kinds, so that no conversion takes place: they are for clusters whose manifests have not been rewritten yet. The slice is
// the caller's.
func Alpha() []CRD {
	return []CRD{
		{Group: "karpenter.k8s.aws", Kind: "AWSNodeTemplate", Plural: "awsnodetemplates", Versions: []string{"v1alpha1"}, folder: "alpha"},
		{Group: "karpenter.sh", Kind: "Machine", Plural: "machines", Versions: []string{"v1alpha5"}, folder: "alpha"},
		{Group: "karpenter.sh", Kind: "Provisioner", Plural: "provisioners", Versions: []string{"v1alpha5"}, folder: "alpha"},
	}
}

package crds

import (
	"embed"
	"slices"
)

//go:generate go run generate.go

//go:embed *.yaml
var files embed.FS

// CRD is one CustomResourceDefinition.
type CRD struct {
	// Group, Kind and Plural are its names: "karpenter.sh", "NodePool", "nodepools".
	Group, Kind, Plural string
	// Versions that it serves; the last is the one that is stored.
	Versions []string
	// Namespaced is true for kinds whose objects live in namespaces.
	Namespaced bool
}

// Name is that of the CustomResourceDefinition: "nodepools.karpenter.sh".
func (c CRD) Name() string { return c.Plural + "." + c.Group }

// YAML is the definition as one document. The slice is the caller's.
func (c CRD) YAML() []byte {
	text, err := files.ReadFile(c.Group + "_" + c.Plural + ".yaml")
	if err != nil {
		return nil // a CRD that is not of All
	}
	return slices.Clone(text)
}

// All are the definitions of every kind that is served, in the order of their names. The slice is the caller's.
func All() []CRD {
	return []CRD{
		{Group: "autoscaling.x-k8s.io", Kind: "CapacityBuffer", Plural: "capacitybuffers", Versions: []string{"v1beta1"}, Namespaced: true},
		{Group: "karpenter.k8s.aws", Kind: "EC2NodeClass", Plural: "ec2nodeclasses", Versions: []string{"v1"}},
		{Group: "karpenter.sh", Kind: "NodeClaim", Plural: "nodeclaims", Versions: []string{"v1"}},
		{Group: "karpenter.sh", Kind: "NodeOverlay", Plural: "nodeoverlays", Versions: []string{"v1alpha1"}},
		{Group: "karpenter.sh", Kind: "NodePool", Plural: "nodepools", Versions: []string{"v1"}},
	}
}

// +kubebuilder:object:generate=true
// +groupName=karpenter.sh

package v1alpha5

//go:generate go tool -modfile=../../internal/tools/go.mod controller-gen object paths=.

// +kubebuilder:object:generate=true
// +groupName=karpenter.k8s.aws

package v1alpha1

//go:generate go tool -modfile=../../../internal/tools/go.mod controller-gen object paths=.

// +kubebuilder:object:generate=true
// +groupName=autoscaling.x-k8s.io

package v1

//go:generate go tool -modfile=../../../internal/tools/go.mod controller-gen object paths=.

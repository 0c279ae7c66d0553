package convert

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	api "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/api/v1alpha5"
	"github.com/drawknife/drawknife/api/v1beta1"
	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	awsv1alpha1 "github.com/drawknife/drawknife/aws/api/v1alpha1"
	awsv1beta1 "github.com/drawknife/drawknife/aws/api/v1beta1"
)

// Object is one Kubernetes object.
type Object interface {
	runtime.Object
	metav1.Object
}

// newObject makes an empty object of a kind that is converted, or returns nil for every other kind.
func newObject(kind schema.GroupVersionKind) Object {
	switch kind {
	case v1alpha5.GroupVersion().WithKind(v1alpha5.KindProvisioner):
		return &v1alpha5.Provisioner{}
	case v1alpha5.GroupVersion().WithKind(v1alpha5.KindMachine):
		return &v1alpha5.Machine{}
	case awsv1alpha1.GroupVersion().WithKind(awsv1alpha1.KindAWSNodeTemplate):
		return &awsv1alpha1.AWSNodeTemplate{}
	case v1beta1.GroupVersion().WithKind(v1beta1.KindNodePool):
		return &v1beta1.NodePool{}
	case v1beta1.GroupVersion().WithKind(v1beta1.KindNodeClaim):
		return &v1beta1.NodeClaim{}
	case awsv1beta1.GroupVersion().WithKind(awsv1beta1.KindEC2NodeClass):
		return &awsv1beta1.EC2NodeClass{}
	case api.GroupVersion().WithKind(api.KindNodePool):
		return &api.NodePool{}
	case api.GroupVersion().WithKind(api.KindNodeClaim):
		return &api.NodeClaim{}
	case api.NodeOverlayGroupVersion().WithKind(api.KindNodeOverlay):
		return &api.NodeOverlay{}
	case awsv1.GroupVersion().WithKind(awsv1.KindEC2NodeClass):
		return &awsv1.EC2NodeClass{}
	}
	return nil
}

// firstGroup is the API group of Provisioners before v1alpha4. These are not converted.
const firstGroup = "provisioning.karpenter.sh"

// ourGroup reports whether the group belongs to node autoscaling itself: leaving out one of its objects could change the behaviour of a
// cluster.
func ourGroup(group string) bool {
	return slices.Contains([]string{api.Group, awsv1.Group, firstGroup}, group)
}

// nodeTemplate and nodeClass are AWS's kinds of node template and node class.
func nodeTemplate() schema.GroupVersionKind {
	return awsv1alpha1.GroupVersion().WithKind(awsv1alpha1.KindAWSNodeTemplate)
}

func nodeClass() schema.GroupVersionKind {
	return awsv1beta1.GroupVersion().WithKind(awsv1beta1.KindEC2NodeClass)
}

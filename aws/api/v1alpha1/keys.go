package v1alpha1

// Keys of selector maps that are not tags.
const (
	// SelectorIDs lists ids, separated by commas.
	SelectorIDs = "aws::ids"
	// SelectorOldIDs is the earlier name of SelectorIDs. It works in every release.
	SelectorOldIDs = "aws-ids"
	// SelectorName lists names of images, separated by commas; wildcards work.
	SelectorName = "aws::name"
	// SelectorOwners lists owners of images, account ids or aliases, separated by commas.
	SelectorOwners = "aws::owners"
)

// AnnotationHash holds the drift hash.
const AnnotationHash = "karpenter.k8s.aws/nodetemplate-hash"

// InterruptionFinalizer was on node templates of early releases. Nothing reads it any more: remove it from all objects.
const InterruptionFinalizer = "karpenter.k8s.aws/interruption-infrastructure"

// Labels of nodes that later generations don't have.
const (
	// LabelInstancePods was the pod limit of the instance type.
	LabelInstancePods = "karpenter.k8s.aws/instance-pods"
	// LabelInstanceAcceleratorMemory was the memory of one accelerator, only in releases 0.27.3 to 0.27.8.
	LabelInstanceAcceleratorMemory = "karpenter.k8s.aws/instance-accelerator-memory"
)

// RetiredLabels returns the label keys that later generations don't have. The caller owns the slice.
func RetiredLabels() []string { return []string{LabelInstancePods, LabelInstanceAcceleratorMemory} }

// Tags that this generation or early releases of the next one reserve.
const (
	tagProvisioner = "karpenter.sh/provisioner-name"
	tagManagedBy   = "karpenter.sh/managed-by"
)

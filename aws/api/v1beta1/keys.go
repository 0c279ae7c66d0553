package v1beta1

// Annotations for values that the other generation can't represent.
const (
	// UbuntuAnnotationKey says, on a v1 node class, what was added when the family Ubuntu was converted: a comma-separated list of the
	// UbuntuCompatibility constants.
	UbuntuAnnotationKey = "compatibility.karpenter.k8s.aws/v1beta1-ubuntu"
	// AliasVersionAnnotationKey contains, on a v1beta1 node class, the version of the v1 node class's image alias, if it is not latest.
	AliasVersionAnnotationKey = "compatibility.karpenter.k8s.aws/v1-alias-version"
)

// Entries of UbuntuAnnotationKey.
const (
	// UbuntuCompatibilityAMIFamily: amiFamily was Ubuntu and was written as AL2.
	UbuntuCompatibilityAMIFamily = "amiFamily"
	// UbuntuCompatibilityBlockDeviceMappings: the class had no volumes, and Ubuntu's default volumes were written out.
	UbuntuCompatibilityBlockDeviceMappings = "blockDeviceMappings"
	// UbuntuCompatibilityIncompatible: the class had no image terms, and got a placeholder. Such a node class is not ready.
	UbuntuCompatibilityIncompatible = "incompatible"
)

// UbuntuPlaceholderAMI is the id in the image term of a node class marked UbuntuCompatibilityIncompatible. There is no such image.
const UbuntuPlaceholderAMI = "ami-placeholder"

// Tags that this generation reserves and v1 does not.
const tagManagedBy = "karpenter.sh/managed-by"

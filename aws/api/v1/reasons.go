package v1

import "github.com/drawknife/drawknife/api/conditions"

// Reasons of conditions that are not true. A condition that is true has its own type as reason.
const (
	// ReasonAwaitingReconciliation (Unknown, all conditions): the condition has not been determined yet.
	ReasonAwaitingReconciliation = conditions.ReasonAwaitingReconciliation

	// ReasonResolutionFailed (Unknown, all conditions): the resources could not be read.
	ReasonResolutionFailed = "ResolutionFailed"

	// ReasonSubnetsNotFound (SubnetsReady): the terms match no subnet.
	ReasonSubnetsNotFound = "SubnetsNotFound"
	// ReasonSecurityGroupsNotFound (SecurityGroupsReady): the terms match no security group.
	ReasonSecurityGroupsNotFound = "SecurityGroupsNotFound"
	// ReasonAMINotFound (AMIsReady): the terms match no image.
	ReasonAMINotFound = "AMINotFound"
	// ReasonUnsupportedAlias (AMIsReady): AWS publishes no images of the alias for the cluster's version.
	ReasonUnsupportedAlias = "UnsupportedAlias"
	// ReasonPlacementGroupNotFound (PlacementGroupReady): there is no such group.
	ReasonPlacementGroupNotFound = "PlacementGroupNotFound"
	// ReasonPlacementGroupResolutionFailed (PlacementGroupReady): EC2 could not be read.
	ReasonPlacementGroupResolutionFailed = "PlacementGroupResolutionFailed"

	// ReasonRoleNotFound (InstanceProfileReady): there is no IAM role of the name that the class gives.
	ReasonRoleNotFound = "RoleNotFound"
	// ReasonNoInstanceProfile (InstanceProfileReady): the class has no usable role or instance profile; the message says why.
	ReasonNoInstanceProfile = "NoInstanceProfile"

	// ReasonClusterCIDRResolutionFailed (ValidationSucceeded): the cluster's range of service addresses, which AL2023 needs, is
	// unknown.
	ReasonClusterCIDRResolutionFailed = "ClusterCIDRResolutionFailed"
	// ReasonInvalidSpec (ValidationSucceeded): a field is invalid, and no API server has refused the object.
	ReasonInvalidSpec = "InvalidSpec"
	// ReasonInvalidKubeletConfiguration (ValidationSucceeded): the kubelet block is invalid.
	ReasonInvalidKubeletConfiguration = "InvalidKubeletConfiguration"
	// ReasonUnsupportedKubeletConfiguration (ValidationSucceeded): the image family does not support the kubelet block.
	ReasonUnsupportedKubeletConfiguration = "UnsupportedKubeletConfiguration"
	// ReasonKubeletExpressionsDisabled (ValidationSucceeded): the kubelet block has expressions, which are not enabled.
	ReasonKubeletExpressionsDisabled = "KubeletExpressionsDisabled"
	// ReasonKubeletExpressionInvalid (ValidationSucceeded): an expression does not compile.
	ReasonKubeletExpressionInvalid = "KubeletExpressionInvalid"
	// ReasonKubeletExpressionEvaluationFailed (ValidationSucceeded): an expression fails for an instance type.
	ReasonKubeletExpressionEvaluationFailed = "KubeletExpressionEvaluationFailed"
	// ReasonDependenciesNotReady (ValidationSucceeded): images, security groups, subnets or the instance profile are missing.
	ReasonDependenciesNotReady = "DependenciesNotReady"
	// ReasonTagValidationFailed (ValidationSucceeded): a tag is reserved.
	ReasonTagValidationFailed = "TagValidationFailed"
	// ReasonCreateLaunchTemplateAuthCheckFailed (ValidationSucceeded): permission to create launch templates is missing.
	ReasonCreateLaunchTemplateAuthCheckFailed = "CreateLaunchTemplateAuthCheckFailed"
	// ReasonCreateFleetAuthCheckFailed (ValidationSucceeded): permission to create fleets is missing.
	ReasonCreateFleetAuthCheckFailed = "CreateFleetAuthCheckFailed"
	// ReasonRunInstancesAuthCheckFailed (ValidationSucceeded): permission to run instances is missing.
	ReasonRunInstancesAuthCheckFailed = "RunInstancesAuthCheckFailed"
	// ReasonUserDataSizeLimitExceeded (ValidationSucceeded): the user data is longer than EC2 allows.
	ReasonUserDataSizeLimitExceeded = "UserDataSizeLimitExceeded"
	// ReasonUserDataMalformed (ValidationSucceeded): the class's user data breaks the format of its family.
	ReasonUserDataMalformed = "UserDataMalformed"
	// ReasonInstanceProfileNotFound (ValidationSucceeded): the profile that the class names does not exist.
	ReasonInstanceProfileNotFound = "InstanceProfileNotFound"
)

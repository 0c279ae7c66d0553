package v1

import "github.com/drawknife/drawknife/api/conditions"

// Reasons of conditions that are not true. A condition that is true has its own type as reason.
const (
	// ReasonAwaitingReconciliation (Unknown, all conditions): nobody has looked yet.
	ReasonAwaitingReconciliation = conditions.ReasonAwaitingReconciliation

	// ReasonResolutionFailed (Unknown, all conditions): what the condition is about could not be found out.
	ReasonResolutionFailed = "ResolutionFailed"

	// ReasonSubnetsNotFound (SubnetsReady): the terms match nothing.
	ReasonSubnetsNotFound = "SubnetsNotFound"
	// ReasonSecurityGroupsNotFound (SecurityGroupsReady): the terms match nothing.
	ReasonSecurityGroupsNotFound = "SecurityGroupsNotFound"
	// ReasonAMINotFound (AMIsReady): the terms match nothing.
	ReasonAMINotFound = "AMINotFound"
	// ReasonUnsupportedAlias (AMIsReady): AWS publishes no images of the alias for the cluster's version.
	ReasonUnsupportedAlias = "UnsupportedAlias"
	// ReasonPlacementGroupNotFound (PlacementGroupReady): there is no such group.
	ReasonPlacementGroupNotFound = "PlacementGroupNotFound"
	// ReasonPlacementGroupResolutionFailed (PlacementGroupReady): EC2 could not be asked.
	ReasonPlacementGroupResolutionFailed = "PlacementGroupResolutionFailed"

	// ReasonRoleNotFound (InstanceProfileReady): there is no IAM role of the name that the class gives.
	ReasonRoleNotFound = "RoleNotFound"
	// ReasonNoInstanceProfile (InstanceProfileReady): the class gives no identity that nodes can have here; the message says why.
	ReasonNoInstanceProfile = "NoInstanceProfile"

	// ReasonClusterCIDRResolutionFailed (ValidationSucceeded): the range of service addresses, which AL2023 needs, could
	// not be found out.
	ReasonClusterCIDRResolutionFailed = "ClusterCIDRResolutionFailed"
	// ReasonInvalidSpec (ValidationSucceeded): a field breaks a rule of the API that no API server has looked at.
	ReasonInvalidSpec = "InvalidSpec"
	// ReasonInvalidKubeletConfiguration (ValidationSucceeded): the kubelet block is wrong.
	ReasonInvalidKubeletConfiguration = "InvalidKubeletConfiguration"
	// ReasonUnsupportedKubeletConfiguration (ValidationSucceeded): the family can't carry the kubelet block out.
	ReasonUnsupportedKubeletConfiguration = "UnsupportedKubeletConfiguration"
	// ReasonKubeletExpressionsDisabled (ValidationSucceeded): the kubelet block has expressions, which are not enabled.
	ReasonKubeletExpressionsDisabled = "KubeletExpressionsDisabled"
	// ReasonKubeletExpressionInvalid (ValidationSucceeded): an expression does not compile.
	ReasonKubeletExpressionInvalid = "KubeletExpressionInvalid"
	// ReasonKubeletExpressionEvaluationFailed (ValidationSucceeded): an expression fails for an instance type.
	ReasonKubeletExpressionEvaluationFailed = "KubeletExpressionEvaluationFailed"
	// ReasonDependenciesNotReady (ValidationSucceeded): images, groups, subnets or the instance profile are not there.
	ReasonDependenciesNotReady = "DependenciesNotReady"
	// ReasonTagValidationFailed (ValidationSucceeded): a tag is reserved.
	ReasonTagValidationFailed = "TagValidationFailed"
	// ReasonCreateLaunchTemplateAuthCheckFailed (ValidationSucceeded): launch templates may not be made.
	ReasonCreateLaunchTemplateAuthCheckFailed = "CreateLaunchTemplateAuthCheckFailed"
	// ReasonCreateFleetAuthCheckFailed (ValidationSucceeded): fleets may not be launched.
	ReasonCreateFleetAuthCheckFailed = "CreateFleetAuthCheckFailed"
	// ReasonRunInstancesAuthCheckFailed (ValidationSucceeded): instances may not be run.
	ReasonRunInstancesAuthCheckFailed = "RunInstancesAuthCheckFailed"
	// ReasonUserDataSizeLimitExceeded (ValidationSucceeded): the user data is longer than EC2 takes.
	ReasonUserDataSizeLimitExceeded = "UserDataSizeLimitExceeded"
	// ReasonUserDataMalformed (ValidationSucceeded): the class's user data breaks the format of its family.
	ReasonUserDataMalformed = "UserDataMalformed"
	// ReasonInstanceProfileNotFound (ValidationSucceeded): the profile that the class names does not exist.
	ReasonInstanceProfileNotFound = "InstanceProfileNotFound"
)

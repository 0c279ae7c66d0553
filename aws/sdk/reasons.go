package sdk

import (
	"fmt"
	"strings"
)

// Reason is a CamelCase word for a failed launch, usable as the reason of a condition.
type Reason string

// Reasons of failed launches.
const (
	// ReasonSpotRole: the account lacks the service-linked role that spot needs, and permission to create it is missing.
	ReasonSpotRole Reason = "SpotSLRCreationFailed"
	// ReasonUnauthorized: a permission is missing.
	ReasonUnauthorized Reason = "Unauthorized"
	// ReasonAMIUnauthorized: the account may not use the image.
	ReasonAMIUnauthorized Reason = "AMIAuthorizationFailure"
	// ReasonVPCMismatch: security groups and subnets belong to different VPCs.
	ReasonVPCMismatch Reason = "SecurityGroupSubnetVPCMismatch"
	// ReasonInstanceProfile: the instance profile does not exist or its name is malformed.
	ReasonInstanceProfile Reason = "InstanceProfileNameInvalid"
	// ReasonLaunchTemplate: the launch template does not exist any more.
	ReasonLaunchTemplate Reason = "LaunchTemplateNotFound"
	// ReasonUserData: the user data is too long.
	ReasonUserData Reason = "UserDataSizeLimitExceeded"
	// ReasonAMIInvalid: the image id is malformed.
	ReasonAMIInvalid Reason = "InvalidAMIID"
	// ReasonAMINotFound: the image does not exist.
	ReasonAMINotFound Reason = "AMINotFound"
	// ReasonThrottled: AWS refused the call because of too many calls.
	ReasonThrottled Reason = "RequestLimitExceeded"
	// ReasonInternal: EC2 has an internal error.
	ReasonInternal Reason = "InternalError"
	// ReasonFreeTier: the account uses the free tier, which does not include the type.
	ReasonFreeTier Reason = "FreeTierIneligible"
	// ReasonFleetQuota: the account has too many fleets.
	ReasonFleetQuota Reason = "FleetQuotaExceeded"
	// ReasonPendingVerification: AWS is still verifying the account.
	ReasonPendingVerification Reason = "AccountPendingVerification"
	// ReasonSpotQuota: the account's quota of spot instances is used up.
	ReasonSpotQuota Reason = "SpotQuotaExceeded"
	// ReasonVCPUQuota: the account's quota of vCPUs for such instance types is used up.
	ReasonVCPUQuota Reason = "VCPULimitExceeded"
	// ReasonInstanceQuota: the account's quota of such instances is used up.
	ReasonInstanceQuota Reason = "InstanceLimitExceeded"
	// ReasonVolumeQuota: the account's quota of volumes, or of their total size, is used up.
	ReasonVolumeQuota Reason = "VolumeLimitExceeded"
	// ReasonIOPSQuota: the account's quota of the volumes' total operations per second is used up.
	ReasonIOPSQuota Reason = "MaxIOPSLimitExceeded"
	// ReasonSpotPrice: the maximum price for a spot instance is below the current price.
	ReasonSpotPrice Reason = "SpotMaxPriceTooLow"
	// ReasonVolumeCapacity: the zone has no capacity for volumes of this type.
	ReasonVolumeCapacity Reason = "InsufficientVolumeCapacity"
	// ReasonSubnetFull: the subnet has no free address.
	ReasonSubnetFull Reason = "InsufficientFreeAddressesInSubnet"
	// ReasonLaunchFailed: anything else.
	ReasonLaunchFailed Reason = "LaunchFailed"
)

// Explain converts a code and message of EC2 to the reason of a failed launch and a sentence for people, which says how to correct the
// cause if that is known. code and message may be joined from several errors; the first matching reason in the order of the table is
// returned. Both code and message may be empty.
func Explain(code, message string) (Reason, string) {
	text := code + ": " + message
	for _, row := range explanations() {
		if row.applies(text) {
			return row.reason(text), row.sentence(text)
		}
	}
	return ReasonLaunchFailed, strings.Trim(text, ": ")
}

type explanation struct {
	anyOf  []string // at least one of these must occur in the code or message
	andOf  string   // this must also occur in the code or message
	reason func(text string) Reason
	cure   string
}

func (e explanation) applies(text string) bool {
	found := false
	for _, piece := range e.anyOf {
		found = found || strings.Contains(text, piece)
	}
	return found && strings.Contains(text, e.andOf)
}

func (e explanation) sentence(text string) string {
	cure := e.cure
	if e.reason(text) == ReasonUnauthorized {
		cure = permissionCure(text)
	}
	text = strings.Trim(text, ": ")
	if cure == "" {
		return text
	}
	return cure + " (" + text + ")"
}

func explanations() []explanation {
	always := func(r Reason) func(string) Reason { return func(string) Reason { return r } }
	row := func(r Reason, cure string, anyOf ...string) explanation {
		return explanation{anyOf: anyOf, reason: always(r), cure: cure}
	}
	return []explanation{
		row(ReasonSpotRole, "the service-linked role of spot.amazonaws.com is missing: create it, or allow iam:CreateServiceLinkedRole",
			"AuthFailure.ServiceLinkedRoleCreationNotPermitted"),
		{anyOf: []string{"UnauthorizedOperation", "AccessDenied", "AuthFailure"}, reason: unauthorizedReason,
			cure: "the account may not use the image: share it with the account, or select another"},
		{anyOf: []string{"InvalidParameter"}, andOf: "belong to different networks", reason: always(ReasonVPCMismatch),
			cure: "the node class's security groups and subnets are of different VPCs: select them from one"},
		row(ReasonInstanceProfile, "the node class's instance profile does not exist or has no role yet",
			"iamInstanceProfile.name is invalid", "Invalid IAM Instance Profile name"),
		row(ReasonLaunchTemplate, "the launch template is gone and will be created again",
			"InvalidLaunchTemplateId.NotFound"),
		row(ReasonUserData, "the node class's user data is too long: shorten it, or fetch the rest at boot", "User data is limited to"),
		row(ReasonAMIInvalid, "an image id is malformed: check the node class's amiSelectorTerms", "InvalidAMIID.Malformed"),
		row(ReasonAMINotFound, "an image does not exist: check the node class's amiSelectorTerms", "InvalidAMIID.NotFound"),
		row(ReasonThrottled, "", "RequestLimitExceeded"),
		row(ReasonInternal, "", "InternalError"),
		row(ReasonFreeTier, "the account uses the free tier: allow types that it includes, or upgrade it", "not eligible for Free Tier"),
		row(ReasonFleetQuota, "the account has too many fleets: wait, or ask AWS for more", "MaxFleetCountExceeded"),
		row(ReasonPendingVerification, "AWS is still verifying the account: wait, or ask its support", "PendingVerification"),
		row(ReasonSpotQuota, "the account may not have more spot instances: ask AWS for a higher quota", "MaxSpotInstanceCountExceeded"),
		row(ReasonVCPUQuota, "the account may not have more vCPUs of this kind: ask AWS for a higher quota", "VcpuLimitExceeded"),
		row(ReasonInstanceQuota, "the account may not have more instances of this kind: ask AWS for a higher quota", "InstanceLimitExceeded"),
		row(ReasonVolumeQuota, "the account may not have more volumes: delete some, make those of the node class smaller, or ask AWS for a higher quota", "VolumeLimitExceeded"),
		row(ReasonIOPSQuota, "the account may not have volumes with more operations a second: lower iops in the node class's blockDeviceMappings, or ask AWS for a higher quota",
			"MaxIOPSLimitExceeded"),
		row(ReasonSpotPrice, "the highest spot price that the launch template allows is below the current price: raise it or leave it out", "SpotMaxPriceTooLow"),
		row(ReasonVolumeCapacity, "the zone has no room for volumes of the type that the node class asks for: try another volumeType or zone", "InsufficientVolumeCapacity"),
		row(ReasonSubnetFull, "a subnet has no free address left: select larger or further subnets", "InsufficientFreeAddressesInSubnet"),
	}
}

func unauthorizedReason(text string) Reason {
	if strings.Contains(text, "Not authorized for images") {
		return ReasonAMIUnauthorized
	}
	return ReasonUnauthorized
}

// permissionCure says which kind of policy refused the call, and what to change.
func permissionCure(text string) string {
	action := namedAction(text)
	if action == "" {
		action = "the action"
	}
	switch {
	case strings.Contains(text, "explicit deny in a permissions boundary"):
		return fmt.Sprintf("%s is denied by a permissions boundary: change the boundary", action)
	case strings.Contains(text, "explicit deny in a service control policy"):
		return fmt.Sprintf("%s is denied by a service control policy: ask the administrators of the organisation", action)
	case strings.Contains(text, "explicit deny"):
		return fmt.Sprintf("%s is denied by a policy: remove the denial", action)
	}
	return fmt.Sprintf("no policy allows %s: grant it to the credentials in use", action)
}

// Unfulfillable reports whether a launch failed because this offering is not available now or exceeds a quota of the account. Another
// offering may work.
func Unfulfillable(code string) bool {
	switch code {
	case "InsufficientInstanceCapacity", "InsufficientHostCapacity", "InsufficientReservedInstanceCapacity", "InsufficientCapacity",
		"InsufficientCapacityOnOutpost", "InsufficientVolumeCapacity", "SpotMaxPriceTooLow", "UnfulfillableCapacity", "Unsupported",
		"InsufficientFreeAddressesInSubnet", "ReservationCapacityExceeded":
		return true
	}
	return Quota(code)
}

// Quota reports whether a launch failed because of a quota of the account.
func Quota(code string) bool {
	switch code {
	case "MaxSpotInstanceCountExceeded", "VcpuLimitExceeded", "InstanceLimitExceeded":
		return true
	}
	return AccountQuota(code)
}

// AccountQuota reports whether a launch failed because of a quota that affects every launch of the account in the region, whatever its
// instance type and zone.
func AccountQuota(code string) bool {
	switch code {
	case "MaxFleetCountExceeded", "VolumeLimitExceeded", "MaxIOPSLimitExceeded":
		return true
	}
	return false
}

// SpotRoleMissing reports whether a launch failed because the account has no service-linked role for spot: no spot
// offering works until it is created.
func SpotRoleMissing(code string) bool {
	return code == "AuthFailure.ServiceLinkedRoleCreationNotPermitted"
}

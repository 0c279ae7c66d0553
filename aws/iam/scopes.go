package iam

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
)

// scope identifies one statement of a policy: the resources and conditions of the actions that the statement allows. The constants have the
// order of the statements.
type scope int

const (
	// useShared allows launches to use resources that the cluster does not own.
	useShared scope = iota
	// useTemplates allows launches to use the cluster's own launch templates.
	useTemplates
	// createTagged allows creating the resources of a launch, if they get the cluster's tags.
	createTagged
	// createTemplates allows creating launch templates, if they get the cluster's tags.
	createTemplates
	// tagAtCreation allows setting the tags of these resources when they are created.
	tagAtCreation
	// tagLater allows setting the tags that are known only after a node has joined.
	tagLater
	// end allows terminating the cluster's instances and deleting its launch templates.
	end
	passRoles
	spotRole

	createProfiles
	tagProfiles
	changeProfiles
	readProfiles
	listProfiles

	readRegion
	readParameters
	readPrices
	readBilling
	readCluster
	readShifts

	readQueue

	// createAlpha, tagAlphaAtCreation and endAlpha are createTagged, tagAtCreation and end for instances of v1alpha5 pools. All tags of
	// these instances are set at creation. Their launch templates need no scopes of their own.
	createAlpha
	tagAlphaAtCreation
	endAlpha

	// readForMigration and simulateController allow the calls of the check before a migration.
	readForMigration
	simulateController

	// findBlocks allows looking for capacity blocks, buyBlocks allows buying them.
	findBlocks
	buyBlocks
	// tagBlocks allows setting the tags of the capacity reservation that a purchase creates.
	tagBlocks

	scopes // number of scopes
)

// The policies that contain the statements.
const (
	policyNodes        = "nodes"
	policyProfiles     = "instance-profiles"
	policyDiscovery    = "discovery"
	policyInterruption = "interruption"
	policyAlpha        = "nodes-v1alpha5"
	policyMigration    = "migration"
	policyBlocks       = "capacity-blocks"
)

// policy returns the policy that contains the statement.
func (s scope) policy() string {
	switch {
	case s <= spotRole:
		return policyNodes
	case s <= listProfiles:
		return policyProfiles
	case s <= readShifts:
		return policyDiscovery
	case s == readQueue:
		return policyInterruption
	case s <= endAlpha:
		return policyAlpha
	case s <= simulateController:
		return policyMigration
	}
	return policyBlocks
}

// statement returns the scope's statement for an account, without actions. The statement has no resources if the settings need nothing of
// this scope.
func (s scope) statement(a account) Statement {
	everything := []string{"*"}
	if s >= createAlpha && s <= endAlpha && !a.ServeAlpha {
		return Statement{}
	}
	switch s {
	case useShared:
		// Images and snapshots have no account in their ARN. Other resources may be shared by other accounts.
		resources := []string{a.arn("ec2", "", "image/*"), a.arn("ec2", "", "snapshot/*")}
		kinds := []string{"security-group", "subnet", "placement-group"}
		if !a.WithoutReservedCapacity {
			kinds = append(kinds, "capacity-reservation")
		}
		if a.DedicatedHosts {
			if !slices.Contains(a.LaunchResources, "dedicated-host") {
				kinds = append(kinds, "dedicated-host")
			}
			resources = append(resources, a.arn("resource-groups", "*", "group/*"))
		}
		if a.LicenseConfigurations {
			resources = append(resources, a.arn("license-manager", "*", "license-configuration:*"))
		}
		for _, kind := range append(kinds, a.LaunchResources...) {
			resources = append(resources, a.arn("ec2", "*", kind+"/*"))
		}
		return Statement{Sid: "UseSharedInputs", Resource: resources}
	case useTemplates:
		return Statement{Sid: "UseOwnLaunchTemplates", Resource: a.own("launch-template"), Condition: a.ownedNode()}
	case createTagged:
		return Statement{Sid: "CreateTaggedNodes", Resource: a.own(launched()...), Condition: a.tagged()}
	case createTemplates:
		return Statement{Sid: "CreateTaggedLaunchTemplates", Resource: a.own("launch-template"), Condition: a.tagged()}
	case tagAtCreation:
		return Statement{Sid: "TagAtCreation", Resource: a.own(append(launched(), "launch-template")...), Condition: a.tagged().
			with("StringEquals", "ec2:CreateAction", "CreateFleet", "CreateLaunchTemplate", "RunInstances")}
	case tagLater:
		return Statement{Sid: "TagNodesLater", Resource: a.own("instance"), Condition: a.ownedNode().
			with("StringEqualsIfExists", requestTag+awsv1.TagClusterName, a.ClusterName).
			with("ForAllValues:StringEquals", "aws:TagKeys", awsv1.TagName, awsv1.TagClusterName, awsv1.TagNodeClaim, tagNodeClaimUID)}
	case end:
		return Statement{Sid: "EndNodesAndLaunchTemplates", Resource: a.own("instance", "launch-template"), Condition: a.ownedNode()}
	case passRoles:
		return Statement{Sid: "PassNodeRoles", Resource: a.roles, Condition: Condition{}.
			with("StringEquals", "iam:PassedToService", a.passedTo()...)}
	case spotRole:
		if !a.SpotServiceLinkedRole {
			return Statement{}
		}
		return Statement{Sid: "CreateSpotRole", Resource: []string{a.iam("role/aws-service-role/spot.amazonaws.com/AWSServiceRoleForEC2Spot")},
			Condition: Condition{}.with("StringEquals", "iam:AWSServiceName", "spot.amazonaws.com")}
	case createProfiles:
		return Statement{Sid: "CreateTaggedProfiles", Resource: a.profiles()[:1], Condition: a.profileTags(requestTag, true)}
	case tagProfiles:
		condition := a.profileTags(requestTag, true)
		for operator, keys := range a.profileTags(resourceTag, true) {
			for key, values := range keys {
				condition = condition.with(operator, key, values...)
			}
		}
		return Statement{Sid: "TagOwnProfiles", Resource: a.profiles(), Condition: condition}
	case changeProfiles:
		return Statement{Sid: "ChangeOwnProfiles", Resource: a.profiles(), Condition: a.profileTags(resourceTag, false)}
	case readProfiles:
		return Statement{Sid: "ReadProfiles", Resource: a.profiles()}
	case listProfiles:
		return Statement{Sid: "ListProfiles", Resource: everything}
	case readForMigration:
		return Statement{Sid: "ReadLaunchedFrom", Resource: everything, Condition: Condition{}.with("StringEquals", "aws:RequestedRegion", a.Region)}
	case findBlocks:
		return Statement{Sid: "FindCapacityBlocks", Resource: everything, Condition: Condition{}.with("StringEquals", "aws:RequestedRegion", a.Region)}
	case buyBlocks:
		return Statement{Sid: "BuyCapacityBlocks", Resource: everything, Condition: Condition{}.with("StringEquals", "aws:RequestedRegion", a.Region)}
	case tagBlocks:
		return Statement{Sid: "TagCapacityBlocks", Resource: a.own("capacity-reservation"), Condition: Condition{}.
			with("StringEquals", "ec2:CreateAction", "PurchaseCapacityBlock")}
	case simulateController:
		return Statement{Sid: "SimulateController", Resource: []string{a.iam("role/" + ControllerRoleName(a.ClusterName))}}
	case readRegion:
		// Actions that describe resources can't be restricted further than to a region.
		return Statement{Sid: "ReadRegion", Resource: everything, Condition: Condition{}.with("StringEquals", "aws:RequestedRegion", a.Region)}
	case readParameters:
		return Statement{Sid: "ReadImageParameters", Resource: append([]string{a.arn("ssm", "", "parameter/aws/service/*")}, a.parameters...)}
	case readPrices:
		// Only a few regions serve the price list, so the cluster's region is no condition.
		return Statement{Sid: "ReadPrices", Resource: everything}
	case readBilling:
		// Savings Plans and Cost Explorer are served from one region for all regions.
		return Statement{Sid: "ReadCommitments", Resource: everything}
	case readCluster:
		return Statement{Sid: "ReadCluster", Resource: []string{a.cluster()}}
	case readShifts:
		return Statement{Sid: "ReadZonalShifts", Resource: everything, Condition: Condition{}.
			with("StringEquals", "arc-zonal-shift:ResourceIdentifier", a.cluster())}
	case readQueue:
		return Statement{Sid: "ReadInterruptions", Resource: []string{a.queue()}}
	case createAlpha:
		return Statement{Sid: "CreateTaggedMachines", Resource: a.own(launched()...), Condition: a.alphaTags(requestTag)}
	case tagAlphaAtCreation:
		return Statement{Sid: "TagMachinesAtCreation", Resource: a.own(launched()...), Condition: a.alphaTags(requestTag).
			with("StringEquals", "ec2:CreateAction", "CreateFleet", "RunInstances")}
	case endAlpha:
		return Statement{Sid: "EndMachines", Resource: a.own("instance"), Condition: a.alphaTags(resourceTag)}
	}
	return Statement{}
}

// Prefixes of condition keys: tags of a request, and tags of a resource.
const (
	requestTag  = "aws:RequestTag/"
	resourceTag = "aws:ResourceTag/"
)

const owned = "owned"

// launched returns the types of resources that a launch creates.
func launched() []string {
	return []string{"fleet", "instance", "volume", "network-interface", "spot-instances-request"}
}

// own returns the ARN patterns of the kinds of EC2 resources in the account itself.
func (a account) own(kinds ...string) []string {
	var out []string
	for _, kind := range kinds {
		out = append(out, a.arn("ec2", a.AccountID, kind+"/*"))
	}
	return out
}

// profiles returns the ARN patterns of the cluster's instance profiles: first the profiles below the cluster's path, then those of earlier
// versions at the root, whose names begin with the cluster's name. IAM also checks the names at the root if a requested profile does not
// exist: without these names, IAM would refuse the request instead of answering that the profile does not exist.
func (a account) profiles() []string {
	return []string{
		a.iam("instance-profile/karpenter/" + a.Region + "/" + a.ClusterName + "/*"),
		a.iam("instance-profile/" + a.ClusterName + "_*"),
	}
}

// tagged requires that a request tags what it creates with a node pool of the cluster. The pool may be empty, as in dry runs.
func (a account) tagged() Condition {
	return Condition{}.
		with("StringEquals", requestTag+awsv1.TagClusterPrefix+a.ClusterName, owned).
		with("StringEquals", requestTag+awsv1.TagClusterName, a.ClusterName).
		with("StringLike", requestTag+awsv1.TagNodePool, "*")
}

// ownedNode requires the tags of a node pool of the cluster on a resource.
func (a account) ownedNode() Condition {
	return Condition{}.
		with("StringEquals", resourceTag+awsv1.TagClusterPrefix+a.ClusterName, owned).
		with("StringLike", resourceTag+awsv1.TagNodePool, "*")
}

// alphaTags requires the tags that Karpenter from 0.28 on sets for v1alpha5, in the request or on the resource, with the cluster as
// manager.
func (a account) alphaTags(prefix string) Condition {
	return Condition{}.
		with("StringEquals", prefix+awsv1.TagClusterPrefix+a.ClusterName, owned).
		with("StringEquals", prefix+awsv1.TagManagedBy, a.ClusterName).
		with("StringLike", prefix+awsv1.TagProvisioner, "*")
}

// profileTags requires the cluster's tags, in the request or on the instance profile. If named is true, it also requires the tag with the
// cluster's name, which profiles of earlier versions lack.
func (a account) profileTags(prefix string, named bool) Condition {
	c := Condition{}.
		with("StringEquals", prefix+awsv1.TagClusterPrefix+a.ClusterName, owned).
		with("StringEquals", prefix+corev1.LabelTopologyRegion, a.Region).
		with("StringLike", prefix+awsv1.TagNodeClass, "*")
	if named {
		c = c.with("StringEquals", prefix+awsv1.TagClusterName, a.ClusterName)
	}
	return c
}

// tagNodeClaimUID is the tag with the UID of an instance's claim, which instances launched by one call for many claims get later.
const tagNodeClaimUID = "drawknife.dev/nodeclaim-uid"

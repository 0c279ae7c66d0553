package iam

import "slices"

// Call is one call that the code can make: a method of an interface of package aws/sdk.
type Call struct {
	// API is the interface, such as "EC2API".
	API string
	// Method is the method of the interface, such as "CreateFleet".
	Method string
	// Actions are the actions that IAM must allow for the call, sorted: "ec2:CreateFleet", "ec2:RunInstances", ….
	Actions []string
}

// Calls lists every call that the code can make, by interface, with its actions. The settings decide which of these calls are made. The
// caller may change the list.
func Calls() []Call {
	var out []Call
	for _, c := range table() {
		var actions []string
		for _, g := range c.grants {
			actions = append(actions, g.action)
		}
		slices.Sort(actions)
		out = append(out, Call{API: c.api, Method: c.method, Actions: slices.Compact(actions)})
	}
	return out
}

// grant is an action, and the scope in which a call needs it.
type grant struct {
	scope  scope
	action string
}

// call is a row of the table of calls. The policies allow exactly what these rows grant.
type call struct {
	api, method string
	grants      []grant
	// The function when reports whether the controller makes the call with the given settings. Nil means always.
	when func(Settings) bool
}

// in returns a list of grants: one for each scope, all with the same action.
func in(action string, scopes ...scope) []grant {
	var out []grant
	for _, s := range scopes {
		out = append(out, grant{s, action})
	}
	return out
}

// table lists the calls of package aws/sdk with the actions of each. AWS requires several actions for some calls: creating something with
// tags also requires the permission to tag it, launching with a role also requires the permission to pass the role, and CreateFleet also
// requires RunInstances.
func table() []call {
	reserved := func(s Settings) bool { return !s.WithoutReservedCapacity }
	profiles := func(s Settings) bool { return !s.WithoutInstanceProfiles }
	listed := func(s Settings) bool { return !s.WithoutInstanceProfiles && !s.IsolatedVPC }
	// The price list has no prices of GovCloud, so it is not read there.
	priced := func(s Settings) bool { return !s.IsolatedVPC && s.Partition != PartitionGovCloud }
	queued := func(s Settings) bool { return s.Queue != "" }
	committed := func(s Settings) bool { return s.Commitments }
	billed := func(s Settings) bool { return s.Commitments && s.CostExplorer }
	warmed := func(s Settings) bool { return s.WarmPools }
	scored := func(s Settings) bool { return s.SpotPlacementScores }
	migrated := func(s Settings) bool { return s.VerifyMigration }
	blocks := func(s Settings) bool { return s.CapacityBlocks || s.PurchaseCapacityBlocks }
	bought := func(s Settings) bool { return s.PurchaseCapacityBlocks }
	onEKS := func(s Settings) bool { return !s.WithoutEKS }

	launch := slices.Concat(
		in("ec2:RunInstances", useShared, useTemplates, createTagged, createAlpha),
		in("ec2:CreateTags", tagAtCreation, tagAlphaAtCreation),
		in("iam:PassRole", passRoles),
	)
	rows := []call{
		{api: "EC2API", method: "CreateFleet", grants: slices.Concat(launch,
			in("ec2:CreateFleet", useShared, useTemplates, createTagged, createAlpha),
			in("iam:CreateServiceLinkedRole", spotRole))},
		{api: "EC2API", method: "RunInstances", grants: launch},
		{api: "EC2API", method: "CreateLaunchTemplate", grants: slices.Concat(
			in("ec2:CreateLaunchTemplate", createTemplates), in("ec2:CreateTags", tagAtCreation))},
		{api: "EC2API", method: "CreateTags", grants: in("ec2:CreateTags", tagLater)},
		{api: "EC2API", method: "TerminateInstances", grants: in("ec2:TerminateInstances", end, endAlpha)},
		{api: "EC2API", method: "DeleteLaunchTemplate", grants: in("ec2:DeleteLaunchTemplate", end)},
		{api: "EC2API", method: "DescribeCapacityReservations", grants: in("ec2:DescribeCapacityReservations", readRegion), when: reserved},
	}
	for _, method := range []string{
		"DescribeAvailabilityZones", "DescribeImages", "DescribeInstances", "DescribeInstanceStatus",
		"DescribeInstanceTypeOfferings", "DescribeInstanceTypes", "DescribeLaunchTemplates", "DescribePlacementGroups",
		"DescribeSecurityGroups", "DescribeSpotPriceHistory", "DescribeSubnets",
	} {
		rows = append(rows, call{api: "EC2API", method: method, grants: in("ec2:"+method, readRegion)})
	}
	for _, method := range []string{"DescribeSavingsPlanRates", "DescribeSavingsPlans"} {
		rows = append(rows, call{api: "SavingsPlansAPI", method: method, grants: in("savingsplans:"+method, readBilling), when: committed})
	}
	for _, method := range []string{"GetCostAndUsage", "GetReservationUtilization", "GetSavingsPlansUtilizationDetails"} {
		rows = append(rows, call{api: "CostExplorerAPI", method: method, grants: in("ce:"+method, readBilling), when: billed})
	}
	for _, method := range []string{"DescribeInstances", "DescribeReservedInstances"} {
		rows = append(rows, call{api: "ReservedInstancesAPI", method: method, grants: in("ec2:"+method, readRegion), when: committed})
	}
	return append(rows,
		call{api: "HostsAPI", method: "DescribeHosts", grants: in("ec2:DescribeHosts", readRegion), when: func(s Settings) bool { return s.DedicatedHosts }},
		call{api: "WarmAPI", method: "StopInstances", grants: in("ec2:StopInstances", end), when: warmed},
		call{api: "WarmAPI", method: "StartInstances", grants: in("ec2:StartInstances", end), when: warmed},
		call{api: "SpotScoresAPI", method: "GetSpotPlacementScores", grants: in("ec2:GetSpotPlacementScores", readRegion), when: scored},
		call{api: "SSMAPI", method: "GetParameter", grants: in("ssm:GetParameter", readParameters)},
		call{api: "EKSAPI", method: "DescribeCluster", grants: in("eks:DescribeCluster", readCluster), when: onEKS},
		call{api: "PricingAPI", method: "GetProducts", grants: in("pricing:GetProducts", readPrices), when: priced},
		call{api: "ZonalShiftAPI", method: "GetManagedResource", grants: in("arc-zonal-shift:GetManagedResource", readShifts),
			when: func(s Settings) bool { return s.ZonalShift }},

		call{api: "IAMAPI", method: "GetInstanceProfile", grants: in("iam:GetInstanceProfile", readProfiles), when: profiles},
		call{api: "IAMAPI", method: "ListInstanceProfiles", grants: in("iam:ListInstanceProfiles", listProfiles), when: listed},
		call{api: "IAMAPI", method: "CreateInstanceProfile", grants: slices.Concat(
			in("iam:CreateInstanceProfile", createProfiles), in("iam:TagInstanceProfile", tagProfiles)), when: profiles},
		call{api: "IAMAPI", method: "DeleteInstanceProfile", grants: in("iam:DeleteInstanceProfile", changeProfiles), when: profiles},
		call{api: "IAMAPI", method: "AddRoleToInstanceProfile", grants: slices.Concat(
			in("iam:AddRoleToInstanceProfile", changeProfiles), in("iam:PassRole", passRoles)), when: profiles},
		call{api: "IAMAPI", method: "RemoveRoleFromInstanceProfile", grants: in("iam:RemoveRoleFromInstanceProfile", changeProfiles), when: profiles},
		call{api: "IAMAPI", method: "TagInstanceProfile", grants: in("iam:TagInstanceProfile", tagProfiles), when: profiles},

		call{api: "EC2MigrationAPI", method: "DescribeLaunchTemplateVersions", grants: in("ec2:DescribeLaunchTemplateVersions", readForMigration), when: migrated},
		call{api: "EC2MigrationAPI", method: "DescribeInstanceAttribute", grants: in("ec2:DescribeInstanceAttribute", readForMigration), when: migrated},
		call{api: "EC2CapacityBlockAPI", method: "DescribeCapacityBlockOfferings", grants: in("ec2:DescribeCapacityBlockOfferings", findBlocks), when: blocks},
		call{api: "EC2CapacityBlockAPI", method: "PurchaseCapacityBlock", grants: slices.Concat(
			in("ec2:PurchaseCapacityBlock", buyBlocks), in("ec2:CreateTags", tagBlocks)), when: bought},
		call{api: "IAMMigrationAPI", method: "SimulatePrincipalPolicy", grants: in("iam:SimulatePrincipalPolicy", simulateController), when: migrated},

		call{api: "SQSAPI", method: "GetQueueUrl", grants: in("sqs:GetQueueUrl", readQueue), when: queued},
		call{api: "SQSAPI", method: "ReceiveMessage", grants: in("sqs:ReceiveMessage", readQueue), when: queued},
		call{api: "SQSAPI", method: "DeleteMessage", grants: in("sqs:DeleteMessage", readQueue), when: queued},
		// SQS has no separate action for deleting several messages.
		call{api: "SQSAPI", method: "DeleteMessageBatch", grants: in("sqs:DeleteMessage", readQueue), when: queued},
	)
}

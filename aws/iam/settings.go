package iam

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Partitions for which documents can be made.
const (
	PartitionAWS      = "aws"
	PartitionChina    = "aws-cn"
	PartitionGovCloud = "aws-us-gov"
)

// Settings determine the documents. Region, AccountID, ClusterName and NodeRoles are required.
type Settings struct {
	// Partition is one of the Partition constants; empty means the partition of the region.
	Partition string
	// Region of the cluster, such as "eu-central-1".
	Region string
	// AccountID in which instances are launched: twelve digits.
	AccountID string
	// ClusterName is the name of the cluster in the settings of the provider. It identifies the resources that the provider creates.
	ClusterName string
	// NodeRoles are the roles with which instances are launched: names, with their path if they have one ("team/nodes"), or ARNs. Include
	// all roles that node classes name, and those in the instance profiles that they name.
	NodeRoles []string
	// ServiceAccount of the controller's pods, as namespace/name; empty means DefaultServiceAccount.
	ServiceAccount string
	// OIDCIssuer is the issuer of the cluster's tokens, as EKS reports it, with or without "https://". The role of the controller then
	// trusts the service account's tokens. If it is empty, the role trusts EKS Pod Identity, which needs an association of role and
	// service account.
	OIDCIssuer string
	// Queue is the name of the queue of interruption events. If it is empty, there is no queue, and there are no rules.
	Queue string
	// SSMParameters are the SSM parameters from which node classes read images, in addition to AWS's own: names or ARNs. "*" stands for
	// any text. Nil: none.
	SSMParameters []string
	// LaunchResources are additional types of EC2 resources that extended launch templates refer to, as in EC2's ARNs: "key-pair",
	// "dedicated-host". Nil: none.
	LaunchResources []string
	// IsolatedVPC leaves out the permissions for the price list and the list of instance profiles, which can't be reached from an isolated
	// VPC.
	IsolatedVPC bool
	// WithoutReservedCapacity leaves out the permissions for capacity reservations.
	WithoutReservedCapacity bool
	// WithoutInstanceProfiles means that node classes name instance profiles instead of roles, so no profiles are created. The policies
	// still allow the controller to pass the profiles' roles to EC2.
	WithoutInstanceProfiles bool
	// WithoutEKS means that the cluster is not on EKS, or that all its details are configured.
	WithoutEKS bool
	// ZonalShift allows asking ARC for zones that the EKS cluster is shifted away from.
	ZonalShift bool
	// Commitments allows reading Savings Plans and Reserved Instances.
	Commitments bool
	// CostExplorer allows asking Cost Explorer how much of the commitments is used, and for discounts. It has no effect without
	// Commitments.
	CostExplorer bool
	// DedicatedHosts allows launches on Dedicated Hosts and in host resource groups, which EC2NodeClasses name in spec.placement, and
	// reading the free capacity of hosts.
	DedicatedHosts bool
	// WarmPools allows stopping and starting the cluster's instances, for EC2NodeClasses with the annotation drawknife.dev/warm-pool.
	WarmPools bool
	// LicenseConfigurations allows launches with licence configurations, which EC2NodeClasses name in spec.licenseSpecifications.
	LicenseConfigurations bool
	// SpotPlacementScores allows asking EC2 how likely spot launches are to succeed.
	SpotPlacementScores bool
	// ServeAlpha adds a policy for instances of v1alpha5 pools, which have that generation's tags: keep this policy attached while
	// instances have these tags.
	ServeAlpha bool
	// SpotServiceLinkedRole allows the first spot launch of the account to create the role that EC2 needs for it. It is not needed if that
	// role exists.
	SpotServiceLinkedRole bool
	// VerifyMigration adds a policy for users who run the check before a migration (package aws/migration). It allows reading launch
	// templates and user data, and simulating the permissions of the controller's role. Attach it together with the policy for discovery.
	VerifyMigration bool
	// CapacityBlocks adds a policy for users who look for capacity blocks (package aws/capacityblocks). PurchaseCapacityBlocks adds a
	// policy for users who also buy capacity blocks. The controller needs neither policy.
	CapacityBlocks         bool
	PurchaseCapacityBlocks bool
}

// SettingError is an invalid setting. Errors of this package join one for each invalid setting.
type SettingError struct {
	// Setting is the name of the field; for a list with the index of the entry: "NodeRoles[1]".
	Setting string
	// Value is the value of the setting, which may be empty.
	Value string
	// Rule is the rule that the setting breaks, and what to do.
	Rule string
}

func (e *SettingError) Error() string {
	if e.Value == "" {
		return e.Setting + ": " + e.Rule
	}
	return fmt.Sprintf("%s %q: %s", e.Setting, e.Value, e.Rule)
}

// maxList is the largest length of a list, because a policy has at most 6,144 characters and a role at most ten policies.
const maxList = 100

// Valid names in AWS. No name may contain characters that have a meaning in a policy: "*", "?" and "${".
var (
	regionName     = regexp.MustCompile(`^[a-z]{2,4}(-[a-z]+)+-[0-9]{1,2}$`)
	accountID      = regexp.MustCompile(`^[0-9]{12}$`)
	clusterName    = regexp.MustCompile(`^[0-9A-Za-z][0-9A-Za-z_.-]{0,99}$`)
	rolePath       = regexp.MustCompile(`^([\x21-\x29\x2B-\x2E\x30-\x3E\x40-\x7E]+/)*$`)
	roleName       = regexp.MustCompile(`^[0-9A-Za-z_+=,.@-]{1,64}$`)
	queueName      = regexp.MustCompile(`^[0-9A-Za-z_-]{1,80}$`)
	parameterName  = regexp.MustCompile(`^[0-9A-Za-z_./*-]+$`)
	resourceType   = regexp.MustCompile(`^[a-z]+(-[a-z]+)*$`)
	parameterARN   = regexp.MustCompile(`^arn:([a-z-]+):ssm:([a-z0-9-]+):([0-9]{0,12}):parameter/(.+)$`)
	serviceAccount = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?/[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$`)
	oidcIssuer     = regexp.MustCompile(`^[a-z0-9.-]+(/[0-9A-Za-z._-]+)*$`)
	roleARN        = regexp.MustCompile(`^arn:([a-z-]+):iam::([0-9]{12}):role/(.+)$`)
)

// account contains the checked settings.
type account struct {
	Settings
	roles, parameters []string // as ARNs
}

// check completes the settings and reports everything that is wrong with them at once.
func check(s Settings) (account, error) {
	var faults []error
	refuse := func(setting, value, format string, args ...any) {
		faults = append(faults, &SettingError{Setting: setting, Value: value, Rule: fmt.Sprintf(format, args...)})
	}
	of := partitionOf(s.Region)
	switch {
	case !regionName.MatchString(s.Region):
		refuse("Region", s.Region, "is no region: give its code, as eu-central-1")
	case of == "":
		refuse("Region", s.Region, "is in none of the partitions %s, %s and %s", PartitionAWS, PartitionChina, PartitionGovCloud)
	case s.Partition == "":
		s.Partition = of
	case s.Partition != of:
		refuse("Partition", s.Partition, "region %s is in partition %s: leave the setting out", s.Region, of)
	}
	if !accountID.MatchString(s.AccountID) {
		refuse("AccountID", s.AccountID, "is no account: give its twelve digits")
	}
	if !clusterName.MatchString(s.ClusterName) {
		refuse("ClusterName", s.ClusterName, "is no cluster's name: up to 100 letters, digits, '-', '_' and '.', the first a letter or digit")
	}
	if s.Queue != "" && !queueName.MatchString(s.Queue) {
		refuse("Queue", s.Queue, "is no standard queue's name: give the name, neither the ARN nor the URL; FIFO queues cannot be used")
	}
	if s.ServiceAccount == "" {
		s.ServiceAccount = DefaultServiceAccount
	}
	if !serviceAccount.MatchString(s.ServiceAccount) {
		refuse("ServiceAccount", s.ServiceAccount, "is no service account: give namespace/name, as %s", DefaultServiceAccount)
	}
	if s.OIDCIssuer = strings.TrimPrefix(s.OIDCIssuer, "https://"); s.OIDCIssuer != "" && !oidcIssuer.MatchString(s.OIDCIssuer) {
		refuse("OIDCIssuer", s.OIDCIssuer, "is no issuer: give the value that EKS reports as identity.oidc.issuer")
	}
	if s.ZonalShift && s.WithoutEKS {
		refuse("ZonalShift", "", "only EKS clusters are shifted: leave out WithoutEKS, or ZonalShift")
	}
	a := account{Settings: s}
	a.checkLists(refuse)
	if err := errors.Join(faults...); err != nil {
		return account{}, fmt.Errorf("settings of IAM documents: %w", err)
	}
	slices.Sort(a.roles)
	slices.Sort(a.parameters)
	a.roles, a.parameters = slices.Compact(a.roles), slices.Compact(a.parameters)
	a.LaunchResources = slices.Sorted(slices.Values(s.LaunchResources))
	return a, nil
}

// checkLists converts roles and parameters to ARNs, and refuses invalid entries.
func (a *account) checkLists(refuse func(setting, value, format string, args ...any)) {
	if len(a.NodeRoles) == 0 {
		refuse("NodeRoles", "", "required: without a role to pass no instance can be launched")
	}
	for _, list := range []struct {
		setting string
		values  []string
	}{{"NodeRoles", a.NodeRoles}, {"SSMParameters", a.SSMParameters}, {"LaunchResources", a.LaunchResources}} {
		if len(list.values) > maxList {
			refuse(list.setting, "", "has %d entries, but at most %d are allowed", len(list.values), maxList)
		}
		for i, value := range list.values {
			setting := fmt.Sprintf("%s[%d]", list.setting, i)
			if slices.Contains(list.values[:i], value) {
				refuse(setting, value, "occurs twice: remove one")
			}
			switch list.setting {
			case "NodeRoles":
				arn, why := a.role(value)
				if why != "" {
					refuse(setting, value, "%s", why)
				}
				a.roles = append(a.roles, arn)
			case "SSMParameters":
				arn, why := a.parameter(value)
				if why != "" {
					refuse(setting, value, "%s", why)
				}
				a.parameters = append(a.parameters, arn)
			default:
				if !resourceType.MatchString(value) {
					refuse(setting, value, "is no type of EC2 resource: write it as in ARNs, for example key-pair")
				}
			}
		}
	}
}

// partitionOf returns the partition of a region, or "" for unknown regions.
func partitionOf(region string) string {
	for _, prefix := range []string{"us-iso-", "us-isob-", "us-isof-", "eu-isoe-", "eusc-"} {
		if strings.HasPrefix(region, prefix) {
			return ""
		}
	}
	switch {
	case strings.HasPrefix(region, "cn-"):
		return PartitionChina
	case strings.HasPrefix(region, "us-gov-"):
		return PartitionGovCloud
	}
	return PartitionAWS
}

// role returns the ARN of a node role. If the role is invalid, the result why says what is wrong with it.
func (a account) role(value string) (arn, why string) {
	path := value
	if strings.HasPrefix(value, "arn:") {
		parts := roleARN.FindStringSubmatch(value)
		switch {
		case parts == nil:
			return "", "is no role's ARN: give the ARN of the role, not of its instance profile, or its name"
		case parts[1] != a.Partition:
			return "", fmt.Sprintf("is of partition %s, and the cluster is in %s", parts[1], a.Partition)
		case parts[2] != a.AccountID:
			// EC2 refuses roles of other accounts.
			return "", fmt.Sprintf("is of account %s, and instances are launched in %s", parts[2], a.AccountID)
		}
		path = parts[3]
	}
	path = strings.TrimPrefix(path, "/")
	name := path[strings.LastIndex(path, "/")+1:]
	folder := strings.TrimSuffix(path, name)
	if !roleName.MatchString(name) || !rolePath.MatchString(folder) || len(folder) > 510 || strings.Contains(folder, "${") {
		return "", "is no role's name: up to 64 letters, digits and '+=,.@-_', after its path if it has one"
	}
	return a.iam("role/" + path), ""
}

// parameter returns the ARN of an SSM parameter. If the parameter is invalid, the result why says what is wrong with it.
func (a account) parameter(value string) (arn, why string) {
	if parts := parameterARN.FindStringSubmatch(value); parts != nil {
		switch {
		case parts[1] != a.Partition:
			return "", fmt.Sprintf("is of partition %s, and the cluster is in %s", parts[1], a.Partition)
		case parts[2] != a.Region:
			return "", fmt.Sprintf("is of region %s, but parameters are read in %s", parts[2], a.Region)
		case !isParameter(parts[4]):
			return "", "is no parameter's name"
		}
		return value, ""
	}
	if !isParameter(value) {
		return "", "is no parameter's name: up to 1011 letters, digits, '.', '-', '_' and '/', with '*' for any text"
	}
	return a.arn("ssm", a.AccountID, "parameter/"+strings.TrimPrefix(value, "/")), ""
}

func isParameter(name string) bool { return len(name) <= 1011 && parameterName.MatchString(name) }

// arn returns the ARN of a resource in the region.
func (a account) arn(service, account, resource string) string {
	return "arn:" + a.Partition + ":" + service + ":" + a.Region + ":" + account + ":" + resource
}

// iam returns the ARN of an IAM resource, which has no region.
func (a account) iam(resource string) string {
	return "arn:" + a.Partition + ":iam::" + a.AccountID + ":" + resource
}

// cluster returns the cluster's ARN at EKS.
func (a account) cluster() string { return a.arn("eks", a.AccountID, "cluster/"+a.ClusterName) }

// queue returns the ARN of the queue.
func (a account) queue() string { return a.arn("sqs", a.AccountID, a.Queue) }

// passedTo returns the service names that identify EC2 when a role is passed to it. China has two such names: the one that ends in ".cn"
// applies to launches, and the other name to instance profiles.
func (a account) passedTo() []string {
	if a.Partition == PartitionChina {
		return []string{"ec2.amazonaws.com", "ec2.amazonaws.com.cn"}
	}
	return []string{"ec2.amazonaws.com"}
}

// ec2 returns the service name under which EC2 assumes a role.
func (a account) ec2() string {
	if a.Partition == PartitionChina {
		return "ec2.amazonaws.com.cn"
	}
	return "ec2.amazonaws.com"
}

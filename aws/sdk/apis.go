package sdk

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/service/arczonalshift"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/pricing"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
)

// EC2API contains the EC2 calls in use. *ec2.Client implements it.
type EC2API interface {
	// DescribeInstanceTypes reads the facts of instance types.
	DescribeInstanceTypes(context.Context, *ec2.DescribeInstanceTypesInput, ...func(*ec2.Options)) (*ec2.DescribeInstanceTypesOutput, error)
	// DescribeInstanceTypeOfferings reads which types are offered in which zones.
	DescribeInstanceTypeOfferings(context.Context, *ec2.DescribeInstanceTypeOfferingsInput, ...func(*ec2.Options)) (*ec2.DescribeInstanceTypeOfferingsOutput, error)
	// DescribeSpotPriceHistory reads spot prices.
	DescribeSpotPriceHistory(context.Context, *ec2.DescribeSpotPriceHistoryInput, ...func(*ec2.Options)) (*ec2.DescribeSpotPriceHistoryOutput, error)
	// DescribeAvailabilityZones reads the names and ids of the region's zones.
	DescribeAvailabilityZones(context.Context, *ec2.DescribeAvailabilityZonesInput, ...func(*ec2.Options)) (*ec2.DescribeAvailabilityZonesOutput, error)
	// DescribeCapacityReservations reads capacity reservations and capacity blocks.
	DescribeCapacityReservations(context.Context, *ec2.DescribeCapacityReservationsInput, ...func(*ec2.Options)) (*ec2.DescribeCapacityReservationsOutput, error)
	// DescribePlacementGroups reads placement groups.
	DescribePlacementGroups(context.Context, *ec2.DescribePlacementGroupsInput, ...func(*ec2.Options)) (*ec2.DescribePlacementGroupsOutput, error)
	// DescribeSubnets reads subnets with their free addresses.
	DescribeSubnets(context.Context, *ec2.DescribeSubnetsInput, ...func(*ec2.Options)) (*ec2.DescribeSubnetsOutput, error)
	// DescribeSecurityGroups reads security groups.
	DescribeSecurityGroups(context.Context, *ec2.DescribeSecurityGroupsInput, ...func(*ec2.Options)) (*ec2.DescribeSecurityGroupsOutput, error)
	// DescribeImages reads instance images.
	DescribeImages(context.Context, *ec2.DescribeImagesInput, ...func(*ec2.Options)) (*ec2.DescribeImagesOutput, error)
	// DescribeLaunchTemplates reads launch templates.
	DescribeLaunchTemplates(context.Context, *ec2.DescribeLaunchTemplatesInput, ...func(*ec2.Options)) (*ec2.DescribeLaunchTemplatesOutput, error)
	// CreateLaunchTemplate makes a launch template.
	CreateLaunchTemplate(context.Context, *ec2.CreateLaunchTemplateInput, ...func(*ec2.Options)) (*ec2.CreateLaunchTemplateOutput, error)
	// DeleteLaunchTemplate removes a launch template.
	DeleteLaunchTemplate(context.Context, *ec2.DeleteLaunchTemplateInput, ...func(*ec2.Options)) (*ec2.DeleteLaunchTemplateOutput, error)
	// CreateFleet launches instances.
	CreateFleet(context.Context, *ec2.CreateFleetInput, ...func(*ec2.Options)) (*ec2.CreateFleetOutput, error)
	// RunInstances is only used as a dry run, to check the permissions.
	RunInstances(context.Context, *ec2.RunInstancesInput, ...func(*ec2.Options)) (*ec2.RunInstancesOutput, error)
	// DescribeInstances reads instances.
	DescribeInstances(context.Context, *ec2.DescribeInstancesInput, ...func(*ec2.Options)) (*ec2.DescribeInstancesOutput, error)
	// DescribeInstanceStatus reads the health of instances.
	DescribeInstanceStatus(context.Context, *ec2.DescribeInstanceStatusInput, ...func(*ec2.Options)) (*ec2.DescribeInstanceStatusOutput, error)
	// TerminateInstances ends instances.
	TerminateInstances(context.Context, *ec2.TerminateInstancesInput, ...func(*ec2.Options)) (*ec2.TerminateInstancesOutput, error)
	// CreateTags puts tags on resources.
	CreateTags(context.Context, *ec2.CreateTagsInput, ...func(*ec2.Options)) (*ec2.CreateTagsOutput, error)
}

// EC2MigrationAPI contains the EC2 calls that only the check before a migration makes (package aws/migration). *ec2.Client implements it.
type EC2MigrationAPI interface {
	// DescribeLaunchTemplateVersions reads the content of launch templates.
	DescribeLaunchTemplateVersions(context.Context, *ec2.DescribeLaunchTemplateVersionsInput, ...func(*ec2.Options)) (*ec2.DescribeLaunchTemplateVersionsOutput, error)
	// DescribeInstanceAttribute reads the user data of an instance.
	DescribeInstanceAttribute(context.Context, *ec2.DescribeInstanceAttributeInput, ...func(*ec2.Options)) (*ec2.DescribeInstanceAttributeOutput, error)
}

// EC2CapacityBlockAPI contains the EC2 calls about capacity blocks that can be bought (package aws/capacityblocks). The provider makes
// none of these calls. *ec2.Client implements it.
type EC2CapacityBlockAPI interface {
	// DescribeCapacityBlockOfferings reads which capacity blocks can be bought.
	DescribeCapacityBlockOfferings(context.Context, *ec2.DescribeCapacityBlockOfferingsInput, ...func(*ec2.Options)) (*ec2.DescribeCapacityBlockOfferingsOutput, error)
	// PurchaseCapacityBlock buys one.
	PurchaseCapacityBlock(context.Context, *ec2.PurchaseCapacityBlockInput, ...func(*ec2.Options)) (*ec2.PurchaseCapacityBlockOutput, error)
}

// IAMMigrationAPI contains the IAM calls that only the check before a migration makes. *iam.Client implements it.
type IAMMigrationAPI interface {
	// SimulatePrincipalPolicy asks which API actions a role is allowed to perform.
	SimulatePrincipalPolicy(context.Context, *iam.SimulatePrincipalPolicyInput, ...func(*iam.Options)) (*iam.SimulatePrincipalPolicyOutput, error)
}

// SSMAPI contains the Systems Manager calls in use: for the parameters that name the newest images.
type SSMAPI interface {
	GetParameter(context.Context, *ssm.GetParameterInput, ...func(*ssm.Options)) (*ssm.GetParameterOutput, error)
}

// EKSAPI contains the EKS calls in use: for details of a cluster.
type EKSAPI interface {
	DescribeCluster(context.Context, *eks.DescribeClusterInput, ...func(*eks.Options)) (*eks.DescribeClusterOutput, error)
}

// PricingAPI contains the price list calls in use: for on-demand prices.
type PricingAPI interface {
	GetProducts(context.Context, *pricing.GetProductsInput, ...func(*pricing.Options)) (*pricing.GetProductsOutput, error)
}

// IAMAPI contains the IAM calls in use: for instance profiles and their roles.
type IAMAPI interface {
	// GetInstanceProfile reads one instance profile.
	GetInstanceProfile(context.Context, *iam.GetInstanceProfileInput, ...func(*iam.Options)) (*iam.GetInstanceProfileOutput, error)
	// ListInstanceProfiles reads the instance profiles below a path.
	ListInstanceProfiles(context.Context, *iam.ListInstanceProfilesInput, ...func(*iam.Options)) (*iam.ListInstanceProfilesOutput, error)
	// CreateInstanceProfile makes an instance profile.
	CreateInstanceProfile(context.Context, *iam.CreateInstanceProfileInput, ...func(*iam.Options)) (*iam.CreateInstanceProfileOutput, error)
	// DeleteInstanceProfile removes an instance profile.
	DeleteInstanceProfile(context.Context, *iam.DeleteInstanceProfileInput, ...func(*iam.Options)) (*iam.DeleteInstanceProfileOutput, error)
	// AddRoleToInstanceProfile puts a role into an instance profile.
	AddRoleToInstanceProfile(context.Context, *iam.AddRoleToInstanceProfileInput, ...func(*iam.Options)) (*iam.AddRoleToInstanceProfileOutput, error)
	// RemoveRoleFromInstanceProfile takes a role out of an instance profile.
	RemoveRoleFromInstanceProfile(context.Context, *iam.RemoveRoleFromInstanceProfileInput, ...func(*iam.Options)) (*iam.RemoveRoleFromInstanceProfileOutput, error)
	// TagInstanceProfile puts tags on an instance profile.
	TagInstanceProfile(context.Context, *iam.TagInstanceProfileInput, ...func(*iam.Options)) (*iam.TagInstanceProfileOutput, error)
}

// SQSAPI contains the SQS calls in use: for the queue of interruption messages.
type SQSAPI interface {
	// GetQueueUrl finds a queue by its name.
	GetQueueUrl(context.Context, *sqs.GetQueueUrlInput, ...func(*sqs.Options)) (*sqs.GetQueueUrlOutput, error)
	// ReceiveMessage waits for messages.
	ReceiveMessage(context.Context, *sqs.ReceiveMessageInput, ...func(*sqs.Options)) (*sqs.ReceiveMessageOutput, error)
	// DeleteMessage removes one message.
	DeleteMessage(context.Context, *sqs.DeleteMessageInput, ...func(*sqs.Options)) (*sqs.DeleteMessageOutput, error)
	// DeleteMessageBatch removes up to ten messages.
	DeleteMessageBatch(context.Context, *sqs.DeleteMessageBatchInput, ...func(*sqs.Options)) (*sqs.DeleteMessageBatchOutput, error)
}

// ZonalShiftAPI contains the ARC zonal shift calls in use: for the zones that a cluster is shifted away from.
type ZonalShiftAPI interface {
	GetManagedResource(context.Context, *arczonalshift.GetManagedResourceInput, ...func(*arczonalshift.Options)) (*arczonalshift.GetManagedResourceOutput, error)
}

var (
	_ EC2API              = (*ec2.Client)(nil)
	_ EC2MigrationAPI     = (*ec2.Client)(nil)
	_ EC2CapacityBlockAPI = (*ec2.Client)(nil)
	_ IAMMigrationAPI     = (*iam.Client)(nil)
	_ SSMAPI              = (*ssm.Client)(nil)
	_ EKSAPI              = (*eks.Client)(nil)
	_ PricingAPI          = (*pricing.Client)(nil)
	_ IAMAPI              = (*iam.Client)(nil)
	_ SQSAPI              = (*sqs.Client)(nil)
	_ ZonalShiftAPI       = (*arczonalshift.Client)(nil)
)

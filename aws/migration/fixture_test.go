package migration_test

import (
	"context"
	"encoding/base64"
	"strings"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	awsiam "github.com/aws/aws-sdk-go-v2/service/iam"
	iamtypes "github.com/aws/aws-sdk-go-v2/service/iam/types"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	"github.com/drawknife/drawknife/aws/launchtemplate"
	"github.com/drawknife/drawknife/aws/migration"
	"github.com/drawknife/drawknife/aws/sdk"
)

// karpentersUserData is user data of AL2023 as Karpenter writes it: with empty objects, a comment, and members in another order.
const karpentersUserData = `MIME-Version: 1.0
Content-Type: multipart/mixed; boundary="//"

--//
Content-Type: application/node.eks.aws

# Karpenter Generated NodeConfig
apiVersion: node.eks.aws/v1alpha1
kind: NodeConfig
metadata:
  creationTimestamp: null
spec:
  cluster:
    apiServerEndpoint: https://api.demo.example
    certificateAuthority: QUJDRA==
    cidr: 172.20.0.0/16
    name: demo
  containerd: {}
  instance:
    localStorage: {}
  kubelet:
    config:
      clusterDNS:
      - 172.20.0.10
      maxPods: 29
      registerWithTaints:
      - effect: NoExecute
        key: karpenter.sh/unregistered
    flags:
    - --node-labels="karpenter.k8s.aws/ec2nodeclass=default,karpenter.sh/capacity-type=on-demand,karpenter.sh/do-not-sync-taints=true,karpenter.sh/nodepool=default,team=infra"

--//--
`

const (
	imageID = "ami-0123456789abcdef0"
	groupID = "sg-0123456789abcdef0"
)

// cluster is one as Karpenter leaves it: a class, a pool and a node.
func cluster() migration.Input {
	class := &awsv1.EC2NodeClass{ObjectMeta: metav1.ObjectMeta{Name: "default", Annotations: map[string]string{awsv1.AnnotationHash: "1", awsv1.AnnotationHashVersion: "v4"}}}
	class.Spec.Role = awssdk.String("demo-nodes")
	class.Spec.AMISelectorTerms = []awsv1.AMISelectorTerm{{Alias: "al2023@latest"}}
	class.Spec.SubnetSelectorTerms = []awsv1.SubnetSelectorTerm{{Tags: map[string]string{"karpenter.sh/discovery": "demo"}}}
	class.Spec.SecurityGroupSelectorTerms = []awsv1.SecurityGroupSelectorTerm{{Tags: map[string]string{"karpenter.sh/discovery": "demo"}}}
	class.Default()
	class.Status.AMIs = []awsv1.AMI{{ID: imageID}}
	class.Status.SecurityGroups = []awsv1.SecurityGroup{{ID: groupID}}
	class.Status.Subnets = []awsv1.Subnet{{ID: "subnet-1", Zone: "us-east-1a"}}
	class.Status.InstanceProfile = "demo_1"

	pool := &v1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: "default", Annotations: map[string]string{v1.NodePoolHashAnnotationKey: "7", v1.NodePoolHashVersionAnnotationKey: v1.NodePoolHashVersion}}}
	pool.Spec.Template.Labels = map[string]string{"team": "infra"}
	pool.Spec.Template.Spec.NodeClassRef = v1.NodeClassReference{Group: awsv1.Group, Kind: "EC2NodeClass", Name: "default"}
	pool.Spec.Template.Spec.Requirements = []v1.NodeSelectorRequirementWithMinValues{
		{Key: corev1.LabelInstanceTypeStable, Operator: corev1.NodeSelectorOpIn, Values: []string{"m5.large"}},
		{Key: v1.CapacityTypeLabelKey, Operator: corev1.NodeSelectorOpIn, Values: []string{v1.CapacityTypeOnDemand}},
	}
	pool.Default()

	claim := &v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{
		Name:        "default-1",
		Labels:      map[string]string{v1.NodePoolLabelKey: "default", corev1.LabelInstanceTypeStable: "m5.large"},
		Annotations: map[string]string{awsv1.AnnotationHash: "1", awsv1.AnnotationHashVersion: "v4", v1.NodePoolHashAnnotationKey: "7", v1.NodePoolHashVersionAnnotationKey: v1.NodePoolHashVersion},
	}}
	claim.Spec.NodeClassRef = pool.Spec.Template.Spec.NodeClassRef
	claim.Status.ProviderID = "aws:///us-east-1a/i-0123456789abcdef0"
	return migration.Input{
		Cluster: launchtemplate.Cluster{
			Name: "demo", Region: "us-east-1", Endpoint: "https://api.demo.example", CABundle: "QUJDRA==", ServiceCIDR: "172.20.0.0/16", DNS: "172.20.0.10",
		},
		NodeClasses: []*awsv1.EC2NodeClass{class}, NodePools: []*v1.NodePool{pool}, NodeClaims: []*v1.NodeClaim{claim},
	}
}

// account answers as AWS does for that cluster.
type account struct {
	sdk.EC2API
	template *ec2types.ResponseLaunchTemplateData // nil: Karpenter has deleted it
	instance ec2types.Instance
	userData string // of the instance
	denied   map[string]iamtypes.PolicyEvaluationDecisionType
	refuse   error // of the simulation
	asked    []*awsiam.SimulatePrincipalPolicyInput
}

func newAccount() *account {
	tag := func(key, value string) ec2types.Tag { return ec2types.Tag{Key: &key, Value: &value} }
	tags := []ec2types.Tag{
		tag("eks:eks-cluster-name", "demo"), tag("karpenter.k8s.aws/ec2nodeclass", "default"), tag("karpenter.sh/nodepool", "default"), tag("kubernetes.io/cluster/demo", "owned"),
	}
	return &account{
		template: &ec2types.ResponseLaunchTemplateData{
			ImageId:  awssdk.String(imageID),
			UserData: awssdk.String(base64.StdEncoding.EncodeToString([]byte(karpentersUserData))),
			BlockDeviceMappings: []ec2types.LaunchTemplateBlockDeviceMapping{{DeviceName: awssdk.String("/dev/xvda"), Ebs: &ec2types.LaunchTemplateEbsBlockDevice{
				Encrypted: awssdk.Bool(true), VolumeSize: awssdk.Int32(20), VolumeType: ec2types.VolumeTypeGp3,
			}}},
			CapacityReservationSpecification: &ec2types.LaunchTemplateCapacityReservationSpecificationResponse{CapacityReservationPreference: ec2types.CapacityReservationPreferenceNone},
			EnclaveOptions:                   &ec2types.LaunchTemplateEnclaveOptions{Enabled: awssdk.Bool(false)},
			IamInstanceProfile:               &ec2types.LaunchTemplateIamInstanceProfileSpecification{Name: awssdk.String("demo_1")},
			MetadataOptions: &ec2types.LaunchTemplateInstanceMetadataOptions{
				HttpEndpoint: "enabled", HttpProtocolIpv6: "disabled", HttpPutResponseHopLimit: awssdk.Int32(1), HttpTokens: "required", State: "applied",
			},
			Monitoring:        &ec2types.LaunchTemplatesMonitoring{Enabled: awssdk.Bool(false)},
			NetworkInterfaces: []ec2types.LaunchTemplateInstanceNetworkInterfaceSpecification{{DeviceIndex: awssdk.Int32(0), Groups: []string{groupID}}},
			Placement:         &ec2types.LaunchTemplatePlacement{Tenancy: ec2types.TenancyDefault},
			TagSpecifications: []ec2types.LaunchTemplateTagSpecification{{ResourceType: ec2types.ResourceTypeNetworkInterface, Tags: tags}},
		},
		instance: ec2types.Instance{
			InstanceId: awssdk.String("i-0123456789abcdef0"), InstanceType: "m5.large", ImageId: awssdk.String(imageID), SubnetId: awssdk.String("subnet-1"),
			State: &ec2types.InstanceState{Name: ec2types.InstanceStateNameRunning}, Tags: tags, SecurityGroups: []ec2types.GroupIdentifier{{GroupId: awssdk.String(groupID)}},
		},
		userData: karpentersUserData,
	}
}

func (a *account) clients() migration.Clients { return migration.Clients{EC2: a, Migration: a, IAM: a} }

func (a *account) DescribeLaunchTemplates(_ context.Context, in *ec2.DescribeLaunchTemplatesInput, _ ...func(*ec2.Options)) (*ec2.DescribeLaunchTemplatesOutput, error) {
	if a.template == nil || *in.Filters[0].Name != "tag:eks:eks-cluster-name" || in.Filters[0].Values[0] != "demo" {
		return &ec2.DescribeLaunchTemplatesOutput{}, nil
	}
	return &ec2.DescribeLaunchTemplatesOutput{LaunchTemplates: []ec2types.LaunchTemplate{{
		LaunchTemplateId: awssdk.String("lt-1"), LaunchTemplateName: awssdk.String("karpenter.k8s.aws/42"), Tags: a.instance.Tags,
	}}}, nil
}

func (a *account) DescribeLaunchTemplateVersions(context.Context, *ec2.DescribeLaunchTemplateVersionsInput, ...func(*ec2.Options)) (*ec2.DescribeLaunchTemplateVersionsOutput, error) {
	return &ec2.DescribeLaunchTemplateVersionsOutput{LaunchTemplateVersions: []ec2types.LaunchTemplateVersion{{LaunchTemplateData: a.template}}}, nil
}

func (a *account) DescribeInstanceAttribute(context.Context, *ec2.DescribeInstanceAttributeInput, ...func(*ec2.Options)) (*ec2.DescribeInstanceAttributeOutput, error) {
	value := base64.StdEncoding.EncodeToString([]byte(a.userData))
	return &ec2.DescribeInstanceAttributeOutput{UserData: &ec2types.AttributeValue{Value: &value}}, nil
}

func (a *account) DescribeInstances(context.Context, *ec2.DescribeInstancesInput, ...func(*ec2.Options)) (*ec2.DescribeInstancesOutput, error) {
	return &ec2.DescribeInstancesOutput{Reservations: []ec2types.Reservation{{Instances: []ec2types.Instance{a.instance}}}}, nil
}

func (a *account) SimulatePrincipalPolicy(_ context.Context, in *awsiam.SimulatePrincipalPolicyInput, _ ...func(*awsiam.Options)) (*awsiam.SimulatePrincipalPolicyOutput, error) {
	if a.refuse != nil {
		return nil, a.refuse
	}
	a.asked = append(a.asked, in)
	out := &awsiam.SimulatePrincipalPolicyOutput{}
	for _, action := range in.ActionNames {
		decision, ok := a.denied[action]
		if !ok {
			decision = iamtypes.PolicyEvaluationDecisionTypeAllowed
		}
		result := iamtypes.EvaluationResult{EvalActionName: &action, EvalDecision: decision, EvalResourceName: awssdk.String(strings.Join(in.ResourceArns, " "))}
		for _, resource := range in.ResourceArns {
			result.ResourceSpecificResults = append(result.ResourceSpecificResults, iamtypes.ResourceSpecificResult{EvalResourceName: &resource, EvalResourceDecision: decision})
		}
		out.EvaluationResults = append(out.EvaluationResults, result)
	}
	return out, nil
}

package verifymigration

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"

	"github.com/drawknife/drawknife/aws/migration"
	"github.com/drawknife/drawknife/internal/moto"
)

var server moto.Server

func TestMain(m *testing.M) { os.Exit(server.Run(m)) }

// left is a cluster in moto as Karpenter leaves it: an EKS cluster, a launch template and an instance.
type left struct {
	cloud                                *moto.Cloud
	ec2                                  *ec2.Client
	image, subnet, zone, group, instance string
}

func must[T any](t *testing.T) func(T, error) T {
	return func(value T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
}

func karpentersCluster(t *testing.T) *left {
	t.Helper()
	ctx := t.Context()
	cloud := server.Start(t)
	config := awssdk.Config{Region: "us-east-1", BaseEndpoint: awssdk.String(cloud.URL()), Credentials: credentials.NewStaticCredentialsProvider("id", "secret", "")}
	l := &left{cloud: cloud, ec2: ec2.NewFromConfig(config)}
	subnet := must[*ec2.DescribeSubnetsOutput](t)(l.ec2.DescribeSubnets(ctx, &ec2.DescribeSubnetsInput{})).Subnets[0]
	l.subnet, l.zone = *subnet.SubnetId, *subnet.AvailabilityZone
	groups := must[*ec2.DescribeSecurityGroupsOutput](t)(l.ec2.DescribeSecurityGroups(ctx, &ec2.DescribeSecurityGroupsInput{}))
	l.group = *groups.SecurityGroups[0].GroupId
	images := must[*ec2.DescribeImagesOutput](t)(l.ec2.DescribeImages(ctx, &ec2.DescribeImagesInput{Filters: []ec2types.Filter{{Name: awssdk.String("architecture"), Values: []string{"x86_64"}}}}))
	l.image = *images.Images[0].ImageId

	clusters := eks.NewFromConfig(config)
	made := must[*eks.CreateClusterOutput](t)(clusters.CreateCluster(ctx, &eks.CreateClusterInput{
		Name: awssdk.String("demo"), RoleArn: awssdk.String("arn:aws:iam::123456789012:role/cluster"),
		ResourcesVpcConfig:      &ekstypes.VpcConfigRequest{SubnetIds: []string{l.subnet}},
		KubernetesNetworkConfig: &ekstypes.KubernetesNetworkConfigRequest{ServiceIpv4Cidr: awssdk.String("172.20.0.0/16")},
	})).Cluster
	ca := ""
	if made.CertificateAuthority != nil {
		ca = awssdk.ToString(made.CertificateAuthority.Data)
	}
	userData := base64.StdEncoding.EncodeToString(fmt.Appendf(nil, karpentersUserData, *made.Endpoint, ca))
	tag := func(key, value string) ec2types.Tag { return ec2types.Tag{Key: &key, Value: &value} }
	tags := []ec2types.Tag{
		tag("eks:eks-cluster-name", "demo"), tag("karpenter.k8s.aws/ec2nodeclass", "default"), tag("karpenter.sh/nodepool", "default"), tag("kubernetes.io/cluster/demo", "owned"),
	}
	must[*ec2.CreateLaunchTemplateOutput](t)(l.ec2.CreateLaunchTemplate(ctx, &ec2.CreateLaunchTemplateInput{
		LaunchTemplateName: awssdk.String("karpenter.k8s.aws/42"),
		TagSpecifications:  []ec2types.TagSpecification{{ResourceType: ec2types.ResourceTypeLaunchTemplate, Tags: tags}},
		LaunchTemplateData: &ec2types.RequestLaunchTemplateData{
			ImageId: &l.image, UserData: &userData,
			BlockDeviceMappings: []ec2types.LaunchTemplateBlockDeviceMappingRequest{{DeviceName: awssdk.String("/dev/xvda"), Ebs: &ec2types.LaunchTemplateEbsBlockDeviceRequest{
				Encrypted: awssdk.Bool(true), VolumeSize: awssdk.Int32(20), VolumeType: ec2types.VolumeTypeGp3,
			}}},
			CapacityReservationSpecification: &ec2types.LaunchTemplateCapacityReservationSpecificationRequest{CapacityReservationPreference: ec2types.CapacityReservationPreferenceNone},
			IamInstanceProfile:               &ec2types.LaunchTemplateIamInstanceProfileSpecificationRequest{Name: awssdk.String("demo_1")},
			MetadataOptions: &ec2types.LaunchTemplateInstanceMetadataOptionsRequest{
				HttpEndpoint: "enabled", HttpProtocolIpv6: "disabled", HttpPutResponseHopLimit: awssdk.Int32(1), HttpTokens: "required",
			},
			NetworkInterfaces: []ec2types.LaunchTemplateInstanceNetworkInterfaceSpecificationRequest{{DeviceIndex: awssdk.Int32(0), Groups: []string{l.group}}},
			Placement:         &ec2types.LaunchTemplatePlacementRequest{Tenancy: ec2types.TenancyDefault},
			TagSpecifications: []ec2types.LaunchTemplateTagSpecificationRequest{{ResourceType: ec2types.ResourceTypeNetworkInterface, Tags: tags}},
		},
	}))
	run := must[*ec2.RunInstancesOutput](t)(l.ec2.RunInstances(ctx, &ec2.RunInstancesInput{
		ImageId: &l.image, InstanceType: "m5.large", MinCount: awssdk.Int32(1), MaxCount: awssdk.Int32(1), UserData: &userData,
		SubnetId: &l.subnet, SecurityGroupIds: []string{l.group},
		TagSpecifications: []ec2types.TagSpecification{{ResourceType: ec2types.ResourceTypeInstance, Tags: tags}},
	}))
	l.instance = *run.Instances[0].InstanceId
	return l
}

// objects are those of the cluster, as kubectl prints them.
func (l *left) objects(change func(class, pool map[string]any)) []byte {
	hash := map[string]any{"karpenter.k8s.aws/ec2nodeclass-hash": "1", "karpenter.k8s.aws/ec2nodeclass-hash-version": "v4"}
	discovery := []any{map[string]any{"tags": map[string]any{"karpenter.sh/discovery": "demo"}}}
	class := map[string]any{
		"apiVersion": "karpenter.k8s.aws/v1", "kind": "EC2NodeClass", "metadata": map[string]any{"name": "default", "annotations": hash},
		"spec": map[string]any{
			"role": "demo-nodes", "amiSelectorTerms": []any{map[string]any{"alias": "al2023@latest"}}, "subnetSelectorTerms": discovery, "securityGroupSelectorTerms": discovery,
		},
		"status": map[string]any{
			"amis": []any{map[string]any{"id": l.image, "name": "al2023", "requirements": []any{}}}, "securityGroups": []any{map[string]any{"id": l.group}},
			"subnets": []any{map[string]any{"id": l.subnet, "zone": l.zone}}, "instanceProfile": "demo_1",
		},
	}
	ref := map[string]any{"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "default"}
	requirements := []any{
		map[string]any{"key": "node.kubernetes.io/instance-type", "operator": "In", "values": []any{"m5.large"}},
		map[string]any{"key": "karpenter.sh/capacity-type", "operator": "In", "values": []any{"on-demand"}},
	}
	pool := map[string]any{
		"apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": map[string]any{"name": "default"},
		"spec": map[string]any{"template": map[string]any{"metadata": map[string]any{"labels": map[string]any{"team": "infra"}},
			"spec": map[string]any{"nodeClassRef": ref, "requirements": requirements, "expireAfter": "720h"}}, "disruption": map[string]any{"consolidateAfter": "0s"}},
	}
	claim := map[string]any{
		"apiVersion": "karpenter.sh/v1", "kind": "NodeClaim",
		"metadata": map[string]any{"name": "default-1", "annotations": hash, "labels": map[string]any{"karpenter.sh/nodepool": "default", "node.kubernetes.io/instance-type": "m5.large"}},
		"spec":     map[string]any{"nodeClassRef": ref, "requirements": requirements},
		"status":   map[string]any{"providerID": "aws:///" + l.zone + "/" + l.instance},
	}
	change(class, pool)
	text, err := json.Marshal(map[string]any{"apiVersion": "v1", "kind": "List", "items": []any{class, pool, claim}})
	if err != nil {
		panic(err)
	}
	return text
}

// kubectl is a program that prints the objects, and the Service of the cluster's DNS.
func kubectl(t *testing.T, objects []byte) string {
	t.Helper()
	dir := t.TempDir()
	const dns = `{"apiVersion":"v1","kind":"Service","metadata":{"name":"kube-dns","namespace":"kube-system"},"spec":{"clusterIP":"172.20.0.10"}}`
	path := filepath.Join(dir, "kubectl")
	script := "#!/bin/sh\ncase \"$*\" in *services*) echo '" + dns + "' ;; *) cat '" + filepath.Join(dir, "objects.json") + "' ;; esac\n"
	for name, text := range map[string][]byte{filepath.Join(dir, "objects.json"): objects, path: []byte(script)} {
		if err := os.WriteFile(name, text, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return path
}

// simulated answers SimulatePrincipalPolicy, which moto lacks: all actions are allowed but one.
func simulated(denied string) moto.Handler {
	return func(call moto.Call, _ func(moto.Call) moto.Answer) moto.Answer {
		var b strings.Builder
		b.WriteString(`<SimulatePrincipalPolicyResponse xmlns="https://iam.amazonaws.com/doc/2010-05-08/"><SimulatePrincipalPolicyResult><IsTruncated>false</IsTruncated><EvaluationResults>`)
		for i := 1; call.Form.Get(fmt.Sprintf("ActionNames.member.%d", i)) != ""; i++ {
			action, decision := call.Form.Get(fmt.Sprintf("ActionNames.member.%d", i)), "allowed"
			if action == denied {
				decision = "implicitDeny"
			}
			fmt.Fprintf(&b, `<member><EvalActionName>%s</EvalActionName><EvalDecision>%s</EvalDecision><EvalResourceName>*</EvalResourceName></member>`, action, decision)
		}
		b.WriteString(`</EvaluationResults></SimulatePrincipalPolicyResult></SimulatePrincipalPolicyResponse>`)
		return moto.Answer{Status: http.StatusOK, Body: []byte(b.String())}
	}
}

// TestMotoCluster runs the command on an account of moto and a cluster as Karpenter leaves it: nothing changes. Then changes of the class,
// the pool and the role are found. Only reading calls are made.
func TestMotoCluster(t *testing.T) {
	l := karpentersCluster(t)
	t.Setenv("AWS_ACCESS_KEY_ID", "id")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "secret")
	const role = "arn:aws:iam::123456789012:role/demo-drawknife"
	denied := ""
	l.cloud.Handle("SimulatePrincipalPolicy", func(call moto.Call, next func(moto.Call) moto.Answer) moto.Answer {
		return simulated(denied)(call, next)
	})
	l.cloud.Count()
	try := func(change func(class, pool map[string]any)) (migration.Report, int) {
		t.Helper()
		var stdout, stderr bytes.Buffer
		code := Run(t.Context(), []string{
			"--cluster-name", "demo", "--region", "us-east-1", "--endpoint", l.cloud.URL(), "--controller-role", role, "-o", "json",
			"--kubectl", kubectl(t, l.objects(change)),
		}, nil, &stdout, &stderr)
		var report migration.Report
		if err := json.Unmarshal(stdout.Bytes(), &report); err != nil {
			t.Fatalf("status %d, %s: %v", code, stderr.String(), err)
		}
		return report, code
	}
	report, code := try(func(_, _ map[string]any) {})
	if code != exitSame || report.Checked.LaunchTemplates != 1 || report.Checked.Permissions == 0 {
		t.Errorf("status %d, %+v", code, report)
	}
	for action := range l.cloud.Count() {
		if !strings.HasPrefix(action, "Describe") && action != "SimulatePrincipalPolicy" && action != "" {
			t.Errorf("the command called %s", action)
		}
	}
	for _, c := range []struct {
		name   string
		change func(class, pool map[string]any)
		denied string
		status int
		check  string
	}{
		{"more pods", func(class, _ map[string]any) {
			class["spec"].(map[string]any)["kubelet"] = map[string]any{"maxPods": 50}
		}, "", exitWarnings, migration.CheckLaunchTemplates},
		{"another group", func(class, _ map[string]any) {
			class["status"].(map[string]any)["securityGroups"] = []any{map[string]any{"id": "sg-0123456789abcdef0"}}
		}, "", exitWarnings, migration.CheckDrift},
		{"a pool without a class", func(_, pool map[string]any) {
			pool["spec"].(map[string]any)["template"].(map[string]any)["spec"].(map[string]any)["nodeClassRef"].(map[string]any)["name"] = "gone"
		}, "", exitErrors, migration.CheckObjects},
		{"a denied action", func(_, _ map[string]any) {}, "ec2:CreateFleet", exitErrors, migration.CheckIAM},
	} {
		denied = c.denied
		report, code := try(c.change)
		found := false
		for _, f := range report.Findings {
			found = found || f.Check == c.check && f.Severity != migration.SeverityInfo
		}
		if code != c.status || !found {
			t.Errorf("%s: status %d, %+v", c.name, code, report)
		}
	}
}

const karpentersUserData = `MIME-Version: 1.0
Content-Type: multipart/mixed; boundary="//"

--//
Content-Type: application/node.eks.aws

# Karpenter Generated NodeConfig
apiVersion: node.eks.aws/v1alpha1
kind: NodeConfig
metadata: {}
spec:
  cluster:
    apiServerEndpoint: %s
    certificateAuthority: %s
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

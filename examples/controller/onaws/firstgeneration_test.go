package onaws

import (
	"context"
	"encoding/base64"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"testing"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
	ssmtypes "github.com/aws/aws-sdk-go-v2/service/ssm/types"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	ctrlcache "sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	clientfake "sigs.k8s.io/controller-runtime/pkg/client/fake"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/api/v1alpha5"
	"github.com/drawknife/drawknife/aws"
	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	awsv1alpha1 "github.com/drawknife/drawknife/aws/api/v1alpha1"
	"github.com/drawknife/drawknife/aws/api/v1beta1"
	"github.com/drawknife/drawknife/aws/sdk"
	"github.com/drawknife/drawknife/examples/controller/generations"
)

// selecting is an account whose subnets and security groups are found by their tag "for" alone, and whose images by name or
// parameter: what is launched shows what a node class selected.
type selecting struct {
	*account
	templates []*ec2types.RequestLaunchTemplateData
}

func selects(filters []ec2types.Filter, value string) bool {
	return slices.ContainsFunc(filters, func(f ec2types.Filter) bool { return *f.Name == "tag:for" && slices.Equal(f.Values, []string{value}) })
}

func (a *selecting) DescribeSubnets(_ context.Context, in *ec2.DescribeSubnetsInput, _ ...func(*ec2.Options)) (*ec2.DescribeSubnetsOutput, error) {
	out := &ec2.DescribeSubnetsOutput{}
	for n, value := range []string{"template", "inline"} {
		if selects(in.Filters, value) || slices.Contains(in.SubnetIds, "subnet-"+value) {
			out.Subnets = append(out.Subnets, ec2types.Subnet{
				SubnetId: awssdk.String("subnet-" + value), AvailabilityZone: &zones[n], AvailabilityZoneId: awssdk.String("use1-az1"), AvailableIpAddressCount: awssdk.Int32(100),
			})
		}
	}
	return out, nil
}

func (a *selecting) DescribeSecurityGroups(_ context.Context, in *ec2.DescribeSecurityGroupsInput, _ ...func(*ec2.Options)) (*ec2.DescribeSecurityGroupsOutput, error) {
	out := &ec2.DescribeSecurityGroupsOutput{}
	for _, value := range []string{"template", "inline"} {
		if selects(in.Filters, value) {
			out.SecurityGroups = append(out.SecurityGroups, ec2types.SecurityGroup{GroupId: awssdk.String("sg-" + value), GroupName: &value})
		}
	}
	return out, nil
}

func (a *selecting) DescribeImages(_ context.Context, in *ec2.DescribeImagesInput, _ ...func(*ec2.Options)) (*ec2.DescribeImagesOutput, error) {
	ids := in.ImageIds
	for _, f := range in.Filters {
		if *f.Name == "image-id" {
			ids = append(ids, f.Values...)
		}
	}
	out := &ec2.DescribeImagesOutput{}
	for _, id := range ids {
		out.Images = append(out.Images, ec2types.Image{ImageId: &id, Name: &id, Architecture: "x86_64", CreationDate: awssdk.String("2023-01-01T00:00:00.000Z"), State: "available"})
	}
	return out, nil
}

// CreateLaunchTemplate notes what machines are made from.
func (a *selecting) CreateLaunchTemplate(ctx context.Context, in *ec2.CreateLaunchTemplateInput, options ...func(*ec2.Options)) (*ec2.CreateLaunchTemplateOutput, error) {
	a.mu.Lock()
	a.templates = append(a.templates, in.LaunchTemplateData)
	a.mu.Unlock()
	return a.account.CreateLaunchTemplate(ctx, in, options...)
}

func (a *selecting) TerminateInstances(_ context.Context, in *ec2.TerminateInstancesInput, _ ...func(*ec2.Options)) (*ec2.TerminateInstancesOutput, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for n := range a.instances {
		if slices.Contains(in.InstanceIds, *a.instances[n].InstanceId) {
			a.instances[n].State = &ec2types.InstanceState{Name: "shutting-down"}
		}
	}
	return &ec2.TerminateInstancesOutput{}, nil
}

// parameters names images as Systems Manager does, each by the family that its parameter is of.
type parameters struct{}

func (parameters) GetParameter(_ context.Context, in *ssm.GetParameterInput, _ ...func(*ssm.Options)) (*ssm.GetParameterOutput, error) {
	for part, id := range map[string]string{"/bottlerocket/aws-k8s-1.27/x86_64/": "ami-bottlerocket", "/1.27/amazon-linux-2/": "ami-al2"} {
		if strings.Contains(*in.Name, part) {
			return &ssm.GetParameterOutput{Parameter: &ssmtypes.Parameter{Value: &id}}, nil
		}
	}
	return nil, &ssmtypes.ParameterNotFound{}
}

// selectingClients are of such an account.
type selectingClients struct {
	clients
	ec2 *selecting
}

func (c selectingClients) EC2(sdk.Priority) sdk.EC2API { return c.ec2 }
func (c selectingClients) SSM(sdk.Priority) sdk.SSMAPI { return parameters{} }

// bare is as much of a manager as the first generation is read and written through.
type bare struct {
	ctrl.Manager
	client  client.Client
	mapper  meta.RESTMapper
	indexer *indexes
}

func (m *bare) GetClient() client.Client             { return m.client }
func (m *bare) GetAPIReader() client.Reader          { return m.client }
func (m *bare) GetCache() ctrlcache.Cache            { return nil }
func (m *bare) GetRESTMapper() meta.RESTMapper       { return m.mapper }
func (m *bare) GetFieldIndexer() client.FieldIndexer { return m.indexer }

// indexes are the functions by which objects are found.
type indexes struct{ machines, claims client.IndexerFunc }

func (i *indexes) IndexField(_ context.Context, object client.Object, _ string, value client.IndexerFunc) error {
	if _, first := object.(*v1alpha5.Machine); first {
		i.machines = value
	} else {
		i.claims = value
	}
	return nil
}

// alphaSite is a provider on an account and on a cluster with objects of the first generation, read and written as the controller does.
func alphaSite(t *testing.T, objects ...client.Object) (*site, *selecting) {
	t.Helper()
	known := scheme()
	if err := generations.AddToScheme(known); err != nil {
		t.Fatal(err)
	}
	mapper := meta.NewDefaultRESTMapper(nil)
	for _, kind := range []string{v1alpha5.KindProvisioner, v1alpha5.KindMachine} {
		mapper.Add(v1alpha5.GroupVersion().WithKind(kind), meta.RESTScopeRoot)
	}
	mapper.Add(awsv1alpha1.GroupVersion().WithKind(awsv1alpha1.KindAWSNodeTemplate), meta.RESTScopeRoot)
	found := &indexes{}
	stored := clientfake.NewClientBuilder().WithScheme(known).WithObjects(objects...).
		WithStatusSubresource(&v1alpha5.Machine{}, &v1alpha5.Provisioner{}, &v1.NodeClaim{}).
		WithIndex(claimObject, claimsByClass, func(o client.Object) []string { return found.claims(o) }).
		WithIndex(&v1alpha5.Machine{}, claimsByClass, func(o client.Object) []string { return found.machines(o) }).Build()
	mgr, err := generations.View(&bare{client: stored, mapper: mapper, indexer: found}, generations.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := mgr.GetFieldIndexer().IndexField(t.Context(), claimObject, claimsByClass, classOf); err != nil {
		t.Fatal(err)
	}
	s := &site{t: t, account: &account{}, client: mgr.GetClient()}
	api := &selecting{account: s.account}
	s.provider, err = newProvider(t.Context(), s.client, aws.Config{
		ClusterName: "demo", WithoutDryRuns: true, IsolatedVPC: true, ServeAlpha: true, Tags: map[string]string{"from": "settings", "team": "settings"},
	}, Options{
		Clients: selectingClients{clients{s.account}, api}, Cluster: aws.StaticCluster{Endpoint: "https://api.demo.example", ServiceCIDR: "172.20.0.0/16", Version: "1.27"},
	})
	if err != nil {
		t.Fatal(err)
	}
	return s, api
}

// API-080, API-416, API-417, API-424: a Provisioner with a node template, and one with an inline block, have machines launched from what
// that selects, of its family and with its tags and those of the first generation, which are listed and ended again.
func TestProvisionersOnAnAccount(t *testing.T) {
	template := &awsv1alpha1.AWSNodeTemplate{ObjectMeta: metav1.ObjectMeta{Name: "template", UID: "uid-template", Generation: 1}}
	template.Spec.AMIFamily = new(v1beta1.AMIFamilyBottlerocket)
	template.Spec.InstanceProfile = new("profile-template")
	template.Spec.SubnetSelector, template.Spec.SecurityGroupSelector = map[string]string{"for": "template"}, map[string]string{"for": "template"}
	template.Spec.Tags = map[string]string{"team": "template"}
	provisioner := func(name string) *v1alpha5.Provisioner {
		return &v1alpha5.Provisioner{ObjectMeta: metav1.ObjectMeta{Name: name, UID: "uid-" + types.UID(name), Generation: 1}}
	}
	byTemplate, inline := provisioner("by-template"), provisioner("inline")
	byTemplate.Spec.ProviderRef = &v1alpha5.MachineTemplateRef{Name: "template"}
	inline.Spec.Provider = &runtime.RawExtension{Raw: []byte(`{"amiFamily":"AL2","instanceProfile":"profile-inline","subnetSelector":{"for":"inline"},
		"securityGroupSelector":{"for":"inline"},"tags":{"team":"inline","Name":"mine"}}`)}
	s, api := alphaSite(t, template, byTemplate, inline)
	r := &classReconciler{provider: s.provider.Provider, client: s.client, events: events.NewFakeRecorder(100), log: slog.New(slog.NewTextHandler(t.Output(), nil))}
	for _, c := range []struct{ pool, class, subnet, image, family, group, profile, team, name string }{
		{"by-template", "v1alpha5/template", "subnet-template", "ami-bottlerocket", "[settings.kubernetes]", "sg-template", "profile-template", "template", "karpenter.sh/provisioner-name/by-template"},
		{"inline", "v1alpha5//inline", "subnet-inline", "ami-al2", "/etc/eks/bootstrap.sh", "sg-inline", "profile-inline", "inline", "mine"},
	} {
		pool := &v1.NodePool{}
		if err := s.client.Get(t.Context(), client.ObjectKey{Namespace: string(v1.GenerationV1Alpha5), Name: c.pool}, pool); err != nil {
			t.Fatal(err)
		}
		if got := pool.Spec.Template.Spec.NodeClassRef.Name; got != c.class {
			t.Fatalf("%s refers to %s, want %s", c.pool, got, c.class)
		}
		s.look(r, c.class)
		class := s.class(c.class)
		if class.Conditions().Ready().Status != metav1.ConditionTrue {
			t.Fatalf("%s: %+v", c.class, class.Status)
		}
		claim := newClaim(c.pool+"-1", c.pool)
		claim.Labels = map[string]string{pool.Key().LabelKey(): c.pool}
		v1.SetGenerationOf(claim, v1.GenerationV1Alpha5)
		claim.Spec.NodeClassRef.Name = c.class
		if err := s.client.Create(t.Context(), claim); err != nil {
			t.Fatal(err)
		}
		launched, err := s.provider.Create(t.Context(), claim)
		if err != nil {
			t.Fatal(err)
		}
		if v1.PoolOf(launched.Labels) != pool.Key() || launched.Status.ImageID != c.image {
			t.Errorf("%s: %+v, %s", c.pool, launched.Labels, launched.Status.ImageID)
		}
		fleet, data := api.fleets[len(api.fleets)-1], api.templates[len(api.templates)-1]
		for _, o := range fleet.LaunchTemplateConfigs[0].Overrides {
			if awssdk.ToString(o.SubnetId) != c.subnet {
				t.Errorf("%s may be launched into %s, want %s", c.pool, awssdk.ToString(o.SubnetId), c.subnet)
			}
		}
		text, err := base64.StdEncoding.DecodeString(awssdk.ToString(data.UserData))
		if err != nil || !strings.Contains(string(text), c.family) {
			t.Errorf("%s: user data of another family: %v\n%s", c.pool, err, text)
		}
		groups := data.SecurityGroupIds
		for _, i := range data.NetworkInterfaces {
			groups = append(groups, i.Groups...)
		}
		if !slices.Equal(groups, []string{c.group}) || awssdk.ToString(data.IamInstanceProfile.Name) != c.profile {
			t.Errorf("%s: made with groups %v and profile %s", c.pool, groups, awssdk.ToString(data.IamInstanceProfile.Name))
		}
		tags := map[string]string{}
		for _, tag := range api.instances[len(api.instances)-1].Tags {
			tags[*tag.Key] = *tag.Value
		}
		for key, want := range map[string]string{
			"karpenter.sh/provisioner-name": c.pool, "Name": c.name, "kubernetes.io/cluster/demo": "owned", "karpenter.sh/managed-by": "demo",
			"from": "settings", "team": c.team,
		} {
			if tags[key] != want {
				t.Errorf("%s: tag %s is %q, want %q", c.pool, key, tags[key], want)
			}
		}
		if _, later := tags[awsv1.TagNodePool]; later {
			t.Errorf("%s: tags %v are those of a NodePool", c.pool, tags)
		}
	}
	listed, err := s.provider.List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	pools := map[v1.PoolKey]bool{}
	for _, instance := range listed {
		pools[v1.PoolOf(instance.Labels)] = true
		if err := s.provider.Delete(t.Context(), instance); err != nil {
			t.Error(err)
		}
	}
	want := map[v1.PoolKey]bool{{Generation: v1.GenerationV1Alpha5, Name: "by-template"}: true, {Generation: v1.GenerationV1Alpha5, Name: "inline"}: true}
	if !maps.Equal(pools, want) || len(listed) != 2 {
		t.Errorf("%d machines of %v are listed", len(listed), pools)
	}
	for _, i := range api.instances {
		if i.State.Name != "shutting-down" {
			t.Errorf("%s is %s after it was ended", *i.InstanceId, i.State.Name)
		}
	}
}

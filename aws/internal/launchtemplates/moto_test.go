package launchtemplates

import (
	"encoding/base64"
	"os"
	"strings"
	"testing"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	v1 "github.com/drawknife/drawknife/api/v1"
	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	"github.com/drawknife/drawknife/aws/internal/mototest"
	"github.com/drawknife/drawknife/aws/launchtemplate"
	"github.com/drawknife/drawknife/aws/sdk"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/fake/build"
	"github.com/drawknife/drawknife/fake/build/ec2build"
	"github.com/drawknife/drawknife/internal/moto"
)

var server moto.Server

func TestMain(m *testing.M) { os.Exit(server.Run(m)) }

// account is a store on moto, and a client that looks behind its back.
type account struct {
	*Store
	cloud *moto.Cloud
	raw   *ec2.Client
	clock *clock
}

func newAccount(t *testing.T) *account {
	t.Helper()
	a := &account{cloud: server.Start(t), clock: &clock{now: time.Date(2026, 8, 1, 0, 0, 0, 0, time.UTC)}}
	a.raw = ec2.NewFromConfig(mototest.Config(a.cloud))
	a.restart(t)
	return a
}

// restart gives the account a store that knows nothing.
func (a *account) restart(t *testing.T) {
	t.Helper()
	store, err := New(mototest.Clients(t, a.cloud).EC2(sdk.Urgent), Options{ClusterName: "demo", Now: a.clock.Now})
	if err != nil {
		t.Fatal(err)
	}
	a.Store = store
}

// built are the templates of a class of a family, as launches ask for them.
func built(t *testing.T, name string, family awsv1.AMIFamily) []launchtemplate.Template {
	t.Helper()
	class := ec2build.Class(name, ec2build.Profile("demo"), ec2build.SecurityGroups("sg-1"), ec2build.Image("ami-12345678", "amd64"),
		func(c *awsv1.EC2NodeClass) {
			c.Spec.AMIFamily, c.Spec.AMISelectorTerms = family, nil
			c.Spec.Tags, c.Spec.DetailedMonitoring = map[string]string{"team": "blue"}, ptr(true)
		})
	result, err := launchtemplate.Build(launchtemplate.Request{
		Cluster:       launchtemplate.Cluster{Name: "demo", Endpoint: "https://api.demo.example", ServiceCIDR: "172.20.0.0/16"},
		NodeClass:     class,
		NodeClaim:     build.Claim("claim", build.OfPool("pool")),
		InstanceTypes: []*cloudprovider.InstanceType{instanceType("a", 29), instanceType("b", 58)},
		CapacityType:  v1.CapacityTypeSpot,
	})
	if err != nil {
		t.Fatal(err)
	}
	return result.Templates
}

func (a *account) names(t *testing.T) map[string]ec2types.LaunchTemplate {
	t.Helper()
	out, err := a.raw.DescribeLaunchTemplates(t.Context(), &ec2.DescribeLaunchTemplatesInput{})
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]ec2types.LaunchTemplate{}
	for _, lt := range out.LaunchTemplates {
		names[*lt.LaunchTemplateName] = lt
	}
	return names
}

// AWN-246, AWN-257, AWN-259: what EC2 keeps is the user data, byte for byte, and the tags, for every family.
func TestMotoTemplates(t *testing.T) {
	a := newAccount(t)
	for _, family := range awsv1.AMIFamilies() {
		templates := built(t, "class", family)
		if _, err := a.Ensure(t.Context(), templates); err != nil {
			t.Fatal(err)
		}
		there := a.names(t)
		for _, want := range templates {
			lt, ok := there[want.Name]
			if !ok {
				t.Fatalf("%s: %s is not there", family, want.Name)
			}
			for key, value := range map[string]string{"team": "blue", "karpenter.sh/nodepool": "pool", "eks:eks-cluster-name": "demo", "kubernetes.io/cluster/demo": "owned", "karpenter.k8s.aws/ec2nodeclass": "class"} {
				if got := tag(lt.Tags, key); got != value {
					t.Errorf("%s: tag %s is %q", family, key, got)
				}
			}
			versions, err := a.raw.DescribeLaunchTemplateVersions(t.Context(), &ec2.DescribeLaunchTemplateVersionsInput{LaunchTemplateName: &want.Name, Versions: []string{"$Latest"}})
			if err != nil || len(versions.LaunchTemplateVersions) != 1 {
				t.Fatal(err)
			}
			data := versions.LaunchTemplateVersions[0].LaunchTemplateData
			userData, err := base64.StdEncoding.DecodeString(awssdk.ToString(data.UserData))
			if err != nil || string(userData) != want.UserData.Text {
				t.Errorf("%s: user data is %q, %v", family, userData, err)
			}
			if awssdk.ToString(data.ImageId) != "ami-12345678" || !awssdk.ToBool(data.Monitoring.Enabled) || len(data.NetworkInterfaces) != 1 || data.NetworkInterfaces[0].Groups[0] != "sg-1" {
				t.Errorf("%s: data is %+v", family, data)
			}
		}
	}
}

// AWN-242 to AWN-245: the life of templates, across a restart, in an EC2 that is not ours.
func TestMotoLife(t *testing.T) {
	a := newAccount(t)
	// Somebody else's.
	if _, err := a.raw.CreateLaunchTemplate(t.Context(), &ec2.CreateLaunchTemplateInput{LaunchTemplateName: ptr("other"), LaunchTemplateData: &ec2types.RequestLaunchTemplateData{ImageId: ptr("ami-1")}}); err != nil {
		t.Fatal(err)
	}
	one, two := built(t, "one", awsv1.AMIFamilyAL2023), built(t, "two", awsv1.AMIFamilyAL2)
	for _, templates := range [][]launchtemplate.Template{one, two} {
		if _, err := a.Ensure(t.Context(), templates); err != nil {
			t.Fatal(err)
		}
	}
	// A restarted process that hydrates has nothing to make.
	a.restart(t)
	if err := a.Hydrate(t.Context()); err != nil || a.Len() != 4 {
		t.Fatalf("knows %d, %v", a.Len(), err)
	}
	calls := a.cloud.Calls("CreateLaunchTemplate")
	if _, err := a.Ensure(t.Context(), one); err != nil || a.cloud.Calls("CreateLaunchTemplate") != calls {
		t.Fatal("made again what is there", err)
	}
	// One that does not takes over what it finds.
	a.restart(t)
	if ready, err := a.Ensure(t.Context(), one); err != nil || len(ready) != 2 || len(a.names(t)) != 5 {
		t.Fatal(ready, err)
	}
	// The class goes, and its templates with it, known or not.
	if err := a.DeleteNodeClass(t.Context(), "two"); err != nil || len(a.names(t)) != 3 {
		t.Fatal(a.names(t), err)
	}
	// Deleted by hand: told by the launch, forgotten, made again.
	if _, err := a.raw.DeleteLaunchTemplate(t.Context(), &ec2.DeleteLaunchTemplateInput{LaunchTemplateName: &one[0].Name}); err != nil {
		t.Fatal(err)
	}
	a.Forget(one[0].Name)
	if _, err := a.Ensure(t.Context(), one); err != nil || len(a.names(t)) != 3 {
		t.Fatal(err)
	}
	// Deleted by hand and not told: the sweep finds nothing to delete, which is what it wants.
	if _, err := a.raw.DeleteLaunchTemplate(t.Context(), &ec2.DeleteLaunchTemplateInput{LaunchTemplateName: &one[1].Name}); err != nil {
		t.Fatal(err)
	}
	a.clock.advance(DefaultLifetime)
	if deleted, err := a.Sweep(t.Context()); err != nil || deleted != 2 {
		t.Errorf("swept %d, %v", deleted, err)
	}
	if left := a.names(t); len(left) != 1 || left["other"].LaunchTemplateId == nil {
		t.Errorf("left are %v", left)
	}
	if err := a.DeleteAll(t.Context()); err != nil || len(a.names(t)) != 1 {
		t.Error("deleted what is not ours", err)
	}
}

// AWN-241: a template that was made although the answer was lost is found and taken over.
func TestMotoLostAnswer(t *testing.T) {
	a := newAccount(t)
	a.cloud.Lose("CreateLaunchTemplate", 1)
	templates := built(t, "class", awsv1.AMIFamilyBottlerocket)[:1]
	if ready, err := a.Ensure(t.Context(), templates); err != nil || len(ready) != 1 {
		t.Fatal(ready, err)
	}
	if names := a.names(t); len(names) != 1 {
		t.Errorf("made %v", names)
	}
	a.clock.advance(DefaultLifetime)
	if deleted, err := a.Sweep(t.Context()); err != nil || deleted != 1 || len(a.names(t)) != 0 {
		t.Errorf("swept %d, %v", deleted, err)
	}
	// A refusal names the template and the permission.
	a.cloud.Fail("CreateLaunchTemplate", 1, 403, "UnauthorizedOperation", "You are not authorized to perform: ec2:CreateLaunchTemplate")
	if _, err := a.Ensure(t.Context(), templates); err == nil || !strings.Contains(err.Error(), templates[0].Name) || !strings.Contains(err.Error(), "ec2:CreateLaunchTemplate") {
		t.Errorf("error is %v", err)
	}
}

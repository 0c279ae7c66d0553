package aws_test

import (
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/mail"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/aws"
	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	"github.com/drawknife/drawknife/aws/internal/mototest"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/internal/moto"
)

// shelf is where node classes are stored, as a cluster would.
type shelf struct {
	mu      sync.Mutex
	classes map[string]*awsv1.EC2NodeClass
}

func (s *shelf) NodeClass(_ context.Context, name string) (*awsv1.EC2NodeClass, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.classes[name], nil
}

// put stores a class; its generation is one more when its spec has changed. One that is being deleted and has no
// finalizer is gone.
func (s *shelf) put(class *awsv1.EC2NodeClass) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.classes == nil {
		s.classes = map[string]*awsv1.EC2NodeClass{}
	}
	if class.DeletionTimestamp != nil && len(class.Finalizers) == 0 {
		delete(s.classes, class.Name)
		return
	}
	s.classes[class.Name] = class
}

// plot is an account with what a team has before it makes a node class.
type plot struct {
	*site
	raw   *ec2.Client
	roles *iam.Client
	shelf *shelf
	clock *clock
	image string // of the newest release
}

// newPlot is a provider whose classes are on a shelf, in an account with tagged subnets and two roles.
func newPlot(t *testing.T, change ...func(*aws.Config, *aws.Options)) *plot {
	t.Helper()
	p := &plot{shelf: &shelf{}, clock: &clock{time.Now()}}
	p.site = newSite(t, append(change, func(_ *aws.Config, o *aws.Options) {
		o.NodeClasses, o.Clock = p.shelf, p.clock
		o.Cluster = aws.StaticCluster{Version: "1.33", Endpoint: "https://api.demo.example", ServiceCIDR: "172.20.0.0/16", CABundle: "Q0E="}
	})...)
	p.raw = ec2.NewFromConfig(mototest.Config(p.cloud))
	p.roles = iam.NewFromConfig(mototest.Config(p.cloud))
	ctx := t.Context()
	all, err := p.raw.DescribeSubnets(ctx, &ec2.DescribeSubnetsInput{})
	p.must(err)
	_, err = p.raw.CreateTags(ctx, &ec2.CreateTagsInput{
		Resources: []string{*all.Subnets[0].SubnetId, *all.Subnets[1].SubnetId},
		Tags:      []ec2types.Tag{{Key: awssdk.String("discovery"), Value: awssdk.String("demo")}},
	})
	p.must(err)
	for _, role := range []string{"nodes", "other-nodes"} {
		_, err = p.roles.CreateRole(ctx, &iam.CreateRoleInput{RoleName: &role, AssumeRolePolicyDocument: awssdk.String("{}")})
		p.must(err)
	}
	images, err := p.raw.DescribeImages(ctx, &ec2.DescribeImagesInput{Filters: []ec2types.Filter{{Name: awssdk.String("architecture"), Values: []string{"x86_64"}}}})
	p.must(err)
	p.image = *images.Images[0].ImageId
	// moto has no parameters of EKS's images.
	p.cloud.Handle("GetParameter", func(call moto.Call, _ func(moto.Call) moto.Answer) moto.Answer {
		if strings.Contains(string(call.Body), "/x86_64/standard/") {
			return moto.JSON(fmt.Sprintf(`{"Parameter":{"Name":"p","Type":"String","Value":%q,"Version":1}}`, p.image))
		}
		return moto.Answer{Status: 400, Body: []byte(`{"__type":"ParameterNotFound","message":"there is none"}`)}
	})
	// moto launches where EC2 would only say that it could.
	for _, action := range []string{"CreateFleet", "RunInstances"} {
		p.cloud.Handle(action, func(call moto.Call, next func(moto.Call) moto.Answer) moto.Answer {
			if call.Form.Get("DryRun") == "true" {
				return moto.Refusal(412, "DryRunOperation", "Request would have succeeded, but DryRun flag is set.")
			}
			return next(call)
		})
	}
	return p
}

func (p *plot) must(err error) {
	p.t.Helper()
	if err != nil {
		p.t.Fatal(err)
	}
}

// reconcile looks after the class on the shelf as a controller would, until nothing is to be written any more.
func (p *plot) reconcile(claims ...*v1.NodeClaim) aws.ReconciledNodeClass {
	p.t.Helper()
	for range 5 {
		class, _ := p.shelf.NodeClass(p.t.Context(), "default")
		result, err := p.provider.ReconcileNodeClass(p.t.Context(), aws.ObservedNodeClass{NodeClass: class, NodeClaims: claims, NodePools: []*v1.NodePool{nodePool()}})
		p.must(err)
		p.shelf.put(result.NodeClass)
		if !result.MetadataChanged && !result.StatusChanged || len(result.NodeClass.Finalizers) == 0 {
			return result
		}
	}
	p.t.Fatal("the class never settles")
	return aws.ReconciledNodeClass{}
}

// edit changes the class on the shelf as a user would.
func (p *plot) edit(change func(*awsv1.EC2NodeClass)) {
	class, _ := p.shelf.NodeClass(p.t.Context(), "default")
	class = class.DeepCopy()
	change(class)
	class.Generation++
	p.shelf.put(class)
}

// userData is what an instance of moto's was given to boot with, part by part.
func (p *plot) userData(instance string) string {
	p.t.Helper()
	out, err := p.raw.DescribeInstanceAttribute(p.t.Context(), &ec2.DescribeInstanceAttributeInput{InstanceId: &instance, Attribute: "userData"})
	p.must(err)
	if out.UserData == nil || out.UserData.Value == nil {
		p.t.Fatalf("instance %s has no user data", instance)
	}
	text, err := base64.StdEncoding.DecodeString(*out.UserData.Value)
	p.must(err)
	message, err := mail.ReadMessage(strings.NewReader(string(text)))
	p.must(err)
	kind, parameters, err := mime.ParseMediaType(message.Header.Get("Content-Type"))
	if err != nil || kind != "multipart/mixed" {
		p.t.Fatalf("user data is %s, %v:\n%s", kind, err, text)
	}
	var parts []string
	reader := multipart.NewReader(message.Body, parameters["boundary"])
	for {
		part, err := reader.NextPart()
		if err != nil {
			return strings.Join(parts, "\n")
		}
		content, err := io.ReadAll(part)
		p.must(err)
		parts = append(parts, part.Header.Get("Content-Type")+"\n"+string(content))
	}
}

// The whole path of a node class, in an AWS that is not ours: found in the account and tried by dry runs; an instance that
// carries the launch template's image, user data, profile, groups and tags; drift that names the field; and an end that
// leaves nothing. AWN-152, AWN-154, AWN-162 to AWN-164, AWN-168 to AWN-170, AWN-232, AWN-268, AWN-274 to AWN-278, AWI-004,
// AWI-142, AWI-163.
func TestMotoClassToInstance(t *testing.T) {
	p := newPlot(t)
	ctx := t.Context()
	p.shelf.put(&awsv1.EC2NodeClass{
		ObjectMeta: metav1.ObjectMeta{Name: "default", UID: "class-uid", Generation: 1},
		Spec: awsv1.EC2NodeClassSpec{
			AMISelectorTerms:           []awsv1.AMISelectorTerm{{Alias: "al2023@latest"}},
			SubnetSelectorTerms:        []awsv1.SubnetSelectorTerm{{Tags: map[string]string{"discovery": "demo"}}},
			SecurityGroupSelectorTerms: []awsv1.SecurityGroupSelectorTerm{{Name: "default"}}, // moto puts every instance into this one
			Role:                       awssdk.String("nodes"), Tags: map[string]string{"team": "web"},
			UserData: awssdk.String("#!/bin/bash\necho hello from the class\n"),
		},
	})
	ready := func() cloudprovider.NodeClassReadiness {
		t.Helper()
		r, err := p.provider.NodeClassStatus(ctx, classRef("default"))
		p.must(err)
		return r
	}
	if r := ready(); r.Ready() {
		t.Errorf("a class that nobody has looked at is ready: %+v", r)
	}
	if _, err := p.provider.Create(ctx, claim("early")); !cloudprovider.IsNodeClassNotReady(err) {
		t.Errorf("a launch from it: %v", err)
	}
	p.reconcile()
	if r := ready(); !r.Ready() {
		t.Fatalf("the class is not ready: %+v", r)
	}
	class, _ := p.shelf.NodeClass(ctx, "default")

	created, err := p.provider.Create(ctx, claim("a", in(corev1.LabelArchStable, "amd64")))
	p.must(err)
	created.Spec.NodeClassRef = classRef("default")
	found := p.instances()
	if len(found) != 1 {
		t.Fatalf("%d instances", len(found))
	}
	instance := found[0]
	if *instance.ImageId != p.image || created.Status.ImageID != p.image {
		t.Errorf("booted from %s, told as %s, want %s", *instance.ImageId, created.Status.ImageID, p.image)
	}
	if !slices.ContainsFunc(class.Status.Subnets, func(s awsv1.Subnet) bool { return s.ID == *instance.SubnetId }) || len(class.Status.Subnets) != 2 {
		t.Errorf("in subnet %s, of %v", *instance.SubnetId, class.Status.Subnets)
	}
	if len(instance.SecurityGroups) != 1 || *instance.SecurityGroups[0].GroupId != class.Status.SecurityGroups[0].ID {
		t.Errorf("security groups %v, want %v", instance.SecurityGroups, class.Status.SecurityGroups)
	}
	versions, err := p.raw.DescribeLaunchTemplateVersions(ctx, &ec2.DescribeLaunchTemplateVersionsInput{Versions: []string{"$Latest"}})
	p.must(err)
	for _, v := range versions.LaunchTemplateVersions { // moto does not give instances the template's groups and profile
		d := v.LaunchTemplateData
		groups := d.SecurityGroupIds
		for _, n := range d.NetworkInterfaces {
			groups = append(groups, n.Groups...)
		}
		if len(groups) != 1 || groups[0] != class.Status.SecurityGroups[0].ID || d.IamInstanceProfile == nil || *d.IamInstanceProfile.Name != class.Status.InstanceProfile {
			t.Errorf("launch template %s has groups %v, profile %v", *v.LaunchTemplateName, groups, d.IamInstanceProfile)
		}
	}
	if len(versions.LaunchTemplateVersions) == 0 {
		t.Error("there is no launch template")
	}
	tags := map[string]string{}
	for _, tag := range instance.Tags {
		tags[*tag.Key] = *tag.Value
	}
	for key, value := range map[string]string{"team": "web", "common": "yes", awsv1.TagNodeClass: "default", awsv1.TagNodeClaim: "a", awsv1.TagClusterName: "demo"} {
		if tags[key] != value {
			t.Errorf("tag %s is %q, want %q", key, tags[key], value)
		}
	}
	data := p.userData(*instance.InstanceId)
	for _, want := range []string{"application/node.eks.aws", "kind: NodeConfig", "https://api.demo.example", "172.20.0.0/16", "text/x-shellscript", "echo hello from the class"} {
		if !strings.Contains(data, want) {
			t.Errorf("the user data lacks %q:\n%s", want, data)
		}
	}
	if created.Annotations[awsv1.AnnotationInstanceProfileName] != class.Status.InstanceProfile || class.Status.InstanceProfile == "" {
		t.Errorf("profile %q, the class has %q", created.Annotations[awsv1.AnnotationInstanceProfileName], class.Status.InstanceProfile)
	}

	drift := func(want cloudprovider.DriftReason, says string) {
		t.Helper()
		p.reconcile(created)
		d, err := p.provider.Drift(ctx, created)
		if err != nil || d.Reason != want || says != "" && (len(d.Differences) == 0 || d.Differences[0].String() != says) {
			t.Errorf("drift is %q by %v, %v; want %q by %s", d.Reason, d.Differences, err, want, says)
		}
	}
	drift("", "")
	// A new release comes out, and the class is looked at once its parameter is read again.
	old := p.image
	images, err := p.raw.DescribeImages(ctx, &ec2.DescribeImagesInput{Filters: []ec2types.Filter{{Name: awssdk.String("architecture"), Values: []string{"x86_64"}}}})
	p.must(err)
	p.image = *images.Images[1].ImageId
	p.clock.now = p.clock.now.Add(25 * time.Hour)
	drift(aws.AMIDrift, fmt.Sprintf("status.amis: has %s, wants %s", old, p.image))
	// The role changes: another profile, by which the hash differs.
	p.edit(func(c *awsv1.EC2NodeClass) { c.Spec.Role = awssdk.String("other-nodes") })
	drift(aws.NodeClassDrift, "")
	p.edit(func(c *awsv1.EC2NodeClass) { c.Spec.Role = awssdk.String("nodes") })
	drift(aws.AMIDrift, "")

	// The profile of the role that was tried stays while it may be wanted, and goes then.
	inUse := func(context.Context) ([]string, error) {
		class, _ := p.shelf.NodeClass(ctx, "default")
		return []string{class.Status.InstanceProfile, created.Annotations[awsv1.AnnotationInstanceProfileName]}, nil
	}
	for _, want := range []int{0, 1, 0} {
		deleted, again, err := p.provider.CollectInstanceProfiles(ctx, inUse)
		if err != nil || len(deleted) != want || again <= 0 {
			t.Errorf("collected %v, want %d; again in %s, %v", deleted, want, again, err)
		}
		p.clock.now = p.clock.now.Add(2 * time.Hour)
	}

	// The end: the class waits for its claims, and takes what was made for it along.
	p.edit(func(c *awsv1.EC2NodeClass) { c.DeletionTimestamp = &metav1.Time{Time: p.clock.now} })
	if r := ready(); r.Ready() || r.Reason != cloudprovider.NodeClassTerminating {
		t.Errorf("a class that is being deleted: %+v", r)
	}
	if result := p.reconcile(created); len(result.Events) != 1 || !strings.Contains(result.Events[0].Message, "gone: a") {
		t.Errorf("while a claim is left: events %v", result.Events)
	}
	p.must(p.provider.Delete(ctx, created))
	p.reconcile()
	if class, _ := p.shelf.NodeClass(ctx, "default"); class != nil {
		t.Errorf("the class is still there: %v", class.Finalizers)
	}
	templates, err := p.raw.DescribeLaunchTemplates(ctx, &ec2.DescribeLaunchTemplatesInput{})
	p.must(err)
	profiles, err := p.roles.ListInstanceProfiles(ctx, &iam.ListInstanceProfilesInput{})
	p.must(err)
	if len(templates.LaunchTemplates)+len(profiles.InstanceProfiles)+len(p.instances()) != 0 {
		t.Errorf("left: %d templates, %d profiles, %d instances", len(templates.LaunchTemplates), len(profiles.InstanceProfiles), len(p.instances()))
	}
}

package aws_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/aws"
	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	"github.com/drawknife/drawknife/aws/internal/launch"
)

// alphaClaim is a claim of the Provisioner "pool".
func alphaClaim(name string) *v1.NodeClaim {
	c := claim(name)
	c.Labels = map[string]string{awsv1.TagProvisioner: "pool"}
	return c
}

func serveAlpha(c *aws.Config, _ *aws.Options) { c.ServeAlpha = true }

// tagsOf are an instance's, without the one that EC2 gives it.
func tagsOf(i *ec2types.Instance) map[string]string {
	out := map[string]string{}
	for _, tag := range i.Tags {
		if !strings.HasPrefix(*tag.Key, "aws:") {
			out[*tag.Key] = *tag.Value
		}
	}
	return out
}

// API-416, API-417, API-424: what is launched for a Provisioner bears that generation's tags, the name of them overridden by the class
// and the settings, and none by which later pools are known.
func TestTagsOfTheFirstGeneration(t *testing.T) {
	class := &awsv1.EC2NodeClass{}
	class.Name = "v1alpha5/default"
	want := map[string]string{
		"karpenter.sh/provisioner-name": "pool", "Name": "karpenter.sh/provisioner-name/pool", "kubernetes.io/cluster/demo": "owned",
		"karpenter.sh/managed-by": "demo", "team": "web", "karpenter.k8s.aws/ec2nodeclass": "v1alpha5/default", "karpenter.sh/nodeclaim": "a",
		launch.TagNodeClaimUID: "uid-a",
	}
	for name, c := range map[string]struct {
		common, class map[string]string
		shown         string
	}{
		"by default":     {map[string]string{"team": "web"}, nil, "karpenter.sh/provisioner-name/pool"},
		"of the options": {map[string]string{"team": "web", "Name": "mine"}, nil, "mine"},
		"of the class": {map[string]string{"team": "x", "Name": "mine"}, map[string]string{
			"Name": "theirs", "team": "web", "karpenter.sh/managed-by": "somebody", "karpenter.sh/provisioner-name": "other",
		}, "theirs"},
	} {
		class.Spec.Tags = c.class
		want["Name"] = c.shown
		if got := launch.Tags("demo", c.common, class, alphaClaim("a")); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: %v\nwant %v", name, got, want)
		}
	}
	class.Spec.Tags = nil
	if got := launch.Tags("demo", nil, class, claim("a")); got["karpenter.sh/nodepool"] != "pool" || got["eks:eks-cluster-name"] != "demo" || got[awsv1.TagProvisioner] != "" || got["Name"] != "" {
		t.Errorf("of a NodePool: %v", got)
	}
}

// API-420, API-421, API-424: instances of a Provisioner and of a NodePool of one name are launched, found again, listed and described each
// with the label of its generation; and of instances that bear the tags of the first generation only those are collected that
// this cluster manages and no claim has.
func TestInstancesOfBothGenerations(t *testing.T) {
	a := newAccount(t)
	later := time.Now().Add(time.Hour)
	p := newProvider(t, a, serveAlpha, func(_ *aws.Config, o *aws.Options) { o.Clock = &clock{later} })
	lifeOfBothGenerations(t, p, func(id string, tags map[string]string) {
		a.put(id, "m5.large", "default", func(i *ec2types.Instance) {
			i.Tags = nil
			for key, value := range tags {
				i.Tags = append(i.Tags, ec2types.Tag{Key: &key, Value: &value})
			}
		})
	}, func() []ec2types.Instance { return a.instances })
}

// API-420, API-424: the same on an EC2 that nobody here wrote.
func TestMotoBothGenerations(t *testing.T) {
	s := newSite(t, serveAlpha, func(_ *aws.Config, o *aws.Options) { o.Clock = &clock{time.Now().Add(time.Hour)} })
	lifeOfBothGenerations(t, s.provider, func(_ string, tags map[string]string) {
		var list []ec2types.Tag
		for key, value := range tags {
			list = append(list, ec2types.Tag{Key: &key, Value: &value})
		}
		if _, err := s.api.RunInstances(t.Context(), &ec2.RunInstancesInput{
			MinCount: awssdk.Int32(1), MaxCount: awssdk.Int32(1), ImageId: awssdk.String(s.class.Status.AMIs[0].ID), InstanceType: "m5.large",
			TagSpecifications: []ec2types.TagSpecification{{ResourceType: "instance", Tags: list}},
		}); err != nil {
			t.Fatal(err)
		}
	}, s.instances)
}

func lifeOfBothGenerations(t *testing.T, p *aws.Provider, put func(id string, tags map[string]string), all func() []ec2types.Instance) {
	t.Helper()
	var refs []aws.ClaimRef
	for _, want := range []*v1.NodeClaim{claim("new"), alphaClaim("old")} {
		created, err := p.Create(t.Context(), want)
		if err != nil {
			t.Fatal(err)
		}
		again, err := p.Create(t.Context(), want)
		if err != nil || again.Status.ProviderID != created.Status.ProviderID {
			t.Errorf("%s is launched twice: %+v, %v", want.Name, again, err)
		}
		got, err := p.Get(t.Context(), created.Status.ProviderID)
		for _, c := range []*v1.NodeClaim{created, got} {
			if err != nil || v1.PoolOf(c.Labels) != v1.PoolOf(want.Labels) || c.Name != want.Name || len(c.Status.Capacity) == 0 {
				t.Errorf("%s: %+v, %v", want.Name, c, err)
			}
		}
		refs = append(refs, aws.ClaimRef{UID: want.UID, ProviderID: created.Status.ProviderID})
		created.Status.NodeName = "node-" + want.Name
		if err := p.TagNode(t.Context(), created); err != nil {
			t.Error(err)
		}
	}
	const owned = awsv1.TagClusterPrefix + "demo"
	put("i-lost", map[string]string{owned: "owned", awsv1.TagProvisioner: "pool", awsv1.TagManagedBy: "demo"})
	put("i-before-0.28", map[string]string{owned: "owned", awsv1.TagProvisioner: "pool"})
	put("i-of-another", map[string]string{owned: "owned", awsv1.TagProvisioner: "pool", awsv1.TagManagedBy: "other"})
	list, err := p.List(t.Context())
	if err != nil || len(list) != 3 {
		t.Fatalf("%d are listed, want two and what was lost: %v", len(list), err)
	}
	pools := map[v1.PoolKey]int{}
	for _, c := range list {
		pools[v1.PoolOf(c.Labels)]++
	}
	if want := map[v1.PoolKey]int{v1.NewPoolKey("pool"): 1, {Generation: v1.GenerationV1Alpha5, Name: "pool"}: 2}; fmt.Sprint(pools) != fmt.Sprint(want) {
		t.Errorf("pools %v, want %v", pools, want)
	}
	ended, _, err := p.CollectOrphans(t.Context(), func(context.Context) ([]aws.ClaimRef, error) { return refs, nil }, 0)
	if err != nil || len(ended) != 1 || slices.ContainsFunc(refs, func(r aws.ClaimRef) bool { return r.ProviderID == ended[0] }) {
		t.Errorf("collected %q, %v; want what was lost", ended, err)
	}
	for i := range all() {
		i := &all()[i]
		tags := tagsOf(i)
		if id := *i.InstanceId; tags[awsv1.TagManagedBy] == "other" && (i.State.Name == "shutting-down" || i.State.Name == "terminated") {
			t.Errorf("%s, which another cluster manages, was ended", id)
		}
	}
}

package aws_test

import (
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/drawknife/drawknife/aws"
	"github.com/drawknife/drawknife/aws/internal/launch"
)

// Twelve equal launches are one fleet on moto, whose instances another process finds by their tags, assigns alike, and tags later.
func TestMotoBurst(t *testing.T) {
	s := newSite(t)
	claims := alike(12)
	s.cloud.Count()
	ids := mustCreateAll(t, s.provider, claims)
	if calls := s.cloud.Calls("CreateFleet"); calls != 1 {
		t.Errorf("%d calls", calls)
	}
	other, err := aws.New(t.Context(), aws.Config{ClusterName: "demo", SDK: sdkConfig(s.cloud)}, aws.Options{
		NodeClasses: aws.NodeClasses{"default": s.class}, Cluster: aws.StaticCluster{Endpoint: "https://x.example", ServiceCIDR: "172.20.0.0/16", CABundle: "Q0E="},
	})
	if err != nil {
		t.Fatal(err)
	}
	if again := mustCreateAll(t, other, claims); !slices.Equal(again, ids) {
		t.Errorf("another process finds %v, launched were %v", again, ids)
	}
	joined := claims[5].DeepCopy()
	joined.Status.ProviderID, joined.Status.NodeName = ids[5], "node-5"
	if err := other.TagNode(t.Context(), joined); err != nil {
		t.Fatal(err)
	}
	var uids []types.UID
	for _, c := range claims {
		uids = append(uids, c.UID)
	}
	named := 0
	for _, i := range s.instances() {
		tags := tagsOf(&i)
		if batch, ok := launch.BatchOf(tags); !ok || batch.ID != launch.BatchID(uids, 0, false) || len(batch.UIDs) != 12 {
			t.Errorf("instance %s is of batch %+v", *i.InstanceId, batch)
		}
		if tags[launch.TagNodeClaimUID] == string(joined.UID) {
			named++
		}
	}
	if got := listed(t, other); named != 1 || len(got) != 12 || got[joined.UID] != ids[5] {
		t.Errorf("%d instances are named for their claim; listed are %v", named, got)
	}
}

// A group is one fleet of one type in one zone on moto, and the next process gives the same instances.
func TestMotoCreateGroup(t *testing.T) {
	s := newSite(t)
	claims := alike(4)
	ids := mustCreateGroup(t, s.provider, claims)
	other, err := aws.New(t.Context(), aws.Config{ClusterName: "demo", SDK: sdkConfig(s.cloud)}, aws.Options{
		NodeClasses: aws.NodeClasses{"default": s.class}, Cluster: aws.StaticCluster{Endpoint: "https://x.example", ServiceCIDR: "172.20.0.0/16", CABundle: "Q0E="},
	})
	if err != nil {
		t.Fatal(err)
	}
	if again := mustCreateGroup(t, other, claims); !slices.Equal(again, ids) {
		t.Errorf("another process finds %v, launched were %v", again, ids)
	}
	if n := len(s.instances()); n != 4 {
		t.Errorf("%d instances", n)
	}
}

package frozen

import (
	"encoding/json"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"pgregory.net/rapid"

	v1 "github.com/drawknife/drawknife/api/v1"
	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	"github.com/drawknife/drawknife/aws/catalog"
	"github.com/drawknife/drawknife/aws/instancetype"
	"github.com/drawknife/drawknife/aws/launchtemplate"
)

func drawnClass(t *rapid.T) *awsv1.EC2NodeClass {
	flip := func(name string) bool { return rapid.Bool().Draw(t, name) }
	class := &awsv1.EC2NodeClass{ObjectMeta: metav1.ObjectMeta{Name: "class"}}
	s := &class.Spec
	s.AMIFamily = rapid.SampledFrom(awsv1.AMIFamilies()).Draw(t, "family")
	s.AMISelectorTerms = []awsv1.AMISelectorTerm{{ID: "ami-0123456789abcdef0"}}
	if flip("user data") {
		text := rapid.SampledFrom([]string{
			"#!/bin/bash\necho hello\n", "[settings.kubernetes]\n\"max-pods\" = 20\n", "Write-Host hello\n",
			"apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec:\n  kubelet:\n    config:\n      shutdownGracePeriod: 30s\n",
		}).Draw(t, "text")
		s.UserData = &text
	}
	if flip("public address") {
		public := flip("public")
		s.AssociatePublicIPAddress = &public
	}
	if flip("kubelet") {
		pods, cores := intstr.FromInt32(30), int32(4)
		s.Kubelet = &awsv1.KubeletConfiguration{MaxPods: &pods, PodsPerCore: &cores, ClusterDNS: []string{"10.0.0.10"},
			SystemReserved: map[string]string{"cpu": "100m"}, EvictionHard: map[string]string{"memory.available": "5%"}}
	}
	if flip("tags") {
		s.Tags = map[string]string{"team": "a", "Name": "own"}
	}
	if flip("monitoring") {
		on := true
		s.DetailedMonitoring = &on
	}
	if flip("store") {
		policy := awsv1.InstanceStorePolicyRAID0
		s.InstanceStorePolicy = &policy
	}
	class.Status.AMIs = []awsv1.AMI{
		{ID: "ami-arm", Name: "arm", Requirements: []corev1.NodeSelectorRequirement{{Key: corev1.LabelArchStable, Operator: corev1.NodeSelectorOpIn, Values: []string{"arm64"}}}},
		{ID: "ami-0123456789abcdef0", Name: "amd", Requirements: []corev1.NodeSelectorRequirement{{Key: corev1.LabelArchStable, Operator: corev1.NodeSelectorOpIn, Values: []string{"amd64"}}}},
	}
	class.Status.SecurityGroups = []awsv1.SecurityGroup{{ID: "sg-b"}, {ID: "sg-a"}}
	class.Status.InstanceProfile = "profile"
	return class
}

func drawnClaim(t *rapid.T) *v1.NodeClaim {
	claim := &v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "claim", Labels: map[string]string{v1.NodePoolLabelKey: "pool"}}}
	if rapid.Bool().Draw(t, "labels") {
		claim.Labels["example.com/team"] = rapid.SampledFrom([]string{"a", "b"}).Draw(t, "team")
	}
	if rapid.Bool().Draw(t, "taints") {
		claim.Spec.Taints = []corev1.Taint{{Key: "x", Value: "1", Effect: corev1.TaintEffectNoSchedule}}
		claim.Spec.StartupTaints = []corev1.Taint{{Key: "y", Effect: corev1.TaintEffectNoExecute}}
	}
	return claim
}

// Launch templates of drawn node classes and claims have the content, the names and the user data that are recorded.
func TestFrozenLaunchTemplates(t *testing.T) {
	facts, err := catalog.Embedded()
	if err != nil {
		t.Fatal(err)
	}
	answer := func(rt *rapid.T) []byte {
		class, claim := drawnClass(rt), drawnClaim(rt)
		types, err := instancetype.Resolve(facts, class, instancetype.Options{})
		if err != nil {
			rt.Fatal(err)
		}
		first, size := rapid.IntRange(0, len(types)-1).Draw(rt, "first"), rapid.IntRange(1, 20).Draw(rt, "types")
		r, err := launchtemplate.Build(launchtemplate.Request{
			Cluster:   launchtemplate.Cluster{Name: "demo", Endpoint: "https://api.demo.example", ServiceCIDR: "172.20.0.0/16", CABundle: "Y2E=", Region: "us-east-1"},
			NodeClass: class, NodeClaim: claim, InstanceTypes: types[first:min(first+size, len(types))],
			CapacityType: rapid.SampledFrom([]string{v1.CapacityTypeSpot, v1.CapacityTypeOnDemand}).Draw(rt, "capacity type"),
		})
		if err != nil {
			return []byte(err.Error())
		}
		out := []any{r.Unserved}
		for _, template := range r.Templates {
			out = append(out, template.Data, template.Name, template.Tags, template.InstanceTypes, template.MaxPods, template.UserData.Text, template.UserData.Warnings)
		}
		data, err := json.Marshal(out)
		if err != nil {
			rt.Fatal(err)
		}
		return data
	}
	Check(t, Recording{File: "testdata/launchtemplates.txt", Count: 500, Short: 40, Update: *update, Answer: func(_ *testing.T, i int) (string, []byte) {
		return fmt.Sprint(i), Drawn(answer, i)
	}})
}

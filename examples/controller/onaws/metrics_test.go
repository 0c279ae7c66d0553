package onaws

import (
	"context"
	"testing"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/drawknife/drawknife/aws"
)

// DescribeInstanceStatus finds every instance of the account impaired, by the check that was asked for.
func (a *account) DescribeInstanceStatus(_ context.Context, in *ec2.DescribeInstanceStatusInput, _ ...func(*ec2.Options)) (*ec2.DescribeInstanceStatusOutput, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	out := &ec2.DescribeInstanceStatusOutput{}
	if *in.Filters[0].Name != "system-status.status" {
		return out, nil
	}
	for _, i := range a.instances {
		out.InstanceStatuses = append(out.InstanceStatuses, ec2types.InstanceStatus{InstanceId: i.InstanceId, SystemStatus: &ec2types.InstanceStatusSummary{
			Details: []ec2types.InstanceStatusDetails{{Name: "reachability", Status: "failed", ImpairedSince: awssdk.Time(time.Unix(1.7e9, 0))}},
		}})
	}
	return out, nil
}

// AWN-319, DIS-283: instances that EC2 reports as broken are counted, by what is wrong with them.
func TestUnhealthyInstancesAreCounted(t *testing.T) {
	s, registry := newSite(t), prometheus.NewRegistry()
	s.account.put("i-1")
	provider, err := newProvider(t.Context(), s.client, aws.Config{ClusterName: "demo", WithoutDryRuns: true, IsolatedVPC: true}, Options{
		Clients: clients{s.account}, Cluster: aws.StaticCluster{Endpoint: "https://api.demo.example", ServiceCIDR: "172.20.0.0/16", Version: "1.35"}, Metrics: registry,
	})
	if err != nil {
		t.Fatal(err)
	}
	if messages, err := provider.ReceiveInterruptions(t.Context()); err != nil || len(messages) != 1 {
		t.Fatalf("messages %v, error %v", messages, err)
	}
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]float64{}
	for _, f := range families {
		for _, m := range f.Metric {
			got[f.GetName()+" "+m.Label[0].GetName()+"="+m.Label[0].GetValue()] = m.Counter.GetValue()
		}
	}
	if diff := cmp.Diff(map[string]float64{"karpenter_interruption_instance_status_unhealthy_total category=SystemStatus": 1}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for kind, want := range map[aws.InterruptionKind]string{
		aws.InstanceStatus: "InstanceStatus", aws.EventStatus: "EventStatus", aws.SpotInterrupted: "",
	} {
		if got := categoryOf(kind); got != want {
			t.Errorf("%s is counted as %q, want %q", kind, got, want)
		}
	}
}

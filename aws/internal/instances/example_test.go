package instances_test

import (
	"fmt"
	"time"

	"github.com/drawknife/drawknife/aws/internal/instances"
	"github.com/drawknife/drawknife/aws/internal/launch"
)

// Which instances belong to nobody, decided without any call.
func ExampleNext() {
	now := time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)
	listed := []instances.Instance{
		{ID: "i-1", Type: "m5.large", LaunchTime: now.Add(-time.Hour), Tags: map[string]string{launch.TagNodeClaimUID: "uid-1"}},
		{ID: "i-2", Type: "m5.large", LaunchTime: now.Add(-time.Hour), Tags: map[string]string{launch.TagNodeClaimUID: "uid-2"}},
	}
	claims := []instances.ClaimRef{{UID: "uid-1", ProviderID: "aws:///us-east-1a/i-1"}}
	decision := instances.Next(listed, claims, 0, now)
	for _, orphan := range decision.Terminate {
		fmt.Println(orphan.ID)
	}
	fmt.Println(decision.RequeueAfter)
	// Output:
	// i-2
	// 10s
}

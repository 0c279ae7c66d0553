package clusterreport_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/drawknife/drawknife/commands/top/clusterreport"
)

func TestWords(t *testing.T) {
	now := time.Date(2026, 1, 10, 12, 0, 0, 0, time.UTC)
	ago := func(d time.Duration) string { return clusterreport.Age(now.Add(-d), now) }
	got := []string{
		clusterreport.Money(0), clusterreport.Money(-1e-9), clusterreport.Money(0.1 + 0.2), clusterreport.Money(-1.5), clusterreport.Money(1234.567),
		ago(42 * time.Second), ago(7*time.Minute + time.Second), ago(3*time.Hour + 20*time.Minute), ago(300 * time.Hour), ago(-time.Hour), clusterreport.Age(time.Time{}, now),
		(&clusterreport.Totals{}).Cost(),
		(&clusterreport.Totals{HourlyCost: 1.2, ByCapacityType: map[string]float64{"spot": 0.2, "on-demand": 1, "": 0}, WithoutPrice: 1}).Cost(),
		(&clusterreport.Totals{Nodes: 1, Pods: 7, Pending: 2, Allocatable: clusterreport.Amounts{CPU: 4, Memory: 8}, Requested: clusterreport.Amounts{CPU: 1, Memory: 4}}).Size(),
		clusterreport.Saved{PerHour: 0.5, Commands: 3, Since: now.Add(-2 * time.Hour)}.Sentence(now),
		(&clusterreport.Pod{}).Place(), (&clusterreport.Pod{Planned: "node n"}).Place(), (&clusterreport.Pod{Reason: "taints"}).Place(),
		(&clusterreport.Node{State: "ready"}).Does(), (&clusterreport.Node{State: "leaving", Reason: "Drifted"}).Does(),
		(&clusterreport.Command{}).Removes(), (&clusterreport.Command{Nodes: []string{"a", "b", "c", "d", "e"}}).Removes(),
		(&clusterreport.Command{Replacements: []clusterreport.Replacement{{NodePool: "p"}}}).Launches(),
	}
	want := []string{
		"$0.0000", "$0.0000", "$0.3000", "-$1.5000", "$1234.57",
		"42s", "7m", "3h20m", "12d", "0s", "-",
		"$0.0000/h", "$1.2000/h: other $0.0000, on-demand $1.0000, spot $0.2000; 1 node without a known price",
		"1 node, 7 pods, 2 pending; requested: 25% of CPU, 50% of memory",
		"$0.5000/h saved by 3 completed commands in 2h0m",
		"not planned yet", "node n", "no place: taints",
		"ready", "leaving: Drifted",
		"-", "a, b, c and 2 more", "a node of p",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

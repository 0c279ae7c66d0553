package e2e_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/drawknife/drawknife/internal/e2e/harness"
)

// TestPodGroups walks through the document's section on PodGroups, with kube-scheduler's gang plugin.
func TestPodGroups(t *testing.T) {
	cluster := batchServer.Start(t, harness.Options{})
	api := newAPI(t, cluster)
	startController(t, cluster, batchOptions())
	members, before := map[string]int{"train": 4, "sweep": 6}, 0
	for _, step := range commands(t, batchPage, "## From a PodGroup to running pods") {
		api.run(step, hurried(t, 3*time.Second))
		switch {
		case strings.Contains(step, "job/"): // it is complete
			_, job, _ := strings.Cut(step, "job/")
			job, _, _ = strings.Cut(job, " ")
			ranIn(t, cluster, job, members[job], "")
			before = cluster.Bought()
		case strings.Contains(step, "PodGroupInitiallyScheduled=false"):
			if n := cluster.Bought() - before; n > 0 {
				t.Errorf("%d instances are launched for a group that can't have all it needs", n)
			}
		case strings.Contains(step, "get events"):
			cluster.Eventually("events say how many would fit and what is in the way", patience, func() (bool, string) {
				list, err := cluster.Client.EventsV1().Events(cluster.Namespace).List(t.Context(), metav1.ListOptions{})
				if err != nil {
					return false, err.Error()
				}
				for i := range list.Items {
					note := list.Items[i].Note
					if strings.Contains(note, "/sweep has no place: ") && strings.Contains(note, " of 6 members fit") && strings.Contains(note, "limit cpu were raised") {
						return true, ""
					}
				}
				return false, fmt.Sprint(len(list.Items), " events")
			})
		}
	}
	cluster.Eventually("all nodes are gone", patience, cluster.Empty())
}

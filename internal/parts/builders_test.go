package parts_test

import (
	"errors"
	"testing"

	"github.com/drawknife/drawknife/internal/parts"
	"github.com/drawknife/drawknife/scheduling"
)

// What is no part of a cluster is refused, and said.
func TestClusterOfOtherThings(t *testing.T) {
	_, err := scheduling.Compile(parts.Cluster(parts.Pod("p"), "q"))
	var refused *scheduling.SnapshotError
	if !errors.As(err, &refused) || refused.Path != "nodes[no part of a cluster: string]" {
		t.Errorf("%v, want a word about the string", err)
	}
}

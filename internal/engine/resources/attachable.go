package resources

import (
	"math"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/scheduling/planning"
)

// Room for attached volumes is counted like any other resource. There is one such resource for each CSI driver that a pod of the snapshot
// uses, and each volume of the driver takes one unit.

// attachPrefix is the prefix of the names of resources that count attached volumes. Outside the planner these resources appear only in
// certificates.
const attachPrefix = planning.AttachedVolumesPrefix

// manyVolumes is the number of volumes that the planner allows on nodes without a limit for volumes.
const manyVolumes = math.MaxInt32

// Attachable returns the resource that counts attached volumes of the driver.
func Attachable(driver string) corev1.ResourceName {
	return corev1.ResourceName(attachPrefix + driver)
}

// Attaches reports whether the resource counts volumes.
func Attaches(name corev1.ResourceName) bool { return strings.HasPrefix(string(name), attachPrefix) }

// AttachRoom sets, in the vector into, the number of volumes of each driver that a node can attach. limit returns the node's limit for a
// driver, and false if it has no limit.
func (t *Table) AttachRoom(into []int64, limit func(driver string) (int64, bool)) {
	for at, name := range t.Names {
		driver, ok := strings.CutPrefix(string(name), attachPrefix)
		if !ok {
			continue
		}
		into[at] = manyVolumes
		if n, limited := limit(driver); limited {
			into[at] = n
		}
	}
}

// WithoutVolumes returns the number of resources that don't count attached volumes.
func (t *Table) WithoutVolumes() int {
	n := 0
	for _, name := range t.Names {
		if !Attaches(name) {
			n++
		}
	}
	return n
}

package instancetype

import (
	"fmt"

	"github.com/drawknife/drawknife/aws/catalog"
)

// maxCores is more than the number of cores of any instance.
const maxCores = 1024

// cpus returns the cores of an instance of the type with these settings, and the threads of each. Both are 0 if the type's cores are not
// known.
func (s *Settings) cpus(t *catalog.Type) (cores, threads int64) {
	if t.Cores <= 0 {
		return 0, 0
	}
	cores, threads = t.Cores, max(1, t.VCPUs/t.Cores)
	if s.CoreCount > 0 {
		cores = s.CoreCount
	}
	if s.ThreadsPerCore > 0 {
		threads = s.ThreadsPerCore
	}
	return cores, threads
}

// vcpus returns the number of vCPUs of an instance: the type's, unless the settings choose other threads or cores.
func (s *Settings) vcpus(t *catalog.Type) int64 {
	if cores, threads := s.cpus(t); cores > 0 && (s.ThreadsPerCore > 0 || s.CoreCount > 0) {
		return cores * threads
	}
	return t.VCPUs
}

// cpuIncompatible says why instances of a type can't have the threads and cores of the settings. The catalogue does not list the core
// counts that EC2 accepts for a type, so EC2 may refuse a combination that this function accepts.
func cpuIncompatible(t *catalog.Type, s *Settings) string {
	if s.ThreadsPerCore == 0 && s.CoreCount == 0 {
		return ""
	}
	switch {
	case t.BareMetal:
		return "threads and cores of bare metal types cannot be chosen"
	case t.Burstable && t.Hypervisor == "xen":
		return "threads and cores of burstable types under the xen hypervisor cannot be chosen"
	case t.Cores <= 0:
		return "its number of cores is not known, so threads and cores cannot be chosen"
	case s.CoreCount > t.Cores:
		return fmt.Sprintf("it has %d cores, and the class asks for %d", t.Cores, s.CoreCount)
	case s.ThreadsPerCore > max(1, t.VCPUs/t.Cores):
		return fmt.Sprintf("its cores run one thread, and the class asks for %d", s.ThreadsPerCore)
	}
	return ""
}

package instancetype

import "github.com/drawknife/drawknife/aws/catalog"

// MemoryPrior says how to estimate the memory used by hypervisor and kernel until an instance of the type has been seen.
type MemoryPrior string

const (
	// MemoryPriorFlat uses the same fraction for every instance: Settings.VMMemoryOverheadPercent.
	MemoryPriorFlat MemoryPrior = ""
	// MemoryPriorMeasured uses an amount by size and hypervisor. It is an upper bound of measurements on some 500 types, and never more
	// than the flat fraction: about 2 to 5 % for large instances instead of 7.5 %. If VMMemoryOverheadPercent is set, that fraction is used
	// instead.
	MemoryPriorMeasured MemoryPrior = "Measured"
)

// measuredOverheadMiB computes the overhead by a straight line above all measured points: the kernel's fixed part, its page tables and the
// hypervisor's share grow at most linearly with the memory. Source of the points: Karpenter's published table of memory overheads per
// instance type (zz_generated.memory_overhead.go of karpenter-provider-aws, 2023). The measured overheads are below 300 MiB + 4.8 % under
// Nitro, 200 MiB + 2.2 % under Xen and 300 MiB + 2.5 % on bare metal.
func measuredOverheadMiB(t *catalog.Type) int64 {
	fixed, perThousand := int64(300), int64(48)
	switch {
	case t.Hypervisor == "xen":
		fixed, perThousand = 200, 22
	case t.BareMetal:
		perThousand = 25
	}
	return fixed + (t.MemoryMiB*perThousand+999)/1000
}

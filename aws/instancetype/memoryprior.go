package instancetype

import "github.com/drawknife/drawknife/aws/catalog"

// MemoryPrior is what is taken for the memory that hypervisor and kernel keep, as long as no instance of the type was
// seen.
type MemoryPrior string

const (
	// MemoryPriorFlat takes the same fraction of every instance: Settings.VMMemoryOverheadPercent.
	MemoryPriorFlat MemoryPrior = ""
	// MemoryPriorMeasured takes an amount by size and hypervisor that bounds from above what was measured on some 500
	// types, and never more than the flat fraction: about 2 to 5 % of large instances instead of 7.5 %. A
	// VMMemoryOverheadPercent that is set wins over it.
	MemoryPriorMeasured MemoryPrior = "Measured"
)

// measuredOverheadMiB is a straight line above all points measured: the kernel's fixed part, its page tables and what the
// hypervisor keeps all grow with the memory at most so fast. Source of the points: the reference's published table of
// memory overheads per instance type (zz_generated.memory_overhead.go of karpenter-provider-aws, 2023). They lie
// below 300 MiB + 4.8 % under Nitro, 200 MiB + 2.2 % under Xen and 300 MiB + 2.5 % on bare metal.
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

package manifests

// Bounds of DefaultLimits. They are far above any real cluster and far below what would exhaust a computer.
const (
	// DefaultMaxBytes limits the total size of all sources, and the expansion of their YAML aliases: 512 MiB.
	DefaultMaxBytes = 512 << 20
	// DefaultMaxObjects bounds the number of objects, each item of a list counted.
	DefaultMaxObjects = 2_000_000
	// DefaultMaxDepth bounds how deep objects and lists may be nested; schemas of custom resources reach about 40.
	DefaultMaxDepth = 128
	// DefaultMaxReplicas bounds the pods that workloads are expanded to, all workloads together.
	DefaultMaxReplicas = 1_000_000
	// DefaultMaxProblems bounds how many problems are reported; the rest are counted.
	DefaultMaxProblems = 100
)

// maxWarnings bounds the warnings of one load after equal ones were folded together.
const maxWarnings = 1000

// Limits restrict the input of Load. All values count as they are: start from DefaultLimits.
type Limits struct {
	// Bytes bounds the size of all sources together.
	Bytes int64
	// Objects bounds the number of objects.
	Objects int
	// Depth bounds the nesting inside one document.
	Depth int
	// Replicas bounds the pods made from workloads, and as many again from capacity buffers.
	Replicas int
	// Problems is the maximum number of problems listed in a LoadError, which lists at least one.
	Problems int
}

// DefaultLimits are DefaultMaxBytes, DefaultMaxObjects and so on.
func DefaultLimits() Limits {
	return Limits{Bytes: DefaultMaxBytes, Objects: DefaultMaxObjects, Depth: DefaultMaxDepth, Replicas: DefaultMaxReplicas, Problems: DefaultMaxProblems}
}

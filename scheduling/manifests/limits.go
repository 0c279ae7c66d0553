package manifests

// Bounds that hold where Limits leaves a field zero. They are far above any real cluster and far below what would
// exhaust a machine.
const (
	// DefaultMaxBytes bounds the sum of all sources, and what their YAML aliases may unfold to: 512 MiB.
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

// Limits bound what Load accepts. A field that is zero or negative reads as its default.
type Limits struct {
	// Bytes bounds the size of all sources together; default DefaultMaxBytes.
	Bytes int64
	// Objects bounds the number of objects; default DefaultMaxObjects.
	Objects int
	// Depth bounds the nesting inside one document; default DefaultMaxDepth.
	Depth int
	// Replicas bounds the pods made from workloads, and as many again from capacity buffers; default
	// DefaultMaxReplicas.
	Replicas int
	// Problems bounds the problems listed in a LoadError; default DefaultMaxProblems.
	Problems int
}

func (l Limits) withDefaults() Limits {
	if l.Bytes <= 0 {
		l.Bytes = DefaultMaxBytes
	}
	for _, f := range []struct {
		field *int
		value int
	}{
		{&l.Objects, DefaultMaxObjects},
		{&l.Depth, DefaultMaxDepth},
		{&l.Replicas, DefaultMaxReplicas},
		{&l.Problems, DefaultMaxProblems},
	} {
		if *f.field <= 0 {
			*f.field = f.value
		}
	}
	return l
}

package manifests

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	autoscalingv1 "github.com/drawknife/drawknife/api/autoscaling/v1"
	"github.com/drawknife/drawknife/api/kinds"
	"github.com/drawknife/drawknife/api/option"
	"github.com/drawknife/drawknife/api/requirements"
	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/scheduling"
	"github.com/drawknife/drawknife/scheduling/buffers"
)

// Options say how input is read. The zero value can be used.
type Options struct {
	// Now becomes Snapshot.Time; the package reads no clock. The zero time stays zero.
	Now time.Time
	// Live are sources of a running cluster, such as the output of kubectl get. The other sources change them like kubectl apply would. If
	// an object is in both, the object of the other source is used, with a warning (WarningReplaced). nil means that there is no cluster;
	// then an object may not be in two sources.
	Live []Source
	// Former are manifests that the other sources replace as a whole. Objects in them that were never applied (they have no UID and no
	// creation time) are not read. If no other source has such an object, it is also left out of Live, together with its pods. Objects in
	// them that a cluster has returned are read like those of Live. Nil means none.
	Former []Source
	// Namespace is the namespace of namespaced objects that do not state one. Empty means "default".
	Namespace string
	// Vocabulary decides which label keys a NodePool may use, and becomes Snapshot.Vocabulary. The zero value means
	// requirements.CoreVocabulary().
	Vocabulary requirements.Vocabulary
	// Strict refuses unknown fields and repeated fields instead of warning about them, and files of Kustomize and Helm (kustomization.yaml,
	// Chart.yaml, values.yaml), which contain no objects.
	Strict bool
	// Oldest is the oldest generation that is read: v1.Version, v1beta1.Version or v1alpha5.Version. Objects of older generations are
	// refused, like by an API server that does not serve their version. Empty means that all generations are read.
	Oldest string
	// Kinds are the kinds of node classes that the input may contain, with all their generations; aws/convert.Kinds returns those of AWS.
	// Their API groups are treated like the groups of node autoscaling itself. If Kinds is empty, node classes are skipped like other
	// unknown kinds.
	Kinds kinds.Set
	// Conversion converts objects of older generations after all objects are read; aws/convert.Conversion does so for AWS. Nil means that
	// they are refused.
	Conversion kinds.Conversion
	// Settings are ConfigMaps of the input that determine how the rest is read. The zero value means none.
	Settings Settings
	// Workloads are additional kinds of workloads, with templates for their pods; see CommonWorkloadKinds. Nil means none. If a kind has several
	// entries, the last one counts.
	Workloads []WorkloadKind
	// Autoscaling says how many pods of a workload are planned if an autoscaler of the input scales it. Empty means AutoscalingCurrent.
	Autoscaling Autoscaling
	// InferGangs also makes gangs of the pods of a JobSet, and of each group of a LeaderWorkerSet. The APIs of these kinds do not promise
	// that the pods are placed together: a pod that is placed starts, and waits for the other pods.
	InferGangs bool
	// VolcanoTiers are the node labels of Volcano's network tiers, by the number of a tier ("1") or its name. They are the labels from
	// which Volcano's controller discovers its HyperNodes (networkTopologyDiscovery, source "label"). A tier with a lower number is
	// narrower. With nil, network topologies of PodGroups are not read.
	VolcanoTiers map[string]string
	// Limits bound the input. Nil means DefaultLimits.
	Limits *Limits
}

// Result is what was loaded.
type Result struct {
	// Snapshot contains everything that planning reads except Catalogs and NodePool.Catalog: manifests contain no instance types, so the
	// caller adds them. Lists are sorted by namespace and name.
	Snapshot *scheduling.Snapshot
	// NodeClasses are the node classes of the input, of v1 and of v1beta1, defaulted and validated, by name and kind. Each is of the type
	// that Options.Kinds makes.
	NodeClasses []kinds.NodeClass
	// FirstNodeClasses are the node classes that were converted from node templates and from provider blocks of Provisioners, by name.
	// Their names are separate from those of NodeClasses. Only pools created as v1alpha5 refer to them. See NodeClassOf.
	FirstNodeClasses []kinds.NodeClass `json:",omitempty"`
	// Buffers are the capacity buffers of the input with their placeholders, by namespace and name. Their pods are in
	// Snapshot.Placeholders.
	Buffers []buffers.Resolved `json:",omitempty"`
	// Requests are the ProvisioningRequests of the input, by namespace and name, for package scheduling/requests. PodTemplates are the
	// templates that they refer to, completed like pods of workloads. The snapshot contains neither the requests nor the templates.
	Requests     []*autoscalingv1.ProvisioningRequest `json:",omitempty"`
	PodTemplates []*corev1.PodTemplate                `json:",omitempty"`
	// Warnings are remarks on input that was loaded nevertheless.
	Warnings []Warning
	// Scaled are the workloads of the input whose pods were made in the number that Options.Autoscaling says, by namespace, name and kind. Nil:
	// none.
	Scaled []ScaledWorkload `json:",omitempty"`
	// Skipped counts the objects of kinds that planning does not read, by "Kind" or "Kind.group". Nil means none.
	Skipped map[string]int
	// PodMakers counts the objects of Skipped that seem to create pods, which are not planned, by kind. These are objects of well-known
	// operators, and objects of which one of the same kind contains a list of containers. Nil means none.
	PodMakers map[string]int `json:",omitempty"`
}

// Load reads Kubernetes objects into a Snapshot.
//
// Wrong input is refused as a whole with a *LoadError that lists every problem of every document: see the ProblemCode constants. Everything
// else that is questionable becomes a Warning. The result does not depend on the order of the sources, and shares no memory with them. Load
// keeps no state and may be called from many goroutines.
func Load(sources []Source, opts Options) (*Result, error) {
	l := newLoader(sources, opts)
	if l.checkSize() {
		for i := range l.sources {
			l.readSource(i)
		}
		l.leaveOutReplaced()
		l.applySettings()
		l.convertOlder()
		l.validate()
	}
	l.hintTemplates()
	if err := l.problems.err(); err != nil {
		return nil, err
	}
	result := l.assemble()
	if err := l.problems.err(); err != nil {
		return nil, err
	}
	return result, nil
}

// loader has the state of one call of Load.
type loader struct {
	opts    Options
	limits  Limits
	sources []Source
	// firstLive is the index of the first source of a running cluster, or the number of sources if no source is of a running cluster. The
	// index of a source of Options.Former is less than endFormer.
	firstLive, endFormer int
	kinds                map[groupKind]kind
	// strictGroups are the API groups of node autoscaling itself. Skipping an object of these groups would change the plan without a
	// warning, so an unknown kind or version in these groups is refused.
	strictGroups map[string]bool
	objects      objects
	seen         map[objectKey]origin
	replacing    replacing
	// generated is, per kind, namespace and prefix, the next number to try for a generated name.
	generated map[objectKey]int
	admission admission
	problems  problems
	warnings  warnings
	skipped   map[string]int
	// podMakers and likePodMakers count skipped objects: see podMaking.
	podMakers, likePodMakers map[string]int
	scaled                   []ScaledWorkload
	// scalers has the autoscalers by their targets. custom has the kinds in Options.Workloads.
	scalers map[objectKey]scaler
	custom  map[groupKind]*WorkloadKind
	count   int
	// groupOfPod and groupOfTemplate are the PodGroups that pods and pod templates of workloads name.
	groupOfPod      map[types.NamespacedName]string
	groupOfTemplate map[*corev1.PodSpec]string
	// unfolded is the size of the JSON that YAML documents were converted to, in bytes.
	unfolded int64
	// parsed is the last text that was parsed again to find the line of a message.
	parsed parsedOrigin
}

func newLoader(sources []Source, opts Options) *loader {
	if opts.Namespace == "" {
		opts.Namespace = "default"
	}
	l := &loader{
		opts:      opts,
		limits:    option.Or(opts.Limits, DefaultLimits()),
		kinds:     knownKinds(),
		seen:      make(map[objectKey]origin),
		generated: make(map[objectKey]int),
		skipped:   make(map[string]int),
		podMakers: make(map[string]int), likePodMakers: make(map[string]int),
		scalers: make(map[objectKey]scaler),
		custom:  make(map[groupKind]*WorkloadKind),

		groupOfPod: make(map[types.NamespacedName]string), groupOfTemplate: make(map[*corev1.PodSpec]string),
		strictGroups: map[string]bool{v1.Group: true},
	}
	addGroupKinds(l.kinds)
	addRequestKind(l.kinds)
	l.addCloudKinds()
	if len(opts.Settings.Names) > 0 {
		l.kinds[groupKind{"", "ConfigMap"}] = kindConfigMap(opts.Settings.Names)
	}
	for i := range opts.Workloads {
		l.custom[groupKind{opts.Workloads[i].Group, opts.Workloads[i].Kind}] = &opts.Workloads[i]
	}
	l.problems.limit = max(1, l.limits.Problems)
	// The sources are sorted, because results must not depend on the order of the caller's input, for example which of two messages comes
	// first. Objects of a running cluster come last, because such an object is left out if another source has the same object.
	l.sources = slices.Concat(inOrder(sources), inOrder(opts.Former), inOrder(opts.Live))
	l.firstLive, l.endFormer = len(sources), len(sources)+len(opts.Former)
	return l
}

func inOrder(sources []Source) []Source {
	return slices.SortedStableFunc(slices.Values(sources), func(a, b Source) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), bytes.Compare(a.Data, b.Data))
	})
}

func (l *loader) checkSize() bool {
	var total int64
	for _, source := range l.sources {
		total += int64(len(source.Data))
		if total > l.limits.Bytes {
			l.problems.add(&Problem{
				Position: Position{Source: source.Name}, Code: ProblemTooLarge,
				Message: fmt.Sprintf("the input is larger than %d bytes", l.limits.Bytes),
			})
			return false
		}
	}
	return true
}

// problem records a problem of the object at the position o. The path may be empty.
func (l *loader) problem(o origin, code ProblemCode, object, path, message string) {
	if l.problems.full() {
		return
	}
	l.problems.add(&Problem{Position: l.position(o, path), Code: code, Object: object, Path: path, Message: message})
}

// remark is the content of a warning. Warnings with the same code, kind, path and detail are merged into one warning.
type remark struct {
	code WarningCode
	// kind and name identify the object. The name has the form "namespace/name" or "name".
	kind, name string
	path       string
	message    string
	detail     string
}

func (l *loader) warn(o origin, r remark) {
	key := newFoldKey(r.code, r.kind, r.path, r.detail)
	if l.warnings.fold(key) {
		return
	}
	l.warnings.add(key, Warning{
		Position: l.position(o, r.path), Code: r.code,
		Object: strings.TrimSpace(r.kind + " " + r.name), Path: r.path, Message: r.message,
	})
}

// Bounds of DefaultLimits. The default limits are far above any real cluster and far below what would exhaust a computer.
const (
	// DefaultMaxBytes limits the total size of all sources, and the expansion of their YAML aliases: 512 MiB.
	DefaultMaxBytes = 512 << 20
	// DefaultMaxObjects bounds the number of objects. Each item of a list counts as an object.
	DefaultMaxObjects = 2_000_000
	// DefaultMaxDepth bounds how deep objects and lists may be nested; schemas of custom resources reach about 40.
	DefaultMaxDepth = 128
	// DefaultMaxReplicas bounds the total number of pods that workloads are expanded to.
	DefaultMaxReplicas = 1_000_000
	// DefaultMaxProblems bounds how many problems are listed. Further problems are only counted.
	DefaultMaxProblems = 100
)

// maxWarnings is the largest number of warnings of one call of Load, after equal warnings have been merged.
const maxWarnings = 1000

// Limits restrict the input of Load. All values are used as given: start from DefaultLimits.
type Limits struct {
	// Bytes bounds the size of all sources together.
	Bytes int64
	// Objects bounds the number of objects.
	Objects int
	// Depth bounds the nesting inside one document.
	Depth int
	// Replicas bounds the pods made from workloads, and separately the pods made from capacity buffers.
	Replicas int
	// Problems is the maximum number of problems listed in a LoadError, which lists at least one.
	Problems int
}

// DefaultLimits are DefaultMaxBytes, DefaultMaxObjects and so on.
func DefaultLimits() Limits {
	return Limits{Bytes: DefaultMaxBytes, Objects: DefaultMaxObjects, Depth: DefaultMaxDepth, Replicas: DefaultMaxReplicas, Problems: DefaultMaxProblems}
}

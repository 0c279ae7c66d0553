package manifests

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/drawknife/drawknife/api/conversion"
)

// WarningCode says what a warning is about. Codes are stable. Warnings of conversions from an older generation are not listed here: they
// have the codes of package api/conversion, such as "W504", with their severities.
type WarningCode string

// conversion reports whether the code belongs to package api/conversion.
func (c WarningCode) conversion() bool { return conversion.Code(c).Severity() != "" }

const (
	// WarningUnknownKind: objects of a kind that planning does not read were skipped; see Result.Skipped. With a path, the warning is about
	// one object, which was skipped because the input lacks the object that the field at this path names.
	WarningUnknownKind WarningCode = "UnknownKind"
	// WarningUnknownField: a field that the kind does not have was ignored.
	WarningUnknownField WarningCode = "UnknownField"
	// WarningDuplicateField: a field was given twice in one object; the last one counts.
	WarningDuplicateField WarningCode = "DuplicateField"
	// WarningOldVersion: an object of a replaced apiVersion was read as an object of the present version.
	WarningOldVersion WarningCode = "OldVersion"
	// WarningIncompleteList: a list says that it is incomplete.
	WarningIncompleteList WarningCode = "IncompleteList"
	// WarningGated: a pod has scheduling gates and was left out.
	WarningGated WarningCode = "Gated"
	// WarningNominated: a pending pod is nominated for a node by preemption; it is planned there if it has room.
	WarningNominated WarningCode = "Nominated"
	// WarningUnknownNode: a pod was left out because it is bound to a node that is not in the input.
	WarningUnknownNode WarningCode = "UnknownNode"
	// WarningSuspended: a Job or CronJob is suspended and was not expanded.
	WarningSuspended WarningCode = "Suspended"
	// WarningFewerPods: a workload has more replicas than the input has pods; the missing pods are not planned.
	WarningFewerPods WarningCode = "FewerPods"
	// WarningPriorityClass: a pod names a PriorityClass that is not in the input; its priority is 0.
	WarningPriorityClass WarningCode = "PriorityClassMissing"
	// WarningRuntimeClass: a pod names a RuntimeClass that is not in the input, or that the pod contradicts.
	WarningRuntimeClass WarningCode = "RuntimeClass"
	// WarningStorageClass: a claim needs a StorageClass that is not in the input; planning assumes a class.
	WarningStorageClass WarningCode = "StorageClassMissing"
	// WarningClaims: pods use PersistentVolumeClaims, and the input has none at all, usually because kubectl get did not include them.
	WarningClaims WarningCode = "ClaimsMissing"
	// WarningNodeClass: a NodePool refers to a node class that is not in the input.
	WarningNodeClass WarningCode = "NodeClassMissing"
	// WarningNodePool: a node belongs to a NodePool that is not in the input.
	WarningNodePool WarningCode = "NodePoolMissing"
	// WarningIgnoredValue: a value of a requirement has no effect.
	WarningIgnoredValue WarningCode = "IgnoredValue"
	// WarningNotReady: a NodePool is not ready, or is being deleted, and may not launch nodes.
	WarningNotReady WarningCode = "NodePoolNotReady"
	// WarningCapacityBuffer: a capacity buffer keeps no room, because its target is not in the input or its size is unknown; see
	// Result.Buffers.
	WarningCapacityBuffer WarningCode = "CapacityBufferNotReady"
	// WarningOldLabel: a pod selects the label of v1alpha5 nodes, and there are no such nodes.
	WarningOldLabel WarningCode = "OldLabel"
	// WarningRequest: a request is valid, but probably has a wrong unit.
	WarningRequest WarningCode = "UnlikelyRequest"
	// WarningAutoscaled: an autoscaler of the input scales a workload; see Options.Autoscaling.
	WarningAutoscaled WarningCode = "Autoscaled"
	// WarningNoReplicas: a workload asks for no pods.
	WarningNoReplicas WarningCode = "NoReplicas"
	// WarningCronJob: a CronJob's pods are planned, although they run only at certain times.
	WarningCronJob WarningCode = "CronJob"
	// WarningToolFile: a file belongs to Kustomize or Helm and contains no objects; Options.Strict refuses it.
	WarningToolFile WarningCode = "ToolFile"
	// WarningPodGroup: a pod names a PodGroup or Workload that is not in the input, or groups of a CompositePodGroup are planned
	// separately.
	WarningPodGroup WarningCode = "PodGroup"
	// WarningReplaced: a running cluster has an object that another source also has; the object of the other source is used. See
	// Options.Live.
	WarningReplaced WarningCode = "Replaced"
	// WarningTooMany: there were more warnings than the maximum.
	WarningTooMany WarningCode = "TooManyWarnings"
)

// Warning is a remark on input that was loaded nevertheless. Equal warnings about many objects are merged into the first of them.
type Warning struct {
	// Position is the position of the first object that the warning is about.
	Position `json:",inline"`
	// Code says what the warning is about.
	Code WarningCode `json:"code"`
	// Object is "Kind namespace/name" of the first object concerned.
	Object string `json:"object,omitempty"`
	// Path is the field that the warning is about; empty if it is about no field.
	Path string `json:"path,omitempty"`
	// Message is a sentence for people.
	Message string `json:"message"`
	// More counts the further objects that the warning applies to.
	More int `json:"more,omitempty"`
}

// String returns one line: position, object, path, message, and the number of further warnings; for a conversion the code precedes the
// message.
func (w Warning) String() string {
	message := w.Message
	if w.Code.conversion() {
		message = string(w.Code) + " " + message
	}
	line := joinNonEmpty(w.Position.String(), w.Object, w.Path, message)
	if w.More > 0 {
		line += fmt.Sprintf(" (and %d more)", w.More)
	}
	return line
}

// warnings collects warnings and merges equal warnings into one.
type warnings struct {
	list    []*Warning
	index   map[foldKey]*Warning
	dropped int
}

// foldKey contains the parts of a warning that make two warnings equal.
type foldKey struct {
	code               WarningCode
	kind, path, detail string
}

// indexes matches the parts of a path that may differ between equal warnings.
var indexes = regexp.MustCompile(`\[\d+\]`)

func newFoldKey(code WarningCode, kind, path, detail string) foldKey {
	return foldKey{code, kind, indexes.ReplaceAllString(path, "[]"), detail}
}

// fold reports whether the warning must not be added, because an equal warning was added before, or the limit of warnings is reached. In
// both cases, it counts the warning.
func (w *warnings) fold(key foldKey) bool {
	known, ok := w.index[key]
	if ok {
		known.More++
		return true
	}
	if len(w.list) >= maxWarnings {
		w.dropped++
		return true
	}
	return false
}

func (w *warnings) add(key foldKey, warning Warning) {
	if w.index == nil {
		w.index = make(map[foldKey]*Warning)
	}
	w.list = append(w.list, &warning)
	w.index[key] = &warning
}

func (w *warnings) result() []Warning {
	if len(w.list) == 0 {
		return nil
	}
	out := make([]Warning, 0, len(w.list)+1)
	for _, warning := range w.list {
		out = append(out, *warning)
	}
	slices.SortStableFunc(out, func(a, b Warning) int {
		return cmp.Or(a.compare(b.Position), strings.Compare(a.Path, b.Path))
	})
	if w.dropped > 0 {
		out = append(out, Warning{Code: WarningTooMany, Message: fmt.Sprintf("%d more warnings were left out", w.dropped)})
	}
	return out
}

package manifests

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/drawknife/drawknife/api/requirements"
	v1 "github.com/drawknife/drawknife/api/v1"
)

// validate checks the objects one by one, so that all problems are known before any object is used.
func (l *loader) validate() {
	l.validatePools()
	for _, e := range l.objects.pods {
		l.validatePodSpec(e.origin, "Pod", qualifiedName(e.object), "spec", &e.object.Spec)
	}
	for _, t := range l.templates() {
		l.validatePodSpec(t.origin, t.kind, qualifiedName(t.object), t.path+".spec", &t.template.Spec)
	}
	for _, e := range l.objects.replicationControllers {
		if e.object.Spec.Template == nil { // only a ReplicationController may lack its template, because the field is a pointer
			err := field.Required(nil, "must say what its pods are; add it, or see whether the text was cut off here")
			l.problem(e.origin, ProblemInvalid, "ReplicationController "+qualifiedName(e.object), "spec.template", err.ErrorBody())
		}
	}
	for _, e := range l.objects.runtimeClasses {
		if e.object.Overhead != nil {
			l.validateAmounts(e.origin, "RuntimeClass", e.object.Name, "overhead.podFixed", e.object.Overhead.PodFixed)
		}
	}
	for _, e := range l.objects.limitRanges {
		for i, item := range e.object.Spec.Limits {
			path := fmt.Sprintf("spec.limits[%d].", i)
			l.validateAmounts(e.origin, "LimitRange", qualifiedName(e.object), path+"defaultRequest", item.DefaultRequest)
			l.validateAmounts(e.origin, "LimitRange", qualifiedName(e.object), path+"default", item.Default)
		}
	}
	l.validateBudgets()
	l.validateCounts()
}

// validatePools fills in the defaults of the objects of node autoscaling and checks their rules, including those that depend on the
// vocabulary.
func (l *loader) validatePools() {
	lookup := l.vocabulary().Compile()
	for _, e := range l.objects.nodePools {
		e.object.Default()
		errs := append(e.object.Validate(), requirements.ValidateNodePool(e.object, lookup)...)
		l.fieldProblems(e.origin, "NodePool "+poolKeyOf(e).String(), errs)
		l.ignoredValues(e, lookup)
	}
	for _, e := range l.objects.nodeClaims {
		e.object.Default()
		errs := append(e.object.Validate(),
			requirements.ValidateRequirements(e.object.Spec.Requirements, lookup, field.NewPath("spec", "requirements"))...)
		l.fieldProblems(e.origin, "NodeClaim "+e.object.Name, errs)
	}
	for _, e := range l.objects.nodeOverlays {
		e.object.Default()
		errs := append(e.object.Validate(),
			requirements.ValidateRequirements(e.object.Spec.Requirements, lookup, field.NewPath("spec", "requirements"))...)
		l.fieldProblems(e.origin, "NodeOverlay "+e.object.Name, errs)
	}
	for _, e := range l.objects.capacityBuffers {
		e.object.Default()
		l.fieldProblems(e.origin, "CapacityBuffer "+qualifiedName(e.object), e.object.Validate())
	}
	for _, e := range l.objects.requests {
		l.fieldProblems(e.origin, "ProvisioningRequest "+qualifiedName(e.object), e.object.Validate())
	}
	for _, e := range l.objects.nodeClasses {
		e.object.Default()
		l.fieldProblems(e.origin, objectName(classKeyOf(e).kind, e.object.GetName()), e.object.Validate())
	}
}

// ignoredValues adds warnings for values that the validation of requirements accepts and ignores.
func (l *loader) ignoredValues(e entry[*v1.NodePool], lookup *requirements.Lookup) {
	path := field.NewPath("spec", "template", "spec", "requirements")
	for _, text := range requirements.RequirementWarnings(e.object.Spec.Template.Spec.Requirements, lookup, path) {
		at, message, _ := strings.Cut(text, ": ")
		l.warn(e.origin, remark{
			code: WarningIgnoredValue, kind: v1.KindNodePool, name: poolKeyOf(e).String(), path: at, message: message, detail: message,
		})
	}
}

func (l *loader) vocabulary() requirements.Vocabulary {
	if l.opts.Vocabulary.IsZero() {
		return requirements.CoreVocabulary()
	}
	return l.opts.Vocabulary
}

// fieldProblems turns field errors into problems. Some kinds are validated twice. If both validations report the same error for a field,
// only the first report is used.
func (l *loader) fieldProblems(o origin, object string, errs field.ErrorList) {
	type statement struct {
		path string
		rule field.ErrorType
	}
	said := make(map[statement]bool, len(errs))
	for _, err := range errs {
		s := statement{err.Field, err.Type}
		if said[s] {
			continue
		}
		said[s] = true
		l.problem(o, ProblemInvalid, object, err.Field, err.ErrorBody())
	}
}

// validatePodSpec records problems of pod specs that can't be intended.
func (l *loader) validatePodSpec(o origin, kind, name, path string, spec *corev1.PodSpec) {
	containers := func(field string, list []corev1.Container) {
		for i := range list {
			// The path is only built if there is an error, because most pods have none.
			l.validateRequirements(o, kind, name, func() string {
				return fmt.Sprintf("%s.%s[%d].resources", path, field, i)
			}, &list[i].Resources)
		}
	}
	containers("initContainers", spec.InitContainers)
	containers("containers", spec.Containers)
	if spec.Resources != nil {
		l.validateRequirements(o, kind, name, func() string { return path + ".resources" }, spec.Resources)
	}
	l.validateAmounts(o, kind, name, path+".overhead", spec.Overhead)
	l.validatePlacement(o, kind, name, path, spec)
}

func (l *loader) validateRequirements(o origin, kind, name string, path func() string, r *corev1.ResourceRequirements) {
	for _, list := range []struct {
		field   string
		amounts corev1.ResourceList
	}{{"requests", r.Requests}, {"limits", r.Limits}} {
		for resource, amount := range list.amounts {
			if v, _ := judgeAmount(resource, amount); v != fine {
				l.validateAmounts(o, kind, name, path()+"."+list.field, list.amounts)
				break
			}
		}
	}
}

// validateAmounts judges the amounts of a list, in the order of their names.
func (l *loader) validateAmounts(o origin, kind, name, path string, list corev1.ResourceList) {
	if len(list) == 0 {
		return
	}
	for _, resource := range slices.Sorted(maps.Keys(list)) {
		verdict, message := judgeAmount(resource, list[resource])
		at := fmt.Sprintf("%s[%s]", path, resource)
		switch verdict {
		case impossible:
			l.problem(o, ProblemRequest, kind+" "+name, at, message)
		case unlikely:
			l.warn(o, remark{code: WarningRequest, kind: kind, name: name, path: at, message: message, detail: message})
		}
	}
}

// validateCounts refuses workloads in which a number of pods or completions, or the first ordinal, is negative.
func (l *loader) validateCounts() {
	check := func(o origin, object, path string, count *int32) {
		if count != nil && *count < 0 {
			l.problem(o, ProblemInvalid, object, path, fmt.Sprintf("must not be negative, but is %d", *count))
		}
	}
	for _, e := range l.objects.deployments {
		check(e.origin, "Deployment "+qualifiedName(e.object), "spec.replicas", e.object.Spec.Replicas)
	}
	for _, e := range l.objects.replicaSets {
		check(e.origin, "ReplicaSet "+qualifiedName(e.object), "spec.replicas", e.object.Spec.Replicas)
	}
	for _, e := range l.objects.statefulSets {
		name := "StatefulSet " + qualifiedName(e.object)
		check(e.origin, name, "spec.replicas", e.object.Spec.Replicas)
		if e.object.Spec.Ordinals != nil {
			check(e.origin, name, "spec.ordinals.start", &e.object.Spec.Ordinals.Start)
		}
	}
	for _, e := range l.objects.replicationControllers {
		check(e.origin, "ReplicationController "+qualifiedName(e.object), "spec.replicas", e.object.Spec.Replicas)
	}
	for _, e := range l.objects.jobs {
		name := "Job " + qualifiedName(e.object)
		check(e.origin, name, "spec.parallelism", e.object.Spec.Parallelism)
		check(e.origin, name, "spec.completions", e.object.Spec.Completions)
	}
	for _, e := range l.objects.cronJobs {
		name := "CronJob " + qualifiedName(e.object)
		check(e.origin, name, "spec.jobTemplate.spec.parallelism", e.object.Spec.JobTemplate.Spec.Parallelism)
		check(e.origin, name, "spec.jobTemplate.spec.completions", e.object.Spec.JobTemplate.Spec.Completions)
	}
}

// objectName returns a kind and name in the form of messages.
func objectName(kind, name string) string { return strings.TrimSpace(kind + " " + name) }

// validatePlacement refuses pods that the API server would refuse and that can't be planned: pods without containers (mostly truncated
// files), and invalid spreads and affinities.
func (l *loader) validatePlacement(o origin, kind, name, path string, spec *corev1.PodSpec) {
	refuse := func(at string, err *field.Error) {
		l.problem(o, ProblemInvalid, objectName(kind, name), path+"."+at, err.ErrorBody())
	}
	if len(spec.Containers) == 0 {
		refuse("containers", field.Required(nil,
			"a pod needs at least one container; add it, or see whether the text was cut off here"))
	}
	for i := range spec.TopologySpreadConstraints {
		validateSpread(fmt.Sprintf("topologySpreadConstraints[%d].", i), &spec.TopologySpreadConstraints[i], refuse)
	}
	if spec.Affinity == nil {
		return
	}
	if a := spec.Affinity.NodeAffinity; a != nil && a.RequiredDuringSchedulingIgnoredDuringExecution != nil {
		if n := len(a.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms); n > maxNodeSelectorTerms {
			refuse("affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms",
				field.TooMany(nil, n, maxNodeSelectorTerms))
		}
	}
	if a := spec.Affinity.PodAffinity; a != nil {
		validateAffinityTerms("affinity.podAffinity.", a.RequiredDuringSchedulingIgnoredDuringExecution,
			a.PreferredDuringSchedulingIgnoredDuringExecution, refuse)
	}
	if a := spec.Affinity.PodAntiAffinity; a != nil {
		validateAffinityTerms("affinity.podAntiAffinity.", a.RequiredDuringSchedulingIgnoredDuringExecution,
			a.PreferredDuringSchedulingIgnoredDuringExecution, refuse)
	}
}

// maxNodeSelectorTerms is the largest number of required node selector terms of a pod. The limit exists because planning processes each
// term separately.
const maxNodeSelectorTerms = 1000

// validateSpread checks one topology spread constraint. The parameter path ends in a dot.
func validateSpread(path string, c *corev1.TopologySpreadConstraint, refuse func(string, *field.Error)) {
	if c.MaxSkew <= 0 {
		refuse(path+"maxSkew", field.Invalid(nil, c.MaxSkew, "must be greater than zero; 1 spreads most evenly"))
	}
	if c.TopologyKey == "" {
		refuse(path+"topologyKey", requiredTopologyKey())
	}
	switch c.WhenUnsatisfiable {
	case corev1.DoNotSchedule, corev1.ScheduleAnyway:
	default:
		refuse(path+"whenUnsatisfiable", field.NotSupported(nil, c.WhenUnsatisfiable,
			[]corev1.UnsatisfiableConstraintAction{corev1.DoNotSchedule, corev1.ScheduleAnyway}))
	}
	switch {
	case c.MinDomains == nil:
	case *c.MinDomains <= 0:
		refuse(path+"minDomains", field.Invalid(nil, *c.MinDomains, "must be greater than zero; leave it out to ask for no number of domains"))
	case c.WhenUnsatisfiable == corev1.ScheduleAnyway:
		refuse(path+"minDomains", field.Invalid(nil, *c.MinDomains, "goes with whenUnsatisfiable DoNotSchedule only; leave out one of the two"))
	}
}

// validateAffinityTerms checks the terms of a pod affinity or anti-affinity. The parameter path ends in a dot.
func validateAffinityTerms(path string, required []corev1.PodAffinityTerm, preferred []corev1.WeightedPodAffinityTerm,
	refuse func(string, *field.Error)) {
	for i := range required {
		if required[i].TopologyKey == "" {
			refuse(fmt.Sprintf("%srequiredDuringSchedulingIgnoredDuringExecution[%d].topologyKey", path, i), requiredTopologyKey())
		}
	}
	for i := range preferred {
		if preferred[i].PodAffinityTerm.TopologyKey == "" {
			refuse(fmt.Sprintf("%spreferredDuringSchedulingIgnoredDuringExecution[%d].podAffinityTerm.topologyKey", path, i), requiredTopologyKey())
		}
	}
}

func requiredTopologyKey() *field.Error {
	return field.Required(nil, `must name a label of nodes, such as "`+corev1.LabelTopologyZone+`"`)
}

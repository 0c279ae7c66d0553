package manifests

import (
	"fmt"
	"maps"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/drawknife/drawknife/api/conversion"
	"github.com/drawknife/drawknife/api/kinds"
	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/api/v1alpha5"
	"github.com/drawknife/drawknife/api/v1beta1"
	"github.com/drawknife/drawknife/scheduling"
)

// Objects of all generations of the node autoscaling API are converted to v1. A converted object keeps the identity of its generation,
// because an object of v1alpha5 and an object of a later generation may have the same name.

// only returns a map with one entry: from the API version that is converted to the decoder of this version.
func only(version string, decode func(*loader, document)) map[string]func(*loader, document) {
	return map[string]func(*loader, document){version: decode}
}

// decodeOlder returns the decoder of an older kind, whose objects are converted to v1.
func decodeOlder(empty func() kinds.Object) func(*loader, document) {
	return func(l *loader, d document) {
		if l.opts.Oldest == v1.Version || l.opts.Oldest == v1beta1.Version && d.version != v1beta1.Version {
			l.problem(d.origin, ProblemVersion, d.groupKind.kind, "apiVersion",
				fmt.Sprintf("%s is of a generation before %s, the oldest generation to read; convert it", d.apiVersion, l.opts.Oldest))
			return
		}
		if l.opts.Conversion == nil {
			l.problem(d.origin, ProblemVersion, d.groupKind.kind, "apiVersion",
				fmt.Sprintf("%s is of an older generation, and there is no conversion for it here (Options.Conversion); convert it", d.apiVersion))
			return
		}
		object := empty()
		if l.fill(d, object) {
			l.objects.older = append(l.objects.older, entry[kinds.Object]{object: object, origin: d.origin})
		}
	}
}

// convertOlder converts all objects of older generations together, because a NodeClaim's lifetime is in its pool, which may be of any
// generation. For an object that can't be converted, it records a problem with all reasons.
func (l *loader) convertOlder() {
	older := l.objects.older
	if len(older) == 0 {
		return
	}
	objects := make([]kinds.Object, 0, len(older))
	for _, e := range older {
		objects = append(objects, e.object)
	}
	pools := make([]*v1.NodePool, 0, len(l.objects.nodePools))
	for _, e := range l.objects.nodePools {
		pools = append(pools, e.object)
	}
	results := l.opts.Conversion(objects, pools)
	if len(results) != len(older) {
		l.problem(older[0].origin, ProblemConversion, "", "", fmt.Sprintf("Options.Conversion gave %d results for %d objects", len(results), len(older)))
		return
	}
	for i, e := range older {
		for _, w := range results[i].Warnings {
			l.converted(e, w)
		}
		for _, b := range results[i].Objects {
			l.keepConverted(e, b)
		}
	}
}

// keepConverted stores the result of converting an object of an older generation.
func (l *loader) keepConverted(e entry[kinds.Object], b kinds.Born) {
	from, born := e.origin, b.Generation
	if born == v1.GenerationV1 {
		born = ""
	}
	switch object := b.Object.(type) {
	case *v1.NodePool:
		l.objects.nodePools = append(l.objects.nodePools, entry[*v1.NodePool]{object, from, born})
	case *v1.NodeClaim:
		l.objects.nodeClaims = append(l.objects.nodeClaims, entry[*v1.NodeClaim]{object, from, born})
	default:
		class, ok := object.(kinds.NodeClass)
		if !ok || !l.isNodeClass(kindOf(object)) {
			name := objectName(kindOf(e.object).kind, e.object.GetName())
			l.problem(from, ProblemConversion, name, "", fmt.Sprintf("was converted to a %T, which is not read", b.Object))
			return
		}
		l.objects.nodeClasses = append(l.objects.nodeClasses, entry[kinds.NodeClass]{class, from, born})
	}
}

// converted records a warning that a conversion or the check of its result has returned. If the severity is error, it records a problem.
func (l *loader) converted(e entry[kinds.Object], w conversion.Warning) {
	o := e.origin
	kind, name, _ := strings.Cut(w.Object, "/")
	source := conversion.Provenance{Source: e.object.GetObjectKind().GroupVersionKind()}
	if source.FirstGeneration() && (kind == v1.KindNodePool || kind == v1.KindNodeClaim || l.hasNodeClass(kind)) {
		name = string(v1.GenerationV1Alpha5) + "/" + name
	}
	if w.Severity == conversion.SeverityError {
		l.problem(o, ProblemConversion, objectName(kind, name), w.Path, string(w.Code)+" "+w.Message)
		return
	}
	l.warn(o, remark{code: WarningCode(w.Code), kind: kind, name: name, path: w.Path, message: w.Message, detail: w.Message})
}

// seedEmptiness sets the time since which a v1alpha5 node is empty. It reads the time from an annotation of the Node.
func seedEmptiness(n *scheduling.Node) {
	if n.Pool.Generation != v1.GenerationV1Alpha5 || n.Object == nil || n.Claim == nil || !n.Claim.Status.LastPodEventTime.IsZero() {
		return
	}
	since, err := time.Parse(time.RFC3339, n.Object.Annotations[v1alpha5.EmptinessTimestampAnnotationKey])
	if err == nil {
		n.Claim.Status.LastPodEventTime = metav1.NewTime(since)
	}
}

// oldNames renames annotations of pods from older generations, and reports pods that select the v1alpha5 label if no node has it.
func (l *loader) oldNames() {
	inUse := l.firstGenerationInUse()
	look := func(o origin, kind, name, metadata, path string, meta *metav1.ObjectMeta, spec *corev1.PodSpec) {
		l.renameDoNotEvict(o, kind, name, metadata, meta)
		if at := askedForProvisioner(spec); at != "" && !inUse {
			l.warn(o, remark{
				code: WarningOldLabel, kind: kind, name: name, path: path + "." + at, detail: at,
				message: fmt.Sprintf("no node of the input's pools has label %s: the label is now %s; rename it (examples/convert --workloads does)",
					v1alpha5.ProvisionerNameLabelKey, v1.NodePoolLabelKey),
			})
		}
	}
	for _, e := range l.objects.pods {
		look(e.origin, "Pod", qualifiedName(e.object), "metadata", "spec", &e.object.ObjectMeta, &e.object.Spec)
	}
	for _, t := range l.templates() {
		look(t.origin, t.kind, qualifiedName(t.object), t.path+".metadata", t.path+".spec", &t.template.ObjectMeta, &t.template.Spec)
	}
}

// firstGenerationInUse reports whether the v1alpha5 label can have an effect. This is the case if a pool was created as v1alpha5, or if a
// node has the label.
func (l *loader) firstGenerationInUse() bool {
	for _, e := range l.objects.nodePools {
		if e.born == v1.GenerationV1Alpha5 {
			return true
		}
	}
	for _, e := range l.objects.nodes {
		if e.object.Labels[v1alpha5.ProvisionerNameLabelKey] != "" {
			return true
		}
	}
	return false
}

// renameDoNotEvict replaces the annotation karpenter.sh/do-not-evict by karpenter.sh/do-not-disrupt, with a warning.
func (l *loader) renameDoNotEvict(o origin, kind, name, path string, meta *metav1.ObjectMeta) {
	const old = v1beta1.DoNotEvictAnnotationKey
	value, ok := meta.Annotations[old]
	if !ok {
		return
	}
	meta.Annotations = maps.Clone(meta.Annotations)
	delete(meta.Annotations, old)
	if _, taken := meta.Annotations[v1.DoNotDisruptAnnotationKey]; !taken || value == "true" {
		meta.Annotations[v1.DoNotDisruptAnnotationKey] = value
	}
	l.warn(o, remark{
		code: WarningCode(conversion.CodeWorkloadKeyRenamed), kind: kind, name: name, path: path + ".annotations[" + old + "]",
		message: old + " renamed to " + v1.DoNotDisruptAnnotationKey,
	})
}

// askedForProvisioner returns the field in which a pod selects nodes of a Provisioner, or spreads over these nodes. It returns "" if no
// field does so. It ignores requirements with the operators DoesNotExist and NotIn.
func askedForProvisioner(spec *corev1.PodSpec) string {
	const key = v1alpha5.ProvisionerNameLabelKey
	if _, ok := spec.NodeSelector[key]; ok {
		return "nodeSelector[" + key + "]"
	}
	if spec.Affinity != nil && spec.Affinity.NodeAffinity != nil {
		if required := spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution; required != nil {
			const path = "affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms"
			for i, term := range required.NodeSelectorTerms {
				for j, e := range term.MatchExpressions {
					if e.Key == key && e.Operator != corev1.NodeSelectorOpDoesNotExist && e.Operator != corev1.NodeSelectorOpNotIn {
						return fmt.Sprintf("%s[%d].matchExpressions[%d].key", path, i, j)
					}
				}
			}
		}
	}
	for i := range spec.TopologySpreadConstraints {
		if spec.TopologySpreadConstraints[i].TopologyKey == key {
			return fmt.Sprintf("topologySpreadConstraints[%d].topologyKey", i)
		}
	}
	return ""
}

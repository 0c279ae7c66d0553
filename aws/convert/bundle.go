package convert

import (
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/drawknife/drawknife/api/conversion"
	api "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/api/v1alpha5"
	"github.com/drawknife/drawknife/api/v1beta1"
	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	awsv1alpha1 "github.com/drawknife/drawknife/aws/api/v1alpha1"
	awsv1beta1 "github.com/drawknife/drawknife/aws/api/v1beta1"
)

// entry is one object during the conversion.
type entry struct {
	// document is the index of the document that the object came from.
	document int
	object   Object
	born     conversion.Provenance
}

// label returns "Kind/name" of the object in its current form.
func (e *entry) label() string { return Converted{Object: e.object}.name() }

// bundle contains all objects of one conversion.
type bundle struct {
	options Options
	// live means that the objects come from an API server, not from manifests.
	live    bool
	entries []*entry
	// refused contains the documents with an error, by index; nothing of them is in the result.
	refused map[int]bool
	// said has the warnings of each document, in the order of documents.
	said []conversion.Warnings
	// documents is the input of the conversion.
	documents []Document
	// judged has the paths of the errors that judge found in each document, so that conversions don't report these errors again.
	judged []map[string]bool
}

// note records warnings of a document. If a warning has severity error, the result has nothing of the document, unless Options.Force is
// set.
func (b *bundle) note(document int, warnings conversion.Warnings) {
	for _, w := range warnings {
		again := w.Code == conversion.CodeReferenceRefused && slices.ContainsFunc(b.said[document], func(said conversion.Warning) bool {
			return said.Code == w.Code && said.Path == w.Path
		})
		if !again && (w.Code != conversion.CodeResultInvalid || !b.judged[document][w.Path]) {
			b.said[document] = append(b.said[document], w)
		}
	}
	if warnings.Err() != nil && !b.options.Force {
		b.refused[document] = true
	}
}

func newBundle(documents []Document, options Options) *bundle {
	return &bundle{
		options: options, documents: documents, refused: make(map[int]bool), said: make([]conversion.Warnings, len(documents)),
		judged: make([]map[string]bool, len(documents)),
	}
}

// takeIn converts every document to v1beta1 or a later generation.
func (b *bundle) takeIn() {
	for i, d := range b.documents {
		b.said[i] = slices.Clone(d.Warnings)
		if d.Object == nil {
			b.refused[i] = true
			continue
		}
		kind := d.Object.GetObjectKind().GroupVersionKind()
		switch o := d.Object.(type) {
		case *v1alpha5.Provisioner:
			b.takeProvisioner(i, o)
		case *awsv1alpha1.AWSNodeTemplate:
			b.takeNodeTemplate(i, o)
		case *v1alpha5.Machine:
			b.takeInstance(i, o)
		case *unstructured.Unstructured:
			b.takeForeign(i, o)
		default:
			b.add(i, deepCopy(d.Object), conversion.Provenance{Source: kind, Name: d.Object.GetName()})
		}
	}
}

func (b *bundle) add(document int, object Object, born conversion.Provenance) {
	b.entries = append(b.entries, &entry{document: document, object: object, born: born})
}

// takeProvisioner adds the pool, and the node class that its inline provider block becomes. If the pool or the node class has an error,
// neither of the two is in the result.
func (b *bundle) takeProvisioner(i int, p *v1alpha5.Provisioner) {
	options := b.options.ProvisionerOptions()
	if b.live && !(b.options.Unadmitted && unadmitted(p)) {
		options.Defaults = nil
	}
	pool, warnings := p.ToV1Beta1(options)
	b.note(i, warnings)
	more := conversion.NewRecorder(v1alpha5.KindProvisioner, p.Name)
	spec := field.NewPath("spec")
	if s := b.options.Legacy; s != nil {
		if !b.live { // for objects from an API server, the caller handles EnablePodENI
			more.Add(conversion.CodePodENI, nil)
		}
		if pool != nil && s.unlimitedDensity() && limitDensity(pool) {
			more.Add(conversion.CodePodDensity, spec.Child("kubeletConfiguration", "maxPods"))
		}
	}
	if pool != nil && b.options.Target == V1Beta1 && len(pool.Spec.Template.Spec.Requirements) > mostRequirements {
		n := len(pool.Spec.Template.Spec.Requirements)
		more.Add(conversion.CodeManyRequirements, spec.Child("requirements"), strconv.Itoa(n))
	}
	var class Object
	var classBorn conversion.Provenance
	if p.Spec.Provider != nil {
		node, errs := awsv1alpha1.DecodeProvider(p.Name, p.Spec.Provider.Raw)
		more.AddInvalid(errs)
		if node != nil {
			beta, warnings := node.ToV1Beta1(b.nodeTemplateOptions(node))
			b.note(i, more.Warnings())
			more = conversion.NewRecorder(v1alpha5.KindProvisioner, p.Name)
			b.note(i, inProvider(warnings, p.Name))
			if beta != nil {
				class, classBorn = beta, node.Provenance()
				classBorn.Source = p.Provenance().Source
			}
		}
	}
	b.note(i, more.Warnings())
	if pool != nil {
		b.add(i, pool, p.Provenance())
	}
	if class != nil {
		b.add(i, class, classBorn)
	}
}

// mostRequirements is the largest number of requirements that early releases of v1beta1 accept.
const mostRequirements = 30

// inProvider converts the paths of an inline block to paths in its Provisioner.
func inProvider(warnings conversion.Warnings, name string) conversion.Warnings {
	out := slices.Clone(warnings)
	for i := range out {
		if out[i].Code == conversion.CodeResultInvalid {
			continue
		}
		out[i].Object = v1alpha5.KindProvisioner + "/" + name
		if rest, ok := strings.CutPrefix(out[i].Path, "spec"); ok {
			out[i].Path = "spec.provider" + rest
		}
	}
	return out
}

// limitDensity limits nodes of the pool to 110 pods and returns true. If the pool has its own limit, it returns false.
func limitDensity(p *v1beta1.NodePool) bool {
	const pods = 110
	spec := &p.Spec.Template.Spec
	if spec.Kubelet == nil {
		spec.Kubelet = &v1beta1.KubeletConfiguration{}
	}
	if spec.Kubelet.MaxPods != nil {
		return false
	}
	n := int32(pods)
	spec.Kubelet.MaxPods = &n
	return true
}

func (b *bundle) nodeTemplateOptions(n *awsv1alpha1.AWSNodeTemplate) awsv1alpha1.ConvertOptions {
	options := b.options.NodeTemplateOptions()
	if b.live {
		options.Identity = awsv1alpha1.IdentityKeep
		profiled := options.DefaultInstanceProfile != "" || n.Spec.InstanceProfile != nil && *n.Spec.InstanceProfile != ""
		if b.options.Unadmitted && !profiled {
			options.Identity = awsv1alpha1.IdentityRole
		}
	}
	return options
}

// unadmitted reports whether no API server has seen the object.
func unadmitted(o Object) bool {
	created := o.GetCreationTimestamp()
	return o.GetUID() == "" && created.IsZero()
}

func (b *bundle) takeNodeTemplate(i int, n *awsv1alpha1.AWSNodeTemplate) {
	class, warnings := n.ToV1Beta1(b.nodeTemplateOptions(n))
	b.note(i, warnings)
	if class != nil {
		class.Finalizers = slices.DeleteFunc(class.Finalizers, func(f string) bool { return f == awsv1alpha1.InterruptionFinalizer })
		b.add(i, class, n.Provenance())
	}
}

// takeInstance adds a Machine from an API server. It leaves out a Machine from a manifest, because Machines are replaced and not rewritten.
func (b *bundle) takeInstance(i int, m *v1alpha5.Machine) {
	if !b.live {
		more := conversion.NewRecorder(v1alpha5.KindMachine, m.Name)
		more.Add(conversion.CodeMachineSkipped, nil, m.Name)
		b.note(i, more.Warnings())
		return
	}
	claim, warnings := m.ToV1Beta1(b.options.ProvisionerOptions())
	b.note(i, warnings)
	if claim != nil {
		b.add(i, claim, m.Provenance())
	}
}

// takeForeign rewrites workloads from manifests if Options.Workloads is set, refuses unknown kinds of our own API groups, and leaves out
// all other objects.
func (b *bundle) takeForeign(i int, o *unstructured.Unstructured) {
	kind := o.GroupVersionKind()
	more := conversion.NewRecorder(kind.Kind, o.GetName())
	switch {
	case ourGroup(kind.Group):
		more.Add(conversion.CodeUnknownKind, nil, kind.Kind+" of "+kind.GroupVersion().String())
	case b.options.Workloads && !b.live && hasPods(o):
		changed, warnings := Workload(o, b.options)
		b.note(i, warnings)
		b.add(i, changed, conversion.Provenance{})
		return
	default:
		more.Add(conversion.CodeSkipped, nil, kind.Kind+" "+o.GetName())
	}
	b.note(i, more.Warnings())
}

// isClass reports whether a pool's reference means an EC2NodeClass.
func isClass(ref v1beta1.NodeClassReference) bool {
	group, _, _ := strings.Cut(ref.APIVersion, "/")
	return (group == "" || group == awsv1.Group) && (ref.Kind == "" || ref.Kind == awsv1.KindEC2NodeClass || ref.Kind == awsv1alpha1.KindAWSNodeTemplate)
}

// toV1 converts the remaining objects to v1, in the order of the input.
func (b *bundle) toV1() {
	expiries := b.expiries()
	for _, e := range b.entries {
		var warnings conversion.Warnings
		var out Object
		switch o := e.object.(type) {
		case *v1beta1.NodePool:
			hub, w := o.ToV1(b.options.NodePoolOptions())
			warnings = w
			if hub != nil {
				out = hub
			}
		case *v1beta1.NodeClaim:
			options := b.options.NodePoolOptions()
			options.OwnerExpireAfter = expiries[v1alpha5.PoolOf(o.Labels)]
			hub, w := o.ToV1(options)
			warnings = w
			if hub != nil {
				out = hub
			}
		case *awsv1beta1.EC2NodeClass:
			hub, w := o.ToV1(b.options.NodeClassOptions())
			warnings = w
			if hub != nil {
				out = hub
			}
		default:
			continue
		}
		if b.live {
			// An object from an API server keeps its kubelet block in the annotation.
			warnings = slices.DeleteFunc(warnings, func(w conversion.Warning) bool { return w.Code == conversion.CodeKubeletAnnotated })
		}
		e.object = out
		b.note(e.document, warnings)
	}
	b.entries = slices.DeleteFunc(b.entries, func(e *entry) bool { return e.object == nil })
}

// expiries returns the expireAfter of each pool's nodes.
func (b *bundle) expiries() map[api.PoolKey]api.NillableDuration {
	out := make(map[api.PoolKey]api.NillableDuration)
	for _, e := range b.entries {
		switch o := e.object.(type) {
		case *v1beta1.NodePool:
			pool := o.DeepCopy()
			pool.Default()
			out[Converted{Object: &api.NodePool{ObjectMeta: o.ObjectMeta}, Provenance: e.born}.PoolKey()] = pool.Spec.Disruption.ExpireAfter
		case *api.NodePool:
			pool := o.DeepCopy()
			pool.Default()
			out[api.NewPoolKey(o.Name)] = pool.Spec.Template.Spec.ExpireAfter
		}
	}
	return out
}

// result returns the remaining objects, in the order of the input.
func (b *bundle) result() Result {
	var out Result
	for _, e := range b.entries {
		if !b.refused[e.document] {
			out.Objects = append(out.Objects, Converted{Object: e.object, Document: e.document, Position: b.documents[e.document].Position, Provenance: e.born})
		}
	}
	for _, said := range b.said {
		out.Warnings = append(out.Warnings, said...)
	}
	out.ByDocument = b.said
	return out
}

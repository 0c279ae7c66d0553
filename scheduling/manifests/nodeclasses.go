package manifests

import (
	"cmp"
	"slices"
	"strings"

	"github.com/drawknife/drawknife/api/kinds"
	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/scheduling"
)

// The caller defines the kinds of node classes: Options.Kinds lists the kinds and their versions.

// addCloudKinds adds the kinds of Options.Kinds to those that planning reads. Values that are already known stay unchanged.
func (l *loader) addCloudKinds() {
	own := knownKinds()
	added := make(map[groupKind]kind)
	for _, k := range l.opts.Kinds.NodeClasses {
		key := groupKind{k.Group, k.Kind}
		if _, taken := own[key]; !taken && k.New != nil {
			added[key] = kind{version: k.Version, ours: true, nodeClass: true, decode: decodeNodeClass(k.New)}
		}
	}
	for _, k := range l.opts.Kinds.Older {
		key := groupKind{k.Group, k.Kind}
		if _, taken := own[key]; taken || k.New == nil {
			continue
		}
		of := added[key]
		of.ours = true
		if of.converted == nil {
			of.converted = make(map[string]func(*loader, document))
		}
		of.converted[k.Version] = decodeOlder(k.New)
		added[key] = of
	}
	for key, k := range added {
		l.kinds[key] = k
		l.strictGroups[key.group] = true
	}
}

// decodeNodeClass makes the decoder of a kind of node class.
func decodeNodeClass(empty func() kinds.NodeClass) func(*loader, document) {
	return func(l *loader, d document) {
		object := empty()
		if l.fill(d, object) {
			l.objects.nodeClasses = append(l.objects.nodeClasses, entry[kinds.NodeClass]{object: object, origin: d.origin})
		}
	}
}

// isNodeClass reports whether objects of the kind are read as node classes.
func (l *loader) isNodeClass(key groupKind) bool { return l.kinds[key].nodeClass }

// hasNodeClass reports whether objects of that name of a kind are, in whatever group.
func (l *loader) hasNodeClass(name string) bool {
	for key := range l.kinds {
		if key.kind == name && l.isNodeClass(key) {
			return true
		}
	}
	return false
}

// classKey is the identity of a node class.
type classKey struct {
	groupKind
	born v1.Generation
	name string
}

// kindOf returns what the object says it is.
func kindOf(object decodable) groupKind {
	gvk := object.GetObjectKind().GroupVersionKind()
	return groupKind{gvk.Group, gvk.Kind}
}

// classKeyOf returns the identity of a node class of the input.
func classKeyOf(e entry[kinds.NodeClass]) classKey {
	return classKey{kindOf(e.object), cmp.Or(e.born, v1.GenerationV1), e.object.GetName()}
}

// sortNodeClasses sorts node classes by name, and those of one name by kind.
func sortNodeClasses(entries []entry[kinds.NodeClass]) {
	slices.SortStableFunc(entries, func(a, b entry[kinds.NodeClass]) int {
		return cmp.Or(compareNames(a.object, b.object), strings.Compare(classKeyOf(a).String(), classKeyOf(b).String()))
	})
}

// NodeClassOf returns the node class that a pool of the snapshot refers to. It must belong to the pool's generation, where v1beta1 and v1
// count as one. It is nil if the input does not contain the class, or if Options.Kinds does not contain its kind.
func (r *Result) NodeClassOf(pool *scheduling.NodePool) kinds.NodeClass {
	if pool == nil || pool.Object == nil {
		return nil
	}
	ref := pool.Object.Spec.Template.Spec.NodeClassRef
	classes := r.NodeClasses
	if pool.Key.Generation == v1.GenerationV1Alpha5 {
		classes = r.FirstNodeClasses
	}
	i := slices.IndexFunc(classes, func(c kinds.NodeClass) bool {
		return c != nil && c.GetName() == ref.Name && kindOf(c) == groupKind{ref.Group, ref.Kind}
	})
	if i < 0 {
		return nil
	}
	return classes[i]
}

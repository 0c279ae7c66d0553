package manifests

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	sigsjson "sigs.k8s.io/json"

	"github.com/drawknife/drawknife/internal/quantities"
	"github.com/drawknife/drawknife/scheduling/manifests/internal/doctree"
)

// document is an object in the input that has not been decoded yet.
type document struct {
	origin     origin
	groupKind  groupKind
	apiVersion string
	kind       kind
	// older is true if the document's API version is older than the version in which this package reads the kind.
	older bool
	// version is the part of the field apiVersion after the group.
	version string
	text    []byte
}

// objectKey identifies an object. The input may have only one object with the same key.
type objectKey struct {
	groupKind
	namespace, name string
}

// qualifiedName is "namespace/name", or only the name of an object without a namespace.
func qualifiedName(o metav1.Object) string {
	if o.GetNamespace() == "" {
		return o.GetName()
	}
	return o.GetNamespace() + "/" + o.GetName()
}

// readObject determines the kind of an object and decodes it.
func (l *loader) readObject(o origin, h header, text []byte) {
	l.count++
	if l.count > l.limits.Objects {
		if l.count == l.limits.Objects+1 {
			l.problem(o, ProblemTooLarge, "", "", fmt.Sprintf("the input has more than %d objects", l.limits.Objects))
		}
		return
	}
	hint := toolFile(l.sources[o.source].Name, h)
	switch {
	case hint != "" && !l.opts.Strict:
		l.warn(o, remark{code: WarningToolFile, message: hint + "; left out", detail: l.sources[o.source].Name})
		return
	case hint != "":
		l.problem(o, ProblemMalformed, h.kind, "kind", hint)
		return
	case h.kind == "":
		l.problem(o, ProblemMalformed, "", "kind", "must say what kind of object it is")
		return
	case h.apiVersion == "":
		l.problem(o, ProblemMalformed, h.kind, "apiVersion", "must be given")
		return
	}
	d := document{origin: o, apiVersion: h.apiVersion, text: text}
	group, version, grouped := strings.Cut(h.apiVersion, "/")
	if !grouped {
		group, version = "", h.apiVersion
	}
	d.groupKind = groupKind{group, h.kind}
	var known bool
	d.kind, known = l.kinds[d.groupKind]
	d.version = version
	var readable bool
	d.older, readable = d.kind.reads(version)
	switch convertible := d.kind.converted[version]; {
	case !known && l.custom[d.groupKind] != nil && l.readCustom(d, l.custom[d.groupKind]):
	case !known && isScaler(d.groupKind) && l.readScaler(d):
	case !known && !l.strictGroups[group]:
		l.skip(d)
	case convertible != nil:
		convertible(l, d)
	case !known || !readable: // the kind or its version is unknown
		l.problem(o, ProblemVersion, h.kind, "apiVersion", l.unknownVersion(d))
	default:
		if d.older {
			l.warn(o, remark{
				code: WarningOldVersion, kind: d.groupKind.String(), path: "apiVersion", detail: h.apiVersion,
				message: fmt.Sprintf("%s was replaced by a newer version; read as that version", h.apiVersion),
			})
		}
		d.kind.decode(l, d)
	}
}

// unknownVersion explains why an object can't be read whose kind or version is unknown.
func (l *loader) unknownVersion(d document) string {
	versions := slices.Sorted(maps.Keys(d.kind.converted))
	if d.kind.version != "" {
		versions = append(versions, d.kind.version)
	}
	if len(versions) > 0 {
		return fmt.Sprintf("kind %s is not known in apiVersion %s; convert it to %s", d.groupKind.kind, d.apiVersion,
			strings.TrimPrefix(d.groupKind.group+"/"+versions[len(versions)-1], "/"))
	}
	return fmt.Sprintf("apiVersion %s has no kind %s that is known here; skipping it could change the plan, so take it out or convert it",
		d.apiVersion, d.groupKind.kind)
}

func (l *loader) skip(d document) {
	name := d.groupKind.String()
	l.skipped[name]++
	switch podMakingOf(d) {
	case makesPods:
		l.podMakers[name]++
	case makesPodsLikeKind:
		l.likePodMakers[name]++
	}
	l.warn(d.origin, remark{
		code: WarningUnknownKind, kind: name,
		message: "planning does not read this kind; its objects are left out",
	})
}

// decodable contains the methods of a Kubernetes object.
type decodable interface {
	metav1.Object
	GetObjectKind() schema.ObjectKind
}

// pointer is the type *T, if it is a Kubernetes object.
type pointer[T any] interface {
	*T
	decodable
}

// decodeInto returns the decoder of a kind. The function place returns the list to which the decoder adds the objects.
func decodeInto[P pointer[T], T any](place func(*objects) *[]entry[P]) func(*loader, document) {
	return func(l *loader, d document) {
		object := P(new(T))
		if !l.fill(d, object) {
			return
		}
		if d.older && d.kind.upgrade != nil {
			d.kind.upgrade(object)
		}
		l.noteGroup(d, object)
		kept := place(&l.objects)
		*kept = append(*kept, entry[P]{object: object, origin: d.origin})
	}
}

// fill decodes a document into the empty object, and reports whether the caller must add the object to the objects of its kind.
func (l *loader) fill(d document, object decodable) bool {
	strict, err := decodeStrict(d.text, object)
	if err != nil {
		l.undecodable(d, reflect.Indirect(reflect.ValueOf(object)).Type(), err)
		return false
	}
	if !l.accept(d, object) {
		return false
	}
	for _, err := range strict {
		l.warnField(d, qualifiedName(object), err)
	}
	return true
}

// decodeStrict decodes an object, and returns unknown and repeated fields as a list of errors. Before it decodes the object, it refuses
// quantities that would take minutes to parse.
func decodeStrict(text []byte, object any) ([]error, error) {
	if err := quantities.CheckJSON(text, reflect.TypeOf(object)); err != nil {
		return nil, err
	}
	return sigsjson.UnmarshalStrict(text, object)
}

// undecodable records a problem for each field of the object that has the wrong type, or for the position of a syntax error.
func (l *loader) undecodable(d document, into reflect.Type, err error) {
	if l.problems.full() {
		return
	}
	name := l.nameOf(d)
	if syntax, offset := sigsjson.SyntaxErrorOffset(err); syntax && d.origin.json {
		l.malformedAt(d.origin, d.origin.at.Start+max(int(offset)-1, 0), err)
		return
	}
	root, offset := l.tree(d.origin)
	var wrong []doctree.WrongField
	if root != nil {
		wrong = doctree.WrongFields(root, into)
	}
	if len(wrong) == 0 {
		l.problem(d.origin, ProblemType, name, "", strings.TrimPrefix(err.Error(), "json: "))
		return
	}
	for _, w := range wrong {
		position := l.position(d.origin, "")
		position.Line = offset + w.Line
		l.problems.add(&Problem{Position: position, Code: ProblemType, Object: name, Path: w.Path, Message: w.Message})
	}
}

// nameOf returns "Kind namespace/name" for messages. It leaves out the parts that the text does not contain.
func (l *loader) nameOf(d document) string {
	root, _ := l.tree(d.origin)
	if root == nil {
		return d.groupKind.kind
	}
	var meta metav1.ObjectMeta
	if metadata := child(root, "metadata"); metadata != nil {
		for field, into := range map[string]*string{"namespace": &meta.Namespace, "name": &meta.Name} {
			if n := child(metadata, field); n != nil {
				*into = n.Value
			}
		}
	}
	if d.kind.namespaced && meta.Namespace == "" && meta.Name != "" {
		meta.Namespace = l.opts.Namespace
	}
	return strings.TrimSpace(d.groupKind.kind + " " + qualifiedName(&meta))
}

// accept completes the metadata of an object. It refuses the object if its name is not valid, or if the input already has an object with
// the same key.
func (l *loader) accept(d document, object decodable) bool {
	object.SetManagedFields(nil) // planning does not use managed fields, which are often more than half of an object
	if d.kind.ours {
		object.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{
			Group: d.groupKind.group, Version: d.keptVersion(), Kind: d.groupKind.kind,
		})
	} else {
		object.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{}) // typed clients also return objects without apiVersion and kind
	}
	switch {
	case !d.kind.namespaced:
		object.SetNamespace("")
	case object.GetNamespace() == "":
		object.SetNamespace(l.opts.Namespace)
	}
	if object.GetName() == "" && object.GetGenerateName() != "" {
		object.SetName(l.generateName(d, object))
	}
	if rule := nameProblem(object.GetName()); rule != "" {
		l.problem(d.origin, ProblemInvalid, d.groupKind.kind, "metadata.name", rule)
		return false
	}
	key := objectKey{l.canonical(d.groupKind), object.GetNamespace(), object.GetName()}
	first, exists := l.seen[key]
	if l.superseded(d, key, object, exists) {
		return false
	}
	if !exists {
		l.seen[key] = d.origin
		l.keepForReplacing(d, key, object)
		return true
	}
	if l.replaces(first, d.origin) {
		l.replace(d, key, object)
		return false
	}
	if l.problems.full() {
		return false
	}
	position := l.position(first, "")
	l.problems.add(&Problem{
		Position: l.position(d.origin, ""), Code: ProblemDuplicate,
		Object: d.groupKind.kind + " " + qualifiedName(object), First: &position,
		Message: fmt.Sprintf("is given twice, first in %s; remove one of them", position),
	})
	return false
}

// keptVersion returns the version that the object states after it is decoded.
func (d document) keptVersion() string {
	if d.kind.converted[d.version] != nil {
		return d.version
	}
	return d.kind.version
}

// canonical maps the old API group of a workload to the current one if the objects are the same.
func (l *loader) canonical(g groupKind) groupKind {
	if g.group == "extensions" {
		g.group = "apps"
	}
	return g
}

// generateName returns a name with the prefix in metadata.generateName. The API server appends five random characters to the prefix. This
// function appends the lowest number that makes the name unique.
func (l *loader) generateName(d document, object metav1.Object) string {
	key := objectKey{l.canonical(d.groupKind), object.GetNamespace(), ""}
	for i := l.generated[objectKey{key.groupKind, key.namespace, object.GetGenerateName()}]; ; i++ {
		key.name = fmt.Sprintf("%s%d", object.GetGenerateName(), i)
		if _, taken := l.seen[key]; !taken {
			l.generated[objectKey{key.groupKind, key.namespace, object.GetGenerateName()}] = i + 1
			return key.name
		}
	}
}

// nameProblem returns what is wrong with an object's name, or "" if it is valid.
func nameProblem(name string) string {
	const maxLength = 253
	switch {
	case name == "":
		return "must be given"
	case len(name) > maxLength:
		return fmt.Sprintf("must have at most %d characters, not %d", maxLength, len(name))
	}
	for i := 0; i < len(name); i++ {
		c := name[i]
		inner := c == '-' || c == '.'
		if !('a' <= c && c <= 'z' || '0' <= c && c <= '9' || inner && i > 0 && i < len(name)-1) {
			return fmt.Sprintf("%q must consist of lower-case letters, digits, '-' and '.', and start and end with a letter or digit", name)
		}
	}
	return ""
}

// warnField adds a warning for an error that a strict decoder found.
func (l *loader) warnField(d document, name string, err error) {
	fieldErr, ok := err.(sigsjson.FieldError)
	if !ok {
		return
	}
	path := fieldErr.FieldPath()
	if strings.HasSuffix(path, ".spec."+fieldSchedulingGroup) || path == "spec."+fieldSchedulingGroup {
		return // see noteGroup
	}
	r := remark{
		code: WarningUnknownField, kind: d.groupKind.kind, name: name, path: path,
		message: "the kind has no such field; it is ignored",
	}
	if strings.HasPrefix(err.Error(), "duplicate") {
		r.code, r.message = WarningDuplicateField, "the field is given twice; the last one counts"
	}
	if l.opts.Strict {
		message := "the kind has no such field; take it out"
		if r.code == WarningDuplicateField {
			message = "the field is given twice; leave one of them"
		}
		l.problem(d.origin, ProblemUnknownField, objectName(r.kind, name), path, message)
		return
	}
	l.warn(d.origin, r)
}

// sortEntries sorts objects by namespace and name.
func sortEntries[P metav1.Object](entries []entry[P]) {
	slices.SortFunc(entries, func(a, b entry[P]) int { return compareNames(a.object, b.object) })
}

func compareNames(a, b metav1.Object) int {
	if c := strings.Compare(a.GetNamespace(), b.GetNamespace()); c != 0 {
		return c
	}
	return strings.Compare(a.GetName(), b.GetName())
}

// listOf returns the objects without their origins.
func listOf[P any](entries []entry[P]) []P {
	if len(entries) == 0 {
		return nil
	}
	out := make([]P, len(entries))
	for i := range entries {
		out[i] = entries[i].object
	}
	return out
}

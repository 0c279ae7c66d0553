package manifests

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/drawknife/drawknife/api/conversion"
	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/api/v1alpha5"
	"github.com/drawknife/drawknife/api/v1beta1"
	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	"github.com/drawknife/drawknife/aws/convert"
	"github.com/drawknife/drawknife/scheduling"
)

// Objects of all generations of the node autoscaling API come out in the form of v1, and keep the identity they were born
// with: those of the first generation have names of their own.

// only is the decoder of the one version that is converted.
func only(version string, decode func(*loader, document)) map[string]func(*loader, document) {
	return map[string]func(*loader, document){version: decode}
}

// olderObject is what *T of an older generation can do.
type olderObject[T any] interface {
	*T
	convert.Object
}

// decodeOlder makes the decoder of a kind that is converted.
func decodeOlder[P olderObject[T], T any]() func(*loader, document) {
	return func(l *loader, d document) {
		if l.opts.Oldest == v1.Version || l.opts.Oldest == v1beta1.Version && d.version != v1beta1.Version {
			l.problem(d.origin, ProblemVersion, d.groupKind.kind, "apiVersion",
				fmt.Sprintf("%s is of a generation before %s, which is not to be read; convert it", d.apiVersion, l.opts.Oldest))
			return
		}
		object := P(new(T))
		strict, err := decodeStrict(d.text, object)
		if err != nil {
			l.undecodable(d, reflect.TypeFor[T](), err)
			return
		}
		if !l.accept(d, object) {
			return
		}
		for _, err := range strict {
			l.warnField(d, object.GetName(), err)
		}
		l.objects.older = append(l.objects.older, entry[convert.Object]{object: object, origin: d.origin})
	}
}

// convertOlder converts what is of older generations, all together: how long the nodes of a NodeClaim live, its pool says, of
// whichever generation. An object that can't be converted is a problem with all its reasons.
func (l *loader) convertOlder() {
	older := l.objects.older
	if len(older) == 0 {
		return
	}
	documents := make([]convert.Document, 0, len(older)+len(l.objects.nodePools))
	for _, e := range older {
		documents = append(documents, convert.Document{Object: e.object})
	}
	for _, e := range l.objects.nodePools {
		documents = append(documents, convert.Document{Object: e.object})
	}
	options := l.opts.Conversion
	options.Unadmitted = true
	result := convert.Read(documents, options)
	for i, e := range older {
		for _, w := range result.ByDocument[i] {
			l.converted(e, w)
		}
	}
	for _, c := range result.Objects {
		if c.Document >= len(older) {
			continue
		}
		from, born := older[c.Document].origin, c.Generation()
		if born == v1.GenerationV1 {
			born = ""
		}
		switch object := c.Object.(type) {
		case *v1.NodePool:
			l.objects.nodePools = append(l.objects.nodePools, entry[*v1.NodePool]{object, from, born})
		case *v1.NodeClaim:
			l.objects.nodeClaims = append(l.objects.nodeClaims, entry[*v1.NodeClaim]{object, from, born})
		case *awsv1.EC2NodeClass:
			l.objects.nodeClasses = append(l.objects.nodeClasses, entry[*awsv1.EC2NodeClass]{object, from, born})
		}
	}
}

// converted passes on what a conversion says of an object, or of what has become of it.
func (l *loader) converted(e entry[convert.Object], w conversion.Warning) {
	o := e.origin
	kind, name, _ := strings.Cut(w.Object, "/")
	source := conversion.Provenance{Source: e.object.GetObjectKind().GroupVersionKind()}
	if source.FirstGeneration() && slices.Contains([]string{v1.KindNodePool, v1.KindNodeClaim, awsv1.KindEC2NodeClass}, kind) {
		name = string(v1.GenerationV1Alpha5) + "/" + name
	}
	if w.Severity == conversion.SeverityError {
		l.problem(o, ProblemConversion, objectName(kind, name), w.Path, string(w.Code)+" "+w.Message)
		return
	}
	l.warn(o, remark{code: WarningCode(w.Code), kind: kind, name: name, path: w.Path, message: w.Message, detail: w.Message})
}

// seedEmptiness gives a machine of the first generation the time since which it is empty, which its node says in an
// annotation.
func seedEmptiness(n *scheduling.Node) {
	if n.Pool.Generation != v1.GenerationV1Alpha5 || n.Object == nil || n.Claim == nil || !n.Claim.Status.LastPodEventTime.IsZero() {
		return
	}
	since, err := time.Parse(time.RFC3339, n.Object.Annotations[v1alpha5.EmptinessTimestampAnnotationKey])
	if err == nil {
		n.Claim.Status.LastPodEventTime = metav1.NewTime(since)
	}
}

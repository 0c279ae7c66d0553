package scheduling

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/api/requirements"
	v1 "github.com/drawknife/drawknife/api/v1"
)

// Model is a Snapshot made ready for planning: labels, resources and pods turned into numbers. It is immutable and
// safe for concurrent use; any number of Solve and Trial calls may run on one Model.
type Model struct {
	snapshot  *Snapshot
	vocab     *requirements.Lookup
	podVocab  *requirements.Lookup
	resources *resourceTable

	catalogs  map[string]*catalog
	tables    map[string]*table
	pools     []*pool // heaviest first
	poolIndex map[v1.PoolKey]int

	classes    []*class
	shapes     []*shape
	stages     []stage
	stageOf    map[string]int32
	classIndex map[string]int32
	shapeIndex map[string]int32
	// podClass is indexed like Snapshot.Pods.
	podClass []int32

	daemonSets []daemon
	nodes      []node
	nodeIndex  map[string]int
	groups     []nodeGroup
	// askedKeys are the label keys that some pod or DaemonSet asks about.
	askedKeys map[string]bool
	// free is indexed [node*resources+resource].
	free []int64
	// compat remembers, [shape*groups+group], whether machines of the group accept the shape: 0 unknown, 1 no, 2 yes.
	compat []atomic.Uint32
}

// SnapshotError says what is wrong with a Snapshot.
type SnapshotError struct {
	// Path of the field, from the snapshot's root.
	Path string
	// Rule that it breaks, to be read after the path.
	Rule string
	// Cure is what to do.
	Cure string
}

// Error is "path rule: cure".
func (e *SnapshotError) Error() string {
	return fmt.Sprintf("snapshot: %s %s: %s", e.Path, e.Rule, e.Cure)
}

// Compile makes a Model of the snapshot. It refuses a snapshot that contradicts itself with a *SnapshotError; a pod
// that can't be planned is no error, the plan explains it. The snapshot must not be changed afterwards.
func Compile(s *Snapshot) (*Model, error) {
	return compile(s, nil)
}

// Update makes a Model of a later snapshot: the same as Compile(s), but what has not changed since m is shared, so that
// the cost is that of the change. Catalogs are recognised by identity: keep the same slices for the same instance
// types. m stays valid.
func (m *Model) Update(s *Snapshot) (*Model, error) {
	return compile(s, m)
}

func compile(s *Snapshot, previous *Model) (*Model, error) {
	if s == nil {
		return nil, errors.New("scheduling: the snapshot is nil")
	}
	vocabulary := s.Vocabulary
	if vocabulary.IsZero() {
		vocabulary = requirements.CoreVocabulary()
	}
	unrestricted := vocabulary
	unrestricted.RestrictedDomains, unrestricted.RestrictedKeys = nil, nil
	m := &Model{
		snapshot: s, vocab: vocabulary.Compile(), podVocab: unrestricted.Compile(), resources: newResourceTable(),
		catalogs: map[string]*catalog{}, tables: map[string]*table{},
		stageOf: map[string]int32{}, classIndex: map[string]int32{}, shapeIndex: map[string]int32{}, askedKeys: map[string]bool{},
	}
	m.collectResources(s)
	if err := m.compileCatalogs(s, previous); err != nil {
		return nil, err
	}
	w := &keyWriter{resources: m.resources, requests: make([]int64, m.resources.len())}
	m.compileDaemons(s)
	if err := m.compilePools(s); err != nil {
		return nil, err
	}
	if err := m.compilePods(s, w); err != nil {
		return nil, err
	}
	if err := m.compileNodes(s, w); err != nil {
		return nil, err
	}
	for _, c := range m.classes {
		if c.invalid == nil {
			c.stages = m.usableStages(m.shapes[c.shape], c.requests)
		}
	}
	for _, c := range m.catalogs {
		c.frozen = true
	}
	return m, nil
}

func (m *Model) collectResources(s *Snapshot) {
	names := map[corev1.ResourceName]struct{}{}
	for _, pod := range s.Pods {
		if pod != nil {
			resourceNames(pod, names)
		}
	}
	for i := range s.Nodes {
		for _, pod := range s.Nodes[i].Pods {
			resourceNames(pod, names)
		}
	}
	for _, set := range s.DaemonSets {
		resourceNames(&corev1.Pod{Spec: set.Spec.Template.Spec}, names)
		for i := range set.Spec.Template.Spec.Containers {
			for name := range set.Spec.Template.Spec.Containers[i].Resources.Limits {
				names[name] = struct{}{}
			}
		}
	}
	m.resources.internAll(names)
}

func (m *Model) compileCatalogs(s *Snapshot, previous *Model) error {
	names := make([]string, 0, len(s.Catalogs))
	for name := range s.Catalogs {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		types := s.Catalogs[name]
		if previous != nil {
			if old, ok := previous.catalogs[name]; ok && sameList(old.types, types) && slices.Equal(previous.snapshot.Vocabulary.WellKnown, s.Vocabulary.WellKnown) {
				m.catalogs[name] = old
				continue
			}
		}
		c, err := compileCatalog(name, types)
		if err != nil {
			return err
		}
		m.catalogs[name] = c
	}
	return nil
}

// sameList reports whether both are the very same slice.
func sameList[T any](a, b []T) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}

func (m *Model) compileDaemons(s *Snapshot) {
	newest := representatives(s.Nodes)
	sets := slices.Clone(s.DaemonSets)
	slices.SortStableFunc(sets, func(a, b *appsv1.DaemonSet) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	for _, set := range sets {
		pod := representative(set, newest)
		terms, err := m.requiredTerms(&pod.Spec)
		if err != nil {
			continue // matches no node
		}
		d := daemon{set: set, requests: make([]int64, m.resources.len()), tolerations: pod.Spec.Tolerations, terms: terms}
		m.resources.requestVector(PodRequests(pod), d.requests)
		for _, t := range terms {
			m.ask(t)
		}
		m.daemonSets = append(m.daemonSets, d)
	}
}

func (m *Model) ask(set requirements.Set) {
	for _, key := range set.Keys() {
		m.askedKeys[key] = true
	}
}

// compilePods classes the waiting pods.
func (m *Model) compilePods(s *Snapshot, w *keyWriter) error {
	m.podClass = make([]int32, len(s.Pods))
	seen := make(map[PodKey]struct{}, len(s.Pods))
	for i, pod := range s.Pods {
		if pod == nil {
			return &SnapshotError{Path: fmt.Sprintf("pods[%d]", i), Rule: "is null", Cure: "leave it out"}
		}
		key := PodKey{pod.Namespace, pod.Name}
		if _, twice := seen[key]; twice {
			return &SnapshotError{Path: fmt.Sprintf("pods[%d]", i), Rule: fmt.Sprintf("is a second pod %s", key), Cure: "namespace and name are unique over all pods"}
		}
		seen[key] = struct{}{}
		c := m.classOf(pod, w)
		m.podClass[i] = c
		m.classes[c].pending = append(m.classes[c].pending, int32(i))
	}
	return nil
}

// classOf finds the pod's class or makes it.
func (m *Model) classOf(pod *corev1.Pod, w *keyWriter) int32 {
	text := w.write(pod)
	if c, ok := m.classIndex[string(text)]; ok {
		return c
	}
	c := &class{sample: pod, requests: slices.Clone(w.requests)}
	shapeText := string(text[w.shapeAt:])
	n, ok := m.shapeIndex[shapeText]
	if !ok {
		n = int32(len(m.shapes))
		m.shapes = append(m.shapes, m.newShape(pod))
		m.shapeIndex[shapeText] = n
	}
	c.shape = n
	if c.invalid = checkAmounts(PodRequests(pod)); c.invalid == nil {
		c.invalid = m.shapes[n].invalid
	}
	at := int32(len(m.classes))
	m.classes = append(m.classes, c)
	m.classIndex[string(text)] = at
	return at
}

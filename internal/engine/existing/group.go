package existing

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/api/requirements"
	"github.com/drawknife/drawknife/internal/engine/match"
	"github.com/drawknife/drawknife/internal/engine/podtext"
)

// Group has the common properties of the nodes of a group: their taints, and the labels that shapes of pods use.
type Group struct {
	Labels requirements.Set
	Taints []corev1.Taint
	// Text identifies the group: equal groups have equal texts.
	Text string
}

// Groups lists the groups of nodes in the order in which they were found.
type Groups struct {
	List []Group
	// Asked are the label keys that pods or rules use, in their canonical spelling.
	Asked map[string]bool
	vocab *requirements.Lookup
	// aliases maps other spellings of label keys to the canonical spellings.
	aliases map[string]string
	known   map[string]int32
}

// NewGroups returns an empty list of groups.
func NewGroups(asked map[string]bool, vocab *requirements.Lookup, aliases map[string]string) *Groups {
	return &Groups{Asked: asked, vocab: vocab, aliases: aliases, known: make(map[string]int32)}
}

// add returns the number of the listed group that equals the parameter group. If there is no such group in the list, it adds the parameter.
func (g *Groups) add(group Group) int32 {
	if n, ok := g.known[group.Text]; ok {
		return n
	}
	n := int32(len(g.List))
	g.List = append(g.List, group)
	g.known[group.Text] = n
	return n
}

// Number returns the number of the group of nodes that have the view's taints and the view's values of the labels in Asked. It adds the
// group if it is new.
func (g *Groups) Number(view *View) int32 {
	labels := make(map[string]string, len(g.Asked))
	for k, v := range view.Labels {
		canonical := g.vocab.Canonical(k)
		if _, own := view.Labels[canonical]; own && canonical != k {
			continue // ignore the other spelling, because the node also has the label with the canonical spelling
		}
		if g.Asked[canonical] {
			labels[canonical] = g.vocab.CanonicalValue(canonical, v)
		}
	}
	if g.Asked[match.NodeName] && view.name != "" {
		labels[match.NodeName] = view.name
	}
	set := requirements.FromLabels(labels)
	text := set.String()
	for i := range view.taints {
		text += "\x00" + match.TaintString(view.taints[i])
	}
	return g.add(Group{Labels: set, Taints: view.taints, Text: text})
}

// spellings returns a sorted list of the label keys and their aliases.
func (g *Groups) spellings(keys map[string]bool) []string {
	out := slices.Collect(maps.Keys(keys))
	for alias := range g.aliases {
		if keys[g.vocab.Canonical(alias)] && !keys[alias] {
			out = append(out, alias)
		}
	}
	slices.Sort(out)
	return out
}

// Grouping assigns nodes to groups one after another. It compares taints and relevant labels as they are spelled on nodes. This is faster
// than converting labels to their canonical spelling first.
type Grouping struct {
	*Groups
	spelled []string
	texts   map[string]int32
	writer  podtext.Writer
}

// NewGrouping returns a Grouping that groups nodes by their taints and the labels in g.Asked.
func NewGrouping(g *Groups) *Grouping {
	return &Grouping{Groups: g, spelled: g.spellings(g.Asked), texts: make(map[string]int32)}
}

// Of returns the group of a node.
func (g *Grouping) Of(view *View) int32 {
	w := &g.writer
	w.Buf = w.Buf[:0]
	writeValues(w, view.Labels, g.spelled)
	g.writeName(w, view)
	for i := range view.taints {
		t := &view.taints[i]
		w.Text(t.Key)
		w.Text(t.Value)
		w.Text(string(t.Effect))
	}
	if n, known := g.texts[string(w.Buf)]; known {
		return n
	}
	n := g.Number(view)
	g.texts[string(w.Buf)] = n
	return n
}

// writeValues writes the labels' values for the given keys.
func writeValues(w *podtext.Writer, labels map[string]string, keys []string) {
	for _, key := range keys {
		if value, has := labels[key]; has {
			w.Number(1)
			w.Text(value)
		} else {
			w.Number(0)
		}
	}
}

// writeName writes the node's name if pods select nodes by name.
func (g *Groups) writeName(w *podtext.Writer, view *View) {
	if g.Asked[match.NodeName] {
		w.Text(view.name)
	}
}

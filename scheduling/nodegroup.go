package scheduling

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/api/requirements"
	"github.com/drawknife/drawknife/internal/engine/match"
	"github.com/drawknife/drawknife/internal/engine/podtext"
)

// nodeGroup is what machines have in common for every shape: taints and those labels that some shape asks about.
type nodeGroup struct {
	labels requirements.Set
	taints []corev1.Taint
	// text tells the group from others.
	text string
}

// groups are those of the nodes, as far as they were come upon.
type groups struct {
	list []nodeGroup
	// asked are the label keys that somebody asks about, in their canonical spelling.
	asked map[string]bool
	vocab *requirements.Lookup
	// aliases are other spellings of labels.
	aliases map[string]string
	known   map[string]int32
}

// newGroups are no groups yet.
func newGroups(asked map[string]bool, vocab *requirements.Lookup, aliases map[string]string) *groups {
	return &groups{asked: asked, vocab: vocab, aliases: aliases, known: make(map[string]int32)}
}

// add is the number of a group like the given one.
func (g *groups) add(group nodeGroup) int32 {
	if n, ok := g.known[group.text]; ok {
		return n
	}
	n := int32(len(g.list))
	g.list = append(g.list, group)
	g.known[group.text] = n
	return n
}

// number finds or makes the group of machines with the same taints and the same values of the labels asked about.
func (g *groups) number(view *nodeView) int32 {
	labels := make(map[string]string, len(g.asked))
	for k, v := range view.labels {
		canonical := g.vocab.Canonical(k)
		if _, own := view.labels[canonical]; own && canonical != k {
			continue // the canonical label speaks for itself
		}
		if g.asked[canonical] {
			labels[canonical] = g.vocab.CanonicalValue(canonical, v)
		}
	}
	if g.asked[match.NodeName] && view.name != "" {
		labels[match.NodeName] = view.name
	}
	set := requirements.FromLabels(labels)
	text := set.String()
	for i := range view.taints {
		text += "\x00" + match.TaintString(view.taints[i])
	}
	return g.add(nodeGroup{labels: set, taints: view.taints, text: text})
}

// spellings are the keys and their aliases, sorted.
func (g *groups) spellings(keys map[string]bool) []string {
	out := slices.Collect(maps.Keys(keys))
	for alias := range g.aliases {
		if keys[g.vocab.Canonical(alias)] && !keys[alias] {
			out = append(out, alias)
		}
	}
	slices.Sort(out)
	return out
}

// grouping finds the groups of machines while a model is compiled, by the labels that are asked about and the taints as
// machines spell them: that is less work than to spell out all in one way.
type grouping struct {
	*groups
	spelled []string
	texts   map[string]int32
	writer  podtext.Writer
}

// newGrouping finds groups by the labels that are asked about by now.
func newGrouping(g *groups) *grouping {
	return &grouping{groups: g, spelled: g.spellings(g.asked), texts: make(map[string]int32)}
}

func (g *grouping) of(view *nodeView) int32 {
	w := &g.writer
	w.Buf = w.Buf[:0]
	writeValues(w, view.labels, g.spelled)
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
	n := g.number(view)
	g.texts[string(w.Buf)] = n
	return n
}

// writeValues writes the labels' values of the keys.
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

// writeName adds the node's name where pods ask for nodes by name.
func (g *groups) writeName(w *podtext.Writer, view *nodeView) {
	if g.asked[match.NodeName] {
		w.Text(view.name)
	}
}

package scheduling

import (
	"maps"
	"slices"

	"github.com/drawknife/drawknife/api/requirements"
	"github.com/drawknife/drawknife/internal/engine/match"
	"github.com/drawknife/drawknife/internal/engine/podtext"
)

// regrouping finds the groups that unchanged machines are in now. While pods ask about the same labels, those of a group stay
// together. Otherwise they are told apart by their group before and the labels that are asked about only now, which is far
// less to read than all their labels.
type regrouping struct {
	was, next *Model
	known     map[string]int32
	// asked are the labels that are asked about only now, as machines may spell them. same tells that all are the same.
	asked []string
	same  bool
	// renumbered are the new numbers of groups, from 1 on, where all labels are the same; byLabels those of others.
	renumbered []int32
	byLabels   map[string]int32
	buf        []byte
}

func newRegrouping(was, next *Model) *regrouping {
	r := &regrouping{was: was, next: next, known: make(map[string]int32), same: maps.Equal(was.askedKeys, next.askedKeys)}
	if r.same {
		r.renumbered = make([]int32, len(was.groups))
		return r
	}
	r.byLabels = make(map[string]int32)
	fresh := make(map[string]bool)
	for key := range next.askedKeys {
		if !was.askedKeys[key] {
			fresh[key] = true
		}
	}
	r.asked = next.spellings(fresh)
	return r
}

// spellings are the keys and their aliases, sorted.
func (m *Model) spellings(keys map[string]bool) []string {
	vocabulary := m.snapshot.Vocabulary
	if vocabulary.IsZero() {
		vocabulary = requirements.CoreVocabulary()
	}
	out := slices.Collect(maps.Keys(keys))
	for alias := range vocabulary.Aliases {
		if keys[m.vocab.Canonical(alias)] && !keys[alias] {
			out = append(out, alias)
		}
	}
	slices.Sort(out)
	return out
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
func writeName(w *podtext.Writer, m *Model, view *nodeView) {
	if m.askedKeys[match.NodeName] {
		w.Text(view.name)
	}
}

// grouping finds the groups of machines while a model is compiled, by the labels that are asked about and the taints as
// machines spell them: that is less work than to spell out all in one way.
type grouping struct {
	m      *Model
	asked  []string
	groups map[string]int32
	known  map[string]int32
	writer podtext.Writer
}

func (m *Model) newGrouping() *grouping {
	return &grouping{m: m, asked: m.spellings(m.askedKeys), groups: make(map[string]int32), known: make(map[string]int32)}
}

func (g *grouping) of(view *nodeView) int32 {
	w := &g.writer
	w.Buf = w.Buf[:0]
	writeValues(w, view.labels, g.asked)
	writeName(w, g.m, view)
	for i := range view.taints {
		t := &view.taints[i]
		w.Text(t.Key)
		w.Text(t.Value)
		w.Text(string(t.Effect))
	}
	if n, known := g.known[string(w.Buf)]; known {
		return n
	}
	n := g.m.groupOf(view, g.groups)
	g.known[string(w.Buf)] = n
	return n
}

// of is the group of a machine that was in the given one.
func (r *regrouping) of(n *Node, group int32) int32 {
	if r.same {
		return r.ofSame(group)
	}
	view := viewOf(n)
	var w podtext.Writer
	w.Buf = r.buf[:0]
	w.Number(int64(group))
	writeValues(&w, view.labels, r.asked)
	writeName(&w, r.next, &view)
	r.buf = w.Buf
	if g, known := r.byLabels[string(r.buf)]; known {
		return g
	}
	g := r.next.groupOf(&view, r.known)
	r.byLabels[string(r.buf)] = g
	return g
}

func (r *regrouping) ofSame(group int32) int32 {
	if n := r.renumbered[group]; n > 0 {
		return n - 1
	}
	m, text := r.next, r.was.groups[group].text
	g, known := r.known[text]
	if !known {
		g = int32(len(m.groups))
		m.groups = append(m.groups, r.was.groups[group])
		r.known[text] = g
	}
	r.renumbered[group] = g + 1
	return g
}

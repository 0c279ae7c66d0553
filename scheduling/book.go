package scheduling

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/internal/engine/likeness"
	"github.com/drawknife/drawknife/internal/engine/topology"
)

// book lists the classes of pods, and what they have in common.
type book struct {
	*reader
	// rules are those that pods state.
	rules   *topology.Index
	classes []*class
	// kinds are the classes as they are known from one book to the next.
	kinds  []podKind
	shapes []*shape
	// classIndex and shapeIndex find classes and shapes by their texts.
	classIndex, shapeIndex map[string]int32
}

// newBook is an empty book.
func newBook(r *reader, rules *topology.Index) *book {
	return &book{reader: r, rules: rules, classIndex: map[string]int32{}, shapeIndex: map[string]int32{}}
}

// classOf finds the pod's class or makes it. Where its rules stand is known from topology.Index.Remember.
func (b *book) classOf(pod *corev1.Pod, w *likeness.Writer, placeholder bool, rules int32) int32 {
	text, stake, ruleErr := classText(b.rules, pod, w, placeholder, rules)
	if n, ok := b.classIndex[string(text)]; ok {
		if c := b.classes[n]; likeness.Compare(pod, c.sample) < 0 {
			c.sample = pod
		}
		return n
	}
	k := newKind(pod, w, stake, placeholder, ruleErr)
	c := k.newClass()
	if !stake.Empty() {
		c.topology = &topology.Groups{Owns: stake.Owns, In: stake.In}
	}
	at := int32(len(b.classes))
	b.classes, b.kinds = append(b.classes, c), append(b.kinds, k)
	b.classIndex[k.text] = at
	return at
}

// sortClasses puts the classes in the order of their text and returns the new number of each.
func (b *book) sortClasses() []int32 {
	texts := make([]string, 0, len(b.classIndex))
	for text := range b.classIndex {
		texts = append(texts, text)
	}
	slices.Sort(texts)
	number := make([]int32, len(b.classes))
	sorted, kinds := make([]*class, len(b.classes)), make([]podKind, len(b.classes))
	for i, text := range texts {
		old := b.classIndex[text]
		number[old], sorted[i], kinds[i] = int32(i), b.classes[old], b.kinds[old]
	}
	b.classes, b.kinds = sorted, kinds
	for i, text := range texts {
		b.classIndex[text] = int32(i)
	}
	return number
}

// shapeClasses finds the shapes of all classes and those of their pods that can't be planned.
func (b *book) shapeClasses() {
	for i, c := range b.classes {
		text := b.kinds[i].shapeText()
		n, ok := b.shapeIndex[text]
		if !ok {
			n = int32(len(b.shapes))
			b.shapes = append(b.shapes, b.newShape(c.sample, c.requests))
			b.shapeIndex[text] = n
		}
		b.shapeClass(c, b.shapes[n], n)
	}
}

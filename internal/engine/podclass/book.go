package podclass

import (
	"slices"

	"github.com/drawknife/drawknife/internal/engine/likeness"
	"github.com/drawknife/drawknife/internal/engine/topology"
)

// Book lists the classes of pods, with the data that they share.
type Book struct {
	*Reader
	// Rules are the topology rules that pods state.
	Rules   *topology.Index
	Classes []*Class
	// Kinds has the kind of each class. The kind identifies the class in later books.
	Kinds  []Kind
	Shapes []*Shape
	// ClassIndex and ShapeIndex map texts to indexes in Classes and Shapes.
	ClassIndex, ShapeIndex map[string]int32
}

// NewBook returns an empty book.
func NewBook(r *Reader, rules *topology.Index) *Book {
	return &Book{Reader: r, Rules: rules, ClassIndex: map[string]int32{}, ShapeIndex: map[string]int32{}}
}

// ClassOf returns the class of the pattern's pods, and adds it if it is new. The position of the pods' rules must be known from
// topology.Index.Remember.
func (b *Book) ClassOf(p *likeness.Pattern, w *likeness.Writer) int32 {
	pod := p.First
	text, groups, ruleErr := Text(b.Rules, b.Devices, p, w)
	if n, ok := b.ClassIndex[string(text)]; ok {
		if c := b.Classes[n]; likeness.Compare(pod, c.Sample) < 0 {
			c.Sample = pod
		}
		return n
	}
	k := NewKind(pod, w, groups, p.Placeholder, ruleErr)
	c := k.NewClass()
	if !groups.Empty() {
		c.Topology = &topology.Groups{Owns: groups.Owns, In: groups.In}
	}
	at := int32(len(b.Classes))
	b.Classes, b.Kinds = append(b.Classes, c), append(b.Kinds, k)
	b.ClassIndex[k.Text] = at
	return at
}

// SortClasses sorts the classes by their text and returns the new number of each.
func (b *Book) SortClasses() []int32 {
	texts := make([]string, 0, len(b.ClassIndex))
	for text := range b.ClassIndex {
		texts = append(texts, text)
	}
	slices.Sort(texts)
	number := make([]int32, len(b.Classes))
	sorted, kinds := make([]*Class, len(b.Classes)), make([]Kind, len(b.Classes))
	for i, text := range texts {
		old := b.ClassIndex[text]
		number[old], sorted[i], kinds[i] = int32(i), b.Classes[old], b.Kinds[old]
	}
	b.Classes, b.Kinds = sorted, kinds
	for i, text := range texts {
		b.ClassIndex[text] = int32(i)
	}
	return number
}

// ShapeClasses finds the shape of each class, and the classes whose pods can't be planned.
func (b *Book) ShapeClasses() {
	for i, c := range b.Classes {
		text := b.Kinds[i].ShapeText()
		n, ok := b.ShapeIndex[text]
		if !ok {
			n = int32(len(b.Shapes))
			b.Shapes = append(b.Shapes, b.NewShape(c.Sample, c.Requests))
			b.ShapeIndex[text] = n
		}
		b.ShapeClass(c, b.Shapes[n], n)
	}
}

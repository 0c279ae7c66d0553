package convert

import (
	"cmp"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/drawknife/drawknife/api/conversion"
	api "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/api/v1beta1"
	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	awsv1beta1 "github.com/drawknife/drawknife/aws/api/v1beta1"
)

// EffectiveKubelet returns the kubelet block with which an instance is launched: from the annotation on its claim, else on its pool, else
// from the node class. pool and class may be nil; a nil result leaves all settings to the image family. An annotation that can't be parsed
// is an error. The caller owns the result.
func EffectiveKubelet(claim *api.NodeClaim, pool *api.NodePool, class *awsv1.EC2NodeClass) (*awsv1.KubeletConfiguration, error) {
	var annotated []map[string]string
	if claim != nil {
		annotated = append(annotated, claim.Annotations)
	}
	if pool != nil {
		annotated = append(annotated, pool.Annotations)
	}
	for _, annotations := range annotated {
		text, ok := annotations[v1beta1.KubeletAnnotationKey]
		if !ok {
			continue
		}
		block := &awsv1.KubeletConfiguration{}
		if err := json.Unmarshal([]byte(text), block); err != nil {
			return nil, fmt.Errorf("annotation %s: %w", v1beta1.KubeletAnnotationKey, err)
		}
		return block, nil
	}
	if class == nil {
		return nil, nil
	}
	return class.Spec.Kubelet.DeepCopy(), nil
}

// settleKubelets reports kubelet blocks in v1 pools that strict reading has found and that can't be moved, because the pool's node class is
// not in the input.
func (d *decoder) settleKubelets() {
	classes := make(map[string]bool)
	for _, read := range d.documents {
		switch class := read.Object.(type) {
		case *awsv1.EC2NodeClass:
			classes[class.Name] = true
		case *awsv1beta1.EC2NodeClass:
			classes[class.Name] = true
		}
	}
	for i := range d.documents {
		read := &d.documents[i]
		pool, isPool := read.Object.(*api.NodePool)
		if !isPool || read.strayed == "" {
			continue
		}
		if ref := pool.Spec.Template.Spec.NodeClassRef; ref.Group == awsv1.Group && ref.Kind == awsv1.KindEC2NodeClass && classes[ref.Name] {
			continue
		}
		p := Problem{Position: read.Position, Object: api.KindNodePool + "/" + pool.Name, Message: read.strayed}
		if d.options.KeepGoing {
			read.Object, read.Warnings = nil, append(read.Warnings, conversion.Warning{
				Code: conversion.CodeUnreadable, Severity: conversion.CodeUnreadable.Severity(), Object: p.Object, Message: "can't be read: " + p.place() + p.Message,
			})
			continue
		}
		at, _ := slices.BinarySearch(d.before, i+1)
		d.problems, d.before = slices.Insert(d.problems, at, p), slices.Insert(d.before, at, i)
	}
	d.problems = d.problems[:min(len(d.problems), maxProblems)]
}

// user is a pool that uses a node class.
type user struct {
	entry *entry
	// block is the pool's kubelet block as text; empty if the pool has none.
	block string
}

// moveKubelets moves the kubelet blocks of v1beta1 pools to their node classes. If pools that share a node class have different blocks, the
// node class gets the block of the first pool in name order, and a copy of the node class is made for each other block. v1 pools keep their
// blocks.
func (b *bundle) moveKubelets() {
	for _, class := range slices.Clone(b.entries) {
		if b.refused[class.document] {
			continue
		}
		switch class.object.(type) {
		case *awsv1beta1.EC2NodeClass, *awsv1.EC2NodeClass:
			b.moveTo(class)
		}
	}
}

// users returns the pools of a node class, in name order. Pools that are already v1 come first, so that these pools and the reference to
// their node class stay unchanged.
func (b *bundle) users(class *entry) []user {
	var out []user
	for _, e := range b.entries {
		if b.refused[e.document] {
			continue
		}
		switch pool := e.object.(type) {
		case *v1beta1.NodePool:
			ref := pool.Spec.Template.Spec.NodeClassRef
			if isClass(ref) && ref.Name == class.object.GetName() {
				out = append(out, user{e, blockText(pool.Spec.Template.Spec.Kubelet)})
			}
		case *api.NodePool:
			ref := pool.Spec.Template.Spec.NodeClassRef
			if ref.Group == awsv1.Group && ref.Kind == awsv1.KindEC2NodeClass && ref.Name == class.object.GetName() {
				out = append(out, user{e, b.misplaced(e)})
			}
		}
	}
	rank := func(u user) int {
		if _, ok := u.entry.object.(*api.NodePool); ok {
			return 0
		}
		return 1
	}
	slices.SortFunc(out, func(a, b user) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), strings.Compare(a.entry.object.GetName(), b.entry.object.GetName()))
	})
	return out
}

// misplaced returns the kubelet block of a v1 pool, although v1 pools have no such field. It returns "" if the pool has no block, or a
// block that is invalid in a node class.
func (b *bundle) misplaced(e *entry) string {
	raw := b.documents[e.document].kubelet
	if len(raw) == 0 || string(raw) == "null" {
		return ""
	}
	probe := &awsv1.EC2NodeClass{}
	probe.Spec.Kubelet = &awsv1.KubeletConfiguration{}
	if err := json.Unmarshal(raw, probe.Spec.Kubelet); err != nil {
		return ""
	}
	for _, err := range probe.Validate() {
		if strings.HasPrefix(err.Field, "spec.kubelet") {
			return ""
		}
	}
	return canonical(string(raw))
}

// blockText returns a block in the form of a node class, or "" if there is none.
func blockText(k *v1beta1.KubeletConfiguration) string {
	if k == nil {
		return ""
	}
	text, err := json.Marshal(k)
	if err != nil {
		return ""
	}
	return canonical(string(text))
}

// canonical returns the text of a block in the form that v1 writes.
func canonical(text string) string {
	block := &awsv1.KubeletConfiguration{}
	if err := json.Unmarshal([]byte(text), block); err != nil {
		return text
	}
	out, err := json.Marshal(block)
	if err != nil {
		return text
	}
	return string(out)
}

// moveTo moves the kubelet blocks of the pools that use one node class to this node class.
func (b *bundle) moveTo(class *entry) {
	users := b.users(class)
	if !slices.ContainsFunc(users, func(u user) bool { return u.block != "" }) {
		return
	}
	if own, ok := ownBlock(class); ok {
		b.keepOwn(class, own, users)
		return
	}
	// The map has the name of the node class for each block; the original node class has the block of the first pool.
	classes := map[string]string{users[0].block: class.object.GetName()}
	original := deepCopy(class.object)
	b.giveBlock(class, users[0].block)
	after := class
	for _, u := range users {
		name, made := classes[u.block]
		if !made {
			name = generatedName(class.object.GetName() + "-" + u.entry.object.GetName())
			copied := &entry{document: class.document, object: deepCopy(original), born: class.born}
			copied.object.SetName(name)
			b.giveBlock(copied, u.block)
			if there := b.there(copied); there != nil {
				more := conversion.NewRecorder(api.KindNodePool, u.entry.object.GetName())
				more.Add(conversion.CodeNameClash, nil, b.describe(there))
				b.note(u.entry.document, more.Warnings())
				continue
			}
			classes[u.block] = name
			at := slices.Index(b.entries, after)
			b.entries = slices.Insert(b.entries, at+1, copied)
			after = copied
		}
		b.point(u, name, class.object.GetName())
	}
}

// returnKubelets moves the kubelet blocks of v1 node classes back to their pools, which have them in v1beta1. If none of a class's pools is
// in the input, its block is lost.
func (b *bundle) returnKubelets() {
	for _, class := range b.entries {
		hub, ok := class.object.(*awsv1.EC2NodeClass)
		if !ok || hub.Spec.Kubelet == nil || b.refused[class.document] {
			continue
		}
		block, err := json.Marshal(hub.Spec.Kubelet)
		if err != nil {
			continue
		}
		var names []string
		for _, u := range b.users(class) {
			pool, ok := u.entry.object.(*api.NodePool)
			if !ok {
				continue
			}
			names = append(names, pool.Name)
			if _, own := pool.Annotations[v1beta1.KubeletAnnotationKey]; own {
				continue // the pool's annotation overrides the block of the class
			}
			pool = pool.DeepCopy()
			if pool.Annotations == nil {
				pool.Annotations = make(map[string]string)
			}
			pool.Annotations[v1beta1.KubeletAnnotationKey] = string(block)
			u.entry.object = pool
		}
		if len(names) == 0 {
			continue
		}
		hub = hub.DeepCopy()
		hub.Spec.Kubelet = nil
		class.object = hub
		told := conversion.NewRecorder(awsv1.KindEC2NodeClass, hub.Name)
		told.Add(conversion.CodeKubeletMovedBack, field.NewPath("spec", "kubelet"), strings.Join(names, ", "))
		b.note(class.document, told.Warnings())
	}
}

// ownBlock returns the node class's present kubelet block.
func ownBlock(class *entry) (string, bool) {
	hub, ok := class.object.(*awsv1.EC2NodeClass)
	if !ok || hub.Spec.Kubelet == nil {
		return "", false
	}
	text, err := json.Marshal(hub.Spec.Kubelet)
	return string(text), err == nil
}

// keepOwn leaves the node class as it is, and reports each v1beta1 pool that has a different block.
func (b *bundle) keepOwn(class *entry, own string, users []user) {
	for _, u := range users {
		switch u.block {
		case "":
		case canonical(own):
			b.point(u, class.object.GetName(), class.object.GetName())
		default:
			if _, hub := u.entry.object.(*api.NodePool); hub {
				continue // the kubelet block of a v1 pool never had an effect, and is reported as an unknown field
			}
			more := conversion.NewRecorder(api.KindNodePool, u.entry.object.GetName())
			more.Add(conversion.CodeKubeletConflict, field.NewPath("spec", "template", "spec", "kubelet"), class.object.GetName())
			b.note(u.entry.document, more.Warnings())
		}
	}
}

// giveBlock writes the block to the node class, which is v1 from then on.
func (b *bundle) giveBlock(class *entry, block string) {
	if block == "" {
		return
	}
	if beta, ok := class.object.(*awsv1beta1.EC2NodeClass); ok {
		hub, warnings := beta.ToV1(b.options.NodeClassOptions())
		b.note(class.document, warnings)
		if hub == nil {
			return
		}
		class.object = hub
	}
	hub, ok := class.object.(*awsv1.EC2NodeClass)
	if !ok {
		return
	}
	hub.Spec.Kubelet = &awsv1.KubeletConfiguration{}
	more := conversion.NewRecorder(awsv1.KindEC2NodeClass, hub.Name)
	if err := json.Unmarshal([]byte(block), hub.Spec.Kubelet); err != nil {
		more.AddInvalid(field.ErrorList{field.InternalError(field.NewPath("spec", "kubelet"), err)})
	}
	for _, err := range hub.Validate() {
		if strings.HasPrefix(err.Field, "spec.kubelet") {
			more.AddInvalid(field.ErrorList{err})
		}
	}
	b.note(class.document, more.Warnings())
}

// point makes a pool use the node class called name, which now has the pool's kubelet block.
func (b *bundle) point(u user, name, original string) {
	more := conversion.NewRecorder(api.KindNodePool, u.entry.object.GetName())
	path := field.NewPath("spec", "template", "spec")
	if name != original {
		more.Add(conversion.CodeNodeClassSplit, path.Child("kubelet"), name, u.entry.object.GetName())
	}
	switch pool := u.entry.object.(type) {
	case *v1beta1.NodePool:
		pool.Spec.Template.Spec.Kubelet = nil
		pool.Spec.Template.Spec.NodeClassRef.Name = name
	case *api.NodePool:
		pool.Spec.Template.Spec.NodeClassRef.Name = name
		if u.block != "" {
			b.said[u.entry.document] = slices.DeleteFunc(b.said[u.entry.document], func(w conversion.Warning) bool {
				return w.Code == conversion.CodeUnknownField && w.Path == kubeletOfPool
			})
			more.Add(conversion.CodeKubeletMoved, path.Child("kubelet"), name)
		}
	}
	b.note(u.entry.document, more.Warnings())
}

// there returns the existing node class with the same name as the parameter class, or nil if no node class has this name.
func (b *bundle) there(class *entry) *entry {
	if i := slices.IndexFunc(b.entries, func(e *entry) bool { return e.label() == class.label() }); i >= 0 {
		return b.entries[i]
	}
	return nil
}

func deepCopy(o Object) Object {
	copied, ok := o.DeepCopyObject().(Object)
	if !ok {
		return o
	}
	return copied
}

// generatedName returns a name that is short enough for an object. A name that is too long is cut, and a hash of the whole name is
// appended, so that it stays unique.
func generatedName(name string) string {
	const most = 253
	if len(name) <= most {
		return name
	}
	h := fnv.New64a()
	h.Write([]byte(name)) // a hash never fails
	suffix := fmt.Sprintf("-%016x", h.Sum64())
	return strings.TrimRight(name[:most-len(suffix)], "-.") + suffix
}

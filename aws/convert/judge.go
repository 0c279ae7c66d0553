package convert

import (
	"cmp"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/drawknife/drawknife/api/conversion"
	api "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/api/v1alpha5"
	"github.com/drawknife/drawknife/api/v1beta1"
)

// judge reports errors that conversions don't find: errors in objects that already have the target generation, and errors that
// Options.ValidatePool and Options.ValidateRequirements return. It runs before conversions move fields to other objects.
func (b *bundle) judge() {
	for i, d := range b.documents {
		if d.Object == nil {
			continue
		}
		kind := d.Object.GetObjectKind().GroupVersionKind()
		var errs field.ErrorList
		// Overlays have only one generation, so they are validated for every target.
		_, isOverlay := d.Object.(*api.NodeOverlay)
		if o, ok := d.Object.(interface{ Validate() field.ErrorList }); ok && (isOverlay || kind.Version == string(b.options.Target)) {
			errs = o.Validate()
		}
		if b.options.ValidateRequirements != nil && !b.options.ReferenceCompat {
			spec := field.NewPath("spec", "requirements")
			switch o := d.Object.(type) {
			case *api.NodeClaim:
				errs = append(errs, b.options.ValidateRequirements(o.Spec.Requirements, spec)...)
			case *api.NodeOverlay:
				errs = append(errs, b.options.ValidateRequirements(o.Spec.Requirements, spec)...)
			}
		}
		if b.options.ValidatePool != nil && !b.options.ReferenceCompat {
			if pool := b.poolOf(d.Object); pool != nil {
				errs = append(errs, b.options.ValidatePool(pool)...)
			}
		}
		// A conversion may have reported the same error with another message. An error therefore counts as already reported if the
		// conversion reported an error in the same field.
		known, judged := make(map[string]bool), make(map[string]bool)
		for _, w := range b.said[i] {
			known[w.Path] = known[w.Path] || w.Code == conversion.CodeResultInvalid
		}
		more := conversion.NewRecorder(kind.Kind, cmp.Or(d.Object.GetName(), d.Object.GetGenerateName()))
		for _, err := range errs {
			if !known[err.Field] && !known[err.Error()] {
				known[err.Error()], judged[err.Field] = true, true
				if b.options.ReferenceCompat {
					more.AddReferenceInvalid(field.ErrorList{err})
				} else {
					more.AddInvalid(field.ErrorList{err})
				}
			}
		}
		b.note(i, more.Warnings())
		b.judged[i] = judged
	}
}

// poolOf returns the pool that a document becomes, even if the pool has errors, or nil for other kinds.
func (b *bundle) poolOf(o Object) *api.NodePool {
	var pool *api.NodePool
	switch o := o.(type) {
	case *v1alpha5.Provisioner:
		options := b.options.ProvisionerOptions()
		options.Force = true
		pool, _ = o.ToV1(options)
	case *v1beta1.NodePool:
		options := b.options.NodePoolOptions()
		options.Force = true
		pool, _ = o.ToV1(options)
	case *api.NodePool:
		pool = o
	}
	return pool
}

package planning

import (
	corev1 "k8s.io/api/core/v1"
	unversionedvalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// ValidateDefaultTopologySpread checks the cluster's default constraints like kube-scheduler's configuration: a positive maxSkew, a valid
// topology key and whenUnsatisfiable, no selector, no duplicates.
func ValidateDefaultTopologySpread(list []corev1.TopologySpreadConstraint, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	seen := sets.New[string]()
	for i := range list {
		c, at := &list[i], path.Index(i)
		if c.MaxSkew <= 0 {
			errs = append(errs, field.Invalid(at.Child("maxSkew"), c.MaxSkew, "must be greater than zero"))
		}
		errs = append(errs, unversionedvalidation.ValidateLabelName(c.TopologyKey, at.Child("topologyKey"))...)
		if c.WhenUnsatisfiable != corev1.DoNotSchedule && c.WhenUnsatisfiable != corev1.ScheduleAnyway {
			errs = append(errs, field.NotSupported(at.Child("whenUnsatisfiable"), c.WhenUnsatisfiable, []string{string(corev1.DoNotSchedule), string(corev1.ScheduleAnyway)}))
		}
		if c.LabelSelector != nil {
			errs = append(errs, field.Forbidden(at.Child("labelSelector"), "is deduced for each pod: leave it out"))
		}
		if len(c.MatchLabelKeys) > 0 {
			errs = append(errs, field.Forbidden(at.Child("matchLabelKeys"), "is not for default constraints: leave it out"))
		}
		if id := c.TopologyKey + "/" + string(c.WhenUnsatisfiable); seen.Has(id) {
			errs = append(errs, field.Duplicate(at, id))
		} else {
			seen.Insert(id)
		}
	}
	return errs
}

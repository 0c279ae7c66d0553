package nodeclass

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
)

// launched returns when an instance was last launched from the current version of the class, with the class's current profile and one of
// its images; zero if there was no such launch. Such a launch proves as much as a successful dry run.
func (w *round) launched() time.Time {
	var last time.Time
	hash := w.class.Annotations[awsv1.AnnotationHash]
	for _, claim := range w.claims {
		switch at := claim.Annotations; {
		case hash == "" || at[awsv1.AnnotationHash] != hash || at[awsv1.AnnotationHashVersion] != awsv1.HashVersion:
		case at[awsv1.AnnotationInstanceProfileName] != w.class.Status.InstanceProfile:
		case !slices.ContainsFunc(w.class.Status.AMIs, func(a awsv1.AMI) bool { return a.ID == claim.Status.ImageID }):
		default:
			if c := claim.Conditions().Get(v1.ConditionLaunched); c.Status == metav1.ConditionTrue && c.LastTransitionTime.After(last) {
				last = c.LastTransitionTime.Time
			}
		}
	}
	return last
}

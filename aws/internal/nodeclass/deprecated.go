package nodeclass

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
)

// EventDeprecatedImage is the reason of the event about deprecated images in use. They are used because the class's terms select no other
// images for the same instances. The status marks these images as deprecated.
const EventDeprecatedImage = "AMIDeprecated"

// reportDeprecated publishes an event about images that were not known to be deprecated until now.
func (w *round) reportDeprecated(before, now []awsv1.AMI) {
	var ids []string
	for _, image := range now {
		known := slices.ContainsFunc(before, func(a awsv1.AMI) bool { return a.ID == image.ID && a.Deprecated })
		if image.Deprecated && !known && !slices.Contains(ids, image.ID) {
			ids = append(ids, image.ID)
		}
	}
	if len(ids) > 0 {
		w.result.Events = append(w.result.Events, Event{Type: corev1.EventTypeWarning, Reason: EventDeprecatedImage, Message: fmt.Sprintf(
			"spec.amiSelectorTerms select no image for the same instances that is not deprecated: have them select newer ones than %s", strings.Join(ids, ", "))})
	}
}

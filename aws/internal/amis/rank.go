package amis

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	corev1 "k8s.io/api/core/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
)

// candidate is an image for one set of requirements.
type candidate struct {
	awsv1.AMI
	// created is zero, the oldest time, if EC2 does not report it.
	created time.Time
}

// candidates returns a candidate for each set of requirements in sets, with the image's architecture as a further requirement. Images of
// unknown architectures are no candidates.
func candidates(image ec2types.Image, sets [][]corev1.NodeSelectorRequirement, now time.Time) []candidate {
	arch, ok := architecture(image.Architecture)
	if !ok || image.ImageId == nil {
		return nil
	}
	ami := awsv1.AMI{ID: *image.ImageId}
	if image.Name != nil {
		ami.Name = *image.Name
	}
	if at, ok := timeOf(image.DeprecationTime); ok && !at.After(now) {
		ami.Deprecated = true
	}
	created, _ := timeOf(image.CreationDate)
	var list []candidate
	for _, set := range sets {
		c := candidate{ami, created}
		c.Requirements = append(slices.Clone(set), corev1.NodeSelectorRequirement{
			Key: corev1.LabelArchStable, Operator: corev1.NodeSelectorOpIn, Values: []string{arch},
		})
		// Sort requirements with shorter keys before requirements with longer keys.
		slices.SortFunc(c.Requirements, func(a, b corev1.NodeSelectorRequirement) int {
			return cmp.Or(cmp.Compare(len(a.Key), len(b.Key)), strings.Compare(a.Key, b.Key))
		})
		list = append(list, c)
	}
	return list
}

func architecture(value ec2types.ArchitectureValues) (string, bool) {
	switch value {
	case ec2types.ArchitectureValuesX8664:
		return v1.ArchitectureAmd64, true
	case ec2types.ArchitectureValuesArm64:
		return v1.ArchitectureArm64, true
	}
	return "", false
}

func timeOf(text *string) (time.Time, bool) {
	if text == nil {
		return time.Time{}, false
	}
	at, err := time.Parse(time.RFC3339, *text)
	return at, err == nil
}

// newest keeps the best image of each set of requirements, according to candidate.better. It sorts the images that it keeps by age, the
// newest first, whether or not they are deprecated. Images of equal age are sorted by id.
func newest(all []candidate) []awsv1.AMI {
	best := make(map[string]candidate)
	for _, c := range all {
		key := requirementsKey(c.Requirements)
		if other, ok := best[key]; !ok || c.better(other) {
			best[key] = c
		}
	}
	kept := make([]candidate, 0, len(best))
	for _, c := range best {
		kept = append(kept, c)
	}
	slices.SortFunc(kept, func(a, b candidate) int {
		return cmp.Or(b.created.Compare(a.created), strings.Compare(a.ID, b.ID), strings.Compare(requirementsKey(a.Requirements), requirementsKey(b.Requirements)))
	})
	amis := make([]awsv1.AMI, 0, len(kept))
	for _, c := range kept {
		amis = append(amis, c.AMI)
	}
	return amis
}

// better reports whether c is preferred to o. If two images differ only in their ids, the id decides, so that the order of EC2's answer
// does not matter.
func (c candidate) better(o candidate) bool {
	if c.Deprecated != o.Deprecated {
		return o.Deprecated
	}
	return cmp.Or(c.created.Compare(o.created), strings.Compare(c.Name, o.Name), strings.Compare(o.ID, c.ID)) > 0
}

func requirementsKey(set []corev1.NodeSelectorRequirement) string {
	text, err := json.Marshal(set)
	if err != nil {
		return fmt.Sprint(set) // unreachable: strings can always be encoded
	}
	return string(text)
}

package launchtemplate

import (
	"fmt"
	"strings"

	"github.com/drawknife/drawknife/api/requirements"
	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
)

// image is an image in the class's status, with the requirements for the instance types on which it boots.
type image struct {
	awsv1.AMI
	want requirements.Set
}

func parseImages(amis []awsv1.AMI) ([]image, error) {
	images := make([]image, 0, len(amis))
	for i, ami := range amis {
		parsed := image{AMI: ami}
		for j, entry := range ami.Requirements {
			r, err := requirements.ParseNodeSelectorRequirement(entry)
			if err != nil {
				return nil, fmt.Errorf("status.amis[%d].requirements[%d]: %w", i, j, err)
			}
			parsed.want = parsed.want.With(r)
		}
		images = append(images, parsed)
	}
	return images, nil
}

// imageFor returns the first image that boots on the type.
func (p *plan) imageFor(t *cloudprovider.InstanceType) (*image, bool) {
	for i := range p.images {
		if t.Requirements.Compatible(p.images[i].want, nil) == nil {
			return &p.images[i], true
		}
	}
	return nil, false
}

// bottlerocketVersion returns the Bottlerocket version of an image: it comes from the alias, else from the image's own name, else from the
// name in a term or of another image. It is empty if unknown.
func bottlerocketVersion(class *awsv1.EC2NodeClass, used *image) string {
	if alias, ok := class.Spec.Alias(); ok {
		return alias.Version
	}
	if version := versionIn(used.Name); version != "" {
		return version
	}
	for _, term := range class.Spec.AMISelectorTerms {
		if version := versionIn(term.Name); version != "" {
			return version
		}
	}
	for _, ami := range class.Status.AMIs {
		if version := versionIn(ami.Name); version != "" && strings.Contains(strings.ToLower(ami.Name), "bottlerocket") {
			return version
		}
	}
	return ""
}

// versionIn returns the first part of a name between hyphens that looks like v1.46.0.
func versionIn(name string) string {
	for piece := range strings.SplitSeq(name, "-") {
		if strings.HasPrefix(piece, "v") && strings.Contains(piece, ".") {
			return piece
		}
	}
	return ""
}

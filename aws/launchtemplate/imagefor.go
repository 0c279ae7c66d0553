package launchtemplate

import (
	"fmt"

	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
)

// ImageFor returns the id of the image from which instances of a type boot now: the first image in the class's status that boots on the
// type. The id is empty if no image boots on the type. If the status is invalid, it returns an error.
func ImageFor(class *awsv1.EC2NodeClass, t *cloudprovider.InstanceType) (string, error) {
	if class == nil || t == nil {
		return "", nil
	}
	images, err := parseImages(class.Status.AMIs)
	if err != nil {
		return "", fmt.Errorf("images of node class %q: %w", class.Name, err)
	}
	p := plan{images: images}
	if found, ok := p.imageFor(t); ok {
		return found.ID, nil
	}
	return "", nil
}

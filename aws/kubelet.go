package aws

import (
	"errors"
	"fmt"
	"strings"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/api/v1beta1"
	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	"github.com/drawknife/drawknife/aws/convert"
)

// launchedFrom returns the class from which instances of the claim, or of the pool, are launched. A kubelet block in an annotation, which
// the conversion from v1beta1 writes, replaces the class's own block; the claim's annotation takes precedence over the pool's. Without such
// an annotation, it returns the class itself. It never changes the class. The drift hash is still computed from the class itself. claim and
// pool may be nil. launchedFrom fails if the annotation's kubelet block is invalid.
func (p *Provider) launchedFrom(class *awsv1.EC2NodeClass, claim *v1.NodeClaim, pool *v1.NodePool) (*awsv1.EC2NodeClass, error) {
	if !annotated(claim, pool) {
		return class, nil
	}
	block, err := convert.EffectiveKubelet(claim, pool, class)
	if err != nil {
		return nil, fmt.Errorf("metadata.annotations: %w: correct it, or move it to spec.kubelet of the node class", err)
	}
	launched := class.DeepCopy()
	launched.Spec.Kubelet = block
	var faults []error
	for _, fault := range launched.ValidateWith(p.config.Features) {
		if rest, of := strings.CutPrefix(fault.Field, "spec.kubelet"); of {
			fault.Field = "metadata.annotations[" + v1beta1.KubeletAnnotationKey + "]" + rest
			faults = append(faults, fault)
		}
	}
	if err := errors.Join(faults...); err != nil {
		return nil, err
	}
	return launched, nil
}

func annotated(claim *v1.NodeClaim, pool *v1.NodePool) bool {
	there := false
	if claim != nil {
		_, there = claim.Annotations[v1beta1.KubeletAnnotationKey]
	}
	if pool != nil && !there {
		_, there = pool.Annotations[v1beta1.KubeletAnnotationKey]
	}
	return there
}

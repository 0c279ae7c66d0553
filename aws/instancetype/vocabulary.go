package instancetype

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/api/requirements"
	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
)

// ebsZoneLabel is the key under which the EBS CSI driver states the zone of its volumes.
const ebsZoneLabel = "topology.ebs.csi.aws.com/zone"

// Vocabulary returns AWS's label keys together with the common ones (requirements.CoreVocabulary): the labels that instance types state,
// AWS's own domain, and the EBS CSI driver's name for the zone. The caller owns the result.
func Vocabulary() requirements.Vocabulary {
	return requirements.CoreVocabulary().Merge(requirements.Vocabulary{
		WellKnown:         append(awsv1.WellKnownLabels(), LabelInstanceGPUPartition, LabelOutpostID),
		RestrictedDomains: []string{awsv1.RestrictedLabelDomain},
		Aliases:           map[string]string{ebsZoneLabel: corev1.LabelTopologyZone},
	})
}

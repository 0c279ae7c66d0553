package nodeclass

import (
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
)

// ClaimAnnotations are annotations to set on a NodeClaim; they override existing keys.
type ClaimAnnotations struct {
	// Name of the claim.
	Name string
	// Annotations to set.
	Annotations map[string]string
}

// Hashes returns the changes of hash annotations: first those of the class's claims, by claim name, then those of the class. If the class's
// annotation has another version of the hash, the claims get the new version and, unless they have drifted already, the new hash. So an
// upgrade causes no drift. Correct annotations are not in the result. It is a pure function. hash is the class's hash. It is empty if it
// could not be computed; then the result is empty too.
func Hashes(class *awsv1.EC2NodeClass, claims []*v1.NodeClaim, hash string) (onClaims []ClaimAnnotations, onClass map[string]string) {
	if class == nil {
		return nil, nil
	}
	if hash == "" || class.Annotations[awsv1.AnnotationHash] == hash && class.Annotations[awsv1.AnnotationHashVersion] == awsv1.HashVersion {
		return nil, nil
	}
	onClass = map[string]string{awsv1.AnnotationHash: hash, awsv1.AnnotationHashVersion: awsv1.HashVersion}
	if class.Annotations[awsv1.AnnotationHashVersion] == awsv1.HashVersion {
		return nil, onClass
	}
	for _, claim := range claims {
		if claim == nil || claim.Annotations[awsv1.AnnotationHashVersion] == awsv1.HashVersion {
			continue
		}
		change := ClaimAnnotations{Name: claim.Name, Annotations: map[string]string{awsv1.AnnotationHashVersion: awsv1.HashVersion}}
		if !drifted(claim) {
			change.Annotations[awsv1.AnnotationHash] = hash
		}
		onClaims = append(onClaims, change)
	}
	slices.SortFunc(onClaims, func(a, b ClaimAnnotations) int { return strings.Compare(a.Name, b.Name) })
	return onClaims, onClass
}

func drifted(claim *v1.NodeClaim) bool {
	return slices.ContainsFunc(claim.Status.Conditions, func(c metav1.Condition) bool {
		return c.Type == v1.ConditionDrifted && c.Status == metav1.ConditionTrue
	})
}

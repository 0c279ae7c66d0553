package nodeclass

import (
	"crypto/sha256"
	"encoding/json"
	"maps"
	"slices"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
)

// VerdictLifetime is how long the results of dry runs are used.
const VerdictLifetime = 30 * time.Minute

// verdict is the result of a class's dry runs.
type verdict struct {
	status          metav1.ConditionStatus
	reason, message string
	// keep means that the verdict is valid for a while; verdicts about temporary errors are not kept.
	keep bool
}

func passed() verdict { return verdict{status: metav1.ConditionTrue, keep: true} }

func refused(reason, message string) verdict {
	return verdict{status: metav1.ConditionFalse, reason: reason, message: message, keep: true}
}

// verdicts remembers one verdict for each class. The zero value is empty.
type verdicts struct {
	mu    sync.Mutex
	known map[types.UID]remembered
}

type remembered struct {
	verdict
	key   [sha256.Size]byte
	until time.Time
}

func (v *verdicts) recall(uid types.UID, key [sha256.Size]byte, now time.Time) (verdict, bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	r, ok := v.known[uid]
	return r.verdict, ok && r.key == key && now.Before(r.until)
}

func (v *verdicts) remember(uid types.UID, key [sha256.Size]byte, found verdict, now time.Time) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.known == nil {
		v.known = map[types.UID]remembered{}
	}
	v.known[uid] = remembered{verdict: found, key: key, until: now.Add(VerdictLifetime)}
}

// contradicts reports whether the last verdict was negative or belongs to another version of the class. In both cases a successful launch
// proves nothing, and new dry runs are made.
func (v *verdicts) contradicts(uid types.UID, key [sha256.Size]byte) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	r, known := v.known[uid]
	return known && (r.key != key || r.status != metav1.ConditionTrue)
}

func (v *verdicts) forget(uid types.UID) {
	v.mu.Lock()
	defer v.mu.Unlock()
	delete(v.known, uid)
}

// verdictKey returns the key of a verdict: the resolved values in any order, the spec, and the annotations, except for those that package
// nodeclass writes. Users can force a new check by adding an annotation.
func verdictKey(class *awsv1.EC2NodeClass) (key [sha256.Size]byte, ok bool) {
	annotations := maps.Clone(class.Annotations)
	for _, own := range []string{awsv1.AnnotationHash, awsv1.AnnotationHashVersion} {
		delete(annotations, own)
	}
	content := struct {
		Spec                    awsv1.EC2NodeClassSpec
		Annotations             map[string]string
		Subnets, Groups, Images []string
		Profile                 string
	}{Spec: class.Spec, Annotations: annotations, Profile: class.Status.InstanceProfile}
	for _, s := range class.Status.Subnets {
		content.Subnets = append(content.Subnets, s.ID)
	}
	for _, g := range class.Status.SecurityGroups {
		content.Groups = append(content.Groups, g.ID)
	}
	for _, a := range class.Status.AMIs {
		content.Images = append(content.Images, a.ID)
	}
	for _, list := range [][]string{content.Subnets, content.Groups, content.Images} {
		slices.Sort(list)
	}
	text, err := json.Marshal(content)
	if err != nil {
		return key, false
	}
	return sha256.Sum256(text), true
}

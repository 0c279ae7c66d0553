package cloudprovider

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
)

// Reasons that all providers use. A provider may add reasons of its own; each is one CamelCase word.
const (
	// NodeClassNotFound: the object does not exist.
	NodeClassNotFound = "NodeClassNotFound"
	// NodeClassTerminating: the object is being deleted.
	NodeClassTerminating = "NodeClassTerminating"
	// NodeClassReadinessUnknown: the object has not been checked yet.
	NodeClassReadinessUnknown = "NodeClassReadinessUnknown"
)

// NodeClassReadiness says whether instances can be launched from a node class and, if not, why.
type NodeClassReadiness struct {
	// Status is True or False. Any other value, also an empty one, means Unknown.
	Status metav1.ConditionStatus `json:"status"`
	// Reason is one CamelCase word. It may be empty if the status is True.
	Reason string `json:"reason,omitempty"`
	// Message is a sentence that says, for people, what is missing and how to provide it. It is empty only if the status is True.
	Message string `json:"message,omitempty"`
	// ObservedGeneration is the metadata.generation of the object that was checked; zero if there is no object.
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
}

// Ready reports whether instances can be launched.
func (r NodeClassReadiness) Ready() bool { return r.Status == metav1.ConditionTrue }

// NodeClassStatus is for providers whose node classes can be unusable, for example because a role is missing or an image is not found.
//
//   - CP-CLASS-01: every node class of a supported kind gets a status. For a node class that does not exist, the status is False with
//     reason NodeClassNotFound, not an error. Why: otherwise its NodePool would be unusable without an explanation.
//   - CP-CLASS-02: a status that is not True has a message that says what to do. Why: the message is copied to the NodePool, where an
//     operator sees it.
//   - CP-CLASS-03: Create refuses a node class that is not ready, with an error of kind NodeClassNotReady. Why: it may have become unready
//     since its last status.
//   - CP-CLASS-04: an error means that the readiness is unknown; the caller keeps the last result. Why: a temporary failure of the cloud is
//     no reason to stop launches for every NodePool.
type NodeClassStatus interface {
	// NodeClassStatus returns whether instances can be launched with the node class.
	NodeClassStatus(ctx context.Context, ref v1.NodeClassReference) (NodeClassReadiness, error)
}

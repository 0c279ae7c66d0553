package aws

import (
	"time"

	v1 "github.com/drawknife/drawknife/api/v1"
	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	"github.com/drawknife/drawknife/aws/internal/nodeclass"
)

// ObservedNodeClass is a node class and what refers to it. Nothing of it is changed.
type ObservedNodeClass struct {
	// NodeClass to reconcile. Required.
	NodeClass *awsv1.EC2NodeClass
	// NodeClaims that refer to it, all of them.
	NodeClaims []*v1.NodeClaim
	// NodePools that refer to it, all of them. They decide which instance a dry run asks for.
	NodePools []*v1.NodePool
}

// ReconciledNodeClass is what is to be written: NodeClaims first, then what has changed of NodeClass, each only if nobody has
// changed it meanwhile (with its resource version as a condition); if somebody has, start again.
type ReconciledNodeClass struct {
	// NodeClaims are annotations to write.
	NodeClaims []ClaimAnnotations
	// NodeClass is the class as it is to be: a copy of the observed one.
	NodeClass *awsv1.EC2NodeClass
	// MetadataChanged says that finalizers or annotations differ from those observed, StatusChanged that the status does.
	MetadataChanged, StatusChanged bool
	// Events to publish about the class.
	Events []NodeClassEvent
	// RequeueAfter is when to look again without a change; 0: not before one.
	RequeueAfter time.Duration
	// Images says what each image term found; nil when images were not looked for.
	Images []ImageTerm
	// Rejected says which capacity reservations can't be used and why; nil when all can.
	Rejected error
}

// ClaimAnnotations are annotations to put on a NodeClaim, over those of the same keys.
type ClaimAnnotations struct {
	// Name of the claim.
	Name string
	// Annotations to set.
	Annotations map[string]string
}

// NodeClassEvent is an event to publish about a node class.
type NodeClassEvent struct {
	// Type is one of the EventType constants of k8s.io/api/core/v1.
	Type string
	// Reason is a CamelCase word.
	Reason string
	// Message is a sentence.
	Message string
}

// ImageTerm is what one term of a class's image selector found, or one parameter of an alias.
type ImageTerm struct {
	// Term is the term's index.
	Term int
	// Parameter is the SSM parameter that was read; empty for terms without.
	Parameter string
	// Images is how many images were found, before the newest were chosen.
	Images int
	// Problem says in a sentence why there are none; empty when there are some.
	Problem string
}

// reconciled is a result in the words of this package.
func reconciled(r nodeclass.Result) ReconciledNodeClass {
	out := ReconciledNodeClass{
		NodeClass: r.NodeClass, MetadataChanged: r.MetadataChanged, StatusChanged: r.StatusChanged,
		RequeueAfter: r.RequeueAfter, Rejected: r.Rejected,
	}
	for _, c := range r.NodeClaims {
		out.NodeClaims = append(out.NodeClaims, ClaimAnnotations(c))
	}
	for _, e := range r.Events {
		out.Events = append(out.Events, NodeClassEvent(e))
	}
	if r.Images != nil {
		out.Images = make([]ImageTerm, 0, len(r.Images))
	}
	for _, i := range r.Images {
		out.Images = append(out.Images, ImageTerm(i))
	}
	return out
}

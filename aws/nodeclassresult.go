package aws

import (
	"time"

	v1 "github.com/drawknife/drawknife/api/v1"
	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	"github.com/drawknife/drawknife/aws/internal/nodeclass"
)

// ObservedNodeClass contains a node class and the objects that refer to it. ReconcileNodeClass does not change it.
type ObservedNodeClass struct {
	// NodeClass to reconcile. Required.
	NodeClass *awsv1.EC2NodeClass
	// NodeClaims are all NodeClaims that refer to it.
	NodeClaims []*v1.NodeClaim
	// NodePools are all NodePools that refer to it. They decide which instance type a dry run tries.
	NodePools []*v1.NodePool
}

// ReconciledNodeClass contains the objects to write: NodeClaims first, then the changed parts of NodeClass, each with its resource version
// as a precondition. If a write fails with a conflict, reconcile again.
type ReconciledNodeClass struct {
	// NodeClaims are annotations to write.
	NodeClaims []ClaimAnnotations
	// NodeClass is the new version of the class: a changed copy of the observed one.
	NodeClass *awsv1.EC2NodeClass
	// MetadataChanged is true if finalizers or annotations differ from those of the observed class. StatusChanged is true if the status
	// differs.
	MetadataChanged, StatusChanged bool
	// Events to publish about the class.
	Events []NodeClassEvent
	// RequeueAfter is the time until the next reconciliation if nothing changes; 0 means that no reconciliation is needed until something
	// changes.
	RequeueAfter time.Duration
	// Images contains the result of each image term; nil if images were not resolved.
	Images []ImageTerm
	// Rejected lists capacity reservations that can't be used, and why; nil if all can be used.
	Rejected error
}

// ClaimAnnotations are annotations to set on a NodeClaim; they override existing keys.
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

// ImageTerm is the result of one term of a class's image selector, or of one parameter of an alias.
type ImageTerm struct {
	// Term is the term's index, from 0.
	Term int
	// Parameter is the SSM parameter that was read; empty for a term without a parameter.
	Parameter string
	// Images is the number of images found, including images that are not the newest.
	Images int
	// Problem says in a sentence why no image was found; empty if Images is not 0.
	Problem string
}

// reconciled converts a result to the types of this package.
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

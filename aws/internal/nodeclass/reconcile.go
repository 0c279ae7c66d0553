package nodeclass

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/drawknife/drawknife/api/conditions"
	v1 "github.com/drawknife/drawknife/api/v1"
	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	"github.com/drawknife/drawknife/aws/internal/amis"
	"github.com/drawknife/drawknife/aws/internal/placement"
	"github.com/drawknife/drawknife/cloudprovider"
)

// Observed contains a node class and the objects that refer to it. Reconcile does not change it.
type Observed struct {
	// NodeClass to reconcile. Required.
	NodeClass *awsv1.EC2NodeClass
	// NodeClaims are all NodeClaims that refer to it.
	NodeClaims []*v1.NodeClaim
	// NodePools are all NodePools that refer to it. They decide which instance type a dry run tries.
	NodePools []*v1.NodePool
}

// Result contains the objects to write: NodeClaims first, then the changed parts of NodeClass, each with its resource version as a
// precondition. If a write fails with a conflict, reconcile again.
type Result struct {
	// NodeClaims are annotations to write.
	NodeClaims []ClaimAnnotations
	// NodeClass is the new version of the class: a changed copy of the observed one.
	NodeClass *awsv1.EC2NodeClass
	// MetadataChanged says that finalizers or annotations differ from those of the observed class. StatusChanged says that the status
	// differs.
	MetadataChanged, StatusChanged bool
	// Events to publish about the class.
	Events []Event
	// RequeueAfter is the time until the next check if nothing changes; 0 means that no check is needed until something changes.
	RequeueAfter time.Duration
	// Images contains the result of each image term; nil if images were not resolved.
	Images []amis.Outcome
	// Rejected says which capacity reservations can't be used and why; nil if all can be used.
	Rejected error
}

// Event is an event to publish for people.
type Event struct {
	// Type is one of the EventType constants of k8s.io/api/core/v1.
	Type string
	// Reason is a CamelCase word.
	Reason string
	// Message is a sentence.
	Message string
}

// Reconciler manages node classes. Make one with New.
type Reconciler struct {
	options  Options
	now      func() time.Time
	log      *slog.Logger
	verdicts verdicts
}

// New makes a reconciler. The error says which options are missing.
func New(o Options) (*Reconciler, error) {
	if err := o.validate(); err != nil {
		return nil, err
	}
	r := &Reconciler{options: o, now: o.Now, log: o.Logger}
	if r.now == nil {
		r.now = time.Now
	}
	if r.log == nil {
		r.log = slog.New(slog.DiscardHandler)
	}
	return r, nil
}

// soon is the time until the next reconciliation after the finalizer was added, which must be written before everything else.
const soon = time.Second

// Reconcile manages one class. The result is valid with and without an error: write it first, then call again after a pause that grows with
// each consecutive error. The error joins all failures, each with the kind of its cause (see sdk.Wrap).
func (r *Reconciler) Reconcile(ctx context.Context, o Observed) (Result, error) {
	if o.NodeClass == nil {
		return Result{}, cloudprovider.NewPermanentError(errors.New("reconciling a node class: it is nil"))
	}
	result := Result{NodeClass: o.NodeClass.DeepCopy()}
	var err error
	switch {
	case o.NodeClass.DeletionTimestamp != nil:
		err = r.finalize(ctx, o, &result)
	case !slices.Contains(o.NodeClass.Finalizers, awsv1.TerminationFinalizer):
		// Set the finalizer before anything is created that finalize must delete.
		result.NodeClass.Finalizers = append(result.NodeClass.Finalizers, awsv1.TerminationFinalizer)
		result.RequeueAfter = soon
	default:
		err = r.resolve(ctx, o, &result)
	}
	result.MetadataChanged = !slices.Equal(o.NodeClass.Finalizers, result.NodeClass.Finalizers) ||
		!maps.Equal(o.NodeClass.Annotations, result.NodeClass.Annotations)
	result.StatusChanged = !sameStatus(&o.NodeClass.Status, &result.NodeClass.Status)
	if err != nil {
		return result, fmt.Errorf("node class %q: %w", o.NodeClass.Name, err)
	}
	return result, nil
}

// sameStatus compares the statuses as the API server would store them: the API server stores times without fractions of a second.
func sameStatus(a, b *awsv1.EC2NodeClassStatus) bool {
	textA, errA := json.Marshal(a)
	textB, errB := json.Marshal(b)
	return errA == nil && errB == nil && bytes.Equal(textA, textB)
}

// round is one reconciliation of a class that is not being deleted.
type round struct {
	*Reconciler
	pools  []*v1.NodePool
	claims []*v1.NodeClaim
	result *Result
	class  *awsv1.EC2NodeClass // the copy of the class in result, which the steps change
	now    time.Time

	cluster    Cluster
	clusterErr error
	group      *placement.Group
}

// resolve executes all steps of the reconciliation, even if earlier steps fail.
func (r *Reconciler) resolve(ctx context.Context, o Observed, result *Result) error {
	w := &round{Reconciler: r, pools: o.NodePools, claims: o.NodeClaims, result: result, class: result.NodeClass, now: r.now()}
	if r.options.Reservations == nil {
		// The condition may exist from a time when reserved capacity was in use.
		w.class.Conditions().Clear(awsv1.ConditionCapacityReservationsReady, w.now)
	}
	w.cluster, w.clusterErr = r.options.Cluster(ctx)
	errs := []error{w.hashes(o.NodeClaims)}
	for _, step := range []func(context.Context) (time.Duration, error){
		w.images, w.reservations, w.placementGroup, w.subnets, w.securityGroups, w.instanceProfile, w.validation,
	} {
		after, err := step(ctx)
		errs = append(errs, err)
		if after > 0 && (result.RequeueAfter == 0 || after < result.RequeueAfter) {
			result.RequeueAfter = after
		}
	}
	return errors.Join(errs...)
}

// hashes updates the annotations that are used to detect drift.
func (w *round) hashes(claims []*v1.NodeClaim) error {
	if w.clusterErr != nil {
		return fmt.Errorf("reading the details of the cluster: %w", w.clusterErr)
	}
	onClaims, onClass := Hashes(w.class, claims, w.class.Hash(w.cluster.CABundle))
	w.result.NodeClaims = onClaims
	if len(onClass) > 0 && w.class.Annotations == nil {
		w.class.Annotations = map[string]string{}
	}
	maps.Copy(w.class.Annotations, onClass)
	return nil
}

// conditions returns the class's conditions, including the conditions that depend on settings.
func (w *round) conditions() conditions.Conditions {
	if w.options.Reservations != nil {
		return w.class.Conditions(awsv1.ConditionCapacityReservationsReady)
	}
	return w.class.Conditions()
}

func (w *round) isTrue(condition string) { w.conditions().SetTrue(condition, w.now) }

func (w *round) isFalse(condition, reason, message string) {
	w.conditions().SetFalse(condition, reason, message, w.now)
}

// untold sets the condition to Unknown, with the text of err. If the condition is True or False for the class's current generation, untold
// does not change it.
func (w *round) untold(condition string, err error) {
	have := w.conditions().Get(condition)
	if have.ObservedGeneration == w.class.Generation && have.Status != metav1.ConditionUnknown {
		return
	}
	w.conditions().SetUnknown(condition, awsv1.ReasonResolutionFailed, sentence(err), w.now)
}

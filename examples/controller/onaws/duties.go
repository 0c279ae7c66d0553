package onaws

import (
	"context"
	"log/slog"
	"maps"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/aws"
	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
)

// Times of the duties.
const (
	reviewEvery  = time.Minute
	profileRetry = 5 * time.Minute
	// never is a duration that is longer than any process runs.
	never = 100 * 365 * 24 * time.Hour
	// conflictRetry is the wait after a write conflict.
	conflictRetry = 200 * time.Millisecond
)

// taggedAnnotation is an annotation of claims. It says that the instance has the tags that were unknown at launch.
const taggedAnnotation = "karpenter.k8s.aws/tagged"

// duties are periodic tasks of the leader for the AWS provider: tags that were unknown at launch, lost or ending reservations, and unused
// instance profiles. Garbage collection, not this code, terminates instances without a claim.
type duties struct {
	provider *aws.Provider
	client   client.Client
	// reader reads without a cache, because a profile that is used could look unused in a stale cache.
	reader client.Reader
	log    *slog.Logger
}

// NeedLeaderElection returns true.
func (d *duties) NeedLeaderElection() bool { return true }

// Start does the duties until ctx ends.
func (d *duties) Start(ctx context.Context) error {
	ticker := time.NewTicker(reviewEvery)
	defer ticker.Stop()
	var profilesDue time.Time
	for {
		d.review(ctx)
		if now := time.Now(); !now.Before(profilesDue) {
			profilesDue = now.Add(d.collectProfiles(ctx))
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
	}
}

// review tags instances whose nodes have joined, and handles lost or ending reservations.
func (d *duties) review(ctx context.Context) {
	var list v1.NodeClaimList
	if err := d.client.List(ctx, &list); err != nil {
		d.complain(ctx, "cannot list NodeClaims, retrying at the next review", err)
		return
	}
	claims := make([]*v1.NodeClaim, 0, len(list.Items))
	for i := range list.Items {
		claim := &list.Items[i]
		claims = append(claims, claim)
		if err := d.tag(ctx, claim); err != nil {
			d.complain(ctx, "cannot tag instance, retrying at the next review", err, "nodeClaim", claim.Name)
		}
	}
	reviewed, err := d.provider.ReviewReservations(ctx, claims)
	if err != nil {
		d.complain(ctx, "cannot review all reservations, retrying at the next review", err)
	}
	for _, duty := range reviewed {
		if err := d.carryOut(ctx, duty); err != nil {
			d.complain(ctx, "cannot delete or relabel NodeClaim of reservation, retrying at the next review", err, "nodeClaim", duty.NodeClaim)
		}
	}
}

func (d *duties) complain(ctx context.Context, failure string, err error, more ...any) {
	if ctx.Err() == nil && !apierrors.IsConflict(err) { // after a conflict, the next review repeats the task, within a minute
		d.log.Warn(failure, append(more, "error", err)...)
	}
}

// tag adds the tags that were unknown at launch to the instance of a registered claim, once.
func (d *duties) tag(ctx context.Context, claim *v1.NodeClaim) error {
	if claim.Annotations[taggedAnnotation] == "true" || claim.DeletionTimestamp != nil || claim.Status.NodeName == "" {
		return nil
	}
	if _, ours := classNamed(claim.Spec.NodeClassRef); !ours {
		return nil
	}
	if err := d.provider.TagNode(ctx, claim); err != nil {
		if cloudprovider.IsNodeClaimNotFound(err) {
			return nil // the instance is gone, and its claim will be deleted
		}
		return err
	}
	next := claim.DeepCopy()
	if next.Annotations == nil {
		next.Annotations = map[string]string{}
	}
	next.Annotations[taggedAnnotation] = "true"
	return client.IgnoreNotFound(d.client.Patch(ctx, next, unchangedSince(claim)))
}

// carryOut carries out a reservation duty: it deletes a claim whose capacity block ends, or relabels a claim whose instance has left its
// reservation. The node is relabelled before the claim. The next review checks only the claim's labels, so it repeats the task if only the
// node was changed.
func (d *duties) carryOut(ctx context.Context, duty aws.ReservationDuty) error {
	claim := &v1.NodeClaim{}
	if err := d.client.Get(ctx, types.NamespacedName{Name: duty.NodeClaim}, claim); err != nil {
		return client.IgnoreNotFound(err)
	}
	if duty.Leave {
		uid := claim.UID
		d.log.Info("deleting NodeClaim whose capacity block ends", "nodeClaim", claim.Name)
		err := d.client.Delete(ctx, claim, client.Preconditions{UID: &uid})
		return client.IgnoreNotFound(err)
	}
	node := &corev1.Node{}
	switch err := d.client.Get(ctx, types.NamespacedName{Name: claim.Status.NodeName}, node); {
	case err == nil:
		next := node.DeepCopy()
		next.Labels = relabelled(node.Labels, duty)
		// Only labels are written, so concurrent writes of the kubelet don't conflict.
		if err := d.client.Patch(ctx, next, client.MergeFrom(node)); client.IgnoreNotFound(err) != nil {
			return err
		}
	case client.IgnoreNotFound(err) != nil:
		return err
	}
	next := claim.DeepCopy()
	next.Labels = relabelled(claim.Labels, duty)
	return client.IgnoreNotFound(d.client.Patch(ctx, next, unchangedSince(claim)))
}

func relabelled(labels map[string]string, duty aws.ReservationDuty) map[string]string {
	out := maps.Clone(labels)
	if out == nil {
		out = map[string]string{}
	}
	for _, key := range duty.Relabel.Remove {
		delete(out, key)
	}
	maps.Copy(out, duty.Relabel.Set)
	return out
}

// collectProfiles deletes unused instance profiles, and returns when to run again.
func (d *duties) collectProfiles(ctx context.Context) time.Duration {
	deleted, again, err := d.provider.CollectInstanceProfiles(ctx, d.profilesInUse)
	if err != nil {
		d.complain(ctx, "cannot collect instance profiles, retrying", err)
		return profileRetry
	}
	if len(deleted) > 0 {
		d.log.Info("deleted unused instance profiles", "profiles", deleted)
	}
	if again <= 0 {
		return never // this provider does not create profiles
	}
	return again
}

// profilesInUse returns the profiles that classes and claims name.
func (d *duties) profilesInUse(ctx context.Context) ([]string, error) {
	var classes awsv1.EC2NodeClassList
	if err := d.reader.List(ctx, &classes); err != nil {
		return nil, err
	}
	var claims v1.NodeClaimList
	if err := d.reader.List(ctx, &claims); err != nil {
		return nil, err
	}
	var names []string
	for i := range classes.Items {
		names = append(names, classes.Items[i].Status.InstanceProfile)
	}
	for i := range claims.Items {
		names = append(names, claims.Items[i].Annotations[awsv1.AnnotationInstanceProfileName])
	}
	return names, nil
}

package reconcilers

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// These labels say who created an object.
const (
	managedByLabelKey = "app.kubernetes.io/managed-by"
	managedByValue    = "drawknife"
)

// formerApprovals deletes approval ConfigMaps of an earlier configuration: before approval was switched off, or moved to another namespace.
// These ConfigMaps are no longer read, so approving one would have no effect.
type formerApprovals struct {
	client    client.Client
	reader    client.Reader
	namespace string
	log       *slog.Logger
	// next is when to try again.
	next time.Time
}

// removed deletes the ConfigMaps, and reports whether this is finished. Failed deletions are repeated a minute later. If the permission to
// delete is missing, the ConfigMaps stay.
func (f *formerApprovals) removed(ctx context.Context, now time.Time) bool {
	if now.Before(f.next) {
		return false
	}
	f.next = now.Add(approvalSweep)
	list := &corev1.ConfigMapList{}
	err := f.reader.List(ctx, list, client.InNamespace(f.namespace), client.HasLabels{ApprovalStateLabelKey}, client.MatchingLabels{managedByLabelKey: managedByValue})
	var errs []error
	for i := range list.Items {
		object := &list.Items[i]
		if !madeForApproval(object) {
			continue
		}
		if err := client.IgnoreNotFound(deleteExactly(ctx, f.client, object)); err != nil {
			errs = append(errs, err)
			continue
		}
		f.log.Info("deleted ConfigMap of command because approval is off", "configMap", object.Name, "state", object.Labels[ApprovalStateLabelKey])
	}
	switch err = errors.Join(append(errs, err)...); {
	case err == nil:
		return true
	case apierrors.IsForbidden(err):
		f.log.Debug("cannot list or delete ConfigMaps of former commands, leaving them", "namespace", f.namespace, "error", err)
		return true
	}
	f.log.Warn("cannot list or delete ConfigMaps of former commands, retrying", "namespace", f.namespace, "error", err)
	return false
}

// madeForApproval reports whether package reconcilers created the ConfigMap for approval. It checks the name, an annotation and the
// content: a ConfigMap that merely has one of the labels is not deleted.
func madeForApproval(object *corev1.ConfigMap) bool {
	digest, named := strings.CutPrefix(object.Name, approvalPrefix)
	return named && digest != "" && object.Annotations[ApprovalDigestAnnotationKey] == digest && object.Immutable != nil && *object.Immutable &&
		object.Data[ApprovalCommandKey] != ""
}

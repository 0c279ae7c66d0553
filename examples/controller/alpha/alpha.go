// Package alpha tells what to do about objects of the first generation that are in a cluster: Provisioners, AWSNodeTemplates and
// Machines. They are read and converted as by examples/convert, and said to be waiting for that: a controller acts on NodePools,
// EC2NodeClasses and NodeClaims alone, and a Provisioner's nodes stay as they are until they are rolled.
//
//	if err := alpha.Add(mgr, alpha.Options{Logger: log}); err != nil {
//		return err
//	}
//
// What is told: an event of each object, again whenever it changes; the condition Active, False, of a Provisioner; and a record of
// the log. It names the later object, whether there is one, and the problems of the conversion by their codes.
package alpha

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/drawknife/drawknife/api/conversion"
	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/api/v1alpha5"
	"github.com/drawknife/drawknife/api/v1beta1"
	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	awsv1alpha1 "github.com/drawknife/drawknife/aws/api/v1alpha1"
	"github.com/drawknife/drawknife/aws/convert"
)

// Reasons of events and of the condition Active.
const (
	// ReasonNotActedOn: the object is one of the first generation, and there is no later one in its place.
	ReasonNotActedOn = "NotActedOn"
	// ReasonSuperseded: there is a later one in its place.
	ReasonSuperseded = "Superseded"
)

// Options of Add.
type Options struct {
	// Logger receives what is told; nil discards it.
	Logger *slog.Logger
	// Now is the clock; nil is time.Now.
	Now func() time.Time
}

// AddToScheme makes a scheme know the kinds of the first generation.
func AddToScheme(scheme *runtime.Scheme) error {
	return errors.Join(v1alpha5.AddToScheme(scheme), awsv1alpha1.AddToScheme(scheme))
}

// kind is one of the first generation, and what became of it.
type kind struct {
	empty  func() convert.Object
	served schema.GroupVersionKind
	later  schema.GroupVersionKind
}

func kinds() []kind {
	return []kind{
		{func() convert.Object { return &v1alpha5.Provisioner{} }, v1alpha5.GroupVersion().WithKind(v1alpha5.KindProvisioner), v1.GroupVersion().WithKind(v1.KindNodePool)},
		{func() convert.Object { return &v1alpha5.Machine{} }, v1alpha5.GroupVersion().WithKind(v1alpha5.KindMachine), v1.GroupVersion().WithKind(v1.KindNodeClaim)},
		{func() convert.Object { return &awsv1alpha1.AWSNodeTemplate{} }, awsv1alpha1.GroupVersion().WithKind(awsv1alpha1.KindAWSNodeTemplate), awsv1.GroupVersion().WithKind(awsv1.KindEC2NodeClass)},
	}
}

// Add adds what looks at the kinds that the cluster has to the manager, whose scheme must know them: see AddToScheme. Of kinds that
// are installed later it hears after a restart.
func Add(mgr ctrl.Manager, o Options) error {
	for _, k := range kinds() {
		_, err := mgr.GetRESTMapper().RESTMapping(k.served.GroupKind(), k.served.Version)
		if meta.IsNoMatchError(err) {
			continue
		}
		if err != nil {
			return fmt.Errorf("whether the cluster has %s can't be found out: %w", k.served.Kind, err)
		}
		r := newReconciler(k, mgr.GetClient(), mgr.GetAPIReader(), mgr.GetEventRecorder("drawknife"), o)
		if err := ctrl.NewControllerManagedBy(mgr).Named("alpha." + strings.ToLower(k.served.Kind)).For(k.empty()).Complete(r); err != nil {
			return err
		}
	}
	return nil
}

// reconciler tells of the objects of one kind.
type reconciler struct {
	kind   kind
	client client.Client
	// reader looks for later objects by name, of kinds that nothing else may be watching.
	reader client.Reader
	events events.EventRecorder
	log    *slog.Logger
	now    func() time.Time

	mu sync.Mutex
	// told is what was said of each object last.
	told map[types.UID]string
}

func newReconciler(k kind, c client.Client, reader client.Reader, recorder events.EventRecorder, o Options) *reconciler {
	r := &reconciler{kind: k, client: c, reader: reader, events: recorder, log: o.Logger, now: o.Now, told: map[types.UID]string{}}
	if r.log == nil {
		r.log = slog.New(slog.DiscardHandler)
	}
	if r.now == nil {
		r.now = time.Now
	}
	return r
}

// Reconcile looks at one object.
func (r *reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	object := r.kind.empty()
	if err := r.client.Get(ctx, request.NamespacedName, object); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	if object.GetDeletionTimestamp() != nil {
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(r.told, object.GetUID())
		return reconcile.Result{}, nil
	}
	reason, message, err := r.advice(ctx, object)
	if err != nil {
		return reconcile.Result{}, err
	}
	if r.news(object.GetUID(), message) {
		r.events.Eventf(object, nil, corev1.EventTypeWarning, reason, reason, "%s", message)
		r.log.Warn("an object of the first generation is not acted on", "kind", r.kind.served.Kind, "name", object.GetName(), "advice", message)
	}
	if provisioner, ok := object.(*v1alpha5.Provisioner); ok {
		err = r.show(ctx, provisioner, reason, message)
	}
	if apierrors.IsConflict(err) {
		return reconcile.Result{RequeueAfter: time.Second}, nil
	}
	return reconcile.Result{RequeueAfter: lookAgain}, client.IgnoreNotFound(err)
}

// lookAgain is how often it is looked at whether there is a later object by now.
const lookAgain = 5 * time.Minute

func (r *reconciler) news(uid types.UID, message string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.told[uid] == message {
		return false
	}
	r.told[uid] = message
	return true
}

// advice is what to do about an object.
func (r *reconciler) advice(ctx context.Context, object convert.Object) (reason, message string, err error) {
	if machine, ok := object.(*v1alpha5.Machine); ok {
		return ReasonNotActedOn, fmt.Sprintf("Machines are not acted on: roll node %s, whose pods then get nodes of a NodePool; see docs/migration.md", machine.Status.NodeName), nil
	}
	later := &metav1.PartialObjectMetadata{}
	later.SetGroupVersionKind(r.kind.later)
	err = r.reader.Get(ctx, client.ObjectKey{Name: object.GetName()}, later)
	switch {
	case err == nil:
		return ReasonSuperseded, fmt.Sprintf("%s/%s has taken its place: roll what is left of its nodes, then delete it; see docs/migration.md", r.kind.later.Kind, object.GetName()), nil
	case !apierrors.IsNotFound(err) && !meta.IsNoMatchError(err) && !apierrors.IsForbidden(err):
		return "", "", err
	}
	copied, _ := object.DeepCopyObject().(convert.Object)
	copied.GetObjectKind().SetGroupVersionKind(r.kind.served)
	result := convert.Rewrite([]convert.Document{{Object: copied}}, convert.Options{IgnoreDefaults: true})
	message = fmt.Sprintf("it is not acted on: write it as %s of %s, as examples/convert prints it, and apply that", r.kind.later.Kind, r.kind.later.GroupVersion())
	if problems := notable(result.Warnings); problems != "" {
		message += "; mind " + problems
	}
	return ReasonNotActedOn, message, nil
}

// longest is how long the message of an event may be.
const longest = 900

// notable are the warnings that are more than information, each with its code and field.
func notable(warnings conversion.Warnings) string {
	var out []string
	for _, w := range warnings {
		if w.Severity != conversion.SeverityInfo {
			out = append(out, strings.TrimSpace(fmt.Sprintf("%s %s", w.Code, w.Path))+": "+w.Message)
		}
	}
	text := strings.Join(out, "; ")
	if len(text) > longest {
		text = strings.ToValidUTF8(text[:longest], "") + "…"
	}
	return text
}

// show keeps the Provisioner's condition Active.
func (r *reconciler) show(ctx context.Context, p *v1alpha5.Provisioner, reason, message string) error {
	next := p.DeepCopy()
	want := v1beta1.Condition{
		Type: v1alpha5.ConditionActive, Status: metav1.ConditionFalse, Severity: "Warning", Reason: reason, Message: message,
		LastTransitionTime: metav1.NewTime(r.now().Truncate(time.Second)),
	}
	at := -1
	for i, c := range next.Status.Conditions {
		if c.Type != want.Type {
			continue
		}
		at = i
		if c.Status == want.Status {
			want.LastTransitionTime = c.LastTransitionTime
		}
		if c == want {
			return nil
		}
	}
	if at < 0 {
		next.Status.Conditions = append(next.Status.Conditions, want)
	} else {
		next.Status.Conditions[at] = want
	}
	return r.client.Status().Patch(ctx, next, client.MergeFromWithOptions(p, client.MergeFromWithOptimisticLock{}))
}

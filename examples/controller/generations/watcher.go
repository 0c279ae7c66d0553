package generations

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/drawknife/drawknife/api/conversion"
	"github.com/drawknife/drawknife/api/option"
	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/api/v1alpha5"
	"github.com/drawknife/drawknife/api/v1beta1"
	awsv1alpha1 "github.com/drawknife/drawknife/aws/api/v1alpha1"
	"github.com/drawknife/drawknife/aws/convert"
)

// Reasons of events and of the condition Active.
const (
	// ReasonUnconvertible: the object can't be converted to a NodePool, NodeClaim or EC2NodeClass, and is ignored.
	ReasonUnconvertible = "Unconvertible"
	// ReasonNoMachines: the cluster lacks the kind Machine, in which new instances of a Provisioner are stored.
	ReasonNoMachines = "NoMachines"
	// ReasonFirstGeneration: the object is managed, and the event mentions differences that its users should know.
	ReasonFirstGeneration = "FirstGeneration"
	// ReasonSuperseded: a v1 object of the same name exists, so nodes of this object can be replaced by nodes of the v1 object.
	ReasonSuperseded = "Superseded"
)

// addWatchers adds the reconcilers of the stored objects.
func addWatchers(mgr ctrl.Manager, t *translator, o Options) error {
	w := newWatcher(t, mgr.GetClient(), mgr.GetAPIReader(), mgr.GetEventRecorder("drawknife"), o)
	if t.has.provisioners {
		b := ctrl.NewControllerManagedBy(mgr).Named("generations.provisioner").For(&v1alpha5.Provisioner{})
		if t.has.templates {
			b = b.Watches(&awsv1alpha1.AWSNodeTemplate{}, handler.EnqueueRequestsFromMapFunc(w.provisionersOf))
		}
		if err := b.Complete(reconcile.Func(w.provisioner)); err != nil {
			return err
		}
	}
	if t.has.machines {
		if err := ctrl.NewControllerManagedBy(mgr).Named("generations.machine").For(&v1alpha5.Machine{}).Complete(reconcile.Func(w.machine)); err != nil {
			return err
		}
	}
	if !t.has.templates {
		return nil
	}
	return ctrl.NewControllerManagedBy(mgr).Named("generations.awsnodetemplate").For(&awsv1alpha1.AWSNodeTemplate{}).Complete(reconcile.Func(w.template))
}

// watcher publishes events on stored v1alpha5 objects: which objects are ignored and why, and advice about other objects. It also sets the
// condition Active of Provisioners.
type watcher struct {
	*translator
	client client.Client
	// reader reads v1 objects by name; this does not start a watch of their kinds.
	reader client.Reader
	events events.EventRecorder
	log    *slog.Logger
	now    func() time.Time

	mu sync.Mutex
	// told contains the last published message about each object.
	told map[types.UID]string
}

func newWatcher(t *translator, c client.Client, reader client.Reader, recorder events.EventRecorder, o Options) *watcher {
	return &watcher{translator: t, client: c, reader: reader, events: recorder, log: o.Logger, now: func() time.Time { return option.Time(o.Clock, time.Now) }, told: map[types.UID]string{}}
}

// provisionersOf returns a request for each Provisioner that refers to the node template.
func (w *watcher) provisionersOf(ctx context.Context, template client.Object) []reconcile.Request {
	var list v1alpha5.ProvisionerList
	if err := w.client.List(ctx, &list); err != nil {
		w.log.Error("cannot list Provisioners of changed node template, ignoring the change", "nodeTemplate", template.GetName(), "error", err)
		return nil
	}
	var out []reconcile.Request
	for i := range list.Items {
		if ref := list.Items[i].Spec.ProviderRef; ref != nil && ref.Name == template.GetName() {
			out = append(out, reconcile.Request{NamespacedName: types.NamespacedName{Name: list.Items[i].Name}})
		}
	}
	return out
}

// lookAgain is the time between two checks whether a v1 object of the same name exists.
const lookAgain = 5 * time.Minute

// verdict is the message about an object, and whether the object is ignored.
type verdict struct {
	reason, message string
	// refused means that the object is ignored.
	refused bool
}

func (w *watcher) provisioner(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	p := &v1alpha5.Provisioner{}
	if gone, err := w.get(ctx, request, p); gone || err != nil {
		return reconcile.Result{}, err
	}
	v, err := w.judge(ctx, p)
	if err != nil {
		return reconcile.Result{}, err
	}
	w.say(p, v)
	if err := w.show(ctx, p, v); apierrors.IsConflict(err) {
		return reconcile.Result{RequeueAfter: time.Second}, nil
	} else if client.IgnoreNotFound(err) != nil {
		return reconcile.Result{}, err
	}
	return reconcile.Result{RequeueAfter: lookAgain}, nil
}

// judge returns the message about a Provisioner: its problems and notes.
func (w *watcher) judge(ctx context.Context, p *v1alpha5.Provisioner) (verdict, error) {
	pool, warnings := w.pool(p)
	if ref := p.Spec.ProviderRef; ref != nil && w.has.templates && (ref.Kind == "" || ref.Kind == awsv1alpha1.KindAWSNodeTemplate) {
		template := &awsv1alpha1.AWSNodeTemplate{}
		err := w.client.Get(ctx, client.ObjectKey{Name: ref.Name}, template)
		switch {
		case err == nil:
			_, more := w.class(template, nil)
			warnings = append(warnings, more...)
		case !apierrors.IsNotFound(err):
			return verdict{}, err
		}
	}
	switch {
	case pool == nil || warnings.Err() != nil:
		return verdict{ReasonUnconvertible, "nothing is launched for it, and its nodes stay: " + problems(warnings, conversion.SeverityError), true}, nil
	case !w.has.machines:
		return verdict{ReasonNoMachines, fmt.Sprintf("nothing is launched for it: the cluster lacks the kind %s of %s, as which its machines are stored; install its definition and restart the controller",
			machineKind.Kind, machineKind.GroupVersion()), true}, nil
	}
	later := &metav1.PartialObjectMetadata{}
	later.SetGroupVersionKind(v1.GroupVersion().WithKind(v1.KindNodePool))
	switch err := w.reader.Get(ctx, client.ObjectKey{Name: p.Name}, later); {
	case err == nil:
		return verdict{reason: ReasonSuperseded, message: fmt.Sprintf("NodePool/%s exists in addition to it: taint it with karpenter.sh/legacy=true:NoSchedule to have its nodes replaced one by one, then delete it; see docs/migration.md", p.Name)}, nil
	case !apierrors.IsNotFound(err):
		return verdict{}, err
	}
	message := fmt.Sprintf("it is acted on as it is; to move on, apply the NodePool that examples/convert prints, of %s", v1.GroupVersion())
	if mind := problems(warnings, conversion.SeverityWarn); mind != "" {
		message += "; mind " + mind
	}
	return verdict{reason: ReasonFirstGeneration, message: message}, nil
}

func (w *watcher) machine(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	m := &v1alpha5.Machine{}
	if gone, err := w.get(ctx, request, m); gone || err != nil {
		return reconcile.Result{}, err
	}
	if warnings := w.read(m, machineKind, w.options).Warnings; warnings.Err() != nil {
		w.say(m, verdict{ReasonUnconvertible, "it is left alone, and so is its instance: " + problems(warnings, conversion.SeverityError), true})
	}
	return reconcile.Result{}, nil
}

func (w *watcher) template(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	n := &awsv1alpha1.AWSNodeTemplate{}
	if gone, err := w.get(ctx, request, n); gone || err != nil {
		return reconcile.Result{}, err
	}
	_, warnings := w.class(n, nil)
	switch mind := problems(warnings, conversion.SeverityWarn); {
	case warnings.Err() != nil:
		w.say(n, verdict{ReasonUnconvertible, "nothing is launched from it: " + problems(warnings, conversion.SeverityError), true})
	case mind != "":
		w.say(n, verdict{reason: ReasonFirstGeneration, message: "it is acted on; mind " + mind})
	}
	return reconcile.Result{}, nil
}

// get reads the object of a request; gone is true if it does not exist or is being deleted.
func (w *watcher) get(ctx context.Context, request reconcile.Request, object convert.Object) (gone bool, err error) {
	o, _ := object.(client.Object)
	if err := w.client.Get(ctx, request.NamespacedName, o); err != nil {
		return true, client.IgnoreNotFound(err)
	}
	if object.GetDeletionTimestamp() == nil {
		return false, nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.told, object.GetUID())
	return true, nil
}

// say publishes a message unless it is the last message about the object.
func (w *watcher) say(object convert.Object, v verdict) {
	w.mu.Lock()
	known := w.told[object.GetUID()] == v.message
	w.told[object.GetUID()] = v.message
	w.mu.Unlock()
	if known {
		return
	}
	kind, level := corev1.EventTypeNormal, slog.LevelInfo
	if v.refused {
		kind, level = corev1.EventTypeWarning, slog.LevelWarn
	}
	w.events.Eventf(object, nil, kind, v.reason, v.reason, "%s", v.message)
	w.log.Log(context.Background(), level, "checked v1alpha5 object", "kind", fmt.Sprintf("%T", object), "name", object.GetName(), "reason", v.reason, "advice", v.message)
}

// longest is the maximum length of an event's message.
const longest = 900

// problems returns the warnings with the severity least, and all errors, each with its code and field. The text is cut after longest bytes.
func problems(warnings conversion.Warnings, least conversion.Severity) string {
	var out []string
	for _, one := range warnings {
		if one.Severity == least || one.Severity == conversion.SeverityError {
			out = append(out, strings.TrimSpace(fmt.Sprintf("%s %s %s", one.Code, one.Object, one.Path))+": "+one.Message)
		}
	}
	text := strings.Join(out, "; ")
	if len(text) > longest {
		text = strings.ToValidUTF8(text[:longest], "") + "…"
	}
	return text
}

// show writes the Provisioner's condition Active: the condition Ready of its pool, or false if the Provisioner is ignored.
func (w *watcher) show(ctx context.Context, p *v1alpha5.Provisioner, v verdict) error {
	want := v1beta1.Condition{
		Type: v1alpha5.ConditionActive, Status: metav1.ConditionFalse, Reason: v.reason, Message: v.message,
		LastTransitionTime: metav1.NewTime(w.now().Truncate(time.Second)),
	}
	if !v.refused {
		ready := metav1.Condition{Status: metav1.ConditionUnknown, Reason: "AwaitingReconciliation"}
		for _, c := range conditionsOfPool(p.Status.Conditions, p.Generation) {
			if c.Type == v1.ConditionReady {
				ready = c
			}
		}
		want.Status, want.Reason, want.Message = ready.Status, ready.Reason, ready.Message
	}
	next := p.DeepCopy()
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
	return w.client.Status().Patch(ctx, next, client.MergeFromWithOptions(p, client.MergeFromWithOptimisticLock{}))
}

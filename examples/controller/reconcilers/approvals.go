package reconcilers

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/drawknife/drawknife/api/option"
	"github.com/drawknife/drawknife/disruption"
)

// These are the label and the annotations of the ConfigMap of a command that waits for approval; docs/disruption.md has the kubectl
// commands.
const (
	// ApprovalStateLabelKey is the label with an ApprovalState.
	ApprovalStateLabelKey = "drawknife.dev/disruption-approval"
	// ApprovalDigestAnnotationKey is the digest of the command, ApprovalDeadlineAnnotationKey is the time until which the command waits
	// (RFC 3339).
	ApprovalDigestAnnotationKey   = "drawknife.dev/disruption-digest"
	ApprovalDeadlineAnnotationKey = "drawknife.dev/disruption-deadline"
	// ApprovedAnnotationKey is the annotation that approves the command: its value must be the digest. RefusedAnnotationKey is the
	// annotation that refuses the command: its value is the reason. DecidedByAnnotationKey is the optional name of the person who decided.
	ApprovedAnnotationKey  = "drawknife.dev/disruption-approved"
	RefusedAnnotationKey   = "drawknife.dev/disruption-refused"
	DecidedByAnnotationKey = "drawknife.dev/disruption-decided-by"
	// ApprovalOutcomeAnnotationKey is the result of the command, as a sentence. ApprovalRestsAnnotationKey is the time before which a
	// refused or expired command is not proposed again (RFC 3339).
	ApprovalOutcomeAnnotationKey = "drawknife.dev/disruption-outcome"
	ApprovalRestsAnnotationKey   = "drawknife.dev/disruption-rests-until"
)

// ApprovalState is the state of a command that needs approval.
type ApprovalState string

// The states, values of ApprovalStateLabelKey.
const (
	ApprovalWaiting ApprovalState = "waiting"
	// ApprovalApproved: the command will be validated and started.
	ApprovalApproved ApprovalState = "approved"
	// ApprovalRefused and ApprovalExpired: the command was dropped because someone refused it, or because nobody approved it in time.
	ApprovalRefused ApprovalState = "refused"
	ApprovalExpired ApprovalState = "expired"
	// ApprovalOutdated: the fleet has changed, so the command is no longer valid or no longer planned.
	ApprovalOutdated ApprovalState = "outdated"
	// ApprovalDone: the command was completed. ApprovalFailed: the command was undone.
	ApprovalDone   ApprovalState = "done"
	ApprovalFailed ApprovalState = "failed"
)

const (
	// approvalPrefix is the prefix of ConfigMap names, before the digest.
	approvalPrefix = "drawknife-disruption-"
	// approvalSweep is the time between two checks of the ConfigMaps of unknown commands; approvalKept is how long ConfigMaps are kept
	// after their deadline.
	approvalSweep = time.Minute
	approvalKept  = time.Hour
	// longestOutcome is the maximum length of an outcome's reason: all annotations of an object share one size limit.
	longestOutcome = 1024
	// unplannedAfter is the time after which a process marks the ConfigMap of an earlier process as outdated, if it has not planned the
	// same command itself.
	unplannedAfter = 15 * time.Minute
)

// approvals is a disruption.Approver that holds commands as ConfigMaps. All state that must outlive the process is in these ConfigMaps. A
// command that is planned again after a restart has the same digest, so its ConfigMap is found again, approved or not. Commands are never
// read from ConfigMaps. So a person who can write ConfigMaps can't cause actions that were not planned.
type approvals struct {
	client    client.Client
	reader    client.Reader
	namespace string
	wait      time.Duration
	log       *slog.Logger
	now       func() time.Time
	told      func(ApprovalState)

	mu sync.Mutex
	// known contains waiting and approved commands, by ID. unsaved contains outcomes that are not stored yet, by digest.
	known   map[string]*approvalObject
	unsaved map[string]approvalOutcome
	// began is when this process first checked the ConfigMaps as leader; swept is when it last checked the ConfigMaps.
	began, swept time.Time
}

// approvalObject is the ConfigMap of a command.
type approvalObject struct {
	digest, name string
	uid          types.UID
	deadline     time.Time
	approved     bool
}

// approvalOutcome is the result of a command.
type approvalOutcome struct {
	state ApprovalState
	why   string
	rests time.Time
	uid   types.UID
}

func newApprovals(act *actor, reader client.Reader, o *DisruptionOptions, told func(ApprovalState)) *approvals {
	return &approvals{
		client: act.client, reader: reader, namespace: o.ApprovalNamespace, wait: max(0, option.Or(o.Approval.Wait, disruption.DefaultApprovalWait)),
		log: act.log, now: act.now, told: told, known: map[string]*approvalObject{}, unsaved: map[string]approvalOutcome{},
	}
}

// Approve writes the command to a ConfigMap, and returns the decision.
func (a *approvals) Approve(ctx context.Context, cmd *disruption.Command) (disruption.Approval, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	known := a.known[cmd.ID]
	if known == nil {
		var answer *disruption.Approval
		var err error
		if known, answer, err = a.propose(ctx, cmd); err != nil || answer != nil {
			return orPending(answer), err
		}
		a.known[cmd.ID] = known
	}
	object := &corev1.ConfigMap{}
	err := a.reader.Get(ctx, types.NamespacedName{Namespace: a.namespace, Name: known.name}, object)
	switch {
	case apierrors.IsNotFound(err), err == nil && object.UID != known.uid:
		return disruption.Approval{Decision: disruption.Refused, Reason: "ConfigMap " + known.name + " was deleted", For: &a.wait}, nil
	case err != nil:
		return disruption.Approval{}, err
	}
	return a.decision(ctx, known, object), nil
}

func orPending(answer *disruption.Approval) disruption.Approval {
	if answer == nil {
		return disruption.Approval{}
	}
	return *answer
}

// decision reads the decision from the ConfigMap. The caller holds a.mu.
func (a *approvals) decision(ctx context.Context, known *approvalObject, object *corev1.ConfigMap) disruption.Approval {
	by := object.Annotations[DecidedByAnnotationKey]
	if why, refused := object.Annotations[RefusedAnnotationKey]; refused {
		return disruption.Approval{Decision: disruption.Refused, By: by, Reason: why, For: &a.wait}
	}
	approved, has := object.Annotations[ApprovedAnnotationKey]
	switch {
	case has && approved == known.digest:
		if !known.approved {
			known.approved = true
			a.told(ApprovalApproved)
			a.log.Info("approved command", "configMap", known.name, "digest", known.digest, "by", by)
			// The state in the label is only for information: the annotation is the approval.
			if err := a.save(ctx, object, approvalOutcome{state: ApprovalApproved}); err != nil {
				a.log.Warn("cannot record approval, carrying out the command nevertheless", "configMap", known.name, "error", err)
			}
		}
		return disruption.Approval{Decision: disruption.Approved, By: by}
	case has:
		return disruption.Approval{Reason: fmt.Sprintf("annotation %s of ConfigMap %s is %q, and the digest is %s", ApprovedAnnotationKey, known.name, approved, known.digest)}
	case !a.now().Before(known.deadline):
		return disruption.Approval{Decision: disruption.Refused, Reason: fmt.Sprintf("nobody approved of it within %s", a.wait), For: new(disruption.DefaultRefusal)}
	}
	return disruption.Approval{Reason: fmt.Sprintf("kubectl annotate configmap -n %s %s %s=%s", a.namespace, known.name, ApprovedAnnotationKey, known.digest)}
}

// propose finds or creates the command's ConfigMap. If an earlier refusal of the same command is still in force, it returns that refusal.
// The caller holds a.mu.
func (a *approvals) propose(ctx context.Context, cmd *disruption.Command) (*approvalObject, *disruption.Approval, error) {
	digest := cmd.Digest()
	if err := a.flush(ctx, digest); err != nil {
		return nil, nil, err
	}
	name := approvalPrefix + digest
	now := a.now()
	object := &corev1.ConfigMap{}
	switch err := a.reader.Get(ctx, types.NamespacedName{Namespace: a.namespace, Name: name}, object); {
	case apierrors.IsNotFound(err):
	case err != nil:
		return nil, nil, err
	default:
		state, deadline := ApprovalState(object.Labels[ApprovalStateLabelKey]), timeIn(object, ApprovalDeadlineAnnotationKey)
		if open(state) && now.Before(deadline) && object.Annotations[ApprovalDigestAnnotationKey] == digest && object.Immutable != nil && *object.Immutable {
			a.log.Info("found command proposed by an earlier process", "command", cmd.ID, "configMap", name, "digest", digest, "deadline", deadline)
			return &approvalObject{digest: digest, name: name, uid: object.UID, deadline: deadline}, nil, nil
		}
		if rests := timeIn(object, ApprovalRestsAnnotationKey); (state == ApprovalRefused || state == ApprovalExpired) && now.Before(rests) {
			return nil, &disruption.Approval{Decision: disruption.Refused, Reason: object.Annotations[ApprovalOutcomeAnnotationKey], For: new(rests.Sub(now))}, nil
		}
		if err := a.remove(ctx, object); err != nil {
			return nil, nil, err
		}
	}
	deadline := now.Add(a.wait)
	object, err := a.object(cmd, digest, deadline)
	if err != nil {
		return nil, nil, err
	}
	if err := a.client.Create(ctx, object); err != nil {
		return nil, nil, fmt.Errorf("proposing command %s: %w", cmd.ID, err)
	}
	a.log.Info("proposed command for approval", "command", cmd.ID, "description", cmd.String(), "configMap", name, "digest", digest, "deadline", deadline)
	return &approvalObject{digest: digest, name: name, uid: object.UID, deadline: deadline}, nil, nil
}

// open reports whether somebody may still decide about a command in this state.
func open(state ApprovalState) bool { return state == ApprovalWaiting || state == ApprovalApproved }

// timeIn returns the time in an annotation, or zero if the annotation is missing or contains no time.
func timeIn(object client.Object, key string) time.Time {
	t, err := time.Parse(time.RFC3339, object.GetAnnotations()[key])
	if err != nil {
		return time.Time{}
	}
	return t
}

// adopt finds the ConfigMap of an approved command that an earlier process started, so that the command's outcome can be written to it.
// Commands that started without approval, or with fewer members than approved, have no ConfigMap.
func (a *approvals) adopt(ctx context.Context, id, digest string) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	object := &corev1.ConfigMap{}
	if err := a.reader.Get(ctx, types.NamespacedName{Namespace: a.namespace, Name: approvalPrefix + digest}, object); err != nil {
		return client.IgnoreNotFound(err)
	}
	if _, approved := object.Annotations[ApprovedAnnotationKey]; approved && open(ApprovalState(object.Labels[ApprovalStateLabelKey])) {
		a.known[id] = &approvalObject{digest: digest, name: object.Name, uid: object.UID, deadline: timeIn(object, ApprovalDeadlineAnnotationKey), approved: true}
	}
	return nil
}

// ended records the outcome of a command that needed approval.
func (a *approvals) ended(ctx context.Context, id string, step disruption.Step) {
	a.mu.Lock()
	defer a.mu.Unlock()
	known := a.known[id]
	if known == nil {
		return
	}
	delete(a.known, id)
	out := outcomeOf(step, known, a.now())
	if out.state != ApprovalDone && out.state != ApprovalFailed {
		a.told(out.state)
	}
	a.unsaved[known.digest] = out
	if err := a.flush(ctx, known.digest); err != nil {
		a.log.Warn("cannot record state of command, retrying later", "configMap", known.name, "state", out.state, "error", err)
	}
}

func outcomeOf(step disruption.Step, known *approvalObject, now time.Time) approvalOutcome {
	out := approvalOutcome{state: ApprovalFailed, uid: known.uid}
	var refused *disruption.RefusedError
	switch {
	case step.State == disruption.StateDone:
		out.state = ApprovalDone
	case errors.As(step.Err, &refused):
		out.state, out.rests = ApprovalRefused, now.Add(refused.For)
		if refused.Late || !now.Before(known.deadline) {
			out.state = ApprovalExpired
		}
	case errors.Is(step.Err, disruption.ErrVoid):
		out.state = ApprovalOutdated
	}
	if step.Err != nil {
		out.why = cut(step.Err.Error(), longestOutcome)
	}
	return out
}

// flush stores the outcome for the digest, if it is not stored yet. The caller holds a.mu.
func (a *approvals) flush(ctx context.Context, digest string) error {
	out, has := a.unsaved[digest]
	if !has {
		return nil
	}
	object := &corev1.ConfigMap{}
	err := a.reader.Get(ctx, types.NamespacedName{Namespace: a.namespace, Name: approvalPrefix + digest}, object)
	if err == nil && object.UID == out.uid {
		err = a.save(ctx, object, out)
	}
	if client.IgnoreNotFound(err) != nil {
		return err
	}
	delete(a.unsaved, digest)
	return nil
}

// save writes an outcome to the ConfigMap.
func (a *approvals) save(ctx context.Context, base *corev1.ConfigMap, out approvalOutcome) error {
	want := base.DeepCopy()
	if want.Labels == nil {
		want.Labels = map[string]string{}
	}
	if want.Annotations == nil {
		want.Annotations = map[string]string{}
	}
	want.Labels[ApprovalStateLabelKey] = string(out.state)
	if out.why != "" {
		want.Annotations[ApprovalOutcomeAnnotationKey] = out.why
	}
	if !out.rests.IsZero() {
		want.Annotations[ApprovalRestsAnnotationKey] = out.rests.UTC().Format(time.RFC3339)
	}
	return a.client.Patch(ctx, want, client.MergeFrom(base))
}

func (a *approvals) remove(ctx context.Context, object *corev1.ConfigMap) error {
	return deleteExactly(ctx, a.client, object)
}

// sweep checks the ConfigMaps of unknown commands from time to time. If a command of an earlier process was not planned again, its
// ConfigMap becomes outdated. A ConfigMap is deleted an hour after its deadline, or an hour after the end of a refusal if that is later.
func (a *approvals) sweep(ctx context.Context) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	now := a.now()
	if now.Sub(a.swept) < approvalSweep {
		return nil
	}
	if a.began.IsZero() {
		a.began = now
	}
	var errs []error
	for digest := range a.unsaved {
		errs = append(errs, a.flush(ctx, digest))
	}
	list := &corev1.ConfigMapList{}
	if err := a.reader.List(ctx, list, client.InNamespace(a.namespace), client.HasLabels{ApprovalStateLabelKey}); err != nil {
		return errors.Join(append(errs, fmt.Errorf("listing commands that wait for approval: %w", err))...)
	}
	a.swept = now
	known := map[string]bool{}
	for _, o := range a.known {
		known[o.name] = true
	}
	for i := range list.Items {
		if object := &list.Items[i]; !known[object.Name] {
			errs = append(errs, a.tidy(ctx, object, now))
		}
	}
	return errors.Join(errs...)
}

// tidy marks one ConfigMap as expired or outdated, or deletes it, if its time has come.
func (a *approvals) tidy(ctx context.Context, object *corev1.ConfigMap, now time.Time) error {
	state, deadline := ApprovalState(object.Labels[ApprovalStateLabelKey]), timeIn(object, ApprovalDeadlineAnnotationKey)
	last := deadline
	if rests := timeIn(object, ApprovalRestsAnnotationKey); rests.After(last) {
		last = rests
	}
	switch {
	case now.Sub(last) >= approvalKept:
		if err := a.remove(ctx, object); err != nil {
			return client.IgnoreNotFound(err)
		}
		a.log.Info("deleted ConfigMap of command", "configMap", object.Name, "state", state)
		return nil
	case state == ApprovalWaiting && !now.Before(deadline):
		return client.IgnoreNotFound(a.save(ctx, object, approvalOutcome{state: ApprovalExpired, why: "nobody approved in time"}))
	case state == ApprovalWaiting && now.Sub(a.began) >= unplannedAfter:
		return client.IgnoreNotFound(a.save(ctx, object, approvalOutcome{state: ApprovalOutdated, why: "it is not planned any more: another process planned since"}))
	}
	return nil
}

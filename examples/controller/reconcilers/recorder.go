package reconcilers

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"

	"github.com/drawknife/drawknife/api/option"
	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/provisioning"
)

// recorder publishes events. Each event has its own rate limit.
type recorder struct {
	sink events.EventRecorder
	now  func() time.Time
	// classVersions are the API versions of kinds of node classes.
	classVersions map[string]string

	mu sync.Mutex
	// until is the time at which each event may be published again.
	until map[eventKey]time.Time
	// nominations have one common rate limit, because a large pass has events for thousands of pods. The value is the number of tokens that
	// were left at the time refilled.
	nominations float64
	refilled    time.Time
}

type eventKey struct {
	kind, namespace, name string
	uid                   types.UID
	reason                provisioning.EventReason
	// identity distinguishes events with the same reason that have separate rate limits.
	identity string
}

const (
	// mostRemembered limits how many events are remembered. If there are more, all are forgotten, so at worst an event is published twice.
	mostRemembered = 20_000
	// nominationRate and nominationBurst limit the number of Nominated events.
	nominationRate  = 5.0 // per second
	nominationBurst = 10.0
)

func newRecorder(sink events.EventRecorder, now func() time.Time) *recorder {
	return &recorder{sink: sink, now: now, until: map[eventKey]time.Time{}, nominations: nominationBurst, refilled: now()}
}

func (r *recorder) publish(list []provisioning.Event) {
	for i := range list {
		r.publishAs("", list[i])
	}
}

// publishAs publishes an event with its own rate limit: events of other identities don't delay it.
func (r *recorder) publishAs(identity string, e provisioning.Event) {
	if r.admit(&e, identity) {
		r.publishOne(&e, identity)
	}
}

// admit reports whether the event may be published now. If it is true, it records the event as published.
func (r *recorder) admit(e *provisioning.Event, identity string) bool {
	key := eventKey{e.Kind, e.Namespace, e.Name, e.UID, e.Reason, identity}
	now := r.now()
	r.mu.Lock()
	defer r.mu.Unlock()
	if now.Before(r.until[key]) {
		return false
	}
	if e.Reason == provisioning.EventNominated && !r.takeNomination(now) {
		return false
	}
	if len(r.until) >= mostRemembered {
		r.prune(now)
	}
	r.until[key] = now.Add(option.Or(e.Every, provisioning.DefaultEventInterval))
	return true
}

func (r *recorder) takeNomination(now time.Time) bool {
	r.nominations = min(nominationBurst, r.nominations+nominationRate*now.Sub(r.refilled).Seconds())
	r.refilled = now
	if r.nominations < 1 {
		return false
	}
	r.nominations--
	return true
}

// prune forgets events whose rate limit has passed, and all events if there are still too many.
func (r *recorder) prune(now time.Time) {
	for key, until := range r.until {
		if !now.Before(until) {
			delete(r.until, key)
		}
	}
	if len(r.until) >= mostRemembered {
		clear(r.until)
	}
}

// apiVersions are the API versions of the kinds that have events.
var apiVersions = map[string]string{
	"Pod": "v1", "Node": "v1", "NodePool": v1.GroupVersion().String(), "NodeClaim": v1.GroupVersion().String(),
}

// longestAction and longestNote are the limits of the API in bytes: it refuses events with longer texts.
const (
	longestAction = 128
	longestNote   = 1024
)

// cut returns text; if text has more bytes than the maximum most, it returns the beginning of text, with dots at the end.
func cut(text string, most int) string {
	const dots = "..."
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most-len(dots)], "") + dots
}

// actionOf returns the action of an event, which must differ between events with the same reason about one object: client-go merges events
// with the same action and keeps only the first message.
func actionOf(reason provisioning.EventReason, identity string) string {
	switch {
	case identity == "":
		return string(reason)
	case len(identity) <= longestAction:
		return identity
	}
	return fmt.Sprintf("%s-%x", reason, sha256.Sum256([]byte(identity)))[:min(longestAction, len(reason)+1+2*sha256.Size)]
}

func (r *recorder) publishOne(e *provisioning.Event, identity string) {
	kind := corev1.EventTypeNormal
	if e.Warning {
		kind = corev1.EventTypeWarning
	}
	version := apiVersions[e.Kind]
	if version == "" {
		version = r.classVersions[e.Kind]
	}
	about := &corev1.ObjectReference{APIVersion: version, Kind: e.Kind, Namespace: e.Namespace, Name: e.Name, UID: e.UID}
	r.sink.Eventf(about, nil, kind, string(e.Reason), actionOf(e.Reason, identity), "%s", cut(e.Message, longestNote))
}

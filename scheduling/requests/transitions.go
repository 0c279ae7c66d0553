package requests

import (
	"maps"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/drawknife/drawknife/api/autoscaling/v1"
)

const (
	yes = metav1.ConditionTrue
	no  = metav1.ConditionFalse
)

// set makes a condition of the request true.
func (r *Round) set(d *demand, conditionType, reason, message string) {
	d.answer.SetCondition(conditionType, yes, reason, shortened(message), r.in.Snapshot.Time)
}

// provision books the places for the request. It ends the request if the request's status has no room for all places.
func (r *Round) provision(d *demand, reason, message string, p places) {
	details := d.answer.Status.ProvisioningClassDetails
	if !p.write(details) {
		maps.DeleteFunc(details, func(key string, _ v1.Detail) bool { return isBooking(key) })
		r.set(d, v1.ConditionFailed, v1.ReasonFailedToCreatePods, "it asks for more pods on more nodes than a status can name: make smaller requests")
		return
	}
	if now := r.in.Snapshot.Time; !now.IsZero() {
		details[v1.DetailBookedUntil] = v1.Detail(now.Add(r.bookFor()).UTC().Format(time.RFC3339))
	}
	d.booked = p
	r.set(d, v1.ConditionProvisioned, reason, message)
	slots := d.slots()
	for i := range slots {
		slots[i].taker = nil // waiting pods use the room from the next round on, and in this round the room is reserved for them
	}
	r.keep(d, slots)
}

// wait records why the request can't be provisioned now. If the request's time is over, the request has failed. If not, the next round
// tries it again.
func (r *Round) wait(d *demand, reason, message string) {
	d.answer.SetCondition(v1.ConditionProvisioned, no, reason, shortened(message), r.in.Snapshot.Time)
	if r.late(d.given) {
		r.set(d, v1.ConditionFailed, v1.ReasonExpired, "its time is over: "+message)
	}
}

// notFound records that there is no room for the request. If ParameterNoRetry is set or the request's time is over, the request has failed.
// If not, it is tried again.
func (r *Round) notFound(d *demand, message string) {
	if d.class() != v1.ClassPlan && d.given.Spec.Parameters[v1.ParameterNoRetry] == "true" {
		d.answer.SetCondition(v1.ConditionProvisioned, no, v1.ReasonCapacityIsNotFound, shortened(message), r.in.Snapshot.Time)
		r.set(d, v1.ConditionFailed, v1.ReasonCapacityIsNotFound, message)
		return
	}
	r.wait(d, v1.ReasonCapacityIsNotFound, message)
}

// revoke ends a booking whose room no longer exists. v1.ConditionCapacityRevoked makes Kueue give up a job permanently. This is right only
// for a job whose pods wait and would never be placed, because no nodes are launched for these pods. Other jobs can make a new request.
func (r *Round) revoke(d *demand, reason, message string) {
	if d.class() == v1.ClassCheckCapacity && d.used() {
		r.set(d, v1.ConditionCapacityRevoked, reason, message)
		return
	}
	r.set(d, v1.ConditionBookingExpired, reason, message)
}

// maxMessage is the maximum length of a condition's message.
const maxMessage = 32768

func shortened(message string) string {
	if len(message) <= maxMessage {
		return message
	}
	return strings.ToValidUTF8(message[:maxMessage-3], "") + "…"
}

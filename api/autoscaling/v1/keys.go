package v1

// Classes of requests that are answered here.
const (
	// ClassCheckCapacity asks whether nodes that are there have room now, and books it. Nothing is launched.
	ClassCheckCapacity = "check-capacity.autoscaling.x-k8s.io"
	// ClassBestEffortAtomicScaleUp asks for room for all pods, on new nodes where need be, or for nothing.
	ClassBestEffortAtomicScaleUp = "best-effort-atomic-scale-up.autoscaling.x-k8s.io"
	// ClassPlan asks what ClassBestEffortAtomicScaleUp would launch, and what that would cost. Nothing is launched, and nothing booked.
	ClassPlan = "plan.drawknife.dev"
)

// Parameters of these classes.
const (
	// ParameterValidUntilSeconds is for how many seconds after its creation a request is tried; DefaultValidFor if it does not say.
	ParameterValidUntilSeconds = "ValidUntilSeconds"
	// ParameterNoRetry is "true" for a request of ClassCheckCapacity or ClassBestEffortAtomicScaleUp that fails as soon as there is no
	// room, in place of being tried again. While nodes for it are on their way there is room. "false" is the default.
	ParameterNoRetry = "noRetry"
	// ParameterPartialCapacityCheck has ClassCheckCapacity look at each PodSet for itself when there is no room for all: one of the
	// Partial constants.
	ParameterPartialCapacityCheck = "partialCapacityCheck"
	// PartialBook books room for the PodSets that have some, which counts as provisioned.
	PartialBook = "bookPartial"
	// PartialCheckOnly says which PodSets have room and books none.
	PartialCheckOnly = "checkOnly"
)

// Annotations of pods that use what a request has booked.
const (
	// ConsumeAnnotationKey names the request, in the pod's namespace.
	ConsumeAnnotationKey = "autoscaling.x-k8s.io/consume-provisioning-request"
	// ClassAnnotationKey names the request's class.
	ClassAnnotationKey = "autoscaling.x-k8s.io/provisioning-class-name"
	// ConsumeAnnotationKeyOld and ClassAnnotationKeyOld are what they were called first.
	ConsumeAnnotationKeyOld = "cluster-autoscaler.kubernetes.io/consume-provisioning-request"
	ClassAnnotationKeyOld   = "cluster-autoscaler.kubernetes.io/provisioning-class-name"
)

// Conditions of a request.
const (
	// ConditionAccepted: the request is understood, and will be answered.
	ConditionAccepted = "Accepted"
	// ConditionProvisioned: there is room for the pods, and it is booked.
	ConditionProvisioned = "Provisioned"
	// ConditionFailed: the request will not be tried again.
	ConditionFailed = "Failed"
	// ConditionBookingExpired: the time is over for which room was booked, or the room has gone and no pod uses it.
	ConditionBookingExpired = "BookingExpired"
	// ConditionCapacityRevoked: room that was booked is not there any more, and pods that use it will go on waiting.
	ConditionCapacityRevoked = "CapacityRevoked"
)

// Reasons of ConditionAccepted.
const (
	// ReasonAccepted (True).
	ReasonAccepted = "Accepted"
	// ReasonPodTemplateNotFound (False): a PodTemplate is not there, or not yet.
	ReasonPodTemplateNotFound = "PodTemplateNotFound"
)

// Reasons of ConditionProvisioned.
const (
	// ReasonCapacityIsFound (True): nodes that are there have room.
	ReasonCapacityIsFound = "CapacityIsFound"
	// ReasonPartialCapacityIsFound: nodes that are there have room for some of the PodSets. True if it is booked.
	ReasonPartialCapacityIsFound = "PartialCapacityIsFound"
	// ReasonCapacityIsProvisioned (True): there is room, some of it on nodes that were launched for the request.
	ReasonCapacityIsProvisioned = "CapacityIsProvisioned"
	// ReasonCapacityIsBeingProvisioned (False): nodes for the request are on their way.
	ReasonCapacityIsBeingProvisioned = "CapacityIsBeingProvisioned"
	// ReasonCapacityIsPlanned (False): of ClassPlan; details say what would be launched.
	ReasonCapacityIsPlanned = "CapacityIsPlanned"
	// ReasonCapacityIsNotFound (False): there is no room; it is tried again. Also a reason of ConditionFailed, if it is not.
	ReasonCapacityIsNotFound = "CapacityIsNotFound"
)

// Reasons of ConditionFailed, ConditionBookingExpired and ConditionCapacityRevoked; all of them True.
const (
	// ReasonExpired: of ConditionFailed; the request's time is over.
	ReasonExpired = "Expired"
	// ReasonFailedToCreatePods: of ConditionFailed; the request or a PodTemplate makes no sense.
	ReasonFailedToCreatePods = "FailedToCreatePods"
	// ReasonCapacityReservationTimeExpired: of ConditionBookingExpired.
	ReasonCapacityReservationTimeExpired = "CapacityReservationTimeExpired"
	// ReasonCapacityIsLost: of ConditionCapacityRevoked and ConditionBookingExpired; a node has gone, or others have taken the room.
	ReasonCapacityIsLost = "CapacityIsLost"
)

// Details of an answer.
const (
	// DetailSchedulablePodSets lists, as JSON, the names of the PodTemplates whose PodSets have room: see ParameterPartialCapacityCheck.
	DetailSchedulablePodSets = "schedulablePodSets"
	// DetailBooking is on which nodes how many pods of each PodSet are booked: for each node a line "NAME 2,1". One that is too long
	// goes on in DetailBooking + "-1", and so on.
	DetailBooking = "booking"
	// DetailBookedUntil is when the booking ends, in RFC 3339.
	DetailBookedUntil = "bookedUntil"
	// DetailPlanHourlyCost is what the new nodes would cost, in USD per hour.
	DetailPlanHourlyCost = "plan.hourlyCost"
	// DetailPlanNodes lists, as JSON, the new nodes that are alike, with count, nodePool, instanceType, zone, capacityType, and the hourly
	// price of one.
	DetailPlanNodes = "plan.nodes"
	// DetailPlanExistingPods is how many of the pods have room on nodes that are there.
	DetailPlanExistingPods = "plan.existingPods"
	// DetailPlanValidUntil is until when the answer is good, in RFC 3339; then it is renewed.
	DetailPlanValidUntil = "plan.validUntil"
)

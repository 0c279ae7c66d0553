package v1

// Classes of requests that drawknife answers.
const (
	// ClassCheckCapacity asks whether existing nodes have room now, and books this room. Nothing is launched.
	ClassCheckCapacity = "check-capacity.autoscaling.x-k8s.io"
	// ClassBestEffortAtomicScaleUp asks for room for all pods together, on new nodes if necessary.
	ClassBestEffortAtomicScaleUp = "best-effort-atomic-scale-up.autoscaling.x-k8s.io"
	// ClassPlan asks what ClassBestEffortAtomicScaleUp would launch, and what that would cost. It launches nothing and books nothing.
	ClassPlan = "plan.drawknife.dev"
)

// The parameters of requests of these classes.
const (
	// ParameterValidUntilSeconds is the time in seconds, counted from the request's creation, in which drawknife tries to answer the
	// request. Without this parameter, DefaultValidFor applies.
	ParameterValidUntilSeconds = "ValidUntilSeconds"
	// ParameterNoRetry is "true" if a request of ClassCheckCapacity or ClassBestEffortAtomicScaleUp must fail as soon as there is no
	// room, instead of being tried again. Nodes that are being launched for the request count as room. "false" is the default.
	ParameterNoRetry = "noRetry"
	// ParameterPartialCapacityCheck, one of the Partial constants, makes ClassCheckCapacity check each PodSet separately if there is no
	// room for all of them.
	ParameterPartialCapacityCheck = "partialCapacityCheck"
	// PartialBook books room for the PodSets for which there is room. The request then counts as provisioned.
	PartialBook = "bookPartial"
	// PartialCheckOnly reports for which PodSets there is room, and books no room.
	PartialCheckOnly = "checkOnly"
)

// Annotations of pods that use the room that a request has booked.
const (
	// ConsumeAnnotationKey names the request, in the pod's namespace.
	ConsumeAnnotationKey = "autoscaling.x-k8s.io/consume-provisioning-request"
	// ClassAnnotationKey names the request's class.
	ClassAnnotationKey = "autoscaling.x-k8s.io/provisioning-class-name"
	// ConsumeAnnotationKeyOld and ClassAnnotationKeyOld are the earlier names of ConsumeAnnotationKey and ClassAnnotationKey.
	ConsumeAnnotationKeyOld = "cluster-autoscaler.kubernetes.io/consume-provisioning-request"
	ClassAnnotationKeyOld   = "cluster-autoscaler.kubernetes.io/provisioning-class-name"
)

// Conditions of a request.
const (
	// ConditionAccepted: the request is valid, and drawknife will answer it.
	ConditionAccepted = "Accepted"
	// ConditionProvisioned: there is room for the pods, and it is booked.
	ConditionProvisioned = "Provisioned"
	// ConditionFailed: the request will not be tried again.
	ConditionFailed = "Failed"
	// ConditionBookingExpired: the booking's time is over, or the room no longer exists and no pod uses it.
	ConditionBookingExpired = "BookingExpired"
	// ConditionCapacityRevoked: the booked room no longer exists, and pods that should use it remain pending.
	ConditionCapacityRevoked = "CapacityRevoked"
)

// Reasons of ConditionAccepted.
const (
	// ReasonAccepted (True).
	ReasonAccepted = "Accepted"
	// ReasonPodTemplateNotFound (False): a PodTemplate does not exist, or does not exist yet.
	ReasonPodTemplateNotFound = "PodTemplateNotFound"
)

// Reasons of ConditionProvisioned.
const (
	// ReasonCapacityIsFound (True): existing nodes have room.
	ReasonCapacityIsFound = "CapacityIsFound"
	// ReasonPartialCapacityIsFound: existing nodes have room for some of the PodSets. The condition is True if the room is booked.
	ReasonPartialCapacityIsFound = "PartialCapacityIsFound"
	// ReasonCapacityIsProvisioned (True): there is room, partly on nodes that were launched for the request.
	ReasonCapacityIsProvisioned = "CapacityIsProvisioned"
	// ReasonCapacityIsBeingProvisioned (False): nodes for the request are being launched.
	ReasonCapacityIsBeingProvisioned = "CapacityIsBeingProvisioned"
	// ReasonCapacityIsPlanned (False): only for ClassPlan. The details say what would be launched.
	ReasonCapacityIsPlanned = "CapacityIsPlanned"
	// ReasonCapacityIsNotFound (False): there is no room, and the request will be tried again. If the request will not be tried again,
	// ConditionFailed has this reason.
	ReasonCapacityIsNotFound = "CapacityIsNotFound"
)

// Reasons of ConditionFailed, ConditionBookingExpired and ConditionCapacityRevoked, all with status True.
const (
	// ReasonExpired (ConditionFailed): the time in ParameterValidUntilSeconds has passed.
	ReasonExpired = "Expired"
	// ReasonFailedToCreatePods (ConditionFailed): the request or a PodTemplate is invalid.
	ReasonFailedToCreatePods = "FailedToCreatePods"
	// ReasonCapacityReservationTimeExpired: of ConditionBookingExpired.
	ReasonCapacityReservationTimeExpired = "CapacityReservationTimeExpired"
	// ReasonCapacityIsLost (ConditionCapacityRevoked and ConditionBookingExpired): a node has ended, or other pods use the room.
	ReasonCapacityIsLost = "CapacityIsLost"
)

// The details of an answer.
const (
	// DetailSchedulablePodSets lists, as JSON, the names of the PodTemplates whose PodSets have room: see ParameterPartialCapacityCheck.
	DetailSchedulablePodSets = "schedulablePodSets"
	// DetailBooking says how many pods of each PodSet are booked on each node: for each node a line "NAME 2,1". If the text is too long
	// for one detail, it continues in DetailBooking + "-1", and so on.
	DetailBooking = "booking"
	// DetailBookedUntil is when the booking ends, in RFC 3339.
	DetailBookedUntil = "bookedUntil"
	// DetailPlanHourlyCost is what the new nodes would cost, in USD per hour.
	DetailPlanHourlyCost = "plan.hourlyCost"
	// DetailPlanNodes lists, as JSON, each kind of new node with count, nodePool, instanceType, zone, capacityType, and the hourly price
	// of one node.
	DetailPlanNodes = "plan.nodes"
	// DetailPlanExistingPods is how many of the pods have room on existing nodes.
	DetailPlanExistingPods = "plan.existingPods"
	// DetailPlanValidUntil is the time until which the answer is valid, in RFC 3339. After this time, drawknife computes the answer again.
	DetailPlanValidUntil = "plan.validUntil"
)

package planning

// Query is what Solve is asked. The zero value asks for places for all waiting pods, with preferences respected,
// minValues strict and reservations used while they last. Values that are none of the constants read as the zero value.
type Query struct {
	// Preferences says what to do with pods' wishes: preferred node affinity, preferred pod (anti-)affinity and spread
	// constraints with ScheduleAnyway. PreferNoSchedule taints are avoided either way. Empty is PreferencesRespect.
	Preferences PreferencePolicy `json:"preferences,omitempty"`
	// PreferencePremium is how much dearer a pod's place may be for all its wishes kept, as a share of what it costs
	// with none kept: 0 keeps those that cost nothing, 0.5 pays half as much again, 3 four times as much in all. Wishes of
	// less weight may cost proportionally less. Nil stands for DefaultPreferencePremium; below 0 reads as 0.
	PreferencePremium *float64 `json:"preferencePremium,omitempty"`
	// MinValues says what to do with a minValues that can't be met. Empty is MinValuesStrict.
	MinValues MinValuesPolicy `json:"minValues,omitempty"`
	// Effort says how hard to look for a cheaper plan. Empty is EffortDefault.
	Effort Effort `json:"effort,omitempty"`
	// Reserved says what pods do for which a reservation exists that has no room left. Empty is ReservedFallback.
	Reserved ReservedPolicy `json:"reserved,omitempty"`
	// Preemption says whether a node is planned for a pod for which kube-scheduler makes room by preempting others. Plans
	// list such pods in Plan.Preemptions either way. Only Solve reads it; Trial.Place ignores preemption. Empty is
	// PreemptionIgnore.
	Preemption PreemptionPolicy `json:"preemption,omitempty"`
}

// PreferencePolicy says what to do with wishes.
type PreferencePolicy string

const (
	// PreferencesRespect keeps wishes where that costs no more than the premium.
	PreferencesRespect PreferencePolicy = "Respect"
	// PreferencesIgnore plans as if pods had none.
	PreferencesIgnore PreferencePolicy = "Ignore"
)

// DefaultPreferencePremium lets a pod's place cost up to four times as much for its wishes, 300 % on top: enough for on-demand
// instead of spot or a dearer zone, not for a node of its own.
const DefaultPreferencePremium = 3.0

// Premium is PreferencePremium as planning reads it: 0 where preferences are ignored.
func (q *Query) Premium() float64 {
	switch {
	case q.Preferences == PreferencesIgnore:
		return 0
	case q.PreferencePremium == nil:
		return DefaultPreferencePremium
	}
	return max(*q.PreferencePremium, 0)
}

// MinValuesPolicy says what to do with a NodePool's minValues that can't be met.
type MinValuesPolicy string

const (
	// MinValuesStrict places nothing where the instance types left are not varied enough.
	MinValuesStrict MinValuesPolicy = "Strict"
	// MinValuesBestEffort gives minValues up for pods that could not have them even on a node of their own: they get one in the pool that
	// they would be in anyway, and other pods that fit may share it. NewNode.MinValuesRelaxed marks it.
	MinValuesBestEffort MinValuesPolicy = "BestEffort"
)

// ReservedPolicy says what pods do for which a reservation exists.
type ReservedPolicy string

const (
	// ReservedFallback uses reservations while they last and buys after that.
	ReservedFallback ReservedPolicy = "Fallback"
	// ReservedStrict lets pods that could use a reservation wait rather than buy.
	ReservedStrict ReservedPolicy = "Strict"
)

// Effort says how hard Solve looks for a cheaper plan. It bounds steps of work, not time: the same query gives the same plan on any
// node. The work grows with the pods that need new nodes; a plan that is proven to be within one part in 500 of the cheapest is not
// improved further at any effort.
type Effort string

const (
	// EffortDefault is the zero value: most of what can be saved, at about a third as much processor time again as EffortFast. On
	// clusters of one instance family plans cost at most about 1 % more than the best known.
	EffortDefault Effort = ""
	// EffortFast is for an answer at once: some plans cost 1 to 2 % more than by default.
	EffortFast Effort = "Fast"
	// EffortThorough is for plans that are made rarely and paid for long: four times the processor time of the default and more, and
	// on ordinary clusters a quarter of a per cent cheaper.
	EffortThorough Effort = "Thorough"
)

// PreemptionPolicy says what to do for pods that kube-scheduler places by preemption.
type PreemptionPolicy string

const (
	// PreemptionIgnore plans a node for a pod whether or not it preempts others.
	PreemptionIgnore PreemptionPolicy = "Ignore"
	// PreemptionExpect plans no node for a pod that preempts others: its victims need one when they are made again.
	PreemptionExpect PreemptionPolicy = "Expect"
)

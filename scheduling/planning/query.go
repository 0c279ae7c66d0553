package planning

// Query contains the options of Solve. The zero value places all pending pods, respects preferences, treats minValues as strict, and uses
// reservations while they last. Values other than the constants are treated as the zero value.
type Query struct {
	// Preferences says what to do with pods' preferences: preferred node affinity, preferred pod (anti-)affinity and spread constraints
	// with ScheduleAnyway. PreferNoSchedule taints are avoided with every policy. Empty means PreferencesRespect.
	Preferences PreferencePolicy `json:"preferences,omitempty"`
	// PreferencePremium is how much more a pod's place may cost if all of its preferences are kept, as a share of the cost if none of them
	// is kept. 0 keeps only preferences that cost nothing. 0.5 allows 50 % more, and 3 allows four times the cost. Preferences of lower
	// weight may cost proportionally less. Nil means DefaultPreferencePremium; a negative value means 0.
	PreferencePremium *float64 `json:"preferencePremium,omitempty"`
	// MinValues says what to do with minValues that can't be met. Empty means MinValuesStrict.
	MinValues MinValuesPolicy `json:"minValues,omitempty"`
	// Effort says how hard to search for a cheaper plan. Empty means EffortDefault.
	Effort Effort `json:"effort,omitempty"`
	// Reserved says what to do with pods whose reservation has no room left. Empty means ReservedFallback.
	Reserved ReservedPolicy `json:"reserved,omitempty"`
	// Preemption says whether a node is planned for a pod if kube-scheduler makes room for the pod by preempting other pods. Plans list
	// such pods in Plan.Preemptions with both policies. Only Solve reads it; Trial.Place ignores preemption. Empty means PreemptionIgnore.
	Preemption PreemptionPolicy `json:"preemption,omitempty"`
}

// PreferencePolicy says what to do with preferences.
type PreferencePolicy string

const (
	// PreferencesRespect keeps preferences if that costs no more than the premium.
	PreferencesRespect PreferencePolicy = "Respect"
	// PreferencesIgnore plans as if pods had no preferences.
	PreferencesIgnore PreferencePolicy = "Ignore"
)

// DefaultPreferencePremium allows a pod's place to cost up to four times as much (300 % more) because of its preferences: enough for an
// on-demand node instead of a spot node, or for a more expensive zone, but not for a separate node.
const DefaultPreferencePremium = 3.0

// Premium returns the PreferencePremium that planning uses: 0 if preferences are ignored.
func (q *Query) Premium() float64 {
	switch {
	case q.Preferences == PreferencesIgnore:
		return 0
	case q.PreferencePremium == nil:
		return DefaultPreferencePremium
	}
	return max(*q.PreferencePremium, 0)
}

// MinValuesPolicy says what to do with minValues of a NodePool that can't be met.
type MinValuesPolicy string

const (
	// MinValuesStrict places nothing if the remaining instance types have too little variety.
	MinValuesStrict MinValuesPolicy = "Strict"
	// MinValuesBestEffort ignores the minValues of a pool for pods for which even a separate node could not meet them. They get a node in
	// the pool that they would use anyway, and other pods that fit may share it. NewNode.MinValuesRelaxed marks such nodes.
	MinValuesBestEffort MinValuesPolicy = "BestEffort"
)

// ReservedPolicy says what to do with pods for which a reservation exists.
type ReservedPolicy string

const (
	// ReservedFallback uses reservations while they last and buys other offerings after that.
	ReservedFallback ReservedPolicy = "Fallback"
	// ReservedStrict leaves pods pending that could use a reservation, instead of buying other offerings.
	ReservedStrict ReservedPolicy = "Strict"
)

// Effort says how hard Solve searches for a cheaper plan. It bounds the number of steps, not time: the same query gives the same plan on
// any computer. The work grows with the number of pods that need new nodes; a plan proven to be within one part in 500 of the cheapest is
// not improved further at any effort.
type Effort string

const (
	// EffortDefault is the zero value: it finds most of the savings, and takes about a quarter more processor time than EffortFast. On
	// clusters with one instance family, plans cost at most about 1 % more than the best known plans.
	EffortDefault Effort = ""
	// EffortFast is for quick results: plans for ordinary clusters cost 0.5 % more than with EffortDefault, and plans for some clusters 1
	// to 2 % more.
	EffortFast Effort = "Fast"
	// EffortThorough is for plans that are made rarely and paid for a long time. It takes at least four times the processor time of the
	// default. For ordinary clusters it takes about six times, and their plans are 0.3 % cheaper.
	EffortThorough Effort = "Thorough"
)

// PreemptionPolicy says what to do for pods that kube-scheduler places by preemption.
type PreemptionPolicy string

const (
	// PreemptionIgnore plans a node for a pod even if the pod preempts other pods.
	PreemptionIgnore PreemptionPolicy = "Ignore"
	// PreemptionExpect plans no node for a pod that preempts other pods. Its victims need a node when they are created again.
	PreemptionExpect PreemptionPolicy = "Expect"
)

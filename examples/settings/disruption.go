package settings

import (
	"flag"
	"time"

	"github.com/drawknife/drawknife/disruption"
	"github.com/drawknife/drawknife/scheduling"
)

// Disruption are the options of the disruption planners, as in disruption.Global. The planner "reference" uses only SpotToSpotTypes and
// ValidationDelay. A value of 0 is not replaced by a default, so start from DefaultDisruption.
type Disruption struct {
	// PayBack is the time in which a command must earn back its cost; at least 0, 2 hours by default. 0 disables the check.
	PayBack time.Duration
	// MinSaving is the minimum saving of a command, USD per hour; at least 0, which is the default.
	MinSaving float64
	// MinSavingShare is the minimum saving of a command as a share of its nodes' cost, from 0 to below 1; 0.15 by default.
	MinSavingShare float64
	// Price is the cost of moving an ordinary pod in USD (disruption.Global.DisruptionPrice); at least 0, 0.002 by default. 0 means no
	// cost.
	Price float64
	// CoolDown is how long consolidation does not disrupt new nodes, and nodes with pods of a workload whose pods were moved; at least 0,
	// 10 minutes by default.
	CoolDown time.Duration
	// SpotToSpotTypes is the number of cheaper types required to replace one spot node by another; at least 1, 15 by default. It is used
	// only with the gate SpotToSpotConsolidation.
	SpotToSpotTypes int
	// MaxMembers and MaxBins limit how many nodes one command removes and launches; at least 1, 16 and 32 by default. With the default of
	// MaxMembers, a command that launches at most one node may remove more (disruption.Global.MaxMembers).
	MaxMembers, MaxBins int
	// Work is the maximum number of what-ifs in one plan; at least 1, 60000 by default.
	Work int
	// Robustness is the number of random orders in which the pods of each wave are placed, as kube-scheduler might; from 0 to 1000. 0, the
	// default, skips this check.
	Robustness int
	// Checks is the maximum number of checks with the provisioning planner before a plan is used (disruption.Global.Checks); from 0 to
	// 10000. 0, the default, skips the checks.
	Checks int
	// LaunchTime is the assumed time until a new node is ready; at least 0, 3 minutes by default. ReadyTime is the assumed time until the
	// replacement of a pod with a PodDisruptionBudget is ready; at least 0, 1 minute by default.
	LaunchTime, ReadyTime time.Duration
	// DrainLimit is the maximum estimated duration of a drain, except for nodes that are due; at least 0, 1 hour by default. 0
	// means no limit.
	DrainLimit time.Duration
	// ExpireAhead is how long before its expiry a node is replaced; at least 0. 0, the default, waits until the node has expired.
	ExpireAhead time.Duration
	// ValidationDelay is how long a command that saves money waits before it begins; at least 0, 15 seconds by default.
	ValidationDelay time.Duration
}

// DefaultDisruption returns the defaults of the planners.
func DefaultDisruption() Disruption {
	return Disruption{
		PayBack: disruption.DefaultPayBack, MinSavingShare: disruption.DefaultMinSavingShare, Price: disruption.DefaultDisruptionPrice, CoolDown: disruption.DefaultCoolDown,
		SpotToSpotTypes: disruption.DefaultSpotToSpotTypes, MaxMembers: disruption.DefaultMaxMembers, MaxBins: disruption.DefaultMaxBins,
		Work: disruption.DefaultWork, LaunchTime: disruption.DefaultLaunchTime, ReadyTime: disruption.DefaultReadyTime,
		DrainLimit: disruption.DefaultDrainLimit, ValidationDelay: disruption.DefaultValidationDelay,
	}
}

// Planner returns the planner of that name with these options; spotToSpot allows it to replace spot nodes by spot nodes.
func (d Disruption) Planner(name DisruptionPlanner, query scheduling.Query, spotToSpot bool) disruption.Planner {
	if name == PlannerReference {
		return &disruption.Reference{Query: query, SpotToSpot: spotToSpot, SpotToSpotTypes: &d.SpotToSpotTypes, ValidationDelay: &d.ValidationDelay}
	}
	return d.Global(query, spotToSpot)
}

// Global returns the planner disruption.Global with these options; spotToSpot allows it to replace spot nodes by spot nodes.
func (d Disruption) Global(query scheduling.Query, spotToSpot bool) *disruption.Global {
	members := &d.MaxMembers
	if *members == disruption.DefaultMaxMembers {
		members = nil
	}
	return &disruption.Global{
		Query: query, SpotToSpot: spotToSpot, SpotToSpotTypes: &d.SpotToSpotTypes,
		PayBack: &d.PayBack, MinSaving: d.MinSaving, MinSavingShare: &d.MinSavingShare, DisruptionPrice: &d.Price,
		CoolDown: &d.CoolDown, MaxMembers: members, MaxBins: &d.MaxBins, Work: &d.Work, Robustness: d.Robustness, Checks: d.Checks,
		LaunchTime: &d.LaunchTime, ReadyTime: &d.ReadyTime, DrainLimit: &d.DrainLimit,
		ExpireAhead: d.ExpireAhead, ValidationDelay: &d.ValidationDelay,
	}
}

// AddFlags registers only the flags of these settings, for programs that don't need other settings. The usage text shows d's values as
// defaults. fs.Parse fails for an invalid value, and writes valid ones to d.
func (d *Disruption) AddFlags(fs *flag.FlagSet) {
	for _, s := range disruptionDefinitions() {
		fs.Var(&disruptionFlag{setting: s, into: d}, s.name, s.usage)
	}
}

// DisruptionFlags returns the names of all flags that AddFlags registers. heeded contains only the flags that the planner uses.
func DisruptionFlags(planner DisruptionPlanner) (all, heeded []string) {
	for _, s := range disruptionDefinitions() {
		all = append(all, s.name)
		if planner != PlannerReference || !s.ofGlobal {
			heeded = append(heeded, s.name)
		}
	}
	return all, heeded
}

// disruptionFlag is a flag.Value that writes directly into a Disruption.
type disruptionFlag struct {
	setting *setting
	into    *Disruption
}

// String returns the current value.
func (f *disruptionFlag) String() string {
	if f == nil || f.into == nil {
		return ""
	}
	return f.setting.show(&Settings{Planning: Planning{Disruption: *f.into}})
}

// Set reads the value and checks it.
func (f *disruptionFlag) Set(text string) error {
	scratch := Settings{Planning: Planning{Disruption: *f.into}}
	if err := f.setting.parse(&scratch, text); err != nil {
		return err
	}
	for _, fault := range scratch.Planning.Disruption.faults() {
		if fault.setting == f.setting.name {
			return errorText(fault.cure)
		}
	}
	*f.into = scratch.Planning.Disruption
	return nil
}

// errorText is an error message that says how to write the value.
type errorText string

func (e errorText) Error() string { return string(e) }

// ofDisruption returns a function that returns the address of a setting's value in Disruption.
func ofDisruption[T any](at func(*Disruption) *T) func(*Settings) *T {
	return func(s *Settings) *T { return at(&s.Planning.Disruption) }
}

func disruptionDefinitions() []*setting {
	ofGlobal := func(s *setting) { s.ofGlobal = true }
	return []*setting{
		define("disruption-pay-back", "Planning.Disruption.PayBack", durations(), ofDisruption(func(d *Disruption) *time.Duration { return &d.PayBack }),
			"time in which a disruption command must earn back its cost; 0: no limit", ofGlobal, inChart("settings.disruptionPayBack")),
		define("disruption-min-saving", "Planning.Disruption.MinSaving", floats[float64]("amount"), ofDisruption(func(d *Disruption) *float64 { return &d.MinSaving }),
			"smallest saving of a command, in USD per hour; 0: no minimum", ofGlobal, inChart("settings.disruptionMinSaving")),
		define("disruption-min-saving-share", "Planning.Disruption.MinSavingShare", floats[float64]("share"), ofDisruption(func(d *Disruption) *float64 { return &d.MinSavingShare }),
			"smallest saving of a command as a share of the cost of its nodes, from 0 to below 1; 0: no minimum", ofGlobal, inChart("settings.disruptionMinSavingShare")),
		define("disruption-price", "Planning.Disruption.Price", floats[float64]("amount"), ofDisruption(func(d *Disruption) *float64 { return &d.Price }),
			"cost of moving an ordinary pod, in USD, which a command must save within the pay-back time; 0: no cost", ofGlobal, inChart("settings.disruptionPrice")),
		define("disruption-cool-down", "Planning.Disruption.CoolDown", durations(), ofDisruption(func(d *Disruption) *time.Duration { return &d.CoolDown }),
			"how long consolidation keeps a node after its launch, and after pods of one of its workloads were moved; 0: no time", ofGlobal, inChart("settings.disruptionCoolDown")),
		define("disruption-spot-to-spot-types", "Planning.Disruption.SpotToSpotTypes", integers[int]("number"), ofDisruption(func(d *Disruption) *int { return &d.SpotToSpotTypes }),
			"number of cheaper instance types that the replacement of one spot node by another spot node requires, if such replacements are enabled", inChart("settings.disruptionSpotToSpotTypes")),
		define("disruption-max-members", "Planning.Disruption.MaxMembers", integers[int]("number"), ofDisruption(func(d *Disruption) *int { return &d.MaxMembers }),
			"largest number of nodes that one command removes; with the default, up to 100 if it launches at most one node", ofGlobal, inChart("settings.disruptionMaxMembers")),
		define("disruption-max-bins", "Planning.Disruption.MaxBins", integers[int]("number"), ofDisruption(func(d *Disruption) *int { return &d.MaxBins }),
			"largest number of nodes that one command launches", ofGlobal, inChart("settings.disruptionMaxBins")),
		define("disruption-work", "Planning.Disruption.Work", integers[int]("number"), ofDisruption(func(d *Disruption) *int { return &d.Work }),
			"largest number of trial removals of nodes in one plan; higher values may save more and take longer", ofGlobal, inChart("settings.disruptionWork")),
		define("disruption-robustness", "Planning.Disruption.Robustness", integers[int]("number"), ofDisruption(func(d *Disruption) *int { return &d.Robustness }),
			"number of random orders in which kube-scheduler might place the pods of removed nodes, and in which all of them must find places; 0: no check", ofGlobal, inChart("settings.disruptionRobustness")),
		define("disruption-checks", "Planning.Disruption.Checks", integers[int]("number"), ofDisruption(func(d *Disruption) *int { return &d.Checks }),
			"largest number of checks per plan whether provisioning would launch further nodes after removals; 64 suffices for small fleets and makes planning take 50% longer; 0: no check",
			ofGlobal, inChart("settings.disruptionChecks")),
		define("disruption-launch-time", "Planning.Disruption.LaunchTime", durations(), ofDisruption(func(d *Disruption) *time.Duration { return &d.LaunchTime }),
			"assumed time from the launch of a node until it is ready", ofGlobal, inChart("settings.disruptionLaunchTime")),
		define("disruption-ready-time", "Planning.Disruption.ReadyTime", durations(), ofDisruption(func(d *Disruption) *time.Duration { return &d.ReadyTime }),
			"assumed time from the eviction of a pod with a PodDisruptionBudget until its replacement is ready", ofGlobal, inChart("settings.disruptionReadyTime")),
		define("disruption-drain-limit", "Planning.Disruption.DrainLimit", durations(), ofDisruption(func(d *Disruption) *time.Duration { return &d.DrainLimit }),
			"nodes that need not be removed stay if PodDisruptionBudgets would make their drain take longer than this; 0: no limit", ofGlobal, inChart("settings.disruptionDrainLimit")),
		define("disruption-expire-ahead", "Planning.Disruption.ExpireAhead", durations(), ofDisruption(func(d *Disruption) *time.Duration { return &d.ExpireAhead }),
			"how long before its expiry a node may be replaced; 0: only after its expiry", ofGlobal, inChart("settings.disruptionExpireAhead")),
		define("disruption-validation-delay", "Planning.Disruption.ValidationDelay", durations(), ofDisruption(func(d *Disruption) *time.Duration { return &d.ValidationDelay }),
			"time that a consolidation command waits before it is checked again and started; 0: it does not wait", inChart("settings.disruptionValidationDelay")),
	}
}

// faults returns the invalid values, in the order of the fields.
func (d Disruption) faults() []fault {
	var out []fault
	refuse := func(ok bool, setting, kind, cure string) {
		if !ok {
			out = append(out, fault{setting, CodeInvalid, kind, cure})
		}
	}
	const notNegative = "it must be at least 0"
	for _, v := range []struct {
		setting string
		value   time.Duration
	}{
		{"disruption-pay-back", d.PayBack}, {"disruption-cool-down", d.CoolDown}, {"disruption-launch-time", d.LaunchTime}, {"disruption-ready-time", d.ReadyTime},
		{"disruption-drain-limit", d.DrainLimit}, {"disruption-expire-ahead", d.ExpireAhead}, {"disruption-validation-delay", d.ValidationDelay},
	} {
		refuse(v.value >= 0, v.setting, "duration", notNegative)
	}
	refuse(d.MinSaving >= 0 && d.MinSaving <= maxAmount, "disruption-min-saving", "amount", "it must be from 0 to 1000000, in USD per hour")
	refuse(d.Price >= 0 && d.Price <= maxAmount, "disruption-price", "amount", "it must be from 0 to 1000000, in USD")
	refuse(d.MinSavingShare >= 0 && d.MinSavingShare < 1, "disruption-min-saving-share", "share", "it must be at least 0 and less than 1, as 0.15 for 15 %")
	for _, v := range []struct {
		setting string
		value   int
	}{
		{"disruption-spot-to-spot-types", d.SpotToSpotTypes}, {"disruption-max-members", d.MaxMembers}, {"disruption-max-bins", d.MaxBins}, {"disruption-work", d.Work},
	} {
		refuse(v.value >= 1, v.setting, "number", "it must be at least 1")
	}
	refuse(d.Robustness >= 0 && d.Robustness <= maxRobustness, "disruption-robustness", "number", "it must be from 0 to 1000")
	refuse(d.Checks >= 0 && d.Checks <= maxChecks, "disruption-checks", "number", "it must be from 0 to 10000")
	return out
}

// Limits of the planning time, and of amounts of money in USD.
const (
	maxRobustness = 1000
	maxChecks     = 10_000
	maxAmount     = 1_000_000
)

package v1

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/robfig/cron/v3"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Budget limits how many nodes of a pool may be disrupted at a time.
type Budget struct {
	// Reasons are the disruption reasons that the budget limits. Nil means all reasons; an empty list means none.
	// +optional
	// +kubebuilder:validation:MaxItems=50
	// +listType=set
	Reasons []DisruptionReason `json:"reasons,omitzero"`
	// Nodes is the limit: a count ("3"), or a percentage of the pool's nodes, rounded up ("10%"). Empty means "10%".
	// +kubebuilder:validation:Pattern=`^((100|[0-9]{1,2})%|[0-9]+)$`
	// +kubebuilder:default:="10%"
	Nodes string `json:"nodes"`
	// Schedule is when the budget becomes active: five cron fields or a macro such as @daily, in UTC. It must be set together with
	// Duration; without both, the budget always applies.
	// +optional
	// +kubebuilder:validation:Pattern=`^(@(annually|yearly|monthly|weekly|daily|midnight|hourly)|\s*[^\s@=]+(\s+[^\s=]+){4}\s*)$`
	Schedule *string `json:"schedule,omitempty"`
	// Duration is how long the budget is active after each time of Schedule, in whole hours and minutes.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Pattern=`^([0-9]+h|[0-9]+m|[0-9]+h[0-9]+m)(0s)?$`
	Duration *Duration `json:"duration,omitempty"`
}

// BudgetNodes is the parsed limit of a budget.
//
// +kubebuilder:object:generate=false
type BudgetNodes struct {
	// Percent is true if Value is a percentage of the pool's nodes.
	Percent bool
	// Value is a count of nodes, or 0 to 100 percent.
	Value int
}

// Of returns how many of total nodes the limit allows; a percentage is rounded up.
func (n BudgetNodes) Of(total int) int {
	if !n.Percent {
		return n.Value
	}
	return (total*n.Value + 99) / 100
}

// ParseBudgetNodes parses the limit of a budget: a count without a sign, or a whole percentage from 0% to 100%. Empty means "10%".
func ParseBudgetNodes(text string) (BudgetNodes, error) {
	if text == "" {
		text = DefaultBudgetNodes
	}
	if !budgetNodesForm.MatchString(text) {
		return BudgetNodes{}, errors.New(budgetNodesRule)
	}
	number, percent := strings.CutSuffix(text, "%")
	// 32 bits are enough for any number of nodes, and products fit into 64 bits.
	value, err := strconv.ParseInt(number, 10, 32)
	if err != nil {
		return BudgetNodes{}, errors.New(budgetNodesRule)
	}
	return BudgetNodes{Percent: percent, Value: int(value)}, nil
}

const budgetNodesRule = "must be a count or a whole percentage up to 100%: write it like \"3\" or \"10%\""

var (
	budgetNodesForm    = regexp.MustCompile(`^((100|[0-9]{1,2})%|[0-9]+)$`)
	budgetDurationForm = regexp.MustCompile(`^([0-9]+h|[0-9]+m|[0-9]+h[0-9]+m)(0s)?$`)
)

// Schedule is when a budget becomes active.
//
// +kubebuilder:object:generate=false
type Schedule interface {
	// Next returns the first time of the schedule after t, in t's time zone. It is zero if the schedule has no such time within five years.
	Next(t time.Time) time.Time
}

// ParseSchedule reads the schedule of a budget: five cron fields (minute, hour, day of month, month, day of week with Sunday as 0
// or SUN), or one of @yearly, @annually, @monthly, @weekly, @daily, @midnight and @hourly. Budgets use UTC: call Next with a time
// in UTC.
func ParseSchedule(text string) (Schedule, error) {
	macros := []string{"@annually", "@yearly", "@monthly", "@weekly", "@daily", "@midnight", "@hourly"}
	fields := strings.Fields(text)
	switch {
	case slices.Contains(macros, text):
	case strings.HasPrefix(text, "@"):
		return nil, fmt.Errorf("%q is not a macro: use one of %s", text, strings.Join(macros, ", "))
	case strings.Contains(text, "TZ="):
		return nil, fmt.Errorf("%q names a time zone: schedules are in UTC, leave it out", text)
	case len(fields) != 5:
		return nil, fmt.Errorf("%q has %d fields, not 5: write minute, hour, day of month, month and day of week, like \"0 9 * * 1-5\"", text, len(fields))
	}
	schedule, err := cron.ParseStandard(strings.Join(fields, " "))
	if err != nil {
		return nil, fmt.Errorf("%q is not a cron schedule: %w", text, err)
	}
	return schedule, nil
}

func validateBudget(b *Budget, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if _, err := ParseBudgetNodes(b.Nodes); err != nil {
		errs = append(errs, field.Invalid(path.Child("nodes"), b.Nodes, err.Error()))
	}
	known := []DisruptionReason{DisruptionReasonUnderutilized, DisruptionReasonEmpty, DisruptionReasonDrifted}
	for i, reason := range b.Reasons {
		if slices.Contains(b.Reasons[:i], reason) {
			errs = append(errs, field.Duplicate(path.Child("reasons").Index(i), reason))
		}
		if !slices.Contains(known, reason) {
			errs = append(errs, field.NotSupported(path.Child("reasons").Index(i), reason, known))
		}
	}
	if b.Schedule != nil {
		if _, err := ParseSchedule(*b.Schedule); err != nil {
			errs = append(errs, field.Invalid(path.Child("schedule"), *b.Schedule, err.Error()))
		}
		if b.Duration == nil {
			errs = append(errs, field.Required(path.Child("duration"), "a schedule needs a duration, such as 8h: give both or neither"))
		}
	}
	if b.Duration != nil {
		if text := b.Duration.String(); !budgetDurationForm.MatchString(text) {
			errs = append(errs, field.Invalid(path.Child("duration"), text, "must be whole hours and minutes: write it like 8h, 30m or 1h30m"))
		}
		if b.Schedule == nil {
			errs = append(errs, field.Required(path.Child("schedule"), "a duration needs a schedule, such as \"0 9 * * 1-5\": give both or neither"))
		}
	}
	return errs
}

package commitments

import (
	"fmt"
	"math"
	"slices"
	"time"
)

// Kind is the kind of a commitment. Other clouds may have kinds of their own; the arithmetic does not depend on them.
type Kind string

// The kinds of commitments that AWS sells.
const (
	// ReservedInstances are Reserved Instances of EC2.
	ReservedInstances Kind = "ReservedInstances"
	// InstanceSavingsPlan is an EC2 Instance Savings Plan: an amount of money per hour for one instance family in one region.
	InstanceSavingsPlan Kind = "InstanceSavingsPlan"
	// ComputeSavingsPlan is a Compute Savings Plan: an amount of money per hour for any compute service.
	ComputeSavingsPlan Kind = "ComputeSavingsPlan"
)

// Account contains the commitments and discounts of a cloud account at one time. The zero value has no commitments.
type Account struct {
	// ReadAt is the time at which the provider read the account.
	ReadAt time.Time `json:"readAt,omitzero"`
	// Commitments are listed in the order in which the cloud applies them to usage. There are at most MaxCommitments. IDs are unique.
	Commitments []Commitment `json:"commitments,omitempty"`
	// Discounts apply to usage that commitments do not cover. There are at most MaxDiscounts. Names are unique.
	Discounts []Discount `json:"discounts,omitempty"`
	// LeftOut has one sentence for each commitment that was found but is not in Commitments, with the reason.
	LeftOut []string `json:"leftOut,omitempty"`
}

// Commitment is an amount per hour that is paid for, whether it is used or not.
type Commitment struct {
	// ID of the commitment in the cloud ("sp/1a2b…"), or of several commitments that cover the same instances ("ri/m5/linux").
	ID string `json:"id"`
	// Kind of the commitment.
	Kind Kind `json:"kind"`
	// Source says where the amounts come from. It is for people who audit a plan.
	Source string `json:"source"`
	// Amount per hour that is paid for, in Unit; above 0.
	Amount float64 `json:"amount"`
	// Unit of Amount: "USD/h", "normalized units", "instances".
	Unit string `json:"unit"`
	// ByType is how much of the amount a node of each instance type uses, above 0. The commitment does not cover types that are not
	// listed.
	ByType map[string]float64 `json:"byType"`
	// Zone is the zone that the commitment is limited to; empty for all zones.
	Zone string `json:"zone,omitempty"`
	// OS is the operating system that the commitment is limited to, as a value of the label kubernetes.io/os; empty for all.
	OS string `json:"os,omitempty"`
	// Tenancy is the tenancy that the commitment is limited to, as a value of the label karpenter.k8s.aws/instance-tenancy. Nodes without
	// the label have the tenancy "default". Empty for all.
	Tenancy string `json:"tenancy,omitempty"`
	// End is when the commitment ends; zero if it has no end.
	End time.Time `json:"end,omitzero"`
	// Foreign is the part of the commitment that instances outside the sharing clusters use now, in Unit. It counts only instances that the
	// provider could list.
	Foreign float64 `json:"foreign,omitempty"`
	// UsedInTotal is the use per hour of the whole account, in Unit: the average of the last day for which the cloud reports the use. Nil
	// means unknown.
	UsedInTotal *float64 `json:"usedInTotal,omitempty"`
}

// Discount is a percentage that the cloud takes off the price.
type Discount struct {
	// Name of the discount.
	Name string `json:"name"`
	// Source says where the percentage comes from.
	Source string `json:"source"`
	// Percent of the price, above 0 and at most 100.
	Percent float64 `json:"percent"`
}

// Bounds of an Account. A cost model has at most 256 terms, and these bounds leave some of them for fees and other terms.
const (
	MaxCommitments = 128
	MaxDiscounts   = 8
	maxTypes       = 10_000
	maxText        = 1024
	maxLeftOut     = 100
	maxAmount      = 1e9
)

// Error says what is wrong with an account or with the use of a cluster.
type Error struct {
	// Path of the field: "commitments[2].amount".
	Path string
	// Rule says which rule the field breaks. It continues a sentence that begins with the path.
	Rule string
}

// Error returns "commitments: path rule".
func (e *Error) Error() string { return "commitments: " + e.Path + " " + e.Rule }

// Validate returns an *Error for the first field that breaks a rule, or nil if the account is valid. A nil account is valid.
func (a *Account) Validate() error {
	if a == nil {
		return nil
	}
	if n := len(a.Commitments); n > MaxCommitments {
		return &Error{"commitments", fmt.Sprintf("has %d entries: at most %d are allowed", n, MaxCommitments)}
	}
	if n := len(a.Discounts); n > MaxDiscounts {
		return &Error{"discounts", fmt.Sprintf("has %d entries: at most %d are allowed", n, MaxDiscounts)}
	}
	if n := len(a.LeftOut); n > maxLeftOut {
		return &Error{"leftOut", fmt.Sprintf("has %d entries: at most %d are allowed", n, maxLeftOut)}
	}
	var ids []string
	for i := range a.Commitments {
		c, path := &a.Commitments[i], fmt.Sprintf("commitments[%d]", i)
		if slices.Contains(ids, c.ID) {
			return &Error{path + ".id", fmt.Sprintf("is %q, like that of an earlier entry: IDs must be unique", c.ID)}
		}
		ids = append(ids, c.ID)
		if err := c.check(path); err != nil {
			return err
		}
	}
	var names []string
	for i, d := range a.Discounts {
		path := fmt.Sprintf("discounts[%d]", i)
		switch {
		case !named(d.Name) || slices.Contains(names, d.Name):
			return &Error{path + ".name", fmt.Sprintf("is %q: give each discount a name of its own", d.Name)}
		case !named(d.Source):
			return &Error{path + ".source", "must say where the figure comes from"}
		case !(d.Percent > 0 && d.Percent <= 100):
			return &Error{path + ".percent", fmt.Sprintf("is %g: it must be above 0 and at most 100", d.Percent)}
		}
		names = append(names, d.Name)
	}
	return nil
}

func (c *Commitment) check(path string) error {
	switch {
	case !named(c.ID):
		return &Error{path + ".id", fmt.Sprintf("must have 1 to %d characters", maxText)}
	case !named(c.Source):
		return &Error{path + ".source", "must say where the figures come from"}
	case !named(c.Unit):
		return &Error{path + ".unit", "must say what the amount counts"}
	case !(c.Amount > 0 && c.Amount <= maxAmount):
		return &Error{path + ".amount", fmt.Sprintf("is %g: it must be above 0 and at most %g", c.Amount, float64(maxAmount))}
	case !amount(c.Foreign):
		return &Error{path + ".foreign", fmt.Sprintf("is %g: it must be from 0 to %g", c.Foreign, float64(maxAmount))}
	case c.UsedInTotal != nil && !amount(*c.UsedInTotal):
		return &Error{path + ".usedInTotal", fmt.Sprintf("is %g: it must be from 0 to %g", *c.UsedInTotal, float64(maxAmount))}
	case len(c.ByType) == 0 || len(c.ByType) > maxTypes:
		return &Error{path + ".byType", fmt.Sprintf("has %d entries: it must have 1 to %d", len(c.ByType), maxTypes)}
	case len(c.Zone) > maxText || len(c.OS) > maxText || len(c.Tenancy) > maxText || len(c.Kind) > maxText:
		return &Error{path, fmt.Sprintf("has a text of more than %d characters", maxText)}
	}
	for name, per := range c.ByType {
		if !(per > 0 && per <= maxAmount) || !named(name) {
			return &Error{path + ".byType", fmt.Sprintf("has %g for %q: each amount must be above 0 and at most %g", per, name, float64(maxAmount))}
		}
	}
	return nil
}

func named(text string) bool { return text != "" && len(text) <= maxText }

func amount(x float64) bool { return x >= 0 && x <= maxAmount && !math.IsNaN(x) }

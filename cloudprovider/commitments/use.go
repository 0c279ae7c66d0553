package commitments

import (
	"cmp"
	"slices"
	"time"
)

// Running is a group of equal instances that are billed on demand.
type Running struct {
	// InstanceType, Zone, OS and Tenancy are the values of the instances' labels. An empty OS means Linux; an empty Tenancy means
	// "default".
	InstanceType, Zone, OS, Tenancy string
	// Count of the instances.
	Count int
}

// Uses contains the used amount of each commitment, in the commitment's unit. The key is the commitment's ID.
type Uses map[string]float64

// Use computes how much of each commitment the instances use, if no other instances use it. Commitments apply one after another, in the
// order of the account. One commitment may cover a part of an instance, and a later commitment another part. A commitment covers instances
// in the order of type and zone. If its amount is not enough, the last instance that it covers is covered in part.
func (a *Account) Use(running []Running) Uses {
	out := Uses{}
	if a == nil {
		return out
	}
	running = slices.Clone(running)
	slices.SortFunc(running, func(x, y Running) int {
		return cmp.Or(cmp.Compare(x.InstanceType, y.InstanceType), cmp.Compare(x.Zone, y.Zone), cmp.Compare(x.OS, y.OS), cmp.Compare(x.Tenancy, y.Tenancy))
	})
	rest := make([]float64, len(running)) // instances of the group that are not covered yet
	for i, r := range running {
		rest[i] = float64(max(r.Count, 0))
	}
	for i := range a.Commitments {
		c := &a.Commitments[i]
		left := c.Amount
		for j, r := range running {
			per := c.per(r)
			if per == 0 || rest[j] == 0 || left == 0 {
				continue
			}
			covered := min(rest[j], left/per)
			rest[j] -= covered
			left = max(left-covered*per, 0)
		}
		if used := c.Amount - left; used > 0 {
			out[c.ID] = used
		}
	}
	return out
}

// per returns how much of the commitment one instance of the group uses, or 0 if the commitment does not cover such instances.
func (c *Commitment) per(r Running) float64 {
	if c.Zone != "" && c.Zone != r.Zone || c.OS != "" && c.OS != cmp.Or(r.OS, "linux") || c.Tenancy != "" && c.Tenancy != cmp.Or(r.Tenancy, "default") {
		return 0
	}
	return c.ByType[r.InstanceType]
}

// ClusterUse is the report of one cluster of the account to the other clusters: its use of commitments.
type ClusterUse struct {
	// Cluster by name, unique in the account.
	Cluster string `json:"cluster"`
	// At is when the report was computed.
	At time.Time `json:"at"`
	// Uses of commitments.
	Uses Uses `json:"uses,omitempty"`
}

// ReportLife is how long the report of a cluster is used. A cluster without a newer report is assumed to be deleted.
const ReportLife = 15 * time.Minute

// Current reports whether the report is used at the time now: At may be at most ReportLife before or after now. Clocks differ, so reports
// from the near future are used. But a report with a wrong year must not be used for ever.
func (u ClusterUse) Current(now time.Time) bool { return now.Sub(u.At).Abs() <= ReportLife }

// Share is how much of a commitment a cluster may plan to use.
type Share struct {
	// Commitment in question.
	*Commitment
	// Available is how much the cluster may use, for its nodes and for new nodes: from 0 to Amount.
	Available float64
	// Elsewhere estimates the use of instances outside the sharing clusters. Others is the use that the other sharing clusters report.
	Elsewhere, Others float64
}

// Available computes how much of each commitment the named cluster may use. It depends on the use of its own nodes (see Use) and on the use
// that other clusters report. Commitments that have ended are left out. Reports of the cluster itself, and reports that are not Current,
// are ignored.
//
// The use of instances outside the sharing clusters is the larger of two amounts. The first is the use that the provider saw (Foreign). The
// second is the use of the account on the last day for which the cloud reports it (UsedInTotal), minus the present use of the sharing
// clusters. The second amount includes other regions, other accounts and other services. The sharing clusters may use the remaining amount.
// From it, the named cluster may use the part that the other clusters don't report as used. If the clusters together use more than the
// remaining amount, each gets a part in proportion to its own use. So no cluster loses paid capacity because another cluster reports first.
func (a *Account) Available(cluster string, own Uses, reports []ClusterUse, now time.Time) []Share {
	if a == nil {
		return nil
	}
	reports = latest(slices.DeleteFunc(slices.Clone(reports), func(r ClusterUse) bool { return r.Cluster == cluster || !r.Current(now) }))
	var out []Share
	for i := range a.Commitments {
		c := &a.Commitments[i]
		if !c.End.IsZero() && !now.Before(c.End) {
			continue
		}
		mine := min(max(own[c.ID], 0), c.Amount)
		others := 0.0
		for _, r := range reports {
			others += min(max(r.Uses[c.ID], 0), c.Amount)
		}
		s := Share{Commitment: c, Others: others, Elsewhere: c.Foreign}
		if c.UsedInTotal != nil {
			s.Elsewhere = max(s.Elsewhere, *c.UsedInTotal-mine-others)
		}
		s.Elsewhere = min(s.Elsewhere, c.Amount)
		rest := c.Amount - s.Elsewhere
		s.Available = max(rest-others, 0)
		if wanted := mine + others; wanted > rest && mine > 0 {
			s.Available = max(s.Available, rest*(mine/wanted))
		}
		out = append(out, s)
	}
	return out
}

// latest returns the newest report of each cluster, in the order of the clusters' names.
func latest(reports []ClusterUse) []ClusterUse {
	sorted := slices.Clone(reports)
	slices.SortStableFunc(sorted, func(a, b ClusterUse) int {
		return cmp.Or(cmp.Compare(a.Cluster, b.Cluster), b.At.Compare(a.At))
	})
	return slices.CompactFunc(sorted, func(a, b ClusterUse) bool { return a.Cluster == b.Cluster })
}

package reference

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"time"

	"github.com/drawknife/drawknife/disruption/decision"
	"github.com/drawknife/drawknife/internal/consolidate/money"
	"github.com/drawknife/drawknife/internal/consolidate/survey"
	"github.com/drawknife/drawknife/scheduling/planning"
)

// memberOf converts a candidate to a member of a command.
func memberOf(c *decision.Candidate) decision.Member {
	m := decision.Member{
		Node: c.Name, Claim: c.State.Claim.Name, UID: c.State.Claim.UID, ProviderID: c.State.ProviderID,
		Pool: c.Pool.Key, Static: c.Pool.Object.IsStatic(), Price: c.Price, Cost: c.Cost,
	}
	if len(c.Pods) > 0 {
		m.Pods = make([]planning.PodKey, len(c.Pods))
	}
	for i, pod := range c.Pods {
		m.Pods[i] = survey.KeyOf(pod)
		survey.AddOwners(&m, pod)
	}
	return m
}

// NewCommand makes a command that removes the candidates, in sorted order.
func NewCommand(method decision.Method, members []*decision.Candidate, now time.Time) *decision.Command {
	cmd := &decision.Command{Method: method, Reason: method.Reason(), Planned: now, NotBefore: now, Members: make([]decision.Member, 0, len(members))}
	sum := int64(0)
	for _, c := range members {
		cmd.Members = append(cmd.Members, memberOf(c))
		sum += money.NanoUSD(c.Price)
	}
	slices.SortFunc(cmd.Members, func(a, b decision.Member) int { return strings.Compare(a.Node, b.Node) })
	cmd.Savings = money.USD(sum)
	Identify(cmd)
	return cmd
}

// Identify sets the ID of the command.
func Identify(c *decision.Command) {
	var short [256]byte
	text := append(append(short[:0], c.Method...), 0)
	text = c.Planned.UTC().AppendFormat(text, time.RFC3339Nano)
	for i := range c.Members {
		text = append(append(text, 0), c.Members[i].Node...)
		text = append(append(text, 0), c.Members[i].UID...)
	}
	sum := sha256.Sum256(text)
	c.ID = hex.EncodeToString(sum[:8])
}

package disruption

import (
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/internal/consolidate/money"
)

// Role is a NodeClaim's role in a command.
type Role string

// The roles.
const (
	// RoleMember means that the command removes the NodeClaim.
	RoleMember Role = "member"
	// RoleReplacement means that the command launched the NodeClaim.
	RoleReplacement Role = "replacement"
)

// Record describes a command in the annotation v1.DisruptionCommandAnnotationKey of its NodeClaims. Members have it from before the
// command's first effect until they are gone or the command is undone. Replacements have it from their creation until the command has
// ended. The records of all NodeClaims of a command are sufficient for another process to continue or undo it. A record does not contain
// the progress of the command, so it can't be out of date: the state of the objects shows the progress. It takes less than 1 KiB.
type Record struct {
	// ID is the command's ID, Role the NodeClaim's role in the command.
	ID   string `json:"id"`
	Role Role   `json:"role"`
	// Index is the index of the NodeClaim in Command.Members or Command.Replacements.
	Index int `json:"index"`
	// Method and Reason of the command.
	Method Method `json:"method"`
	Reason Reason `json:"reason"`
	// Members and Replacements are the numbers of members and replacements.
	Members      int `json:"members"`
	Replacements int `json:"replacements,omitempty"`
	// Planned is when the command was planned. Started is when the command began to mark its members; its deadline counts from this time.
	Planned time.Time `json:"planned"`
	Started time.Time `json:"started"`
	// Wave and Waves are copied from the Command.
	Wave  int `json:"wave,omitempty"`
	Waves int `json:"waves,omitempty"`
	// Digest is Command.Digest at the start of the command. It is equal in all records of the command.
	Digest string `json:"digest,omitempty"`
	// Node and UID are set for a member: the name of its Node, and the UID of its NodeClaim. Pool is set for a replacement:
	// v1.PoolKey.String of its pool.
	Node string    `json:"node,omitempty"`
	UID  types.UID `json:"uid,omitempty"`
	Pool string    `json:"pool,omitempty"`
	// Static is true for members and replacements of static pools, which have spec.replicas.
	Static bool `json:"static,omitempty"`
	// Price is the price of a member in USD per hour, and Cost the cost of its disruption, as planned.
	Price float64 `json:"price,omitempty"`
	Cost  float64 `json:"cost,omitempty"`
}

// RecordError means that an annotation v1.DisruptionCommandAnnotationKey can't be read.
type RecordError struct {
	// Claim is the name of the NodeClaim. Rule says what is wrong with its annotation.
	Claim, Rule string
}

func (e *RecordError) Error() string {
	return fmt.Sprintf("nodeclaim %s: annotation %s: %s: remove it", e.Claim, v1.DisruptionCommandAnnotationKey, e.Rule)
}

// RecordOf reads the claim's record. It returns nil if the claim has no record. The error is a *RecordError.
func RecordOf(claim *v1.NodeClaim) (*Record, error) {
	text, has := "", false
	if claim != nil {
		text, has = claim.Annotations[v1.DisruptionCommandAnnotationKey]
	}
	if !has {
		return nil, nil
	}
	r := &Record{}
	if err := json.Unmarshal([]byte(text), r); err != nil {
		return nil, &RecordError{claim.Name, "is no record of a command"}
	}
	switch {
	case r.ID == "":
		return nil, &RecordError{claim.Name, "id is missing"}
	case r.Role != RoleMember && r.Role != RoleReplacement:
		return nil, &RecordError{claim.Name, fmt.Sprintf("role %q is neither %s nor %s", r.Role, RoleMember, RoleReplacement)}
	case r.Index < 0 || r.Role == RoleReplacement && r.Index >= r.Replacements:
		return nil, &RecordError{claim.Name, "index is out of range"}
	}
	return r, nil
}

// command returns a copy of the record with only the fields that are equal in all records of the command.
func (r *Record) command() Record {
	out := *r
	out.Role, out.Index, out.Node, out.UID, out.Pool, out.Static, out.Price, out.Cost = "", 0, "", "", "", false, 0, 0
	out.Planned, out.Started = r.Planned.UTC(), time.Time{}
	return out
}

// clockSkew is the assumed maximum difference between the clocks of a controller and an API server.
const clockSkew = 5 * time.Minute

// writtenFor reports whether the record was written for this claim, and was not copied from another claim. A replacement must be in the
// pool that the record names, and must not be older than its command.
func (r *Record) writtenFor(claim *v1.NodeClaim) bool {
	if r.Role == RoleMember {
		return r.UID == claim.UID
	}
	created := claim.CreationTimestamp
	return r.Pool == v1.PoolOf(claim.Labels).String() && (created.IsZero() || !created.Time.Before(r.Planned.Add(-clockSkew)))
}

// String returns the record as the value of the annotation.
func (r *Record) String() string {
	text, err := json.Marshal(r)
	if err != nil {
		return "" // prices are finite and times are in range, so there is no error
	}
	return string(text)
}

// belongs reports whether the claim has a record of the command with this ID.
func belongs(claim *v1.NodeClaim, id string) bool {
	r, err := RecordOf(claim)
	return err == nil && r != nil && r.ID == id
}

// record returns a record of the execution's command with the fields that are equal in all of its records, and with role and index.
func (e *Execution) record(role Role, index int) *Record {
	return &Record{
		ID: e.cmd.ID, Role: role, Index: index, Method: e.cmd.Method, Reason: e.cmd.Reason, Members: len(e.cmd.Members),
		Replacements: len(e.cmd.Replacements), Planned: e.cmd.Planned, Started: e.started, Wave: e.cmd.Wave, Waves: e.cmd.Waves,
		Digest: e.digest,
	}
}

func (e *Execution) memberRecord(index int) string {
	m := &e.cmd.Members[index]
	r := e.record(RoleMember, index)
	r.Node, r.UID, r.Static, r.Price, r.Cost = m.Node, m.UID, m.Static, money.USD(money.NanoUSD(m.Price)), money.USD(money.NanoUSD(m.Cost))
	return r.String()
}

func (e *Execution) replacementRecord(index int) string {
	r := e.record(RoleReplacement, index)
	r.Pool, r.Static = e.cmd.Replacements[index].Pool.String(), e.cmd.Replacements[index].Static
	return r.String()
}

// token returns the token with which replacement number index is created. Every process that executes the command uses the same token.
func (e *Execution) token(index int) string { return "command/" + e.cmd.ID + "/" + strconv.Itoa(index) }

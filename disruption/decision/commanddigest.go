package decision

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"

	"k8s.io/apimachinery/pkg/types"
)

// Change digestVersion whenever the input of digests changes, so that digests made with different inputs are never equal.
const digestVersion = "drawknife.dev/disruption-digest/v1"

// digestedCommand contains the data of a command that its digest is computed from.
type digestedCommand struct {
	Version      string                `json:"version"`
	Reason       Reason                `json:"reason"`
	Members      []digestedMember      `json:"members"`
	Replacements []digestedReplacement `json:"replacements"`
}

type digestedMember struct {
	Node  string    `json:"node"`
	Claim string    `json:"claim"`
	UID   types.UID `json:"uid"`
	Pods  []string  `json:"pods"`
}

type digestedReplacement struct {
	Pool   string `json:"pool"`
	Static bool   `json:"static"`
	// Types are the instance types that may be launched, sorted. Each entry has the type, zone, capacity type and further labels of the
	// offering.
	Types []string `json:"types"`
}

// Digest identifies what the command does to the cluster, for approvals. It has 32 hexadecimal digits. Two commands have the same digest if
// they remove the same NodeClaims and nodes for the same reason, evict the same pods, and may launch the same offerings for the same pools.
// An approval of a digest covers exactly these actions.
//
// The digest leaves out data that differs between plans of the same fleet: ID, method, times, wave, prices and savings. It also leaves out
// the planned places of pods, because kube-scheduler chooses the places. The order of nodes and pods does not matter. A digest stays the
// same in later releases unless release notes announce a change.
func (c *Command) Digest() string {
	if c == nil {
		return ""
	}
	d := digestedCommand{Version: digestVersion, Reason: c.Reason, Members: []digestedMember{}, Replacements: []digestedReplacement{}}
	for i := range c.Members {
		m := &c.Members[i]
		pods := make([]string, 0, len(m.Pods))
		for _, key := range m.Pods {
			pods = append(pods, key.String())
		}
		slices.Sort(pods)
		d.Members = append(d.Members, digestedMember{m.Node, m.Claim, m.UID, pods})
	}
	slices.SortFunc(d.Members, func(a, b digestedMember) int {
		return cmp.Or(cmp.Compare(a.Node, b.Node), cmp.Compare(a.Claim, b.Claim), cmp.Compare(a.UID, b.UID))
	})
	for i := range c.Replacements {
		r := &c.Replacements[i]
		types := []string{}
		if r.Node != nil {
			for k := range r.Node.InstanceTypes {
				o := &r.Node.InstanceTypes[k]
				types = append(types, o.Name+"/"+o.Zone+"/"+o.CapacityType+"/"+o.Others)
			}
		}
		slices.Sort(types)
		d.Replacements = append(d.Replacements, digestedReplacement{r.Pool.String(), r.Static, slices.Compact(types)})
	}
	slices.SortFunc(d.Replacements, func(a, b digestedReplacement) int {
		return cmp.Or(cmp.Compare(a.Pool, b.Pool), slices.Compare(a.Types, b.Types))
	})
	return digestOf(d)
}

func digestOf(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return "" // strings and booleans can always be encoded
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:16])
}

// DigestOf identifies what waves of commands do. It consists of the digests of the commands. They are grouped by wave; their order within a
// wave does not matter.
func DigestOf(waves [][]*Command) string {
	all := [][]string{}
	for _, commands := range waves {
		wave := []string{}
		for _, cmd := range commands {
			wave = append(wave, cmd.Digest())
		}
		slices.Sort(wave)
		all = append(all, wave)
	}
	return digestOf(struct {
		Version string     `json:"version"`
		Waves   [][]string `json:"waves"`
	}{digestVersion, all})
}

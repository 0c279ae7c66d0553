package disruption

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"

	"k8s.io/apimachinery/pkg/types"
)

// digestVersion changes with what digests are made of: digests of different versions never agree.
const digestVersion = "drawknife.dev/disruption-digest/v1"

// digestedCommand is what a command's digest is made of.
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
	// Types that may be launched, each as type/zone/capacity type and further labels of the offering, sorted.
	Types []string `json:"types"`
}

// Digest names what the command does to the cluster, for approvals: 32 hexadecimal digits. Two commands have the same digest
// if they remove the same NodeClaims and nodes, for the same reason, evict the same pods and may launch the same offerings of
// the same pools. Whoever approves a digest approves of exactly that.
//
// What a later plan of the same fleet may say differently is no part of it: ID, method, times, wave, prices and saving, and
// where pods are expected to go, which kube-scheduler decides. Orders do not matter. A digest stays the same from release to
// release unless the notes of a release say otherwise.
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

// Digest names what the plan does: the digests of its commands, wave by wave. Two plans have the same digest if they do the same
// in the same waves; see Command.Digest. A plan without commands has one, too.
func (p *Plan) Digest() string {
	if p == nil {
		return ""
	}
	byID := make(map[string]string, len(p.Commands))
	for _, cmd := range p.Commands {
		byID[idOf(cmd)] = cmd.Digest()
	}
	waves := [][]string{}
	for i := range p.Waves {
		wave := []string{}
		for _, id := range p.Waves[i].Commands {
			wave = append(wave, byID[id])
		}
		slices.Sort(wave)
		waves = append(waves, wave)
	}
	if len(p.Waves) == 0 {
		all := []string{}
		for _, cmd := range p.Commands {
			all = append(all, cmd.Digest())
		}
		slices.Sort(all)
		waves = append(waves, all)
	}
	return digestOf(struct {
		Version string     `json:"version"`
		Waves   [][]string `json:"waves"`
	}{digestVersion, waves})
}

func digestOf(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return "" // strings and booleans alone are always written
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:16])
}

// MovedOn says why a command that was approved must not be started in the fleet as it is now: a member's NodeClaim is another, or
// pods came to it that would be evicted without anybody having approved of it. Nil when neither is the case: pods that are gone
// do not matter. It is asked besides Planner.Validate, which says whether the command is still worth it.
func MovedOn(f *Fleet, cmd *Command) *RejectedError {
	if f == nil || cmd == nil {
		return nil
	}
	for i := range cmd.Members {
		m := &cmd.Members[i]
		reject := func(why *Block) *RejectedError {
			return &RejectedError{Command: cmd.ID, Category: RejectedChurn, Node: m.Node, Block: why}
		}
		c := f.Candidate(m.Node)
		if c == nil || c.Machine.Claim.UID != m.UID {
			return reject(&Block{Code: BlockUnmanaged, Detail: "its NodeClaim is another"})
		}
		for _, pod := range c.Pods {
			if key := keyOf(pod); !slices.Contains(m.Pods, key) {
				return reject(&Block{Code: BlockUnapproved, Pod: key})
			}
		}
	}
	return nil
}

package disruption

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/internal/consolidate/money"
)

// MaxHistoryBytes limits the text that History.Annotation returns. If the text would be longer, similar entries are merged into one, with
// their latest time. If this is not enough because nodes have many different labels, entries with the same zone and reason are merged into
// one, with the labels that all nodes share. If this is not enough either, the oldest entries are left out.
const MaxHistoryBytes = 48 << 10

// History is the list of disruptions for Input.History, in the order in which they started. The zero value is empty. Its methods don't
// change it but return a new list.
type History []Disruption

// HistoryError means that an annotation v1.DisruptionHistoryAnnotationKey can't be read.
type HistoryError struct {
	// Pool is the pool that has the annotation.
	Pool v1.PoolKey
	// Err is the cause.
	Err error
}

func (e *HistoryError) Error() string {
	return fmt.Sprintf("nodepool %s: annotation %s: %v: remove it; disruptions before are forgotten then", e.Pool, v1.DisruptionHistoryAnnotationKey, e.Err)
}

// Unwrap returns Err.
func (e *HistoryError) Unwrap() error { return e.Err }

// Add returns the history with further disruptions. It skips entries for a command and node that the history already has, so adding a
// command twice is safe.
func (h History) Add(more ...Disruption) History {
	out := slices.Clone(h)
	type key struct{ command, node string }
	seen := map[key]bool{}
	for i := range out {
		seen[key{out[i].Command, out[i].Node}] = true
	}
	for _, d := range more {
		k := key{d.Command, d.Node}
		if d.Command != "" && seen[k] {
			continue
		}
		seen[k] = true
		out = append(out, d)
	}
	slices.SortStableFunc(out, func(a, b Disruption) int { return a.Time.Compare(b.Time) })
	return out
}

// Within returns the disruptions that started less than the duration window before now.
func (h History) Within(window time.Duration, now time.Time) History {
	return slices.DeleteFunc(slices.Clone(h), func(d Disruption) bool { return now.Sub(d.Time) >= window })
}

// historyLine is a line of the annotation: one disruption, or several similar ones.
type historyLine struct {
	Node    string      `json:"n,omitempty"`
	Command string      `json:"c,omitempty"`
	Time    int64       `json:"t"` // milliseconds
	Reason  Reason      `json:"r"`
	Zone    string      `json:"z,omitempty"`
	Labels  int         `json:"l"` // place in labels
	Pods    int         `json:"p,omitempty"`
	Price   int64       `json:"u,omitempty"` // nano-USD per hour
	Owners  []types.UID `json:"o,omitempty"`
	Count   int         `json:"k,omitempty"` // 0 is one
}

type historyText struct {
	Labels []map[string]string `json:"labels,omitempty"`
	Lines  []historyLine       `json:"lines,omitempty"`
}

// Annotation returns the part of the history that is about the pool, as the value of v1.DisruptionHistoryAnnotationKey, or "" if there is
// none. The result has at most MaxHistoryBytes.
func (h History) Annotation(pool v1.PoolKey) string {
	var text historyText
	places := map[string]int{}
	for i := range h {
		d := &h[i]
		if d.Pool != pool {
			continue
		}
		set := maps.Clone(d.Labels)
		delete(set, corev1.LabelHostname) // the hostname is different on each node, and no budget selects nodes by hostname
		key := fmt.Sprint(set)            // maps are printed in the order of their keys
		at, known := places[key]
		if !known {
			at = len(text.Labels)
			places[key], text.Labels = at, append(text.Labels, set)
		}
		text.Lines = append(text.Lines, historyLine{d.Node, d.Command, d.Time.UnixMilli(), d.Reason, d.Zone, at, d.Pods, money.NanoUSD(d.Price), d.Owners, 0})
	}
	out := text.String()
	if len(out) > MaxHistoryBytes {
		text.coalesce()
		out = text.String()
	}
	if len(out) > MaxHistoryBytes {
		text.shareLabels()
		text.coalesce()
		out = text.String()
	}
	for len(out) > MaxHistoryBytes && len(text.Lines) > 0 {
		text.Lines = text.Lines[(len(text.Lines)+7)/8:]
		text.dropLabels()
		out = text.String()
	}
	return out
}

func (t *historyText) String() string {
	if len(t.Lines) == 0 {
		return ""
	}
	out, err := json.Marshal(t)
	if err != nil {
		return "" // JSON can represent every History
	}
	return string(out)
}

// coalesce merges lines that have the same reason, zone and labels, because budgets distinguish them only by their time. A merged line has
// the latest time of the lines that it replaces.
func (t *historyText) coalesce() {
	type kind struct {
		reason Reason
		zone   string
		labels int
	}
	byKind := map[kind]*historyLine{}
	var order []kind
	for i := range t.Lines {
		l := &t.Lines[i]
		k := kind{l.Reason, l.Zone, l.Labels}
		one := byKind[k]
		if one == nil {
			one = &historyLine{Reason: l.Reason, Zone: l.Zone, Labels: l.Labels}
			byKind[k], order = one, append(order, k)
		}
		one.Time = max(one.Time, l.Time)
		one.Pods, one.Price, one.Count = one.Pods+l.Pods, one.Price+l.Price, min(one.Count+max(1, l.Count), maxCount)
		for _, uid := range l.Owners {
			if len(one.Owners) < maxOwners && !slices.Contains(one.Owners, uid) {
				one.Owners = append(one.Owners, uid)
			}
		}
	}
	t.Lines = t.Lines[:0]
	for _, k := range order {
		t.Lines = append(t.Lines, *byKind[k])
	}
	slices.SortStableFunc(t.Lines, func(a, b historyLine) int { return cmp.Compare(a.Time, b.Time) })
}

// maxCount is the largest number of disruptions that one line may count. It limits the number of entries that are created when a line is
// read.
const maxCount = 10_000

// shareLabels reduces the labels of all lines to the labels that all lines have with the same value.
func (t *historyText) shareLabels() {
	if len(t.Labels) == 0 {
		return
	}
	shared := maps.Clone(t.Labels[0])
	for _, set := range t.Labels[1:] {
		maps.DeleteFunc(shared, func(key, value string) bool {
			other, has := set[key]
			return !has || other != value
		})
	}
	t.Labels = []map[string]string{shared}
	for i := range t.Lines {
		t.Lines[i].Labels = 0
	}
}

// maxOwners is the largest number of owners that a merged line keeps.
const maxOwners = 64

// dropLabels removes sets of labels that no line refers to.
func (t *historyText) dropLabels() {
	var kept []map[string]string
	places := map[int]int{}
	for i := range t.Lines {
		at, known := places[t.Lines[i].Labels]
		if !known {
			at = len(kept)
			places[t.Lines[i].Labels], kept = at, append(kept, t.Labels[t.Lines[i].Labels])
		}
		t.Lines[i].Labels = at
	}
	t.Labels = kept
}

// HistoryOf returns the history in the pool's annotation. It is empty if the pool has no annotation. The error is a *HistoryError.
func HistoryOf(pool *v1.NodePool) (History, error) {
	if pool == nil || pool.Annotations[v1.DisruptionHistoryAnnotationKey] == "" {
		return nil, nil
	}
	key := pool.Key()
	var text historyText
	if err := json.Unmarshal([]byte(pool.Annotations[v1.DisruptionHistoryAnnotationKey]), &text); err != nil {
		return nil, &HistoryError{key, err}
	}
	var out History
	for i := range text.Lines {
		l := &text.Lines[i]
		if l.Labels < 0 || l.Labels >= len(text.Labels) || l.Count < 0 || l.Count > maxCount {
			return nil, &HistoryError{key, fmt.Errorf("line %d is invalid: its labels or its count are out of range", i)}
		}
		d := Disruption{
			Node: l.Node, Command: l.Command, Time: time.UnixMilli(l.Time).UTC(), Reason: l.Reason, Pool: key, Zone: l.Zone, Labels: text.Labels[l.Labels],
			Pods: l.Pods, Price: money.USD(l.Price), Owners: l.Owners,
		}
		out = append(out, d)
		d.Pods, d.Price = 0, 0 // only the first entry has the pods and the price: the line contains their sums over all of its disruptions
		for range l.Count - 1 {
			out = append(out, d)
		}
	}
	return out, nil
}

package reconcilers

import (
	"fmt"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/drawknife/drawknife/provisioning"
)

// transitions publishes events about changed conditions.
type transitions struct {
	leader   *leadership
	recorder *recorder
	reader   *conditionReader
}

// longestQuote is the maximum length of a condition's message in an event, whose text may have 1024 characters.
const longestQuote = 500

func (t *transitions) seen(before, after client.Object) {
	if before == nil || after == nil || !t.leader.Load() {
		return
	}
	if kind, is := t.reader.of(after); kind != "" {
		_, was := t.reader.of(before)
		t.compare(kind, after.GetName(), after.GetUID(), was, is)
	}
}

func (t *transitions) compare(kind, name string, uid types.UID, before, after []metav1.Condition) {
	was := make(map[string]string, len(before))
	for i := range before {
		was[before[i].Type] = string(before[i].Status)
	}
	var list []provisioning.Event
	for i := range after {
		c := &after[i]
		old, known := was[c.Type]
		if !known {
			old = "Unknown"
		}
		if old == string(c.Status) {
			continue
		}
		message := fmt.Sprintf("Status condition transitioned, Type: %s, Status: %s -> %s, Reason: %s", c.Type, old, c.Status, c.Reason)
		if c.Message != "" {
			message += ", Message: " + strings.ToValidUTF8(c.Message[:min(len(c.Message), longestQuote)], "")
		}
		list = append(list, provisioning.Event{
			Kind: kind, Name: name, UID: uid, Reason: provisioning.EventReason(c.Type), Message: message,
			Every: new(time.Duration), // each change has its own event
		})
	}
	t.recorder.publish(list)
}

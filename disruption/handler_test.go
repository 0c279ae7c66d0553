package disruption_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"testing"

	"github.com/drawknife/drawknife/api/option"
	"github.com/drawknife/drawknife/disruption"
)

// allEffects has one of each kind.
func allEffects() []disruption.Effect {
	return []disruption.Effect{
		disruption.ValidateCommand{}, disruption.AskApproval{}, disruption.WriteRecord{}, disruption.ClearRecord{}, disruption.TaintNode{Node: "a"},
		disruption.UntaintNode{}, disruption.CordonNode{}, disruption.UncordonNode{}, disruption.SetReason{}, disruption.ClearReason{},
		disruption.LaunchReplacement{}, disruption.MarkNode{Node: "a"}, disruption.UnmarkNode{}, disruption.NominateNode{}, disruption.NoteDisruptions{},
		disruption.DeleteMember{}, disruption.DeleteReplacement{},
	}
}

// Every effect comes to the method of its name, and to no other.
func TestDoCallsTheMethodOfTheKind(t *testing.T) {
	methods := reflect.TypeFor[disruption.Handler]()
	seen := map[string]bool{}
	for _, effect := range allEffects() {
		kind := reflect.TypeOf(effect).Name()
		seen[kind] = true
		err := disruption.Do(t.Context(), effect, disruption.RefuseEffects{})
		var refused *disruption.RefusedEffectError
		if !errors.As(err, &refused) || !reflect.DeepEqual(refused.Effect, effect) {
			t.Errorf("%s: %v", kind, err)
		}
		if _, ok := methods.MethodByName(kind); !ok {
			t.Errorf("Handler has no method %s", kind)
		}
	}
	for i := range methods.NumMethod() {
		if name := methods.Method(i).Name; !seen[name] {
			t.Errorf("no effect for the method %s: add one to allEffects", name)
		}
	}
	var missing *option.ArgumentError
	if err := disruption.Do(t.Context(), nil, disruption.RefuseEffects{}); !errors.As(err, &missing) {
		t.Errorf("no effect: %v", err)
	}
	if err := disruption.Do(t.Context(), disruption.MarkNode{}, nil); !errors.As(err, &missing) {
		t.Errorf("no handler: %v", err)
	}
}

// tainter carries out the taints of commands; it is asked for nothing else.
type tainter struct{ disruption.RefuseEffects }

func (tainter) TaintNode(_ context.Context, e disruption.TaintNode) error {
	fmt.Println("tainting", e.Node)
	return nil
}

// A caller has a method for each kind of effect that it may be asked for.
func ExampleDo() {
	for _, effect := range []disruption.Effect{disruption.TaintNode{Node: "node-1"}, disruption.MarkNode{Node: "node-1"}} {
		if err := disruption.Do(context.Background(), effect, tainter{}); err != nil {
			fmt.Println(err)
		}
	}
	// Output:
	// tainting node-1
	// cannot mark node node-1: there is no handler for it
}

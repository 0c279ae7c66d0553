package provisioning_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"testing"

	"github.com/drawknife/drawknife/api/option"
	"github.com/drawknife/drawknife/provisioning"
)

// allEffects has one of each kind.
func allEffects() []provisioning.Effect {
	return []provisioning.Effect{
		provisioning.PutClaim{}, provisioning.DeleteClaim{Name: "a"}, provisioning.CreateInstance{}, provisioning.FindInstance{}, provisioning.AskInstance{},
		provisioning.TerminateInstance{}, provisioning.AskGates{}, provisioning.PutNode{}, provisioning.DeleteNode{Name: "a"}, provisioning.EvictPod{},
		provisioning.DeletePod{}, provisioning.ScaleWorkload{},
	}
}

// Every effect comes to the method of its name, and to no other.
func TestDoCallsTheMethodOfTheKind(t *testing.T) {
	methods := reflect.TypeFor[provisioning.Handler]()
	seen := map[string]bool{}
	for _, effect := range allEffects() {
		kind := reflect.TypeOf(effect).Name()
		seen[kind] = true
		err := provisioning.Do(t.Context(), effect, provisioning.RefuseEffects{})
		var refused *provisioning.RefusedEffectError
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
	if err := provisioning.Do(t.Context(), nil, provisioning.RefuseEffects{}); !errors.As(err, &missing) {
		t.Errorf("no effect: %v", err)
	}
	if err := provisioning.Do(t.Context(), provisioning.AskGates{}, nil); !errors.As(err, &missing) {
		t.Errorf("no handler: %v", err)
	}
}

// podPrinter carries out what an Evictor asks for; it is asked for nothing else.
type podPrinter struct{ provisioning.RefuseEffects }

func (podPrinter) EvictPod(_ context.Context, e provisioning.EvictPod) error {
	fmt.Println("evicting", e.Key)
	return nil
}

// A caller has a method for each kind of effect that it may be asked for.
func ExampleDo() {
	evict := provisioning.EvictPod{}
	evict.Key.Namespace, evict.Key.Name = "shop", "web-0"
	for _, effect := range []provisioning.Effect{evict, provisioning.DeleteNode{Name: "node-1"}} {
		if err := provisioning.Do(context.Background(), effect, podPrinter{}); err != nil {
			fmt.Println(err)
		}
	}
	// Output:
	// evicting shop/web-0
	// cannot delete node node-1: there is no handler for it
}

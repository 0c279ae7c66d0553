// Package surface calls exported functions with arguments that no caller should pass: nil, zero, negative, huge and duplicate values. Tests
// use it. The tests of this package call all exported functions of the module, in a list that go generate makes.
package surface

import (
	"fmt"
	"reflect"
	"runtime"
	"testing"
	"time"
)

//go:generate sh -c "go run ./generate > public.tmp && mv public.tmp zz_generated.public_test.go"

// Survive calls each function with every combination of odd values for its arguments, up to a few hundred combinations. It fails the test
// for each function that panics. Method values are functions, too. It ignores the results of the functions.
func Survive(t *testing.T, functions ...any) {
	t.Helper()
	for _, f := range functions {
		v := reflect.ValueOf(f)
		t.Run(runtime.FuncForPC(v.Pointer()).Name(), func(t *testing.T) { Function(t, v) })
	}
}

// Function does what Survive does, for one function.
func Function(t *testing.T, f reflect.Value) {
	t.Helper()
	for _, arguments := range combinations(f.Type()) {
		if !survives(t, f, arguments) {
			return
		}
	}
}

// Type calls the exported methods of a type, and of pointers to the type, in the same way as Survive. The receivers are the zero value and
// odd values. It calls no methods on nil pointers: such calls are mistakes of the caller, and Go itself reports them well.
func Type(t *testing.T, of reflect.Type) {
	t.Helper()
	if of.Kind() == reflect.Interface {
		return
	}
	pointers := reflect.PointerTo(of)
	for i := range pointers.NumMethod() {
		if pointers.Method(i).Name == "DeepCopyInto" {
			continue // generated; nothing in Kubernetes passes nil to it
		}
		t.Run(pointers.Method(i).Name, func(t *testing.T) {
			for _, value := range odd(of, 2) {
				receiver := reflect.New(of)
				for _, arguments := range combinations(receiver.Method(i).Type()) {
					receiver.Elem().Set(value)
					if !survives(t, receiver.Method(i), arguments) {
						t.Logf("on %.300s", fmt.Sprintf("%+v", value))
						return
					}
				}
			}
		})
	}
}

// patience is the longest time that a call may take. The limit detects calls that never return, and it is long enough for a slow computer.
const patience = 2 * time.Minute

// survives calls the function f, and fails the test if f panics or does not return in time.
func survives(t *testing.T, f reflect.Value, arguments []reflect.Value) bool {
	t.Helper()
	type outcome struct {
		cause any
		stack string
	}
	done := make(chan outcome, 1)
	go func() {
		var o outcome
		defer func() { done <- o }()
		defer func() {
			if o.cause = recover(); o.cause != nil {
				stack := make([]byte, 4<<10)
				o.stack = string(stack[:runtime.Stack(stack, false)])
			}
		}()
		if f.Type().IsVariadic() {
			f.CallSlice(arguments)
		} else {
			f.Call(arguments)
		}
	}()
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case o := <-done:
		if o.cause != nil {
			t.Errorf("%s panics: %v\n%s", describe(arguments), o.cause, o.stack)
		}
		return o.cause == nil
	case <-timer.C:
		t.Errorf("%s does not return", describe(arguments))
		return false
	}
}

func describe(arguments []reflect.Value) string {
	text := "("
	for i, a := range arguments {
		if i > 0 {
			text += ", "
		}
		text += fmt.Sprintf("%.200s", fmt.Sprintf("%+v", a))
	}
	return text + ")"
}

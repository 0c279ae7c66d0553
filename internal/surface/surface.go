// Package surface calls exported functions with arguments that no caller should pass: nil, zero, negative, huge and duplicate values. It is
// for tests. Its own go over the whole public surface of the module, which go generate lists.
package surface

import (
	"fmt"
	"reflect"
	"runtime"
	"testing"
	"time"
)

//go:generate sh -c "go run ./generate > public.tmp && mv public.tmp zz_generated.public_test.go"

// Survive calls each function with every combination of odd values for its arguments, at most a few hundred, and fails the test for each
// function that panics. A method value is a function too. What the functions return does not count.
func Survive(t *testing.T, functions ...any) {
	t.Helper()
	for _, f := range functions {
		v := reflect.ValueOf(f)
		t.Run(runtime.FuncForPC(v.Pointer()).Name(), func(t *testing.T) { Function(t, v) })
	}
}

// Function is Survive for one function.
func Function(t *testing.T, f reflect.Value) {
	t.Helper()
	for _, arguments := range combinations(f.Type()) {
		if !survives(t, f, arguments) {
			return
		}
	}
}

// Type calls the exported methods of a type and of pointers to it, as Survive does, on its zero value and on odd ones. It calls no methods
// on nil pointers, which would be a mistake of the caller that Go itself reports well.
func Type(t *testing.T, of reflect.Type) {
	t.Helper()
	if of.Kind() == reflect.Interface {
		return
	}
	pointers := reflect.PointerTo(of)
	for i := range pointers.NumMethod() {
		if pointers.Method(i).Name == "DeepCopyInto" {
			continue // generated; nowhere in Kubernetes does it take nil
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

// patience is how long a call may take. It finds calls that never return, also on a slow computer.
const patience = 2 * time.Minute

// survives calls f and fails the test if it panics or does not return.
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

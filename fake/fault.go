package fake

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/drawknife/drawknife/cloudprovider"
)

// Method is the name of a method of the provider, for Inject and Calls.
type Method string

// The methods of a Cloud for which faults can be injected.
const (
	MethodInstanceTypes        Method = "InstanceTypes"
	MethodCreate               Method = "Create"
	MethodCreateGroup          Method = "CreateGroup"
	MethodDelete               Method = "Delete"
	MethodGet                  Method = "Get"
	MethodList                 Method = "List"
	MethodIsDrifted            Method = "IsDrifted"
	MethodReceiveInterruptions Method = "ReceiveInterruptions"
	MethodAckInterruptions     Method = "AckInterruptions"
	MethodNodeClassStatus      Method = "NodeClassStatus"
	MethodRegistered           Method = "Registered"
)

// Fault is an injected error.
type Fault struct {
	// Method that fails.
	Method Method
	// Err is the error to return; usually one of cloudprovider's typed errors. If the error is about missing capacity or a quota, its
	// offerings are shown as unavailable afterwards, as the contract requires.
	Err error
	// Skip is the number of calls of the method after the injection that succeed before the first call fails.
	Skip int
	// More is the number of calls that fail after the first failed call; negative means all further calls.
	More int
	// Lost means that the call is carried out, but returns Err instead of its result, like a timeout after success.
	Lost bool
}

// plannedFault is a Fault with the number of calls that were counted for it.
type plannedFault struct {
	Fault
	seen int
}

// due counts a call and reports whether this call fails.
func (f *plannedFault) due() bool {
	f.seen++
	return f.seen > f.Skip && (f.More < 0 || f.seen <= f.Skip+1+f.More)
}

func (f *plannedFault) spent() bool {
	return f.More >= 0 && f.seen >= f.Skip+1+f.More
}

// Inject plans faults. If several faults are due at one call, the call returns the error of the fault that was injected first. The call is
// also counted for the other faults. If one of the faults has no error, or names a method that can't fail, Inject returns an error and
// plans none of them.
func (c *Cloud) Inject(faults ...Fault) error {
	for i, fault := range faults {
		switch {
		case fault.Err == nil:
			return fmt.Errorf("injecting fault %d: Err is nil; name the error to return", i)
		case fault.Skip < 0:
			return fmt.Errorf("injecting fault %d: Skip is %d; it must not be negative", i, fault.Skip)
		case !fault.Method.known():
			return fmt.Errorf("injecting fault %d: there is no method %q", i, fault.Method)
		}
	}
	for _, fault := range faults {
		_ = c.lever(Event{Name: "Inject", Fault: logged(fault)}, func(time.Time) error {
			c.faults = append(c.faults, &plannedFault{Fault: fault})
			return nil
		})
	}
	return nil
}

func (m Method) known() bool {
	switch m {
	case MethodInstanceTypes, MethodCreate, MethodCreateGroup, MethodDelete, MethodGet, MethodList, MethodIsDrifted,
		MethodReceiveInterruptions, MethodAckInterruptions, MethodNodeClassStatus, MethodRegistered:
		return true
	}
	return false
}

// Calls returns the number of calls of a method by all clusters. Failed calls count. Calls with a context that has already ended don't
// count.
func (c *Cloud) Calls(method Method) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.calls[method]
}

// nextFault counts a call and returns the fault that is due, or nil if no fault is due.
func (a *account) nextFault(method Method) *Fault {
	a.calls[method]++
	var met *Fault
	left := a.faults[:0]
	for _, fault := range a.faults {
		if fault.Method == method && fault.due() && met == nil {
			met = &fault.Fault
		}
		if !fault.spent() {
			left = append(left, fault)
		}
	}
	clear(a.faults[len(left):])
	a.faults = left
	return met
}

// call carries out a call of the provider. It checks the context, carries out the planned changes that are due, and returns a fault if one
// is due. Otherwise it does the work under the lock. It records the call and the answer, and then runs the hooks. e contains the method and
// its arguments; work may add the result.
func (c *Cloud) call(ctx context.Context, e *Event, work func(now time.Time) error) error {
	method := Method(e.Name)
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("calling %s: %w", method, err)
	}
	if err := c.unstalled(ctx, method); err != nil {
		return fmt.Errorf("calling %s: %w", method, err)
	}
	now := c.clock.Now()
	defer c.runHooks()
	c.mu.Lock()
	defer c.mu.Unlock()
	now = c.notBefore(now)
	c.catchUp(now)
	err := c.answer(method, now, work)
	e.At, e.Kind, e.Cluster = now, EventCall, c.cluster
	if err != nil {
		e.Error = err.Error()
	}
	c.record(*e)
	// work may have planned changes that are already due: for example, an instance without latency runs at once
	c.catchUp(now)
	return err
}

// answer does the work, unless a fault prevents it. Injected faults have priority, then errors caused by the state of the cloud, then the
// fault model.
func (c *Cloud) answer(method Method, now time.Time, work func(now time.Time) error) error {
	fault := c.nextFault(method)
	if fault == nil {
		fault = c.down(method, now)
	}
	if fault == nil {
		fault = c.chance.strike(method)
	}
	switch {
	case fault == nil:
		return work(now)
	case fault.Lost:
		err := work(now)
		return errors.Join(c.strike(method, fault, now), err)
	}
	return c.strike(method, fault, now)
}

// strike returns the error of a fault. It first updates the availability of offerings as a real provider would.
func (c *Cloud) strike(method Method, fault *Fault, now time.Time) error {
	for _, key := range cloudprovider.ExhaustedOfferings(fault.Err) {
		if state, known := c.catalog.offerings[key]; known {
			c.catalog.close(state, now.Add(c.stockOutMemory))
		}
	}
	return fmt.Errorf("calling %s: %w", method, fault.Err)
}

// Heal removes all pending faults of the methods, or of every method if no method is given.
func (c *Cloud) Heal(methods ...Method) {
	e := Event{Name: "Heal"}
	for _, m := range methods {
		e.IDs = append(e.IDs, string(m))
	}
	_ = c.lever(e, func(time.Time) error {
		c.faults = slices.DeleteFunc(c.faults, func(f *plannedFault) bool {
			return len(methods) == 0 || slices.Contains(methods, f.Method)
		})
		return nil
	})
}

package aws_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/drawknife/drawknife/cloudprovider/conformance"
	"github.com/drawknife/drawknife/cloudprovider/conformance/engine"
)

// TestMotoEngine has the planners run a small cluster on the provider, on moto: it scales up, falls back, consolidates, and
// replaces instances that drift, are interrupted or break.
func TestMotoEngine(t *testing.T) {
	newSite(t) // skips without moto
	// The clock of the provider is the real one and what it is ahead.
	// moto goes on looking for messages when nobody waits for them any more, and what it finds is lost for a while.
	factory := func(t testing.TB) conformance.Subject { return newBench(t, new(int)).subject() }
	options := engine.DefaultOptions()
	options.Start, options.Step, options.Listen, options.VanishEvery = time.Now(), 20*time.Second, 500*time.Millisecond, 12
	report := engine.Run(t, factory, options)
	if !t.Failed() {
		committed(t, report, "aws-engine")
	}
}

// The same scenarios in memory, where nobody interrupts instances: quick enough for every run of the tests.
func TestEngine(t *testing.T) {
	for _, scenario := range engine.Scenarios() {
		t.Run(scenario, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := inMemory(t)
				s.Interrupt = nil
				engine.Play(t, scenario, func(testing.TB) conformance.Subject { return s }, engine.DefaultOptions())
			})
		})
	}
}

package provisioning_test

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/provisioning"
)

// process is a controller with a clock that is so much ahead of the true time.
type process struct {
	t     *testing.T
	name  string
	ahead time.Duration
}

// look is what the process does with the first claim, and what it stores.
func (p process) look(claims []*v1.NodeClaim, seconds float64) string {
	p.t.Helper()
	o := provisioning.DefaultLifecycleOptions()
	o.Process = p.name
	l, err := provisioning.NewLifecycle(o)
	if err != nil {
		p.t.Fatal(err)
	}
	step := l.Next(provisioning.ClaimState{Claim: claims[0], Group: claims}, at(seconds).Add(p.ahead))
	var texts []string
	for _, e := range step.Effects {
		texts = append(texts, e.String())
		if put, ok := e.(provisioning.PutClaim); ok {
			claims[0] = put.Claim
		}
	}
	if len(texts) == 0 && step.Again > 0 {
		return "wait"
	}
	return strings.Join(texts, ", ")
}

const givenUp = "delete nodeclaim c0 (launch_group_incomplete)"

// twoOfThree are claims of a group that is not complete, created at time 0 by the API server's clock, which is so much ahead.
func twoOfThree(ahead time.Duration) []*v1.NodeClaim {
	claims := grouped(3)[:2]
	for _, c := range claims {
		c.CreationTimestamp = metav1.NewTime(start.Add(ahead))
	}
	return claims
}

// Whatever the API server's clock says, claims of a group wait half a minute for the next one.
func TestGroupCreationIgnoresTheAPIServersClock(t *testing.T) {
	for _, ahead := range []time.Duration{-4 * time.Minute, -40 * time.Second, 0, 40 * time.Second, time.Hour} {
		claims, p := twoOfThree(ahead), process{t, "a", 0}
		for _, step := range []struct {
			seconds float64
			want    string
		}{{1, "put nodeclaim c0"}, {2, "wait"}, {30.5, "wait"}, {31, givenUp}} {
			if got := p.look(claims, step.seconds); got != step.want {
				t.Errorf("the API server is %s ahead, %g s: %q, want %q", ahead, step.seconds, got, step.want)
			}
		}
		launched := claims[0].DeepCopy().Conditions().Get(v1.ConditionLaunched)
		if launched.Status != metav1.ConditionUnknown || launched.Reason != provisioning.ReasonGroupCreating || launched.Message != "2 of 3 claims of launch group ns/train@t are there since 2026-05-04T12:00:01Z by the clock of a" {
			t.Errorf("the record: %+v", launched)
		}
	}
}

// A process that takes over from one with another clock waits half a minute by its own, no less and no more, and so does the next.
func TestGroupCreationIsCountedByOneProcess(t *testing.T) {
	for _, ahead := range []time.Duration{-time.Hour, -40 * time.Second, -10 * time.Second, 0, 10 * time.Second, 40 * time.Second, 2 * time.Minute} {
		claims := twoOfThree(0)
		a, b := process{t, "a", 0}, process{t, "b", ahead}
		steps := []struct {
			by      process
			seconds float64
			want    string
		}{
			{a, 1, "put nodeclaim c0"}, {a, 11, "wait"},
			{b, 12, "put nodeclaim c0"}, {b, 41.5, "wait"}, {b, 42, givenUp}, // b dies before that is done
			{a, 43, "put nodeclaim c0"}, {a, 72, "wait"}, {a, 73, givenUp},
		}
		for _, step := range steps {
			if got := step.by.look(claims, step.seconds); got != step.want {
				t.Errorf("b is %s ahead: %s at %g s: %q, want %q", ahead, step.by.name, step.seconds, got, step.want)
			}
		}
	}
}

// Without names of processes, a time in the future is of another clock, and so is a record that can't be read; every other time counts.
func TestGroupCreationWithoutProcesses(t *testing.T) {
	claims, p := twoOfThree(0), process{t: t}
	if got := (process{t: t, ahead: time.Minute}).look(claims, 0); got != "put nodeclaim c0" {
		t.Error(got)
	}
	for _, step := range []struct {
		seconds float64
		want    string
	}{{1, "put nodeclaim c0"}, {30, "wait"}, {31, givenUp}} {
		if got := p.look(claims, step.seconds); got != step.want {
			t.Errorf("%g s: %q, want %q", step.seconds, got, step.want)
		}
	}
	claims[0].Conditions().SetUnknown(v1.ConditionLaunched, provisioning.ReasonGroupCreating, "2 of 3 claims of launch group ns/train@t are there since noon", at(0))
	if got := p.look(claims, 60); got != "put nodeclaim c0" {
		t.Errorf("a record that can't be read: %q", got)
	}
}

// The time in which nodes must join begins with the first launch, by the clock that recorded it, however wrong the API server's is.
func TestGroupTimeoutIgnoresTheAPIServersClock(t *testing.T) {
	timeout := provisioning.DefaultGroupTimeout.Seconds()
	for _, ahead := range []time.Duration{-4 * time.Minute, 0, 4 * time.Minute} {
		claims := twoOfThree(ahead)
		claims = append(claims, claims[1].DeepCopy())
		claims[2].Name, claims[2].UID = "c2", "c2"
		for i, c := range claims {
			c.Status.ProviderID = "p-" + c.Name
			c.Conditions().SetTrue(v1.ConditionLaunched, at(float64(5+i)))
		}
		p := process{t, "a", 0}
		if got := p.look(claims, timeout+4); strings.HasPrefix(got, "delete") {
			t.Errorf("%s ahead: given up too early: %q", ahead, got)
		}
		if got, want := p.look(claims, timeout+5), "delete nodeclaim c0 (registration_timeout)"; got != want {
			t.Errorf("%s ahead: %q, want %q", ahead, got, want)
		}
	}
}

// The name of a process is part of a message.
func TestProcessNamesAreBounded(t *testing.T) {
	o := provisioning.DefaultLifecycleOptions()
	o.Process = strings.Repeat("x", 254)
	if _, err := provisioning.NewLifecycle(o); err == nil {
		t.Error("a name of 254 bytes is taken")
	}
	o.Process = o.Process[1:]
	if _, err := provisioning.NewLifecycle(o); err != nil {
		t.Error(err)
	}
}

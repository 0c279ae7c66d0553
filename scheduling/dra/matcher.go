package dra

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/dynamic-resource-allocation/cel"

	"github.com/drawknife/drawknife/scheduling"
)

// Bounds of the results that a Matcher remembers. A cluster has some tens of expressions, and as many kinds of devices as drivers and
// models.
const (
	maxExpressions = 1000
	maxAnswers     = 100000
)

// Matcher evaluates selectors, each within the limit of Kubernetes on its cost. A selector that costs more is an error. It remembers
// results for devices that no expression can distinguish. It is safe for concurrent use; keep one for all snapshots.
type Matcher struct {
	compiled *cel.Cache

	mutex   sync.Mutex
	answers map[question]answer
}

var _ scheduling.DeviceMatcher = (*Matcher)(nil)

type question struct{ expression, device string }

type answer struct {
	matches bool
	err     error
}

// New returns an empty Matcher.
func New() *Matcher {
	return &Matcher{
		compiled: cel.NewCache(maxExpressions, cel.Features{EnableConsumableCapacity: true}),
		answers:  map[question]answer{},
	}
}

// Matches reports whether the expression is true for the driver's device. The error says why the expression can't be compiled, or why it
// has no value for this device. The device is not changed.
func (m *Matcher) Matches(expression, driver string, device *resourcev1.Device) (bool, error) {
	if device == nil {
		return false, fmt.Errorf("selector %q: there is no device", expression)
	}
	if len(expression) > resourcev1.CELSelectorExpressionMaxLength {
		return false, fmt.Errorf("selector has %d bytes: the API server accepts at most %d", len(expression), resourcev1.CELSelectorExpressionMaxLength)
	}
	q := question{expression, describe(driver, device)}
	m.mutex.Lock()
	known, ok := m.answers[q]
	m.mutex.Unlock()
	if ok {
		return known.matches, known.err
	}
	a := m.ask(expression, driver, device)
	m.mutex.Lock()
	defer m.mutex.Unlock()
	if len(m.answers) >= maxAnswers {
		clear(m.answers)
	}
	m.answers[q] = a
	return a.matches, a.err
}

func (m *Matcher) ask(expression, driver string, device *resourcev1.Device) answer {
	program := m.compiled.GetOrCompile(expression)
	if program.Error != nil {
		return answer{err: fmt.Errorf("selector %q: %w", expression, program.Error)}
	}
	matches, _, err := program.DeviceMatches(context.Background(), cel.Device{
		Driver: driver, AllowMultipleAllocations: device.AllowMultipleAllocations, Attributes: device.Attributes, Capacity: device.Capacity,
	})
	if err != nil {
		return answer{err: fmt.Errorf("selector %q: %w", expression, err)}
	}
	return answer{matches: matches}
}

// describe returns a text with all data of a device that an expression can read.
func describe(driver string, d *resourcev1.Device) string {
	var b strings.Builder
	b.WriteString(strconv.Quote(driver))
	if d.AllowMultipleAllocations != nil && *d.AllowMultipleAllocations {
		b.WriteString(" shared")
	}
	for _, name := range sorted(d.Attributes) {
		b.WriteString(" " + strconv.Quote(string(name)) + "=")
		switch a := d.Attributes[name]; {
		case a.StringValue != nil:
			b.WriteString(strconv.Quote(*a.StringValue))
		case a.IntValue != nil:
			b.WriteString(strconv.FormatInt(*a.IntValue, 10))
		case a.BoolValue != nil:
			b.WriteString(strconv.FormatBool(*a.BoolValue))
		case a.VersionValue != nil:
			b.WriteString("v" + strconv.Quote(*a.VersionValue))
		}
	}
	for _, name := range sorted(d.Capacity) {
		q := d.Capacity[name].Value
		b.WriteString(" " + strconv.Quote(string(name)) + ":" + q.String())
	}
	return b.String()
}

func sorted[V any](m map[resourcev1.QualifiedName]V) []resourcev1.QualifiedName {
	names := make([]resourcev1.QualifiedName, 0, len(m))
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

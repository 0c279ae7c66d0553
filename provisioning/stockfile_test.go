package provisioning_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/provisioning"
)

// A replica that takes over knows what the last one did: what was refused stays closed for it and for its neighbours, and what was probed is
// not probed again. Importing twice changes nothing, and what it has seen itself since then stays.
func TestStockEstimateIsShared(t *testing.T) {
	key, neighbour := spot("m5.large", "a"), spot("m5.xlarge", "a")
	first := newEstimate(t)
	first.Exhausted([]cloudprovider.OfferingKey{key, spot("m5.2xlarge", "a")}, start)
	first.Exhausted([]cloudprovider.OfferingKey{spot("m5.4xlarge", "a")}, start)
	probed := start.Add(5 * time.Minute)
	first.Begin([]cloudprovider.OfferingKey{key}, probed)
	text, err := first.Export()
	if err != nil {
		t.Fatal(err)
	}
	second := newEstimate(t)
	for range 2 {
		if err := second.Import(text, probed.Add(time.Minute)); err != nil {
			t.Fatal(err)
		}
	}
	types := estimateTypes()
	for _, at := range []time.Time{probed.Add(time.Minute), probed.Add(4 * time.Minute)} {
		for name, b := range map[string]*provisioning.StockEstimate{"first": first, "second": second} {
			if b.Probability(neighbour, at) != first.Probability(neighbour, at) {
				t.Errorf("%s at %s: another belief about a neighbour", name, at)
			}
			if b.Apply(types, at)[0].Offerings[0].Available {
				t.Errorf("%s at %s: what was probed is offered", name, at)
			}
		}
	}
	again, err := second.Export()
	if err != nil || string(again) != string(text) {
		t.Errorf("exported again, %v:\n%s\nwant\n%s", err, again, text)
	}
	second.Launched(key, probed.Add(2*time.Minute))
	want := second.Probability(key, probed.Add(2*time.Minute))
	if err := second.Import(text, probed.Add(3*time.Minute)); err != nil {
		t.Fatal(err)
	}
	if got := second.Probability(key, probed.Add(2*time.Minute)); got != want {
		t.Errorf("an older text changes what was seen since: %v, want %v", got, want)
	}
}

// A text that another clock wrote counts from now, and one that breaks a rule is refused as a whole.
func TestStockEstimateImport(t *testing.T) {
	b := newEstimate(t)
	record := func(at string) string {
		return `{"offering":{"instanceType":"m5.large","zone":"a","capacityType":"spot"},"evidence":-6,"at":"` + at + `"}`
	}
	ahead := start.Add(time.Hour).Format(time.RFC3339)
	if err := b.Import([]byte(`{"schema":"drawknife-stock/1","own":[`+record(ahead)+`]}`), start); err != nil {
		t.Fatal(err)
	}
	if fresh, later := b.Probability(spot("m5.large", "a"), start), b.Probability(spot("m5.large", "a"), start.Add(30*time.Minute)); fresh > 0.1 || later <= fresh {
		t.Errorf("%v, half an hour later %v", fresh, later)
	}
	for text, want := range map[string]string{
		`{}`: "schema",
		`{"schema":"drawknife-stock/1","more":1}`:                       "more",
		`{"schema":"drawknife-stock/1","own":[{"at":"` + ahead + `"}]}`: "own[0].offering",
		`{"schema":"drawknife-stock/1"} {}`:                             "one document",
	} {
		err := b.Import([]byte(text), start)
		var rule *provisioning.StockFileError
		if err == nil || !strings.Contains(err.Error(), want) || want != "more" && !errors.As(err, &rule) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

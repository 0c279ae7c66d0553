package spotrisk_test

import (
	"strings"
	"testing"
	"time"

	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/scheduling/planning"
	"github.com/drawknife/drawknife/scheduling/spotrisk"
)

// Terms are valid, name spot offerings alone, and leave out what is zero; the comparison names the larger part of the difference.
func TestTermsAndCompare(t *testing.T) {
	m := newMarket(t)
	calm := spotType("m7g.2xlarge", 0.11, &cloudprovider.InterruptionRate{Low: 0, High: 0.05})
	cheap := spotType("c6gd.2xlarge", 0.1, &cloudprovider.InterruptionRate{Low: 0.2, High: 1})
	loss := spotrisk.Loss{NodeLife: 24 * time.Hour, PerNode: 30}
	terms := m.Terms(spotrisk.TermsInput{Time: start, Types: []*cloudprovider.InstanceType{calm, cheap}, Loss: loss, NodePools: []string{"batch"}})
	if len(terms) != 1 || terms[0].Name != "spot interruptions of batch" || len(terms[0].Offerings) != 2 || terms[0].Where.NodePools[0] != "batch" {
		t.Fatalf("terms %+v", terms)
	}
	if err := (&planning.CostModel{Terms: terms}).Validate(); err != nil {
		t.Error(err)
	}
	for _, o := range terms[0].Offerings {
		if o.Offering.CapacityType != "spot" || o.Amount <= 0 {
			t.Errorf("%+v", o)
		}
	}
	a, b := cloudprovider.Candidate{Type: calm, Offering: &calm.Offerings[1]}, cloudprovider.Candidate{Type: cheap, Offering: &cheap.Offerings[1]}
	const want = "m7g.2xlarge in a at $0.1100/h beats c6gd.2xlarge in a at $0.1000/h: its interruptions cost $0.0147/h instead of $0.0010/h, it is interrupted 14 times as often"
	if got := m.Compare(a, b, loss, start); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	if got := m.Compare(b, a, loss, start) + m.Compare(a, b, spotrisk.Loss{}, start) + m.Compare(a, cloudprovider.Candidate{}, loss, start); got != "" {
		t.Errorf("there is nothing to explain: %s", got)
	}
	key := spotrisk.Key{InstanceType: "c6gd.2xlarge", Zone: "a"}
	m.ObservePrice(key, start.Add(-60*24*time.Hour), 0.2)
	m.ObservePrice(key, start, 0.1)
	if got := m.Compare(a, b, spotrisk.DefaultLoss(), start); !strings.HasSuffix(got, "its price is expected to be $0.1155/h instead of $0.1000/h") {
		t.Errorf("a price that fell just now: %s", got)
	}
	if terms := m.Terms(spotrisk.TermsInput{Time: start, Types: []*cloudprovider.InstanceType{cheap}, Loss: spotrisk.DefaultLoss()}); terms[0].Name != spotrisk.LevelTerm || len(terms) != 2 {
		t.Errorf("terms %+v", terms)
	}
}

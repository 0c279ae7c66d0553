package commitments_test

import (
	"bytes"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/drawknife/drawknife/cloudprovider/commitments"
)

var now = time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC)

func account() *commitments.Account {
	return &commitments.Account{
		ReadAt: now,
		Commitments: []commitments.Commitment{
			{ID: "ri/zonal", Kind: commitments.ReservedInstances, Source: "test", Amount: 2, Unit: "instances", ByType: map[string]float64{"m5.large": 1}, Zone: "a", OS: "linux"},
			{ID: "ri/m5", Kind: commitments.ReservedInstances, Source: "test", Amount: 8, Unit: "normalized units", ByType: map[string]float64{"m5.large": 4, "m5.xlarge": 8}, OS: "linux"},
			{ID: "sp", Kind: commitments.ComputeSavingsPlan, Source: "test", Amount: 1, Unit: "USD/h", ByType: map[string]float64{"m5.large": 0.07, "c5.large": 0.06}},
		},
		Discounts: []commitments.Discount{{Name: "EDP", Source: "contract", Percent: 9}},
	}
}

// Instances use commitments in order, and what one does not cover goes to the next.
func TestUse(t *testing.T) {
	got := account().Use([]commitments.Running{
		{InstanceType: "m5.large", Zone: "a", Count: 5},
		{InstanceType: "m5.large", Zone: "b", OS: "windows", Count: 1},
		{InstanceType: "c5.large", Zone: "b", Count: 2},
		{InstanceType: "r5.large", Zone: "b", Count: 2},
	})
	// Two of the five are zonal, two use the eight units, one and the Windows one use the plan with two c5.
	want := commitments.Uses{"ri/zonal": 2, "ri/m5": 8, "sp": 2*0.07 + 2*0.06}
	if diff := cmp.Diff(want, got, cmpopts.EquateApprox(0, 1e-9)); diff != "" {
		t.Errorf("use (-want +got):\n%s", diff)
	}
	if got := (*commitments.Account)(nil).Use([]commitments.Running{{InstanceType: "m5.large", Count: 1}}); len(got) != 0 {
		t.Errorf("without an account: %v", got)
	}
}

func TestAvailable(t *testing.T) {
	ten := func(change func(*commitments.Commitment)) *commitments.Account {
		a := &commitments.Account{Commitments: []commitments.Commitment{{ID: "x", Source: "s", Amount: 10, Unit: "USD/h", ByType: map[string]float64{"m5.large": 1}}}}
		if change != nil {
			change(&a.Commitments[0])
		}
		return a
	}
	report := func(cluster string, used float64, age time.Duration) commitments.ClusterUse {
		return commitments.ClusterUse{Cluster: cluster, At: now.Add(-age), Uses: commitments.Uses{"x": used}}
	}
	total := 9.0
	for _, c := range []struct {
		name    string
		account *commitments.Account
		own     float64
		reports []commitments.ClusterUse
		want    float64
	}{
		{"nobody else", ten(nil), 4, nil, 10},
		{"another cluster", ten(nil), 4, []commitments.ClusterUse{report("b", 3, time.Minute)}, 7},
		{"the cluster's own report does not count", ten(nil), 4, []commitments.ClusterUse{report("me", 4, time.Minute)}, 10},
		{"an old report does not count", ten(nil), 4, []commitments.ClusterUse{report("b", 3, time.Hour)}, 10},
		{"a report of a later year does not count, nor hide the right one", ten(nil), 4, []commitments.ClusterUse{report("b", 9, -9000*24*time.Hour), report("b", 3, 0)}, 7},
		{"the newest report of a cluster counts", ten(nil), 0, []commitments.ClusterUse{report("b", 3, time.Minute), report("b", 5, 2*time.Minute)}, 7},
		{"both want all: half", ten(nil), 10, []commitments.ClusterUse{report("b", 10, 0)}, 5},
		{"both want more than the rest", ten(func(c *commitments.Commitment) { c.Foreign = 4 }), 6, []commitments.ClusterUse{report("b", 3, 0)}, 4},
		{"instances outside the clusters", ten(func(c *commitments.Commitment) { c.Foreign = 4 }), 2, nil, 6},
		{"the day's figures, less own use", ten(func(c *commitments.Commitment) { c.UsedInTotal = &total }), 2, []commitments.ClusterUse{report("b", 1, 0)}, 3},
		{"the larger of both", ten(func(c *commitments.Commitment) { c.UsedInTotal, c.Foreign = &total, 8 }), 2, nil, 2},
		{"all used elsewhere", ten(func(c *commitments.Commitment) { c.Foreign = 20 }), 2, nil, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := c.account.Available("me", commitments.Uses{"x": c.own}, c.reports, now)
			if len(got) != 1 || math.Abs(got[0].Available-c.want) > 1e-9 {
				t.Errorf("got %+v, want %v available", got, c.want)
			}
		})
	}
	ended := ten(func(c *commitments.Commitment) { c.End = now })
	if got := ended.Available("me", nil, nil, now); got != nil {
		t.Errorf("a commitment that has ended is still there: %+v", got)
	}
}

// Clusters that report what they want are never promised more than there is, and a cluster that wants less than its part keeps all it uses.
func TestSharesAddUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		amount := rapid.Float64Range(0.1, 100).Draw(t, "amount")
		foreign := rapid.Float64Range(0, 100).Draw(t, "foreign")
		a := &commitments.Account{Commitments: []commitments.Commitment{{ID: "x", Source: "s", Amount: amount, Foreign: foreign, Unit: "u", ByType: map[string]float64{"m": 1}}}}
		var reports []commitments.ClusterUse
		sum := 0.0
		for _, name := range []string{"a", "b", "c"} {
			used := min(rapid.Float64Range(0, 100).Draw(t, name), amount)
			sum += used
			reports = append(reports, commitments.ClusterUse{Cluster: name, At: now, Uses: commitments.Uses{"x": used}})
		}
		rest := max(amount-foreign, 0)
		granted := 0.0
		for _, r := range reports {
			free := a.Available(r.Cluster, r.Uses, reports, now)[0].Available
			granted += min(free, r.Uses["x"])
			if sum <= rest && free < r.Uses["x"]-1e-9 {
				t.Fatalf("%s uses %v of %v that suffice for all, and may count on %v", r.Cluster, r.Uses["x"], rest, free)
			}
		}
		if granted > rest+1e-6 {
			t.Fatalf("clusters count on %v of %v", granted, rest)
		}
	})
}

func TestFile(t *testing.T) {
	var text bytes.Buffer
	if err := account().Encode(&text); err != nil {
		t.Fatal(err)
	}
	got, err := commitments.Decode(bytes.NewReader(text.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(account(), got); diff != "" {
		t.Errorf("read back (-want +got):\n%s", diff)
	}
	report := commitments.ClusterUse{Cluster: "a", At: now, Uses: commitments.Uses{"sp": 0.5}}
	text.Reset()
	if err := report.Encode(&text); err != nil {
		t.Fatal(err)
	}
	again, err := commitments.DecodeUse(&text)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(report, again); diff != "" {
		t.Errorf("report read back (-want +got):\n%s", diff)
	}
}

func TestFileErrors(t *testing.T) {
	const entry = "{id: x, kind: ReservedInstances, source: s, amount: 1, unit: u, byType: {m: 1}}"
	for _, c := range []struct{ text, want string }{
		{"", "empty"},
		{"schema: drawknife-commitments/2", `schema is "drawknife-commitments/2"`},
		{"schema: drawknife-commitments/1\nunknown: 1", "unknown"},
		{"schema: drawknife-commitments/1\ncommitments: [" + entry + ", " + entry + "]", "commitments[1].id"},
		{"schema: drawknife-commitments/1\ncommitments: [" + strings.Replace(entry, "amount: 1", "amount: 0", 1) + "]", "commitments[0].amount is 0"},
		{"schema: drawknife-commitments/1\ncommitments: [" + strings.Replace(entry, "m: 1", "m: -1", 1) + "]", "commitments[0].byType"},
		{"schema: drawknife-commitments/1\ncommitments: [" + strings.Replace(entry, "source: s, ", "", 1) + "]", "commitments[0].source"},
		{"schema: drawknife-commitments/1\ndiscounts: [{name: a, source: s, percent: 101}]", "discounts[0].percent is 101"},
	} {
		if _, err := commitments.Decode(strings.NewReader(c.text)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.text, err, c.want)
		}
	}
	var e *commitments.Error
	if _, err := commitments.DecodeUse(strings.NewReader("schema: drawknife-commitment-use/1\ncluster: a\nat: 2026-01-01T00:00:00Z\nuses: {x: -1}")); !errors.As(err, &e) || e.Path != "uses" {
		t.Errorf("a negative use: %v", err)
	}
}

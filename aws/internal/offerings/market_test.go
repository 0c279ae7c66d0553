package offerings_test

import (
	"errors"
	"testing"
	"time"

	"github.com/drawknife/drawknife/aws/catalog"
	"github.com/drawknife/drawknife/aws/internal/discovery"
	"github.com/drawknife/drawknife/aws/internal/offerings"
	"github.com/drawknife/drawknife/aws/internal/reservations"
	"github.com/drawknife/drawknife/aws/internal/unavailable"
	"github.com/drawknife/drawknife/aws/internal/zonalshift"
	"github.com/drawknife/drawknife/aws/prices"
	"github.com/drawknife/drawknife/aws/sdk"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/fake"
)

func known(t *testing.T, seed *catalog.Catalog) *discovery.Discoverer {
	t.Helper()
	d, err := discovery.New(discovery.Options{API: struct{ sdk.EC2API }{}, Region: "us-east-1", Seed: seed, Now: start})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// AWI-016: without types there is no market; parts that a provider does without know nothing.
func TestSources(t *testing.T) {
	var not *discovery.NotReadyError
	if _, err := (offerings.Sources{Discovery: known(t, nil)}).Market(); !errors.As(err, &not) {
		t.Errorf("nothing was discovered: %v", err)
	}
	c := small(t)
	bare, err := offerings.Sources{Discovery: known(t, c)}.Market()
	if err != nil || bare.Catalog != c || time.Since(bare.Time) > time.Hour {
		t.Errorf("is %+v, %v", bare, err)
	}
	if types := resolve(t, bare, view(t, c, class("c"))); len(types) != 0 {
		t.Errorf("%d types are listed without prices", len(types))
	}
	board, err := prices.NewBoard(prices.Options{Region: "us-east-1", Clock: fake.NewSimClock(start()), Static: prices.Static(embedded(t), "us-east-1")})
	if err != nil {
		t.Fatal(err)
	}
	s := offerings.Sources{
		Discovery: known(t, c), Prices: board, Unavailable: unavailable.New(unavailable.Options{Now: start}),
		Reservations: reservations.NewTracker(start), Shifts: zonalshift.New(nil, "arn", start), Now: start,
	}
	full, err := s.Market()
	if err != nil || full.Prices != board.Book() || full.Unavailable == nil || full.Rooms == nil || full.Shifted == nil || !full.Time.Equal(start()) {
		t.Errorf("is %+v, %v", full, err)
	}
	// AWI-116: before spot prices are read, spot costs what on-demand does.
	o := resolve(t, full, view(t, c, class("c")))["m5.large"].Offerings[1]
	if o.CapacityType() != "spot" || o.Price != 0.096 || o.PriceSource != "on-demand price, until spot prices are read; on-demand price table, 2026-07-20" {
		t.Errorf("spot is %+v", o)
	}
	if b := o.PriceBasis; b == nil || b.Confidence != cloudprovider.PriceEstimated || b.Date != "2026-07-20" {
		t.Errorf("spot rests on %+v", b)
	}
	again, err := s.Market()
	if err != nil || again != full {
		t.Errorf("a market in which nothing changed is another one: %v", err)
	}
}

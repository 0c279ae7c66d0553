package spotrisk_test

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/drawknife/drawknife/api/requirements"
	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/aws/catalog"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/scheduling/spotrisk"
)

// What the histories are made of; docs/spot.md says why.
const (
	// histories are drawn, each of so many days after the days in which only prices are seen.
	histories, days, daysBefore = 6, 90, 30
	// nodes run all the time; each ends by itself after a day on average, and is launched again.
	nodes = 20
	// spread of a market's price around its level (standard deviation of the logarithm), which it returns to by half in so many hours.
	spread, halfWay = 0.25, 48.0
	// zoneSpread is by how much the level of a zone differs from that of the type, likewise.
	zoneSpread = 0.15
	// rateSpread is by how much a market's own rate differs from the middle of its band, likewise.
	rateSpread = 0.5
)

// pool is a spot market of the generated world.
type pool struct {
	candidate cloudprovider.Candidate
	key       spotrisk.Key
	level     float64
	perHour   float64 // how often it interrupts, which nobody but EC2 knows
	refuses   float64
	deviation float64
}

func (p *pool) price() float64 { return p.candidate.Offering.Price }

// builtIn is the catalogue, decoded once.
var builtIn = sync.OnceValues(catalog.Embedded)

// world has the markets of all current types of 8 vCPUs and 32 GiB in three zones each, around the prices and in the bands of the built-in data.
func world(t *testing.T, random *rand.Rand) []*pool {
	facts, err := builtIn()
	if err != nil {
		t.Fatal(err)
	}
	var out []*pool
	for i := range facts.Types {
		f := &facts.Types[i]
		low, high, source := facts.Interruptions(f)
		if f.VCPUs != 8 || f.MemoryMiB != 32<<10 || len(f.Zones) < 3 || len(f.SpotUSD) < 3 || high == 0 || !f.CurrentGeneration {
			continue
		}
		rate := &cloudprovider.InterruptionRate{Low: low, High: high, Source: source}
		it := &cloudprovider.InstanceType{Name: f.Name, Capacity: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("8")}}
		for zone := range 3 {
			name := facts.Zones[f.Zones[zone]].Name
			in := func(kind string, usd float64, rate *cloudprovider.InterruptionRate) {
				it.Offerings = append(it.Offerings, cloudprovider.Offering{
					Requirements: requirements.NewSet(requirements.In(v1.CapacityTypeLabelKey, kind), requirements.In(corev1.LabelTopologyZone, name)),
					Price:        usd, InterruptionRate: rate, Available: true,
				})
			}
			in(v1.CapacityTypeOnDemand, f.OnDemandUSD, nil)
			in(v1.CapacityTypeSpot, f.SpotUSD[zone]*math.Exp(zoneSpread*random.NormFloat64()), rate)
		}
		for zone := range 3 {
			share := math.Min(rate.Share()*math.Exp(rateSpread*random.NormFloat64()), 0.9)
			o := &it.Offerings[2*zone+1]
			out = append(out, &pool{
				candidate: cloudprovider.Candidate{Type: it, Offering: o}, key: spotrisk.Key{InstanceType: it.Name, Zone: o.Zone()}, level: o.Price,
				perHour: -math.Log1p(-share) / spotrisk.Month.Hours(), refuses: share / 2, deviation: spread * random.NormFloat64(),
			})
		}
	}
	return out
}

// step moves all prices by an hour. They never rise above the price on demand.
func step(pools []*pool, random *rand.Rand) {
	keep := math.Exp2(-1 / halfWay)
	for i, p := range pools {
		p.deviation = keep*p.deviation + spread*math.Sqrt(1-keep*keep)*random.NormFloat64()
		p.candidate.Offering.Price = math.Min(p.level*math.Exp(p.deviation), p.candidate.Type.Offerings[2*(i%3)].Price)
	}
}

// knowing is the strategy that knows what only EC2 does.
const knowing = "price-capacity"

// strategy chooses a market for a launch.
type strategy struct {
	name   string
	choose func(pools []*pool, market *spotrisk.Market, loss spotrisk.Loss, now time.Time) *pool
}

func lowest(pools []*pool, by func(a, b *pool) int) *pool { return slices.MinFunc(pools, by) }

func byPrice(a, b *pool) int { return cmp.Compare(a.price(), b.price()) }

func strategies() []strategy {
	type market = spotrisk.Market
	return []strategy{
		{"cheapest", func(pools []*pool, _ *market, _ spotrisk.Loss, _ time.Time) *pool { return lowest(pools, byPrice) }},
		{"lowest band", func(pools []*pool, _ *market, _ spotrisk.Loss, _ time.Time) *pool {
			return lowest(pools, func(a, b *pool) int {
				return cmp.Or(cmp.Compare(a.candidate.Offering.InterruptionRate.Share(), b.candidate.Offering.InterruptionRate.Share()), byPrice(a, b))
			})
		}},
		// EC2 knows which markets have most capacity, and takes the cheapest of the best third.
		{knowing, func(pools []*pool, _ *market, _ spotrisk.Loss, _ time.Time) *pool {
			deepest := slices.SortedFunc(slices.Values(pools), func(a, b *pool) int { return cmp.Compare(a.perHour, b.perHour) })
			return lowest(deepest[:len(deepest)/3], byPrice)
		}},
		{"expected cost", func(pools []*pool, m *market, loss spotrisk.Loss, now time.Time) *pool {
			total := make(map[*pool]float64, len(pools))
			for _, p := range pools {
				total[p] = m.Cost(p.candidate.Type, p.candidate.Offering, loss, now).Total
			}
			return lowest(pools, func(a, b *pool) int { return cmp.Compare(total[a], total[b]) })
		}},
	}
}

// outcome of a run: what a thousand hours of work cost, and how many interruptions there were in them.
type outcome struct{ usd, interruptions float64 }

// run is one history with one strategy. The same seed gives the same prices for all strategies; who is interrupted is drawn apart.
func run(t *testing.T, seed uint64, s strategy, loss spotrisk.Loss) outcome {
	prices, luck := rand.New(rand.NewPCG(seed, 1)), rand.New(rand.NewPCG(seed, 2))
	pools := world(t, prices)
	market, err := spotrisk.New(spotrisk.DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)
	var running [nodes]*pool
	var out outcome
	for hour := range (daysBefore + days) * 24 {
		now = now.Add(time.Hour)
		step(pools, prices)
		for _, p := range pools {
			market.ObservePrice(p.key, now, p.price())
		}
		if hour < daysBefore*24 {
			continue
		}
		for i := range running {
			if running[i] == nil {
				p := s.choose(pools, market, loss, now)
				refused := luck.Float64() < p.refuses
				if market.ObserveLaunch(p.key, now, refused); refused { // on demand for an hour, then try again
					out.usd += onDemand(p)
					continue
				}
				running[i] = p
			}
			p := running[i]
			out.usd += p.price()
			market.ObserveNodes(p.key, now, time.Hour)
			// What is counted is what interruptions cost on average: who is interrupted in one history is chance.
			out.interruptions += p.perHour
			out.usd += p.perHour * (loss.PerNode + (loss.Restart+loss.LostWork).Hours()*p.price())
			switch draw := luck.Float64(); {
			case draw < p.perHour:
				market.ObserveInterruption(p.key, now)
				running[i] = nil
			case draw < p.perHour+1.0/24:
				running[i] = nil
			}
		}
	}
	worked := float64(days*24*nodes) / 1000
	return outcome{out.usd / worked, out.interruptions / worked}
}

func onDemand(p *pool) float64 {
	for i := range p.candidate.Type.Offerings {
		if o := &p.candidate.Type.Offerings[i]; o.CapacityType() == v1.CapacityTypeOnDemand {
			return o.Price
		}
	}
	return 0
}

// TestBacktest compares the choice by expected cost with three others on generated histories, and holds the table of docs/spot.md to the result.
func TestBacktest(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes some seconds")
	}
	losses := []struct {
		name string
		loss spotrisk.Loss
	}{
		{"5 minutes", with(0, 0)}, {"and $0.10", with(0, 0.1)}, {"and $1", with(0, 1)}, {"and 8 h of work", with(8*time.Hour, 0)},
		{"and $10", with(0, 10)}, {"and $50", with(0, 50)}, {"and $200", with(0, 200)},
	}
	all := strategies()
	var table strings.Builder
	fmt.Fprint(&table, "| an interruption costs |")
	for _, s := range all {
		fmt.Fprintf(&table, " %s |", s.name)
	}
	fmt.Fprint(&table, "\n|---|"+strings.Repeat("---:|", len(all))+"\n")
	for _, l := range losses {
		fmt.Fprintf(&table, "| %s |", l.name)
		results := make([]outcome, len(all))
		for i, s := range all {
			for seed := range uint64(histories) {
				o := run(t, seed+1, s, l.loss)
				results[i].usd, results[i].interruptions = results[i].usd+o.usd/histories, results[i].interruptions+o.interruptions/histories
			}
			fmt.Fprintf(&table, " $%.2f (%.2f) |", results[i].usd, results[i].interruptions)
		}
		fmt.Fprintln(&table)
		for i := range all[:len(all)-1] {
			most := results[i].usd
			if all[i].name == knowing {
				most *= 1.02 // it knows the true rates
			}
			if ours := results[len(all)-1].usd; ours > most {
				t.Errorf("%s: expected cost comes to $%.3f, %s to $%.3f", l.name, ours, all[i].name, results[i].usd)
			}
		}
	}
	holdTable(t, table.String())
}

func with(lost time.Duration, usd float64) spotrisk.Loss {
	loss := spotrisk.DefaultLoss()
	loss.LostWork, loss.PerNode = lost, usd
	return loss
}

// holdTable compares the table with the one in docs/spot.md.
func holdTable(t *testing.T, table string) {
	t.Helper()
	page, err := os.ReadFile("../../docs/spot.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(page), table) {
		t.Errorf("docs/spot.md has another table than\n%s", table)
	}
}

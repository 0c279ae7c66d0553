package proof

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/disruption/decision"
	"github.com/drawknife/drawknife/internal/engine/lp"
)

// offered is a node that may be launched. It has the node's price, and the amount of each resource of floorResources that pods can use.
type offered struct {
	amounts [3]float64
	price   float64
}

func floorAmounts(list corev1.ResourceList) (amounts [3]float64) {
	for d, name := range floorResources {
		q := list[name]
		amounts[d] = q.AsApproximateFloat64()
	}
	return amounts
}

// bestPrices returns the prices of resources at which the demand has the highest value, under the condition that the resources of no offer
// are worth more than the offer's price. The prices are the dual values of the linear program that covers the demand with offers at the
// lowest cost. Rounding errors can't make the prices invalid, because held scales them down. bestPrices returns nil if such prices don't
// exist.
func bestPrices(offers []offered, demand corev1.ResourceList) decision.FloorPrices {
	scale, unit := largest(offers)
	goal := make([]float64, len(floorResources))
	for d, name := range floorResources {
		if scale[d] == 0 {
			return nil
		}
		q := demand[name]
		goal[d] = q.AsApproximateFloat64() / scale[d]
	}
	columns := make([][]float64, len(offers))
	for i := range offers {
		columns[i] = make([]float64, len(goal))
		for d := range goal {
			columns[i][d] = offers[i].amounts[d] / scale[d]
		}
	}
	cover := opened(offers, columns, goal, unit)
	for range maxPivots {
		best, gain := -1, pivotGain
		for i, column := range columns {
			worth := -offers[i].price / unit
			for d, y := range cover.Duals() {
				worth += y * column[d]
			}
			if worth > gain {
				best, gain = i, worth
			}
		}
		if best < 0 || cover.Enter(columns[best], offers[best].price/unit) < 0 {
			break
		}
		for range maxPivots {
			if cover.DropNegative() < 0 {
				break
			}
		}
	}
	y := decision.FloorPrices{}
	for d, dual := range cover.Duals() {
		y[floorResources[d]] = max(dual, 0) * unit / scale[d]
	}
	return held(y, offers)
}

// largest returns the largest amount of each resource, for scaling. It also returns the highest price, or 1 if all prices are 0.
func largest(offers []offered) (scale [3]float64, unit float64) {
	for i := range offers {
		unit = max(unit, offers[i].price)
		for d, amount := range offers[i].amounts {
			scale[d] = max(scale[d], amount)
		}
	}
	if unit == 0 {
		unit = 1
	}
	return scale, unit
}

// opened returns a linear program that covers the goal with nodes at the lowest cost. It begins with one column for each resource. The
// column is the node with the lowest price per unit of the resource, as if that node had no other resource. Such a column is never better
// than the real node, so these columns don't change the optimum.
func opened(offers []offered, columns [][]float64, goal []float64, unit float64) *lp.Master {
	amount, price := make([]float64, len(goal)), make([]float64, len(goal))
	for i, column := range columns {
		p := offers[i].price / unit
		for d, a := range column {
			if a > 0 && (amount[d] == 0 || p*amount[d] < price[d]*a) {
				amount[d], price[d] = a, p
			}
		}
	}
	return lp.NewMaster(goal, amount, price)
}

// pivotGain is the smallest amount by which a node's value must exceed its price so that the node becomes a column. It is given as a share
// of the highest price.
const pivotGain = 1e-12

// maxPivots limits the number of steps of the simplex method.
const maxPivots = 50

// held scales the prices y down until the resources of no offer are worth more than the offer costs. It returns nil if a free offer has a
// positive value at the prices y.
func held(y decision.FloorPrices, offers []offered) decision.FloorPrices {
	worst := 1.0
	for i := range offers {
		worth := 0.0
		for d, name := range floorResources {
			worth += y[name] * offers[i].amounts[d]
		}
		if worth > 0 && offers[i].price <= 0 {
			return nil
		}
		if worth > 0 {
			worst = max(worst, worth/offers[i].price)
		}
	}
	for name := range y {
		y[name] = y[name] / worst * (1 - 1e-12)
	}
	return y
}

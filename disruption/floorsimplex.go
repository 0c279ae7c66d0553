package disruption

import corev1 "k8s.io/api/core/v1"

// offered is a machine that may be launched: what it has for pods of the floorResources, and its price.
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

// bestPrices are the floor prices by which the demand is worth most, by the simplex method on the few resources there are;
// rounding can't make them wrong, since they are scaled until they hold. Nil if there are none.
func bestPrices(machines []offered, demand corev1.ResourceList) FloorPrices {
	const n = 3
	var scale, goal [n]float64
	for d, name := range floorResources {
		q := demand[name]
		goal[d] = q.AsApproximateFloat64()
		for i := range machines {
			scale[d] = max(scale[d], machines[i].amounts[d])
		}
	}
	// Rows are machines, columns the resources or, once exchanged, slacks.
	type row struct {
		a [n]float64
		b float64
	}
	rows := make([]row, len(machines))
	basic := make([]int, len(machines)) // the resource whose price the row gives, or -1
	column := [n]int{}                  // the resource of a column, or -1 for a slack
	for d := range n {
		column[d] = d
		if scale[d] == 0 {
			return nil
		}
		goal[d] *= scale[d]
	}
	for i := range machines {
		rows[i].b, basic[i] = machines[i].price, -1
		for d := range n {
			rows[i].a[d] = machines[i].amounts[d] / scale[d]
		}
	}
	for range maxPivots {
		enter, leave := -1, -1
		for d := range n {
			if goal[d] > 1e-12 && (enter < 0 || goal[d] > goal[enter]) {
				enter = d
			}
		}
		if enter < 0 {
			break
		}
		for i := range rows {
			if rows[i].a[enter] > 1e-12 && (leave < 0 || rows[i].b*rows[leave].a[enter] < rows[leave].b*rows[i].a[enter]) {
				leave = i
			}
		}
		if leave < 0 {
			return nil
		}
		pivot := rows[leave].a[enter]
		own := rows[leave]
		for d := range n {
			own.a[d] /= pivot
		}
		own.b /= pivot
		own.a[enter] = 1 / pivot
		for i := range rows {
			if k := rows[i].a[enter]; i != leave && k != 0 {
				for d := range n {
					rows[i].a[d] -= k * own.a[d]
				}
				rows[i].b -= k * own.b
				rows[i].a[enter] = -k / pivot
			}
		}
		k := goal[enter]
		for d := range n {
			goal[d] -= k * own.a[d]
		}
		goal[enter] = -k / pivot
		rows[leave] = own
		basic[leave], column[enter] = column[enter], basic[leave]
	}
	y := FloorPrices{}
	for i, d := range basic {
		if d >= 0 {
			y[floorResources[d]] = max(rows[i].b, 0) / scale[d]
		}
	}
	return y.held(machines)
}

// maxPivots bounds the simplex method.
const maxPivots = 50

// held scales prices down until no machine costs less than it is worth.
func (y FloorPrices) held(machines []offered) FloorPrices {
	worst := 1.0
	for i := range machines {
		worth := 0.0
		for d, name := range floorResources {
			worth += y[name] * machines[i].amounts[d]
		}
		if worth > 0 && machines[i].price <= 0 {
			return nil
		}
		if worth > 0 {
			worst = max(worst, worth/machines[i].price)
		}
	}
	for name := range y {
		y[name] = y[name] / worst * (1 - 1e-12)
	}
	return y
}

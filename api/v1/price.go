package v1

import (
	"errors"
	"math"
	"regexp"
	"strconv"
	"strings"
)

var (
	priceForm      = regexp.MustCompile(`^[0-9]+(\.[0-9]+)?$`)
	adjustmentForm = regexp.MustCompile(`^[+-]([0-9]+(\.[0-9]+)?|\.[0-9]+)%?$`)
)

// ParsePrice parses the price of an overlay: USD per hour, a plain decimal that is not negative.
func ParsePrice(text string) (float64, error) {
	price, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsInf(price, 0) || !priceForm.MatchString(text) {
		return 0, errors.New("must be a non-negative decimal in USD per hour: write it like 1.25")
	}
	return price, nil
}

// PriceAdjustment changes a price. The zero value changes nothing.
//
// +kubebuilder:object:generate=false
type PriceAdjustment struct {
	// Share of the price to add: 0.1 adds 10%, -1 makes it 0.
	Share float64
	// Amount to add, in USD per hour.
	Amount float64
}

// ParsePriceAdjustment reads the priceAdjustment of an overlay: a signed amount in USD per hour ("+0.5", "-0.1"), or a
// signed percentage not below -100% ("+10%", "-100%").
func ParsePriceAdjustment(text string) (PriceAdjustment, error) {
	number, percent := strings.CutSuffix(text, "%")
	value, err := strconv.ParseFloat(number, 64)
	if err != nil || math.IsInf(value, 0) || !adjustmentForm.MatchString(text) {
		return PriceAdjustment{}, errors.New("must be a signed amount in USD per hour or a signed percentage: write it like +0.05, -0.1, +10% or -25%")
	}
	if !percent {
		return PriceAdjustment{Amount: value}, nil
	}
	if value < -100 {
		return PriceAdjustment{}, errors.New("the reduction is more than the whole price: write -100% or a smaller reduction")
	}
	return PriceAdjustment{Share: value / 100}, nil
}

// Apply returns the price after the adjustment; it is never below 0.
func (a PriceAdjustment) Apply(price float64) float64 {
	return max(0, price+price*a.Share+a.Amount)
}

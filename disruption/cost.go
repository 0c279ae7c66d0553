package disruption

import "github.com/drawknife/drawknife/internal/consolidate/money"

const nanoPerUSD = money.NanoPerUSD

func nanoUSD(price float64) int64 { return money.NanoUSD(price) }

func usd(nano int64) float64 { return money.USD(nano) }

package catalog

import (
	"cmp"
	"strconv"
	"strings"
)

// interruptionSource is the key in Catalog.Sources of the bands of interruptions, if they do not come from the source of the spot prices.
const interruptionSource = "interruptions"

// Interruptions returns the band of interruption frequency of the type's spot instances: how many of them EC2 took back within a month, as
// shares from 0 to 1, with the source. High is 1 for a band without an upper end, and 0 if no band is known.
func (c *Catalog) Interruptions(t *Type) (low, high float64, source string) {
	if t == nil {
		return 0, 0, ""
	}
	low, high, ok := parseBand(t.SpotInterruption)
	if !ok {
		return 0, 0, ""
	}
	return low, high, cmp.Or(c.Sources[interruptionSource], c.Sources[defaultSpotSource])
}

// parseBand reads a band as AWS's Spot Instance Advisor writes it: "<5%", "5-10%", ">20%".
func parseBand(text string) (low, high float64, ok bool) {
	band, percent := strings.CutSuffix(text, "%")
	if !percent {
		return 0, 0, false
	}
	from, to := "0", "100"
	switch {
	case strings.HasPrefix(band, "<"):
		to = band[1:]
	case strings.HasPrefix(band, ">"):
		from = band[1:]
	default:
		if from, to, ok = strings.Cut(band, "-"); !ok {
			return 0, 0, false
		}
	}
	least, errLeast := strconv.ParseUint(from, 10, 7)
	most, errMost := strconv.ParseUint(to, 10, 7)
	if errLeast != nil || errMost != nil || least >= most || most > 100 {
		return 0, 0, false
	}
	return float64(least) / 100, float64(most) / 100, true
}

// setInterruptions copies the bands of an older catalogue of the region.
func setInterruptions(c *Catalog, older *Catalog) {
	if older == nil || older.Region != c.Region {
		return
	}
	for i := range c.Types {
		if known, ok := older.Lookup(c.Types[i].Name); ok && known.SpotInterruption != "" {
			c.Types[i].SpotInterruption = known.SpotInterruption
			_, _, c.Sources[interruptionSource] = older.Interruptions(known)
		}
	}
}

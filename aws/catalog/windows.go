package catalog

import (
	_ "embed"
	"strconv"
	"strings"
)

//go:embed windows.txt
var embeddedWindows string

// Windows licences cost the same for each vCPU on all current types, and 5 % less on the flex types.
const (
	windowsPerVCPU     = 0.046
	windowsFlexPerVCPU = 0.0437
)

// WindowsLicences returns what the Windows licence adds to the price of an instance, USD per hour, by instance type, for the types whose
// licence price does not only depend on vCPUs: burstable types and old generations. The caller owns the map.
func WindowsLicences() map[string]float64 {
	licences := make(map[string]float64, strings.Count(embeddedWindows, "\n"))
	for line := range strings.Lines(embeddedWindows) {
		name, price, _ := strings.Cut(strings.TrimSpace(line), " ")
		if usd, err := strconv.ParseFloat(price, 64); err == nil {
			licences[name] = usd
		}
	}
	return licences
}

// WindowsLicence returns what the Windows licence adds to the on-demand or spot price of an instance of the type, USD per hour. exceptions
// is the result of WindowsLicences; nil means that there are no exceptions. For 98 % of 11,961 prices of all regions, the Windows price is
// the Linux price plus this licence; the other prices are for types from before 2016. For a nil type the result is 0.
func WindowsLicence(t *Type, exceptions map[string]float64) float64 {
	if t == nil {
		return 0
	}
	if usd, ok := exceptions[t.Name]; ok {
		return usd
	}
	if strings.Contains(t.Name, "-flex.") {
		return windowsFlexPerVCPU * float64(t.VCPUs)
	}
	return windowsPerVCPU * float64(t.VCPUs)
}

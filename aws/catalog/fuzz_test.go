package catalog

import (
	"os"
	"testing"
)

// FuzzParseDescribe reads EC2's answer and the prices without the embedded catalogue, whose unpacking would take most
// of the time.
func FuzzParseDescribe(f *testing.F) {
	answer, err := os.ReadFile("testdata/describe-instance-types.json")
	if err != nil {
		f.Fatal(err)
	}
	prices, err := os.ReadFile("testdata/prices.json")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(answer, prices)
	f.Add([]byte(`{"InstanceTypes":[{"InstanceType":"m5.large","VCpuInfo":{"DefaultVCpus":2},"MemoryInfo":{"SizeInMiB":1},
		"ProcessorInfo":{"SupportedArchitectures":["arm64"]},"NetworkInfo":{"NetworkPerformance":"9x 100 Gigabit"}}]}`), prices)
	f.Fuzz(func(t *testing.T, answer, prices []byte) {
		c, err := parseDescribe(answer, prices, &Catalog{})
		if err != nil {
			return
		}
		if again, err := New(*c); err != nil || len(again.Types) != len(c.Types) {
			t.Errorf("a catalogue that was accepted is refused: %v", err)
		}
	})
}

func TestSustainedBandwidth(t *testing.T) {
	cards := []networkCardInfo{{BaselineBandwidthInGbps: 1.562}, {BaselineBandwidthInGbps: 0.5}}
	for _, c := range []struct {
		grade string
		want  int64
	}{
		{"100 Gigabit", 100_000},
		{"3.12 Gigabit", 3120},
		{"4x 100 Gigabit", 400_000},
		{"Up to 25 Gigabit", 2062},
		{"Low", 0},
		{"Moderate", 0},
		{"High", 0},
		{"", 0},
		{"x Gigabit", 0},
		{"ax 100 Gigabit", 0},
		{"-1 Gigabit", -1},
		{"1e300 Gigabit", -1},
		{"NaN Gigabit", -1},
	} {
		if got := sustainedMbps(c.grade, cards); got != c.want {
			t.Errorf("%q gives %d Mbit/s, want %d", c.grade, got, c.want)
		}
	}
}

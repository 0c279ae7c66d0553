package catalog

import "testing"

func TestParseBand(t *testing.T) {
	for text, want := range map[string][2]float64{"<5%": {0, 0.05}, "5-10%": {0.05, 0.1}, "15-20%": {0.15, 0.2}, ">20%": {0.2, 1}} {
		if low, high, ok := parseBand(text); !ok || low != want[0] || high != want[1] {
			t.Errorf("%s: %v to %v, %t", text, low, high, ok)
		}
	}
	for _, text := range []string{"", "5", "%", "<%", "-%", "10-5%", ">100%", "5-101%", "a-b%", "<0%", "-5-10%"} {
		if low, high, ok := parseBand(text); ok {
			t.Errorf("%q is read as %v to %v", text, low, high)
		}
	}
}

// Of the built-in catalogue all types with spot prices have a band; another region has none, and one that EC2 describes has that of its own region.
func TestInterruptions(t *testing.T) {
	c, err := Embedded()
	if err != nil {
		t.Fatal(err)
	}
	bands := map[[2]float64]int{}
	for i := range c.Types {
		if low, high, source := c.Interruptions(&c.Types[i]); high > 0 {
			bands[[2]float64{low, high}]++
			if source != "on-demand and spot price snapshot, 2025-05-28" {
				t.Fatalf("the source is %q", source)
			}
		} else if len(c.Types[i].SpotUSD) > 0 {
			t.Errorf("%s has a spot price and no band", c.Types[i].Name)
		}
	}
	if len(bands) != 5 || bands[[2]float64{0.2, 1}] < 300 {
		t.Errorf("bands are %v", bands)
	}
	there, err := InRegion(c, "eu-west-1", []Zone{{Name: "eu-west-1a"}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	m5, _ := there.Lookup("m5.large")
	if _, high, _ := there.Interruptions(m5); high != 0 {
		t.Error("a band of another region is used")
	}
	described := Catalog{Region: c.Region, Sources: map[string]string{}, Types: []Type{{Name: "m5.large"}, {Name: "new.large"}}}
	setInterruptions(&described, c)
	if low, high, source := described.Interruptions(&described.Types[0]); low != 0.1 || high != 0.15 || source == "" {
		t.Errorf("m5.large: %v to %v, %q", low, high, source)
	}
	elsewhere := Catalog{Region: "eu-west-1", Types: []Type{{Name: "m5.large"}}}
	if setInterruptions(&elsewhere, c); elsewhere.Types[0].SpotInterruption != "" {
		t.Error("a band of another region is taken")
	}
}

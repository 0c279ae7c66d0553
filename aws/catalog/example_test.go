package catalog_test

import (
	"fmt"
	"strings"

	"github.com/drawknife/drawknife/aws/catalog"
)

func Example() {
	c, err := catalog.Embedded()
	if err != nil {
		fmt.Println(err)
		return
	}
	m5, ok := c.Lookup("m5.large")
	if !ok {
		fmt.Println("no m5.large")
		return
	}
	fmt.Printf("%d vCPUs, %d MiB, $%g/h in %s\n", m5.VCPUs, m5.MemoryMiB, m5.OnDemandUSD, c.Region)
	low, high := m5.SpotRange()
	fmt.Printf("spot: $%g/h in each of %d zones, seen from $%g to $%g\n", m5.SpotPrice(0), len(m5.Zones), low, high)
	// Output:
	// 2 vCPUs, 8192 MiB, $0.096/h in us-east-1
	// spot: $0.0324/h in each of 5 zones, seen from $0.0315 to $0.0383
}

// A slip in a file is reported with the type and the field.
func ExampleParse() {
	_, err := catalog.Parse([]byte(`{
		"schema": "drawknife-ec2-catalog/1",
		"region": "eu-west-1",
		"types": [{"name": "m5.large", "vcpu": 2, "memMiB": 8192, "arch": ["x86_64"],
			"net": {"enis": 3, "enisDefaultCard": -3, "ipv4PerENI": 10}}]
	}`))
	fmt.Println(err)
	// Output: instance type "m5.large": net.enisDefaultCard: must be from 0 to 16384, is -3
}

// EC2's own description of its instance types needs zones and prices in addition.
func ExampleParseDescribeInstanceTypes() {
	answer := `{"InstanceTypes": [{
		"InstanceType": "t4g.small",
		"SupportedUsageClasses": ["on-demand", "spot"],
		"ProcessorInfo": {"SupportedArchitectures": ["arm64"]},
		"VCpuInfo": {"DefaultVCpus": 2},
		"MemoryInfo": {"SizeInMiB": 2048}
	}]}`
	prices := `{
		"schema": "drawknife-ec2-prices/1",
		"region": "eu-west-1",
		"source": "our price list",
		"zones": [{"name": "eu-west-1a"}, {"name": "eu-west-1b"}],
		"types": {"t4g.small": {"onDemand": 0.0184, "spot": {"eu-west-1b": 0.0065}}}
	}`
	c, err := catalog.ParseDescribeInstanceTypes(strings.NewReader(answer), strings.NewReader(prices))
	if err != nil {
		fmt.Println(err)
		return
	}
	t := c.Types[0]
	fmt.Println(t.Name, t.OnDemandUSD, t.SpotPrice(0), t.SpotPrice(1))
	// Output: t4g.small 0.0184 0 0.0065
}

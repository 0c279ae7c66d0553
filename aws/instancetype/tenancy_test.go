package instancetype_test

import (
	"math"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/api/requirements"
	v1 "github.com/drawknife/drawknife/api/v1"
	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	"github.com/drawknife/drawknife/aws/instancetype"
	"github.com/drawknife/drawknife/cloudprovider"
)

// OPP-05, OPP-26: what dedicated hardware costs is in the price, and types that can't run on hosts are not offered there.
func TestTenancy(t *testing.T) {
	c := embedded(t)
	shared := resolve(t, c, instancetype.Settings{})["m5.large"]
	price := func(it *cloudprovider.InstanceType, capacityType string) (*cloudprovider.Offering, float64) {
		for i := range it.Offerings {
			if it.Offerings[i].CapacityType() == capacityType {
				return &it.Offerings[i], it.Offerings[i].Price
			}
		}
		return nil, 0
	}
	_, onDemand := price(shared, v1.CapacityTypeOnDemand)
	_, spot := price(shared, v1.CapacityTypeSpot)
	near := func(a, b float64) bool { return math.Abs(a-b) < 1e-6 }

	for _, tenancy := range []string{awsv1.TenancyDefault, awsv1.TenancyDedicated, awsv1.TenancyHost} {
		types := resolve(t, c, instancetype.Settings{Tenancy: tenancy})
		it := types["m5.large"]
		if got := it.Requirements.Get(awsv1.LabelInstanceTenancy); !got.Equal(requirements.In(awsv1.LabelInstanceTenancy, tenancy)) {
			t.Errorf("%s: the label is %s", tenancy, got)
		}
		factor := 1.1
		if tenancy == awsv1.TenancyDefault {
			factor = 1
		}
		o, usd := price(it, v1.CapacityTypeOnDemand)
		if !near(usd, onDemand*factor) {
			t.Errorf("%s: on demand it costs %v, want %v", tenancy, usd, onDemand*factor)
		}
		if estimated := o.PriceBasis.Confidence == cloudprovider.PriceEstimated; estimated != (factor > 1) || strings.Contains(o.PriceSource, "estimate") != estimated {
			t.Errorf("%s: the price is %+v from %q", tenancy, o.PriceBasis, o.PriceSource)
		}
		switch o, usd := price(it, v1.CapacityTypeSpot); {
		case tenancy == awsv1.TenancyHost && o != nil:
			t.Error("a host has spot instances")
		case tenancy != awsv1.TenancyHost && !near(usd, spot*factor):
			t.Errorf("%s: spot costs %v, want %v", tenancy, usd, spot*factor)
		}
		// EC2's DescribeInstanceTypes lists m5a.large without hosts.
		if o, _ := price(types["m5a.large"], v1.CapacityTypeOnDemand); o.Available == (tenancy == awsv1.TenancyHost) {
			t.Errorf("%s: m5a.large is available: %t", tenancy, o.Available)
		}
	}
	// A bare metal type whose only known price is already one for dedicated hardware does not cost more.
	for i := range c.Types {
		if metal := &c.Types[i]; metal.OnDemandTenancy != "" {
			it := resolve(t, c, instancetype.Settings{Tenancy: awsv1.TenancyDedicated})[metal.Name]
			if _, usd := price(it, v1.CapacityTypeOnDemand); usd != metal.OnDemandUSD {
				t.Errorf("%s costs %v, want %v", metal.Name, usd, metal.OnDemandUSD)
			}
			return
		}
	}
	t.Error("no type has a price for dedicated hardware alone")
}

func TestTenancyOfAClass(t *testing.T) {
	for _, c := range []struct{ spec, option, want string }{
		{"{}", "", ""},
		{"{}", awsv1.TenancyDedicated, awsv1.TenancyDedicated},
		{"{placement: {}}", awsv1.TenancyDedicated, awsv1.TenancyDedicated},
		{"{placement: {tenancy: default}}", awsv1.TenancyDedicated, awsv1.TenancyDefault},
		{"{placement: {tenancy: dedicated}}", "", awsv1.TenancyDedicated},
		{"{placement: {hostID: h-0}}", "", awsv1.TenancyHost},
		{"{placement: {hostResourceGroupARN: a}}", "", awsv1.TenancyHost},
	} {
		s, err := instancetype.NewSettings(embedded(t), nodeClass(t, "{metadata: {name: default}, spec: "+c.spec+"}"), instancetype.Options{Tenancy: c.option})
		if err != nil || s.Tenancy != c.want {
			t.Errorf("%s with %q: tenancy %q, %v, want %q", c.spec, c.option, s.Tenancy, err, c.want)
		}
	}
	if err := (instancetype.Options{Tenancy: "own"}).Validate(); err == nil || !strings.Contains(err.Error(), "tenancy") {
		t.Errorf("an unknown tenancy: %v", err)
	}
	pool := &v1.NodePool{}
	pool.Spec.Template.Labels = map[string]string{awsv1.LabelInstanceTenancy: awsv1.TenancyDedicated}
	if got := instancetype.TenancyOfPool(pool); got != awsv1.TenancyDedicated {
		t.Errorf("a pool with the label demands %q", got)
	}
	if got := instancetype.TenancyOfPool(nil); got != "" {
		t.Errorf("no pool demands %q", got)
	}
	for values, want := range map[string]string{"dedicated": "dedicated", "default": "", "dedicated,default": "", "": ""} {
		set := requirements.NewSet()
		if values != "" {
			set = requirements.NewSet(requirements.In(awsv1.LabelInstanceTenancy, strings.Split(values, ",")...))
		}
		if got := instancetype.TenancyOf(set); got != want {
			t.Errorf("%q demand %q, want %q", values, got, want)
		}
	}
}

// EC2 refuses burstable instances with unlimited credits on hosts.
func TestUnlimitedCreditsOnHosts(t *testing.T) {
	for credits, want := range map[string]string{"unlimited": "with unlimited CPU credits it does not run on Dedicated Hosts", "standard": ""} {
		s, err := instancetype.NewSettings(embedded(t), nodeClass(t, "{metadata: {name: default}, spec: {placement: {tenancy: host}, creditSpecification: {cpuCredits: "+credits+"}}}"), instancetype.Options{})
		if err != nil {
			t.Fatal(err)
		}
		burstable, _ := embedded(t).Lookup("t3.large")
		if got := instancetype.Incompatible(burstable, s); got != want {
			t.Errorf("%s: %q, want %q", credits, got, want)
		}
	}
}

// Pools that name both tenancies have offerings for each; pools that don't name the tenancy have one for whatever the claim chooses.
func TestTenanciesApart(t *testing.T) {
	pool := func(operator corev1.NodeSelectorOperator, values ...string) *v1.NodePool {
		p := &v1.NodePool{}
		p.Spec.Template.Spec.Requirements = []v1.NodeSelectorRequirementWithMinValues{{Key: awsv1.LabelInstanceTenancy, Operator: operator, Values: values}}
		return p
	}
	for _, c := range []struct {
		pool *v1.NodePool
		want string
	}{
		{&v1.NodePool{}, ""},
		{pool("In", "default"), ""},
		{pool("In", "dedicated"), awsv1.TenancyDedicated},
		{pool("In", "default", "dedicated"), instancetype.TenancyApart},
		{pool("Exists"), instancetype.TenancyApart},
		{pool("NotIn", "dedicated"), ""},
	} {
		if got := instancetype.TenancyOfPool(c.pool); got != c.want {
			t.Errorf("%v has the tenancy %q, want %q", c.pool.Spec.Template.Spec.Requirements, got, c.want)
		}
	}
	count := func(tenancy string) map[string]int {
		counts := map[string]int{}
		for _, o := range resolve(t, embedded(t), instancetype.Settings{Tenancy: tenancy})["m5.large"].Offerings {
			counts[o.Value(awsv1.LabelInstanceTenancy)]++
		}
		return counts
	}
	either, apart := count(""), count(instancetype.TenancyApart)
	if n := either[""]; n == 0 || len(either) != 1 || len(apart) != 2 || apart[awsv1.TenancyDefault] != n || apart[awsv1.TenancyDedicated] != n {
		t.Errorf("%v offerings, and %v apart", either, apart)
	}
}

package build

import (
	"cmp"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/drawknife/drawknife/api/requirements"
	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/fake"
)

// Pool returns a NodePool that allows any instance type, with the node class "default" of the cloud in package fake.
func Pool(name string, options ...PoolOption) *v1.NodePool {
	pool := &v1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: name}}
	pool.Spec.Template.Spec.NodeClassRef = fakeClass()
	pool.Spec.Template.Spec.Requirements = []v1.NodeSelectorRequirementWithMinValues{}
	for _, option := range options {
		if option != nil {
			option.toPool(pool)
		}
	}
	return pool
}

// Claim returns a NodeClaim that allows any instance type, with the node class "default" of the cloud in package fake.
func Claim(name string, options ...ClaimOption) *v1.NodeClaim {
	claim := &v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: name}}
	claim.Spec.NodeClassRef = fakeClass()
	claim.Spec.Requirements = []v1.NodeSelectorRequirementWithMinValues{}
	for _, option := range options {
		if option != nil {
			option.toClaim(claim)
		}
	}
	return claim
}

func fakeClass() v1.NodeClassReference {
	return v1.NodeClassReference{Group: fake.NodeClassGroup, Kind: fake.NodeClassKind, Name: "default"}
}

// Node returns a ready Node with its own name as a label.
func Node(name string, options ...NodeOption) *corev1.Node {
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{corev1.LabelHostname: name}}}
	node.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
	for _, option := range options {
		if option != nil {
			option.toNode(node)
		}
	}
	return node
}

// InstanceType returns a type for 110 pods on Linux and amd64, without offerings.
func InstanceType(name string, options ...TypeOption) *cloudprovider.InstanceType {
	it := &cloudprovider.InstanceType{
		Name: name,
		Requirements: requirements.NewSet(
			requirements.In(corev1.LabelInstanceTypeStable, name),
			requirements.In(corev1.LabelArchStable, v1.ArchitectureAmd64),
			requirements.In(corev1.LabelOSStable, string(corev1.Linux)),
		),
		Capacity: Amounts("pods", "110"),
	}
	for _, option := range options {
		if option != nil {
			option.toType(it)
		}
	}
	return it
}

// OnDemand adds an on-demand offering in a zone, with a price in USD per hour.
func OnDemand(zone string, price float64) TypeFunc {
	return Sold(Offering(zone, v1.CapacityTypeOnDemand, price))
}

// Spot adds a spot offering in a zone, with a price in USD per hour.
func Spot(zone string, price float64) TypeFunc {
	return Sold(Offering(zone, v1.CapacityTypeSpot, price))
}

// Sold adds offerings.
func Sold(offerings ...cloudprovider.Offering) TypeFunc {
	return func(it *cloudprovider.InstanceType) { it.Offerings = append(it.Offerings, offerings...) }
}

// Offering returns an available offering with a price in USD per hour.
func Offering(zone, capacityType string, price float64) cloudprovider.Offering {
	return cloudprovider.Offering{
		Requirements: requirements.NewSet(
			requirements.In(corev1.LabelTopologyZone, zone),
			requirements.In(v1.CapacityTypeLabelKey, capacityType),
		),
		Price: price, Available: true,
	}
}

// With adds requirements to those of the instance type, such as requirements.In(key, value) for a label of its nodes. If the type already
// has a requirement on the key, the new one replaces it.
func With(more ...requirements.Requirement) TypeFunc {
	return func(it *cloudprovider.InstanceType) {
		for _, r := range more {
			it.Requirements = it.Requirements.Without(r.Key()).With(r)
		}
	}
}

// RequirementOption is a requirement of a NodePool or a NodeClaim.
type RequirementOption v1.NodeSelectorRequirementWithMinValues

// Requires adds a requirement on a label of the nodes, with an operator ("In", "NotIn", "Exists", "Gt") and values.
func Requires(key string, operator corev1.NodeSelectorOperator, values ...string) RequirementOption {
	return RequirementOption{Key: key, Operator: operator, Values: slices.Clone(values)}
}

func (o RequirementOption) toPool(p *v1.NodePool) {
	p.Spec.Template.Spec.Requirements = append(p.Spec.Template.Spec.Requirements, v1.NodeSelectorRequirementWithMinValues(o))
}

func (o RequirementOption) toClaim(c *v1.NodeClaim) {
	c.Spec.Requirements = append(c.Spec.Requirements, v1.NodeSelectorRequirementWithMinValues(o))
}

// ClassOption sets the node class of a NodePool or NodeClaim.
type ClassOption v1.NodeClassReference

// Class sets the node class of a NodePool or NodeClaim.
func Class(group, kind, name string) ClassOption {
	return ClassOption{Group: group, Kind: kind, Name: name}
}

func (o ClassOption) toPool(p *v1.NodePool) {
	p.Spec.Template.Spec.NodeClassRef = v1.NodeClassReference(o)
}
func (o ClassOption) toClaim(c *v1.NodeClaim) { c.Spec.NodeClassRef = v1.NodeClassReference(o) }

// Weight sets the weight of a NodePool: planners prefer the pool with the highest weight.
func Weight(n int32) PoolFunc { return func(p *v1.NodePool) { p.Spec.Weight = &n } }

// Limit limits the total capacity of a NodePool's nodes. The arguments are pairs: name, amount, name, amount.
func Limit(pairs ...string) PoolFunc {
	return func(p *v1.NodePool) { p.Spec.Limits = Amounts(pairs...) }
}

// Budget limits how many nodes of a NodePool may be disrupted at a time ("10%", "3"). It applies to the given reasons, or to all reasons if
// no reason is given.
func Budget(nodes string, reasons ...v1.DisruptionReason) PoolFunc {
	return func(p *v1.NodePool) {
		p.Spec.Disruption.Budgets = append(p.Spec.Disruption.Budgets, v1.Budget{Nodes: nodes, Reasons: slices.Clone(reasons)})
	}
}

// ReadyPool sets the status of a NodePool so that it may launch nodes.
func ReadyPool(since time.Time) PoolFunc {
	return func(p *v1.NodePool) {
		for _, condition := range []string{v1.ConditionValidationSucceeded, v1.ConditionNodeClassReady} {
			p.Conditions().SetTrue(condition, since)
		}
	}
}

// InstanceOption sets the instance type of a Node or its NodeClaim.
type InstanceOption struct {
	it                 *cloudprovider.InstanceType
	zone, capacityType string
}

// OfType sets labels, capacity and allocatable of a Node or a launched NodeClaim to those of an instance type in a zone and capacity type.
// If zone or capacity type is empty, the type's first offering determines it.
func OfType(it *cloudprovider.InstanceType, zone, capacityType string) InstanceOption {
	if it != nil && len(it.Offerings) > 0 {
		sold := it.Offerings[0].Requirements
		zone = cmp.Or(zone, only(sold, corev1.LabelTopologyZone))
		capacityType = cmp.Or(capacityType, only(sold, v1.CapacityTypeLabelKey))
	}
	return InstanceOption{it, zone, capacityType}
}

// only returns the value of key in set if set allows exactly one value, and otherwise "".
func only(set requirements.Set, key string) string {
	r := set.Get(key)
	if values := r.Values(); r.Operator() == requirements.OpIn && len(values) == 1 {
		return values[0]
	}
	return ""
}

func (o InstanceOption) labels() MetaOption {
	pairs := []string{corev1.LabelInstanceTypeStable, o.it.Name}
	for key, value := range map[string]string{corev1.LabelTopologyZone: o.zone, v1.CapacityTypeLabelKey: o.capacityType} {
		if value != "" {
			pairs = append(pairs, key, value)
		}
	}
	for _, key := range []string{corev1.LabelArchStable, corev1.LabelOSStable} {
		if value := only(o.it.Requirements, key); value != "" {
			pairs = append(pairs, key, value)
		}
	}
	return Labels(pairs...)
}

func (o InstanceOption) toNode(n *corev1.Node) {
	if o.it == nil {
		return
	}
	o.labels().toNode(n)
	n.Status.Capacity, n.Status.Allocatable = o.it.Capacity.DeepCopy(), o.it.Allocatable()
}

func (o InstanceOption) toClaim(c *v1.NodeClaim) {
	if o.it == nil {
		return
	}
	o.labels().toClaim(c)
	c.Status.Capacity, c.Status.Allocatable = o.it.Capacity.DeepCopy(), o.it.Allocatable()
}

// ProviderIDOption sets the provider ID of a Node or its NodeClaim.
type ProviderIDOption string

// ProviderID sets the provider ID of a Node or NodeClaim, which identifies the instance.
func ProviderID(id string) ProviderIDOption { return ProviderIDOption(id) }

func (o ProviderIDOption) toNode(n *corev1.Node)   { n.Spec.ProviderID = string(o) }
func (o ProviderIDOption) toClaim(c *v1.NodeClaim) { c.Status.ProviderID = string(o) }

// Initialized marks a Node, or its NodeClaim, as registered and initialized.
func Initialized(since time.Time) InitializedOption { return InitializedOption{since} }

// InitializedOption marks a Node, or its NodeClaim, as registered and initialized.
type InitializedOption struct{ since time.Time }

func (o InitializedOption) toNode(n *corev1.Node) {
	Labels(v1.NodeRegisteredLabelKey, "true", v1.NodeInitializedLabelKey, "true").toNode(n)
}

func (o InitializedOption) toClaim(c *v1.NodeClaim) {
	for _, condition := range []string{v1.ConditionLaunched, v1.ConditionRegistered, v1.ConditionInitialized} {
		c.Conditions().SetTrue(condition, o.since)
	}
}

// toleration parses a taint and returns a toleration for it.
func toleration(text string) corev1.Toleration {
	taint := Taint(text)
	t := corev1.Toleration{Key: taint.Key, Operator: corev1.TolerationOpExists}
	if strings.Contains(text, ":") {
		t.Effect = taint.Effect
	}
	if taint.Value != "" {
		t.Operator, t.Value = corev1.TolerationOpEqual, taint.Value
	}
	return t
}

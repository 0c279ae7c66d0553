package offerings

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	"github.com/drawknife/drawknife/aws/catalog"
	"github.com/drawknife/drawknife/aws/instancetype"
	"github.com/drawknife/drawknife/aws/internal/placement"
)

// View contains the settings of a node class that determine its instance types and where they can be bought. Equal views have equal
// answers.
type View struct {
	// Settings that determine the instances of a type. Their Zones are those with a subnet of the class.
	Settings instancetype.Settings
	// Subnets are the ids of the class's subnets by the name of their zone.
	Subnets map[string][]string
	// Volumes are the types of the class's EBS volumes, sorted.
	Volumes []string
	// Reservations that the class selects; empty where reserved capacity is not in use.
	Reservations []awsv1.CapacityReservation
	// Group is the placement group of the class, or nil if there is none.
	Group *placement.Group
	// StandInPrices are USD per hour for types that have no price of their own, such as NodeOverlays give.
	StandInPrices map[string]float64
}

// Options are what a node class does not say itself. The zero value takes the defaults.
type Options struct {
	// Settings are the options of instance types; the placement group's fields are filled in from Group.
	Settings instancetype.Options
	// Group is the placement group of the class, or nil if there is none.
	Group *placement.Group
	// WithoutReservations leaves reserved capacity out.
	WithoutReservations bool
	// StandInPrices are as in View.
	StandInPrices map[string]float64
}

// NoSubnetsError says that a node class has no subnet to launch instances in.
type NoSubnetsError struct {
	// NodeClass is its name.
	NodeClass string
}

func (e *NoSubnetsError) Error() string {
	return fmt.Sprintf("node class %q has no subnets: none was found for its subnetSelectorTerms, or they were not looked for yet", e.NodeClass)
}

// NewView reads the view of a node class. The error is a *NoSubnetsError, or of the kinds that instancetype.NewSettings
// has.
func NewView(c *catalog.Catalog, class *awsv1.EC2NodeClass, o Options) (View, error) {
	if class == nil {
		return View{}, &NoSubnetsError{}
	}
	if len(class.Status.Subnets) == 0 {
		return View{}, &NoSubnetsError{NodeClass: class.Name}
	}
	if g := o.Group; g != nil {
		o.Settings.PlacementStrategy, o.Settings.PlacementGroupID, o.Settings.PlacementPartitions = g.Strategy, g.ID, g.Partitions
	}
	settings, err := instancetype.NewSettings(c, class, o.Settings)
	if err != nil {
		return View{}, err
	}
	v := View{Settings: settings, Subnets: map[string][]string{}, Volumes: class.Spec.VolumeTypes(), Group: o.Group, StandInPrices: maps.Clone(o.StandInPrices)}
	// By name, which every subnet has; ids of zones may be missing.
	for _, subnet := range class.Status.Subnets {
		v.Subnets[subnet.Zone] = append(v.Subnets[subnet.Zone], subnet.ID)
	}
	for _, ids := range v.Subnets {
		slices.Sort(ids)
	}
	if !o.WithoutReservations {
		v.Reservations = slices.Clone(class.Status.CapacityReservations)
		slices.SortFunc(v.Reservations, func(a, b awsv1.CapacityReservation) int { return strings.Compare(a.ID, b.ID) })
	}
	return v, nil
}

// Key returns a string that is equal for equal views: it contains everything in a View.
func (v View) Key() string {
	rest := v
	rest.Settings = instancetype.Settings{} // it has its own key
	// States are of a time, which the market has.
	rest.Reservations = slices.Clone(v.Reservations)
	for i := range rest.Reservations {
		rest.Reservations[i].State = ""
	}
	text, err := json.Marshal(rest) // sorts maps
	if err != nil {
		// A price that is not a number: there is nothing to share.
		text = fmt.Appendf(nil, "%+v", rest)
	}
	return v.Settings.Key() + "\n" + string(text)
}

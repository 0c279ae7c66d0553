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
	"github.com/drawknife/drawknife/aws/internal/hosts"
	"github.com/drawknife/drawknife/aws/internal/outposts"
	"github.com/drawknife/drawknife/aws/internal/placement"
)

// View contains the settings of a node class that determine its instance types and where they can be bought. Equal views have equal
// results.
type View struct {
	// Settings that determine the instances of a type. Their Zones are the zones in which the class has a subnet.
	Settings instancetype.Settings
	// Subnets are the ids of the class's subnets by the name of their zone.
	Subnets map[string][]string
	// Volumes are the types of the class's EBS volumes, sorted.
	Volumes []string
	// Reservations that the class selects; empty if reserved capacity is not in use.
	Reservations []awsv1.CapacityReservation
	// Group is the placement group of the class, or nil if there is none.
	Group *placement.Group
	// Host is the Dedicated Host or host resource group that the class names, or empty.
	Host string `json:",omitempty"`
	// HostRoom are the instance types for which Dedicated Hosts of the class have room, by zone; nil if that is not known or does not matter.
	HostRoom hosts.Room `json:",omitzero"`
	// Outposts on which the class launches, by zone. Zones in which the class launches in the region itself are missing.
	Outposts map[string]outposts.Outpost `json:",omitempty"`
	// StandInPrices are prices in USD per hour for types that have no price of their own, for example from NodeOverlays.
	StandInPrices map[string]float64
}

// Options contain settings that a node class does not have itself. The zero value means the defaults.
type Options struct {
	// Settings are the options of instance types; Group sets the fields of the placement group.
	Settings instancetype.Options
	// Group is the placement group of the class, or nil if there is none.
	Group *placement.Group
	// HostRoom and Outposts are as in View.
	HostRoom hosts.Room
	Outposts map[string]outposts.Outpost
	// WithoutReservations leaves out reserved capacity.
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
	return fmt.Sprintf("node class %q has no subnets: none was found for its subnetSelectorTerms, or it was not reconciled yet", e.NodeClass)
}

// NewView reads the view of a node class. The error is a *NoSubnetsError, or an error of instancetype.NewSettings.
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
	v := View{Settings: settings, Subnets: map[string][]string{}, Volumes: class.Spec.VolumeTypes(), Host: class.Spec.Host(), HostRoom: o.HostRoom, Outposts: o.Outposts, Group: o.Group, StandInPrices: maps.Clone(o.StandInPrices)}
	// Subnets are listed by the name of their zone, which every subnet has; the id of the zone may be missing.
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
	rest.Settings = instancetype.Settings{} // Settings has its own key
	// The states of reservations depend on the time, which is part of the market instead of the view.
	rest.Reservations = slices.Clone(v.Reservations)
	for i := range rest.Reservations {
		rest.Reservations[i].State = ""
	}
	text, err := json.Marshal(rest) // sorts maps
	if err != nil {
		// Stand-in prices contain a number that JSON can't represent, so the key is only for this view.
		text = fmt.Appendf(nil, "%+v", rest)
	}
	return v.Settings.Key() + "\n" + string(text)
}

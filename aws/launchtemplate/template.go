package launchtemplate

import (
	"fmt"
	"log/slog"
	"slices"

	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/drawknife/drawknife/aws/launchtemplate/userdata"
)

// Template is one launch template. It may be shared: nobody may change it.
type Template struct {
	// Name is derived from the content.
	Name string
	// Data is the content of the template for EC2.
	Data *ec2types.RequestLaunchTemplateData
	// Tags of the template itself, by key.
	Tags []ec2types.Tag
	// UserData is the user data in Data, not encoded, with warnings about it.
	UserData userdata.Rendered
	// ImageID is the image from which its instances boot.
	ImageID string
	// InstanceTypes are the names of its types, sorted. They do not affect the template's content or name.
	InstanceTypes []string
	// CapacityType of its instances.
	CapacityType string
	// MaxPods is the pod limit in the user data; 0 if it has none.
	MaxPods int32
	// EFAs is the number of EFA interfaces that the claim's pods get; 0 if they request none or if the class lists interfaces.
	EFAs int32
	// Reservation into which its instances are launched, or nil if there is none.
	Reservation *CapacityReservation
}

// String returns the name, the image and the number of types, but nothing that may be secret.
func (t Template) String() string {
	return fmt.Sprintf("launch template %s: image %s, %s, %d instance types, %v", t.Name, t.ImageID, t.CapacityType, len(t.InstanceTypes), t.UserData)
}

// GoString is String.
func (t Template) GoString() string { return t.String() }

// LogValue returns the parts of String.
func (t Template) LogValue() slog.Value {
	attrs := []slog.Attr{
		slog.String("name", t.Name), slog.String("image", t.ImageID), slog.String("capacityType", t.CapacityType),
		slog.Int("instanceTypes", len(t.InstanceTypes)), slog.Int("userDataBytes", len(t.UserData.Text)),
	}
	if t.Reservation != nil {
		attrs = append(attrs, slog.String("reservation", t.Reservation.ID))
	}
	return slog.GroupValue(attrs...)
}

// template makes the template of one group.
func (p *plan) template(g group, m *members) (Template, error) {
	rendered, err := p.userData(g, m.image)
	if err != nil {
		return Template{}, err
	}
	data, err := p.data(g, rendered)
	if err != nil {
		return Template{}, err
	}
	if p.Extend != nil {
		p.Extend(data)
	}
	t := Template{
		Data: data, Tags: p.tags, UserData: rendered, ImageID: g.imageID,
		CapacityType: p.CapacityType, MaxPods: g.maxPods, EFAs: g.efas,
	}
	if g.reservation.ID != "" {
		t.Reservation = &g.reservation
	}
	for _, member := range m.types {
		t.InstanceTypes = append(t.InstanceTypes, member.Name)
	}
	slices.Sort(t.InstanceTypes)
	t.InstanceTypes = slices.Compact(t.InstanceTypes)
	if t.Name, err = nameOf(data, p.tags); err != nil {
		return Template{}, p.failed(err)
	}
	return t, nil
}

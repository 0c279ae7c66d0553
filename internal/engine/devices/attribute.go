package devices

import (
	"fmt"
	"strings"

	resourcev1 "k8s.io/api/resource/v1"
)

// value is the value of an attribute. Values of different kinds are never equal.
type value struct {
	kind byte // one of the letters of "sibv", or 0 for no value
	text string
	int  int64
}

// String formats the value for people.
func (v value) String() string {
	switch v.kind {
	case 'i':
		return fmt.Sprint(v.int)
	case 'b':
		return fmt.Sprint(v.int == 1)
	}
	return v.text
}

func valueOf(a resourcev1.DeviceAttribute) value {
	switch {
	case a.StringValue != nil:
		return value{kind: 's', text: *a.StringValue}
	case a.IntValue != nil:
		return value{kind: 'i', int: *a.IntValue}
	case a.BoolValue != nil:
		v := value{kind: 'b'}
		if *a.BoolValue {
			v.int = 1
		}
		return v
	case a.VersionValue != nil:
		return value{kind: 'v', text: *a.VersionValue}
	}
	return value{}
}

// attribute returns the value of the attribute with the given full name (domain/id). A device may omit the domain in the names of its
// attributes if the domain is the name of its driver.
func (d *device) attribute(name string) value {
	if a, ok := d.object.Attributes[resourcev1.QualifiedName(name)]; ok {
		return valueOf(a)
	}
	domain, id, ok := strings.Cut(name, "/")
	if !ok || domain != d.id.Driver {
		return value{}
	}
	return valueOf(d.object.Attributes[resourcev1.QualifiedName(id)])
}

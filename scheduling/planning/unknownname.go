package planning

import (
	"fmt"
	"strings"
)

// UnknownKind is the kind of an unknown name. Values are stable.
type UnknownKind string

const (
	// UnknownResource: the pod requests a resource that no instance type has. Without NodePools, it means that no node has the resource.
	UnknownResource UnknownKind = "Resource"
	// UnknownLabel: the pod asks for a label that neither the NodePool nor its instance types nor any node has.
	UnknownLabel UnknownKind = "Label"
	// UnknownValue: the pod asks for a value of label Key that none of the NodePool's instance types has, available now or not.
	UnknownValue UnknownKind = "Value"
)

// Unknown is a name that a pod asks for and that does not exist: usually a misspelling.
type Unknown struct {
	Kind UnknownKind `json:"kind"`
	// Key of the label. Set only for the kind UnknownValue.
	Key string `json:"key,omitempty"`
	// Name is the name that the pod asks for.
	Name string `json:"name"`
	// Nearest are the most similar known names, at most three; empty if none is similar.
	Nearest []string `json:"nearest,omitempty"`
	// Known are all known values of label Key, sorted; empty when there are more than ten. KnownCount is the number of all known values.
	Known      []string `json:"known,omitempty"`
	KnownCount int      `json:"knownCount,omitempty"`
}

// String says that no object has the name, and suggests similar names.
func (u Unknown) String() string { return u.text("instance type") }

// text does what String does. The parameter who says which objects could have the resource or value: "node" or "instance type".
func (u Unknown) text(who string) string {
	text := "no node has label " + u.Name
	switch u.Kind {
	case UnknownResource:
		text = "no " + who + " has resource " + u.Name
	case UnknownValue:
		text = "no " + who + " has " + u.Key + " " + u.Name
	}
	if hint := u.hint(); hint != "" {
		text += " (" + hint + ")"
	}
	return text
}

// hint returns a text that suggests similar names, or "" if no name is similar.
func (u Unknown) hint() string {
	var parts []string
	if len(u.Nearest) > 0 {
		parts = append(parts, "did you mean "+strings.Join(u.Nearest, " or ")+"?")
	}
	switch {
	case len(u.Known) > 0:
		parts = append(parts, "known: "+strings.Join(u.Known, ", "))
	case u.KnownCount > 0 && len(u.Nearest) == 0:
		parts = append(parts, fmt.Sprintf("%d others are known", u.KnownCount))
	}
	return strings.Join(parts, " ")
}

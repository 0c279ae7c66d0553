package customprovider

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"
)

// Inventory lists the machines. testdata/inventory.yaml shows an example.
type Inventory struct {
	// Types of machines, with unique names. At least one.
	Types []MachineType `json:"types"`
	// Machines, with unique names.
	Machines []Machine `json:"machines"`
}

// MachineType contains the shared properties of one type.
type MachineType struct {
	// Name is the value of the label node.kubernetes.io/instance-type.
	Name string `json:"name"`
	// Arch is amd64 or arm64; empty means amd64.
	Arch string `json:"arch,omitempty"`
	// CPU and Memory are the amounts of the whole machine. Pods is the maximum number of pods of the kubelet; 0 means the kubelet's
	// default, 110.
	CPU    Amount `json:"cpu"`
	Memory Amount `json:"memory"`
	Pods   int64  `json:"pods,omitempty"`
	// ReservedCPU and ReservedMemory are not available to pods: the kubelet's reservations and its eviction threshold.
	ReservedCPU    Amount `json:"reservedCPU,omitzero"`
	ReservedMemory Amount `json:"reservedMemory,omitzero"`
	// HourlyPrice is the cost of one hour of a machine, USD: at least power and wear. More than 0.
	HourlyPrice float64 `json:"hourlyPrice"`
}

// Machine is one machine of the inventory.
type Machine struct {
	// Name is the name of the machine and of its node.
	Name string `json:"name"`
	// Type names one of Inventory.Types.
	Type string `json:"type"`
	// Zone is a failure domain: a rack, a room. It becomes the value of the label topology.kubernetes.io/zone.
	Zone string `json:"zone"`
}

// maxInventory is the maximum size of the file in bytes.
const maxInventory = 16 << 20

// ReadInventory reads an inventory from YAML or JSON and checks it. The error joins a *field.Error for each fault.
func ReadInventory(r io.Reader) (*Inventory, error) {
	text, err := io.ReadAll(io.LimitReader(r, maxInventory+1))
	if err != nil {
		return nil, fmt.Errorf("reading the inventory: %w", err)
	}
	if len(text) > maxInventory {
		return nil, fmt.Errorf("reading the inventory: it has more than %d bytes", maxInventory)
	}
	var inventory Inventory
	if err := yaml.UnmarshalStrict(text, &inventory); err != nil {
		return nil, fmt.Errorf("reading the inventory: %w", err)
	}
	if err := inventory.Validate(); err != nil {
		return nil, fmt.Errorf("inventory: %w", err)
	}
	return &inventory, nil
}

// Validate checks an inventory: the error joins a *field.Error for each fault; nil means that it is valid.
func (i *Inventory) Validate() error {
	var faults []error
	add := func(fault *field.Error) { faults = append(faults, fault) }
	types := map[string]bool{}
	if len(i.Types) == 0 {
		add(field.Required(field.NewPath("types"), "list the types of the machines"))
	}
	for n, t := range i.Types {
		at := field.NewPath("types").Index(n)
		checkLabel(at.Child("name"), t.Name, add)
		if types[t.Name] {
			add(field.Duplicate(at.Child("name"), t.Name))
		}
		types[t.Name] = true
		if !slices.Contains([]string{"", "amd64", "arm64"}, t.Arch) {
			add(field.NotSupported(at.Child("arch"), t.Arch, []string{"amd64", "arm64"}))
		}
		if t.CPU.Cmp(t.ReservedCPU.Quantity) <= 0 || t.ReservedCPU.Sign() < 0 {
			add(field.Invalid(at.Child("cpu"), t.CPU.String(), "must leave something for pods beside reservedCPU"))
		}
		if t.Memory.Cmp(t.ReservedMemory.Quantity) <= 0 || t.ReservedMemory.Sign() < 0 {
			add(field.Invalid(at.Child("memory"), t.Memory.String(), "must leave something for pods beside reservedMemory"))
		}
		if t.Pods < 0 {
			add(field.Invalid(at.Child("pods"), t.Pods, "must not be negative"))
		}
		if t.HourlyPrice <= 0 || math.IsInf(t.HourlyPrice, 1) || math.IsNaN(t.HourlyPrice) {
			add(field.Invalid(at.Child("hourlyPrice"), t.HourlyPrice, "must be more than 0: a machine that costs nothing would be preferred to everything"))
		}
	}
	names := map[string]bool{}
	for n, m := range i.Machines {
		at := field.NewPath("machines").Index(n)
		if problems := validation.IsDNS1123Subdomain(m.Name); len(problems) > 0 {
			add(field.Invalid(at.Child("name"), m.Name, problems[0]))
		}
		if names[m.Name] {
			add(field.Duplicate(at.Child("name"), m.Name))
		}
		names[m.Name] = true
		if !types[m.Type] {
			add(field.NotFound(at.Child("type"), m.Type))
		}
		checkLabel(at.Child("zone"), m.Zone, add)
	}
	return errors.Join(faults...)
}

// checkLabel refuses texts that can't be the value of a label.
func checkLabel(at *field.Path, value string, add func(*field.Error)) {
	if value == "" {
		add(field.Required(at, "give it a name"))
		return
	}
	if problems := validation.IsValidLabelValue(value); len(problems) > 0 {
		add(field.Invalid(at, value, problems[0]))
	}
}

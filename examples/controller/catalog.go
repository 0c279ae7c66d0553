package main

import (
	"fmt"

	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/fake"
)

// simulatedTypes returns the instance types of the fake cloud.
func simulatedTypes(catalog string) ([]*cloudprovider.InstanceType, error) {
	switch catalog {
	case "generic":
		return fake.GenericTypes(genericTypes), nil
	}
	return nil, fmt.Errorf("--fake-catalog %q is unknown: it must be generic", catalog)
}

// genericTypes is the number of generated instance types: it gives a choice of types for every size.
const genericTypes = 60

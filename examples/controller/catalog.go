package main

import (
	"fmt"

	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/fake"
)

// simulatedTypes is what the fake cloud sells.
func simulatedTypes(catalog string) ([]*cloudprovider.InstanceType, error) {
	switch catalog {
	case "generic":
		return fake.GenericTypes(genericTypes), nil
	}
	return nil, fmt.Errorf("--fake-catalog %q is unknown: it must be generic", catalog)
}

// genericTypes is how many made-up instance types there are: enough for a choice in every size.
const genericTypes = 60

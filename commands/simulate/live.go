package simulate

import (
	"errors"
	"fmt"
)

// providerKind is a value of --provider: the source of instance types and prices.
type providerKind string

const (
	// providerFile means the file of --catalog, or the built-in catalogue.
	providerFile providerKind = "file"
	// providerAWS means AWS, with the user's credentials.
	providerAWS providerKind = "aws"
)

// checkProvider refuses contradicting flags for the source of instance types.
func (o options) checkProvider(given map[string]bool) error {
	switch {
	case o.provider != providerFile && o.provider != providerAWS:
		return fmt.Errorf("--provider %q: not one of file, aws", o.provider)
	case o.provider == providerFile && given["region"] && given["catalog"]:
		return errors.New("--region: use it only with --provider aws or the built-in catalogue; a catalogue file contains its region")
	case given["region"] && o.region == "":
		return errors.New("--region: needs the name of a region such as eu-west-1")
	case o.provider == providerFile:
		return nil
	}
	for _, name := range []string{"catalog", "prices"} {
		if given[name] {
			return fmt.Errorf("--provider aws: instance types and prices come from AWS; leave out --%s", name)
		}
	}
	return nil
}

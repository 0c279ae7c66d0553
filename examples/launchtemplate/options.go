package main

import (
	_ "embed"
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/aws/launchtemplate"
	"github.com/drawknife/drawknife/internal/spelling"
)

// helpText is what --help prints.
//
//go:embed help.txt
var helpText string

// Values of --output.
const (
	outputYAML     = "yaml"
	outputJSON     = "json"
	outputUserData = "userdata"
)

// Defaults of an EKS cluster.
const (
	defaultServiceCIDR = "172.20.0.0/16"
	defaultDNS         = "172.20.0.10"
)

// options are the command line, read and checked.
type options struct {
	// inputs are files or "-"; at least one.
	inputs  []string
	cluster launchtemplate.Cluster
	// class and pool are names; empty if the input has only one.
	class, pool string
	capacity    string
	// instanceTypes are names; if empty, the default is used.
	instanceTypes []string
	reservation   string
	// ami, securityGroups and instanceProfile replace values that were not resolved.
	ami             string
	securityGroups  []string
	instanceProfile string
	placementGroup  string
	efa, enclaves   bool
	output          string
	// version prints the build information, and nothing else happens.
	version bool
}

// errHelp is returned by parseOptions when the user asks for help.
var errHelp = errors.New("help requested")

// parseOptions reads a command line. Flags may stand before, between and after the inputs.
func parseOptions(args []string) (options, error) {
	var o options
	var types, groups, family string
	flags := flag.NewFlagSet("launchtemplate", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.StringVar(&o.cluster.Name, "cluster-name", "demo", "")
	flags.StringVar(&o.cluster.Endpoint, "endpoint", "", "")
	flags.StringVar(&o.cluster.CABundle, "ca-bundle", "", "")
	flags.StringVar(&o.cluster.ServiceCIDR, "service-cidr", defaultServiceCIDR, "")
	flags.StringVar(&o.cluster.DNS, "dns", "", "")
	flags.StringVar(&family, "ip-family", "", "")
	flags.StringVar(&o.cluster.Region, "region", "us-east-1", "")
	flags.StringVar(&o.class, "class", "", "")
	flags.StringVar(&o.pool, "pool", "", "")
	flags.StringVar(&o.capacity, "capacity-type", v1.CapacityTypeOnDemand, "")
	flags.StringVar(&types, "instance-types", "", "")
	flags.StringVar(&o.reservation, "reservation", "", "")
	flags.StringVar(&o.ami, "ami", "", "")
	flags.StringVar(&groups, "security-groups", "", "")
	flags.StringVar(&o.instanceProfile, "instance-profile", "", "")
	flags.StringVar(&o.placementGroup, "placement-group", "", "")
	flags.BoolVar(&o.efa, "efa", false, "")
	flags.BoolVar(&o.enclaves, "enclaves", false, "")
	flags.StringVar(&o.output, "output", outputYAML, "")
	flags.StringVar(&o.output, "o", outputYAML, "")

	flags.BoolVar(&o.version, "version", false, "")
	for rest := args; ; {
		if err := flags.Parse(rest); errors.Is(err, flag.ErrHelp) {
			return options{}, errHelp
		} else if err != nil {
			return options{}, spelling.Flag(err, flags)
		}
		if flags.NArg() == 0 {
			break
		}
		o.inputs = append(o.inputs, flags.Arg(0))
		rest = flags.Args()[1:]
	}
	if o.version {
		return options{version: true}, nil
	}
	var err error
	if o.instanceTypes, err = list("instance-types", types); err != nil {
		return options{}, err
	}
	if o.securityGroups, err = list("security-groups", groups); err != nil {
		return options{}, err
	}
	o.cluster.IPFamily = launchtemplate.IPFamily(family)
	return o.complete()
}

// list reads a comma-separated flag.
func list(flag, text string) ([]string, error) {
	if text == "" {
		return nil, nil
	}
	entries := strings.Split(text, ",")
	for i := range entries {
		entries[i] = strings.TrimSpace(entries[i])
		if entries[i] == "" {
			return nil, fmt.Errorf("--%s %q: an entry is empty; write them as a,b", flag, text)
		}
	}
	return entries, nil
}

// complete checks the options and fills in what follows from others.
func (o options) complete() (options, error) {
	for _, choice := range []struct {
		flag, value string
		words       []string
	}{
		{"output", o.output, []string{outputYAML, outputJSON, outputUserData}},
		{"capacity-type", o.capacity, []string{v1.CapacityTypeOnDemand, v1.CapacityTypeSpot, v1.CapacityTypeReserved}},
		{"ip-family", string(o.cluster.IPFamily), []string{"", string(launchtemplate.IPv4), string(launchtemplate.IPv6)}},
	} {
		if !slices.Contains(choice.words, choice.value) {
			return options{}, fmt.Errorf("--%s %q: not one of %s", choice.flag, choice.value, strings.Trim(strings.Join(choice.words, ", "), ", "))
		}
	}
	if len(o.inputs) == 0 {
		return options{}, errors.New("no input: name a file with an EC2NodeClass, or - for standard input")
	}
	if (o.capacity == v1.CapacityTypeReserved) != (o.reservation != "") {
		return options{}, errors.New("--capacity-type reserved and --reservation ID go together: give both or neither")
	}
	if o.cluster.Endpoint == "" {
		o.cluster.Endpoint = "https://api." + o.cluster.Name + ".example"
	}
	if o.cluster.DNS == "" && o.cluster.ServiceCIDR == defaultServiceCIDR {
		o.cluster.DNS = defaultDNS
	}
	return o, nil
}

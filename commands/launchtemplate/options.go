package launchtemplate

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

// helpText is the text that --help prints.
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

// options are the parsed and validated settings of the command line.
type options struct {
	// program is the name of the command in messages.
	program string
	// inputs are files or "-"; at least one.
	inputs  []string
	cluster launchtemplate.Cluster
	// class and pool are the names of the objects to use; each may be empty if the input has only one object of this kind.
	class, pool string
	capacity    string
	// instanceTypes are names of instance types; if empty, options.types chooses them.
	instanceTypes []string
	reservation   string
	// ami, securityGroups and instanceProfile replace the values in the status of the class.
	ami             string
	securityGroups  []string
	instanceProfile string
	placementGroup  string
	efa, enclaves   bool
	output          string
	// version means that the command only prints the build information.
	version bool
}

// errHelp is returned by parseOptions when the user asks for help.
var errHelp = errors.New("help requested")

// commandLine contains the flags while a command line is parsed.
type commandLine struct {
	flags                 *flag.FlagSet
	read                  options
	types, groups, family string
}

// newCommandLine declares the flags, with the defaults of all options.
func newCommandLine(program string) *commandLine {
	l := &commandLine{flags: flag.NewFlagSet(program, flag.ContinueOnError), read: options{program: program}}
	f, o := l.flags, &l.read
	f.SetOutput(io.Discard)
	f.StringVar(&o.cluster.Name, "cluster-name", "demo", "`NAME` of the cluster")
	f.StringVar(&o.cluster.Endpoint, "endpoint", "", "`URL` of its API server (default https://api.NAME.example)")
	f.StringVar(&o.cluster.CABundle, "ca-bundle", "", "certificate authority of the API server, as `BASE64` (default: none, the image finds it)")
	f.StringVar(&o.cluster.ServiceCIDR, "service-cidr", defaultServiceCIDR, "range of service addresses: `CIDR`")
	f.StringVar(&o.cluster.DNS, "dns", "", "`ADDRESS` of the DNS service (default 172.20.0.10 in the default range, none in other ranges)")
	f.StringVar(&l.family, "ip-family", "", "`FAMILY`: IPv4 or IPv6 (default: that of the addresses)")
	f.StringVar(&o.cluster.Region, "region", "us-east-1", "`REGION` of the template")
	f.StringVar(&o.class, "class", "", "`NAME` of the EC2NodeClass, if the inputs have several")
	f.StringVar(&o.pool, "pool", "", "`NAME` of the NodePool, if the inputs have several")
	f.StringVar(&o.capacity, "capacity-type", v1.CapacityTypeOnDemand, "`TYPE` of capacity: on-demand, spot or reserved")
	f.StringVar(&l.types, "instance-types", "", "`LIST` of instance types, such as m5.large,c6g.xlarge (default: m5.large, or the types of the NodePool)")
	f.StringVar(&o.reservation, "reservation", "", "`ID` of the capacity reservation of a reserved launch, such as cr-0123456789abcdef0")
	f.StringVar(&o.ami, "ami", "", "`ID` of the image, if the node class does not have it")
	f.StringVar(&l.groups, "security-groups", "", "`LIST` of security groups, if the node class does not have them")
	f.StringVar(&o.instanceProfile, "instance-profile", "", "`NAME` of the instance profile, if the node class does not have it")
	f.StringVar(&o.placementGroup, "placement-group", "", "`ID` of a placement group, such as pg-0123456789abcdef0")
	f.BoolVar(&o.efa, "efa", false, "assume that pods request Elastic Fabric Adapters")
	f.BoolVar(&o.enclaves, "enclaves", false, "assume that pods request Nitro enclaves")
	f.StringVar(&o.output, "output", outputYAML, "`FORMAT`: yaml or json, input for \"aws ec2 create-launch-template\"; or userdata, only the user data")
	f.Var(f.Lookup("output").Value, "o", "")
	return l
}

// options returns the options after the flags were parsed; inputs are the other arguments.
func (l *commandLine) options(inputs []string) (options, error) {
	o := l.read
	o.inputs = inputs
	var err error
	if o.instanceTypes, err = list("instance-types", l.types); err != nil {
		return options{}, err
	}
	if o.securityGroups, err = list("security-groups", l.groups); err != nil {
		return options{}, err
	}
	o.cluster.IPFamily = launchtemplate.IPFamily(l.family)
	return o.complete()
}

// parseOptions reads the command line of the program launchtemplate. Flags may be before, between and after the inputs.
func parseOptions(args []string) (options, error) {
	l := newCommandLine("launchtemplate")
	l.flags.BoolVar(&l.read.version, "version", false, "")
	var inputs []string
	for rest := args; ; {
		if err := l.flags.Parse(rest); errors.Is(err, flag.ErrHelp) {
			return options{}, errHelp
		} else if err != nil {
			return options{}, spelling.Flag(err, l.flags)
		}
		if l.flags.NArg() == 0 {
			break
		}
		inputs = append(inputs, l.flags.Arg(0))
		rest = l.flags.Args()[1:]
	}
	if l.read.version {
		return options{version: true}, nil
	}
	return l.options(inputs)
}

// list returns the entries of a comma-separated flag.
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

// complete checks the options, and sets options that follow from other options.
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

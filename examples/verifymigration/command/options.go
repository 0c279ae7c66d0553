package command

import (
	_ "embed"
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/drawknife/drawknife/internal/spelling"
)

// helpText is what --help prints.
//
//go:embed help.txt
var helpText string

// Values of --output.
const (
	outputText = "text"
	outputJSON = "json"
)

// options are the command line.
type options struct {
	cluster string
	files   []string
	// kubectl is the program; kubeconfig and kubeContext are its flags.
	kubectl, kubeconfig, kubeContext string
	// apiServer, caBundle, serviceCIDR and dns are details of the cluster; empty: asked for.
	apiServer, caBundle, serviceCIDR, dns string
	region, endpoint                      string
	controllerRole, queue                 string
	nodeRoles                             []string
	metrics                               string
	builtInTypes                          bool
	output                                string
	version                               bool
}

// parseOptions reads and checks the command line. The error is flag.ErrHelp if the user asks for help.
func parseOptions(args []string) (options, error) {
	var o options
	var roles string
	flags := flag.NewFlagSet("verifymigration", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.StringVar(&o.cluster, "cluster-name", "", "")
	file := func(name string) error {
		o.files = append(o.files, name)
		return nil
	}
	flags.Func("filename", "", file)
	flags.Func("f", "", file)
	flags.StringVar(&o.kubectl, "kubectl", "kubectl", "")
	flags.StringVar(&o.kubeconfig, "kubeconfig", "", "")
	flags.StringVar(&o.kubeContext, "context", "", "")
	flags.StringVar(&o.apiServer, "api-server", "", "")
	flags.StringVar(&o.caBundle, "ca-bundle", "", "")
	flags.StringVar(&o.serviceCIDR, "service-cidr", "", "")
	flags.StringVar(&o.dns, "dns", "", "")
	flags.StringVar(&o.region, "region", "", "")
	flags.StringVar(&o.endpoint, "endpoint", "", "")
	flags.StringVar(&o.controllerRole, "controller-role", "", "")
	flags.StringVar(&roles, "node-roles", "", "")
	flags.StringVar(&o.queue, "queue", "", "")
	flags.StringVar(&o.metrics, "karpenter-metrics", "", "")
	flags.BoolVar(&o.builtInTypes, "built-in-types", false, "")
	flags.StringVar(&o.output, "output", outputText, "")
	flags.StringVar(&o.output, "o", outputText, "")
	flags.BoolVar(&o.version, "version", false, "")
	if err := flags.Parse(args); errors.Is(err, flag.ErrHelp) {
		return options{}, err
	} else if err != nil {
		return options{}, spelling.Flag(err, flags)
	}
	if roles != "" {
		o.nodeRoles = strings.Split(roles, ",")
	}
	if o.version {
		return o, nil
	}
	return o, o.check(flags.Args())
}

func (o options) check(rest []string) error {
	stdin := 0
	for _, name := range append(slices.Clone(o.files), o.metrics) {
		if name == "-" {
			stdin++
		}
	}
	switch {
	case len(rest) > 0:
		return fmt.Errorf("%q: arguments are not accepted, only flags; name files with --filename", rest[0])
	case o.cluster == "":
		return errors.New("--cluster-name is missing: give the name of the EKS cluster")
	case o.output != outputText && o.output != outputJSON:
		return fmt.Errorf("--output %q: not one of %s, %s", o.output, outputText, outputJSON)
	case stdin > 1:
		return errors.New("- is standard input, and can be given only once")
	case o.apiServer == "" && (o.caBundle != "" || o.serviceCIDR != ""):
		return errors.New("--ca-bundle and --service-cidr are used only with --api-server: give it as well, or leave them out")
	}
	return nil
}

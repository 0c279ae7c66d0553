package verifymigration

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

// options contains the values of the command line.
type options struct {
	// program is the name of the command in messages.
	program string
	cluster string
	files   []string
	// kubectl is the kubectl program to run; kubeconfig and kubeContext are the values of its flags --kubeconfig and --context.
	kubectl, kubeconfig, kubeContext string
	// apiServer, caBundle, serviceCIDR and dns are details of the cluster. If they are empty, the command reads them from EKS and from the
	// Service kube-dns.
	apiServer, caBundle, serviceCIDR, dns string
	region, endpoint                      string
	controllerRole, queue                 string
	nodeRoles                             []string
	metrics                               string
	builtInTypes                          bool
	output                                string
	version                               bool
}

// commandLine contains the flags while a command line is parsed.
type commandLine struct {
	flags *flag.FlagSet
	read  options
	files files
	roles string
}

// files is a flag that may be repeated.
type files []string

func (f *files) String() string { return strings.Join(*f, ",") }
func (f *files) Set(name string) error {
	*f = append(*f, name)
	return nil
}

// newCommandLine declares the flags, with the defaults of all options.
func newCommandLine(program string) *commandLine {
	l := &commandLine{flags: flag.NewFlagSet(program, flag.ContinueOnError), read: options{program: program}}
	f, o := l.flags, &l.read
	f.SetOutput(io.Discard)
	f.StringVar(&o.cluster, "cluster-name", "", "`NAME` of the EKS cluster")
	f.Var(&l.files, "filename", "read EC2NodeClasses, NodePools, NodeClaims and the Service kube-dns from this `FILE` instead of running kubectl; - is standard input; may be repeated")
	f.Var(&l.files, "f", "")
	f.StringVar(&o.kubectl, "kubectl", "kubectl", "`PATH` of the program kubectl")
	f.StringVar(&o.kubeconfig, "kubeconfig", "", "kubeconfig `FILE` that kubectl uses")
	f.StringVar(&o.kubeContext, "context", "", "`CONTEXT` of the kubeconfig that kubectl uses")
	f.StringVar(&o.apiServer, "api-server", "", "`URL` of the API server (default: what EKS reports); with this flag, EKS is not called")
	f.StringVar(&o.caBundle, "ca-bundle", "", "with --api-server: certificate authority of the API server, as `BASE64`")
	f.StringVar(&o.serviceCIDR, "service-cidr", "", "with --api-server: range of service addresses: `CIDR`")
	f.StringVar(&o.dns, "dns", "", "`ADDRESS` of the DNS service (default: that of the Service kube-dns)")
	f.StringVar(&o.region, "region", "", "`REGION` of the cluster (default: that of the environment)")
	f.StringVar(&o.endpoint, "endpoint", "", "`URL` of all AWS services, for a test server")
	f.StringVar(&o.controllerRole, "controller-role", "", "simulate the permissions of the role with this `ARN` (default: not checked)")
	f.StringVar(&l.roles, "node-roles", "", "`LIST` of roles of instances, such as a,b (default: those that the EC2NodeClasses name)")
	f.StringVar(&o.queue, "queue", "", "`NAME` of the queue of interruption events; empty: no queue")
	f.StringVar(&o.metrics, "karpenter-metrics", "", "`FILE` with metrics of Karpenter, which list the instance types that it offers; - is standard input")
	f.BoolVar(&o.builtInTypes, "built-in-types", false, "use the built-in instance types of us-east-1 instead of calling EC2")
	f.StringVar(&o.output, "output", outputText, "`FORMAT` of the report: text or json")
	f.Var(f.Lookup("output").Value, "o", "")
	return l
}

// options returns the options after the flags were parsed; arguments must be empty.
func (l *commandLine) options(arguments []string) (options, error) {
	o := l.read
	o.files = slices.Clone(l.files)
	if l.roles != "" {
		o.nodeRoles = strings.Split(l.roles, ",")
	}
	if o.version {
		return o, nil
	}
	return o, o.check(arguments)
}

// parseOptions reads the command line of the program verifymigration. The error is flag.ErrHelp if the user asks for help.
func parseOptions(args []string) (options, error) {
	l := newCommandLine("verifymigration")
	l.flags.BoolVar(&l.read.version, "version", false, "")
	if err := l.flags.Parse(args); errors.Is(err, flag.ErrHelp) {
		return options{}, err
	} else if err != nil {
		return options{}, spelling.Flag(err, l.flags)
	}
	return l.options(l.flags.Args())
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

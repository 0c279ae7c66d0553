package verifymigration

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/drawknife/drawknife/aws"
	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	"github.com/drawknife/drawknife/aws/iam"
	"github.com/drawknife/drawknife/aws/launchtemplate"
	"github.com/drawknife/drawknife/aws/migration"
	"github.com/drawknife/drawknife/aws/sdk"
	"github.com/drawknife/drawknife/commands"
	"github.com/drawknife/drawknife/internal/interrupt"
	"github.com/drawknife/drawknife/internal/printable"
	"github.com/drawknife/drawknife/internal/version"
)

// Exit statuses, part of the contract in --help.
const (
	exitSame     = 0
	exitInput    = 1
	exitErrors   = 2
	exitWarnings = 3
	exitOutput   = 5
)

// Main runs the command with the arguments, input and output of the process, until it ends or the process is asked to end. It returns the
// exit status.
func Main() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return Run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
}

// Run is the program verifymigration: it reads args, without the program's name, and returns the exit status. Control characters in its
// output are escaped, so that the input can't send commands to the terminal. It ends early when ctx is canceled. If stdin is nil, the input
// is empty.
func Run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	if ctx == nil || stdout == nil || stderr == nil {
		return exitInput // no message, because stderr may be nil
	}
	if stdin == nil {
		stdin = strings.NewReader("")
	}
	out, messages := printable.NewWriter(stdout), printable.NewWriter(stderr)
	code := run(ctx, args, stdin, out, messages)
	if err := errors.Join(out.Flush(), messages.Flush()); err != nil && code != exitInput {
		return exitOutput
	}
	return code
}

// Command is verifymigration as a command of a larger program, with the name "verify-migration".
func Command() commands.Command {
	return commands.Command{
		Name: "verify-migration", Summary: "Report what would change if the cluster moved from Karpenter to drawknife",
		Help: `verify-migration compares what drawknife would do for a cluster's NodePools and node classes with what Karpenter does there: images,
user data, subnets, instance types, permissions. It only reads: the cluster with kubectl or from files, the account with AWS's API.`,
		Examples: `drawknife verify-migration --cluster-name demo --region eu-central-1
drawknife verify-migration --cluster-name demo -f cluster.json -o json`,
		Exit: []commands.ExitStatus{
			{Code: exitSame, Meaning: "nothing would change"},
			{Code: exitInput, Meaning: "bad usage, or the cluster or the account cannot be read"},
			{Code: exitErrors, Meaning: "errors: something would stop working"},
			{Code: exitWarnings, Meaning: "warnings: nodes would differ or be replaced"},
			{Code: exitOutput, Meaning: "the report could not be written"},
			{Code: interrupt.Status, Meaning: "interrupted"},
		},
		Begin: begin,
	}
}

func begin() commands.Run {
	l := newCommandLine("drawknife verify-migration")
	return commands.Run{Flags: l.flags, Do: func(ctx context.Context, arguments []string, streams commands.Streams) int {
		out, messages := printable.NewWriter(streams.Out), printable.NewWriter(streams.Err)
		o, err := l.options(arguments)
		code := exitInput
		if err != nil {
			fmt.Fprintf(messages, "%s: %s\nRun %[1]s --help for its flags.\n", l.read.program, err)
		} else {
			code = o.command(ctx, streams.In, out, messages)
		}
		if err := errors.Join(out.Flush(), messages.Flush()); err != nil && code != exitInput {
			return exitOutput
		}
		return code
	}}
}

func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	o, err := parseOptions(args)
	text := ""
	switch {
	case errors.Is(err, flag.ErrHelp):
		text = helpText
	case err != nil:
		fmt.Fprintf(stderr, "verifymigration: %s\nRun verifymigration --help for its flags.\n", err)
		return exitInput
	case o.version:
		text = version.Line("verifymigration")
	}
	if text != "" {
		if _, err := io.WriteString(stdout, text); err != nil {
			return exitOutput
		}
		return exitSame
	}
	return o.command(ctx, stdin, stdout, stderr)
}

// command prints the report or an error, and returns the exit status.
func (o options) command(ctx context.Context, stdin io.Reader, stdout, stderr io.Writer) int {
	report, err := verify(ctx, o, stdin)
	switch {
	case ctx.Err() != nil:
		fmt.Fprintln(stderr, o.program+": interrupted")
		return interrupt.Status
	case err != nil:
		fmt.Fprintf(stderr, "%s: %s\n", o.program, err)
		return exitInput
	}
	if err := show(report, o.output, stdout); err != nil {
		fmt.Fprintf(stderr, "%s: writing the report: %s\n", o.program, err)
		return exitOutput
	}
	switch report.Worst() {
	case migration.SeverityError:
		return exitErrors
	case migration.SeverityWarning:
		return exitWarnings
	}
	return exitSame
}

func show(report migration.Report, output string, stdout io.Writer) error {
	if output == outputText {
		return report.WriteText(stdout)
	}
	encoder := json.NewEncoder(stdout)
	encoder.SetIndent("", "  ")
	encoder.SetEscapeHTML(false)
	return encoder.Encode(document{"migration.drawknife.dev/v1", "Report", report})
}

// document is what -o json prints: a report with apiVersion and kind. Keys are never renamed or removed.
type document struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	migration.Report
}

// verify reads the cluster and AWS, and returns the report of all checks.
func verify(ctx context.Context, o options, stdin io.Reader) (migration.Report, error) {
	all, err := readCluster(ctx, o, stdin)
	if err != nil {
		return migration.Report{}, err
	}
	in := migration.Input{NodeClasses: all.classes, NodePools: all.pools, NodeClaims: all.claims}
	if o.metrics != "" {
		text, err := readFile(o.metrics, stdin)
		if err == nil {
			in.KarpenterTypes, err = karpenterTypes(text)
		}
		if err != nil {
			return migration.Report{}, fmt.Errorf("--karpenter-metrics %s: %w", o.metrics, err)
		}
	}
	clients, err := sdk.Load(ctx, sdk.Config{Region: o.region, Endpoint: o.endpoint})
	if err != nil {
		return migration.Report{}, err
	}
	if in.Cluster, err = o.details(ctx, clients, all.dns); err != nil {
		return migration.Report{}, err
	}
	if in.Policies, err = o.policies(clients.Region(), all.classes); err != nil {
		return migration.Report{}, err
	}
	in.ControllerRole = o.controllerRole
	api := clients.EC2(sdk.Normal)
	if !o.builtInTypes {
		types, err := aws.ReadInstanceTypes(ctx, api, clients.Region(), nil, nil)
		if err != nil {
			return migration.Report{}, err
		}
		in.Types = types.Catalog
	}
	return migration.Verify(ctx, in, migration.Clients{EC2: api, Migration: clients.EC2Migration(sdk.Normal), IAM: clients.IAMMigration(sdk.Normal)})
}

// details returns the facts about the cluster that nodes need: from the flags, from the Service kube-dns and, without --api-server, from
// EKS.
func (o options) details(ctx context.Context, clients *sdk.Clients, dns string) (launchtemplate.Cluster, error) {
	cluster := launchtemplate.Cluster{
		Name: o.cluster, Region: clients.Region(), Endpoint: o.apiServer, CABundle: o.caBundle, ServiceCIDR: o.serviceCIDR, DNS: o.dns,
	}
	if cluster.DNS == "" {
		cluster.DNS = dns
	}
	if o.apiServer != "" {
		return cluster, nil
	}
	info, err := aws.NewEKSCluster(clients.EKS(sdk.Normal), o.cluster, nil).ClusterInfo(ctx)
	if err != nil {
		return cluster, fmt.Errorf("%w; for a cluster outside EKS give --api-server, --ca-bundle and --service-cidr", err)
	}
	cluster.Endpoint, cluster.CABundle, cluster.ServiceCIDR, cluster.IPFamily = info.Endpoint, info.CABundle, info.ServiceCIDR, info.IPFamily
	return cluster, nil
}

// policies returns the policies that the controller's role needs, or nil without --controller-role.
func (o options) policies(region string, classes []*awsv1.EC2NodeClass) ([]iam.Policy, error) {
	if o.controllerRole == "" {
		return nil, nil
	}
	parts := strings.SplitN(o.controllerRole, ":", 6)
	if len(parts) != 6 || parts[2] != "iam" || !strings.HasPrefix(parts[5], "role/") {
		return nil, fmt.Errorf("--controller-role %q: not the ARN of a role, such as arn:aws:iam::111122223333:role/demo-drawknife", o.controllerRole)
	}
	roles := slices.Clone(o.nodeRoles)
	profiles := true
	for _, class := range classes {
		if class.Spec.Role == nil || *class.Spec.Role == "" {
			continue
		}
		profiles = false
		if !slices.Contains(roles, *class.Spec.Role) {
			roles = append(roles, *class.Spec.Role)
		}
	}
	if len(roles) == 0 {
		return nil, errors.New("no EC2NodeClass names a role: give the roles of the instance profiles with --node-roles, or leave out --controller-role")
	}
	setup, err := iam.Generate(iam.Settings{
		Region: region, AccountID: parts[4], ClusterName: o.cluster, NodeRoles: roles, Queue: o.queue, WithoutInstanceProfiles: profiles,
		WithoutEKS: o.apiServer != "",
	})
	if err != nil {
		return nil, fmt.Errorf("computing the policies that the controller's role needs: %w", err)
	}
	return setup.ControllerPolicies, nil
}

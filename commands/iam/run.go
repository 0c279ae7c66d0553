package iam

import (
	_ "embed"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/drawknife/drawknife/aws/iam"
	"github.com/drawknife/drawknife/internal/printable"
	"github.com/drawknife/drawknife/internal/spelling"
	"github.com/drawknife/drawknife/internal/version"
)

// helpText is the text that --help prints.
//
//go:embed help.txt
var helpText string

// Exit statuses, part of the contract in the package comment and in --help.
const (
	// exitDone means that everything was written.
	exitDone = 0
	// exitInput means that the usage is wrong, and nothing was written.
	exitInput = 1
	// exitOutput means that a file or the output could not be written.
	exitOutput = 5
)

// outputError is an error from writing the output.
type outputError struct{ cause error }

func (e *outputError) Error() string { return "writing: " + e.cause.Error() }
func (e *outputError) Unwrap() error { return e.cause }

// run is the program iam: it takes args (without the program's name) and returns the exit status. It calls wrote for each written file.
func run(args []string, stdout, stderr io.Writer, wrote func(file string)) int {
	out, messages := printable.NewWriter(stdout), printable.NewWriter(stderr) // the output has no control sequences for terminals
	code := command(args, out, messages, wrote)
	if err := errors.Join(out.Flush(), messages.Flush()); err != nil && code == exitDone {
		return exitOutput
	}
	return code
}

func command(args []string, stdout, stderr io.Writer, wrote func(string)) int {
	err := generate(args, stdout, wrote)
	if errors.Is(err, flag.ErrHelp) {
		if _, err = io.WriteString(stdout, helpText); err != nil {
			err = &outputError{err}
		}
	}
	return statusOf("iam", err, stderr)
}

// statusOf prints err, unless it is nil, and returns the exit status.
func statusOf(program string, err error, stderr io.Writer) int {
	var unwritten *outputError
	switch {
	case errors.As(err, &unwritten):
		fmt.Fprintf(stderr, "%s: %s\n", program, err)
		return exitOutput
	case err != nil:
		fmt.Fprintf(stderr, "%s: %s\nRun %[1]s --help for its flags.\n", program, err)
		return exitInput
	}
	return exitDone
}

// commandLine contains the flags while a command line is parsed.
type commandLine struct {
	flags                          *flag.FlagSet
	program                        string
	settings                       iam.Settings
	roles, parameters, out, output string
}

// newCommandLine declares the flags, with their defaults.
func newCommandLine(program string) *commandLine {
	l := &commandLine{flags: flag.NewFlagSet(program, flag.ContinueOnError), program: program}
	f, s := l.flags, &l.settings
	f.SetOutput(io.Discard)
	f.StringVar(&s.ClusterName, "cluster-name", "", "`NAME` of the cluster")
	f.StringVar(&s.Region, "region", "", "`REGION` of the cluster, such as eu-central-1; it determines the partition")
	f.StringVar(&s.AccountID, "account-id", "", "account in which instances are launched: `ID` has twelve digits")
	f.StringVar(&l.roles, "node-roles", "", "roles of instances: `LIST` of names or ARNs, such as a,b")
	f.StringVar(&s.Queue, "queue", "", "`NAME` of the queue of interruption events; empty: no queue and no event rules")
	f.StringVar(&s.ServiceAccount, "service-account", "", "`NAMESPACE/NAME` of the service account of the controller's pods (default kube-system/drawknife)")
	f.StringVar(&s.OIDCIssuer, "oidc-issuer", "", "`URL` of the issuer of the cluster's tokens, which may then assume the controller's role (default: none, the role trusts EKS Pod Identity)")
	f.StringVar(&l.parameters, "ssm-parameters", "", "`LIST` of SSM parameters from which node classes read images, in addition to those of AWS")
	f.BoolVar(&s.IsolatedVPC, "isolated-vpc", false, "leave out permissions for services that an isolated VPC cannot reach, such as the price list")
	f.BoolVar(&s.WithoutReservedCapacity, "without-reserved-capacity", false, "leave out the permissions for capacity reservations")
	f.BoolVar(&s.WithoutInstanceProfiles, "without-instance-profiles", false, "leave out the permissions to create instance profiles: node classes name them")
	f.BoolVar(&s.WithoutEKS, "without-eks", false, "leave out the permissions for EKS: the cluster is not on EKS, or its details are configured")
	f.BoolVar(&s.ZonalShift, "zonal-shift", false, "allow asking ARC for zones that the cluster is shifted away from")
	f.BoolVar(&s.Commitments, "commitments", false, "allow reading Savings Plans and Reserved Instances")
	f.BoolVar(&s.CostExplorer, "cost-explorer", false, "with --commitments: allow asking Cost Explorer for the use of commitments, and for discounts")
	f.BoolVar(&s.WarmPools, "warm-pools", false, "allow stopping and starting instances for warm pools")
	f.BoolVar(&s.DedicatedHosts, "dedicated-hosts", false, "allow launches on Dedicated Hosts and in host resource groups")
	f.BoolVar(&s.LicenseConfigurations, "license-configurations", false, "allow launches with licence configurations of AWS License Manager")
	f.BoolVar(&s.SpotPlacementScores, "spot-placement-scores", false, "allow asking EC2 how likely spot launches are to succeed")
	f.BoolVar(&s.ServeAlpha, "serve-alpha", false, "add a policy for instances of Provisioners, which have other tags")
	f.BoolVar(&s.CapacityBlocks, "capacity-blocks", false, "add a policy for users who look for capacity blocks")
	f.BoolVar(&s.PurchaseCapacityBlocks, "purchase-capacity-blocks", false, "add a policy for users who look for capacity blocks and buy them")
	f.BoolVar(&s.VerifyMigration, "verify-migration", false, "add a policy for users who check a migration; attach it together with the policy for discovery")
	f.BoolVar(&s.SpotServiceLinkedRole, "spot-service-linked-role", false, "allow the first spot launch to create the account's service-linked role for spot")
	f.StringVar(&l.out, "out", "", "write the files into `DIR`, which is created if it does not exist")
	f.StringVar(&l.output, "output", outputText, "`FORMAT`: text, the purpose of each file; json, all documents as one JSON document; cloudformation, terraform or eksctl, all documents as input for that tool")
	f.Var(f.Lookup("output").Value, "o", "")
	return l
}

func generate(args []string, stdout io.Writer, wrote func(string)) error {
	l := newCommandLine("iam")
	asked := l.flags.Bool("version", false, "")
	if err := l.flags.Parse(args); err != nil {
		return spelling.Flag(err, l.flags)
	}
	if *asked {
		if _, err := io.WriteString(stdout, version.Line("iam")); err != nil {
			return &outputError{err}
		}
		return nil
	}
	return l.generate(l.flags.Args(), stdout, wrote)
}

// generate makes the documents, writes them to files if the user names a folder, and prints them in the form of --output.
func (l *commandLine) generate(arguments []string, stdout io.Writer, wrote func(string)) error {
	if len(arguments) > 0 {
		return fmt.Errorf("%q: arguments are not accepted, only flags", arguments[0])
	}
	if !slices.Contains(outputs(), l.output) {
		return fmt.Errorf("--output %q: not one of %s", l.output, strings.Join(outputs(), ", "))
	}
	s := l.settings
	s.NodeRoles, s.SSMParameters = list(l.roles), list(l.parameters)
	setup, err := iam.Generate(s)
	if err != nil {
		return err
	}
	if l.out != "" {
		if err := write(l.out, setup.Files(), wrote); err != nil {
			return &outputError{err}
		}
	}
	return show(l.output, s, setup, stdout)
}

// Forms of --output.
const (
	outputText           = "text"
	outputJSON           = "json"
	outputCloudFormation = "cloudformation"
	outputTerraform      = "terraform"
	outputEksctl         = "eksctl"
)

func outputs() []string {
	return []string{outputText, outputJSON, outputCloudFormation, outputTerraform, outputEksctl}
}

// show prints the setup in the form of --output.
func show(output string, s iam.Settings, setup iam.Setup, stdout io.Writer) error {
	var document []byte
	var err error
	switch output {
	case outputCloudFormation:
		document, err = iam.CloudFormation(s)
	case outputTerraform:
		document, err = iam.Terraform(s)
	case outputEksctl:
		document, err = iam.Eksctl(s)
	}
	if err != nil {
		return err
	}
	switch output {
	case outputText:
		err = describe(setup, stdout)
	case outputJSON:
		encoder := json.NewEncoder(stdout)
		encoder.SetIndent("", "  ")
		encoder.SetEscapeHTML(false)
		err = encoder.Encode(newDocument(setup))
	default:
		_, err = stdout.Write(document)
	}
	if err != nil {
		return &outputError{err}
	}
	return nil
}

// document is the output of -o json: a setup with apiVersion and kind. Keys are never renamed or removed.
type document struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	iam.Setup
}

func newDocument(setup iam.Setup) document { return document{"iam.drawknife.dev/v1", "Setup", setup} }

// list returns the entries of a comma-separated text.
func list(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(text, ",")
}

func write(dir string, files []iam.File, wrote func(string)) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, f := range files {
		name := filepath.Join(dir, f.Name)
		if err := os.WriteFile(name, f.Data, 0o644); err != nil {
			return err
		}
		wrote(name)
	}
	return nil
}

// describe prints the purpose of each file.
func describe(setup iam.Setup, stdout io.Writer) error {
	what := map[string]string{
		"controller-role-trust.json": "trust policy of the controller's role",
		"node-role-trust.json":       "trust policy of the instances' role",
		"node-role-mappings.json":    "mapRoles of the ConfigMap kube-system/aws-auth, where there are no access entries",
		"queue-attributes.json":      "attributes of the queue of interruption events",
	}
	for _, p := range setup.ControllerPolicies {
		what[p.Name+".json"] = "policy of the controller's role"
	}
	for _, r := range setup.Rules {
		what["rule-"+r.Name+".json"] = "event pattern of the rule " + r.Name
	}
	w := tabwriter.NewWriter(stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "FILE\tWHAT IT IS")
	for _, f := range setup.Files() {
		fmt.Fprintf(w, "%s\t%s\n", f.Name, what[f.Name])
	}
	fmt.Fprintln(w, "\nThe instances' role has AWS's own policies:")
	for _, arn := range setup.NodeRole.ManagedPolicies {
		fmt.Fprintln(w, arn)
	}
	return w.Flush()
}

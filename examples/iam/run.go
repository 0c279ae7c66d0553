package main

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

// helpText is what --help prints.
//
//go:embed help.txt
var helpText string

// Exit statuses, part of the contract in the package comment and in --help.
const (
	// exitDone: all was written.
	exitDone = 0
	// exitInput: bad usage; nothing was written.
	exitInput = 1
	// exitOutput: a file, or what is printed, could not be written.
	exitOutput = 5
)

// outputError is what could not be written.
type outputError struct{ cause error }

func (e *outputError) Error() string { return "writing: " + e.cause.Error() }
func (e *outputError) Unwrap() error { return e.cause }

// run is the command: it takes args (without the program's name) and returns the exit status. It calls wrote for each file.
func run(args []string, stdout, stderr io.Writer, wrote func(file string)) int {
	out, messages := printable.NewWriter(stdout), printable.NewWriter(stderr) // what is printed steers no terminal
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
	var unwritten *outputError
	switch {
	case errors.As(err, &unwritten):
		fmt.Fprintf(stderr, "iam: %s\n", err)
		return exitOutput
	case err != nil:
		fmt.Fprintf(stderr, "iam: %s\nRun iam --help for its flags.\n", err)
		return exitInput
	}
	return exitDone
}

func generate(args []string, stdout io.Writer, wrote func(string)) error {
	var s iam.Settings
	var roles, parameters, out, output string
	flags := flag.NewFlagSet("iam", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.StringVar(&s.ClusterName, "cluster-name", "", "")
	flags.StringVar(&s.Region, "region", "", "")
	flags.StringVar(&s.AccountID, "account-id", "", "")
	flags.StringVar(&roles, "node-roles", "", "")
	flags.StringVar(&s.Queue, "queue", "", "")
	flags.StringVar(&s.ServiceAccount, "service-account", "", "")
	flags.StringVar(&s.OIDCIssuer, "oidc-issuer", "", "")
	flags.StringVar(&parameters, "ssm-parameters", "", "")
	flags.BoolVar(&s.IsolatedVPC, "isolated-vpc", false, "")
	flags.BoolVar(&s.WithoutReservedCapacity, "without-reserved-capacity", false, "")
	flags.BoolVar(&s.WithoutInstanceProfiles, "without-instance-profiles", false, "")
	flags.BoolVar(&s.WithoutEKS, "without-eks", false, "")
	flags.BoolVar(&s.ZonalShift, "zonal-shift", false, "")
	flags.BoolVar(&s.Commitments, "commitments", false, "")
	flags.BoolVar(&s.CostExplorer, "cost-explorer", false, "")
	flags.BoolVar(&s.SpotPlacementScores, "spot-placement-scores", false, "")
	flags.BoolVar(&s.ServeAlpha, "serve-alpha", false, "")
	flags.BoolVar(&s.CapacityBlocks, "capacity-blocks", false, "")
	flags.BoolVar(&s.PurchaseCapacityBlocks, "purchase-capacity-blocks", false, "")
	flags.BoolVar(&s.VerifyMigration, "verify-migration", false, "")
	flags.BoolVar(&s.SpotServiceLinkedRole, "spot-service-linked-role", false, "")
	flags.StringVar(&out, "out", "", "")
	flags.StringVar(&output, "output", outputText, "")
	flags.StringVar(&output, "o", outputText, "")
	asked := flags.Bool("version", false, "")
	if err := flags.Parse(args); err != nil {
		return spelling.Flag(err, flags)
	}
	if *asked {
		if _, err := io.WriteString(stdout, version.Line("iam")); err != nil {
			return &outputError{err}
		}
		return nil
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("%q: arguments are not accepted, only flags", flags.Arg(0))
	}
	if !slices.Contains(outputs(), output) {
		return fmt.Errorf("--output %q: not one of %s", output, strings.Join(outputs(), ", "))
	}
	s.NodeRoles, s.SSMParameters = list(roles), list(parameters)
	setup, err := iam.Generate(s)
	if err != nil {
		return err
	}
	if out != "" {
		if err := write(out, setup.Files(), wrote); err != nil {
			return &outputError{err}
		}
	}
	return show(output, s, setup, stdout)
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
		err = encoder.Encode(setup)
	default:
		_, err = stdout.Write(document)
	}
	if err != nil {
		return &outputError{err}
	}
	return nil
}

// list reads a comma-separated flag.
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

// describe says what each file is for.
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

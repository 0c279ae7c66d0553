// Command controller runs drawknife as a node autoscaler in a Kubernetes cluster. See README.md.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/drawknife/drawknife/examples/settings"
	"github.com/drawknife/drawknife/internal/version"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// Exit codes.
const (
	exitDone   = 0
	exitFailed = 1
	exitUsage  = 2
	// exitFindings means that a dry run found something that a takeover of the cluster would change.
	exitFindings = 3
)

// run is the program; it returns its exit code. Its output contains no terminal control characters.
func run(ctx context.Context, args []string, out, trouble io.Writer) int {
	out, trouble = escaped{out}, escaped{trouble}
	if asksVersion(args) {
		fmt.Fprint(out, version.Line("controller"))
		return exitDone
	}
	var extra extraFlags
	loaded, err := load(ctx, settings.Sources{Args: args, LookupEnv: os.LookupEnv, ReadFile: settings.ReadFile, MoreFlags: extra.register})
	var help *settings.HelpError
	switch {
	case errors.As(err, &help):
		fmt.Fprint(out, usage, help.Usage)
		return exitDone
	case err != nil:
		fmt.Fprintln(trouble, err)
		return exitUsage
	}
	if p := &loaded.Settings.Process; p.Adopt == settings.AdoptDryRun {
		p.LogOutputPaths = []string{"stderr"} // the table is written to standard output
	}
	logger, closeLog, err := newLogger(loaded.Settings.Process, out, trouble)
	if err != nil {
		fmt.Fprintln(trouble, err)
		return exitFailed
	}
	defer closeLog()
	for _, warning := range append(loaded.Warnings, idle(loaded)...) {
		logger.Warn("found problem in settings", "code", string(warning.Code), "problem", warning.Message)
	}
	for _, value := range loaded.Effective() {
		logger.Debug("read setting", "name", value.Name, "value", value.Text, "source", value.Source)
	}
	extra.out = out
	err = serve(ctx, loaded.Settings, extra, logger)
	if errors.Is(err, errFindings) {
		fmt.Fprintln(trouble, err)
		return exitFindings
	}
	if err != nil && !errors.Is(err, context.Canceled) {
		logger.Error("stopped controller", "error", err)
		return exitFailed
	}
	return exitDone
}

// extraFlags are the program's own flags, in addition to the settings.
type extraFlags struct {
	catalog string
	// out receives output for the user.
	out io.Writer
}

func (e *extraFlags) register(fs *flag.FlagSet) {
	fs.StringVar(&e.catalog, "fake-catalog", "generic", "instance types of the fake provider: generic")
}

const usage = `controller scales the nodes of a Kubernetes cluster.

  controller --provider fake --allow-simulated-nodes --kubeconfig ~/.kube/config --install-crds
        tries it out on any cluster, with simulated nodes
  controller --cluster-name my-cluster
        runs in a pod on EKS and launches EC2 instances
  controller --cluster-name my-cluster --adopt=dry-run
        prints what adopting the nodes of Karpenter would change

Every setting is a flag, an environment variable, or a line of a file (--settings-file). --version prints the version.
Exit codes: 0 stopped by a signal, 1 failed, 2 invalid settings, 3 the dry run found something that would change.

`

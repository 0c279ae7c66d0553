// Command controlplane is a Kubernetes control plane in one binary, for tests: etcd, kube-apiserver,
// kube-controller-manager and kube-scheduler, unchanged, each a subcommand with its own flags.
//
//	controlplane etcd|kube-apiserver|kube-controller-manager|kube-scheduler [flags]
//
// The component may also be chosen by the name the binary is called by, so that a folder with links called "etcd" and
// "kube-apiserver" serves wherever such binaries are asked for. The package internal/e2e/plane builds and runs it; nothing
// else of the project compiles Kubernetes as a whole.
package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	_ "time/tzdata" // time zones of CronJobs, on instances that have none installed

	"github.com/spf13/cobra"
	"go.etcd.io/etcd/server/v3/etcdmain"
	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	controllermanager "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
)

// parentPipe, set in the environment, says that standard input is a pipe whose other end the parent alone holds. However
// the parent dies, the kernel closes it, and nothing is left behind. (A signal on the parent's death would be sent when
// the thread ends that started the child, which in a Go program is not the end of the process.)
const parentPipe = "CONTROLPLANE_PARENT_PIPE"

// parentGone is the exit status after the end of the parent.
const parentGone = 3

// components by name. A command is made only when it is asked for: the API server's installs the one handler of signals
// that a process may have.
var components = map[string]func(){
	"etcd":                    func() { etcdmain.Main(os.Args) },
	"kube-apiserver":          func() { run(apiserver.NewAPIServerCommand()) },
	"kube-controller-manager": func() { run(controllermanager.NewControllerManagerCommand()) },
	"kube-scheduler":          func() { run(scheduler.NewSchedulerCommand()) },
}

func run(command *cobra.Command) { os.Exit(cli.Run(command)) }

func main() {
	component := components[strings.TrimSuffix(filepath.Base(os.Args[0]), ".exe")]
	if component == nil && len(os.Args) > 1 {
		os.Args = os.Args[1:]
		component = components[os.Args[0]]
	}
	if component == nil {
		fmt.Fprintln(os.Stderr, "usage: controlplane etcd|kube-apiserver|kube-controller-manager|kube-scheduler [flags]")
		os.Exit(2)
	}
	if os.Getenv(parentPipe) != "" {
		go func() {
			_, _ = io.Copy(io.Discard, os.Stdin)
			os.Exit(parentGone)
		}()
	}
	component()
}

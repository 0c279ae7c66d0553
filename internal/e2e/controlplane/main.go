// Command controlplane is a Kubernetes control plane in one binary, for tests. It has etcd, kube-apiserver, kube-controller-manager and
// kube-scheduler, all unchanged. Each is a subcommand with its own flags.
//
//	controlplane etcd|kube-apiserver|kube-controller-manager|kube-scheduler [flags]
//
// The name of the binary may also select the component. So a folder with links called "etcd" and "kube-apiserver" can be used by programs
// that need such binaries. Package internal/e2e/plane builds and runs it. No other part of the project compiles the whole of Kubernetes.
package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	_ "time/tzdata" // time zones for CronJobs, on systems without a time zone database

	"github.com/spf13/cobra"
	"go.etcd.io/etcd/server/v3/etcdmain"
	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	controllermanager "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
)

// If the environment variable parentPipe is set, standard input is a pipe, and only the parent process has its other end. However the
// parent ends, the kernel closes the pipe. The component then exits, so no process is left behind. (Linux can also send a signal when the
// parent ends, but it sends the signal when the thread that started the child ends. In a Go program this may be earlier than the end of the
// process.)
const parentPipe = "CONTROLPLANE_PARENT_PIPE"

// parentGone is the exit status if the parent has ended.
const parentGone = 3

// components by name. Only the command that runs is created: the API server's command installs a signal handler, and a process may have
// only one.
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

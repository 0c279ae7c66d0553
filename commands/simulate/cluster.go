package simulate

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"

	"github.com/drawknife/drawknife/scheduling/manifests"
)

// clusterOptions say which running cluster is read. kubectl reads it, with the user's own configuration and permissions.
type clusterOptions struct {
	// context and kubeconfig are kubectl's flags with the same names; empty for kubectl's defaults.
	context, kubeconfig string
	// namespace restricts the pods that are planned to one namespace; empty for all.
	namespace string
	// all means that the cluster of the current context is read, with the pods of all namespaces.
	all bool
	// save is the file to which the objects that were read are written; empty if they are not saved.
	save string
	// kubectl is the path of the program kubectl; if empty, it is searched in the folders of PATH.
	kubectl string
}

// asked reports whether the user wants a running cluster to be read.
func (o clusterOptions) asked() bool {
	return o.all || o.context != "" || o.kubeconfig != "" || o.namespace != ""
}

// addCluster declares the flags for reading a running cluster.
func (l *commandLine) addCluster() {
	c := &l.read.cluster
	l.text(&c.context, "context", "read the running cluster of this `CONTEXT` of your kubeconfig")
	l.text(&c.kubeconfig, "kubeconfig", "read the running cluster, with this kubeconfig `FILE`")
	l.boolean(&c.all, "all-namespaces", "read the running cluster of the current context, and plan the pods of all namespaces")
	l.also("A", "all-namespaces")
	l.text(&c.namespace, "namespace", "read the running cluster, and plan only the pending pods of this `NAMESPACE`; running pods of other namespaces stay on their nodes")
	l.also("n", "namespace")
	l.text(&c.save, "save", "write the objects that were read from the cluster to this `FILE`, as JSON that only you can read (mode 0600); use it later as an input")
}

// clusterKinds returns the resources that plans depend on, by the names that "kubectl api-resources -o name" prints. A cluster may lack
// some of these resources.
func clusterKinds() []string {
	return []string{
		"nodes", "pods", "daemonsets.apps", "replicasets.apps", "statefulsets.apps", "replicationcontrollers", "services", "namespaces",
		"limitranges", "poddisruptionbudgets.policy", "priorityclasses.scheduling.k8s.io", "runtimeclasses.node.k8s.io",
		"persistentvolumes", "persistentvolumeclaims", "storageclasses.storage.k8s.io", "csinodes.storage.k8s.io",
		"volumeattachments.storage.k8s.io", "deployments.apps", "jobs.batch", "podtemplates",
		"nodepools.karpenter.sh", "nodeclaims.karpenter.sh", "nodeoverlays.karpenter.sh", "ec2nodeclasses.karpenter.k8s.aws",
		"provisioners.karpenter.sh", "machines.karpenter.sh", "awsnodetemplates.karpenter.k8s.aws",
		"resourceclaims.resource.k8s.io", "resourceclaimtemplates.resource.k8s.io", "resourceslices.resource.k8s.io", "deviceclasses.resource.k8s.io",
		"podgroups.scheduling.k8s.io", "workloads.scheduling.k8s.io", "podgroups.scheduling.x-k8s.io", "podgroups.scheduling.volcano.sh",
		"provisioningrequests.autoscaling.x-k8s.io", "capacitybuffers.autoscaling.x-k8s.io",
	}
}

// readCluster reads the objects of clusterKinds from the running cluster.
func (s *simulation) readCluster(ctx context.Context) (manifests.Source, error) {
	s.progress.Enter("asking the cluster which kinds it has")
	printed, err := s.kubectl(ctx, "api-resources", "--verbs=list", "-o", "name")
	if err != nil {
		return manifests.Source{}, err
	}
	served := strings.Fields(string(printed))
	var kinds []string
	for _, kind := range clusterKinds() {
		if slices.Contains(served, kind) {
			kinds = append(kinds, kind)
		}
	}
	if !slices.Contains(kinds, "nodes") || !slices.Contains(kinds, "pods") {
		return manifests.Source{}, errors.New("kubectl api-resources: the cluster does not list both nodes and pods: check the context that \"kubectl config current-context\" prints")
	}
	s.progress.Enter("reading the cluster")
	data, err := s.kubectl(ctx, "get", strings.Join(kinds, ","), "--all-namespaces", "-o", "json")
	if err != nil {
		return manifests.Source{}, err
	}
	if s.cluster.save != "" {
		if err := os.WriteFile(s.cluster.save, data, 0o600); err != nil {
			return manifests.Source{}, withStatus(exitOutput, fmt.Errorf("--save: %w", err))
		}
		s.done.wrote(s.cluster.save)
	}
	return manifests.Source{Name: "the cluster", Data: data}, nil
}

// kubectl runs kubectl and returns its output.
func (s *simulation) kubectl(ctx context.Context, args ...string) ([]byte, error) {
	program := s.cluster.kubectl
	if program == "" {
		program = "kubectl"
	}
	if s.cluster.context != "" {
		args = append(args, "--context="+s.cluster.context)
	}
	if s.cluster.kubeconfig != "" {
		args = append(args, "--kubeconfig="+s.cluster.kubeconfig)
	}
	var out, messages bytes.Buffer
	command := exec.CommandContext(ctx, program, args...)
	command.Stdout, command.Stderr = &out, &messages
	err := command.Run()
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return nil, withStatus(exitCloud, fmt.Errorf("reading the cluster needs kubectl, which is in no folder of PATH: install it, or give this program the output of \"kubectl get -A -o json ...\": %w", err))
	case err != nil && ctx.Err() != nil:
		return nil, fmt.Errorf("kubectl %s: %w", args[0], context.Cause(ctx))
	case err != nil:
		return nil, withStatus(exitCloud, fmt.Errorf("kubectl %s: %w: %s", args[0], err, strings.TrimSpace(messages.String())))
	}
	return out.Bytes(), nil
}

// ofNamespace removes the pending pods of namespaces other than that of --namespace. Pods that run on nodes are not pending, so they stay
// in the input.
func (s *simulation) ofNamespace(loaded *manifests.Result) {
	if s.cluster.namespace == "" {
		return
	}
	snapshot := loaded.Snapshot
	before := len(snapshot.Pods)
	kept := snapshot.Pods[:0:0]
	for _, p := range snapshot.Pods {
		if p.Namespace == s.cluster.namespace {
			kept = append(kept, p)
		}
	}
	snapshot.Pods = kept
	if n := before - len(kept); n > 0 {
		s.note("OtherNamespaces", "%s of other namespaces than %s: not planned", counted(n, "waiting pod"), s.cluster.namespace)
	}
}

package plane

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Names of files in the data folder, which are used in flags.
const (
	adminKubeconfig             = "admin.kubeconfig"
	schedulerKubeconfig         = "scheduler.kubeconfig"
	controllerManagerKubeconfig = "controller-manager.kubeconfig"
	schedulerConfiguration      = "scheduler.yaml"
)

// controllers returns the controllers of kube-controller-manager that matter for a node autoscaler. The other controllers are off:
// endpoints and slices, horizontal autoscaling, certificate signing, bootstrap tokens, address management, and storage versions.
// "controlplane kube-controller-manager --help" prints the names of all controllers.
func controllers() string {
	return strings.Join([]string{
		"serviceaccount-controller", "serviceaccount-token-controller", "root-ca-certificate-publisher-controller",
		"namespace-controller", "garbage-collector-controller", "clusterrole-aggregation-controller",
		"deployment-controller", "replicaset-controller", "daemonset-controller", "statefulset-controller",
		"job-controller", "cronjob-controller", "ttl-after-finished-controller",
		"disruption-controller", "pod-garbage-collector-controller",
		"node-lifecycle-controller", "taint-eviction-controller", "resourcequota-controller",
		"persistentvolume-binder-controller", "persistentvolume-attach-detach-controller",
		"persistentvolumeclaim-protection-controller", "persistentvolume-protection-controller",
		"ephemeral-volume-controller", "resourceclaim-controller", "validatingadmissionpolicy-status-controller",
		"podgroup-protection-controller",
	}, ",")
}

// etcdSocket returns the path of the socket on which etcd serves. A socket needs no free port, and no other user can reach it.
func (c *ControlPlane) etcdSocket() string { return "unix://" + c.path("etcd.sock") }

func (c *ControlPlane) etcdFlags() []string {
	return []string{
		"--data-dir=" + c.path("etcd"),
		"--listen-client-urls=" + c.etcdSocket(),
		"--advertise-client-urls=http://127.0.0.1:0", // etcd refuses a unix URL here, and nothing reads this URL
		"--listen-peer-urls=http://127.0.0.1:0",
		"--unsafe-no-fsync",
		"--log-level=warn",
	}
}

func (c *ControlPlane) apiServerFlags() []string {
	flags := append(c.gateFlags(),
		"--etcd-servers="+c.etcdSocket(),
		"--bind-address=127.0.0.1",
		"--advertise-address=127.0.0.1", // otherwise the API server looks for a default route
		"--endpoint-reconciler-type=none",
		"--secure-port="+strconv.Itoa(c.port),
		"--tls-cert-file="+c.path("serving.crt"),
		"--tls-private-key-file="+c.path("serving.key"),
		"--client-ca-file="+c.path("ca.crt"),
		"--anonymous-auth=false",
		"--authorization-mode=RBAC",
		"--service-account-issuer=https://kubernetes.default.svc",
		"--service-account-key-file="+c.path("sa.pub"),
		"--service-account-signing-key-file="+c.path("sa.key"),
		"--service-cluster-ip-range=10.0.0.0/24",
		"--allow-privileged=true",
		"--profiling=false",
		"--v="+strconv.Itoa(c.options.Verbosity),
	)
	if config := c.options.RuntimeConfig; len(config) > 0 {
		flags = append(flags, "--runtime-config="+strings.Join(config, ","))
	}
	return flags
}

// gateFlags returns the flags for every component except etcd.
func (c *ControlPlane) gateFlags() []string {
	if len(c.options.FeatureGates) == 0 {
		return nil
	}
	return []string{"--feature-gates=" + strings.Join(c.options.FeatureGates, ",")}
}

func (c *ControlPlane) controllerManagerFlags() []string {
	return append(c.gateFlags(),
		"--kubeconfig="+c.path(controllerManagerKubeconfig),
		"--secure-port=0",
		"--leader-elect=false",
		"--use-service-account-credentials=true", // each controller has its own rights, as in a real cluster
		"--service-account-private-key-file="+c.path("sa.key"),
		"--root-ca-file="+c.path("ca.crt"),
		"--controllers="+controllers(),
		"--kube-api-qps=500", "--kube-api-burst=1000",
		"--node-monitor-period=1s",
		"--node-monitor-grace-period="+c.options.NodeMonitorGracePeriod.String(),
		"--flex-volume-plugin-dir="+c.path("flexvolume"), // otherwise the controller manager creates a folder under /usr/libexec
		"--pvclaimbinder-sync-period=2s",
		"--attach-detach-reconcile-sync-period=2s",
		"--v="+strconv.Itoa(c.options.Verbosity),
	)
}

func (c *ControlPlane) schedulerFlags() []string {
	return append(c.gateFlags(), "--config="+c.path(schedulerConfiguration), "--secure-port=0", "--v="+strconv.Itoa(c.options.Verbosity))
}

// writeSchedulerConfiguration shortens the back-off of pods that no node accepts. With the default of ten seconds, each step of a test in
// which a new node receives a pod would take that much longer.
func (c *ControlPlane) writeSchedulerConfiguration() error {
	return os.WriteFile(c.path(schedulerConfiguration), fmt.Appendf(nil, `apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
clientConnection: {kubeconfig: %q, qps: 500, burst: 1000}
leaderElection: {leaderElect: false}
podInitialBackoffSeconds: 1
podMaxBackoffSeconds: 2
`, c.path(schedulerKubeconfig)), 0o600)
}

// path returns the path of a file in the data folder.
func (c *ControlPlane) path(name string) string { return filepath.Join(c.dir, name) }

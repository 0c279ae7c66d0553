// Package e2e has the tests of the controller on a real control plane. The control plane runs etcd, kube-apiserver, kube-scheduler and
// kube-controller-manager of a Kubernetes release as processes. Kubelets are simulated on the instances of package fake.
//
//	go -C internal/e2e run ./up -build-only                # once: builds the control plane, many minutes, and keeps it
//	go -C internal/e2e run ./up -kueue                     # likewise Kueue, some minutes; without it its tests are skipped
//	go -C internal/e2e test -v -timeout 60m .              # all scenarios
//	go -C internal/e2e test -v -short -timeout 10m .       # their short form, as .ci/run does
//
// Package plane builds and runs the control plane's binary. Package kubelet of the example controller simulates the nodes. Package harness
// connects both with a fake cloud and waits for events. Scenarios are tests of this package. They run one after another, because nodes are
// not in namespaces. All of them share one control plane, except the tests of batch jobs, which share a second one.
package e2e

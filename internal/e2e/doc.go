// Package e2e holds the tests of the controller on a real control plane: etcd, kube-apiserver, kube-scheduler and
// kube-controller-manager of a Kubernetes release as processes, with simulated kubelets on the instances of package fake.
//
//	go -C internal/e2e run ./up -build-only                # once: builds the control plane, many minutes, and keeps it
//	go -C internal/e2e run ./up -kueue                     # likewise Kueue, some minutes; without it its tests are skipped
//	go -C internal/e2e test -v -timeout 60m .              # all scenarios
//	go -C internal/e2e test -v -short -timeout 10m .       # their short form, as .ci/run does
//
// Package plane builds the control plane's binary and runs it, package kubelet of the example controller plays the nodes,
// harness puts both together with a fake cloud and waits for things to happen. Scenarios are tests of this package; all share
// one control plane, those of batch jobs another, and run one after the other, since nodes belong to no namespace.
package e2e

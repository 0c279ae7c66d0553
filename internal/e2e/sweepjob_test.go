package e2e_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/drawknife/drawknife/internal/e2e/harness"
)

// sweepVolume is the claim of the volume that the pods of a sweep share.
const sweepVolume = "sweep"

// TestSweepJob runs a sweep as an Indexed Job: each pod is a process of the program drawknife, some processes are killed before their shard is
// complete, and the Job controller replaces their pods. The report has the same bytes as that of one process.
func TestSweepJob(t *testing.T) {
	shards, killed := 200, 20
	if testing.Short() {
		shards, killed = 24, 4
	}
	work := t.TempDir()
	drawknife := filepath.Join(t.TempDir(), "drawknife")
	if output, err := exec.Command("go", "build", "-C", "../../examples/drawknife", "-ldflags=-s -w", "-o", drawknife, ".").CombinedOutput(); err != nil {
		t.Fatalf("building drawknife: %v\n%s", err, output)
	}
	writeSweep(t, work, shards)

	// The first processes of every third shard are killed, until enough have died. One that has finished before it is killed does not count.
	started := make([]atomic.Int32, shards)
	var left, died atomic.Int32
	left.Store(int32(killed))
	cluster := server.Start(t, harness.Options{Run: func(ctx context.Context, pod *corev1.Pod) int {
		index, err := strconv.Atoi(pod.Annotations[batchv1.JobCompletionIndexAnnotation])
		if err != nil {
			return 1
		}
		container := pod.Spec.Containers[0]
		c := exec.CommandContext(ctx, drawknife, container.Args...)
		c.Dir, c.Env = work, append(os.Environ(), "JOB_COMPLETION_INDEX="+strconv.Itoa(index))
		var stderr bytes.Buffer
		c.Stderr = &stderr
		if err := c.Start(); err != nil {
			t.Error(err)
			return 1
		}
		kill := index%3 == 0 && started[index].Add(1) == 1
		if kill && left.Add(-1) < 0 {
			left.Add(1)
			kill = false
		}
		if kill {
			killAfterFirstCell(c.Process, filepath.Join(work, "results", "cells", fmt.Sprintf("%06d.json", index)))
		}
		err = c.Wait()
		var exited *exec.ExitError
		switch {
		case err == nil:
			if kill {
				left.Add(1)
			}
			return 0
		case errors.As(err, &exited) && exited.Sys().(syscall.WaitStatus).Signal() == syscall.SIGKILL:
			died.Add(1)
			return 128 + int(syscall.SIGKILL)
		}
		t.Logf("shard %d: %v: %s", index, err, &stderr)
		return c.ProcessState.ExitCode()
	}})
	launch(t, cluster, "one", zoneA)
	launch(t, cluster, "two", zoneA)
	welcome(t, cluster, 2)
	createSharedVolume(t, cluster, sweepVolume)

	answer := run(t, work, drawknife, "sweep", "manifest", "grid.yaml", "--shards="+strconv.Itoa(shards), "--parallel=4", "--results=results",
		"--image=registry.example.com/drawknife:1", "--claim="+sweepVolume, "--name=sweep", "--memory=512Mi")
	var job batchv1.Job
	if err := yaml.UnmarshalStrict([]byte(answer), &job); err != nil {
		t.Fatal(err)
	}
	if _, err := cluster.Client.BatchV1().Jobs(cluster.Namespace).Create(t.Context(), &job, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	cluster.Eventually("the job is complete", 20*time.Minute, jobComplete(t, cluster, "sweep"))
	cluster.Note("%d shards done, %d killed", shards, died.Load())
	if int(died.Load()) != killed {
		t.Errorf("%d processes were killed, want %d", died.Load(), killed)
	}
	done, err := cluster.Client.BatchV1().Jobs(cluster.Namespace).Get(t.Context(), "sweep", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if int(done.Status.Succeeded) != shards || int(done.Status.Failed) != killed || done.Status.FailedIndexes != nil && *done.Status.FailedIndexes != "" {
		t.Errorf("status of the job: %+v", done.Status)
	}

	many := run(t, work, drawknife, "sweep", "reduce", "grid.yaml", "--results=results", "-o=json")
	run(t, work, drawknife, "sweep", "shard", "grid.yaml", "--results=single", "--index=0")
	one := run(t, work, drawknife, "sweep", "reduce", "grid.yaml", "--results=single", "-o=json")
	if many != one {
		t.Errorf("the report of %d shards has %d bytes and differs from that of one process with %d", shards, len(many), len(one))
	}
	cluster.Note("reports compared")
}

// writeSweep writes a grid with four cells for each shard, and the cluster that its cells plan.
func writeSweep(t *testing.T, dir string, shards int) {
	t.Helper()
	const cluster = `apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  replicas: 30
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, resources: {requests: {cpu: 700m, memory: 1Gi}}}]}
`
	grid := `apiVersion: drawknife.dev/v1
kind: Sweep
command: plan
arguments: [cluster.yaml, --now=2026-01-01T00:00:00Z]
axes:
- name: types
  values:
  - {name: all}
  - {name: strict, arguments: [--min-values=strict]}
  - {name: respect, arguments: [--preferences=respect]}
  - {name: ignore, arguments: [--preferences=ignore]}
- name: seed
  values:
`
	for i := range shards {
		grid += fmt.Sprintf("  - {name: s%d, arguments: [--timeout=%ds]}\n", i, 1000+i)
	}
	for name, text := range map[string]string{"grid.yaml": grid, "cluster.yaml": cluster} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// killAfterFirstCell kills a process as soon as it has written its first result.
func killAfterFirstCell(process *os.Process, first string) {
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		if _, err := os.Stat(first); err == nil {
			break
		}
	}
	_ = process.Kill()
}

// createSharedVolume creates a claim that is bound to a volume of its own, which all nodes can mount.
func createSharedVolume(t *testing.T, cluster *harness.Cluster, name string) {
	t.Helper()
	none := ""
	size := corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}
	modes := []corev1.PersistentVolumeAccessMode{corev1.ReadWriteMany}
	volume := &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{GenerateName: name + "-"}}
	volume.Spec.Capacity, volume.Spec.AccessModes = size, modes
	volume.Spec.NFS = &corev1.NFSVolumeSource{Server: "nfs.example.com", Path: "/" + name}
	volume.Spec.ClaimRef = &corev1.ObjectReference{Namespace: cluster.Namespace, Name: name}
	volume, err := cluster.Client.CoreV1().PersistentVolumes().Create(t.Context(), volume, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := cluster.Client.CoreV1().PersistentVolumes().Delete(context.WithoutCancel(t.Context()), volume.Name, metav1.DeleteOptions{}); err != nil {
			t.Error(err)
		}
	})
	claim := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: name}}
	claim.Spec.StorageClassName, claim.Spec.VolumeName, claim.Spec.AccessModes = &none, volume.Name, modes
	claim.Spec.Resources.Requests = size
	if _, err := cluster.Client.CoreV1().PersistentVolumeClaims(cluster.Namespace).Create(t.Context(), claim, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	cluster.Eventually("the shared volume is bound", patience, func() (bool, string) {
		c, err := cluster.Client.CoreV1().PersistentVolumeClaims(cluster.Namespace).Get(t.Context(), name, metav1.GetOptions{})
		if err != nil {
			return false, err.Error()
		}
		return c.Status.Phase == corev1.ClaimBound, string(c.Status.Phase)
	})
}

// run runs a program in a folder and returns what it printed.
func run(t *testing.T, dir, program string, args ...string) string {
	t.Helper()
	c := exec.Command(program, args...)
	c.Dir = dir
	var stdout, stderr strings.Builder
	c.Stdout, c.Stderr = &stdout, &stderr
	if err := c.Run(); err != nil {
		t.Fatalf("%s: %v: %s", strings.Join(args, " "), err, &stderr)
	}
	return stdout.String()
}

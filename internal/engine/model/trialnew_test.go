package model_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/internal/parts"
)

// RequestedTogether is what pods of several nodes ask for, and Roomiest the nodes with most free of a resource.
func TestModelSumsAndRooms(t *testing.T) {
	m := parts.Compile(t, parts.Cluster(parts.Node("a", parts.Allocatable("cpu=4"), parts.Bound(parts.Pod("p", parts.Requests("cpu=1")), parts.Pod("q", parts.Requests("cpu=500m")))),
		parts.Node("b", parts.Allocatable("cpu=6"), parts.Bound(parts.Pod("r", parts.Requests("cpu=2")))), parts.Node("c", parts.Allocatable("cpu=9"), parts.Bound(parts.Pod("s", parts.Requests("cpu=9"))))))
	all := m.Engine().RequestedTogether([]string{"a", "x", "b"}, func(at int, p *corev1.Pod) bool { return at == 2 || p.Name == "q" })
	if cpu, pods := all.Cpu().String(), all.Pods().String(); cpu != "2500m" || pods != "2" {
		t.Errorf("%s cores of %s pods", cpu, pods)
	}
	rooms := m.Engine().Roomiest(corev1.ResourceCPU)
	if rooms[0].Node != "b" || rooms[0].Free.String() != "4" || rooms[1].Node != "a" || rooms[1].Free.String() != "2500m" {
		t.Errorf("most room: %+v", rooms)
	}
	if none := m.Engine().Roomiest("example.com/none"); none[0].Node != "" || none[1].Node != "" {
		t.Errorf("room for what no node has: %+v", none)
	}
}

// Requested is what those pods ask for that are to move.
func TestModelRequested(t *testing.T) {
	m := parts.Compile(t, parts.Cluster(parts.Node("a", parts.Bound(parts.Pod("p", parts.Requests("cpu=1")), parts.Pod("q", parts.Requests("cpu=500m")))))).Engine()
	all := m.Requested("a", func(p *corev1.Pod) bool { return p.Name == "q" })
	if cpu, pods := all.Cpu().String(), all.Pods().String(); cpu != "500m" || pods != "1" {
		t.Errorf("%s cores of %s pods", cpu, pods)
	}
	if got := m.Requested("x", nil); got != nil {
		t.Errorf("of a node that is not there: %v", got)
	}
}

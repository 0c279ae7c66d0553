package trial

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/drawknife/drawknife/internal/engine/model"
	"github.com/drawknife/drawknife/scheduling/planning"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/drawknife/drawknife/internal/engine/existing"
	"github.com/drawknife/drawknife/internal/engine/resources"
)

// What the index remembers of earlier searches never hides a node with room: it finds what looking at one node after
// the other does, also once more nodes have grown than it remembers.
func TestRoomIndexFindsTheFirst(t *testing.T) {
	amounts := func(cpu, memory int) corev1.ResourceList {
		return corev1.ResourceList{
			corev1.ResourceCPU: *resource.NewQuantity(int64(cpu), resource.DecimalSI), corev1.ResourceMemory: *resource.NewQuantity(int64(memory)<<30, resource.BinarySI),
			corev1.ResourcePods: *resource.NewQuantity(110, resource.DecimalSI),
		}
	}
	const nodes, classes = 37, 6
	s := &planning.Snapshot{}
	var order []int32
	for i := range nodes {
		name := fmt.Sprintf("n%02d", i)
		object := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}
		object.Status.Allocatable = amounts(16, 16)
		s.Nodes = append(s.Nodes, planning.Node{Name: name, Object: object})
		order = append(order, int32(i*5%nodes))
	}
	for i := range classes {
		p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: fmt.Sprint(i)}}
		requests := amounts(1+i*2, 11-i*2)
		delete(requests, corev1.ResourcePods)
		p.Spec.Containers = []corev1.Container{{Name: "main", Resources: corev1.ResourceRequirements{Requests: requests}}}
		s.Pods = append(s.Pods, p)
	}
	m, err := model.Compile(s)
	if err != nil {
		t.Fatal(err)
	}
	of := New(m)
	of.Rooms = of.NewRoomIndex(order)
	random, found := rand.New(rand.NewPCG(1, 2)), 0
	for step := range 3 * mostGrown {
		node := int32(random.IntN(nodes))
		free := of.S.Room.Of(node)
		free[resources.CPU], free[resources.Memory] = m.Free[0]*int64(random.IntN(5))/5, m.Free[1]*int64(random.IntN(5))/5
		if random.IntN(4) == 0 {
			of.S.Room.Usable.Remove(int(node))
		} else {
			of.S.Room.Usable.Add(int(node))
		}
		of.Rooms.update(of, node)
		if step%11 < 7 {
			continue // so that several have changed when next somebody asks
		}
		class := int32(random.IntN(len(m.Classes)))
		need, want := m.Classes[class].Unshared(), int32(-1)
		for _, i := range order {
			if of.S.Room.Usable.Has(int(i)) && resources.Fits(need, of.S.Room.Of(i)) {
				want = i
				break
			}
		}
		if got := of.Rooms.First(m, class, need, existing.FitGivingUp, false, func(int32) bool { return true }); got != want {
			t.Fatalf("step %d, class %d: node %d, want %d", step, class, got, want)
		}
		if want >= 0 {
			found++
		}
	}
	if found == 0 || of.Rooms.trees[0].forgotten == 0 {
		t.Errorf("%d searches found something, %d growths forgotten: nothing was shown", found, of.Rooms.trees[0].forgotten)
	}
}

package planvalidator_test

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/internal/planvalidator"
	"github.com/drawknife/drawknife/scheduling"
)

// anyDevice says that all selectors are true.
type anyDevice struct{}

func (anyDevice) Matches(string, string, *resourcev1.Device) (bool, error) { return true, nil }

// deviceSnapshot has a type with three devices, two of one domain, and so many pods, each with a claim for a number of devices.
func deviceSnapshot(pods int, count int64, same bool) (*scheduling.Snapshot, *scheduling.Plan) {
	s := &scheduling.Snapshot{
		DeviceClasses: []*resourcev1.DeviceClass{{ObjectMeta: metav1.ObjectMeta{Name: "gpu"}}},
		Catalogs:      map[string][]*cloudprovider.InstanceType{"c": {{Name: "t", Devices: []cloudprovider.DevicePool{{Driver: "d"}}}}},
		NodePools:     []scheduling.NodePool{{Object: &v1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: "p"}}, Catalog: "c"}},
	}
	for i := range 3 {
		domain := fmt.Sprint(i / 2)
		s.Catalogs["c"][0].Devices[0].Devices = append(s.Catalogs["c"][0].Devices[0].Devices, resourcev1.Device{
			Name: fmt.Sprint("d", i), Attributes: map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{"domain": {StringValue: &domain}},
		})
	}
	claim := resourcev1.DeviceClaim{Requests: []resourcev1.DeviceRequest{{Name: "r", Exactly: &resourcev1.ExactDeviceRequest{DeviceClassName: "gpu", Count: count}}}}
	if attribute := resourcev1.FullyQualifiedName("d/domain"); same {
		claim.Constraints = []resourcev1.DeviceConstraint{{MatchAttribute: &attribute}}
	}
	s.ResourceClaimTemplates = []*resourcev1.ResourceClaimTemplate{{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "t"}, Spec: resourcev1.ResourceClaimTemplateSpec{Spec: resourcev1.ResourceClaimSpec{Devices: claim}}}}
	s.ResourceClaims = []*resourcev1.ResourceClaim{{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "shared"}, Spec: resourcev1.ResourceClaimSpec{Devices: claim}}}
	node := scheduling.NewNode{Name: "p-1", Pool: v1.NewPoolKey("p"), InstanceTypes: []scheduling.InstanceTypeOption{{Name: "t"}}}
	template := "t"
	for i := range pods {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: fmt.Sprint("pod-", i)}}
		pod.Spec.ResourceClaims = []corev1.PodResourceClaim{{Name: "g", ResourceClaimTemplateName: &template}}
		s.Pods = append(s.Pods, pod)
		node.Pods = append(node.Pods, scheduling.PodKey{Namespace: "n", Name: pod.Name})
	}
	return s, &scheduling.Plan{NewNodes: []scheduling.NewNode{node}}
}

func TestCheckDevices(t *testing.T) {
	shared := "shared"
	share := func(s *scheduling.Snapshot, _ *scheduling.Plan) {
		for _, pod := range s.Pods {
			pod.Spec.ResourceClaims[0] = corev1.PodResourceClaim{Name: "g", ResourceClaimName: &shared}
		}
	}
	for name, c := range map[string]struct {
		pods   int
		count  int64
		same   bool
		change func(*scheduling.Snapshot, *scheduling.Plan)
		faults int
	}{
		"enough":                  {pods: 3, count: 1},
		"too few":                 {pods: 4, count: 1, faults: 1},
		"of one domain":           {pods: 1, count: 2, same: true},
		"of one domain, too many": {pods: 1, count: 3, same: true, faults: 1},
		"two of one domain each":  {pods: 2, count: 2, same: true, faults: 1},
		"shared":                  {pods: 9, count: 3, change: share},
		"shared over two nodes": {pods: 2, count: 1, faults: 1, change: func(s *scheduling.Snapshot, p *scheduling.Plan) {
			share(s, p)
			other := p.NewNodes[0]
			other.Name, other.Pods = "p-2", other.Pods[1:]
			p.NewNodes[0].Pods = p.NewNodes[0].Pods[:1]
			p.NewNodes = append(p.NewNodes, other)
		}},
		"tainted": {pods: 1, count: 3, faults: 1, change: func(s *scheduling.Snapshot, _ *scheduling.Plan) {
			s.Catalogs["c"][0].Devices[0].Devices[0].Taints = []resourcev1.DeviceTaint{{Key: "sick", Effect: resourcev1.DeviceTaintEffectNoSchedule}}
		}},
		"elsewhere": {pods: 1, count: 1, faults: 1, change: func(s *scheduling.Snapshot, p *scheduling.Plan) {
			share(s, p)
			s.ResourceClaims[0].Status.Allocation = &resourcev1.AllocationResult{NodeSelector: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{
				MatchFields: []corev1.NodeSelectorRequirement{{Key: "metadata.name", Operator: corev1.NodeSelectorOpIn, Values: []string{"old"}}},
			}}}}
		}},
		"no such claim": {pods: 1, count: 1, faults: 1, change: func(s *scheduling.Snapshot, _ *scheduling.Plan) { s.ResourceClaimTemplates = nil }},
	} {
		t.Run(name, func(t *testing.T) {
			s, p := deviceSnapshot(c.pods, c.count, c.same)
			if c.change != nil {
				c.change(s, p)
			}
			if got := planvalidator.CheckDevices(s, p, anyDevice{}); len(got) != c.faults {
				t.Errorf("%d faults, want %d: %v", len(got), c.faults, got)
			}
		})
	}
}

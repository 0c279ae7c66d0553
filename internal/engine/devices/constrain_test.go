package devices_test

import (
	"fmt"
	"testing"

	resourcev1 "k8s.io/api/resource/v1"
)

// A GPU and an interface at one root: each root has as many claims as it has pairs, and claims of one device match whatever it is.
func TestConstraintsOfAClaimAreCountedByValue(t *testing.T) {
	s := slice("n")
	for root, n := range [][2]int{{1, 4}, {2, 4}, {2, 1}, {0, 3}} {
		for i := range n[0] {
			s.Spec.Devices = append(s.Spec.Devices, device(fmt.Sprint("gpu", root, i), attribute("m", "gpu"), attribute("root", fmt.Sprint(root))))
		}
		for i := range n[1] {
			s.Spec.Devices = append(s.Spec.Devices, device(fmt.Sprint("nic", root, i), attribute("m", "nic"), attribute("root", fmt.Sprint(root))))
		}
	}
	s.Spec.Devices = append(s.Spec.Devices, device("gpu-alone", attribute("m", "gpu")))
	gpu, nic := exactly("gpu", 1, where("m=gpu")), exactly("nic", 1, where("m=nic"))
	pair := constrained(claimOf(gpu, nic), match(driver+"/root"))
	for name, c := range map[string]struct {
		specs []*resourcev1.DeviceClaim
		want  string
	}{
		"pairs":               {[]*resourcev1.DeviceClaim{pair}, "gpu: 4 -1; gpu#2: 4 -1;"},
		"one GPU with a root": {[]*resourcev1.DeviceClaim{constrained(claimOf(gpu), match(driver+"/root"))}, "gpu: 5 -1;"},
		"two GPUs of a root":  {[]*resourcev1.DeviceClaim{constrained(claimOf(exactly("gpu", 2, where("m=gpu"))), match(driver+"/root"))}, "gpu: 4 -2;"},
		"pairs, and any GPU":  {[]*resourcev1.DeviceClaim{pair, claimOf(gpu)}, "gpu: 2 -1 -0; gpu#2: 4 -1 -0; gpu#3: 6 -1 -1;"},
		"of different roots":  {[]*resourcev1.DeviceClaim{constrained(claimOf(exactly("gpu", 2, where("m=gpu"))), distinct(driver+"/root"))}, "gpu: 3 -2;"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := mustCount(t, []*resourcev1.ResourceSlice{s}, c.specs...).String(); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

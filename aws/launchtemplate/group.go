package launchtemplate

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	v1 "github.com/drawknife/drawknife/api/v1"
	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	"github.com/drawknife/drawknife/aws/instancetype"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/internal/quantities"
)

// group contains all values that may differ between the templates of one request; types with equal groups share a template. Values that the
// AMI family does not write into user data stay zero, so that they don't split types into several groups.
type group struct {
	imageID string
	efas    int32
	maxPods int32
	// cores and threads (per core) are both set if the class chooses one of them, because EC2 requires both.
	cores, threads int32
	// credits is set for burstable types if the class chooses how they pay for CPU: EC2 refuses it for other types.
	credits awsv1.CPUCredits
	// hasMaxPods means that maxPods is known.
	hasMaxPods bool
	// kubeReserved and systemReserved are written as key=value, sorted, so that groups can be compared.
	kubeReserved, systemReserved string
	reservation                  CapacityReservation
}

// compare defines an order of groups, so that Build always returns templates in the same order.
func (g group) compare(o group) int {
	return cmp.Or(
		cmp.Compare(g.imageID, o.imageID),
		cmp.Compare(g.efas, o.efas),
		cmp.Compare(g.maxPods, o.maxPods),
		cmp.Compare(g.cores, o.cores),
		cmp.Compare(g.threads, o.threads),
		cmp.Compare(g.credits, o.credits),
		cmp.Compare(g.kubeReserved, o.kubeReserved),
		cmp.Compare(g.systemReserved, o.systemReserved),
		cmp.Compare(g.reservation.ID, o.reservation.ID),
	)
}

// members contains the instance types of a group, and their image.
type members struct {
	image *image
	types []*cloudprovider.InstanceType
}

// groups assigns the instance types to groups, and says why some are in no group.
func (p *plan) groups() (map[group]*members, []Unserved, error) {
	all := make(map[group]*members)
	var unserved []Unserved
	for _, t := range p.InstanceTypes {
		found, ok := p.imageFor(t)
		if !ok {
			unserved = append(unserved, Unserved{t.Name, "no image of the node class boots on it"})
			continue
		}
		g, err := p.groupOf(t, found)
		if err != nil {
			return nil, nil, err
		}
		reservations := []CapacityReservation{{}}
		if p.CapacityType == v1.CapacityTypeReserved {
			if reservations, err = p.reservationsOf(t); err != nil {
				return nil, nil, err
			}
			if len(reservations) == 0 {
				unserved = append(unserved, Unserved{t.Name, "no capacity reservation that the claim allows has room for it"})
			}
		}
		for _, g.reservation = range reservations {
			if all[g] == nil {
				all[g] = &members{image: found}
			}
			all[g].types = append(all[g].types, t)
		}
	}
	slices.SortFunc(unserved, func(a, b Unserved) int { return strings.Compare(a.InstanceType, b.InstanceType) })
	return all, unserved, nil
}

// efasOf returns the number of EFA interfaces of instances of the type: all that the type has if the claim's pods request EFA, from the
// device plugin or from a driver.
func (p *plan) efasOf(t *cloudprovider.InstanceType) int64 {
	count := int64(0)
	if p.efa {
		quantity := t.Capacity[ResourceEFA]
		count = quantity.Value()
	}
	for i := range t.Devices {
		if pool := &t.Devices[i]; slices.Contains(p.drivers, pool.Driver) {
			count += int64(instancetype.EFAs(pool))
		}
	}
	return count
}

func (p *plan) groupOf(t *cloudprovider.InstanceType, found *image) (group, error) {
	g := group{imageID: found.ID}
	if len(p.NodeClass.Spec.NetworkInterfaces) == 0 {
		g.efas = int32(min(p.efasOf(t), maxInterfaces))
	}
	g.cores, g.threads = p.cpus(t)
	g.credits = p.creditsOf(t)
	if p.family == awsv1.AMIFamilyCustom {
		return g, nil
	}
	k := p.NodeClass.Spec.Kubelet
	if k == nil {
		k = &awsv1.KubeletConfiguration{}
	}
	if k.MaxPods != nil && k.MaxPods.Type == intstr.Int {
		g.maxPods, g.hasMaxPods = k.MaxPods.IntVal, true
	} else if pods, ok := t.Capacity[corev1.ResourcePods]; ok {
		g.maxPods, g.hasMaxPods = int32(min(pods.Value(), maxPodLimit)), true
	}
	var err error
	if g.kubeReserved, err = p.reserved("kubeReserved", k.KubeReserved, t, t.Overhead.KubeReserved); err != nil {
		return group{}, err
	}
	g.systemReserved, err = p.reserved("systemReserved", k.SystemReserved, t, t.Overhead.SystemReserved)
	return g, err
}

const (
	// maxInterfaces is more than any instance has, and can't overflow an int32.
	maxInterfaces = 1 << 10
	// maxPodLimit likewise.
	maxPodLimit = 1 << 30
)

// reserved returns the class's kubeReserved or systemReserved for a type, as text. A value that is not a quantity is an expression. It is
// replaced by the value with which the type was planned, so that the scheduler and the node use the same numbers.
func (p *plan) reserved(name string, block map[string]string, t *cloudprovider.InstanceType, planned corev1.ResourceList) (string, error) {
	entries := make([]string, 0, len(block))
	for _, key := range slices.Sorted(maps.Keys(block)) {
		value := block[key]
		if _, err := quantities.Parse(value); err != nil {
			quantity, ok := planned[corev1.ResourceName(key)]
			if !ok {
				return "", p.failed(fmt.Errorf("spec.kubelet.%s[%s]: %q is an expression, which was not evaluated for instance type %s: write a quantity",
					name, key, value, t.Name))
			}
			value = quantity.String()
		}
		entries = append(entries, key+"="+value)
	}
	return strings.Join(entries, ","), nil
}

// unreserved parses a text that reserved returned. The result is nil if the text is empty.
func unreserved(text string) map[string]string {
	if text == "" {
		return nil
	}
	block := make(map[string]string)
	for entry := range strings.SplitSeq(text, ",") {
		key, value, _ := strings.Cut(entry, "=")
		block[key] = value
	}
	return block
}

// reservationsOf returns the reservations into which an instance of the type may be launched: those that the claim allows and that have
// room, without duplicates.
func (p *plan) reservationsOf(t *cloudprovider.InstanceType) ([]CapacityReservation, error) {
	byID := make(map[string]CapacityReservation)
	for o := range t.OfferingsWithRoom() {
		if !o.Reserved() || !t.Offers(o, p.want) {
			continue
		}
		id := o.Value(awsv1.LabelCapacityReservationID)
		if id == "" {
			return nil, p.failed(fmt.Errorf("instance type %s has a reserved offering in %s without %s", t.Name, o.Zone(), awsv1.LabelCapacityReservationID))
		}
		byID[id] = CapacityReservation{
			ID:            id,
			Type:          cmp.Or(awsv1.CapacityReservationType(o.Value(awsv1.LabelCapacityReservationType)), awsv1.CapacityReservationTypeDefault),
			Interruptible: o.Value(awsv1.LabelCapacityReservationInterruptible) == "true",
		}
	}
	reservations := make([]CapacityReservation, 0, len(byID))
	for _, id := range slices.Sorted(maps.Keys(byID)) {
		reservations = append(reservations, byID[id])
	}
	return reservations, nil
}

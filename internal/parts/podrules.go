package parts

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/drawknife/drawknife/api/requirements"
	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/scheduling"
)

// Labelled sets the pod's label app.
func Labelled(app string) PodOption {
	return func(p *corev1.Pod) { p.Labels = map[string]string{"app": app} }
}

// Selecting returns a selector for pods with that value of the label app.
func Selecting(app string) *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchLabels: map[string]string{"app": app}}
}

// SpreadBy adds a required topology spread constraint over pods with that value of the label app.
func SpreadBy(key string, maxSkew int32, app string) PodOption {
	return func(p *corev1.Pod) {
		p.Spec.TopologySpreadConstraints = append(p.Spec.TopologySpreadConstraints, corev1.TopologySpreadConstraint{
			MaxSkew: maxSkew, TopologyKey: key, WhenUnsatisfiable: corev1.DoNotSchedule, LabelSelector: Selecting(app),
		})
	}
}

// AwayFrom adds a required anti-affinity to pods with that value of the label app.
func AwayFrom(key, app string) PodOption {
	return func(p *corev1.Pod) {
		if p.Spec.Affinity == nil {
			p.Spec.Affinity = &corev1.Affinity{}
		}
		p.Spec.Affinity.PodAntiAffinity = &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{
			{TopologyKey: key, LabelSelector: Selecting(app)},
		}}
	}
}

// ReservedOffering returns an offering of a reservation with this number of instances left.
func ReservedOffering(zone, id string, left int) cloudprovider.Offering {
	o := Offering(zone, v1.CapacityTypeReserved, 0)
	o.Requirements = o.Requirements.With(requirements.In("example.com/reservation", id))
	o.ReservationCapacity = left
	return o
}

// InZone sets the node's zone.
func InZone(zone string) NodeOption { return NodeLabel(ZoneKey, zone) }

// Operators of node affinity.
const (
	OpIn           = corev1.NodeSelectorOpIn
	OpNotIn        = corev1.NodeSelectorOpNotIn
	OpExists       = corev1.NodeSelectorOpExists
	OpDoesNotExist = corev1.NodeSelectorOpDoesNotExist
	OpGt           = corev1.NodeSelectorOpGt
	OpLt           = corev1.NodeSelectorOpLt
)

// Toleration returns a toleration with all of its fields.
func Toleration(key string, op corev1.TolerationOperator, value string, effect corev1.TaintEffect) corev1.Toleration {
	return corev1.Toleration{Key: key, Operator: op, Value: value, Effect: effect}
}

// Cordoned marks the node unschedulable.
func Cordoned(n *scheduling.Node) { n.Object.Spec.Unschedulable = true }

// OnDisk makes the pod use a disk directly, without a claim.
func OnDisk(source corev1.VolumeSource) PodOption {
	return func(p *corev1.Pod) {
		p.Spec.Volumes = append(p.Spec.Volumes, corev1.Volume{Name: "disk", VolumeSource: source})
	}
}

// GCEDisk returns a GCE disk.
func GCEDisk(name string, readOnly bool) corev1.VolumeSource {
	return corev1.VolumeSource{GCEPersistentDisk: &corev1.GCEPersistentDiskVolumeSource{PDName: name, ReadOnly: readOnly}}
}

// EBSDisk returns an EBS volume.
func EBSDisk(id string, readOnly bool) corev1.VolumeSource {
	return corev1.VolumeSource{AWSElasticBlockStore: &corev1.AWSElasticBlockStoreVolumeSource{VolumeID: id, ReadOnly: readOnly}}
}

// ISCSIDisk returns an iSCSI disk.
func ISCSIDisk(iqn string, readOnly bool) corev1.VolumeSource {
	return corev1.VolumeSource{ISCSI: &corev1.ISCSIVolumeSource{TargetPortal: "10.0.0.1", IQN: iqn, ReadOnly: readOnly}}
}

// RBDDisk returns a Ceph image.
func RBDDisk(pool, image string, readOnly bool, monitors ...string) corev1.VolumeSource {
	return corev1.VolumeSource{RBD: &corev1.RBDVolumeSource{CephMonitors: monitors, RBDPool: pool, RBDImage: image, ReadOnly: readOnly}}
}

// Container returns a container that requests the amounts.
func Container(name string, pairs ...string) corev1.Container {
	return corev1.Container{Name: name, Resources: corev1.ResourceRequirements{Requests: Amounts(pairs...)}}
}

// InitContainers sets the pod's init containers.
func InitContainers(list ...corev1.Container) PodOption {
	return func(p *corev1.Pod) { p.Spec.InitContainers = list }
}

// Sidecar returns an init container that keeps running.
func Sidecar(name string, pairs ...string) corev1.Container {
	always := corev1.ContainerRestartPolicyAlways
	c := Container(name, pairs...)
	c.RestartPolicy = &always
	return c
}

// Overhead sets the overhead of the pod's runtime class.
func Overhead(pairs ...string) PodOption {
	return func(p *corev1.Pod) { p.Spec.Overhead = Amounts(pairs...) }
}

// Percent returns a pointer to a copy of the number x.
func Percent(x float64) *float64 { return &x }

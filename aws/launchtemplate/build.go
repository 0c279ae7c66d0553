package launchtemplate

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	v1 "github.com/drawknife/drawknife/api/v1"
	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	"github.com/drawknife/drawknife/aws/launchtemplate/userdata"
	"github.com/drawknife/drawknife/cloudprovider"
)

// Result is the result of Build.
type Result struct {
	// Templates are the launch templates from which the claim's instance may be launched; at least one. Each type has one template, or one
	// for each of its capacity reservations.
	Templates []Template
	// Unserved are the instance types without a template, by name.
	Unserved []Unserved
}

// Unserved is an instance type without a template.
type Unserved struct {
	// InstanceType is its name.
	InstanceType string
	// Reason says in a sentence why the type has no template.
	Reason string
}

// Reasons in errors of Build: a cloudprovider.CreateError has them for a NodeClaim's condition.
const (
	// ReasonNoImage: no image of the class boots on any of the instance types.
	ReasonNoImage = "NoCompatibleImage"
	// ReasonUserDataMalformed: the class's own user data breaks the format of its family.
	ReasonUserDataMalformed = awsv1.ReasonUserDataMalformed
	// ReasonUserDataTooLarge: the user data is longer than EC2 allows.
	ReasonUserDataTooLarge = awsv1.ReasonUserDataSizeLimitExceeded
	// ReasonUserDataSettings: a setting of the cluster, the class or the claim is invalid in user data.
	ReasonUserDataSettings = "UserDataSettingsInvalid"
)

// Build makes the launch templates that a claim needs. Equal requests give results with the same bytes. The order of instance types, of
// images with the same id, of security groups and of maps does not matter.
//
// If a class's status is incomplete, or the service range is unknown, the error is a cloudprovider.NodeClassNotReadyError. If none of the
// instance types can boot with the class, or user data can't be made, the error is a cloudprovider.CreateError with one of the reasons
// above. It wraps a *userdata.MalformedError, *userdata.TooLargeError or *NoImageError. If no reservation has room for a reserved launch,
// the error is a cloudprovider.InsufficientCapacityError.
func Build(r Request) (Result, error) {
	p, err := prepare(r)
	if err != nil {
		return Result{}, err
	}
	if len(p.InstanceTypes) == 0 {
		return Result{}, p.failed(errors.New("there are no instance types"))
	}
	all, unserved, err := p.groups()
	if err != nil {
		return Result{}, err
	}
	if len(all) == 0 {
		return Result{}, p.nothing(unserved)
	}
	result := Result{Unserved: unserved}
	for _, g := range slices.SortedFunc(maps.Keys(all), group.compare) {
		template, err := p.template(g, all[g])
		if err != nil {
			return Result{}, err
		}
		result.Templates = append(result.Templates, template)
	}
	return result, nil
}

// nothing returns the error for a request without templates.
func (p *plan) nothing(unserved []Unserved) error {
	for _, t := range p.InstanceTypes {
		if _, ok := p.imageFor(t); ok {
			return cloudprovider.NewInsufficientCapacityError(p.failed(errors.New(unserved[0].InstanceType + ": " + unserved[0].Reason)))
		}
	}
	e := &NoImageError{NodeClass: p.NodeClass.Name, InstanceTypes: len(p.InstanceTypes)}
	for _, found := range p.images {
		e.Images = append(e.Images, found.ID)
	}
	return cloudprovider.NewCreateError(ReasonNoImage, e.Error(), e)
}

// userData returns the user data of a group.
func (p *plan) userData(g group, found *image) (userdata.Rendered, error) {
	spec := &p.NodeClass.Spec
	config := userdata.Config{
		Family:        p.family,
		ClusterName:   p.Cluster.Name,
		Endpoint:      p.Cluster.Endpoint,
		CABundle:      p.Cluster.CABundle,
		ServiceCIDR:   p.Cluster.ServiceCIDR,
		IPv6:          p.ipv6,
		DiscoveredDNS: p.Cluster.DNS,
		Labels:        p.labels(),
		Taints:        p.taints(),
	}
	if spec.Kubelet != nil {
		config.Kubelet = *spec.Kubelet
	}
	config.Kubelet.MaxPods = nil
	if g.hasMaxPods {
		limit := intstr.FromInt32(g.maxPods)
		config.Kubelet.MaxPods = &limit
	}
	config.Kubelet.KubeReserved, config.Kubelet.SystemReserved = unreserved(g.kubeReserved), unreserved(g.systemReserved)
	if spec.InstanceStorePolicy != nil {
		config.InstanceStorePolicy = *spec.InstanceStorePolicy
	}
	if spec.UserData != nil {
		config.UserData = *spec.UserData
	}
	if p.family == awsv1.AMIFamilyBottlerocket {
		config.OSVersion = bottlerocketVersion(p.NodeClass, found)
	}
	if p.family == awsv1.AMIFamilyAL2023 && p.Cluster.ServiceCIDR == "" {
		return userdata.Rendered{}, p.notReady("the range of the cluster's service addresses is not known, and AL2023 nodes can't join without it: set it, or let it be discovered")
	}
	rendered, err := userdata.Render(config)
	if err == nil {
		return rendered, nil
	}
	reason := ReasonUserDataSettings
	var malformed *userdata.MalformedError
	var tooLarge *userdata.TooLargeError
	switch {
	case errors.As(err, &malformed):
		reason = ReasonUserDataMalformed
	case errors.As(err, &tooLarge):
		reason = ReasonUserDataTooLarge
	}
	return userdata.Rendered{}, cloudprovider.NewCreateError(reason,
		fmt.Sprintf("the user data of node class %q can't be made: %v", p.NodeClass.Name, err), err)
}

// labels returns the labels with which the node joins. Without the label do-not-sync-taints, registration would add taints to the node that
// the kubelet has already set, and that may have been removed in the meantime.
func (p *plan) labels() map[string]string {
	labels := maps.Clone(p.NodeClaim.Labels)
	if labels == nil {
		labels = make(map[string]string)
	}
	labels[v1.CapacityTypeLabelKey] = p.CapacityType
	if p.family != awsv1.AMIFamilyCustom {
		labels[v1.NodeDoNotSyncTaintsLabelKey] = "true"
	}
	return labels
}

// taints returns the taints with which the node joins: the claim's, its start-up taints, and the one for unregistered nodes.
func (p *plan) taints() []corev1.Taint {
	taints := slices.Concat(p.NodeClaim.Spec.Taints, p.NodeClaim.Spec.StartupTaints)
	unregistered := corev1.Taint{Key: v1.UnregisteredTaintKey, Effect: corev1.TaintEffectNoExecute}
	if slices.ContainsFunc(taints, func(t corev1.Taint) bool { return t.MatchTaint(&unregistered) }) {
		return taints
	}
	return append(taints, unregistered)
}

// NoImageError says that none of a class's images boots on any of the instance types.
type NoImageError struct {
	// NodeClass is the class's name.
	NodeClass string
	// Images are the ids of the class's images.
	Images []string
	// InstanceTypes is the number of types that were tried.
	InstanceTypes int
}

// Error names the images.
func (e *NoImageError) Error() string {
	return fmt.Sprintf("none of the images %v of node class %q boots on any of the %d instance types: add an image of their architecture or accelerators to amiSelectorTerms, or have the NodePool ask for other types",
		e.Images, e.NodeClass, e.InstanceTypes)
}

package planner

import (
	"context"
	"fmt"
	"slices"
	"strings"

	resourcev1 "k8s.io/api/resource/v1"
	"sigs.k8s.io/karpenter/pkg/cloudprovider"

	dkv1 "github.com/drawknife/drawknife/api/v1"
	dkcp "github.com/drawknife/drawknife/cloudprovider"
	dk "github.com/drawknife/drawknife/scheduling"
	"github.com/drawknife/drawknife/scheduling/dra"
	dkclaims "github.com/drawknife/drawknife/scheduling/nodeclaims"
)

// devicesOf converts the device templates of a type to device pools.
func devicesOf(t *cloudprovider.InstanceType) []dkcp.DevicePool {
	type key struct{ driver, pool string }
	var order []key
	pools := map[key]*dkcp.DevicePool{}
	ofDriver := map[string]int{}
	for _, template := range t.DynamicResources.ResourceSliceTemplates {
		k := key{template.Driver.Value(), template.Pool.Name.Value()}
		if pools[k] == nil {
			pools[k] = &dkcp.DevicePool{Driver: k.driver}
			if n := ofDriver[k.driver]; n > 0 {
				pools[k].Suffix = fmt.Sprintf("-%d", n)
			}
			ofDriver[k.driver]++
			order = append(order, k)
		}
		pools[k].SharedCounters = append(pools[k].SharedCounters, template.SharedCounters...)
		for i := range template.Devices {
			d := deviceOf(&template.Devices[i])
			bind(&d, cloudprovider.DeviceID{Driver: template.Driver, Pool: template.Pool.Name, Device: template.Devices[i].Name}, t.DynamicResources.AttributeBindings)
			pools[k].Devices = append(pools[k].Devices, d)
		}
	}
	var out []dkcp.DevicePool
	for _, k := range order {
		out = append(out, *pools[k])
	}
	return out
}

func deviceOf(in *cloudprovider.Device) resourcev1.Device {
	d := resourcev1.Device{
		Name: in.Name.Value(), Attributes: map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{}, Capacity: in.Capacity, ConsumesCounters: in.ConsumesCounters,
	}
	for name, value := range in.Attributes {
		d.Attributes[name] = value
	}
	if in.AllowMultipleAllocations {
		d.AllowMultipleAllocations = &in.AllowMultipleAllocations
	}
	return d
}

// bind sets placeholder values for the attributes that a device shares with other devices. The argument bindings lists these attributes.
func bind(d *resourcev1.Device, id cloudprovider.DeviceID, bindings []*cloudprovider.AttributeBinding) {
	for i, b := range bindings {
		bound := slices.ContainsFunc(b.Devices, func(other cloudprovider.DeviceID) bool {
			return other.Driver == id.Driver && other.Pool == id.Pool && other.Device == id.Device
		})
		if _, stated := d.Attributes[b.Attribute]; bound && !stated {
			text := fmt.Sprintf("binding-%d", i)
			d.Attributes[b.Attribute] = resourcev1.DeviceAttribute{StringValue: &text}
		}
	}
}

// deviceObjects reads the pods' ResourceClaims, and the devices that nodes have published.
func deviceObjects(ctx context.Context, q *Question, s *dk.Snapshot) (err error) {
	if !q.Devices {
		return nil
	}
	if s.DeviceClasses, err = list(ctx, q.Client, &resourcev1.DeviceClassList{}, func(l *resourcev1.DeviceClassList) []resourcev1.DeviceClass { return l.Items }); err != nil {
		return err
	}
	if s.ResourceClaims, err = list(ctx, q.Client, &resourcev1.ResourceClaimList{}, func(l *resourcev1.ResourceClaimList) []resourcev1.ResourceClaim {
		return l.Items
	}); err != nil {
		return err
	}
	if s.ResourceClaimTemplates, err = list(ctx, q.Client, &resourcev1.ResourceClaimTemplateList{}, func(l *resourcev1.ResourceClaimTemplateList) []resourcev1.ResourceClaimTemplate {
		return l.Items
	}); err != nil {
		return err
	}
	s.ResourceSlices, err = list(ctx, q.Client, &resourcev1.ResourceSliceList{}, func(l *resourcev1.ResourceSliceList) []resourcev1.ResourceSlice { return l.Items })
	for _, slice := range s.ResourceSlices {
		nameNode(slice)
	}
	return err
}

// nameNode sets the node's name in a ResourceSlice. The suites identify the node only by an owner and its hostname.
func nameNode(slice *resourcev1.ResourceSlice) {
	if slice.Spec.NodeName != nil || slice.Spec.NodeSelector == nil {
		return
	}
	for _, owner := range slice.OwnerReferences {
		if owner.Kind == "Node" {
			slice.Spec.NodeName, slice.Spec.NodeSelector = &owner.Name, nil
			return
		}
	}
}

// matcher evaluates device selectors in the same way as the controller. It returns nil if the suite switches devices off.
func matcher(q *Question) dk.DeviceMatcher {
	if !q.Devices {
		return nil
	}
	return dra.New()
}

// nameDrivers records on a NodeClaim the device drivers on which its plan relies.
func nameDrivers(q *Question, s *dk.Snapshot, n *dk.NewNode, claim *dkv1.NodeClaim) {
	var types []*dkcp.InstanceType
	for _, option := range n.InstanceTypes {
		for _, t := range s.Catalogs[n.Pool.Name] {
			if t.Name == option.Name {
				types = append(types, t)
			}
		}
	}
	if drivers := dkclaims.RequestedDrivers(s, n.Pods, types, matcher(q)); len(drivers) > 0 {
		if claim.Annotations == nil {
			claim.Annotations = map[string]string{}
		}
		claim.Annotations[dkv1.RequestedDRADriversAnnotationKey] = strings.Join(drivers, ",")
	}
}

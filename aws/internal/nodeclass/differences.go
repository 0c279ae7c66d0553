package nodeclass

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	"github.com/drawknife/drawknife/aws/internal/instances"
	"github.com/drawknife/drawknife/aws/internal/placement"
	"github.com/drawknife/drawknife/aws/internal/reservations"
)

// Difference is one field in which an instance differs from its node class. It explains a cause of drift to users.
type Difference struct {
	// Field of the class that the instance differs in: "status.securityGroups".
	Field string
	// Have is the instance's value, Want the class's value, both sorted; either may be empty.
	Have, Want []string
}

// String returns the difference as a sentence: `status.subnets: has subnet-1, wants subnet-2, subnet-3`.
func (d Difference) String() string {
	have, want := "nothing", "nothing"
	if len(d.Have) > 0 {
		have = strings.Join(d.Have, ", ")
	}
	if len(d.Want) > 0 {
		want = strings.Join(d.Want, ", ")
	}
	return fmt.Sprintf("%s: has %s, wants %s", d.Field, have, want)
}

// IsForeignSecurityGroups reports whether the instance has all security groups of the class and additional ones, which someone else must
// have added.
func (d Difference) IsForeignSecurityGroups() bool {
	return d.Field == "status.securityGroups" && len(d.Have) > 0 && len(d.Want) == 0
}

// Launched is an instance and its claim.
type Launched struct {
	// Instance as EC2 describes it.
	Instance instances.Instance
	// Labels and Annotations of its claim.
	Labels, Annotations map[string]string
}

// Expected is the current state of a class.
type Expected struct {
	// NodeClass with its status. Required.
	NodeClass *awsv1.EC2NodeClass
	// ClusterCA is the certificate bundle in the hash (see EC2NodeClass.Hash).
	ClusterCA string
	// ImageID is the image from which new instances of the instance's type boot (see launchtemplate.ImageFor); empty if it is not known.
	ImageID string
	// Group is the placement group that the class selects. Nil means none.
	Group *placement.Group
}

// Differences returns all causes of an instance's drift, in the order of the drift reasons. An empty field of the status, or a field that
// EC2 does not report, is treated as unknown, not as a difference. It is pure.
func Differences(l Launched, e Expected) []Difference {
	var list []Difference
	add := func(differs bool, field string, have, want []string) {
		if differs {
			list = append(list, Difference{Field: field, Have: have, Want: want})
		}
	}
	if e.NodeClass == nil {
		return nil
	}
	status, i := &e.NodeClass.Status, &l.Instance

	// Only hashes of the same version can be compared.
	if launched := l.Annotations[awsv1.AnnotationHash]; launched != "" && l.Annotations[awsv1.AnnotationHashVersion] == awsv1.HashVersion {
		now := e.NodeClass.Hash(e.ClusterCA)
		add(now != "" && now != launched, "spec", []string{"hash " + launched}, []string{"hash " + now})
	}
	add(e.ImageID != "" && i.ImageID != "" && e.ImageID != i.ImageID, "status.amis", []string{i.ImageID}, []string{e.ImageID})

	groups := ids(status.SecurityGroups, func(g awsv1.SecurityGroup) string { return g.ID })
	have := slices.Compact(slices.Sorted(slices.Values(i.SecurityGroupIDs)))
	add(len(groups) > 0 && len(have) > 0 && !slices.Equal(have, groups), "status.securityGroups", without(have, groups), without(groups, have))

	subnets := ids(status.Subnets, func(s awsv1.Subnet) string { return s.ID })
	add(len(subnets) > 0 && i.SubnetID != "" && !slices.Contains(subnets, i.SubnetID), "status.subnets", []string{i.SubnetID}, subnets)

	if i.Reservation != nil {
		instance := reservations.Instance{CapacityType: i.CapacityType, ReservationID: i.Reservation.ID}
		add(reservations.Drifted(instance, status.CapacityReservations), "status.capacityReservations", []string{i.Reservation.ID},
			ids(status.CapacityReservations, func(r awsv1.CapacityReservation) string { return r.ID }))
	}
	var group []string
	if e.Group != nil {
		group = []string{e.Group.ID}
	}
	var label []string
	if id := l.Labels[awsv1.LabelPlacementGroupID]; id != "" {
		label = []string{id}
	}
	add(placement.Drifted(l.Labels, e.Group), "spec.placementGroupSelector", label, group)
	return list
}

// ids returns the ids, sorted and without duplicates.
func ids[T any](list []T, id func(T) string) []string {
	var found []string
	for _, each := range list {
		found = append(found, id(each))
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// without returns the elements of a list that are not in another list.
func without(list, other []string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(id string) bool { return slices.Contains(other, id) })
}

// ChangedFields returns the paths of spec fields whose change makes instances drift, such as "spec.tags". The result never contains fields
// that the hash leaves out. It is pure. It fails only for a class that can't be written as JSON.
func ChangedFields(launched, now *awsv1.EC2NodeClass) ([]string, error) {
	if launched == nil || now == nil {
		return nil, nil
	}
	from, err := fieldsOf(launched)
	if err != nil {
		return nil, err
	}
	to, err := fieldsOf(now)
	if err != nil {
		return nil, err
	}
	before := launched.Hash("")
	var paths []string
	keys := maps.Clone(from)
	maps.Copy(keys, to)
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		if bytes.Equal(from[key], to[key]) {
			continue
		}
		// mixed is the class at the launch, with the present value of the field key.
		mixed := maps.Clone(from)
		delete(mixed, key)
		if value, ok := to[key]; ok {
			mixed[key] = value
		}
		text, err := json.Marshal(mixed)
		if err != nil {
			return nil, fmt.Errorf("node class %q: %w", launched.Name, err)
		}
		probe := &awsv1.EC2NodeClass{}
		if err := json.Unmarshal(text, &probe.Spec); err != nil {
			return nil, fmt.Errorf("node class %q: spec.%s: %w", now.Name, key, err)
		}
		if probe.Hash("") != before {
			paths = append(paths, "spec."+key)
		}
	}
	return paths, nil
}

func fieldsOf(class *awsv1.EC2NodeClass) (map[string]json.RawMessage, error) {
	text, err := json.Marshal(class.Spec)
	if err != nil {
		return nil, fmt.Errorf("node class %q: %w", class.Name, err)
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(text, &fields); err != nil {
		return nil, fmt.Errorf("node class %q: %w", class.Name, err)
	}
	return fields, nil
}

package scheduling

import (
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/internal/engine/likeness"
	"github.com/drawknife/drawknife/internal/engine/state"
	"github.com/drawknife/drawknife/scheduling/planning"
)

// NoteDeviceAlternative says that a request for devices with alternatives is met by one that is not the first, on a new node that costs less
// than what has an earlier one, or because there is no such node.
const NoteDeviceAlternative NoteCode = "DeviceAlternative"

// noteChoices notes pods whose claims new nodes meet by a later alternative than the first.
func (t *Trial) noteChoices(out *Plan, loads [][]state.Binding) {
	x := t.m.c.Devices
	if x == nil || x.Claims == nil {
		return
	}
	type of struct {
		class int32
		it    *cloudprovider.InstanceType
	}
	pods := map[of]int32{}
	var order []of
	for i := range loads {
		mc := t.newNode(int32(len(t.m.c.Nodes) + i))
		table, row := t.m.c.Pools[mc.Pool].Table, mc.Row
		it := table.Catalog.Types[table.Catalog.Variants[table.Rows[row].Variant].Type]
		for _, b := range loads[i] {
			if c := t.m.c.Classes[b.Class]; len(it.Devices) == 0 || !likeness.ClaimsDevices(&c.Sample.Spec) {
				continue
			}
			key := of{b.Class, it}
			if pods[key] == 0 {
				order = append(order, key)
			}
			pods[key] += b.Count
		}
	}
	for _, key := range order {
		sample := t.m.c.Classes[key.class].Sample
		for _, c := range x.Kinds.Choices(x.Of(sample).Needs, x.OfTypes[&key.it.Devices[0]]) {
			out.Notes = append(out.Notes, Note{
				Code: NoteDeviceAlternative, Object: "Pod " + planning.KeyOf(sample).String(), Message: x.ChoiceText(&c, key.it.Name, pods[key]),
			})
		}
	}
}

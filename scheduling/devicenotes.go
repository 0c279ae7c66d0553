package scheduling

import (
	"fmt"

	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/internal/engine/devices"
	"github.com/drawknife/drawknife/internal/engine/likeness"
	"github.com/drawknife/drawknife/internal/engine/state"
)

// NoteDeviceAlternative says that a request for devices with alternatives is met by one that is not the first, on a new node that costs less
// than what has an earlier one, or because there is no such node.
const NoteDeviceAlternative NoteCode = "DeviceAlternative"

// noteChoices notes pods whose claims new nodes meet by a later alternative than the first.
func (t *Trial) noteChoices(out *Plan, loads [][]state.Binding) {
	x := t.m.devices
	if x == nil || x.claims == nil {
		return
	}
	type of struct {
		class int32
		it    *cloudprovider.InstanceType
	}
	pods := map[of]int32{}
	var order []of
	for i := range loads {
		mc := t.newNode(int32(len(t.m.nodes) + i))
		table, row := t.m.pools[mc.Pool].Table, mc.Row
		it := table.Catalog.Types[table.Catalog.Variants[table.Rows[row].Variant].Type]
		for _, b := range loads[i] {
			if c := t.m.classes[b.Class]; len(it.Devices) == 0 || !likeness.ClaimsDevices(&c.Sample.Spec) {
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
		sample := t.m.classes[key.class].Sample
		for _, c := range x.kinds.Choices(x.of(sample).needs, x.ofTypes[&key.it.Devices[0]]) {
			out.Notes = append(out.Notes, Note{
				Code: NoteDeviceAlternative, Object: "Pod " + podKey(sample).String(), Message: x.choiceText(&c, key.it.Name, pods[key]),
			})
		}
	}
}

func (x *deviceIndex) choiceText(c *devices.Choice, name string, pods int32) string {
	why := "no instance type has an earlier one"
	for _, better := range x.ofTypes {
		if c.Betters(better) {
			why = "what has an earlier one costs more, or is not to be had"
		}
	}
	like := ""
	if pods > 1 {
		like = fmt.Sprintf(", of this pod and %d like it,", pods-1)
	}
	return fmt.Sprintf("request %s of claim %s%s is met by alternative %s, number %d of %d, on new nodes of type %s: %s",
		c.Request, c.Claim, like, c.Alternative, c.Place, c.Of, name, why)
}

package answering

import (
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/internal/engine/claimed"
	"github.com/drawknife/drawknife/internal/engine/likeness"
	"github.com/drawknife/drawknife/internal/engine/state"
	"github.com/drawknife/drawknife/scheduling/planning"
)

// noteChoices adds notes about pods on new nodes that do not get the first (preferred) device alternative of their claims.
func (t *Answering) noteChoices(out *planning.Plan, loads [][]state.Binding) {
	x := t.M.Devices
	if x == nil || x.Claims == nil {
		return
	}
	type of struct {
		class    int32
		it       *cloudprovider.InstanceType
		template claimed.Template
	}
	pods := map[of]int32{}
	var order []of
	for i := range loads {
		mc := t.NewNode(int32(len(t.M.Nodes) + i))
		table, row := t.M.Pools[mc.Pool].Table, mc.Row
		variant := &table.Catalog.Variants[table.Rows[row].Variant]
		it := table.Catalog.Types[variant.Type]
		for _, b := range loads[i] {
			if c := t.M.Classes[b.Class]; len(it.Devices) == 0 || !likeness.ClaimsDevices(&c.Sample.Spec) {
				continue
			}
			key := of{b.Class, it, claimed.TemplateOf(it, variant.Offering)}
			if pods[key] == 0 {
				order = append(order, key)
			}
			pods[key] += b.Count
		}
	}
	for _, key := range order {
		sample := t.M.Classes[key.class].Sample
		for _, c := range x.Kinds.Choices(x.Of(sample).Needs, x.OfTypes[key.template]) {
			out.Notes = append(out.Notes, planning.Note{
				Code: planning.NoteDeviceAlternative, Object: "Pod " + planning.KeyOf(sample).String(), Message: x.ChoiceText(&c, key.it.Name, pods[key]),
			})
		}
	}
}

package customprovider

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/drawknife/drawknife/api/option"
	"github.com/drawknife/drawknife/api/requirements"
	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
)

// Options of a provider.
type Options struct {
	// Cluster is the name of the cluster that uses the machines. Required.
	Cluster string
	// Image is the name of the machines' image in NodeClaims, for information only; empty means "inventory".
	Image string
	// BrokenFor is how long a machine is not tried again after it could not be switched on; 0 means that it is tried again at once. Nil is
	// DefaultBrokenFor.
	BrokenFor *time.Duration
	// Clock is the clock. Nil means the real clock.
	Clock option.Clock
}

// DefaultBrokenFor is how long a machine is not tried again after it could not be switched on.
const DefaultBrokenFor = 5 * time.Minute

// Provider is a cloudprovider.CloudProvider over an inventory.
type Provider struct {
	inventory *Inventory
	journal   *Journal
	power     Power
	options   Options
	lookup    *requirements.Lookup
	machines  map[string]Machine
	types     map[string]*MachineType

	mu sync.Mutex
	// broken contains the time until which each broken machine is not tried again.
	broken map[string]time.Time
	// catalog is the last result of InstanceTypes by type, with the zones that had a free machine.
	catalog map[string]*cloudprovider.InstanceType
}

var _ cloudprovider.CloudProvider = (*Provider)(nil)

// New makes a provider. The inventory must not be changed any more.
func New(inventory *Inventory, journal *Journal, power Power, options Options) (*Provider, error) {
	if err := inventory.Validate(); err != nil {
		return nil, fmt.Errorf("inventory: %w", err)
	}
	if options.Cluster == "" {
		return nil, errors.New("options: Cluster is required: it identifies the machines")
	}
	if options.Image == "" {
		options.Image = "inventory"
	}
	p := &Provider{
		inventory: inventory, journal: journal, power: power, options: options,
		machines: map[string]Machine{}, types: map[string]*MachineType{},
		broken: map[string]time.Time{}, catalog: map[string]*cloudprovider.InstanceType{},
	}
	p.lookup = p.Describe().Vocabulary.Compile()
	for i := range inventory.Types {
		p.types[inventory.Types[i].Name] = &inventory.Types[i]
	}
	for _, m := range inventory.Machines {
		p.machines[m.Name] = m
	}
	return p, nil
}

// Name of the provider.
func (p *Provider) Name() string { return "inventory" }

// InstanceTypes returns the types of the inventory, with the zones that have a free machine.
func (p *Provider) InstanceTypes(ctx context.Context, _ *v1.NodePool) ([]*cloudprovider.InstanceType, error) {
	if err := p.settleAll(ctx); err != nil {
		return nil, err
	}
	free := map[string]map[string]bool{} // by type and zone
	p.mu.Lock()
	defer p.mu.Unlock()
	now := option.Time(p.options.Clock, time.Now)
	p.journal.read(func(holders map[string]Holder) {
		for _, m := range p.inventory.Machines {
			if free[m.Type] == nil {
				free[m.Type] = map[string]bool{}
			}
			_, held := holders[m.Name]
			free[m.Type][m.Zone] = free[m.Type][m.Zone] || !held && !p.broken[m.Name].After(now)
		}
	})
	var out []*cloudprovider.InstanceType
	for i := range p.inventory.Types {
		t := &p.inventory.Types[i]
		if len(free[t.Name]) == 0 {
			continue // no machine of this type
		}
		// An unchanged type is the same object as before: planners recognise types by pointer.
		if last := p.catalog[t.Name]; last != nil && sameStock(last, free[t.Name]) {
			out = append(out, last)
			continue
		}
		zones := make([]string, 0, len(free[t.Name]))
		for zone := range free[t.Name] {
			zones = append(zones, zone)
		}
		slices.Sort(zones)
		p.catalog[t.Name] = newType(t, zones, free[t.Name])
		out = append(out, p.catalog[t.Name])
	}
	return out, nil
}

func sameStock(t *cloudprovider.InstanceType, free map[string]bool) bool {
	for i := range t.Offerings {
		if t.Offerings[i].Available != free[t.Offerings[i].Zone()] {
			return false
		}
	}
	return true
}

// Delete switches the claim's machine off. The claim's instance no longer exists once the machine is off.
func (p *Provider) Delete(ctx context.Context, claim *v1.NodeClaim) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	var name string
	var holder Holder
	err := p.journal.update(func(holders map[string]Holder) (string, *Holder, error) {
		var err error
		if name, holder, err = p.own(holders, claim.Status.ProviderID); err != nil || !holder.live() {
			return "", nil, err
		}
		holder.Stopping = option.Time(p.options.Clock, time.Now)
		return name, &holder, nil
	})
	if err != nil {
		return err
	}
	return p.settle(ctx, name, holder)
}

// settle continues switching a machine off, and returns nil while it is not off yet. Once it is off, settle frees it and returns a
// NodeClaimNotFoundError.
func (p *Provider) settle(ctx context.Context, name string, holder Holder) error {
	off, err := p.power.IsOff(ctx, name)
	if err != nil {
		return fmt.Errorf("machine %s: %w", name, err)
	}
	if !off {
		if err := p.power.Off(ctx, name); err != nil {
			return fmt.Errorf("machine %s: %w", name, err)
		}
		return nil
	}
	err = p.journal.update(func(holders map[string]Holder) (string, *Holder, error) {
		if now, ok := holders[name]; !ok || now.Launch != holder.Launch {
			return "", nil, nil // another call was faster
		}
		return name, nil, nil
	})
	if err != nil {
		return err
	}
	return cloudprovider.NewNodeClaimNotFoundError(p.providerID(name, holder), errors.New("the machine is off"))
}

// Get describes a machine.
func (p *Provider) Get(ctx context.Context, providerID string) (*v1.NodeClaim, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	var name string
	var holder Holder
	var err error
	p.journal.read(func(holders map[string]Holder) { name, holder, err = p.own(holders, providerID) })
	if err != nil {
		return nil, err
	}
	if !holder.live() {
		if err := p.settle(ctx, name, holder); err != nil {
			return nil, err
		}
	}
	return p.describe(name, holder), nil
}

// List describes the cluster's machines.
func (p *Provider) List(ctx context.Context) ([]*v1.NodeClaim, error) {
	if err := p.settleAll(ctx); err != nil {
		return nil, err
	}
	var out []*v1.NodeClaim
	for name, holder := range p.held() {
		out = append(out, p.describe(name, holder))
	}
	slices.SortFunc(out, func(a, b *v1.NodeClaim) int { return strings.Compare(a.Status.ProviderID, b.Status.ProviderID) })
	return out, nil
}

// held returns the cluster's machines with their holders.
func (p *Provider) held() map[string]Holder {
	held := map[string]Holder{}
	p.journal.read(func(all map[string]Holder) {
		for name, holder := range all {
			if _, known := p.machines[name]; known && holder.Cluster == p.options.Cluster {
				held[name] = holder
			}
		}
	})
	return held
}

// settleAll continues switching off all machines that are stopping. A machine that does not answer is tried again next time.
func (p *Provider) settleAll(ctx context.Context) error {
	for name, holder := range p.held() {
		if !holder.live() {
			_ = p.settle(ctx, name, holder)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return ctx.Err()
}

// own finds the machine with this provider ID, if it belongs to this cluster.
func (p *Provider) own(holders map[string]Holder, providerID string) (string, Holder, error) {
	parts := strings.Split(providerID, "/") // the parts are inventory:, two empty parts, zone, machine, launch
	if len(parts) == 6 {
		name := parts[4]
		holder, held := holders[name]
		if _, known := p.machines[name]; known && held && holder.Cluster == p.options.Cluster && p.providerID(name, holder) == providerID {
			return name, holder, nil
		}
	}
	return "", Holder{}, cloudprovider.NewNodeClaimNotFoundError(providerID, nil)
}

// providerID identifies the machine for this holder only: a late Delete must not affect the next holder.
func (p *Provider) providerID(machine string, holder Holder) string {
	return fmt.Sprintf("inventory:///%s/%s/%d", p.machines[machine].Zone, machine, holder.Launch)
}

// describe returns the description of a machine for Create, Get and List. It uses only inventory and journal, so that the next process
// returns the same description.
func (p *Provider) describe(name string, holder Holder) *v1.NodeClaim {
	m := p.machines[name]
	t := newType(p.types[m.Type], []string{m.Zone}, nil)
	claim := &v1.NodeClaim{
		ObjectMeta: metav1.ObjectMeta{
			Name: holder.Claim, UID: types.UID(holder.UID), CreationTimestamp: metav1.NewTime(holder.Since),
			Labels: map[string]string{},
		},
		Status: v1.NodeClaimStatus{
			ProviderID: p.providerID(name, holder), ImageID: p.options.Image,
			Capacity: t.CapacityOf(&t.Offerings[0]), Allocatable: t.AllocatableOf(&t.Offerings[0]),
		},
	}
	if pool := (v1.PoolKey{Generation: holder.Generation, Name: holder.NodePool}); pool.Name != "" {
		claim.Labels[pool.LabelKey()] = pool.Name
	}
	for r := range t.MachineRequirements(&t.Offerings[0]).All {
		if values := r.Values(); len(values) == 1 && !r.Complement() {
			claim.Labels[r.Key()] = values[0]
		}
	}
	if !holder.live() {
		since := metav1.NewTime(holder.Stopping)
		claim.DeletionTimestamp = &since
	}
	return claim
}

// bootOf returns the settings with which the machine joins the cluster.
func (p *Provider) bootOf(name string, holder Holder, claim *v1.NodeClaim) Boot {
	boot := Boot{ProviderID: p.providerID(name, holder)}
	for key, value := range p.describe(name, holder).Labels {
		boot.Labels = append(boot.Labels, key+"="+value)
	}
	slices.Sort(boot.Labels)
	taints := append([]corev1.Taint{{Key: v1.UnregisteredTaintKey, Effect: corev1.TaintEffectNoExecute}}, claim.Spec.Taints...)
	for _, taint := range append(taints, claim.Spec.StartupTaints...) {
		boot.Taints = append(boot.Taints, taint.Key+"="+taint.Value+":"+string(taint.Effect))
	}
	return boot
}

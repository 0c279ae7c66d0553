package reconcilers

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/disruption"
	"github.com/drawknife/drawknife/scheduling/cluster"
)

// adoptionPatience is how long to wait until the view and the API show the same commands. After that time, commands are adopted from the
// view anyway.
const adoptionPatience = 30 * time.Second

// adoptEvery is the interval at which the view and the API are compared.
const adoptEvery = time.Second

// adopt adopts the commands that earlier processes recorded on objects, once, before the first plan. done reports whether they were
// adopted.
func (d *disruptor) adopt(ctx context.Context) (done bool, err error) {
	if d.adopted {
		return true, nil
	}
	now := d.now()
	view, err := d.planner.view(ctx, now)
	if err != nil {
		return false, err
	}
	view = d.own(view)
	behind, err := d.behind(ctx, view)
	if err != nil {
		return false, err
	}
	if d.looked.IsZero() {
		d.looked = now
	}
	if behind != "" && now.Sub(d.looked) < adoptionPatience {
		return false, nil
	}
	if behind != "" {
		d.log.Warn("adopting commands although the cache is behind", "nodeClaim", behind)
	}
	if err := d.takeOver(ctx, view, now); err != nil {
		return false, err
	}
	return true, nil
}

// behind returns the name of a NodeClaim whose disruption record in the view differs from the record in the API, or "" if there is no
// difference. The last writes of the previous process may not be in the cache yet.
func (d *disruptor) behind(ctx context.Context, view *cluster.View) (string, error) {
	var list v1.NodeClaimList
	if err := d.reader.List(ctx, &list); err != nil {
		return "", fmt.Errorf("listing nodeclaims: %w", err)
	}
	type said struct {
		record  string
		leaving bool
	}
	shown := map[types.UID]said{}
	for i := range view.Nodes {
		if claim := view.Nodes[i].Claim; claim != nil && claim.Annotations[v1.DisruptionCommandAnnotationKey] != "" {
			shown[claim.UID] = said{claim.Annotations[v1.DisruptionCommandAnnotationKey], claim.DeletionTimestamp != nil}
		}
	}
	for i := range list.Items {
		claim := &list.Items[i]
		if record := claim.Annotations[v1.DisruptionCommandAnnotationKey]; !d.foreignClaim(claim) && shown[claim.UID] != (said{record, record != "" && claim.DeletionTimestamp != nil}) {
			return claim.Name, nil
		}
	}
	return "", nil
}

// takeOver adopts commands from the view.
func (d *disruptor) takeOver(ctx context.Context, view *cluster.View, now time.Time) error {
	found := disruption.Recover(view)
	d.reportUnreadable()
	for _, effect := range found.Effects {
		d.log.Info("cleaning up after an earlier command", "effect", effect.String())
		if err := d.effect(ctx, nil, effect); err != nil {
			return fmt.Errorf("%s: %w", effect, err)
		}
	}
	under := found.Draining
	d.mu.Lock()
	d.history = found.History.Add(d.history...).Within(d.options.longestWindow(), now)
	for _, recovered := range found.Commands {
		cmd := recovered.Execution.Command()
		if err := d.queue.Adopt(recovered.Execution); err != nil {
			d.log.Error("cannot adopt command of an earlier process, undoing it", "command", cmd.ID, "description", cmd.String(), "error", err)
			continue
		}
		run := newCommandRun(recovered.Execution)
		d.begins++
		run.place = d.begins
		for i, claim := range recovered.Replacements {
			if claim != nil {
				run.replacements[i] = launchedReplacement{claim: v1.QualifiedName(claim), uid: claim.UID}
			}
		}
		run.remember(view)
		run.counted = slices.ContainsFunc(found.History, func(noted disruption.Disruption) bool { return noted.Command == cmd.ID })
		d.running[cmd.ID] = run
		under = append(under, cmd)
		d.log.Info("adopted command of an earlier process", "command", cmd.ID, "description", cmd.String(), "state", recovered.Execution.State())
	}
	d.mu.Unlock()
	d.adoptApprovals(ctx, view, found)
	d.waves = restOfWaves(under, now)
	d.adopted = true
	wake(d.moved)
	return nil
}

// remember stores the members of an adopted command for metrics, because this process has no plan that contains them.
func (r *commandRun) remember(view *cluster.View) {
	pools := map[v1.PoolKey]*v1.NodePool{}
	for i := range view.Snapshot.NodePools {
		pools[view.Snapshot.NodePools[i].Identity()] = view.Snapshot.NodePools[i].Object
	}
	cmd := r.execution.Command()
	for i := range view.Nodes {
		node := &view.Nodes[i]
		for k := range cmd.Members {
			if m := &cmd.Members[k]; node.Claim != nil && node.Claim.UID == m.UID {
				r.members[m.Node] = memberObjects{node.Claim, pools[m.Pool]}
			}
		}
	}
}

// adoptApprovals finds the approval ConfigMaps of adopted commands, so that their outcome is written there. This is only for people who
// read the ConfigMaps: if a ConfigMap can't be read now, its state stays unchanged.
func (d *disruptor) adoptApprovals(ctx context.Context, view *cluster.View, found *disruption.Recovery) {
	if d.approvals == nil {
		return
	}
	executing := found.Executing()
	done := map[string]bool{}
	for i := range view.Nodes {
		id := executing[view.Nodes[i].Name]
		record, err := disruption.RecordOf(view.Nodes[i].Claim)
		if err != nil || record == nil || id == "" || record.ID != id || done[id] {
			continue
		}
		done[id] = true
		if err := d.approvals.adopt(ctx, id, record.Digest); err != nil {
			d.log.Warn("cannot read ConfigMap of adopted command, recording no outcome in it", "command", id, "digest", record.Digest, "error", err)
		}
	}
}

// restOfWaves returns waves that delay the first plan until the wave of an earlier process is over, if that process had planned more waves.
func restOfWaves(under []*disruption.Command, now time.Time) waves {
	under = slices.DeleteFunc(slices.Clone(under), func(cmd *disruption.Command) bool { return cmd.Wave >= cmd.Waves })
	if len(under) == 0 {
		return waves{}
	}
	return waves{under: under, until: now.Add(leastWave), next: [][]*disruption.Command{nil}, seconds: []float64{0}}
}

// reportUnreadable logs histories that can't be read: budgets with a rate then start without earlier disruptions.
func (d *disruptor) reportUnreadable() {
	for _, pool := range d.state.NodePools() {
		if _, err := disruption.HistoryOf(pool); err != nil {
			d.log.Error("cannot read disruption history, starting an empty history", "nodePool", v1.QualifiedName(pool), "error", err)
		}
	}
}

// noteDisruptions adds disruptions to the history and stores it before it returns.
func (d *disruptor) noteDisruptions(ctx context.Context, run *commandRun, e disruption.NoteDisruptions) error {
	d.mu.Lock()
	d.note(e.Disruptions...)
	d.mu.Unlock()
	pools := map[v1.PoolKey]bool{}
	for i := range e.Disruptions {
		pools[e.Disruptions[i].Pool] = true
	}
	var errs []error
	for pool := range pools {
		errs = append(errs, d.saveHistory(ctx, pool))
	}
	err := errors.Join(errs...)
	d.mu.Lock()
	defer d.mu.Unlock()
	if run != nil {
		run.noting = err
	}
	return err
}

// note records disruptions for budgets with a rate and for cool-downs. The caller holds d.mu.
func (d *disruptor) note(started ...disruption.Disruption) {
	d.history = d.history.Add(started...).Within(d.options.longestWindow(), d.now())
}

// saveHistory stores the pool's history in the pool's annotation. It stores nothing for a deleted pool.
func (d *disruptor) saveHistory(ctx context.Context, key v1.PoolKey) error {
	base := &v1.NodePool{}
	if err := d.client.Get(ctx, qualified(key.String()), base); err != nil {
		return client.IgnoreNotFound(err)
	}
	d.mu.Lock()
	text := d.history.Annotation(key)
	d.mu.Unlock()
	if base.Annotations[v1.DisruptionHistoryAnnotationKey] == text {
		return nil
	}
	want := base.DeepCopy()
	if want.Annotations == nil {
		want.Annotations = map[string]string{}
	}
	want.Annotations[v1.DisruptionHistoryAnnotationKey] = text
	return client.IgnoreNotFound(putPool(ctx, d.client, base, want))
}

package disruption_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/api/v1alpha5"
	"github.com/drawknife/drawknife/api/v1beta1"
	"github.com/drawknife/drawknife/disruption"
	"github.com/drawknife/drawknife/scheduling"
	"github.com/drawknife/drawknife/scheduling/cluster"
	"github.com/drawknife/drawknife/scheduling/nodeclaims"
)

// alpha is the v1 form of a Provisioner whose spec says so much.
func alpha(t *testing.T, spec string) *v1.NodePool {
	t.Helper()
	p := &v1alpha5.Provisioner{}
	read(t, "metadata: {name: default}\nspec: {providerRef: {name: default}, "+spec+"}", p)
	pool, warnings := p.ToV1(v1alpha5.ConvertOptions{Force: true})
	if pool == nil {
		t.Fatal(warnings)
	}
	return pool
}

// beta is the v1 form of a v1beta1 NodePool whose spec.disruption says so much.
func beta(t *testing.T, block string) *v1.NodePool {
	t.Helper()
	p := &v1beta1.NodePool{}
	read(t, "metadata: {name: default}\nspec: {disruption: {"+block+"}, template: {spec: {requirements: [], nodeClassRef: {name: default}}}}", p)
	p.Default()
	pool, warnings := p.ToV1(v1beta1.ConvertOptions{Force: true})
	if pool == nil {
		t.Fatal(warnings)
	}
	return pool
}

func read(t *testing.T, manifest string, into any) {
	t.Helper()
	if err := yaml.UnmarshalStrict([]byte(manifest), into); err != nil {
		t.Fatalf("%s: %v", manifest, err)
	}
}

// born has the world's pool be what the object of an older generation became; its budget lets all go.
func (w *world) born(pool *v1.NodePool) {
	w.pool("default", func(p *v1.NodePool) { p.Spec.Disruption = pool.Spec.Disruption }, budgets([]v1.Budget{}...))
}

// API-437, API-438, DIS-292 to DIS-295, DIS-305, DIS-308 to DIS-310: what pools of older generations do to nodes: idle is empty since so long, busy
// has a pod that fits elsewhere.
func TestOlderPools(t *testing.T) {
	const both = "idle busy"
	for name, c := range map[string]struct {
		pool  *v1.NodePool
		empty time.Duration
		want  string
	}{
		"DIS-308, DIS-310: ten seconds after it was empty":       {alpha(t, "ttlSecondsAfterEmpty: 10"), 10 * time.Second, "idle"},
		"DIS-308, DIS-310: not sooner":                           {alpha(t, "ttlSecondsAfterEmpty: 10"), 9 * time.Second, ""},
		"DIS-308, DIS-310: zero is at once":                      {alpha(t, "ttlSecondsAfterEmpty: 0"), 0, "idle"},
		"DIS-308, DIS-310: nothing is said: nothing goes":        {alpha(t, ""), 100 * time.Hour, ""},
		"DIS-308, DIS-310: consolidation":                        {alpha(t, "consolidation: {enabled: true}"), 0, both},
		"DIS-309 consolidation off and a time":                   {alpha(t, "consolidation: {enabled: false}, ttlSecondsAfterEmpty: 30"), time.Minute, "idle"},
		"DIS-293, DIS-294, DIS-305: by default, without waiting": {beta(t, ""), 0, both},
		"DIS-293, DIS-294: WhenUnderutilized, without waiting":   {beta(t, "consolidationPolicy: WhenUnderutilized"), 0, both},
		"DIS-294 WhenEmpty waits":                                {beta(t, "consolidationPolicy: WhenEmpty, consolidateAfter: 30s"), 29 * time.Second, ""},
		"DIS-294, DIS-305: WhenEmpty":                            {beta(t, "consolidationPolicy: WhenEmpty, consolidateAfter: 30s"), 30 * time.Second, "idle"},
		"DIS-305 switched off stays off":                         {beta(t, "consolidationPolicy: WhenUnderutilized, consolidateAfter: Never"), 100 * time.Hour, ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld()
			w.born(c.pool)
			w.node("idle", "c8")
			w.node("busy", "c4", holding(pods("p", 1, "1")...))
			w.node("room", "c4", ofPool("other"), kept)
			w.pool("other")
			w.nodeState("idle", func(m *cluster.NodeState) { m.LastPodEvent = now().Add(-c.empty) })
			got := ""
			for {
				p := w.plan(t, &disruption.Reference{})
				if len(p.Commands) == 0 {
					break
				}
				if got != "" {
					got += " "
				}
				got += p.Commands[0].Nodes()[0]
				if w.input.Executing == nil {
					w.input.Executing = map[string]string{}
				}
				w.input.Executing[p.Commands[0].Nodes()[0]] = p.Commands[0].ID
			}
			if got != c.want {
				t.Errorf("%q go, want %q: %v", got, c.want, w.plan(t, &disruption.Reference{}).Verdicts)
			}
		})
	}
}

// DIS-295, DIS-299, DIS-305, DIS-308, DIS-310: for how long nodes live, and how many go at a time, by what an older object says.
func TestOlderLifetimes(t *testing.T) {
	for name, c := range map[string]struct {
		pool *v1.NodePool
		life time.Duration // 0 is for ever
	}{
		"DIS-308 fourteen days":      {alpha(t, "ttlSecondsUntilExpired: 1209600"), 336 * time.Hour},
		"DIS-308, DIS-310: for ever": {alpha(t, ""), 0},
		"DIS-295 by default":         {beta(t, ""), 720 * time.Hour},
		"DIS-295, DIS-305: 15 days":  {beta(t, "expireAfter: 360h"), 360 * time.Hour},
		"DIS-295, DIS-305: for ever": {beta(t, "expireAfter: Never"), 0},
	} {
		claim, err := nodeclaims.NewStatic(&scheduling.NodePool{Key: v1.NewPoolKey("default"), Object: c.pool}, nodeclaims.Options{})
		if err != nil {
			t.Fatal(err)
		}
		claim.CreationTimestamp = metav1.NewTime(now())
		if step := disruption.Expire(claim, now()); step.Again != c.life || step.Removal != nil {
			t.Errorf("%s: expires in %s, want %s", name, step.Again, c.life)
		}
		if c.life == 0 {
			continue
		}
		if step := disruption.Expire(claim, now().Add(c.life-time.Second)); step.Removal != nil {
			t.Errorf("%s: a second early", name)
		}
		if step := disruption.Expire(claim, now().Add(c.life)); step.Removal == nil {
			t.Errorf("%s: it does not expire", name)
		}
	}
	w := newWorld()
	w.pool("default", func(p *v1.NodePool) { p.Spec.Disruption = beta(t, "").Spec.Disruption })
	w.fill("n", 20)
	if p := w.plan(t, &disruption.Reference{}); len(p.Commands) != 1 || len(p.Commands[0].Members) != 2 {
		t.Errorf("DIS-299: %q; want a tenth of twenty", said(p))
	}
}

// DIS-309: a time after emptiness and consolidation exclude each other, unless consolidation is off.
func TestConsolidationAndTTL(t *testing.T) {
	for spec, faults := range map[string]int{
		"ttlSecondsAfterEmpty: 30, consolidation: {enabled: true}": 1, "ttlSecondsAfterEmpty: 30, consolidation: {enabled: false}": 0, "ttlSecondsAfterEmpty: -1": 1,
	} {
		p := &v1alpha5.Provisioner{}
		read(t, "metadata: {name: default}\nspec: {providerRef: {name: default}, "+spec+"}", p)
		if errs := p.Validate(); len(errs) != faults {
			t.Errorf("%s: %v", spec, errs)
		}
	}
}

// DIS-307: a node of a Provisioner is its, by the old label, and its hash under the old key is no v1 hash: it does not drift by it.
func TestNodesOfProvisioners(t *testing.T) {
	if key := v1alpha5.PoolOf(map[string]string{"karpenter.sh/provisioner-name": "web"}); key != (v1.PoolKey{Generation: v1.GenerationV1Alpha5, Name: "web"}) {
		t.Errorf("%v", key)
	}
	if v1alpha5.ProvisionerHashAnnotationKey != "karpenter.sh/provisioner-hash" || v1alpha5.EmptinessTimestampAnnotationKey != "karpenter.sh/emptiness-timestamp" {
		t.Error("keys of the first generation have changed")
	}
	for i, kind := range []string{v1alpha5.ConditionMachineDrifted, v1alpha5.ConditionMachineEmpty, v1alpha5.ConditionMachineExpired} {
		if want := []string{"MachineDrifted", "MachineEmpty", "MachineExpired"}[i]; kind != want {
			t.Errorf("%s, want %s", kind, want)
		}
	}
	w := newWorld()
	pool := w.pool("default", func(p *v1.NodePool) {
		p.Annotations = map[string]string{v1.NodePoolHashAnnotationKey: "1", v1.NodePoolHashVersionAnnotationKey: v1.NodePoolHashVersion}
	})
	claim := w.node("n", "c4").Claim
	claim.Annotations = map[string]string{v1alpha5.ProvisionerHashAnnotationKey: "2"}
	step, err := disruption.MarkDrift(claim, disruption.DriftState{Claim: claim, Pool: pool, Provider: &disruption.ProviderDrift{}}, now())
	if err != nil || step.Changed {
		t.Errorf("%+v, %v", step, err)
	}
}

// DIS-269: a node that is interrupted leaves without the planner, whatever budgets say; they see it as one that is being disrupted.
func TestInterruptedNodesDrawOnBudgets(t *testing.T) {
	w := newWorld()
	w.pool("default", budgets(v1.Budget{Nodes: "1"}))
	w.node("idle", "c4")
	gone := w.node("gone", "c4", leaving)
	p, err := (&disruption.Reference{}).Plan(context.Background(), w.fleet(t))
	if err != nil || len(p.Commands) != 0 || why(t, p, "idle", disruption.MethodEmptiness).Code != disruption.BlockBudget {
		t.Errorf("%v, %v", said(p), err)
	}
	if disruption.ReasonInterrupted.Forced() == false {
		t.Error(fmt.Sprint(gone.Name, " waits for a budget"))
	}
}

// DIS-303: a hash of a version before v3, or of none, is no v1 hash: nothing drifts by it, and it is written again.
func TestHashesOfOlderReleases(t *testing.T) {
	for _, version := range []string{"", "v1", "v2"} {
		w := newWorld()
		pool := w.pool("default")
		pool.Annotations = map[string]string{v1.NodePoolHashAnnotationKey: pool.Hash(), v1.NodePoolHashVersionAnnotationKey: v1.NodePoolHashVersion}
		claim := w.node("n", "c4").Claim
		claim.Annotations = map[string]string{v1.NodePoolHashAnnotationKey: "of old"}
		old := pool.DeepCopy()
		old.Annotations[v1.NodePoolHashAnnotationKey] = "of old"
		delete(old.Annotations, v1.NodePoolHashVersionAnnotationKey)
		if version != "" {
			claim.Annotations[v1.NodePoolHashVersionAnnotationKey] = version
			old.Annotations[v1.NodePoolHashVersionAnnotationKey] = version
		}
		step, err := disruption.MarkDrift(claim, disruption.DriftState{Claim: claim, Pool: pool, Provider: &disruption.ProviderDrift{}}, now())
		if err != nil || step.Changed {
			t.Errorf("version %q: %+v, %v", version, step, err)
		}
		hashes := disruption.UpdateHashes(old, []*v1.NodeClaim{claim})
		if len(hashes.Claims) != 1 || hashes.Claims[0].Annotations[v1.NodePoolHashAnnotationKey] != pool.Hash() || hashes.Claims[0].Annotations[v1.NodePoolHashVersionAnnotationKey] != "v3" {
			t.Errorf("version %q: %+v", version, hashes)
		}
	}
}

// Checklist rows S1-081 and S1-083: that the time of an empty node runs is said with its end, and then that it goes for being empty.
func TestEmptyNodeHasATime(t *testing.T) {
	w := newWorld()
	w.born(alpha(t, "ttlSecondsAfterEmpty: 30"))
	w.node("idle", "c4")
	w.nodeState("idle", func(m *cluster.NodeState) { m.LastPodEvent = now().Add(-5 * time.Second) })
	p := w.plan(t, &disruption.Reference{})
	b := why(t, p, "idle", disruption.MethodEmptiness)
	if got, want := b.String(), "pods came or went recently: consolidateAfter of its nodepool has not passed until 2026-05-04T10:00:25Z"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if !p.Again.Equal(now().Add(25 * time.Second)) {
		t.Errorf("planned again at %s", p.Again)
	}
	w.snapshot.Time = p.Again
	if got, want := w.plan(t, &disruption.Reference{}).Commands[0].String(), "delete idle (Empty), moving 0 pods, saving 0.2000 USD/h"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

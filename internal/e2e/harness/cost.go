package harness

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/drawknife/drawknife/api/requirements"
	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/fake"
	"github.com/drawknife/drawknife/scheduling"
)

// Costs compares the cost of the instances with planned costs, in USD per hour.
type Costs struct {
	// Fleet is the cost of the existing instances.
	Fleet float64
	// Ordered is the cost of the instances that the NodeClaims requested, with the first suitable offering of each.
	Ordered float64
	// AtOnce is the cost of a plan that places all pods on new instances at the same time. The fleet can cost more if pods come in batches,
	// or if kube-scheduler binds them to other nodes than planned.
	AtOnce float64
}

// String returns the costs as one line for a test's log.
func (c Costs) String() string {
	line := fmt.Sprintf("the fleet costs $%.4f/h, was ordered for $%.4f/h", c.Fleet, c.Ordered)
	if c.AtOnce > 0 {
		line += fmt.Sprintf(", and planned at once would cost $%.4f/h (%+.1f %%)", c.AtOnce, 100*(c.Fleet/c.AtOnce-1))
	}
	return line
}

// Costs returns the costs of the cluster's instances and claims, and of a plan for the pods of the test's namespace.
func (c *Cluster) Costs() Costs {
	c.t.Helper()
	ctx := c.t.Context()
	var costs Costs
	for _, i := range c.Cloud.Instances() {
		if i.ShutdownAt.IsZero() {
			costs.Fleet += i.Price
		}
	}
	lookup := c.Cloud.Describe().Vocabulary.Compile()
	claims, err := c.Claims()
	c.check(err)
	for i := range claims {
		price, err := c.orderedAt(ctx, &claims[i], lookup)
		c.check(err)
		costs.Ordered += price
	}
	costs.AtOnce, err = c.plannedAtOnce(ctx)
	c.check(err)
	return costs
}

// orderedAt returns the price of the first offering that a launch of the NodeClaim tries.
func (c *Cluster) orderedAt(ctx context.Context, claim *v1.NodeClaim, lookup *requirements.Lookup) (float64, error) {
	types, err := c.Cloud.InstanceTypes(ctx, poolNamed(claim.Labels[v1.NodePoolLabelKey]))
	if err != nil {
		return 0, err
	}
	want, err := lookup.ParseSet(claim.Spec.Requirements)
	if err != nil {
		return 0, err
	}
	for _, candidate := range cloudprovider.LaunchOrder(types, want, claim.Spec.Resources.Requests) {
		if candidate.Offering.HasRoom() {
			return candidate.Offering.Price, nil
		}
	}
	return 0, fmt.Errorf("no offering suits nodeclaim %s", claim.Name)
}

func poolNamed(name string) *v1.NodePool {
	pool := &v1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: name}}
	pool.Spec.Template.Spec.NodeClassRef = v1.NodeClassReference{Group: fake.NodeClassGroup, Kind: fake.NodeClassKind, Name: "default"}
	return pool
}

// plannedAtOnce returns the cost of new instances for all pods, planned together.
func (c *Cluster) plannedAtOnce(ctx context.Context) (float64, error) {
	s := &scheduling.Snapshot{Vocabulary: c.Cloud.Describe().Vocabulary, Catalogs: map[string][]*cloudprovider.InstanceType{}}
	pools, err := c.NodePools.List(ctx, metav1.ListOptions{})
	if err != nil {
		return 0, err
	}
	for i := range pools.Items {
		pool := &pools.Items[i]
		types, err := c.Cloud.InstanceTypes(ctx, pool)
		if err != nil {
			return 0, err
		}
		s.Catalogs[pool.Name] = types
		s.NodePools = append(s.NodePools, scheduling.NodePool{Key: v1.NewPoolKey(pool.Name), Object: pool, Catalog: pool.Name})
	}
	for _, pod := range c.Pods("") {
		waiting := pod.DeepCopy()
		waiting.Spec.NodeName = ""
		s.Pods = append(s.Pods, waiting)
	}
	claims, err := c.Client.CoreV1().PersistentVolumeClaims("").List(ctx, metav1.ListOptions{})
	if err != nil {
		return 0, err
	}
	for i := range claims.Items {
		s.PersistentVolumeClaims = append(s.PersistentVolumeClaims, &claims.Items[i])
	}
	volumes, err := c.Client.CoreV1().PersistentVolumes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return 0, err
	}
	for i := range volumes.Items {
		s.PersistentVolumes = append(s.PersistentVolumes, &volumes.Items[i])
	}
	classes, err := c.Client.StorageV1().StorageClasses().List(ctx, metav1.ListOptions{})
	if err != nil {
		return 0, err
	}
	for i := range classes.Items {
		s.StorageClasses = append(s.StorageClasses, &classes.Items[i])
	}
	model, err := scheduling.Compile(s)
	if err != nil {
		return 0, err
	}
	plan, err := model.Solve(ctx, scheduling.Query{})
	if err != nil {
		return 0, err
	}
	return plan.HourlyCost, nil
}

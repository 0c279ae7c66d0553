package provisioning_test

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/fake"
	"github.com/drawknife/drawknife/provisioning"
	"github.com/drawknife/drawknife/scheduling"
)

// From a pod that waits to what is launched for it. A pool launches nothing before its status is written.
func Example() {
	ctx, now := context.Background(), time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)
	cloud, err := fake.New(fake.GenericTypes(20), fake.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	pool := &v1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: "default"}}
	pool.Spec.Template.Spec.NodeClassRef = v1.NodeClassReference{Group: fake.NodeClassGroup, Kind: fake.NodeClassKind, Name: "default"}
	pool.Default()
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web"}, Spec: corev1.PodSpec{Containers: []corev1.Container{{
		Name: "main", Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1500m")}},
	}}}}
	for range 2 {
		set, err := provisioning.ResolvePools(ctx, cloud, []*v1.NodePool{pool}, nil, now)
		if err != nil {
			fmt.Println(err)
			return
		}
		snapshot := &scheduling.Snapshot{
			Time: now, Vocabulary: cloud.Describe().Vocabulary, NodePools: set.NodePools, Catalogs: set.Catalogs, Pods: []*corev1.Pod{pod},
		}
		model, err := scheduling.Compile(snapshot)
		if err != nil {
			fmt.Println(err)
			return
		}
		plan, err := model.Solve(ctx, scheduling.Query{})
		if err != nil {
			fmt.Println(err)
			return
		}
		orders, err := provisioning.Decide(snapshot, plan, provisioning.PassOptions{})
		if err != nil {
			fmt.Println(err)
			return
		}
		for _, waits := range orders.Waiting {
			fmt.Println(waits.Pod, "waits:", waits.Reasons[0])
		}
		for _, launch := range orders.Launches {
			fmt.Printf("launch for %v at $%.4f/h\n", launch.Pods, launch.Price)
		}
		// The status is stored; a controller writes it to the API server.
		class, err := cloud.NodeClassStatus(ctx, pool.Spec.Template.Spec.NodeClassRef)
		if err != nil {
			fmt.Println(err)
			return
		}
		state := provisioning.PoolState{Pool: pool, Capabilities: cloud.Describe(), Class: &class}
		if changed := provisioning.PoolStatus(state, now); changed != nil {
			pool = changed
		}
	}
	// Output:
	// shop/web waits: incompatible with nodepool "default", it launches no nodes: its status has no condition ValidationSucceeded yet: provisioning.PoolStatus computes it, and it has to be written before pools are resolved
	// launch for [shop/web] at $0.0215/h
}

// Pods that come close together are planned together.
func ExampleBatch() {
	now := time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)
	batch, err := provisioning.NewBatch(provisioning.DefaultBatchOptions())
	if err != nil {
		fmt.Println(err)
		return
	}
	batch.Trigger("web-1", now)
	batch.Trigger("web-2", now.Add(500*time.Millisecond))
	for _, after := range []time.Duration{time.Second, 1500 * time.Millisecond} {
		due, again := batch.Next(now.Add(after))
		fmt.Println(after, due, again)
	}
	fmt.Println(batch.Begin(now.Add(1500 * time.Millisecond)))
	// Output:
	// 1s false 500ms
	// 1.5s true 0s
	// [web-1 web-2]
}

// A rate limiter holds back what would change too much at once, and says until when.
func ExampleRateLimiter() {
	now := time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)
	bounds := provisioning.DefaultRateLimiterOptions()
	bounds.CostIncrease = 5
	rateLimiter, err := provisioning.NewRateLimiter(bounds)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(rateLimiter.Admit("first", 4, now))
	fmt.Println(rateLimiter.Admit("second", 4, now.Add(time.Minute)))
	// Output:
	// <nil>
	// launch held back: it would raise the hourly cost by 8.00 USD in all and CostIncrease is 5.00; next at 2026-05-04T12:10:00Z
}

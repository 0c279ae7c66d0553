package cloudprovider_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"maps"
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/drawknife/drawknife/api/requirements"
	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/fake/build"
)

// shelf is a cloud of boards on a shelf, all of one kind. What it has given away it keeps by the UID of the claim, so that a call that is
// repeated gives the same board.
type shelf struct {
	board *cloudprovider.InstanceType
	free  int

	mu    sync.Mutex
	taken map[string]*v1.NodeClaim // by provider ID
}

var _ cloudprovider.CloudProvider = (*shelf)(nil)

func (s *shelf) Name() string { return "shelf" }

func (s *shelf) Describe() cloudprovider.Capabilities {
	return cloudprovider.Capabilities{
		NodeClasses: []metav1.GroupKind{{Group: "shelf.example.com", Kind: "ShelfNodeClass"}},
		Vocabulary:  requirements.CoreVocabulary(),
	}
}

func (s *shelf) InstanceTypes(context.Context, *v1.NodePool) ([]*cloudprovider.InstanceType, error) {
	return []*cloudprovider.InstanceType{s.board}, nil
}

func (s *shelf) Create(_ context.Context, claim *v1.NodeClaim) (*v1.NodeClaim, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	id := "shelf:///" + string(claim.UID)
	if board, ok := s.taken[id]; ok {
		return board.DeepCopy(), nil
	}
	if len(s.taken) == s.free {
		key := cloudprovider.OfferingKey{InstanceType: s.board.Name, Zone: "office", CapacityType: v1.CapacityTypeOnDemand}
		return nil, cloudprovider.NewInsufficientCapacityError(errors.New("the shelf is empty"), key)
	}
	board := build.Claim(claim.Name, build.OfType(s.board, "", ""), build.ProviderID(id))
	maps.Copy(board.Labels, claim.Labels)
	s.taken[id] = board
	return board.DeepCopy(), nil
}

func (s *shelf) Delete(_ context.Context, claim *v1.NodeClaim) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	id := claim.Status.ProviderID
	if s.taken[id] == nil {
		return cloudprovider.NewNodeClaimNotFoundError(id, errors.New("the board is on the shelf"))
	}
	delete(s.taken, id)
	return nil
}

func (s *shelf) Get(_ context.Context, providerID string) (*v1.NodeClaim, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if board, ok := s.taken[providerID]; ok {
		return board.DeepCopy(), nil
	}
	return nil, cloudprovider.NewNodeClaimNotFoundError(providerID, errors.New("the board is on the shelf"))
}

func (s *shelf) List(context.Context) ([]*v1.NodeClaim, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var list []*v1.NodeClaim
	for _, id := range slices.Sorted(maps.Keys(s.taken)) {
		list = append(list, s.taken[id].DeepCopy())
	}
	return list, nil
}

// A provider of one's own: seven methods. docs/providers.md builds one that survives crashes, and cloudprovider/conformance finds what is
// wrong with it.
func ExampleCloudProvider() {
	board := build.InstanceType("board", build.CPU("4"), build.Memory("8Gi"), build.OnDemand("office", 0.01))
	var provider cloudprovider.CloudProvider = &shelf{board: board, free: 1, taken: map[string]*v1.NodeClaim{}}

	ctx := context.Background()
	instance, err := provider.Create(ctx, build.Claim("a", build.UID("1")))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(instance.Status.ProviderID, instance.Labels[corev1.LabelInstanceTypeStable], instance.Status.Allocatable.Cpu())
	_, err = provider.Create(ctx, build.Claim("b", build.UID("2")))
	fmt.Println(cloudprovider.KindOf(err), err)
	fmt.Println(provider.Delete(ctx, instance))
	fmt.Println(cloudprovider.KindOf(provider.Delete(ctx, instance)))
	// Output:
	// shelf:///1 board 4
	// InsufficientCapacity insufficient capacity in board/office/on-demand: the shelf is empty
	// <nil>
	// NodeClaimNotFound
}

// This file takes the place of the controller's simulation.go when tests of internal/e2e build the program with a cloud that
// outlives it: the test has the instances, and the program asks it by HTTP.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"

	ctrl "sigs.k8s.io/controller-runtime"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/fake"
)

// simulation sells what a fake cloud does, and has a remote one launch it.
type simulation struct {
	*fake.Cloud
	url string
}

// question is what the remote cloud is asked about, and answer what it says.
type (
	question struct {
		Claim      *v1.NodeClaim `json:"claim,omitempty"`
		ProviderID string        `json:"providerID,omitempty"`
	}
	answer struct {
		Claim     *v1.NodeClaim               `json:"claim,omitempty"`
		Claims    []*v1.NodeClaim             `json:"claims,omitempty"`
		Drift     cloudprovider.DriftReason   `json:"drift,omitempty"`
		Gate      cloudprovider.GateResult    `json:"gate"`
		Kind      cloudprovider.ErrorKind     `json:"kind,omitempty"`
		Error     string                      `json:"error,omitempty"`
		Offerings []cloudprovider.OfferingKey `json:"offerings,omitempty"`
	}
)

// simulationOptions has the fields that newProvider sets. Only catalog has an effect: the cloud is in another process.
type simulationOptions struct {
	catalog      string
	alpha, still bool
	launchCost   func(v1.PoolKey) cloudprovider.LaunchCost
}

func newSimulation(_ context.Context, _ ctrl.Manager, o simulationOptions, _ *slog.Logger) (*simulation, error) {
	types, err := simulatedTypes(o.catalog)
	if err != nil {
		return nil, err
	}
	cloud, err := fake.New(types, fake.Options{})
	if err != nil {
		return nil, err
	}
	url := os.Getenv("E2E_CLOUD")
	if url == "" {
		return nil, errors.New("E2E_CLOUD names no cloud")
	}
	return &simulation{Cloud: cloud, url: url}, nil
}

func (s *simulation) ask(ctx context.Context, method string, q question) (answer, error) {
	var a answer
	body, err := json.Marshal(q)
	if err != nil {
		return a, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url+"/"+method, bytes.NewReader(body))
	if err != nil {
		return a, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return a, cloudprovider.NewTransientError(err)
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		return a, cloudprovider.NewTransientError(fmt.Errorf("the cloud answers %s", response.Status))
	}
	if err := json.NewDecoder(response.Body).Decode(&a); err != nil {
		return a, cloudprovider.NewTransientError(err)
	}
	if a.Kind == "" {
		return a, nil
	}
	cause := errors.New(a.Error)
	switch a.Kind {
	case cloudprovider.NodeClaimNotFound:
		return a, cloudprovider.NewNodeClaimNotFoundError(q.ProviderID, cause)
	case cloudprovider.InsufficientCapacity:
		return a, cloudprovider.NewInsufficientCapacityError(cause, a.Offerings...)
	}
	return a, cloudprovider.NewTransientError(cause)
}

// Create launches an instance.
func (s *simulation) Create(ctx context.Context, claim *v1.NodeClaim) (*v1.NodeClaim, error) {
	a, err := s.ask(ctx, "Create", question{Claim: claim})
	return a.Claim, err
}

// Delete ends an instance.
func (s *simulation) Delete(ctx context.Context, claim *v1.NodeClaim) error {
	_, err := s.ask(ctx, "Delete", question{Claim: claim, ProviderID: claim.Status.ProviderID})
	return err
}

// Get describes an instance.
func (s *simulation) Get(ctx context.Context, providerID string) (*v1.NodeClaim, error) {
	a, err := s.ask(ctx, "Get", question{ProviderID: providerID})
	return a.Claim, err
}

// List describes all instances.
func (s *simulation) List(ctx context.Context) ([]*v1.NodeClaim, error) {
	a, err := s.ask(ctx, "List", question{})
	return a.Claims, err
}

// IsDrifted reports whether an instance is what is asked for today.
func (s *simulation) IsDrifted(ctx context.Context, claim *v1.NodeClaim) (cloudprovider.DriftReason, error) {
	a, err := s.ask(ctx, "IsDrifted", question{Claim: claim, ProviderID: claim.Status.ProviderID})
	return a.Drift, err
}

// Registered reports whether a node may take pods.
func (s *simulation) Registered(ctx context.Context, claim *v1.NodeClaim) (cloudprovider.GateResult, error) {
	a, err := s.ask(ctx, "Registered", question{Claim: claim, ProviderID: claim.Status.ProviderID})
	return a.Gate, err
}

package provisioning

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/drawknife/drawknife/api/option"
	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
)

// launchedTogether returns the claims that launch with the claim, or not at all: those of its group that are not kept. Every claim of the
// group gives the same list, so that each of them asks the provider for the same, in parallel or after a restart. Nil if there are no
// others.
func launchedTogether(s ClaimState) []*v1.NodeClaim {
	g, ok := groupOf(s)
	if !ok || g.there != g.Claims || g.kept > g.Claims-2 {
		return nil
	}
	members := []*v1.NodeClaim{s.Claim.DeepCopy()}
	for _, claim := range s.Group {
		of, ok := v1.LaunchGroupOf(claim)
		if ok && of.Name == g.Name && !of.Kept && claim.DeletionTimestamp == nil && claim.UID != s.Claim.UID {
			members = append(members, claim.DeepCopy())
		}
	}
	slices.SortFunc(members, func(a, b *v1.NodeClaim) int { return cmp.Compare(a.UID, b.UID) })
	return members
}

// Launch asks the provider for the claim's instance and returns the answer for Lifecycle.Created. The claims of a launch group are
// launched all or nothing where the provider can do that (cloudprovider.GroupCreator): each of them makes the same call, and the
// provider answers all with the same instances. Where it can't, each is launched by Create, and the group is given up if one of them
// fails. The error is the provider's, or an *option.ArgumentError if the provider or the claim is nil.
func (e CreateInstance) Launch(ctx context.Context, provider cloudprovider.CloudProvider) (*v1.NodeClaim, error) {
	switch {
	case provider == nil:
		return nil, option.Missing("CreateInstance.Launch", "the provider")
	case e.Claim == nil:
		return nil, option.Missing("CreateInstance.Launch", "the claim")
	}
	if len(e.Group) > 1 {
		if groups, ok := cloudprovider.As[cloudprovider.GroupCreator](provider); ok {
			created, err := groups.CreateGroup(ctx, e.Group)
			if !errors.Is(err, errors.ErrUnsupported) {
				return e.answer(created, err)
			}
		}
	}
	return provider.Create(ctx, e.Claim)
}

// answer returns the claim's part of the answer for its group.
func (e CreateInstance) answer(created []*v1.NodeClaim, err error) (*v1.NodeClaim, error) {
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(e.Group, func(claim *v1.NodeClaim) bool { return claim != nil && claim.UID == e.Claim.UID })
	if at < 0 || at >= len(created) || created[at] == nil {
		return nil, cloudprovider.NewTransientError(fmt.Errorf("launching nodeclaim %q with its group: the provider described %d instances for %d nodeclaims", e.Claim.Name, len(created), len(e.Group)))
	}
	return created[at], nil
}

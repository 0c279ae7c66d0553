package instanceprofile

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	iamtypes "github.com/aws/aws-sdk-go-v2/service/iam/types"

	"github.com/drawknife/drawknife/aws/internal/refresh"
	"github.com/drawknife/drawknife/aws/sdk"
)

// Profile is an instance profile as IAM describes it.
type Profile struct {
	// Name of the profile.
	Name string
	// Path of the profile, "/karpenter/us-east-1/demo/…/".
	Path string
	// Roles in the profile, by their names without paths. IAM allows at most one role in a profile.
	Roles []string
	// Tags of the profile. List leaves them out, because IAM's lists do not contain tags.
	Tags map[string]string
}

// has reports whether role, given without its path, is the profile's only role.
func (p Profile) has(role string) bool { return len(p.Roles) == 1 && p.Roles[0] == role }

func fromIAM(in *iamtypes.InstanceProfile) Profile {
	p := Profile{Name: aws.ToString(in.InstanceProfileName), Path: aws.ToString(in.Path)}
	for _, role := range in.Roles {
		p.Roles = append(p.Roles, bare(aws.ToString(role.RoleName)))
	}
	if len(in.Tags) > 0 {
		p.Tags = make(map[string]string, len(in.Tags))
		for _, tag := range in.Tags {
			p.Tags[aws.ToString(tag.Key)] = aws.ToString(tag.Value)
		}
	}
	return p
}

// read asks IAM for a profile. If the profile does not exist, read returns false without an error.
func (m *Manager) read(ctx context.Context, name string) (Profile, bool, error) {
	out, err := m.options.IAM.GetInstanceProfile(ctx, &iam.GetInstanceProfileInput{InstanceProfileName: &name})
	switch {
	case sdk.IsNotFound(err):
		return Profile{}, false, nil
	case err != nil:
		return Profile{}, false, sdk.Wrap(fmt.Sprintf("reading instance profile %q", name), err)
	case out == nil || out.InstanceProfile == nil:
		return Profile{}, false, fmt.Errorf("reading instance profile %q: the answer is empty", name)
	}
	p := fromIAM(out.InstanceProfile)
	p.Name = name
	return p, true, nil
}

// List reads the profiles that were made for the cluster in the region, without their tags, by name. It returns the complete list or an
// error.
func (m *Manager) List(ctx context.Context) ([]Profile, error) { return m.list(ctx, m.Path()) }

func (m *Manager) list(ctx context.Context, path string) ([]Profile, error) {
	var found []Profile
	err := refresh.Pages(ctx, func(token *string) (*string, error) {
		out, err := m.options.IAM.ListInstanceProfiles(ctx, &iam.ListInstanceProfilesInput{PathPrefix: &path, Marker: token})
		if err != nil {
			return nil, err
		}
		for i := range out.InstanceProfiles {
			found = append(found, fromIAM(&out.InstanceProfiles[i]))
		}
		if !out.IsTruncated {
			return nil, nil
		}
		return out.Marker, nil
	})
	if err != nil {
		return nil, sdk.Wrap(fmt.Sprintf("listing instance profiles below %q", path), err)
	}
	slices.SortFunc(found, func(a, b Profile) int { return strings.Compare(a.Name, b.Name) })
	return found, nil
}

// tagList returns tags in IAM's format, sorted by key.
func tagList(tags map[string]string) []iamtypes.Tag {
	list := make([]iamtypes.Tag, 0, len(tags))
	for _, key := range slices.Sorted(maps.Keys(tags)) {
		list = append(list, iamtypes.Tag{Key: aws.String(key), Value: aws.String(tags[key])})
	}
	return list
}

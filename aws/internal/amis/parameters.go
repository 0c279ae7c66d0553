package amis

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/ssm"

	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	"github.com/drawknife/drawknife/aws/sdk"
)

// parameter reads the image's id out of an SSM parameter. A parameter that does not exist or has another type is a problem, described in a
// sentence; a failed read is an error.
func (r *Resolver) parameter(ctx context.Context, name string) (id, problem string, err error) {
	if id, ok := r.parameters.get(name, r.now()); ok {
		return id, "", nil
	}
	out, err := r.ssm.GetParameter(ctx, &ssm.GetParameterInput{Name: &name})
	switch {
	case sdk.Code(err) == "ParameterNotFound" || sdk.Code(err) == "ParameterVersionNotFound":
		return "", "there is no such parameter in this region", nil
	case err != nil:
		return "", "", sdk.Wrap(fmt.Sprintf("reading parameter %s", name), err)
	case out.Parameter == nil || out.Parameter.Value == nil || !strings.HasPrefix(*out.Parameter.Value, "ami-"):
		return "", "the parameter does not contain the id of an image, ami-…", nil
	}
	id = *out.Parameter.Value
	lifetime := userLifetime
	if isPublished(name) {
		lifetime = publishedLifetime
	}
	r.parameters.put(name, id, r.now(), lifetime)
	return id, "", nil
}

// Recheck checks whether images of parameters that follow the newest release were deprecated or withdrawn. If so, it forgets these
// parameters, so that the next Resolve finds AWS's current recommendation. It returns how many it forgot. Call it every half hour.
func (r *Resolver) Recheck(ctx context.Context) (forgotten int, err error) {
	follow := r.parameters.values(r.now())
	maps.DeleteFunc(follow, func(name, _ string) bool { return !followsNewest(name) })
	if len(follow) == 0 {
		return 0, nil
	}
	images, err := ask(ctx, r.ec2, queryByID(slices.Collect(maps.Values(follow))))
	if err != nil {
		return 0, fmt.Errorf("rechecking images: %w", err)
	}
	good := make(map[string]bool)
	for _, image := range images {
		at, deprecates := timeOf(image.DeprecationTime)
		if image.ImageId != nil && (!deprecates || at.After(r.now())) {
			good[*image.ImageId] = true
		}
	}
	for name, id := range follow {
		if !good[id] {
			r.parameters.drop(name)
			forgotten++
		}
	}
	return forgotten, nil
}

// followsNewest reports whether AWS changes the value of the parameter with each release.
func followsNewest(name string) bool {
	return isPublished(name) && (strings.Contains(name, "/recommended/") || strings.Contains(name, "/"+awsv1.AliasVersionLatest+"/") ||
		strings.Contains(name, "/ami-windows-latest/"))
}

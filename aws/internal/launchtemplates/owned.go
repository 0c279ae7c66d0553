package launchtemplates

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	"github.com/drawknife/drawknife/aws/internal/refresh"
	"github.com/drawknife/drawknife/aws/sdk"
)

// pageSize is the largest number of templates that EC2 lists at once.
const pageSize = 200

// Hydrate reads which templates of the cluster exist: templates of an earlier process are used again, or deleted once their lifetime is
// over. Call it once at start, after this process has become the leader. The store also works after an error, and Hydrate can be called
// again.
func (s *Store) Hydrate(ctx context.Context) error {
	found, err := s.list(ctx, s.ofCluster())
	if err != nil {
		return err
	}
	now := s.options.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, t := range found {
		if s.entries[t.name] == nil {
			s.entries[t.name] = &entry{id: t.id, lastUsed: now}
		}
	}
	return nil
}

// DeleteNodeClass deletes all templates that were made for a node class, known to this store or not. An error joins all failures, and means
// that some templates are left: keep the class's finalizer and call again. Deleting a missing template is not an error.
func (s *Store) DeleteNodeClass(ctx context.Context, nodeClass string) error {
	if nodeClass == "" {
		return errors.New("deleting launch templates: the node class has no name")
	}
	return s.deleteListed(ctx, append(s.ofCluster(), byTag(awsv1.TagNodeClass, nodeClass)))
}

// DeleteAll deletes all templates of the cluster, for an uninstallation.
func (s *Store) DeleteAll(ctx context.Context) error { return s.deleteListed(ctx, s.ofCluster()) }

func (s *Store) deleteListed(ctx context.Context, filters []ec2types.Filter) error {
	found, err := s.list(ctx, filters)
	if err != nil {
		return err
	}
	errs := make([]error, len(found))
	s.each(len(found), func(i int) {
		e, _, err := s.claim(ctx, found[i].name)
		if err != nil {
			errs[i] = err
			return
		}
		errs[i] = s.delete(ctx, found[i].name, found[i].id)
		e.id = found[i].id
		s.release(found[i].name, e, errs[i] != nil)
	})
	return errors.Join(errs...)
}

// listed is a template as EC2 lists it.
type listed struct{ name, id string }

func (s *Store) ofCluster() []ec2types.Filter {
	return []ec2types.Filter{byTag(awsv1.TagClusterName, s.options.ClusterName)}
}

func byTag(key, value string) ec2types.Filter {
	name := "tag:" + key
	return ec2types.Filter{Name: &name, Values: []string{value}}
}

func (s *Store) list(ctx context.Context, filters []ec2types.Filter) ([]listed, error) {
	size := int32(pageSize)
	var found []listed
	err := refresh.Pages(ctx, func(token *string) (*string, error) {
		out, err := s.api.DescribeLaunchTemplates(ctx, &ec2.DescribeLaunchTemplatesInput{Filters: filters, MaxResults: &size, NextToken: token})
		if err != nil {
			return nil, sdk.Wrap("listing launch templates", err)
		}
		for _, t := range out.LaunchTemplates {
			if t.LaunchTemplateName == nil || t.LaunchTemplateId == nil {
				return nil, errors.New("listing launch templates: EC2 lists one without name or id")
			}
			found = append(found, listed{*t.LaunchTemplateName, *t.LaunchTemplateId})
		}
		return out.NextToken, nil
	})
	if err != nil {
		return nil, fmt.Errorf("launch templates of cluster %q: %w", s.options.ClusterName, err)
	}
	return found, nil
}

package launchtemplates

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	"github.com/drawknife/drawknife/aws/launchtemplate"
	"github.com/drawknife/drawknife/aws/sdk"
	"github.com/drawknife/drawknife/cloudprovider"
)

// quotaCode is EC2's error code for an account that has as many templates as its quota allows.
const quotaCode = "MaxTemplateLimitExceeded"

// Ensure creates missing templates, and returns the templates that exist afterwards, in the order of the argument. If some templates can't
// be created but at least one exists, the result contains only the existing ones, because an instance can be launched from any of them. If
// none exists, the error joins all causes. sdk.Wrap has classified each cause: it is QuotaExceeded if the account's quota of templates is
// used up. Ensure also restarts the lifetime of existing templates.
func (s *Store) Ensure(ctx context.Context, templates []launchtemplate.Template) ([]launchtemplate.Template, error) {
	errs := make([]error, len(templates))
	s.each(len(templates), func(i int) { errs[i] = s.ensure(ctx, templates[i]) })
	var ready []launchtemplate.Template
	for i, err := range errs {
		if err == nil {
			ready = append(ready, templates[i])
		}
	}
	err := errors.Join(errs...)
	switch {
	case err == nil:
		return ready, nil
	case len(ready) == 0 || ctx.Err() != nil:
		return nil, err
	}
	s.options.Logger.WarnContext(ctx, "cannot create some launch templates, launching with the other templates", "ready", len(ready), "of", len(templates), "error", err)
	return ready, nil
}

func (s *Store) ensure(ctx context.Context, t launchtemplate.Template) error {
	if s.use(t.Name, s.options.Now()) {
		return nil
	}
	e, found, err := s.claim(ctx, t.Name)
	if err != nil {
		return err
	}
	if !found {
		// This goroutine has claimed the entry, so no other goroutine writes the id; other goroutines only read lastUsed.
		var id string
		if id, err = s.create(ctx, t); err != nil {
			s.release(t.Name, e, false)
			return err
		}
		e.id = id
	}
	s.mu.Lock()
	e.lastUsed = s.options.Now()
	s.mu.Unlock()
	s.release(t.Name, e, true)
	return nil
}

// create makes a template and returns its id. An existing template is reused.
func (s *Store) create(ctx context.Context, t launchtemplate.Template) (id string, err error) {
	doing := "creating launch template " + t.Name
	if err := s.breaker.allow(s.options.Now()); err != nil {
		return "", fmt.Errorf("%s: %w", doing, err)
	}
	input := &ec2.CreateLaunchTemplateInput{
		LaunchTemplateName: &t.Name,
		LaunchTemplateData: t.Data,
		TagSpecifications:  t.TagSpecifications(),
	}
	out, err := s.api.CreateLaunchTemplate(ctx, input)
	if sdk.Code(err) == quotaCode && s.makeRoom(ctx) > 0 {
		out, err = s.api.CreateLaunchTemplate(ctx, input)
	}
	s.breaker.report(s.options.Now(), err)
	switch {
	case sdk.IsAlreadyExists(err):
		return s.adopt(ctx, t.Name)
	case sdk.Code(err) == quotaCode:
		return "", cloudprovider.NewQuotaExceededError("launch templates of the account", sdk.Wrap(doing, err))
	case err != nil:
		return "", sdk.Wrap(doing, err)
	case out.LaunchTemplate == nil || out.LaunchTemplate.LaunchTemplateId == nil:
		return "", fmt.Errorf("%s: EC2's answer names no template", doing)
	}
	id = *out.LaunchTemplate.LaunchTemplateId
	s.options.Logger.InfoContext(ctx, "created launch template", "launchTemplateID", id, "launchTemplate", t)
	if s.options.OnCreate != nil {
		s.options.OnCreate(t)
	}
	return id, nil
}

// adopt adds an existing template that this store does not know: an earlier process created it, or a call to EC2 whose response was lost.
func (s *Store) adopt(ctx context.Context, name string) (id string, err error) {
	doing := "reading launch template " + name
	out, err := s.api.DescribeLaunchTemplates(ctx, &ec2.DescribeLaunchTemplatesInput{LaunchTemplateNames: []string{name}})
	if err != nil {
		return "", sdk.Wrap(doing, err)
	}
	if len(out.LaunchTemplates) != 1 || out.LaunchTemplates[0].LaunchTemplateId == nil {
		return "", fmt.Errorf("%s: EC2 reports that the launch template exists, but lists %d launch templates of this name", doing, len(out.LaunchTemplates))
	}
	if owner := tag(out.LaunchTemplates[0].Tags, awsv1.TagClusterName); owner != s.options.ClusterName {
		return "", cloudprovider.NewPermanentError(fmt.Errorf("%s: its tag %s is %q, but must be %q: delete the launch template, or restore its tags",
			doing, awsv1.TagClusterName, owner, s.options.ClusterName))
	}
	return *out.LaunchTemplates[0].LaunchTemplateId, nil
}

func tag(tags []ec2types.Tag, key string) string {
	for _, t := range tags {
		if t.Key != nil && *t.Key == key && t.Value != nil {
			return *t.Value
		}
	}
	return ""
}

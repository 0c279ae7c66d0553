package launchtemplates

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/ec2"

	"github.com/drawknife/drawknife/aws/sdk"
)

// roomAtOnce is the number of templates that are deleted if the account's quota is used up.
const roomAtOnce = 20

// Sweep deletes templates that were not used for the store's lifetime and, if there are too many, those that were unused for longest. It
// returns the number of deleted templates; failed deletions are repeated next time, and their errors are joined. Call it every minute or
// so.
func (s *Store) Sweep(ctx context.Context) (deleted int, err error) {
	now := s.options.Now()
	return s.remove(ctx, func(idle []idleTemplate, total int) []idleTemplate {
		surplus := total - s.options.MaxTemplates
		n := 0
		for n < len(idle) && (now.Sub(idle[n].lastUsed) >= s.options.Lifetime || n < surplus) {
			n++
		}
		return idle[:n]
	})
}

// makeRoom deletes some unused templates, because the account's quota is used up, and returns their number.
func (s *Store) makeRoom(ctx context.Context) int {
	deleted, err := s.remove(ctx, func(idle []idleTemplate, _ int) []idleTemplate { return idle[:min(len(idle), roomAtOnce)] })
	s.options.Logger.WarnContext(ctx, "tried to delete unused launch templates because their quota is reached", "deleted", deleted, "error", err)
	return deleted
}

// idleTemplate is a template that no launch can be using.
type idleTemplate struct {
	name     string
	lastUsed time.Time
	entry    *entry
}

// remove deletes the idle templates that choose selects. choose gets them in the order of their last use, with the number of all templates.
// Selected templates are marked before the lock is released, so that no launch can start to use them.
func (s *Store) remove(ctx context.Context, choose func(idle []idleTemplate, total int) []idleTemplate) (deleted int, err error) {
	now := s.options.Now()
	s.mu.Lock()
	var idle []idleTemplate
	for name, e := range s.entries {
		if e.busy == nil && now.Sub(e.lastUsed) >= minIdle {
			idle = append(idle, idleTemplate{name, e.lastUsed, e})
		}
	}
	slices.SortFunc(idle, func(a, b idleTemplate) int {
		if c := a.lastUsed.Compare(b.lastUsed); c != 0 {
			return c
		}
		if a.name < b.name {
			return -1
		}
		return 1
	})
	picked := choose(idle, len(s.entries))
	for _, t := range picked {
		t.entry.busy = make(chan struct{})
	}
	s.mu.Unlock()

	errs := make([]error, len(picked))
	s.each(len(picked), func(i int) {
		t := picked[i]
		errs[i] = s.delete(ctx, t.name, t.entry.id)
		s.release(t.name, t.entry, errs[i] != nil)
	})
	for _, err := range errs {
		if err == nil {
			deleted++
		}
	}
	return deleted, errors.Join(errs...)
}

// delete removes one template from EC2, by its id if that is known. It succeeds if the template does not exist any more.
func (s *Store) delete(ctx context.Context, name, id string) error {
	input := &ec2.DeleteLaunchTemplateInput{LaunchTemplateName: &name}
	if id != "" {
		input = &ec2.DeleteLaunchTemplateInput{LaunchTemplateId: &id}
	}
	if _, err := s.api.DeleteLaunchTemplate(ctx, input); err != nil && !sdk.IsLaunchTemplateNotFound(err) {
		return sdk.Wrap("deleting launch template "+name, err)
	}
	s.options.Logger.InfoContext(ctx, "deleted launch template", "name", name, "launchTemplateID", id)
	return nil
}

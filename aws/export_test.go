package aws

import (
	"github.com/drawknife/drawknife/aws/internal/launchtemplates"
	"github.com/drawknife/drawknife/aws/internal/reservations"
	"github.com/drawknife/drawknife/aws/internal/subnets"
	"github.com/drawknife/drawknife/aws/internal/unavailable"
)

// What tests look into and change.

func (p *Provider) Unavailable() *unavailable.Memory        { return p.unavailable }
func (p *Provider) Reservations() *reservations.Tracker     { return p.reservations }
func (p *Provider) Subnets() *subnets.Tracker               { return p.subnets.Tracker() }
func (p *Provider) LaunchTemplates() *launchtemplates.Store { return p.templates }

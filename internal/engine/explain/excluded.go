package explain

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/api/requirements"
	"github.com/drawknife/drawknife/internal/engine/match"
	"github.com/drawknife/drawknife/internal/engine/model"
	"github.com/drawknife/drawknife/internal/engine/nodepool"
	"github.com/drawknife/drawknife/scheduling/planning"
)

// excluded returns the reason why no node of the pool can meet any of the pod's alternatives.
func (x *explainer) excluded(p *nodepool.Pool) planning.Reason {
	var refused *planning.Reason
	for _, own := range x.s.Terms {
		r := refusedBy(x.m, p, own)
		if r == nil {
			r = contradiction(p, own)
		}
		if r == nil {
			return x.volumesReason()
		}
		if refused == nil {
			refused = r
		}
	}
	return *refused
}

// contradiction returns the reason why no pool can meet an alternative that contradicts itself, or nil if it has no contradiction. For
// example, its node selector names one operating system and spec.os another.
func contradiction(p *nodepool.Pool, own match.Needs) *planning.Reason {
	key := own.Conflict()
	if key == "" {
		return nil
	}
	return &planning.Reason{Pool: p.Key, Code: planning.ReasonRequirements, Key: key, Detail: "the pod's own requirements exclude each other: " + own.About(key).String()}
}

// demandKey returns the reason why no node of the pool can meet the requirement r of a pod, or nil if a node can.
func demandKey(m *model.Model, p *nodepool.Pool, r requirements.Requirement) *planning.Reason {
	if p.Admits(r) {
		return nil
	}
	key := r.Key()
	refuse := func(detail string) *planning.Reason {
		return &planning.Reason{Pool: p.Key, Code: planning.ReasonRequirements, Key: key, Detail: "incompatible requirements, " + detail}
	}
	switch {
	case p.Template.Has(key):
		return refuse(asked(key, match.Needs{r}, p.Template.Get(key)))
	case key == match.NodeName:
		return refuse("field metadata.name names one node, and a new node's name is not known before it is launched")
	case key == corev1.LabelHostname:
		return refuse("label " + key + " names one node, and a new node's name is not known before it is launched")
	case m.Vocab.IsWellKnown(key):
		return refuse("label " + key + " is stated by none of the pool's instance types")
	}
	return refuse(fmt.Sprintf("label %q does not have known values: the nodepool must state it as a label or a requirement", key))
}

// refusedBy returns the reason why the pool excludes the demand, or nil if the pool does not exclude it.
func refusedBy(m *model.Model, p *nodepool.Pool, demand match.Needs) *planning.Reason {
	for _, r := range demand {
		if reason := demandKey(m, p, r); reason != nil {
			return reason
		}
	}
	for _, key := range demand.Keys() {
		about := demand.About(key)
		have := p.Template.Get(key)
		if !p.Template.Has(key) || have.Operator() == requirements.OpDoesNotExist || len(about) < 2 {
			continue
		}
		left := have
		for _, r := range about {
			left = left.Intersect(r)
		}
		if left.Operator() == requirements.OpDoesNotExist {
			return &planning.Reason{Pool: p.Key, Code: planning.ReasonRequirements, Key: key,
				Detail: "incompatible requirements, " + asked(key, about, have)}
		}
	}
	return nil
}

func (x *explainer) volumesReason() planning.Reason {
	var places []string
	for _, a := range x.s.Volumes.Alternatives {
		places = append(places, a.String())
	}
	return planning.Reason{Code: planning.ReasonVolumes, Detail: "its volumes can be used only where " + strings.Join(places, " or ") +
		", and the nodepool has no node for the pod there"}
}

// asked describes the pod's and the pool's requirements on a label. It names the label only once.
func asked(key string, wants match.Needs, allows requirements.Requirement) string {
	short := func(r requirements.Requirement) string { return strings.TrimPrefix(r.String(), key+" ") }
	parts := make([]string, len(wants))
	for i, r := range wants {
		parts[i] = short(r)
	}
	return fmt.Sprintf("key %s: the pod wants %s, the pool allows %s", key, strings.Join(parts, " and "), short(allows))
}

package model

import (
	"github.com/drawknife/drawknife/api/requirements"
	"github.com/drawknife/drawknife/internal/engine/claimed"
	"github.com/drawknife/drawknife/internal/engine/existing"
	"github.com/drawknife/drawknife/internal/engine/likeness"
	"github.com/drawknife/drawknife/internal/engine/market"
	"github.com/drawknife/drawknife/internal/engine/match"
	"github.com/drawknife/drawknife/internal/engine/nodepool"
	"github.com/drawknife/drawknife/internal/engine/podclass"
	"github.com/drawknife/drawknife/internal/engine/resources"
	"github.com/drawknife/drawknife/internal/engine/runtimes"
	"github.com/drawknife/drawknife/internal/engine/volumes"
	"github.com/drawknife/drawknife/scheduling/planning"
	"slices"
)

// Compile returns a Model of the snapshot. It refuses a snapshot that contradicts itself: it returns a *SnapshotError. A pod that can't be
// planned is not an error; the plan explains why. The snapshot must not be changed afterwards.
func Compile(s *planning.Snapshot, options ...CompileOption) (*Model, error) {
	var o Options
	for _, option := range options {
		if option != nil {
			option(&o)
		}
	}
	c, err := compile(s, nil, &o)
	if err != nil {
		return nil, err
	}
	return c.Model, nil
}

// Compiled is a model, with data that were read for the model but are not part of it.
type Compiled struct {
	Model *Model
	// Book has the kinds of the model's classes, with the same numbers as the classes, and the model's rules.
	Book *podclass.Book
	// Bound has the class of each node's pods, in the snapshot's order.
	Bound [][]int32
	// Gangs records how the gangs were read, by numbers of classes. It is nil if there are no gangs.
	Gangs *GangRecord
}

// CompileAgain returns a Model of a later snapshot. It does the same as Compile, with the matcher of the previous model. Compiled catalogs,
// and catalogs that overlays changed, are shared with the previous model if they have not changed since.
func CompileAgain(s *planning.Snapshot, previous *Model) (*Compiled, error) {
	return compile(s, previous, &Options{matcher: previous.Matcher})
}

// compile returns the model. It reuses parts of the previous model, which may be nil.
func compile(s *planning.Snapshot, previous *Model, o *Options) (*Compiled, error) {
	if s == nil {
		return nil, &planning.SnapshotError{Path: "snapshot", Rule: "is nil", Cure: "give one; an empty Snapshot is a cluster without anything"}
	}
	s, err := WithGangPods(s)
	if err != nil {
		return nil, err
	}
	vocabulary := s.Vocabulary
	if vocabulary.IsZero() {
		vocabulary = requirements.CoreVocabulary()
	}
	unrestricted := vocabulary
	unrestricted.RestrictedDomains, unrestricted.RestrictedKeys = nil, nil
	vocab := vocabulary.Compile()
	m := &Model{
		Snapshot: s, Vocab: vocab, Terms: match.Terms{Vocabulary: vocab, Pods: unrestricted.Compile()}, Resources: resources.NewTable(),
		Catalogs: map[string]*market.Catalog{}, Tables: map[string]*nodepool.Table{},
		AskedKeys: map[string]bool{},
	}
	r, err := CheckObjects(s, previous, o)
	if err != nil {
		return nil, err
	}
	m.RunTimes = runtimes.Read(runtimes.Input{Snapshot: s, Roster: r})
	if err = m.compileSpot(r); err != nil {
		return nil, err
	}
	readGangs, err := readGangs(s, r, vocab)
	if err != nil {
		return nil, err
	}
	m.Volumes = volumes.New(VolumesOf(s, r.Claimants), m.Vocab)
	m.Matcher = o.matcher
	m.Devices = claimed.New(s, r, m.Resources, m.Terms, o.matcher)
	m.CollectResources(s, r)
	if err := m.compileCatalogs(s, previous, o); err != nil {
		return nil, err
	}
	if err := m.compileCosts(s); err != nil {
		return nil, err
	}
	w := likeness.NewWriter(m.Resources, m.Volumes)
	if m.Devices != nil {
		w.Pins, w.Tolerated = m.Devices.Pins, m.Devices.Tolerations
	}
	m.Pods = s.Pods
	if len(s.Placeholders) > 0 {
		m.Pods = slices.Concat(s.Pods, s.Placeholders)
	}
	m.compileDaemons(s, r)
	m.CollectTopology(s, r)
	if err := m.compilePools(s, previous); err != nil {
		return nil, err
	}
	b := podclass.NewBook(m.Reader(), m.TopologyIndex)
	bound := m.classPods(s, r, w, b)
	if readGangs != nil {
		m.Gangs = readGangs.index
		m.Gangs.setClasses(func(like int32) int32 { return r.Patterns[like].Class }, m.PodClass)
	}
	m.FindResidents()
	if err := m.compileNodes(s, r, bound); err != nil {
		return nil, err
	}
	m.Standings = m.Seller().Standings(m.Nodes)
	m.Fits = existing.NewAcceptance(m.Groups, m.Shapes)
	found := podclass.NewStages(0)
	for _, c := range m.Classes {
		if c.Invalid == nil {
			found.Find(m.Pools, c, m.Shapes[c.Shape])
		}
	}
	m.Stages = found.List
	m.TopologyIndex = nil
	m.VolumesBound = m.boundVolumes(r)
	if len(m.Topology) > 0 {
		m.Base = m.Layout().Count(m.Reachable)
		ofHosts := m.Base.DomainCounts()
		m.Reach = m.Layout().Reach(m.Base, nil)
		m.HostDomains = ofHosts
		m.Base.Owned = false
	}
	for _, p := range m.Pools {
		p.FindRobust(m.Resources.Len())
	}
	for _, c := range m.Catalogs {
		c.Freeze()
	}
	c := &Compiled{Model: m, Book: b, Bound: bound}
	if readGangs != nil && previous != nil {
		c.Gangs = gangRecordOf(readGangs)
		c.Gangs.Rename(func(like *int32) { *like = r.Patterns[*like].Class }, &GangIndex{})
	}
	return c, nil
}

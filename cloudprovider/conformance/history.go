package conformance

import (
	"fmt"
	"regexp"
	"slices"

	"pgregory.net/rapid"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
)

// callFaults says whether calls of a history fail.
type callFaults string

const (
	noFaults   callFaults = "no faults"
	someFaults callFaults = "some faults"
)

// verdict is the result of the random histories: the clause that a history broke, and a text that says how. The zero value means that no
// clause was broken.
type verdict struct {
	clause string
	text   string
}

// clausesOfHistories lists the clauses that a history can break. Each history runs once and tests all of these clauses.
func clausesOfHistories() []string {
	return []string{"CP-CREATE-02", "CP-CREATE-09", "CP-DELETE-01", "CP-DELETE-02", "CP-GET-01", "CP-GET-02", "CP-LIST-01", "CP-LIST-02"}
}

// fromHistories fails a clause that random histories have broken.
func (s *session) fromHistories(l *lab, id string) {
	if !slices.Contains(clausesOfHistories(), id) || l.Failed() {
		return
	}
	for _, f := range []callFaults{noFaults, someFaults} {
		// If a clause fails in the histories without faults, the histories with faults are not run, because they would fail as well.
		if f == someFaults && (l.Inject == nil || s.histories[noFaults].clause != "") {
			continue
		}
		found, done := s.histories[f]
		if !done {
			found = l.histories(f)
			s.histories[f] = found
		}
		if found.clause == id {
			l.Error(found.text)
		}
	}
}

// histories tests the clauses about the lifecycle with random sequences of calls, restarts and faults. If a sequence breaks a clause,
// package rapid shortens it as far as possible.
func (l *lab) histories(f callFaults) *verdict {
	found := &verdict{}
	examined := examine(l.TB, l.Name(), l.options.Deadline, func(p *probe) {
		sub := l.session.newLab(p)
		sub.property(func(t *rapid.T) {
			sub.clear()
			sub.renew()
			h := &history{lab: sub, T: t, faults: f, found: found}
			h.play()
		})
	})
	if examined.outcome == Failed {
		for _, line := range examined.faults {
			found.text += line + "\n"
		}
		if found.clause == "" { // a method of the lab has failed instead of the history; its message names the clause
			found.clause = namedClause.FindString(found.text)
		}
		for _, line := range examined.log {
			if !slices.Contains(examined.faults, line) {
				found.text += line + "\n"
			}
		}
	}
	return found
}

// namedClause finds the clause that a message names.
var namedClause = regexp.MustCompile(`CP-[A-Z]+-[0-9]{2}`)

// life is the state of one claim in a history.
type life struct {
	claim *v1.NodeClaim
	// instance is the NodeClaim that a call returned last; nil if no call has returned an instance
	instance *v1.NodeClaim
	phase    phase
}

type phase int

const (
	unknown  phase = iota // a launch failed, so there may be an instance
	living                // Create has returned an instance
	ending                // Delete was accepted
	finished              // Delete has reported that the instance is gone
)

// history is one random sequence of calls, with the results expected so far.
type history struct {
	*lab
	*rapid.T
	faults callFaults
	found  *verdict
	lives  []*life
	said   []string
	// offerings are the offerings that anyClaim chooses from.
	offerings []cloudprovider.Candidate
}

// breach replaces the property's Fatalf, to record the clause that was broken. (history embeds the lab and the property's T: Fatalf and
// similar methods are those of T.)
func (h *history) breach(clause, format string, args ...any) {
	text := fmt.Sprintf("%s: ", clause) + fmt.Sprintf(format, args...)
	h.found.clause, h.found.text = clause, ""
	h.T.Fatalf("%s\nafter %v", text, h.said)
}

func (h *history) say(format string, args ...any) {
	h.said = append(h.said, fmt.Sprintf(format, args...))
}

func (h *history) play() {
	actions := []string{"launch", "launch", "launch again", "delete", "delete", "get", "list", "wait", "restart"}
	if h.faults == someFaults {
		actions = append(actions, "lose launch", "fail launch", "fail delete", "lose delete", "fail list", "brown-out")
	}
	for _, action := range rapid.SliceOfN(rapid.SampledFrom(actions), 1, h.options.Steps).Draw(h.T, "history") {
		h.step(action)
	}
	h.finish()
}

func (h *history) step(action string) {
	switch action {
	case "launch":
		h.lives = append(h.lives, &life{claim: h.anyClaim()})
		h.launch(h.lives[len(h.lives)-1])
	case "launch again":
		if one := h.any(); one != nil {
			h.launch(one)
		}
	case "delete":
		if one := h.any(); one != nil {
			h.remove(one)
		}
	case "get":
		if one := h.any(); one != nil {
			h.get(one)
		}
	case "list":
		h.listed()
	case "wait":
		if h.Advance != nil {
			h.say("wait")
			h.Advance(h.options.Poll)
		}
	case "restart":
		if h.Restart != nil {
			h.say("restart")
			h.Provider = h.Restart()
		}
	case "lose launch":
		h.lives = append(h.lives, &life{claim: h.claim()})
		h.under(Fault{Method: MethodCreate, Kind: cloudprovider.Transient, Lost: true}, func() { h.launch(h.lives[len(h.lives)-1]) })
	case "fail launch":
		h.lives = append(h.lives, &life{claim: h.claim()})
		h.under(Fault{Method: MethodCreate, Kind: cloudprovider.Throttled}, func() { h.launch(h.lives[len(h.lives)-1]) })
	case "lose delete", "fail delete":
		if one := h.any(); one != nil {
			h.under(Fault{Method: MethodDelete, Kind: cloudprovider.Transient, Lost: action == "lose delete"}, func() { h.remove(one) })
		}
	case "fail list":
		h.under(Fault{Method: MethodList, Kind: cloudprovider.Throttled}, func() { _, _ = h.Provider.List(h.lab.Context()) })
	case "brown-out":
		h.brownOut()
	}
}

// anyClaim returns a new claim, for any offering or for one random offering. It avoids reserved offerings, because there are few and other
// clauses cover them.
func (h *history) anyClaim() *v1.NodeClaim {
	if h.offerings == nil {
		h.offerings = slices.DeleteFunc(h.spread(), func(c cloudprovider.Candidate) bool { return c.Offering.Reserved() })
	}
	i := rapid.IntRange(-1, len(h.offerings)-1).Draw(h.T, "offering")
	if i < 0 {
		return h.claim()
	}
	return h.ofOffering(h.offerings[i])
}

// any returns a random claim, or nil if the history has no claims.
func (h *history) any() *life {
	if len(h.lives) == 0 {
		return nil
	}
	return h.lives[rapid.IntRange(0, len(h.lives)-1).Draw(h.T, "claim")]
}

// under injects the fault, calls do(), and ends the fault. It does nothing if the cloud can't produce the fault.
func (h *history) under(f Fault, do func()) {
	heal, err := h.inject(f)
	if err != nil {
		return
	}
	defer heal()
	h.say("%s of %s (lost: %v):", orUnexplained(f.Kind), f.Method, f.Lost)
	do()
}

// brownOut makes the cloud refuse all calls for a while.
func (h *history) brownOut() {
	for _, method := range []Method{MethodCreate, MethodDelete, MethodGet, MethodList} {
		if heal, err := h.inject(Fault{Method: method, Kind: cloudprovider.Transient}); err == nil {
			defer heal()
		}
	}
	h.say("brown-out:")
	if one := h.any(); one != nil {
		h.launch(one)
		h.remove(one)
	}
	_, _ = h.Provider.List(h.lab.Context())
}

func (h *history) launch(one *life) {
	created, err := h.Provider.Create(h.lab.Context(), one.claim.DeepCopy())
	if err != nil {
		h.say("launch %s: %v", one.claim.Name, cloudprovider.KindOf(err))
		if one.phase == finished {
			one.phase, one.instance = unknown, nil
		}
		return
	}
	h.say("launch %s: %s", one.claim.Name, created.Status.ProviderID)
	h.lab.own(created)
	same := one.instance != nil && one.instance.Status.ProviderID == created.Status.ProviderID
	switch {
	case one.phase == living && !same:
		h.breach("CP-CREATE-02", "claim %q has instance %q, and Create gives %q", one.claim.Name, one.instance.Status.ProviderID, created.Status.ProviderID)
	case one.phase == finished && same:
		h.breach("CP-CREATE-02", "claim %q was given instance %q again, which is gone", one.claim.Name, created.Status.ProviderID)
	case one.phase == ending && same:
		return
	}
	one.instance, one.phase = created, living
}

func (h *history) remove(one *life) {
	if one.instance == nil {
		return
	}
	err := h.Provider.Delete(h.lab.Context(), one.instance)
	h.say("delete %s: %v", one.instance.Status.ProviderID, err)
	switch {
	case cloudprovider.IsNodeClaimNotFound(err):
		id := one.instance.Status.ProviderID
		if h.lab.Instances != nil && h.there(id) {
			h.breach("CP-DELETE-01", "Delete says that instance %q is gone; the cloud still has it", id)
		}
		if got, err := h.Provider.Get(h.lab.Context(), id); err == nil {
			h.breach("CP-GET-02", "Delete says that instance %q is gone, and Get describes it: %v", id, got.DeletionTimestamp)
		}
		one.phase = finished
	case err == nil && one.phase == finished:
		h.breach("CP-DELETE-02", "instance %q was gone, and Delete says that termination is under way", one.instance.Status.ProviderID)
	case err == nil:
		one.phase = ending
	case one.phase == living:
		one.phase = ending // Delete's answer was lost, so the instance may be ending
	}
}

// runs reports whether Get returns an instance that is not shutting down.
func (h *history) runs(id string) bool {
	got, err := h.Provider.Get(h.lab.Context(), id)
	return err == nil && got.DeletionTimestamp.IsZero()
}

func (h *history) get(one *life) {
	if one.instance == nil || one.phase == unknown {
		return
	}
	got, err := h.Provider.Get(h.lab.Context(), one.instance.Status.ProviderID)
	h.say("get %s: %v", one.instance.Status.ProviderID, err)
	switch {
	case err != nil && !cloudprovider.IsNodeClaimNotFound(err):
	case one.phase == living && err != nil:
		h.breach("CP-GET-01", "instance %q is running: %v", one.instance.Status.ProviderID, err)
	case one.phase == living && differ(one.instance, got):
		h.breach("CP-GET-01", "Get differs from Create\nCreate %+v\nGet    %+v", described(one.instance), described(got))
	case one.phase == finished && err == nil:
		h.breach("CP-GET-02", "instance %q is gone, and Get describes it", one.instance.Status.ProviderID)
	}
}

func (h *history) listed() {
	h.lag()
	all, err := h.Provider.List(h.lab.Context())
	h.say("list: %d, %v", len(all), err)
	if err != nil {
		return
	}
	byID := map[string]*v1.NodeClaim{}
	for _, c := range all {
		byID[c.Status.ProviderID] = c
	}
	for _, one := range h.lives {
		if one.instance == nil {
			continue
		}
		id := one.instance.Status.ProviderID
		entry := byID[id]
		switch {
		case one.phase == living && entry == nil:
			h.breach("CP-LIST-01", "instance %q is running and not listed", id)
		case one.phase == finished && entry != nil:
			h.breach("CP-LIST-02", "instance %q is gone and listed", id)
		}
	}
}

// finish ends all instances, without faults. Before that it repeats launches of unknown outcome: each must return the instance that List
// shows for the claim, if there is one.
func (h *history) finish() {
	h.listed()
	for _, one := range h.lives {
		if one.phase != unknown {
			continue
		}
		h.lag()
		var left string
		for id, c := range h.listBy(h.Provider) {
			if c.UID == one.claim.UID && c.DeletionTimestamp.IsZero() && h.runs(id) {
				left = id
			}
		}
		h.launch(one)
		if one.instance != nil && left != "" && left != one.instance.Status.ProviderID {
			h.breach("CP-CREATE-09", "a failed launch left instance %q, and the next gave %q", left, one.instance.Status.ProviderID)
		}
	}
	for _, one := range h.lives {
		if one.instance != nil && one.phase != finished {
			h.lab.end(one.instance)
		}
	}
	h.lag()
	for id, c := range h.listBy(h.Provider) {
		for _, one := range h.lives {
			if c.UID == one.claim.UID && c.DeletionTimestamp.IsZero() && one.instance != nil && one.instance.Status.ProviderID != id && h.runs(id) {
				h.breach("CP-CREATE-09", "instance %q of claim %q is left, which Create never told of", id, one.claim.Name)
			}
		}
	}
}

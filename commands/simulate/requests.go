package simulate

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	autoscalingv1 "github.com/drawknife/drawknife/api/autoscaling/v1"
	"github.com/drawknife/drawknife/scheduling"
	"github.com/drawknife/drawknife/scheduling/manifests"
	"github.com/drawknife/drawknife/scheduling/requests"
)

// request is the answer to a ProvisioningRequest.
type request struct {
	Name  string `json:"name"`
	Class string `json:"class"`
	// Conditions contains the known conditions.
	Conditions []requestCondition `json:"conditions"`
	// Details are left out if there are none.
	Details map[string]string `json:"details,omitempty"`
}

type requestCondition struct {
	Type    string `json:"type"`
	Status  string `json:"status"`
	Reason  string `json:"reason"`
	Message string `json:"message"`
}

func newRequests(answers []requests.Answer) []request {
	var out []request
	for _, a := range answers {
		r := request{
			Name: a.Request.Namespace + "/" + a.Request.Name, Class: a.Request.Spec.ProvisioningClassName,
			Conditions: make([]requestCondition, 0, len(a.Request.Status.Conditions)),
		}
		for _, c := range a.Request.Status.Conditions {
			r.Conditions = append(r.Conditions, requestCondition{Type: c.Type, Status: string(c.Status), Reason: c.Reason, Message: c.Message})
		}
		for key, text := range a.Request.Status.ProvisioningClassDetails {
			if r.Details == nil {
				r.Details = map[string]string{}
			}
			r.Details[key] = string(text)
		}
		out = append(out, r)
	}
	return out
}

// keepRequests keeps the ProvisioningRequests of the input, except those of unknown classes.
func (s *simulation) keepRequests(loaded *manifests.Result) {
	for _, r := range loaded.Requests {
		if class := r.Spec.ProvisioningClassName; !autoscalingv1.Answered(class) {
			s.note("RequestNotAnswered", "ProvisioningRequest %s/%s is of class %s, which others answer", r.Namespace, r.Name, class)
			continue
		}
		s.requests = append(s.requests, r)
	}
	s.podTemplates = loaded.PodTemplates
}

// requestInput contains the requests, and the snapshot for answering them.
func (s *simulation) requestInput(snapshot *scheduling.Snapshot) requests.Input {
	return requests.Input{Snapshot: snapshot, Requests: s.requests, PodTemplates: s.podTemplates, Query: s.query, DeviceMatcher: s.matcher}
}

// beginRound begins to answer the requests of the input: it returns the snapshot to be planned. If the input has no requests, it returns
// snapshot unchanged. If the command does not make a single plan, beginRound only keeps the bookings that requests already have.
func (s *simulation) beginRound(ctx context.Context, snapshot *scheduling.Snapshot) (*scheduling.Snapshot, error) {
	if len(s.requests) == 0 {
		return snapshot, nil
	}
	if s.consolidate || s.diff != "" || s.replay.trace != "" {
		s.note("RequestsNotAnswered", "ProvisioningRequests are not answered here; they hold what they have booked")
		return requests.With(snapshot, requests.Held(s.requestInput(snapshot))), nil
	}
	s.progress.Enter("answering " + counted(len(s.requests), "request"))
	round, err := requests.Begin(ctx, s.requestInput(snapshot))
	if err != nil {
		return nil, fmt.Errorf("answering ProvisioningRequests: %w", err)
	}
	s.round = round
	for _, pod := range round.HeldBack {
		s.note("PodHeldBack", "pod %s waits for a ProvisioningRequest that launches nothing and has booked no room for it: it is not planned", pod)
	}
	return round.Snapshot, nil
}

// answer completes the answers to requests with the results of the plan.
func (s *simulation) answer(ctx context.Context, plan *scheduling.Plan) ([]requests.Answer, error) {
	if s.round == nil {
		return nil, nil
	}
	answers, err := s.round.Answer(ctx, plan)
	if err != nil {
		return nil, fmt.Errorf("answering ProvisioningRequests: %w", err)
	}
	return answers, nil
}

// unanswered reports whether a request has failed, was refused, or found no capacity.
func unanswered(answers []requests.Answer) bool {
	return slices.ContainsFunc(answers, func(a requests.Answer) bool {
		return a.Request.Is(autoscalingv1.ConditionFailed) || a.Request.Condition(autoscalingv1.ConditionProvisioned).Reason == autoscalingv1.ReasonCapacityIsNotFound ||
			a.Request.Condition(autoscalingv1.ConditionAccepted).Status == metav1.ConditionFalse
	})
}

// asked returns the number of pods in the snapshot's gangs that do not exist yet, because they belong to ProvisioningRequests.
func asked(snapshot *scheduling.Snapshot) int {
	n := 0
	for i := range snapshot.Gangs {
		n += snapshot.Gangs[i].Size() - len(snapshot.Gangs[i].Members)
	}
	return n
}

// addAsked adds the pods of ProvisioningRequests, which are planned as gangs, to the index.
func (x workloadIndex) addAsked(snapshot *scheduling.Snapshot) {
	for i := range snapshot.Gangs {
		g := &snapshot.Gangs[i]
		kind, name, _ := strings.Cut(g.Source, " ")
		_, name, _ = strings.Cut(name, "/")
		for _, t := range g.Templates {
			for number := range t.Count {
				x[scheduling.PodKey{Namespace: g.Namespace, Name: fmt.Sprintf("%s-%d", t.Name, number)}] = workload{kind: kind, namespace: g.Namespace, name: name}
			}
		}
	}
}

// writeRequests prints the outcome of each request, and its details.
func (r textReport) writeRequests(w io.Writer) {
	if len(r.answers) == 0 {
		return
	}
	fmt.Fprintf(w, "\n%s\n", r.paint(bold, counted(len(r.answers), "provisioning request")))
	for _, a := range r.answers {
		r.writeWrapped(w, "  ", a.Request.Namespace+"/"+a.Request.Name+" ("+a.Request.Spec.ProvisioningClassName+"): "+answerSentence(a.Request))
		r.writeDetails(w, a.Request.Status.ProvisioningClassDetails)
	}
}

// answerSentence returns the result in words.
func answerSentence(r *autoscalingv1.ProvisioningRequest) string {
	c := r.Outcome()
	return fmt.Sprintf("%s %s, %s: %s", c.Type, c.Status, c.Reason, c.Message)
}

// shownDetail is the number of characters of a detail that are shown, unless the user asks for all.
const shownDetail = 400

// writeDetails lists the details of an answer, in the order of the keys.
func (r textReport) writeDetails(w io.Writer, details map[string]autoscalingv1.Detail) {
	for _, key := range slices.Sorted(maps.Keys(details)) {
		text := strings.ReplaceAll(strings.TrimSpace(string(details[key])), "\n", "; ")
		if key == autoscalingv1.DetailPlanNodes {
			text = plannedNodesText(text)
		}
		if !r.verbose && len(text) > shownDetail {
			text = strings.ToValidUTF8(text[:shownDetail], "") + r.ellipsis() + " (--verbose shows all)"
		}
		r.writeWrapped(w, "    ", key+": "+text)
	}
}

// plannedNodesText returns the list in words: "2 m7i.large in us-east-1a, on-demand, $0.1/h each; …".
func plannedNodesText(text string) string {
	var list []requests.PlannedNodes
	if json.Unmarshal([]byte(text), &list) != nil {
		return text
	}
	parts := make([]string, len(list))
	for i, n := range list {
		parts[i] = fmt.Sprintf("%s %s of nodepool %s in %s, %s, %s/h each", number(n.Count), n.InstanceType, n.NodePool, n.Zone, n.CapacityType, dollars(n.HourlyPrice))
	}
	return strings.Join(parts, "; ")
}

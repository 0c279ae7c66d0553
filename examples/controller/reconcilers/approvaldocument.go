package reconcilers

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/drawknife/drawknife/disruption"
	"github.com/drawknife/drawknife/scheduling"
)

// Keys of the data of ConfigMaps of commands that wait for approval.
const (
	// ApprovalSummaryKey is the key of a summary of the command in one line.
	ApprovalSummaryKey = "summary"
	// ApprovalCommandKey is the key of the command as YAML: see ApprovalDocument.
	ApprovalCommandKey = "command.yaml"
)

// ApprovalDocument describes a command for the person who approves it. New versions only add fields.
type ApprovalDocument struct {
	// APIVersion and Kind are ApprovalDocumentVersion and ApprovalDocumentKind.
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	// Digest identifies the command's actions; see disruption.Command.Digest.
	Digest   string    `json:"digest"`
	ID       string    `json:"id"`
	Decision string    `json:"decision"`
	Reason   string    `json:"reason"`
	Method   string    `json:"method"`
	Planned  time.Time `json:"planned"`
	// Savings is in USD per hour; DisruptionCost is the cost of the disruption, in units of an ordinary pod.
	Savings        float64            `json:"savings"`
	DisruptionCost float64            `json:"disruptionCost"`
	Nodes          []ApprovalNode     `json:"nodes"`
	Launches       []ApprovalLaunch   `json:"launches"`
	Receivers      []ApprovalReceiver `json:"receivers"`
	// Shortened is true if some pods are left out because a ConfigMap can't contain them all.
	Shortened bool `json:"shortened,omitempty"`
}

// ApprovalDocumentVersion and ApprovalDocumentKind identify the format of the document.
const (
	ApprovalDocumentVersion = "drawknife.dev/v1"
	ApprovalDocumentKind    = "DisruptionCommand"
)

// ApprovalNode is a node to remove, with the pods to evict.
type ApprovalNode struct {
	Name      string   `json:"name"`
	NodeClaim string   `json:"nodeClaim"`
	NodePool  string   `json:"nodePool"`
	Price     float64  `json:"price"`
	Pods      []string `json:"pods"`
}

// ApprovalLaunch is a node to launch: the planned offering, other types that may be launched instead, and the planned pods.
type ApprovalLaunch struct {
	NodePool      string   `json:"nodePool"`
	InstanceType  string   `json:"instanceType,omitempty"`
	Zone          string   `json:"zone,omitempty"`
	CapacityType  string   `json:"capacityType,omitempty"`
	Price         float64  `json:"price,omitempty"`
	OrOneOf       []string `json:"orOneOf,omitempty"`
	OrOneOfOthers int      `json:"orOneOfOthers,omitempty"`
	Pods          []string `json:"pods"`
}

// ApprovalReceiver is an existing node on which the command places pods.
type ApprovalReceiver struct {
	Name string   `json:"name"`
	Pods []string `json:"pods"`
}

const (
	// longestDocument is the maximum size of the document: a ConfigMap with all its fields may have 1 MiB.
	longestDocument = 900_000
	// listedTypes is how many other instance types of a launch are listed.
	listedTypes = 20
)

func approvalDocument(cmd *disruption.Command, digest string) ApprovalDocument {
	d := ApprovalDocument{
		APIVersion: ApprovalDocumentVersion, Kind: ApprovalDocumentKind, Digest: digest, ID: cmd.ID, Decision: string(cmd.Decision()), Reason: string(cmd.Reason),
		Method: string(cmd.Method), Planned: cmd.Planned.UTC(), Savings: cmd.Savings, Nodes: []ApprovalNode{}, Launches: []ApprovalLaunch{}, Receivers: []ApprovalReceiver{},
	}
	for i := range cmd.Members {
		m := &cmd.Members[i]
		d.DisruptionCost += m.Cost
		d.Nodes = append(d.Nodes, ApprovalNode{Name: m.Node, NodeClaim: m.Claim, NodePool: m.Pool.String(), Price: m.Price, Pods: podNames(m.Pods)})
	}
	for i := range cmd.Replacements {
		r := &cmd.Replacements[i]
		launch := ApprovalLaunch{NodePool: r.Pool.String(), Pods: []string{}}
		if r.Node != nil {
			first := &r.Node.InstanceTypes[0]
			launch.InstanceType, launch.Zone, launch.CapacityType, launch.Price = first.Name, first.Zone, first.CapacityType, first.Price
			for _, o := range r.Node.InstanceTypes[1:] {
				if len(launch.OrOneOf) == listedTypes {
					launch.OrOneOfOthers++
					continue
				}
				launch.OrOneOf = append(launch.OrOneOf, o.Name)
			}
			launch.Pods = podNames(r.Node.Pods)
		}
		d.Launches = append(d.Launches, launch)
	}
	for _, r := range cmd.Receivers {
		d.Receivers = append(d.Receivers, ApprovalReceiver{Name: r.Name, Pods: podNames(r.Pods)})
	}
	return d
}

func podNames(pods []scheduling.PodKey) []string {
	out := make([]string, 0, len(pods))
	for _, key := range pods {
		out = append(out, key.String())
	}
	return out
}

// shorten removes all pods and receivers from the document.
func (d *ApprovalDocument) shorten() {
	d.Shortened = true
	for i := range d.Nodes {
		d.Nodes[i].Pods = nil
	}
	for i := range d.Launches {
		d.Launches[i].Pods = nil
	}
	d.Receivers = nil
}

// object returns the ConfigMap of the command. The data of the ConfigMap can't be changed, only its labels and annotations.
func (a *approvals) object(cmd *disruption.Command, digest string, deadline time.Time) (*corev1.ConfigMap, error) {
	d := approvalDocument(cmd, digest)
	text, err := yaml.Marshal(d)
	if err == nil && len(text) > longestDocument {
		d.shorten()
		text, err = yaml.Marshal(d)
	}
	if err != nil {
		return nil, err
	}
	immutable := true
	return &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: a.namespace, Name: approvalPrefix + digest,
			Labels:      map[string]string{ApprovalStateLabelKey: string(ApprovalWaiting), managedByLabelKey: managedByValue},
			Annotations: map[string]string{ApprovalDigestAnnotationKey: digest, ApprovalDeadlineAnnotationKey: deadline.UTC().Format(time.RFC3339)},
		},
		Immutable: &immutable,
		Data:      map[string]string{ApprovalSummaryKey: cut(cmd.String(), longestSummary), ApprovalCommandKey: string(text)},
	}, nil
}

// longestSummary is the maximum number of bytes of the summary, which names all nodes.
const longestSummary = 10_000

package main

import (
	"encoding/json"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/scheduling"
)

// document is what -o json prints. It is a contract, described in the package comment: keys are only ever added.
type document struct {
	Summary       summary            `json:"summary"`
	Nodes         []plannedNode      `json:"nodes"`
	Existing      []existingNode     `json:"existing"`
	Unschedulable []unschedulablePod `json:"unschedulable"`
	Notes         []planNote         `json:"notes"`
}

type summary struct {
	Pods          int     `json:"pods"`
	Placed        int     `json:"placed"`
	Unschedulable int     `json:"unschedulable"`
	ExistingNodes int     `json:"existingNodes"`
	NewNodes      int     `json:"newNodes"`
	HourlyCost    float64 `json:"hourlyCost"`
	LowerBound    float64 `json:"lowerBound"`
	SolveMillis   float64 `json:"solveMillis"`
}

type plannedNode struct {
	Name          string     `json:"name"`
	NodePool      string     `json:"nodePool"`
	InstanceType  string     `json:"instanceType"`
	Zone          string     `json:"zone"`
	CapacityType  string     `json:"capacityType"`
	Price         float64    `json:"price"`
	InstanceTypes []string   `json:"instanceTypes"`
	Pods          []string   `json:"pods"`
	Requests      quantities `json:"requests"`
	Allocatable   quantities `json:"allocatable"`
}

type existingNode struct {
	Name string   `json:"name"`
	Pods []string `json:"pods"`
}

type unschedulablePod struct {
	Pod     string      `json:"pod"`
	Reasons []podReason `json:"reasons"`
}

type podReason struct {
	NodePool string `json:"nodePool"`
	Code     string `json:"code"`
	Message  string `json:"message"`
}

type planNote struct {
	Code    string `json:"code"`
	Object  string `json:"object"`
	Message string `json:"message"`
}

// quantities are amounts by resource, spelled as Kubernetes spells them ("1500m", "2Gi").
type quantities map[string]string

func newQuantities(list corev1.ResourceList) quantities {
	q := make(quantities, len(list))
	for name, amount := range list {
		q[string(name)] = amount.String()
	}
	return q
}

// newDocument writes down a plan; solve is how long Solve took. But for that, the document is a function of the
// snapshot and its plan alone, so that a replay prints the same.
func newDocument(snapshot *scheduling.Snapshot, plan *scheduling.Plan, solve time.Duration) document {
	d := document{
		Nodes:         make([]plannedNode, 0, len(plan.NewNodes)),
		Existing:      newExistingNodes(snapshot, plan),
		Unschedulable: make([]unschedulablePod, 0, len(plan.Unschedulable)),
		Notes:         make([]planNote, 0, len(plan.Notes)),
	}
	for _, node := range plan.NewNodes {
		d.Nodes = append(d.Nodes, newPlannedNode(node))
		d.Summary.HourlyCost += price(node)
	}
	for _, pod := range plan.Unschedulable {
		d.Unschedulable = append(d.Unschedulable, newUnschedulablePod(pod))
	}
	for _, note := range plan.Notes {
		d.Notes = append(d.Notes, planNote{Code: note.Code, Object: note.Object, Message: note.Message})
	}
	d.Summary.Pods = len(snapshot.Pods)
	d.Summary.Placed = countPlaced(plan)
	d.Summary.Unschedulable = len(plan.Unschedulable)
	d.Summary.ExistingNodes = len(snapshot.Nodes)
	d.Summary.NewNodes = len(plan.NewNodes)
	d.Summary.HourlyCost = math.Round(d.Summary.HourlyCost*dollarParts) / dollarParts
	// Rounding must not lift a bound above what it was proven to be.
	d.Summary.LowerBound = math.Floor(plan.LowerBound*dollarParts) / dollarParts
	d.Summary.SolveMillis = float64(solve.Microseconds()) / 1000
	return d
}

// dollarParts is the number of parts a dollar is rounded to: enough to keep the sum of prices exact to 1e-6, few enough
// to hide the tail of binary fractions.
const dollarParts = 1e9

func newPlannedNode(node scheduling.NewNode) plannedNode {
	n := plannedNode{
		Name:          node.Name,
		NodePool:      node.Pool.String(),
		InstanceTypes: make([]string, 0, len(node.InstanceTypes)),
		Pods:          podNames(node.Pods),
		Requests:      newQuantities(node.Requests),
		Allocatable:   newQuantities(node.Allocatable),
	}
	for _, option := range node.InstanceTypes {
		n.InstanceTypes = append(n.InstanceTypes, option.Name)
	}
	if len(node.InstanceTypes) > 0 {
		cheapest := node.InstanceTypes[0]
		n.InstanceType, n.Zone, n.CapacityType, n.Price =
			cheapest.Name, cheapest.Zone, cheapest.CapacityType, cheapest.Price
	}
	return n
}

// newExistingNodes lists all machines the cluster has, by name, those that receive no pod too.
func newExistingNodes(snapshot *scheduling.Snapshot, plan *scheduling.Plan) []existingNode {
	receives := make(map[string][]scheduling.PodKey, len(plan.Existing))
	for _, node := range plan.Existing {
		receives[node.Name] = node.Pods
	}
	nodes := make([]existingNode, 0, len(snapshot.Nodes))
	for _, node := range snapshot.Nodes {
		nodes = append(nodes, existingNode{Name: node.Name, Pods: podNames(receives[node.Name])})
	}
	slices.SortFunc(nodes, func(a, b existingNode) int { return strings.Compare(a.Name, b.Name) })
	return nodes
}

func newUnschedulablePod(pod scheduling.Unschedulable) unschedulablePod {
	u := unschedulablePod{Pod: pod.Pod.String(), Reasons: make([]podReason, 0, len(pod.Reasons))}
	for _, reason := range pod.Reasons {
		r := podReason{Code: string(reason.Code), Message: reason.String()}
		if !reason.Pool.IsZero() {
			r.NodePool = reason.Pool.String()
		}
		u.Reasons = append(u.Reasons, r)
	}
	return u
}

// price is what a planned machine costs, USD per hour.
func price(node scheduling.NewNode) float64 {
	if len(node.InstanceTypes) == 0 {
		return 0
	}
	return node.InstanceTypes[0].Price
}

func countPlaced(plan *scheduling.Plan) int {
	placed := 0
	for _, node := range plan.NewNodes {
		placed += len(node.Pods)
	}
	for _, node := range plan.Existing {
		placed += len(node.Pods)
	}
	return placed
}

func podNames(keys []scheduling.PodKey) []string {
	names := make([]string, 0, len(keys))
	for _, key := range keys {
		names = append(names, key.String())
	}
	return names
}

func (d document) write(w io.Writer) error { return writeJSON(w, d) }

func writeJSON(w io.Writer, value any) error {
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(value)
}

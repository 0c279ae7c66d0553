package iam

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"time"
)

// Queue is the queue of interruption events that the provider reads.
type Queue struct {
	// Name and ARN of the queue.
	Name string `json:"name"`
	ARN  string `json:"arn"`
	// Retention is how long the queue keeps messages; older messages are useless.
	Retention time.Duration `json:"-"`
	// Policy allows the rules to send, and denies access without TLS.
	Policy Document `json:"policy"`
}

// Attributes returns the queue's attributes for SQS's CreateQueue and SetQueueAttributes. The caller may change the map.
func (q Queue) Attributes() map[string]string {
	return map[string]string{
		"MessageRetentionPeriod": strconv.Itoa(int(q.Retention / time.Second)),
		"Policy":                 string(q.Policy.JSON()),
		"SqsManagedSseEnabled":   "true",
	}
}

// Rule is a rule of the account's default event bus in EventBridge, which sends events to the queue.
type Rule struct {
	// Name and ARN of the rule.
	Name string `json:"name"`
	ARN  string `json:"arn"`
	// Description of its purpose, for people.
	Description string `json:"description"`
	// Pattern selects its events.
	Pattern Pattern `json:"pattern"`
	// TargetID is the name of the target within the rule, and TargetARN is the ARN of the queue.
	TargetID  string `json:"targetId"`
	TargetARN string `json:"targetArn"`
}

// Pattern selects events: of each list one value must match.
type Pattern struct {
	Source     []string `json:"source"`
	DetailType []string `json:"detail-type"`
	// Detail are members of the event's detail; nil ignores the detail.
	Detail map[string][]string `json:"detail,omitempty"`
}

// JSON returns the pattern for EventBridge; it is equal for equal patterns.
func (p Pattern) JSON() []byte { return encode(p, false) }

// retention is how long the queue keeps messages.
const retention = 300 * time.Second

// rules returns five rules, one for each source and type of event.
func rules(a account) []Rule {
	event := func(suffix, description, source, detailType string, detail map[string][]string) Rule {
		name := ruleName(a.ClusterName, suffix)
		return Rule{
			Name: name, ARN: a.arn("events", a.AccountID, "rule/"+name),
			Description: description + ", for cluster " + a.ClusterName,
			Pattern:     Pattern{Source: []string{source}, DetailType: []string{detailType}, Detail: detail},
			TargetID:    "interruption-queue", TargetARN: a.queue(),
		}
	}
	return []Rule{
		event("scheduled-change", "Maintenance of EC2 instances", "aws.health", "AWS Health Event",
			map[string][]string{"service": {"EC2"}, "eventTypeCategory": {"scheduledChange"}}),
		event("spot-interruption", "Spot instances that EC2 takes back", "aws.ec2", "EC2 Spot Instance Interruption Warning", nil),
		event("rebalance", "Spot instances that EC2 may take back", "aws.ec2", "EC2 Instance Rebalance Recommendation", nil),
		event("state-change", "Instances that stop or end", "aws.ec2", "EC2 Instance State-change Notification",
			map[string][]string{"state": {"stopping", "stopped", "shutting-down", "terminated"}}),
		event("reservation-interruption", "Instances whose capacity reservation is taken back", "aws.ec2",
			"EC2 Capacity Reservation Instance Interruption Warning", nil),
	}
}

// maxRuleName is the maximum length of a rule's name in EventBridge.
const maxRuleName = 64

// ruleName returns the cluster's name and the suffix. If this name is longer than maxRuleName, the cluster's name is replaced by its
// beginning and a hash of the whole cluster's name.
func ruleName(cluster, suffix string) string {
	if name := cluster + "-" + suffix; len(name) <= maxRuleName {
		return name
	}
	sum := sha256.Sum256([]byte(cluster))
	tail := "-" + hex.EncodeToString(sum[:4]) + "-" + suffix
	return cluster[:maxRuleName-len(tail)] + tail
}

// queue returns the queue to which these rules send.
func queue(a account, rules []Rule) *Queue {
	var sources []string
	for _, r := range rules {
		sources = append(sources, r.ARN)
	}
	target := []string{a.queue()}
	return &Queue{
		Name: a.Queue, ARN: a.queue(), Retention: retention,
		Policy: document(
			Statement{Sid: "RulesSend", Effect: Allow, Principal: &Principal{Service: []string{"events.amazonaws.com"}},
				Action: []string{"sqs:SendMessage"}, Resource: target,
				Condition: Condition{}.with("ArnEquals", "aws:SourceArn", sources...)},
			Statement{Sid: "QueueServiceSends", Effect: Allow, Principal: &Principal{Service: []string{"sqs.amazonaws.com"}},
				Action: []string{"sqs:SendMessage"}, Resource: target,
				Condition: Condition{}.with("StringEquals", "aws:SourceAccount", a.AccountID)},
			Statement{Sid: "OnlyWithTLS", Effect: Deny, Principal: &Principal{AWS: []string{"*"}},
				Action: []string{"sqs:*"}, Resource: target,
				Condition: Condition{}.with("Bool", "aws:SecureTransport", "false")},
		),
	}
}

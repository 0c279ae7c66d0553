package onaws

import (
	"fmt"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/drawknife/drawknife/aws"
)

// countUnhealthy registers the counter of instances that EC2 reports as impaired or due for maintenance, and returns the function that
// counts.
func countUnhealthy(registerer prometheus.Registerer) (func(aws.InterruptionKind, aws.InterruptedInstance), error) {
	if registerer == nil {
		return nil, nil
	}
	unhealthy := prometheus.NewCounterVec(prometheus.CounterOpts{
		Namespace: "karpenter", Subsystem: "interruption", Name: "instance_status_unhealthy_total",
		Help: "Instances that EC2 reports as impaired or due for maintenance.",
	}, []string{"category"})
	if err := registerer.Register(unhealthy); err != nil {
		return nil, fmt.Errorf("registering metrics: %w", err)
	}
	return func(kind aws.InterruptionKind, _ aws.InterruptedInstance) {
		if category := categoryOf(kind); category != "" {
			unhealthy.WithLabelValues(category).Inc()
		}
	}, nil
}

// categoryOf returns the metric label for a kind of message that an instance status check causes, or "" for other kinds.
func categoryOf(kind aws.InterruptionKind) string {
	switch kind {
	case aws.InstanceStatus:
		return "InstanceStatus"
	case aws.SystemStatus:
		return "SystemStatus"
	case aws.EventStatus:
		return "EventStatus"
	}
	return ""
}

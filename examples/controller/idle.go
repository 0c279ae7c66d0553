package main

import (
	"fmt"

	"github.com/drawknife/drawknife/examples/controller/settings"
)

// idleSettings are settings that this controller understands and does not heed, each with the reason for a value, or "" for a
// value that says what is done anyway.
var idleSettings = map[string]func(value string) string{
	"serve-alpha":         always(onlyV1),
	"serve-beta":          always(onlyV1),
	"ignore-dra-requests": unless("true", "pods that claim devices through dynamic resource allocation are refused, and told so, whatever it says"),
	"disable-webhook":     unless("true", "the controller has no conversion webhook"),
	"webhook-port":        unless("8443", "the controller has no conversion webhook"),
	"aws-partition":       always("AWS is reached in the partition that the region is in"),

	"aws-default-instance-profile": always(onlyV1 + "; write spec.instanceProfile of the EC2NodeClass"),
	"aws-enable-pod-eni":           always(onlyV1 + "; those of v1 report branch interfaces wherever there are any"),
	"aws-eni-limited-pod-density":  always(onlyV1 + "; write spec.kubelet.maxPods of the EC2NodeClass"),
	"aws-node-name-convention":     always(onlyV1 + "; nodes are known by the names they register with"),
}

const onlyV1 = "the controller reads objects of generation v1 alone: convert older ones and apply the result"

func always(reason string) func(string) string { return func(string) string { return reason } }

func unless(value, reason string) func(string) string {
	return func(v string) string {
		if v == value {
			return ""
		}
		return reason
	}
}

// idle warns of settings that somebody has set in vain (W704).
func idle(loaded *settings.Loaded) []*settings.Problem {
	var out []*settings.Problem
	for _, v := range loaded.Effective() {
		why := idleSettings[v.Name]
		if why == nil || v.Source == settings.SourceDefault {
			continue
		}
		if reason := why(v.Text); reason != "" {
			out = append(out, &settings.Problem{
				Code: settings.CodeNoEffect, Source: v.Source, Name: v.WrittenAs, Message: fmt.Sprintf("%s has no effect: %s", v.WrittenAs, reason),
			})
		}
	}
	return out
}

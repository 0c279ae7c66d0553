package main

import (
	"fmt"
	"slices"

	"github.com/drawknife/drawknife/examples/settings"
)

// idleSettings are settings that this controller reads but ignores. Each function returns why a value is ignored, or "" if the controller
// behaves as the value says without reading it.
var idleSettings = map[string]func(value string, s settings.Settings) string{
	"aws-partition": always("AWS is reached in the partition that the region is in"),

	"serve-beta": func(value string, s settings.Settings) string {
		if value == "true" && s.Process.DisableWebhook {
			return "v1beta1 is served with the conversion webhook alone: say --disable-webhook=false too"
		}
		return ""
	},
	"disable-webhook": func(value string, s settings.Settings) string {
		if value == "false" && !s.Planning.ServeBeta {
			return "without --serve-beta there is nothing to convert"
		}
		return ""
	},
	"webhook-port":     withWebhook("8443"),
	"webhook-service":  withWebhook("drawknife"),
	"webhook-cert-dir": withWebhook(""),

	"aws-default-instance-profile": withAlpha("write spec.instanceProfile of the EC2NodeClass"),
	"aws-enable-pod-eni":           always("all nodes with branch interfaces report them"),
	"aws-eni-limited-pod-density":  withAlpha("write spec.kubelet.maxPods of the EC2NodeClass"),
	"aws-node-name-convention":     always("nodes are known by the names they register with"),
}

// withAlpha returns the check of a setting that affects only Provisioners and AWSNodeTemplates.
func withAlpha(instead string) func(string, settings.Settings) string {
	return func(_ string, s settings.Settings) string {
		if s.Planning.ServeAlpha {
			return ""
		}
		return "without --serve-alpha there are no objects of the first generation, which follow it: " + instead
	}
}

func always(reason string) func(string, settings.Settings) string {
	return func(string, settings.Settings) string { return reason }
}

// withWebhook returns the check of a setting that affects only the webhook.
func withWebhook(byDefault string) func(string, settings.Settings) string {
	return func(v string, s settings.Settings) string {
		if v == byDefault || servesBeta(s) {
			return ""
		}
		return "there is no conversion webhook: say --disable-webhook=false too"
	}
}

// idle returns warnings (W704) about settings that have no effect.
func idle(loaded *settings.Loaded) []*settings.Problem {
	var out []*settings.Problem
	all, heeded := settings.DisruptionFlags(loaded.Settings.Planning.DisruptionPlanner)
	for _, v := range loaded.Effective() {
		why := idleSettings[v.Name]
		if slices.Contains(all, v.Name) && !slices.Contains(heeded, v.Name) {
			why = always("it is for --disruption-planner=global; Karpenter's way has nothing like it")
		}
		if why == nil || v.Source == settings.SourceDefault {
			continue
		}
		if reason := why(v.Text, loaded.Settings); reason != "" {
			out = append(out, &settings.Problem{
				Code: settings.CodeNoEffect, Source: v.Source, Name: v.WrittenAs, Message: fmt.Sprintf("%s has no effect: %s", v.WrittenAs, reason),
			})
		}
	}
	return out
}

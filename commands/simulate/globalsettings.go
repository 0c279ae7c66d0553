package simulate

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/aws/instancetype"
	"github.com/drawknife/drawknife/examples/settings"
	"github.com/drawknife/drawknife/scheduling"
	"github.com/drawknife/drawknife/scheduling/manifests"
)

// globalSettings are the settings in the input's ConfigMap karpenter-global-settings, parsed as the controller parses it.
type globalSettings struct {
	from manifests.ConfigMap
	read *settings.Loaded
}

// bearing returns the names of the ConfigMap's settings that affect planning; all other settings affect only the controller.
func bearing() []string {
	return []string{"vm-memory-overhead-percent", "reserved-enis", "aws-enable-pod-eni", "aws-eni-limited-pod-density", "feature-gates"}
}

// settingsOfInput returns the names of the ConfigMaps with Karpenter's settings, and the function with which the loader applies them.
func (s *simulation) settingsOfInput() manifests.Settings {
	return manifests.Settings{
		Names: []string{settings.GlobalSettingsName, settings.LoggingConfigName},
		Apply: func(c manifests.ConfigMap) error {
			if c.Name == settings.LoggingConfigName {
				s.logging = append(s.logging, c)
				return nil
			}
			if first := s.global; first != nil && first.from.Position != c.Position {
				return fmt.Errorf("namespace %s also has this ConfigMap (%s), but a controller reads only one: remove the other", first.from.Namespace, first.from.Position)
			}
			read, err := settings.FromConfigMap(c.Data, settings.FirstGenerationUnknown)
			if err != nil {
				return err
			}
			if unknown := unknownKeys(read); s.strict && len(unknown) > 0 {
				return errors.New("--strict: unknown settings " + strings.Join(unknown, ", "))
			}
			s.global = &globalSettings{c, read}
			return nil
		},
	}
}

// remarkOnLogging notes which ConfigMaps config-logging are Karpenter's, and returns the number of all others. Knative and Tekton have
// ConfigMaps with the same name and the same keys. So Karpenter's are recognised by their namespace, or by the label that its chart sets.
func (s *simulation) remarkOnLogging() int {
	others := 0
	for _, c := range s.logging {
		switch {
		case c.Namespace == "karpenter", c.Labels["app.kubernetes.io/name"] == "karpenter", s.global != nil && c.Namespace == s.global.from.Namespace:
			s.note("LoggingConfig", "ConfigMap %s/%s says how Karpenter logged: nothing of it is read", c.Namespace, c.Name)
		default:
			others++
		}
	}
	return others
}

func unknownKeys(read *settings.Loaded) []string {
	var keys []string
	for _, p := range read.Warnings {
		if p.Code == settings.CodeUnknown {
			keys = append(keys, p.Name)
		}
	}
	return keys
}

// remarkOnSettings prints which settings of the ConfigMap have an effect, which have no effect, and which are wrong.
func (s *simulation) remarkOnSettings(pools []scheduling.NodePool) {
	if s.global == nil {
		return
	}
	c := s.global.from
	object, where := fmt.Sprintf("ConfigMap %s/%s", c.Namespace, c.Name), c.Position.String()
	alpha := settings.FirstGenerationAbsent
	if slices.ContainsFunc(pools, func(p scheduling.NodePool) bool { return p.Key.Generation == v1.GenerationV1Alpha5 }) {
		alpha = settings.FirstGenerationUnknown
	}
	read, err := settings.FromConfigMap(c.Data, alpha)
	if err != nil {
		return // cannot happen: the settings were already read without an error when the input was loaded
	}
	for _, p := range read.Warnings {
		severity := "warning"
		if p.Code == settings.CodeLimited {
			severity = "note"
		}
		s.remark(severity, fmt.Sprintf("%s: %s: %s", where, object, p), planNote{Code: string(p.Code), Object: object, Where: where, Message: p.Message})
	}
	var heeded, others []string
	for _, v := range read.Effective() {
		switch {
		case v.Source == settings.SourceDefault || slices.ContainsFunc(read.Warnings, func(p *settings.Problem) bool { return p.Name == v.WrittenAs }):
		case slices.Contains(bearing(), v.Name):
			heeded = append(heeded, v.WrittenAs+" "+c.Data[v.WrittenAs])
		default:
			others = append(others, v.WrittenAs)
		}
	}
	slices.Sort(heeded)
	slices.Sort(others)
	for _, n := range []struct {
		code, says string
		keys       []string
	}{{"GlobalSettings", "planning heeds", heeded}, {"GlobalSettingsWithoutBearing", "is of no bearing on planning:", others}} {
		if len(n.keys) > 0 {
			text := fmt.Sprintf("%s: %s %s", object, n.says, strings.Join(n.keys, ", "))
			s.remark("note", text, planNote{Code: n.code, Object: object, Where: where, Message: text})
		}
	}
}

// typeOptions returns the instance type options for the nodes of a pool, from flags and settings of the input. Settings for objects of
// v1alpha5 apply only to v1alpha5 pools.
func (s *simulation) typeOptions(pool v1.PoolKey) instancetype.Options {
	out := s.instanceTypes.InstanceTypes()
	if s.global == nil {
		return out
	}
	aws := s.global.read.Settings.AWS
	if out.MemoryPrior == "" {
		out.VMMemoryOverheadPercent = &aws.VMMemoryOverheadPercent
	}
	out.ReservedENIs = aws.ReservedENIs
	out.WithoutPodENI = out.WithoutPodENI || pool.Generation == v1.GenerationV1Alpha5 && !aws.Legacy.EnablePodENI
	return out
}

// withoutDrift reports whether the settings disable drift.
func (g *globalSettings) withoutDrift() bool {
	return g != nil && !g.read.Settings.Planning.FeatureGates.Drift
}

// forgetDrift removes the drift condition from all NodeClaims if the settings disable drift.
func (s *simulation) forgetDrift(snapshot *scheduling.Snapshot) {
	if !s.global.withoutDrift() {
		return
	}
	for i := range snapshot.Nodes {
		if n := &snapshot.Nodes[i]; n.Claim != nil {
			n.Claim = n.Claim.DeepCopy()
			n.Claim.Conditions().Clear(v1.ConditionDrifted, snapshot.Time)
		}
	}
}

package migration

import (
	"errors"
	"maps"
	"slices"

	v1 "github.com/drawknife/drawknife/api/v1"
	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	"github.com/drawknife/drawknife/aws/launchtemplate/userdata"
)

// checkUserData reads each class's own user data with Karpenter's reader and with drawknife's, and adds a finding for each difference.
func (v *verifier) checkUserData() {
	for _, class := range v.NodeClasses {
		if class.Spec.UserData == nil || *class.Spec.UserData == "" {
			continue
		}
		v.checkOwnUserData(class)
	}
}

func (v *verifier) checkOwnUserData(class *awsv1.EC2NodeClass) {
	const field = "spec.userData"
	object, family := classObject(class.Name), class.Spec.EffectiveAMIFamily()
	config := userdata.Config{
		Family: family, ClusterName: v.Cluster.Name, Endpoint: v.Cluster.Endpoint, CABundle: v.Cluster.CABundle, ServiceCIDR: v.Cluster.ServiceCIDR,
		DiscoveredDNS: v.Cluster.DNS, UserData: *class.Spec.UserData,
	}
	rendered, err := userdata.Render(config)
	var wrong *userdata.ConfigError
	switch {
	case errors.As(err, &wrong):
		v.report.skip(CheckUserData, object, "the cluster's %s is not known: give it", wrong.Field)
		return
	case err != nil:
		v.report.found(SeverityError, CheckUserData, object, field, "correct the user data before the move", "drawknife does not read it, so the class would launch nothing: %v", err)
		return
	}
	for _, warning := range rendered.Warnings {
		v.report.found(SeverityWarning, CheckUserData, object, field, "correct the user data, so that every reader reads the same", "%s", warning)
	}
	if family == awsv1.AMIFamilyCustom || family == awsv1.AMIFamilyBottlerocket || family.IsWindows() {
		return // the warnings name everything that Karpenter's reader leaves out
	}
	theirs, err := karpenterParts(*class.Spec.UserData)
	if err != nil {
		v.report.found(SeverityWarning, CheckUserData, object, field, "correct the archive, so that every reader reads the same",
			"Karpenter reads only %d parts of the archive and stops there: drawknife reads the rest as well", len(theirs))
	}
	ours, err := karpenterParts(rendered.Text)
	if err != nil {
		v.report.found(SeverityError, CheckUserData, object, field, "report this as a defect of drawknife", "nodeadm cannot read the NodeConfig that drawknife wrote")
		return
	}
	has, want := newReading(), newReading()
	for _, p := range ours[:max(len(ours)-1, 0)] { // the last part is not the user's: drawknife generates it
		has.part("part", p.body)
	}
	for _, p := range theirs {
		want.part("part", p.body)
	}
	lost, added := 0, 0
	for hash := range want.parts {
		if _, ok := has.parts[hash]; !ok {
			lost++
		}
	}
	for hash := range has.parts {
		if _, ok := want.parts[hash]; !ok {
			added++
		}
	}
	if lost > 0 {
		v.report.found(SeverityError, CheckUserData, object, field, "correct the archive, so that every reader reads the same", "%d parts that Karpenter hands to the instance are missing or changed in drawknife's user data", lost)
	}
	if added > lost {
		v.report.found(SeverityWarning, CheckUserData, object, field, "correct the archive, so that every reader reads the same", "%d parts that Karpenter leaves out are in drawknife's user data", added-lost)
	}
}

// compareReadings adds a finding for each difference in the user data of a launch: theirs is Karpenter's user data, ours drawknife's.
func (v *verifier) compareReadings(object, source string, theirs, ours reading) {
	keys := maps.Clone(theirs.settings)
	maps.Copy(keys, ours.settings)
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		was, had := theirs.settings[key]
		is, has := ours.settings[key]
		field := "userData " + key
		switch {
		case had && has && was == is:
		case key == "labels."+v1.NodeDoNotSyncTaintsLabelKey:
			v.report.found(SeverityInfo, CheckLaunchTemplates, object, field, "", "%s and drawknife differ in the label for taints at registration: both controllers handle it", source)
		case !has:
			v.report.found(SeverityWarning, CheckLaunchTemplates, object, field, "set it in the NodePool, in spec.kubelet or in spec.userData of the class, if it is needed", "%s has it, drawknife does not write it", source)
		case !had:
			v.report.found(SeverityWarning, CheckLaunchTemplates, object, field, "compare it with the class: new nodes get it", "drawknife writes it, %s does not have it", source)
		default:
			v.report.found(SeverityWarning, CheckLaunchTemplates, object, field, "set it in the NodePool or in the class, if the old value is needed", "%s has another value than drawknife writes%s", source, values(key, was, is))
		}
	}
	parts := maps.Clone(theirs.parts)
	maps.Copy(parts, ours.parts)
	for _, hash := range slices.Sorted(maps.Keys(parts)) {
		_, had := theirs.parts[hash]
		_, has := ours.parts[hash]
		switch {
		case had && !has:
			v.report.found(SeverityWarning, CheckLaunchTemplates, object, "userData", "compare it with spec.userData of the class: it may have changed since the launch", "%s has %s that drawknife does not write", source, parts[hash])
		case has && !had:
			v.report.found(SeverityWarning, CheckLaunchTemplates, object, "userData", "compare it with spec.userData of the class: it may have changed since the launch", "drawknife writes %s that %s does not have", parts[hash], source)
		}
	}
}

// values returns both values of a setting in quotes if the setting is generated from the objects. Other settings may contain secrets of the
// user.
func values(key, was, is string) string {
	for _, prefix := range []string{"labels.", "taints.", "cluster.", "kubelet.config.maxPods", "kubelet.config.clusterDNS", "kubelet.flags.max-pods", "settings.kubernetes.max-pods", "settings.kubernetes.cluster-dns-ip"} {
		if len(key) >= len(prefix) && key[:len(prefix)] == prefix {
			return ": " + quoted(was) + " before, " + quoted(is) + " now"
		}
	}
	return ""
}

func quoted(text string) string {
	const most = 120
	if len(text) > most {
		return `"` + text[:most] + `…"`
	}
	return `"` + text + `"`
}

package nodeclass

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
)

// validation checks whether the class is valid and EC2 would launch its instances; it reports the first fault.
func (w *round) validation(ctx context.Context) (time.Duration, error) {
	const condition = awsv1.ConditionValidationSucceeded
	if after, done, err := w.serviceRange(); done {
		return after, err
	}
	faults := Faults(w.class, w.options.Features)
	if len(faults) > 0 && faults[0].Reason != awsv1.ReasonTagValidationFailed {
		w.isFalse(condition, faults[0].Reason, faults[0].Message)
		return validationEvery, nil
	}
	if status, message := w.dependencies(); status != metav1.ConditionTrue {
		w.conditions().Set(condition, status, awsv1.ReasonDependenciesNotReady, message, w.now)
		return validationEvery, nil
	}
	if len(faults) > 0 {
		w.isFalse(condition, faults[0].Reason, faults[0].Message)
		return validationEvery, nil
	}
	if w.options.WithoutDryRuns {
		w.isTrue(condition)
		return validationEvery, nil
	}
	if w.clusterErr != nil {
		w.untold(condition, w.clusterErr)
		return noVerdictEvery, nil // hashes reports this error
	}
	found, err := w.verdict(ctx)
	var later *noVerdictError
	if err != nil {
		w.overtaken()
	}
	switch {
	case errors.As(err, &later):
		w.untold(condition, err)
		w.log.Info("cannot complete launch dry run, retrying", "nodeClass", w.class.Name, "error", err)
		return noVerdictEvery, nil
	case err != nil:
		w.untold(condition, err)
		return noVerdictEvery, fmt.Errorf("launch dry run: %w", err)
	case found.status == metav1.ConditionTrue:
		w.isTrue(condition)
	default:
		w.isFalse(condition, found.reason, found.message)
	}
	if !found.keep {
		return noVerdictEvery, nil
	}
	return validationEvery, nil
}

// overtaken clears the condition ValidationSucceeded if its reason is a missing dependency or service range: the caller has now found both.
func (w *round) overtaken() {
	switch w.conditions().Get(awsv1.ConditionValidationSucceeded).Reason {
	case awsv1.ReasonDependenciesNotReady, awsv1.ReasonClusterCIDRResolutionFailed:
		w.conditions().Clear(awsv1.ConditionValidationSucceeded, w.now)
	}
}

// verdict returns the verdict of the last dry runs or of an equivalent launch. If no valid verdict exists, it makes new dry runs.
func (w *round) verdict(ctx context.Context) (verdict, error) {
	key, ok := verdictKey(w.class)
	if known, have := w.verdicts.recall(w.class.UID, key, w.now); ok && have {
		return known, nil
	}
	if at := w.launched(); ok && w.now.Sub(at) < VerdictLifetime && !w.verdicts.contradicts(w.class.UID, key) {
		w.verdicts.remember(w.class.UID, key, passed(), at)
		return passed(), nil
	}
	found, err := w.dryRun(ctx)
	if err == nil && found.keep && ok {
		w.verdicts.remember(w.class.UID, key, found, w.now)
	}
	return found, err
}

// serviceRange checks that the cluster's range of service addresses is known, if the user data needs it. If the range is not known,
// serviceRange sets the condition, and its second result (done) is true.
func (w *round) serviceRange() (after time.Duration, done bool, err error) {
	const condition = awsv1.ConditionValidationSucceeded
	if w.class.Spec.EffectiveAMIFamily() != awsv1.AMIFamilyAL2023 || w.clusterErr == nil && w.cluster.ServiceCIDR != "" {
		return 0, false, nil
	}
	if w.clusterErr != nil && (cloudprovider.IsTransient(w.clusterErr) || cloudprovider.IsThrottled(w.clusterErr)) {
		w.untold(condition, w.clusterErr)
		return noVerdictEvery, true, nil
	}
	message := "nodes of family AL2023 need the cluster's range of service addresses, which is not known: configure it"
	if w.clusterErr != nil {
		message += ", or allow it to be read: " + sentence(w.clusterErr)
	}
	w.isFalse(condition, awsv1.ReasonClusterCIDRResolutionFailed, message)
	return noVerdictEvery, true, cloudprovider.NewNodeClassNotReadyError("EC2NodeClass "+w.class.Name, message, w.clusterErr)
}

// dependencies reports whether everything that a launch template needs was found for the current version of the class; a missing dependency
// takes precedence over an unknown one.
func (w *round) dependencies() (metav1.ConditionStatus, string) {
	var missing, unknown []string
	for _, condition := range []string{
		awsv1.ConditionAMIsReady, awsv1.ConditionInstanceProfileReady, awsv1.ConditionSecurityGroupsReady, awsv1.ConditionSubnetsReady,
	} {
		c := w.conditions().Get(condition)
		switch {
		case c.Status == metav1.ConditionFalse && c.ObservedGeneration == w.class.Generation:
			missing = append(missing, condition)
		case c.Status != metav1.ConditionTrue || c.ObservedGeneration != w.class.Generation:
			unknown = append(unknown, condition)
		}
	}
	switch {
	case len(missing) > 0:
		return metav1.ConditionFalse, "waiting for missing resources: " + strings.Join(missing, ", ")
	case len(unknown) > 0:
		return metav1.ConditionUnknown, "waiting for unknown resources: " + strings.Join(unknown, ", ")
	}
	return metav1.ConditionTrue, ""
}

// Fault is an error in a class, with the reason and message of the condition that reports it.
type Fault struct {
	// Reason is one of the reasons of condition ValidationSucceeded.
	Reason string
	// Message names the fields, the rules that they break, and how to correct them.
	Message string
}

// Faults returns the errors in a class's own fields, in the order of the reasons, at most one for each reason, or nil if the class is
// valid. It does not check the name: every stored object has a valid name, and v1alpha5 classes in memory have names with a prefix that the
// API refuses. It is pure.
func Faults(class *awsv1.EC2NodeClass, features awsv1.Features) []Fault {
	if class == nil {
		return nil
	}
	var shape, disabled, invalid, family, other, tags field.ErrorList
	all := class.ValidateWith(features)
	// An error that disappears with feature KubeletExpressions or with family Custom gets a reason of its own.
	enabled := class.ValidateWith(awsv1.Features{KubeletExpressions: true})
	custom := class.DeepCopy()
	custom.Spec.AMIFamily = awsv1.AMIFamilyCustom
	anyFamily := custom.ValidateWith(features)
	for _, e := range all {
		switch {
		case e.Field == "metadata.name":
		case strings.HasPrefix(e.Field, "spec.tags"):
			tags = append(tags, e)
		case !strings.HasPrefix(e.Field, "spec.kubelet"):
			other = append(other, e)
		case !has(enabled, e) && !hasField(enabled, e.Field):
			disabled = append(disabled, e)
		case !has(enabled, e):
			invalid = append(invalid, e)
		case !has(anyFamily, e):
			family = append(family, e)
		default:
			shape = append(shape, e)
		}
	}
	// A conversion that doesn't know the role writes a placeholder that users must replace; IAM has no such names.
	if role := class.Spec.Role; role != nil && strings.HasPrefix(*role, "$") {
		other = append(other, field.Invalid(field.NewPath("spec", "role"), *role, "is a placeholder: write the name of the nodes' IAM role"))
	}
	var faults []Fault
	for _, kind := range []struct {
		reason string
		list   field.ErrorList
	}{
		{awsv1.ReasonInvalidKubeletConfiguration, shape},
		{awsv1.ReasonKubeletExpressionsDisabled, disabled},
		{awsv1.ReasonKubeletExpressionInvalid, invalid},
		{awsv1.ReasonUnsupportedKubeletConfiguration, family},
		{awsv1.ReasonInvalidSpec, other},
		{awsv1.ReasonTagValidationFailed, tags},
	} {
		if len(kind.list) > 0 {
			faults = append(faults, Fault{Reason: kind.reason, Message: bounded(kind.list)})
		}
	}
	return faults
}

func has(list field.ErrorList, e *field.Error) bool {
	return slices.ContainsFunc(list, func(o *field.Error) bool { return o.Error() == e.Error() })
}

func hasField(list field.ErrorList, path string) bool {
	return slices.ContainsFunc(list, func(o *field.Error) bool { return o.Field == path })
}

// bounded joins errors to a message of limited length.
func bounded(list field.ErrorList) string {
	texts := make([]string, len(list))
	for i, e := range list {
		texts[i] = e.Error()
	}
	text := strings.Join(texts, "; ")
	if len(text) > mostOfMessage {
		text = strings.ToValidUTF8(text[:mostOfMessage], "") + " …"
	}
	return text
}

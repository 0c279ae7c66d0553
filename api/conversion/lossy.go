package conversion

// Lossy reports whether something that the input said is missing in the result: a field was left out, or an object as a
// whole. Codes that tell of a changed default or behaviour alone are not lossy; codes of severity error always are, since
// the object is left out.
func (c Code) Lossy() bool {
	switch c {
	case CodeContainerRuntime, CodeMachineSkipped, // first generation
		CodeRolePlaceholder, // the instance profile
		CodeTagReserved, CodeIDMixed,
		CodeResourcesDropped, // to v1
		CodeSkipped, CodeUnknownField, CodeNoObject,
		CodeGracePeriodDropped, CodeBudgetReasonsDropped, CodeWaitDropped, CodeBalancedDropped, CodeClaimExpiryDropped, CodeLaterFieldDropped, // from v1
		CodeBudgetsDropped, CodeMinValuesDropped, CodeNoCounterpart: // to the first generation
		return true
	}
	return c.Severity() == SeverityError
}

// Lossy are those warnings that tell of a loss, in order.
func (ws Warnings) Lossy() Warnings {
	var out Warnings
	for _, w := range ws {
		if w.Code.Lossy() {
			out = append(out, w)
		}
	}
	return out
}

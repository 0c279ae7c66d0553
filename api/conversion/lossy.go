package conversion

// Lossy reports whether a part of the input is missing in the result: a field, or a whole object. Codes for a changed default or
// behaviour are not lossy. Codes of severity error are always lossy, because the object is left out.
func (c Code) Lossy() bool {
	switch c {
	case CodeContainerRuntime, CodeMachineSkipped, // first generation
		CodeRolePlaceholder, // the instance profile
		CodeTagReserved, CodeIDMixed,
		CodeResourcesDropped, // to v1
		CodeSkipped, CodeUnknownField, CodeNoObject,
		CodeGracePeriodDropped, CodeBudgetReasonsDropped, CodeWaitDropped, CodeBalancedDropped, CodeClaimExpiryDropped, CodeLaterFieldDropped, // from v1
		CodeBudgetsDropped, CodeMinValuesDropped, CodeNoCounterpart: // conversions to v1alpha5
		return true
	}
	return c.Severity() == SeverityError
}

// Lossy returns the warnings whose codes are lossy, in the order of ws.
func (ws Warnings) Lossy() Warnings {
	var out Warnings
	for _, w := range ws {
		if w.Code.Lossy() {
			out = append(out, w)
		}
	}
	return out
}

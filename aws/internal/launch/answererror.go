package launch

import "github.com/aws/smithy-go"

// answerError is an error inside a successful answer. It is a smithy.APIError, like the error of a failed call.
type answerError struct{ code, message string }

var _ smithy.APIError = (*answerError)(nil)

func (e *answerError) Error() string                 { return e.code + ": " + e.message }
func (e *answerError) ErrorCode() string             { return e.code }
func (e *answerError) ErrorMessage() string          { return e.message }
func (e *answerError) ErrorFault() smithy.ErrorFault { return smithy.FaultUnknown }

package iam

import (
	"bytes"
	"encoding/json"
	"unicode"
)

// Document is a policy document for IAM or SQS. Equal documents have equal JSON.
type Document struct {
	// Version of the policy language: always "2012-10-17".
	Version string
	// Statement are its statements, in a fixed order.
	Statement []Statement
}

// Effect of a statement.
type Effect string

// The effects.
const (
	Allow Effect = "Allow"
	Deny  Effect = "Deny"
)

// Statement is one statement of a policy.
type Statement struct {
	// Sid is the name of the statement: letters and digits, unique in a document.
	Sid string
	// Effect is Allow or Deny.
	Effect Effect
	// Principal says to whom the statement applies; nil in policies of a role, which apply to the role.
	Principal *Principal `json:",omitempty"`
	// Action lists the actions, sorted; a "*" in an action matches any text.
	Action []string
	// Resource are ARNs with "*" for any string; nil in trust policies.
	Resource []string `json:",omitempty"`
	// Condition must be true as a whole; nil means always true.
	Condition Condition `json:",omitempty"`
}

// Principal is a set of AWS services, or of accounts and roles.
type Principal struct {
	// AWS are accounts or roles; "*" means everyone.
	AWS []string `json:",omitempty"`
	// Service are names of services.
	Service []string `json:",omitempty"`
	// Federated are the ARNs of identity providers.
	Federated []string `json:",omitempty"`
}

// Condition has the values by operator and key; one of the values must match.
type Condition map[string]map[string][]string

func (c Condition) with(operator, key string, values ...string) Condition {
	if c[operator] == nil {
		c[operator] = map[string][]string{}
	}
	c[operator][key] = values
	return c
}

// JSON returns the document in as few characters as possible, as IAM counts them. It is equal for equal documents.
func (d Document) JSON() []byte { return encode(d, false) }

// String returns the document for people: indented JSON with a final line break.
func (d Document) String() string { return string(encode(d, true)) }

// Size returns the number of characters that IAM counts: all but white space.
func (d Document) Size() int {
	n := 0
	for _, r := range string(d.JSON()) {
		if !unicode.IsSpace(r) {
			n++
		}
	}
	return n
}

// encode returns the JSON of a value that JSON can always represent, so there is no error.
func encode(value any, indented bool) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if indented {
		e.SetIndent("", "  ")
	}
	if err := e.Encode(value); err != nil {
		return nil
	}
	if !indented {
		b.Truncate(b.Len() - 1)
	}
	return b.Bytes()
}

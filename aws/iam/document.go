package iam

import (
	"bytes"
	"encoding/json"
	"unicode"
)

// Document is a policy, as IAM and SQS have them. Equal documents have equal JSON.
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

// Statement is one of a policy.
type Statement struct {
	// Sid names it: letters and digits, once in a document.
	Sid string
	// Effect is Allow or Deny.
	Effect Effect
	// Principal is whom it is about; nil in policies of a role, which are about the role.
	Principal *Principal `json:",omitempty"`
	// Action are what it is about, sorted; "*" stands for any text.
	Action []string
	// Resource are ARNs with "*" for any text; nil in trust policies.
	Resource []string `json:",omitempty"`
	// Condition has to hold as a whole; nil always holds.
	Condition Condition `json:",omitempty"`
}

// Principal is whom a statement is about: AWS services, or accounts and roles.
type Principal struct {
	// AWS are accounts or roles; "*" is everybody.
	AWS []string `json:",omitempty"`
	// Service are names of services.
	Service []string `json:",omitempty"`
	// Federated are the ARNs of identity providers.
	Federated []string `json:",omitempty"`
}

// Condition has, by operator and key, the values of which one has to match.
type Condition map[string]map[string][]string

func (c Condition) with(operator, key string, values ...string) Condition {
	if c[operator] == nil {
		c[operator] = map[string][]string{}
	}
	c[operator][key] = values
	return c
}

// JSON is the document in as few characters as it can have: what IAM counts. The same for equal documents.
func (d Document) JSON() []byte { return encode(d, false) }

// String is the document for people to read: JSON, indented, with a line break at the end.
func (d Document) String() string { return string(encode(d, true)) }

// Size is the number of characters that IAM counts: all but white space.
func (d Document) Size() int {
	n := 0
	for _, r := range string(d.JSON()) {
		if !unicode.IsSpace(r) {
			n++
		}
	}
	return n
}

// encode is JSON of a value without what JSON can't have, so that there is not an error.
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

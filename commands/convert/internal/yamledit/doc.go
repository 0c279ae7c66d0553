// Package yamledit changes a YAML document so that it has another value, and keeps what people wrote: comments, the order of keys, quotes,
// line breaks and the spelling of numbers wherever the value stays the same, also in parts that move to another place.
//
//	text, err := yamledit.Apply(document, value)
package yamledit

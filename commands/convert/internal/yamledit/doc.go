// Package yamledit changes a YAML document so that it has another value. Wherever the value stays the same, it keeps what people wrote:
// comments, the order of keys, quotes, line breaks and the spelling of numbers. It also keeps them in parts that move to another place.
//
//	text, err := yamledit.Apply(document, value)
package yamledit

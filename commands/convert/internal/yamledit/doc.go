// Package yamledit changes a YAML document so that it has another value. It preserves the text of unchanged parts: comments, the order of
// keys, quotes, line breaks and the spelling of numbers. It also preserves this text if a part moves to another position.
//
//	text, err := yamledit.Apply(document, value)
package yamledit

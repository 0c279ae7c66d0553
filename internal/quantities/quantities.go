// Package quantities reads resource quantities from untrusted text. The parser of Kubernetes writes out every digit that an exponent
// represents, so that it needs minutes for "1e-999999999". Code that decodes untrusted text must check it with this package first.
package quantities

import (
	"fmt"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
)

const (
	// MaxLength is the maximum number of characters of a quantity. Kubernetes itself writes at most about 25 characters.
	MaxLength = 64
	// MaxExponent is the largest power of ten; -MaxExponent is the smallest. No amount on a node is as large as 1e30 or as small as 1e-30.
	MaxExponent = 30
)

// Error is a quantity that is too long, or whose exponent is too large or too small, to be read.
type Error struct {
	// Path is the path of the field, for example "spec.limits[cpu]". It is empty if the quantity is not part of a document.
	Path string
	// Text is the quantity as it was written, cut after 40 characters.
	Text string
}

// Error names the bounds.
func (e *Error) Error() string {
	message := fmt.Sprintf("%q is no quantity that can be read: write at most %d characters, and an exponent from -%d to %d",
		e.Text, MaxLength, MaxExponent, MaxExponent)
	if e.Path != "" {
		return e.Path + ": " + message
	}
	return message
}

// Parse does the same as resource.ParseQuantity, but is safe for untrusted text. It returns an *Error for a quantity that is out of bounds,
// and the error of Kubernetes for text that is not a quantity.
func Parse(text string) (resource.Quantity, error) {
	if err := Check(text); err != nil {
		return resource.Quantity{}, err
	}
	return resource.ParseQuantity(text)
}

// Check returns an *Error if the text is too long or its exponent is out of bounds for resource.ParseQuantity. Nil does not mean that the
// text is a quantity.
func Check(text string) error {
	if !beyond(text) {
		return nil
	}
	return &Error{Text: inShort(text)}
}

// Computable reports whether the digits of a quantity are few enough to compute with. If the quantity was not read by Parse, a short text
// ("1e99999999") can represent more digits than fit into memory, and a comparison would write them out.
func Computable(quantity resource.Quantity) bool {
	q := quantity.DeepCopy() // AsDec changes the internal form of the quantity that it is called on
	scale := q.AsDec().Scale()
	return -MaxExponent <= scale && scale <= MaxExponent
}

func inShort(text string) string {
	const most = 40
	text = strings.TrimSpace(text)
	if len(text) > most {
		return strings.ToValidUTF8(text[:most], "") + "…"
	}
	return text
}

// beyond reports whether the text would be out of bounds as a quantity.
func beyond(text string) bool {
	text = strings.TrimSpace(text)
	if len(text) > MaxLength {
		return true
	}
	e := strings.IndexAny(text, "eE")
	if e < 0 || e+1 == len(text) {
		return false // no exponent, or the suffix of 10^18
	}
	exponent, err := strconv.Atoi(text[e+1:])
	if err != nil {
		return digits(text[e+1:]) // digits that don't fit into an integer are out of bounds
	}
	return exponent > MaxExponent || exponent < -MaxExponent
}

// digits reports whether the text is a whole number.
func digits(text string) bool {
	text = strings.TrimLeft(text, "+-")
	return text != "" && strings.Trim(text, "0123456789") == ""
}

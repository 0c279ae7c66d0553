package customprovider

import (
	"fmt"
	"regexp"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
)

// Amount is a quantity from an untrusted file.
type Amount struct {
	resource.Quantity
}

// maxAmountLength is the largest number of characters in an amount. Kubernetes itself writes at most about 25 characters.
const maxAmountLength = 64

// farExponent finds exponents of three digits and more. Kubernetes writes out every digit that an exponent stands for: "1e-999999999"
// keeps it busy for minutes.
var farExponent = regexp.MustCompile(`[eE][+-]?0*[1-9][0-9]{2}`)

// UnmarshalJSON refuses quantities that would take long to parse. It does not parse them.
func (a *Amount) UnmarshalJSON(text []byte) error {
	if len(text) > maxAmountLength || farExponent.Match(text) {
		return fmt.Errorf("%.40s is not a readable amount: write at most %d characters, and no exponent beyond 99",
			strings.ToValidUTF8(string(text), "?"), maxAmountLength)
	}
	return a.Quantity.UnmarshalJSON(text)
}

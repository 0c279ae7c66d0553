package convert

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/validation"
)

// API-385: a generated name is one that an object may have, wherever a long one is cut, and distinguishes long names.
func TestGeneratedNames(t *testing.T) {
	seen := make(map[string]string)
	for _, part := range []string{"x", "ab.", "ab-", "a.b-c.", "a--"} {
		for n := 240; n <= 300; n++ {
			long := strings.Repeat(part, n)[:n] + "z"
			name := generatedName(long)
			if problems := validation.IsDNS1123Subdomain(name); len(problems) > 0 {
				t.Errorf("%s of %d characters: %s: %v", part, len(long), name, problems)
			}
			if other, taken := seen[name]; taken && other != long {
				t.Errorf("%s and %s are both %s", other, long, name)
			}
			seen[name] = long
			if len(long) <= 253 && name != long {
				t.Errorf("%s became %s", long, name)
			}
		}
	}
}

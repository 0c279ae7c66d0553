package manifests

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/drawknife/drawknife/scheduling"
)

// Requests above unlikelyCPU, or below the two numbers of bytes, are probably mistakes: hardly any node is that large, and no process is
// that small. The usual cause is a unit that was left out or mixed up: cpu "2000" for 2000m, memory "512" for 512Mi, memory "100m" (a tenth
// of a byte) for 100Mi.
//
// scheduling.ImpossibleRequest finds amounts that no node can have.
const (
	// unlikelyCPU is an improbable number of cores, because only a few dozen instance types have so many cores.
	unlikelyCPU = 250
	// tooFewBytes is the size of a page or a block group. A request for less memory or disk space must be a mistake.
	tooFewBytes = 64 << 10
	// unlikelyBytes is an improbably small request for memory or disk space, because no program can start with less.
	unlikelyBytes = 1 << 20
)

// verdict is the result of checking an amount.
type verdict int

const (
	fine verdict = iota
	unlikely
	impossible
)

// judgeAmount says whether an amount of a resource is plausible. If it is not, the text says what was probably meant.
func judgeAmount(name corev1.ResourceName, amount resource.Quantity) (verdict, string) {
	switch {
	case amount.Sign() < 0:
		return impossible, fmt.Sprintf("must not be negative, but is %s%s", inShort(amount), negativeHint(amount))
	case amount.IsZero():
		return fine, ""
	}
	tooMuch := scheduling.ImpossibleRequest(name, amount)
	switch {
	case name == corev1.ResourceCPU:
		return judgeCPU(amount, tooMuch)
	case name == corev1.ResourceMemory, name == corev1.ResourceEphemeralStorage:
		return judgeBytes(name, amount, tooMuch)
	case tooMuch:
		return impossible, fmt.Sprintf("%s of %s is more than any node has", inShort(amount), name)
	}
	if !divisible(name) && amount.MilliValue()%1000 != 0 {
		return impossible, fmt.Sprintf("must be a whole number, but is %s", amount.String())
	}
	return fine, ""
}

func negativeHint(amount resource.Quantity) string {
	positive := amount.DeepCopy()
	positive.Neg()
	return fmt.Sprintf("; did you mean %q?", inShort(positive))
}

// divisible reports whether fractions of the resource can be requested. Devices can only be requested as whole numbers.
func divisible(name corev1.ResourceName) bool { return !strings.Contains(string(name), "/") }

func judgeCPU(amount resource.Quantity, tooMuch bool) (verdict, string) {
	switch {
	case tooMuch && amount.AsApproximateFloat64() >= math.MaxInt64:
		return impossible, fmt.Sprintf("%s CPUs are more than any node has", inShort(amount))
	case tooMuch:
		return impossible, fmt.Sprintf("%d CPUs are more than any node has; did you mean %q?", amount.Value(), milliHint(amount.Value()))
	case amount.CmpInt64(unlikelyCPU) >= 0:
		return unlikely, fmt.Sprintf("%d whole CPUs are asked for; did you mean %q?", amount.Value(), milliHint(amount.Value()))
	}
	return fine, ""
}

// milliHint guesses the number of thousandths that was meant. It divides by 1,000 until the result is a usual CPU request of a pod. For
// example, 2000 becomes 2000m, and 1000000 becomes 1000m.
func milliHint(value int64) string {
	const plausibleMilli = 256_000
	for value > plausibleMilli {
		value /= 1000
	}
	return strconv.FormatInt(value, 10) + "m"
}

func judgeBytes(name corev1.ResourceName, amount resource.Quantity, tooMuch bool) (verdict, string) {
	switch {
	case tooMuch:
		return impossible, fmt.Sprintf("%s of %s is more than any node has; check the unit: Mi is 2^20 bytes, Gi is 2^30", inShort(amount), name)
	case amount.CmpInt64(tooFewBytes) < 0:
		return impossible, fmt.Sprintf("%s is %s of %s; did you mean %q?", strconv.Quote(amount.String()), inBytes(amount), name, byteHint(amount))
	case amount.CmpInt64(unlikelyBytes) < 0:
		return unlikely, fmt.Sprintf("%s is only %s of %s; is the unit right?", strconv.Quote(amount.String()), inBytes(amount), name)
	}
	return fine, ""
}

// inShort returns the amount as it is written, shortened if it has too many digits.
func inShort(amount resource.Quantity) string {
	const most = 40
	text := amount.String()
	if len(text) > most {
		return text[:most] + "…"
	}
	return text
}

func inBytes(amount resource.Quantity) string {
	if amount.CmpInt64(1) < 0 {
		return "less than one byte"
	}
	return fmt.Sprintf("%d bytes", amount.Value())
}

// byteHint returns the same number with the unit that nearly every manifest uses.
func byteHint(amount resource.Quantity) string {
	return strings.TrimRight(amount.String(), "numkKMGTPEi") + "Mi"
}

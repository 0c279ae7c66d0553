package spotlimits

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
)

// Limits are the limits of one workload on spot nodes. The zero value limits nothing.
type Limits struct {
	// MaxShare is the largest share of the workload's pods on spot nodes, from 0 to 1; nil means no limit.
	MaxShare *float64
	// OnDemandBase is how many of the workload's pods must be on nodes that are not spot before any pod may be on a spot node; 0 means that
	// no pods must be.
	OnDemandBase int
	// MaxPoolShare is the largest share of the workload's pods on one spot pool, which is an instance type in a zone. It is above 0 and at
	// most 1; nil means no limit. One pod per pool is always allowed, however small the share is.
	MaxPoolShare *float64
	// MaxPrice is the highest price of a spot node, as a share of the on-demand price of its type in its zone. It is above 0; nil means no
	// limit.
	MaxPrice *float64
}

// IsZero reports whether the limits are empty.
func (l Limits) IsZero() bool {
	return l.MaxShare == nil && l.OnDemandBase == 0 && l.MaxPoolShare == nil && l.MaxPrice == nil
}

// MostOnSpot returns how many of the given number of pods may be on spot nodes. Shares are rounded down.
func (l Limits) MostOnSpot(pods int) int {
	most := max(pods-l.OnDemandBase, 0)
	if l.MaxShare != nil {
		most = min(most, part(*l.MaxShare, pods))
	}
	return most
}

// MostOnPool returns how many of the given number of pods may be on one spot pool: at least one.
func (l Limits) MostOnPool(pods int) int {
	if l.MaxPoolShare == nil {
		return pods
	}
	return max(part(*l.MaxPoolShare, pods), 1)
}

// part returns a share of the number of, rounded down. It corrects floating-point errors, so that 70 % of 10 is 7.
func part(share float64, of int) int { return int(math.Floor(share*float64(of) + 1e-9)) }

// Stricter returns limits that satisfy both arguments: pods of one workload can differ during a rollout.
func (l Limits) Stricter(o Limits) Limits {
	l.MaxShare, l.MaxPoolShare, l.MaxPrice = least(l.MaxShare, o.MaxShare), least(l.MaxPoolShare, o.MaxPoolShare), least(l.MaxPrice, o.MaxPrice)
	l.OnDemandBase = max(l.OnDemandBase, o.OnDemandBase)
	return l
}

func least(a, b *float64) *float64 {
	if a == nil || b != nil && *b < *a {
		return b
	}
	return a
}

// String lists the limits by the names of their annotations: "drawknife.dev/spot-max-share 70%, drawknife.dev/on-demand-base 2".
func (l Limits) String() string {
	var parts []string
	share := func(key string, is *float64) {
		if is != nil {
			parts = append(parts, key+" "+strconv.FormatFloat(*is*100, 'g', 6, 64)+"%")
		}
	}
	share(v1.SpotMaxShareAnnotationKey, l.MaxShare)
	if l.OnDemandBase > 0 {
		parts = append(parts, v1.OnDemandBaseAnnotationKey+" "+strconv.Itoa(l.OnDemandBase))
	}
	share(v1.SpotPoolMaxShareAnnotationKey, l.MaxPoolShare)
	share(v1.SpotMaxPriceAnnotationKey, l.MaxPrice)
	return strings.Join(parts, ", ")
}

// Error says which annotation of a pod can't be parsed.
type Error struct {
	// Annotation and its Value.
	Annotation, Value string
	// Cure says what to write.
	Cure string
}

// Error is "annotation drawknife.dev/spot-max-share is "x": write …".
func (e *Error) Error() string {
	value := e.Value
	if len(value) > maxShown {
		value = value[:maxShown] + "…"
	}
	return fmt.Sprintf("annotation %s is %q: %s", e.Annotation, value, e.Cure)
}

// maxShown is the largest number of bytes of a value that an error message shows.
const maxShown = 64

// mostPods is the largest number of pods that a limit may state, so that sums of such numbers don't overflow.
const mostPods = 1 << 30

// Read reads the limits of a pod from its annotations. The error is an *Error. A nil pod has no limits.
func Read(pod *corev1.Pod) (Limits, error) {
	var l Limits
	if pod == nil || len(pod.Annotations) == 0 {
		return l, nil
	}
	for _, share := range []struct {
		key         string
		into        **float64
		least, most float64
	}{
		{v1.SpotMaxShareAnnotationKey, &l.MaxShare, 0, 100}, {v1.SpotPoolMaxShareAnnotationKey, &l.MaxPoolShare, 0.01, 100},
		{v1.SpotMaxPriceAnnotationKey, &l.MaxPrice, 0.01, 1000},
	} {
		text, has := pod.Annotations[share.key]
		if !has {
			continue
		}
		percent, ok := readPercent(text)
		if !ok || percent < share.least || percent > share.most {
			return Limits{}, &Error{share.key, text, fmt.Sprintf("write a percentage from %g%% to %g%%, such as 70%%, or remove it", share.least, share.most)}
		}
		value := percent / 100
		*share.into = &value
	}
	if text, has := pod.Annotations[v1.OnDemandBaseAnnotationKey]; has {
		n, err := strconv.Atoi(text)
		if err != nil || n < 0 || n > mostPods {
			return Limits{}, &Error{v1.OnDemandBaseAnnotationKey, text, fmt.Sprintf("write a number of pods from 0 to %d, in quotes, or remove it", mostPods)}
		}
		l.OnDemandBase = n
	}
	return l, nil
}

// readPercent reads a number with a percent sign.
func readPercent(text string) (float64, bool) {
	digits, found := strings.CutSuffix(text, "%")
	if !found || len(digits) == 0 || len(digits) > 8 || strings.Trim(digits, "0123456789.") != "" {
		return 0, false
	}
	percent, err := strconv.ParseFloat(digits, 64)
	return percent, err == nil
}

// Asks reports whether the pod has an annotation that Read reads. It is cheaper than Read.
func Asks(pod *corev1.Pod) bool {
	if pod == nil || len(pod.Annotations) == 0 {
		return false
	}
	_, share := pod.Annotations[v1.SpotMaxShareAnnotationKey]
	_, base := pod.Annotations[v1.OnDemandBaseAnnotationKey]
	_, pool := pod.Annotations[v1.SpotPoolMaxShareAnnotationKey]
	_, price := pod.Annotations[v1.SpotMaxPriceAnnotationKey]
	return share || base || pool || price
}

package replay

import (
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/drawknife/drawknife/internal/quantities"
)

// Arrival is a pod of a trace: its arrival, its duration and its requests.
type Arrival struct {
	Name string
	// At is the time of the pod's arrival, and Until is the time of its end, both since the beginning of the trace. Until is 0 for a pod
	// that never ends.
	At, Until time.Duration
	// MilliCPU, Memory (in bytes) and GPU (number of devices) are the pod's requests.
	MilliCPU, Memory, GPU int64
	// Claims are ResourceClaims that the pod uses; other pods may use them as well. ClaimTemplates are the ResourceClaimTemplates from
	// which claims of the pod alone are created. Both are names in the pod's Namespace. The namespace is empty for a pod without claims.
	Claims, ClaimTemplates []string
	Namespace              string
}

// Limits of a trace.
const (
	maxPods   = 1_000_000
	maxDays   = 3650
	maxAmount = 1 << 50
	// maxClaims is the maximum number of a pod's claims, and also of its templates.
	maxClaims = 8
	// maxBytes limits the size of a trace; the largest traces, with a line of a hundred characters for each pod, are much smaller.
	maxBytes = 128 << 20
)

// bounded reads at most maxBytes. If the input is longer, it returns an error.
type bounded struct {
	from io.Reader
	left int
}

func (b *bounded) Read(into []byte) (int, error) {
	if b.left <= 0 {
		return 0, fmt.Errorf("the trace has more than %d MiB", maxBytes>>20)
	}
	n, err := b.from.Read(into[:min(len(into), b.left)])
	b.left -= n
	return n, err
}

// columns contains the index of each column of a trace, or -1 for a column that the trace lacks. openb is true for the openb trace, which
// has other titles, and whole numbers of seconds, millicores and MiB.
type columns struct {
	name, arrival, departure, cpu, memory, gpu int
	claims, templates                          int
	openb                                      bool
}

// ReadTrace reads a trace as CSV, whose first line has the titles of the columns:
//
//	name, arrival, departure, cpu, memory, gpu, resourceclaims, resourceclaimtemplates
//
// Times are seconds since the beginning of the trace, or durations such as 1h30m. cpu and memory are Kubernetes quantities. departure may
// be empty, and the columns after memory may be left out. The columns resourceclaims and resourceclaimtemplates contain names separated by
// spaces, such as default/gpus, or gpus for the same object. The pod is in the namespace of its claims and templates. The pods of the openb
// trace, a public trace of Alibaba's GPU clusters, are accepted unchanged (name, cpu_milli, memory_mib, num_gpu, creation_time,
// deletion_time). The pods are returned in the order of their arrival.
func ReadTrace(r io.Reader) ([]Arrival, error) {
	in := csv.NewReader(&bounded{r, maxBytes + 1})
	in.ReuseRecord = true
	head, err := in.Read()
	if errors.Is(err, io.EOF) {
		return nil, errors.New("the trace is empty: its first line must be name,arrival,departure,cpu,memory")
	}
	if err != nil {
		return nil, err
	}
	c, err := readColumns(head)
	if err != nil {
		return nil, err
	}
	var out []Arrival
	seen := map[string]bool{}
	for {
		row, err := in.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		line, _ := in.FieldPos(0)
		a, err := c.arrivalOf(row)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", line, err)
		}
		if seen[a.Name] {
			return nil, fmt.Errorf("line %d: pod %q occurs twice", line, a.Name)
		}
		seen[a.Name] = true
		if out = append(out, a); len(out) > maxPods {
			return nil, fmt.Errorf("the trace has more than %d pods", maxPods)
		}
	}
	slices.SortFunc(out, func(a, b Arrival) int { return cmp.Or(cmp.Compare(a.At, b.At), strings.Compare(a.Name, b.Name)) })
	return out, nil
}

func readColumns(head []string) (columns, error) {
	at := func(titles ...string) int {
		return slices.IndexFunc(head, func(cell string) bool {
			return slices.Contains(titles, strings.ToLower(strings.TrimSpace(strings.TrimPrefix(cell, "\ufeff"))))
		})
	}
	c := columns{
		name: at("name"), arrival: at("arrival", "creation_time"), departure: at("departure", "deletion_time"),
		cpu: at("cpu", "cpu_milli"), memory: at("memory", "memory_mib"), gpu: at("gpu", "num_gpu"),
		claims: at("resourceclaims"), templates: at("resourceclaimtemplates"), openb: at("cpu_milli") >= 0,
	}
	for title, column := range map[string]int{"arrival": c.arrival, "cpu": c.cpu, "memory": c.memory, "name": c.name, "departure": c.departure} {
		if column < 0 {
			return c, fmt.Errorf("the trace has no column %q; its columns are %s", title, strings.Join(head, ","))
		}
	}
	return c, nil
}

func (c columns) arrivalOf(row []string) (Arrival, error) {
	a := Arrival{Name: podName(row[c.name])}
	if a.Name == "" {
		return a, fmt.Errorf("%q is not a valid name of a pod", row[c.name])
	}
	var err error
	if a.At, err = timeOf(row[c.arrival]); err != nil {
		return a, fmt.Errorf("arrival %q: %w", row[c.arrival], err)
	}
	if text := strings.TrimSpace(row[c.departure]); text != "" {
		if a.Until, err = timeOf(text); err != nil {
			return a, fmt.Errorf("departure %q: %w", text, err)
		}
		if a.Until < a.At {
			return a, fmt.Errorf("the pod departs at %s, before its arrival at %s", a.Until, a.At)
		}
		a.Until = max(a.Until, 1)
	}
	cpu, memory := row[c.cpu], row[c.memory]
	if c.openb {
		cpu, memory = cpu+"m", memory+"Mi"
	}
	for _, amount := range []struct {
		title, text string
		milli       bool
		into        *int64
	}{{"cpu", cpu, true, &a.MilliCPU}, {"memory", memory, false, &a.Memory}, {"gpu", optional(row, c.gpu), false, &a.GPU}} {
		if amount.text == "" {
			continue
		}
		if len(amount.text) > 32 {
			return a, fmt.Errorf("%s: %.32q… is not a quantity", amount.title, amount.text)
		}
		q, err := quantities.Parse(amount.text)
		if err != nil || q.Sign() < 0 || q.CmpInt64(maxAmount) > 0 {
			return a, fmt.Errorf("%s %q is not a quantity that a pod can request", amount.title, amount.text)
		}
		if *amount.into = q.Value(); amount.milli {
			*amount.into = q.MilliValue()
		}
	}
	for _, list := range []struct {
		text string
		into *[]string
	}{{optional(row, c.claims), &a.Claims}, {optional(row, c.templates), &a.ClaimTemplates}} {
		if *list.into, err = a.named(list.text); err != nil {
			return a, err
		}
	}
	for i, name := range a.Claims {
		if slices.Contains(a.Claims[:i], name) {
			return a, fmt.Errorf("claim %q occurs twice: name each claim once", name)
		}
	}
	return a, nil
}

// named parses the names of claims or templates. All must have the same namespace; named stores it in the Arrival.
func (a *Arrival) named(text string) ([]string, error) {
	var out []string
	for _, word := range strings.Fields(text) {
		namespace, name, found := strings.Cut(word, "/")
		if !found {
			namespace, name = "default", word
		}
		if wrong := slices.Concat(validation.IsDNS1123Label(namespace), validation.IsDNS1123Subdomain(name)); len(wrong) > 0 {
			return nil, fmt.Errorf("claims %.100q: %s", word, wrong[0])
		}
		if a.Namespace != "" && a.Namespace != namespace {
			return nil, fmt.Errorf("the claims are in the namespaces %s and %s: all claims of a pod must be in its namespace", a.Namespace, namespace)
		}
		a.Namespace = namespace
		if out = append(out, name); len(out) > maxClaims {
			return nil, fmt.Errorf("more than %d claims", maxClaims)
		}
	}
	return out, nil
}

func optional(row []string, column int) string {
	if column < 0 {
		return ""
	}
	return strings.TrimSpace(row[column])
}

// timeOf reads seconds, or a duration.
func timeOf(text string) (time.Duration, error) {
	text = strings.TrimSpace(text)
	seconds, err := strconv.ParseFloat(text, 64)
	if err != nil {
		d, err := time.ParseDuration(text)
		if err != nil {
			return 0, errors.New("neither seconds nor a duration like 1h30m")
		}
		seconds = d.Seconds()
	}
	if math.IsNaN(seconds) || seconds < 0 || seconds > maxDays*24*3600 {
		return 0, fmt.Errorf("not between 0 and %d days", maxDays)
	}
	return time.Duration(seconds * float64(time.Second)), nil
}

// podName makes a valid pod name from the name in the trace. It returns "" if nothing is left.
func podName(text string) string {
	name := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9', r == '-':
			return r
		case r >= 'A' && r <= 'Z':
			return r - 'A' + 'a'
		}
		return '-'
	}, strings.TrimSpace(text))
	if len(name) > 200 {
		name = name[:200]
	}
	return strings.Trim(name, "-")
}

// Window returns the part of a trace that begins at the time from and has the given length. Times are shifted, so that this part begins at
// 0. Pods that arrived earlier arrive at 0, and pods that end later stay.
func Window(trace []Arrival, from, length time.Duration) []Arrival {
	var out []Arrival
	for _, a := range trace {
		if a.At >= from+length || a.Until != 0 && a.Until <= from {
			continue
		}
		a.At = max(0, a.At-from)
		if a.Until != 0 {
			a.Until -= from
		}
		out = append(out, a)
	}
	return out
}

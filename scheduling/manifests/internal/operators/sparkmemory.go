package operators

import (
	"fmt"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
)

// Defaults of Spark: "Application Properties" and "Running Spark on Kubernetes" of its documentation.
const (
	// leastOverhead is spark.driver.minMemoryOverhead and spark.executor.minMemoryOverhead.
	leastOverhead = 384 << 20
	// overheadJVM and overheadOther are the defaults of spark.kubernetes.memoryOverheadFactor for programs that run in the JVM and for all
	// other programs.
	overheadJVM, overheadOther = 0.1, 0.4
	// mostMemory is the largest memory request of a pod that is accepted: 1 PiB.
	mostMemory = 1 << 50
)

// memory returns the memory request of the driver or of an executor: the heap, the overhead and, for executors, the memory outside of the
// heap.
func (s *sparkSpec) memory(part *sparkPod, role, path string) (resource.Quantity, error) {
	heap, err := sparkBytes(path+".memory", firstGiven(part.Memory, s.conf("spark."+role+".memory"), "1g"))
	if err != nil {
		return resource.Quantity{}, err
	}
	total := heap
	if given := firstGiven(part.MemoryOverhead, s.conf("spark."+role+".memoryOverhead")); given != "" {
		overhead, err := sparkBytes(path+".memoryOverhead", given)
		if err != nil {
			return resource.Quantity{}, err
		}
		total += overhead
	} else {
		factor, err := s.overheadFactor(role, path)
		if err != nil {
			return resource.Quantity{}, err
		}
		total += max(int64(factor*float64(heap>>20))<<20, leastOverhead)
	}
	if role == "executor" {
		for _, further := range []struct {
			key   string
			given bool
		}{
			{"spark.executor.pyspark.memory", s.conf("spark.executor.pyspark.memory") != ""},
			{"spark.memory.offHeap.size", s.conf("spark.memory.offHeap.enabled") == "true" && s.conf("spark.memory.offHeap.size") != ""},
		} {
			if !further.given {
				continue
			}
			n, err := sparkBytes(strings.TrimSuffix(path, ".executor")+".sparkConf["+further.key+"]", s.conf(further.key))
			if err != nil {
				return resource.Quantity{}, err
			}
			total += n
		}
	}
	return *resource.NewQuantity(total, resource.BinarySI), nil
}

func (s *sparkSpec) conf(key string) sparkAmount { return sparkAmount(s.SparkConf[key]) }

// overheadFactor returns the overhead as a share of the heap.
func (s *sparkSpec) overheadFactor(role, path string) (float64, error) {
	field := strings.TrimSuffix(path, "."+role) + ".memoryOverheadFactor"
	text := string(firstGiven(s.conf("spark."+role+".memoryOverheadFactor"), s.conf("spark.kubernetes.memoryOverheadFactor")))
	if s.MemoryOverheadFactor != nil {
		text = *s.MemoryOverheadFactor
	}
	switch {
	case text == "" && (s.Type == "Python" || s.Type == "R"):
		return overheadOther, nil
	case text == "":
		return overheadJVM, nil
	}
	factor, err := strconv.ParseFloat(text, 64)
	if err != nil || !(factor >= 0 && factor <= 100) {
		return 0, &FieldError{Path: field, Rule: fmt.Sprintf("must be a number from 0 to 100, not %.60q", text)}
	}
	return factor, nil
}

// sparkBytes parses an amount of memory in the form of the JVM, for example "512m" or "2g". A number without a unit is in MiB. Units are
// powers of 1024.
func sparkBytes(path string, amount sparkAmount) (int64, error) {
	text := strings.ToLower(strings.TrimSpace(string(amount)))
	digits := strings.TrimRight(text, "abcdefghijklmnopqrstuvwxyz")
	unit := strings.TrimSuffix(text[len(digits):], "b")
	shift, known := map[string]int{"": 20, "k": 10, "ki": 10, "m": 20, "mi": 20, "g": 30, "gi": 30, "t": 40, "ti": 40, "p": 50, "pi": 50}[unit]
	if text != digits && unit == "" {
		shift = 0 // "b", bytes
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || !known || n < 0 || n > mostMemory>>shift {
		return 0, &FieldError{Path: path, Rule: fmt.Sprintf("must be an amount of memory such as 512m or 2g, not %.60q", string(amount))}
	}
	return n << shift, nil
}

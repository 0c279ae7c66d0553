package conversion_test

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/drawknife/drawknife/api/conversion"
)

// A conversion of one's own speaks in the same codes.
func Example() {
	recorder := conversion.NewRecorder("NodePool", "web")
	recorder.Add(conversion.CodeWaitMissing, field.NewPath("spec", "disruption", "consolidateAfter"))
	recorder.Add(conversion.CodeConsolidationStaysOff, nil)
	for _, w := range recorder.Warnings() {
		fmt.Println(w)
	}
	fmt.Println(recorder.Warnings().Err())
	// Output:
	// ERROR W503 NodePool/web spec.disruption.consolidateAfter: consolidateAfter is required with WhenEmpty
	// INFO W502 NodePool/web: consolidation stays off (consolidateAfter Never)
	// can't be converted: W503 NodePool/web spec.disruption.consolidateAfter: consolidateAfter is required with WhenEmpty
}

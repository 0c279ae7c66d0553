// Package conversion holds what every conversion between two generations of the API says about its result: warnings
// with a stable code, a severity, the object, the path of the field and a sentence.
//
// The smallest real use: convert, print what changed, and stop where something could not be carried over.
//
//	pool, warnings := old.ToV1(v1beta1.ConvertOptions{})
//	for _, w := range warnings {
//		fmt.Fprintln(os.Stderr, w)
//	}
//	if err := warnings.Err(); err != nil {
//		return err
//	}
//
// The codes are stable: a code never changes its meaning, and a new meaning gets a new code. The hundreds group them:
// W1 to W4 speak of v1alpha5, W5 of v1beta1 to v1, W6 of any conversion, W7 of v1 back to v1beta1 (settings
// have codes of their own, in the program that reads them), W8 of v1beta1 back to v1alpha5.
//
// Provenance says what an object was born as, and what of it has no place where it is now.
//
// Values of this package are plain data. A Recorder is for one conversion and one goroutine.
//
// Stability: stable.
package conversion

// Package conversion contains the warnings that all conversions between generations of the API report. A warning has a stable code, a
// severity, the object, the path of the field and a sentence.
//
// The smallest real use: convert, print what changed, and stop if something could not be converted.
//
//	pool, warnings := old.ToV1(v1beta1.ConvertOptions{})
//	for _, w := range warnings {
//		fmt.Fprintln(os.Stderr, w)
//	}
//	if err := warnings.Err(); err != nil {
//		return err
//	}
//
// The codes are stable: a code never changes its meaning, and a new meaning gets a new code. The first digit of a code says which
// conversion gives it: W1 to W4 from v1alpha5, W5 from v1beta1 to v1, W6 any conversion, W8 from v1beta1 back to v1alpha5, W9 from v1 back
// to v1beta1. (W7 is reserved for the program that reads settings.)
//
// Provenance describes the object as it was created, and the fields that its present form can't contain.
//
// Values of this package are plain data. Use a Recorder for one conversion, in one goroutine.
//
// Stability: stable.
package conversion

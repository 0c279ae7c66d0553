// Conversion is Karpenter's side of the comparison of conversions between v1beta1 and v1: the last release that had them, as a
// program. It reads questions from standard input, a line of JSON each, and answers each with a line. This project's
// conversion has no part in this module, so that the release keeps the Kubernetes libraries it was made with.
package main

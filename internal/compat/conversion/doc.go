// Conversion is Karpenter's side of the comparison of conversions between v1beta1 and v1. The program calls the last release that had these
// conversions. It reads questions from standard input, one JSON document per line, and answers each with a line. This module does not
// import this project's conversion, so that the release keeps the versions of the Kubernetes libraries that it was built with.
package main

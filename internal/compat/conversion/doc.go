// Conversion runs Karpenter's conversions between v1beta1 and v1, so that this project's conversions can be compared with them. The program
// calls the last Karpenter release that had these conversions. It reads questions from standard input, one JSON document per line, and
// writes one line with the answer to each. This module does not import this project's conversions, so that the release is built with its
// own versions of the Kubernetes libraries.
package main

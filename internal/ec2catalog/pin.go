//go:build pin

package main

// The prices are a file of this module. Importing it is what keeps its version in go.mod and its checksum in go.sum; it is
// never built, because it would embed 130 MB of data of which its code hands out only a part of the spot prices.
import _ "github.com/LeanerCloud/ec2-instances-info"

//go:build pin

package main

// The prices are a file of this module. The import keeps the module's version in go.mod and its checksum in go.sum. The module is never
// compiled in, because it would embed 130 MB of data, and its code returns only a part of the spot prices.
import _ "github.com/LeanerCloud/ec2-instances-info"

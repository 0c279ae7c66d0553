module github.com/drawknife/drawknife/internal/ec2catalog

go 1.25.0

require (
	github.com/LeanerCloud/ec2-instances-info v0.0.0-00010101000000-000000000000
	github.com/drawknife/drawknife v0.0.0-00010101000000-000000000000
)

require github.com/pkg/errors v0.9.1 // indirect

replace github.com/drawknife/drawknife => ../..

// The module's own go.mod bears the name it is required by; it is published under the other.
replace github.com/LeanerCloud/ec2-instances-info => github.com/cristim/ec2-instances-info v0.0.0-20250528091325-32acf84f42eb

module github.com/drawknife/drawknife

go 1.25.0

require (
	github.com/google/go-cmp v0.7.0
	go.uber.org/mock v0.6.0
	k8s.io/api v0.35.0
	k8s.io/apimachinery v0.35.0
	pgregory.net/rapid v1.3.0
	sigs.k8s.io/yaml v1.6.0
)

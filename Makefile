# Thin names for the commands; CONTRIBUTING.md explains them.
.PHONY: test short bench lint generate ci

test:
	go test ./...

short:
	go test -short ./...

bench:
	go test -run '^$$' -bench . -benchmem ./...

lint:
	go vet ./...
	$$(go -C internal/tools tool -n staticcheck) ./...

generate:
	go generate ./...

ci:
	.ci/run

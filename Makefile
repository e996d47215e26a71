.PHONY: build test race bench verify

build:
	go build ./...

test: verify
	go test ./...

race:
	go test -race ./...

bench:
	go test -run '^$$' -bench . -benchmem ./...

# Formatting and vet; a listed file is one that gofmt would change.
verify:
	@test -z "$$(gofmt -l .)" || { gofmt -l .; exit 1; }
	go vet ./...

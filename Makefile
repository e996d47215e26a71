.PHONY: build demo test race bench verify

build:
	go build -o bin/georag ./cmd/georag

demo: build
	bin/georag demo

# Everything, with one line at the end for what was skipped and which servers took part.
test: verify
	@go test -json ./... | go run ./internal/testreport

race:
	go test -race ./...

bench:
	go test -run '^$$' -bench . -benchmem ./...

# Formatting and vet; a listed file is one that gofmt would change.
verify:
	@test -z "$$(gofmt -l .)" || { gofmt -l .; exit 1; }
	go vet ./...

SHELL := bash
.SHELLFLAGS := -o pipefail -ec

.PHONY: build demo test race bench bench-ricci verify

build:
	go build -o bin/georag ./cmd/georag

demo: build
	bin/georag demo

# Everything, on one real Milvus for all tests that need one, with a line at the end for what was skipped and which
# servers took part; then every benchmark once, so that none can rot.
test: verify
	@go run ./internal/milvusserver/cmd -- go test -json ./... | go run ./internal/testreport
	@go test -run '^$$' -bench . -benchtime 1x ./... > /dev/null

race:
	go test -race ./...

bench:
	go test -run '^$$' -bench . -benchmem ./...

# The Ricci filter beside GraphRicciCurvature and POT, as ratios.
bench-ricci: .venv/ricci
	.venv/ricci/bin/python bench/ricci_reference.py

.venv/ricci: bench/requirements.txt
	python3 -m venv $@ && $@/bin/pip install --quiet -r $<
	touch $@

# Formatting and vet; a listed file is one that gofmt would change.
verify:
	@test -z "$$(gofmt -l .)" || { gofmt -l .; exit 1; }
	go vet ./...

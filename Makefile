SHELL := bash
.SHELLFLAGS := -o pipefail -ec

.PHONY: build demo test integrations langchaingo eino race bench bench-peers bench-ricci verify

build:
	go build -o bin/georag ./cmd/georag

demo: build
	bin/georag demo

# Everything, on one real Milvus for all tests that need one, with a line at the end for what was skipped and which
# servers took part; then every benchmark once, so that none can rot.
test: verify
	@go run ./internal/milvusserver/cmd -- go test -timeout 40m -json ./... | go run ./internal/testreport
	@go test -run '^$$' -bench . -benchtime 1x ./... > /dev/null
	@$(MAKE) --no-print-directory langchaingo

# The modules for other frameworks. Eino brings some forty packages of its own, so it is not part of every test.
integrations: langchaingo eino

langchaingo eino:
	cd integrations/$@ && go vet ./... && go test ./...

race:
	go test -race ./...

bench:
	go test -run '^$$' -bench . -benchmem ./...

# Our selectors beside those of other libraries, on the same vectors; writes the plots of docs/performance.md.
bench-peers: .venv/peers
	.venv/peers/bin/python bench/peers.py

.venv/peers: bench/peers-requirements.txt
	python3 -m venv $@ && $@/bin/pip install --quiet --only-binary :all: -r $<
	touch $@

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

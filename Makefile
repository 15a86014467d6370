PYTHON ?= python3
BIN = .venv/bin

.PHONY: demo test lint types bench docs readme clean

demo: .venv/bin/corel  ## Find and recognize things in photographs; writes demo/report.html
	$(BIN)/corel demo

test: lint types  ## Everything that must be true before a change lands
	$(BIN)/pytest -n 2 --dist loadfile

lint: .venv/installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: .venv/installed
	$(BIN)/mypy

bench: .venv/installed  ## Ratios against peers, measured side by side: some forty minutes, nothing else running
	$(BIN)/python -m benchmarks.persistence --large
	$(BIN)/python -m benchmarks.train_step
	$(BIN)/python -m benchmarks.scoring
	$(BIN)/python -m benchmarks.encoding

docs: .venv/installed  ## The documentation as HTML; warnings are errors
	$(BIN)/sphinx-build -W --keep-going -b html docs docs/_build/html

readme: .venv/installed  ## The tables of README and docs from the committed results
	$(BIN)/python -m experiments.render.documents

.venv/bin/corel: pyproject.toml constraints.txt
	@echo 'Installing corel into .venv: this takes some minutes.'
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --constraint constraints.txt --editable '.[serve]'
	touch $@

.venv/installed: .venv/bin/corel
	@echo 'Installing what tests, types and documentation need.'
	$(BIN)/pip install --quiet --constraint constraints.txt --editable '.[test]'
	touch $@

clean:
	rm -rf .venv demo docs/_build .mypy_cache .ruff_cache .pytest_cache .hypothesis

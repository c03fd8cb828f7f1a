"""What makes the distribution: the README on an index, the least versions, and files that name each other."""

import re
import runpy
import tomllib
from pathlib import Path

import pytest
import yaml

import tagrank
from tests.lowest_versions import lowest_versions

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
RELATIVE = re.compile(r"\]\((?!https?:|mailto:|#)")
MAKEFILE = (ROOT / "Makefile").read_text()


@pytest.fixture(scope="module")
def index_readme():
    return runpy.run_path(str(ROOT / "hatch_build.py"))["index_readme"]


@pytest.mark.parametrize("address", ["", "https://example.org/tagrank"])
def test_the_readme_on_an_index_has_no_relative_links(index_readme, address):
    readme = (ROOT / "README.md").read_text()
    assert RELATIVE.search(readme)
    text = index_readme(readme, address)
    assert not RELATIVE.search(text)
    assert ("![" in text) == bool(address)
    # code and prose stay
    assert re.findall(r"(?ms)^```.*?^```$", text) == re.findall(r"(?ms)^```.*?^```$", readme)


def test_links_and_pictures_become_absolute(index_readme):
    table, line = "| [a](docs/a.md) |\n|---|\n| ![b](docs/b.webp) |\n\n", "[e](https://e.org) [f](#f)\n"
    text = f"{table}[![c](c.png)](C.md#d) {line}"
    absolute = index_readme(text, "https://example.org/x")
    assert absolute == (
        "| [a](https://example.org/x/blob/main/docs/a.md) |\n|---|\n"
        "| ![b](https://example.org/x/raw/main/docs/b.webp) |\n\n"
        "[![c](https://example.org/x/raw/main/c.png)](https://example.org/x/blob/main/C.md#d) "
        f"{line}"
    )
    assert index_readme("See [a](docs/a.md).\n", "") == "See a.\n"


def test_the_least_versions_are_those_of_the_project():
    lines = lowest_versions(PROJECT["project"])
    assert f"numpy=={re.search(r'numpy>=([0-9.]+)', str(PROJECT))[1]}" in lines
    assert all(re.fullmatch(r"[A-Za-z0-9._-]+==[0-9.]+", line) for line in lines)
    named = {line.partition("==")[0] for line in lines}
    required = {re.match(r"[A-Za-z0-9._-]+", one)[0] for one in PROJECT["project"]["dependencies"]}
    assert required <= named


def test_files_of_the_distribution_are_there():
    patterns = PROJECT["tool"]["hatch"]["build"]["targets"]["sdist"]["include"]
    for pattern in (*patterns, *PROJECT["project"]["license-files"]):
        assert list(ROOT.glob(pattern.lstrip("/"))), pattern
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert citation["version"] == tagrank.__version__
    assert citation["license"] == PROJECT["project"]["license"]


def test_workflows_run_targets_that_exist():
    for path in sorted((ROOT / ".github" / "workflows").glob("*.yml")):
        jobs = yaml.safe_load(path.read_text())["jobs"]
        runs = [step.get("run", "") for job in jobs.values() for step in job["steps"]]
        for target in re.findall(r"\bmake ([a-z-]+)", "\n".join(runs)):
            if target == "site" and not (ROOT / "docs" / "site").exists():
                continue
            assert re.search(rf"(?m)^[a-z -]*\b{target}\b[a-z -]*:", MAKEFILE), target


def test_the_licence_of_all_weights_is_named():
    licences = (ROOT / "LICENSES-WEIGHTS.md").read_text()
    packages = [one for one in PROJECT["project"]["optional-dependencies"]["embedding"] if "-model==" in one]
    assert packages
    for package in packages:
        name, _, version = package.partition("==")
        assert f"`{name}` {version}" in licences

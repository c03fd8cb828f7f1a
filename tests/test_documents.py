"""What README.md, docs/ and docstrings show runs as it stands.

The Python of a page runs from top to bottom, then its commands, all in one fresh folder. A tutorial
runs as it is read.
"""

import doctest
import io
import json
import re
import shlex
import subprocess
import sys
from contextlib import redirect_stdout
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace

import pytest
from PIL import Image
from typer.testing import CliRunner

import tagrank
from tagrank.app.cli.main import app
from tagrank.data import write_tags
from tagrank.data.drawn_pictures import draw_pictures
from tagrank.desk.queues import QUEUES
from tagrank.features import FEATURES, PRESETS

pytestmark = pytest.mark.usefixtures("quick_words")

ROOT = Path(__file__).parents[1]
PAGES = {
    str(path.relative_to(ROOT)): path for path in sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
}
LANGUAGES = {"", "console", "csv", "json", "pycon", "python", "text", "yaml"}
SOURCE = Path(tagrank.__file__).parents[1]
MODULES = [
    ".".join(path.relative_to(SOURCE).with_suffix("").parts)
    for path in sorted(SOURCE.glob("tagrank/**/*.py"))
    if ">>>" in path.read_text()
]
SLOW = {
    # README.md trains on the same photos, docs/command-line.md with --test-size
    "docs/pictures.md": "tagrank train photos -o model --test-size 0.25",
}
# what they show needs a service, beside which tests/app/web/test_service.py runs it
WITH_SERVICE = {"docs/service.md"}


def find_blocks(path):
    """Languages and contents of the blocks of a page; an interactive session may stand in any of them."""
    for language, content in re.findall(r"^```(\w*)\n(.*?)^```$", path.read_text(), re.DOTALL | re.MULTILINE):
        yield "pycon" if content.startswith(">>>") else language, content


CODED = [
    name
    for name, path in PAGES.items()
    if name not in WITH_SERVICE and {"console", "pycon", "python"} & dict(find_blocks(path)).keys()
]


@pytest.fixture(scope="module")
def drawn():
    return draw_pictures(64)


@pytest.fixture
def folder(tmp_path, monkeypatch, drawn):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("tagrank.commands.given_data.draw_pictures", lambda: drawn)
    return tmp_path


def save_photographs(drawn):
    """Tagged pictures in `photos` and `checked`, others in `new`, where the page has not made its own."""
    for name, rows in {"photos": slice(40), "checked": slice(40, 60), "new": slice(60, 64)}.items():
        if Path(name).exists():
            continue
        Path(name).mkdir()
        some, tags_of = drawn.subset(rows), {}
        for i, (image, states) in enumerate(zip(some.view("pictures"), some.states(), strict=True)):
            path = Path(name, f"IMG_{i:04}.jpg")
            Image.fromarray(image).save(path)
            tags_of[path] = [tag for tag, state in zip(some.tags, states, strict=True) if state > 0]
        if name != "new":
            write_tags(tags_of, f"{name}/tags.csv")


def run_session(text, names, name):
    """Run an interactive session, and compare what it answers."""
    test = doctest.DocTestParser().get_doctest(text, names, name, name, 0)
    runner, failures = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS), []
    runner.run(test, out=failures.append, clear_globs=False)
    assert test.examples
    assert not failures, "".join(failures)
    names.update(test.globs)


def run_command(line):
    program, *arguments = shlex.split(line)
    assert program == "tagrank"
    if arguments[0] == "reproduce" and find_spec("tagrank_papers") is None:
        return
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, f"{line}: {result.stderr}"


def run_commands(lines, drawn):
    if lines:
        save_photographs(drawn)
    for line in lines:
        run_command(line)


def run_page(name, drawn):
    """Run a page; what it printed in Python, and the names that it made."""
    names, printed, commands = {"__name__": "page"}, io.StringIO(), []
    for language, content in find_blocks(PAGES[name]):
        if language == "python":
            with redirect_stdout(printed):
                exec(compile(content, name, "exec"), names)
        elif language == "pycon":
            run_session(content, names, name)
        elif language == "yaml":
            Path("config.yml").write_text(content)
        elif language == "json":
            json.loads(content)
        elif language == "console":
            commands += [line for line in content.splitlines() if line != SLOW.get(name)]
        if name.startswith("docs/tutorials/"):
            run_commands(commands, drawn)
            commands = []
    run_commands(commands, drawn)
    return SimpleNamespace(names=names, printed=printed.getvalue())


def check_readme(page, folder):
    assert "drawing-" in page.printed
    assert (folder / "model" / "model.json").is_file()
    assert (folder / "missing.html").is_file()


def check_pictures(page, folder):
    assert {"tags.csv", "report.html", "model"} <= {path.name for path in folder.iterdir()}
    assert list(folder.glob("new/*.xmp"))


def check_missing(page, folder):
    assert [line.split()[0] for line in page.printed.splitlines()] == ["1", "2", "3"]
    assert (folder / "missing.html").is_file()


def check_model_files(page, folder):
    assert page.printed.count("drawing-") == 3
    assert page.names["wider"].annotate(page.names["pictures"].test.X[:1])[0].tags
    assert [path.name for path in folder.iterdir()] == ["coast-model"]


def check_ranker(page, folder):
    assert page.printed.count("\n") >= 2


def check_priors(page, folder):
    assert "[[" in page.printed


def check_decisions(page, folder):
    assert page.printed.count("anna") == 3
    assert len(list(folder.glob("photos/*.xmp"))) == 1
    assert (folder / "decisions.csv").read_text().count("lighthouse") == 2


def check_first_folder(page, folder):
    assert not list(folder.glob("new/*.xmp"))
    assert (folder / "missing.html").is_file()


def check_half_tagged(page, folder):
    assert page.printed == "20 decisions\n"
    assert list(folder.glob("photos/*.xmp"))
    assert len((folder / "decisions.csv").read_text().splitlines()) == 21
    assert (folder / "decisions.sqlite").is_file()


def check_own_embedding(page, folder):
    assert page.names["row"].shape == (16,)
    assert page.names["annotator"].columns_["tiny"] == 16


def check_comparing(page, folder):
    assert all((folder / name).stat().st_size for name in ("table.md", "table.tex", "page.html"))
    assert [line.split()[0] for line in page.printed.splitlines()[:2]] == ["peer", "LabelRanker"]


CHECKS = {
    "docs/tutorials/first-folder.md": check_first_folder,
    "docs/tutorials/half-tagged-archive.md": check_half_tagged,
    "docs/tutorials/own-embedding.md": check_own_embedding,
    "docs/tutorials/comparing-methods.md": check_comparing,
    "docs/decisions.md": check_decisions,
    "docs/methods/incomplete-labels.md": check_ranker,
    "docs/methods/pairwise-ranking.md": check_ranker,
    "docs/methods/label-priors.md": check_priors,
    "README.md": check_readme,
    "docs/pictures.md": check_pictures,
    "docs/missing.md": check_missing,
    "docs/model-files.md": check_model_files,
    "docs/command-line.md": lambda page, folder: (folder / "tags.csv").stat(),
    "docs/data.md": lambda page, folder: (folder / "coast.csv").stat(),
}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # a page shows one
@pytest.mark.parametrize("name", CODED)
def test_what_a_page_shows_runs(name, folder, drawn):
    page = run_page(name, drawn)
    CHECKS.get(name, lambda *_: None)(page, folder)


def test_checks_are_of_pages_that_are_there():
    assert set(CHECKS) <= set(CODED)
    assert all(line in PAGES[name].read_text() for name, line in SLOW.items())


@pytest.mark.parametrize("name", PAGES)
def test_every_block_is_of_a_kind_that_is_known(name):
    fences = re.findall(r"^ *```(.*)$", PAGES[name].read_text(), re.MULTILINE)
    assert set(fences) <= LANGUAGES
    assert len(fences) == 2 * len(list(find_blocks(PAGES[name])))


@pytest.mark.parametrize("name", PAGES)
def test_links_lead_somewhere(name):
    for target, anchor in re.findall(r"\]\(([^)#\s]*)(?:#([^)]*))?\)", PAGES[name].read_text()):
        if not target.startswith(("http:", "https:")):
            path = (PAGES[name].parent / target) if target else PAGES[name]
            assert path.exists(), target
            assert not anchor or anchor in anchors_of(path), f"{target}#{anchor}"


def anchors_of(path):
    headings = re.findall(r"^#+ (.*)$", path.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading).lower().replace(" ", "-") for heading in headings}


def test_every_set_of_features_is_in_the_table():
    text = PAGES["docs/pictures.md"].read_text()
    listed = {name.removeprefix("efficientnet_lite") for name in FEATURES} | set(PRESETS)
    assert not {name for name in listed if f"`{name}`" not in text and name not in "012"}


@pytest.mark.parametrize("name", MODULES)
def test_examples_of_docstrings_run(name, folder):
    module = import_module(name)
    tests = [test for test in doctest.DocTestFinder().find(module, name) if test.examples]
    assert tests
    for test in tests:
        run_session(test.docstring, {**vars(module)}, test.name)


def test_tables_that_come_from_the_code_are_fresh():
    script = ROOT / "docs" / "tables.py"
    checked = subprocess.run([sys.executable, script, "--check"], capture_output=True, text=True)
    assert checked.returncode == 0, checked.stderr


def test_pages_name_the_queues_as_the_desk_does():
    text = PAGES["docs/desk.md"].read_text()
    missing = [queue.title for queue in QUEUES.values() if f"*{queue.title}*" not in text]
    assert missing == ["One tag", "Everything"], "these two are described with the page By tag"

"""One word has one meaning, the glossary names what there is, and no folder is crowded or nearly empty."""

import ast
import re
from collections import defaultdict
from pathlib import Path

import pytest

import tagrank

SOURCE = Path(tagrank.__file__).parent
ARCHITECTURE = Path(__file__).parents[1] / "docs" / "architecture.md"
MODULES = sorted(SOURCE.rglob("*.py"))
FOLDERS = sorted({path.parent for path in MODULES})
MOST_WORDS = 25
MOST_FILES = 16


def named(path):
    return str(path.relative_to(SOURCE))


def classes():
    """Name of each class to the modules that define it."""
    homes = defaultdict(list)
    for path in MODULES:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ClassDef):
                homes[node.name.lstrip("_")].append(named(path))
    return homes


def glossary():
    """The first column of the table of words: word to the class or folder that it names."""
    section = ARCHITECTURE.read_text().split("## The words", 1)[1].split("\n## ", 1)[0]
    return dict(re.findall(r"^\| ([\w -]+) \| `([\w/]+)` \|", section, flags=re.MULTILINE))


def test_a_class_name_has_one_meaning():
    repeated = {name: homes for name, homes in classes().items() if len(homes) > 1}
    assert not repeated


def test_the_glossary_is_short():
    assert 10 < len(glossary()) <= MOST_WORDS


@pytest.mark.parametrize("word", glossary())
def test_a_word_of_the_glossary_is_a_class_or_a_folder(word):
    name = glossary()[word]
    assert (SOURCE / name).is_dir() if name.endswith("/") else name in classes()


@pytest.mark.parametrize("folder", FOLDERS, ids=named)
def test_a_folder_has_more_than_one_module_and_is_not_crowded(folder):
    modules = [path for path in folder.glob("*.py") if path.name != "__init__.py"]
    folders = [path for path in folder.iterdir() if path.is_dir() and any(path.glob("*.py"))]
    assert len(modules) + len(folders) > 1
    assert len(list(folder.glob("*.py"))) <= MOST_FILES

"""Imports go down, never up, never sideways; optional libraries stay in their one home."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import tagrank

SOURCE = Path(tagrank.__file__).parent
GROUND = {path.stem for path in SOURCE.glob("*.py")} - {"__init__", "__main__"}
MAY_IMPORT = {
    "data": GROUND,
    "features": GROUND,
    "kernels": GROUND,
    "losses": GROUND,
    "solvers": GROUND | {"losses"},
    "metrics": GROUND,
    "estimators": GROUND | {"kernels", "losses", "solvers", "metrics"},
    "annotation": GROUND | {"data", "features", "kernels", "losses", "solvers", "metrics", "estimators"},
}
MAY_IMPORT["reports"] = MAY_IMPORT["annotation"] | {"annotation"}
MAY_IMPORT["archive"] = MAY_IMPORT["annotation"] | {"annotation"}
MAY_IMPORT["commands"] = MAY_IMPORT["reports"] | {"reports", "archive"}
MAY_IMPORT["desk"] = MAY_IMPORT["reports"] | {"reports", "archive"}
MAY_IMPORT["app"] = MAY_IMPORT["commands"] | {"commands", "desk"}
MAY_IMPORT["__main__"] = {"app"}
MAY_IMPORT["__init__"] = {"_version", "estimators"}  # the registry, which loads no estimator
HOMES = {
    "torch": {"arrays"},
    "cupy": {"arrays"},
    "triton": {"kernels", "solvers"},
    "dask": {"solvers"},
    "distributed": {"solvers"},
    "PIL": {"data"},
    "cv2": {"features"},
    "skimage": {"features"},
    "typer": {"app"},
    "rich": {"app", "commands"},
    "fastapi": {"app"},
    "starlette": {"app"},
    "uvicorn": {"app"},
    "onnx": {"features"},
    "onnxruntime": {"features"},
    "highspy": {"solvers"},
    "daqp": {"solvers"},
    "sklearn": {"features", "kernels", "estimators", "annotation", "commands", "reports", "desk"},
    "tagrank_papers": set(),  # found by its entry point
}
MODULES = sorted(SOURCE.rglob("*.py"))


def imported_modules(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import; write the whole name"
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names if node.module == "tagrank")


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_imports_go_down(path):
    room = path.relative_to(SOURCE).parts[0].removesuffix(".py")
    for module in imported_modules(path):
        parts = module.split(".")
        if parts[0] == "tagrank" and len(parts) > 1 and parts[1] != "__version__":
            allowed = MAY_IMPORT.get(room, GROUND) | {room}
            assert parts[1] in allowed, f"{room} may not import {module}"
        if parts[0] in HOMES:
            assert room in HOMES[parts[0]], f"{parts[0]} lives in {sorted(HOMES[parts[0]])}, not in {room}"


@pytest.mark.parametrize("statement", ["import tagrank", "import tagrank.app.cli.main"])
def test_start_is_light(statement):
    heavy = "{'numba', 'sklearn', 'cv2', 'matplotlib', 'pandas', 'scipy', 'highspy', 'daqp'}"
    code = f"{statement}; import sys; print(sorted({heavy} & set(sys.modules)))"
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == "[]"


OPTIONAL = (
    *("pandas", "cv2", "onnx", "onnxruntime", "skimage", "torch", "cupy", "dask", "distributed"),
    *("cleanlab", "himalaya", "MKLpy"),
)
# these say in their names that they are code for a GPU; they are loaded by functions that found one
ON_DEVICE = {path for path in MODULES if path.name.startswith("triton_")}
IMPORT_ALL = """
import sys
from importlib import import_module

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {optional}:
            raise ModuleNotFoundError(f"{{name}} is not installed", name=name)

sys.meta_path.insert(0, Absent())
for name in {names}:
    import_module(name)
"""


def test_every_module_can_be_imported_without_optional_packages():
    modules = [path for path in MODULES if path not in ON_DEVICE]
    names = [".".join(("tagrank", *path.relative_to(SOURCE).with_suffix("").parts)) for path in modules]
    names = [name for name in names if not name.endswith("__main__")]  # which starts the command line
    code = IMPORT_ALL.format(optional=OPTIONAL, names=names)
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert answer.returncode == 0, answer.stderr


@pytest.mark.parametrize("path", sorted(ON_DEVICE), ids=lambda path: path.stem)
def test_only_code_for_a_device_imports_triton(path):
    assert "triton" in imported_modules(path)
    others = [other for other in MODULES if other not in ON_DEVICE and "triton" in imported_modules(other)]
    assert others == []

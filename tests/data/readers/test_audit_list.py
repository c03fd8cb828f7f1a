"""Lists of rows whose tags were all looked at, and the order in which rows are drawn."""

import numpy as np
import pytest

from tagrank.data import Collection
from tagrank.data.collection import DecidedLabel
from tagrank.data.readers.audit_list import audit_order, read_audit_list, with_audited, with_row_names
from tagrank.files import FileError

NAMES = ["a.png", "b.png", "c.png", "d.png"]


@pytest.fixture
def collection():
    """Sky and sea, sea, nothing known, sky; that b has sky was found at the desk."""
    tags = [["sky", "sea"], ["sea", "sky"], None, ["sky"]]
    decided = [DecidedLabel("b.png", "sky", False), DecidedLabel("a.png", "sky", True)]
    return Collection({"pictures": NAMES}, tags, names=NAMES, decided=decided)


@pytest.fixture
def write(tmp_path):
    def write(*lines, header="image,tags"):
        path = tmp_path / "audit.csv"
        path.write_text("\n".join([header, *lines, ""]))
        return path

    return write


def test_the_order_is_random_and_always_the_same():
    names = [f"photo {i}.jpg" for i in range(2000)]
    order = audit_order(names)
    assert sorted(order) == list(range(2000))
    np.testing.assert_array_equal(order, audit_order(names))
    # names that come or go do not change the order of the others
    fewer = [names[i] for i in audit_order(names[:1000])]
    assert fewer == [names[i] for i in order if i < 1000]
    # the first ones are a fair sample: of halves and of every tenth
    assert abs(np.mean(order[:400] < 1000) - 0.5) < 0.08
    assert abs(np.mean(order[:400] % 10 == 0) - 0.1) < 0.05


def test_the_order_is_that_of_all_versions():
    # it is stored nowhere: another order would be another sample
    assert [NAMES[i] for i in audit_order(NAMES)] == ["d.png", "a.png", "c.png", "b.png"]


def test_names_that_are_no_text_of_the_system_have_a_place_too():
    assert sorted(audit_order(["\udc80.png", "ä", ""])) == [0, 1, 2]


def test_a_row_has_exactly_the_tags_of_the_list(collection, write):
    with pytest.warns(UserWarning, match="'boat' is a new tag"):
        audited = with_audited(collection, write("a.png,sky|boat", "b.png,sea|sky"))
    assert audited.tags == ["sea", "sky", "boat"] or audited.tags == ["sky", "sea", "boat"]
    states = dict(zip(NAMES, audited.states().tolist(), strict=True))
    column = {tag: j for j, tag in enumerate(audited.tags)}
    assert [states["a.png"][column[tag]] for tag in ("sky", "sea", "boat")] == [1, -1, 1]
    assert [states["d.png"][column[tag]] for tag in ("sky", "sea", "boat")] == [1, -1, -1]
    assert set(states["c.png"]) == {0}
    assert audited.audited == ["a.png", "b.png"]
    assert audited.audited_mask().tolist() == [True, True, False, False]
    # new or wrong in a; in b nothing is new, but sky was found at the desk and not listed
    assert set(audited.decided) == {
        DecidedLabel("a.png", "boat", False),
        DecidedLabel("a.png", "sea", False),
        DecidedLabel("b.png", "sky", False),
    }


def test_what_listed_nothing_is_known_and_no_part_of_the_audit(collection, write):
    audited = with_audited(collection, write("c.png,sea", "d.png,"))
    assert audited.audited == ["d.png"]
    states = dict(zip(NAMES, audited.states().tolist(), strict=True))
    assert sorted(states["c.png"]) == [-1, 1]
    assert set(states["d.png"]) == {-1}
    assert audited.subset([0, 3]).audited == ["d.png"]


def test_new_tags_are_taken_and_told(collection, write):
    with pytest.warns(UserWarning, match="'skyy' is a new tag.*did you mean 'sky'"):
        audited = with_audited(collection, write("a.png,skyy"))
    assert audited.tags[-1] == "skyy"


def test_rows_without_names_are_called_by_their_numbers(write):
    rows = Collection({"features": np.eye(3)}, np.eye(3), ["x", "y", "z"])
    audited = with_audited(rows, write("row 1,x|y", header="name,tags"))
    assert audited.audited == ["row 1"]
    np.testing.assert_array_equal(audited.states()[1], [1, 1, -1])
    named = with_row_names(audited)
    assert named is audited


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ((), "names no picture"),
        (("z.png,sky",), "that the data do not have: 'z.png'"),
        (("a.png,sky", "a.png,sea"), "names some pictures twice, such as 'a.png'"),
    ],
)
def test_lists_that_cannot_be_meant_are_refused(collection, write, lines, message):
    with pytest.raises(FileError, match=message):
        with_audited(collection, write(*lines))


def test_a_list_needs_its_columns_and_may_have_another_separator(write):
    with pytest.raises(FileError, match="expected the columns 'image'"):
        read_audit_list(write("a.png,1", header="image,width"))
    assert read_audit_list(write("a.png,sky+sea"), separator="+") == {"a.png": ["sky", "sea"]}

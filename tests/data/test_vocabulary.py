"""Changes of tags become one vocabulary; whatever a foreign one holds, this neither hangs nor recurses."""

import random

import pytest

from tagrank.data.vocabulary import (
    DELETE,
    DESCRIBE,
    MOST_CHANGES,
    NO_PARENT,
    PARENT,
    RESTORE,
    SYNONYM,
    TagChange,
    TagVocabulary,
    fold,
    name_circle,
)
from tagrank.errors import ArgumentError

WORDS = "abcdefg"


def changes_of(text):
    """`"a = b, c < d"` as changes: a synonym and a parent."""
    kinds = {"=": SYNONYM, "<": PARENT, "</": NO_PARENT}
    return [TagChange(kinds[sign], tag, other) for tag, sign, other in map(str.split, text.split(", "))]


def test_a_tag_that_becomes_a_synonym_takes_its_synonyms_and_parents_along():
    found = fold(
        changes_of("auto = automobile, automobile < vehicle, automobile = car, jet < plane, plane < vehicle")
    )
    assert found.synonyms == {"auto": "car", "automobile": "car"}
    assert found.parents == {"car": ("vehicle",), "jet": ("plane",), "plane": ("vehicle",)}
    assert found.above["jet"] == {"plane", "vehicle"}
    assert found.below("vehicle") == {"car", "jet", "plane"}
    assert found.words("car") == ["auto", "automobile"]
    assert found.names(["auto", "jet"]) == ["car", "vehicle", "jet", "plane"]


def test_a_name_that_comes_back_is_the_name_again():
    assert fold(changes_of("car = automobile, automobile = car")).synonyms == {"automobile": "car"}


def test_a_synonym_moves_alone():
    found = fold(changes_of("jaguar = car, beetle = car, jaguar = cat"))
    assert found.synonyms == {"jaguar": "cat", "beetle": "car"}
    assert fold([*changes_of("jaguar = car"), TagChange(SYNONYM, "jaguar")]).is_plain


def test_the_last_word_about_a_parent_holds_whatever_it_was_called():
    assert not fold(changes_of("automobile < vehicle, automobile = car, car </ vehicle")).parents
    assert fold(changes_of("car </ vehicle, automobile < vehicle, automobile = car")).parents


def test_files_are_older_than_every_change():
    listed = [("rome", "europe"), ("rome", "italy")]
    found = fold(changes_of("rome </ europe"), listed)
    assert found.parents == {"rome": ("italy",)}


def test_what_is_deleted_comes_back():
    deleted = TagChange(DELETE, "sky")
    assert fold([deleted]).deleted == {"sky"}
    assert fold([deleted, TagChange(RESTORE, "sky")]) == TagVocabulary()
    assert not fold([deleted, *changes_of("sky = heaven")]).deleted
    assert fold([deleted, *changes_of("heaven = sky")]).names(["heaven", "sea"]) == ["sea"]


def test_a_text_follows_its_tag():
    changes = [TagChange(DESCRIBE, "automobile", "four wheels"), *changes_of("automobile = car")]
    assert fold(changes).descriptions == {"car": "four wheels"}
    assert (
        fold([*changes, TagChange(DESCRIBE, "car", "with an engine")]).descriptions["car"] == "with an engine"
    )
    assert not fold([*changes[:1], TagChange(DESCRIBE, "automobile", "")]).descriptions


def test_parents_in_a_circle_do_not_count_and_are_told():
    found = fold(changes_of("jet < plane, plane < vehicle, vehicle < jet, car < vehicle"))
    assert found.circles == (("jet", "plane", "vehicle"),)
    assert found.parents == {"car": ("vehicle",)}
    assert name_circle([("jet", "plane"), ("plane", "jet")], ("jet", "plane")) == ["jet", "plane", "jet"]


def random_changes(generator, n_changes):
    kinds = (SYNONYM, SYNONYM, PARENT, PARENT, PARENT, NO_PARENT, DELETE, RESTORE, DESCRIBE)
    changes = []
    while len(changes) < n_changes:
        kind, tag, other = generator.choice(kinds), generator.choice(WORDS), generator.choice(WORDS)
        if tag != other:
            changes.append(TagChange(kind, tag, "" if kind in (DELETE, RESTORE) else other))
    return changes


def slow_fold(changes):
    """The same, word by word, with sets that are searched again and again."""
    groups = {word: ({word}, word) for word in WORDS}

    def find(word):
        return next(name for name, (members, _) in groups.items() if word in members)

    for kind, tag, other in changes:
        if kind != SYNONYM:
            continue
        mine, others = find(tag), find(other)
        if mine == others:
            if groups[mine][1] == tag:
                groups[mine] = groups[mine][0], other
        elif groups[mine][1] == tag:
            members, _ = groups.pop(mine)
            groups[others] = groups[others][0] | members, groups[others][1]
        else:
            groups[mine] = groups[mine][0] - {tag}, groups[mine][1]
            groups[others] = groups[others][0] | {tag}, groups[others][1]
    name = {word: label for members, label in groups.values() for word in members}
    edges = set()
    said = {}
    for kind, tag, other in changes:
        if kind in (PARENT, NO_PARENT):
            said.pop((tag, other), None)
            said[tag, other] = kind == PARENT
    for (tag, other), holds in said.items():
        edges.add((name[tag], name[other])) if holds else edges.discard((name[tag], name[other]))
    reach = {(tag, other) for tag, other in edges if tag != other}
    for _ in WORDS:
        reach |= {(a, d) for a, b in reach for c, d in reach if b == c}
    kept = {(tag, other) for tag, other in edges if tag != other and (other, tag) not in reach}
    above = set(kept)
    for _ in WORDS:
        above |= {(a, d) for a, b in above for c, d in above if b == c}
    return name, kept, above, {tag for tag, other in reach if tag == other}


@pytest.mark.parametrize("seed", range(60))
def test_the_fold_is_that_of_a_slow_one(seed):
    changes = random_changes(random.Random(seed), 25)
    found, (name, edges, above, circular) = fold(changes), slow_fold(changes)
    assert {word: found.name(word) for word in WORDS} == name
    assert {(tag, other) for tag, parents in found.parents.items() for other in parents} == edges
    assert {(tag, other) for tag, others in found.above.items() for other in others} == above
    assert {tag for circle in found.circles for tag in circle} == circular


@pytest.mark.parametrize("seed", range(20))
def test_the_order_of_what_was_said_of_different_parents_does_not_matter(seed):
    generator = random.Random(seed)
    pairs = [(tag, other) for tag in WORDS for other in WORDS if tag != other]
    changes = [TagChange(PARENT, *pair) for pair in generator.sample(pairs, 10)]
    once = fold(changes)
    generator.shuffle(changes)
    assert fold(changes) == once


def test_a_loop_of_synonyms_and_a_circle_of_parents_end():
    numbers = range(MOST_CHANGES)
    ring = [(f"t{number}", f"t{(number + 1) % MOST_CHANGES}") for number in numbers]
    assert len(fold(TagChange(SYNONYM, *pair) for pair in ring).synonyms) == MOST_CHANGES - 1
    assert len(fold(TagChange(PARENT, *pair) for pair in ring).circles[0]) == MOST_CHANGES


@pytest.mark.parametrize("is_reversed", [False, True])
def test_a_chain_that_is_too_long_is_refused(is_reversed):
    chain = [TagChange(PARENT, f"t{number}", f"t{number + 1}") for number in range(MOST_CHANGES)]
    with pytest.raises(ArgumentError, match="at most 1,000,000 pairs"):
        fold(chain[::-1] if is_reversed else chain)


def test_many_children_of_many_parents_are_refused():
    half = MOST_CHANGES // 2
    changes = [TagChange(PARENT, f"child{number}", "hub") for number in range(half)]
    with pytest.raises(ArgumentError, match="pairs"):
        fold([*changes, *(TagChange(PARENT, "hub", f"parent{number}") for number in range(half))])


def test_too_many_changes_and_unknown_ones_are_refused():
    with pytest.raises(ArgumentError, match="at most 100,000"):
        fold(TagChange(DESCRIBE, "sky", "") for _ in range(MOST_CHANGES + 1))
    with pytest.raises(ArgumentError, match="one of synonym"):
        fold([TagChange("format the disk", "sky")])

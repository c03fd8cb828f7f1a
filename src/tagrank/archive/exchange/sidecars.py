"""Tags go into the XMP sidecars beside pictures, where photo programs read them, and out of them again."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tagrank.annotation.bank.picture_keys import content_key, file_state
from tagrank.archive.archive import Archive
from tagrank.archive.records import PictureTags
from tagrank.data.picture_folder import check_no_link
from tagrank.data.writers.originals import prune_originals
from tagrank.data.writers.sidecar_tags import SidecarChange, write_present_tags
from tagrank.files import FileError
from tagrank.problems import Problem, ProblemLog
from tagrank.progress import Progress


@dataclass(frozen=True)
class SidecarExport:
    """What was written into sidecars, or would be.

    Attributes
    ----------
    changes : one for each sidecar that is made, changed or deleted, with the tags that come and go
    problems : pictures whose sidecars could not be written, and why
    n_pictures : how many have accepted tags
    dry_run : whether nothing was written
    """

    changes: Sequence[SidecarChange]
    problems: Sequence[Problem]
    n_pictures: int
    dry_run: bool

    @property
    def n_added(self) -> int:
        """How many tags come."""
        return sum(len(change.tags) for change in self.changes)

    @property
    def n_removed(self) -> int:
        """How many tags go."""
        return sum(len(change.removed) for change in self.changes)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "dry_run": self.dry_run,
            "pictures": self.n_pictures,
            "added": self.n_added,
            "removed": self.n_removed,
            "changes": [change.to_dict() for change in self.changes],
            "problems": [vars(problem) for problem in self.problems],
        }


def export_sidecars(
    archive: Archive,
    *,
    style: str = "full",
    dry_run: bool = False,
    follow_links: bool = False,
    progress: Progress | None = None,
) -> SidecarExport:
    """Bring the tags of every picture with an accepted one into its sidecar; each is whole, old or new.

    A sidecar gets all present tags of its picture. What it holds stays; tags that the picture has, inside
    too, are not added again; an accepted tag that a machine had made counts as a person's from now on. Tags
    that are not present any more go, as far as tagrank wrote them.

    Parameters
    ----------
    archive : may be open for reading only
    style : {"full", "stem"}, what new sidecars are called, see `write_sidecar`
    dry_run : only tell what would be written
    follow_links : also write behind links to folders
    progress : called with how many pictures are done, how many there are, and what is being done
    """
    vocabulary = archive.vocabulary()
    paths = {tag: vocabulary.path(tag) for tag in vocabulary.parents}
    decided = [picture for picture in archive.picture_tags() if picture.was_decided]
    changes, problems = list[SidecarChange](), ProblemLog()
    for number, picture in enumerate(decided, 1):
        path = archive.folder / picture.name
        try:
            if not follow_links:
                check_no_link(archive.folder, picture.name)
            _check_same(path, picture)
            change = write_present_tags(
                path,
                picture.present,
                accepted=picture.accepted,
                unlisted=picture.unlisted,
                rejected=picture.rejected,
                paths=paths,
                style=style,
                dry_run=dry_run,
            )
        except (FileError, OSError) as error:
            problems.add_error(path, error)
        else:
            if change.action != "keep":
                changes.append(change)
        if progress is not None:
            progress(number, len(decided), "writing sidecars")
    if not dry_run:
        prune_originals()
    n_pictures = sum(bool(picture.accepted) for picture in decided)
    return SidecarExport(changes, problems.listed(), n_pictures, dry_run)


def _check_same(path: Path, picture: PictureTags) -> None:
    """Raise where another picture has the name meanwhile: the tags are not about that one."""
    try:
        is_same = file_state(str(path)) == picture.file_state or content_key(path) == picture.key
    except FileNotFoundError:
        raise FileError(path, "is not there any more; let 'tagrank desk' look at the folder again") from None
    if not is_same:
        raise FileError(path, "has another content than before; let 'tagrank desk' look at the folder again")

"""`tagrank desk`"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tagrank.app.cli.access import hash_of, meet_archive, take_password
from tagrank.app.cli.console import say, show
from tagrank.app.cli.network import LOCAL, NETWORK, Network, check_encryption, check_proxies, need_web
from tagrank.app.cli.progress import WorkProgress
from tagrank.commands.options import CACHE, DECISION_FILE, FEATURES, PHOTOS, PICTURE_JOBS
from tagrank.commands.tables import counted
from tagrank.data.reading import Reading
from tagrank.options import Option

if TYPE_CHECKING:
    from tagrank.app.web.protection.security import Security

USUAL_PORT = 8477
PEOPLE = "For several people"
DEMO_FOLDER = Path("tagrank-desk")
PASSWORD = "password"


def desk(
    photos: Annotated[Path | None, PHOTOS] = None,
    *,
    demo: Annotated[bool, Option()] = False,
    decisions: Annotated[Path | None, DECISION_FILE] = None,
    moved: Annotated[bool, Option()] = False,
    no_browser: Annotated[bool, Option()] = False,
    name: Annotated[str | None, Option(usual="your login name")] = None,
    train_after: Annotated[int, Option(low=0)] = 50,
    features: Annotated[Sequence[str] | None, FEATURES] = None,
    reading: Annotated[Reading, Option(fields=("separator", "follow_links"))] = Reading(),
    cache: Annotated[bool | Path, CACHE] = True,
    n_jobs: Annotated[int | None, PICTURE_JOBS] = None,
    host: Annotated[str | None, Option(PEOPLE, metavar="ADDRESS", usual="only this machine")] = None,
    password_file: Annotated[Path | None, Option(PEOPLE, metavar="FILE")] = None,
    new_password: Annotated[bool, Option(PEOPLE)] = False,
    port: Annotated[
        int | None, Option(NETWORK, usual=f"{USUAL_PORT}, or the next free one", low=0, high=65535)
    ] = None,
    network: Network = Network(),
) -> None:
    """Open the desk: accept and reject tags in the browser while the model learns from you.

    Decisions are saved in one file inside the folder; models, password and sign-ins are saved in your own
    folder for program data. The pictures never change.

    Parameters
    ----------
    photos : a folder of pictures
    demo : draw pictures into tagrank-desk/, hide half of their tags, and open that folder
    decisions : file for the decisions
    moved : use the models and the password of an archive that was moved or renamed
    no_browser : print the address, but do not open a browser
    name : name to record your decisions under
    train_after : retrain the model after this many decisions; 0 to retrain only on request
    host : listen on this address of the machine, 0.0.0.0 for all; people sign in with a name and the password
    password_file : file with the shared password on its first line; without it, the password is that of
        TAGRANK_PASSWORD, or you are asked for one the first time
    new_password : ask for a new password; everyone must sign in again
    reading : how to read the folder
    port : port to listen on
    network : how the desk is reached
    features, cache : as in `train`
    n_jobs : number of processes that describe pictures

    Command line
    ------------
    tagrank desk photos/
    tagrank desk --demo
    tagrank desk /mnt/archive --decisions ~/archive.sqlite --name anna
    tagrank desk photos/ --host 0.0.0.0 --certificate desk.pem --key desk.key
    tagrank desk photos/ --port 9000 --no-browser --train-after 200
    """
    need_web()
    folder = _given_folder(photos, demo)
    is_encrypted = check_encryption(network.certificate, network.key, host or LOCAL)
    proxies = check_proxies(network.proxy)
    if host is None and (password_file is not None or new_password):
        raise typer.BadParameter("only a desk for several people has a password; add --host ADDRESS")
    from tagrank.app.web.application import desk_app
    from tagrank.app.web.protection.guard import HostNames
    from tagrank.app.web.serving import address, listen, serve
    from tagrank.archive import database_path
    from tagrank.desk.desk import Desk

    _check_pictures(folder, database_path(folder, decisions))
    own = meet_archive(folder, decisions, moved=moved)
    hosts = HostNames(host or LOCAL, network.allowed_host)
    if host is None:
        protect = _with_token(hosts, name)
    else:
        protect = _with_password(hosts, own, password_file, new_password)
    with (
        listen(host or LOCAL, USUAL_PORT if port is None else port, may_move=port is None) as listener,
        _open(
            Desk,
            folder,
            database=decisions,
            features=features,
            train_after=train_after,
            cache=cache,
            n_jobs=n_jobs,
            separator=reading.separator,
            follow_links=reading.follow_links,
            only_inside=host is not None,
        ) as opened,
    ):
        if kind := opened.archive.network_kind:
            say(
                f"decisions are on a network drive ({kind}), so SQLite uses a rollback journal: slow but safe"
            )
        security = protect(opened.archive)
        security.port, security.is_encrypted = listener.getsockname()[1], is_encrypted
        place = address(listener, is_encrypted=is_encrypted)
        opened.archive.own.write_address(place)
        if security.token is not None:
            place += f"/?token={security.token}"

        def ready() -> None:
            show(f"The desk is open at {place}")
            say("Press Ctrl-C to close it. Every decision is saved at once.")
            if not no_browser:
                _open_browser(place)

        app = desk_app(opened, security)
        certificate, key = network.certificate, network.key
        serve(app, listener, certificate=certificate, key=key, proxies=proxies, on_ready=ready)
        say(f"the desk is closed; {counted(opened.archive.n_decisions(), 'decision')} saved")
        if model := opened.learning.model_path():
            say(f"its model is in {model}, ready for 'tagrank annotate'")


def _given_folder(photos: Path | None, demo: bool) -> Path:
    if (photos is None) != demo:
        raise typer.BadParameter("expected a folder of pictures, or --demo for drawn pictures")
    if photos is not None:
        return photos
    if not DEMO_FOLDER.exists():
        from tagrank.commands.demo import draw_archive

        say(f"drawing pictures into {DEMO_FOLDER}/")
        draw_archive(DEMO_FOLDER)
    return DEMO_FOLDER


def _check_pictures(folder: Path, database: Path) -> None:
    """Leave nothing in a folder that was not meant: before the first time there must be pictures."""
    from tagrank.data.picture_folder import PictureFolder
    from tagrank.files import FileError, ProblemLog

    if not database.exists() and not PictureFolder(folder, ProblemLog()).pictures:
        raise FileError(
            folder, "has no pictures; expected files such as JPEG, PNG, TIFF, WebP, AVIF, HEIC or raw"
        )


def _open(desk: Any, folder: Path, **options: Any) -> Any:
    with WorkProgress() as progress:
        return desk.open(folder, progress=progress.count, **options)


def _with_token(hosts: Any, name: str | None) -> "Callable[[Any], Security]":
    """For this machine alone: whoever has the token is the one person."""
    import getpass
    import secrets

    from tagrank.app.web.protection.security import Security, check_name
    from tagrank.app.web.protection.sessions import SessionMemory, Sessions

    person, token = check_name(name if name is not None else getpass.getuser()), secrets.token_urlsafe(24)
    return lambda archive: Security(hosts, Sessions(SessionMemory()), person=person, token=token)


def _with_password(
    hosts: Any, own: Path | None, given: Path | None, is_new: bool
) -> "Callable[[Any], Security]":
    """For several people: asked before the folder is looked at, stored once the archive is open."""
    from tagrank.app.web.protection.passwords import PasswordFile
    from tagrank.app.web.protection.security import Security
    from tagrank.app.web.protection.sessions import SessionFile, Sessions, read_secret

    before = None if own is None else PasswordFile(own / PASSWORD).read()
    stored = hash_of(take_password(before, given, wants_new=is_new), before)

    def protect(archive: Any) -> Security:
        place = archive.own.folder
        if stored != before:
            PasswordFile(place / PASSWORD).write(stored)
        sessions = Sessions(SessionFile(place / "sessions.json"), read_secret(place / "secret") + stored)
        return Security(hosts, sessions, password=stored)

    return protect


def _open_browser(place: str) -> None:
    """Show the desk, if there is more than a browser that would take the terminal."""
    import threading
    import webbrowser

    try:
        is_graphical = type(webbrowser.get()) is not webbrowser.GenericBrowser
    except webbrowser.Error:
        is_graphical = False
    if is_graphical:
        threading.Thread(target=webbrowser.open, args=[place], daemon=True).start()

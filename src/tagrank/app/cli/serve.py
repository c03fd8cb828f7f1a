"""`tagrank serve`"""

from pathlib import Path
from typing import Annotated

from tagrank.app.cli.arguments.network import (
    LOCAL,
    NETWORK,
    AllowedHost,
    Certificate,
    Key,
    Proxy,
    check_encryption,
    check_proxies,
    need_web,
)
from tagrank.app.cli.arguments.options import PICTURES, Config, Debug, Model, option
from tagrank.app.cli.terminal.console import say, show

USUAL_PORT = 8478
SHORTEST_TOKEN = 16


def serve(
    model: Model,
    root: Annotated[
        Path | None,
        option(
            PICTURES, "Programs may name pictures below this folder by path.", metavar="FOLDER", usual="none"
        ),
    ] = None,
    max_megabytes: Annotated[int, option(PICTURES, "Of one upload.", min=1, max=4096)] = 64,
    workers: Annotated[int, option(PICTURES, "Processes that look at pictures.", min=1, max=64)] = 1,
    token_file: Annotated[
        Path | None,
        option(
            NETWORK,
            f"First line: the token that programs send, of at least {SHORTEST_TOKEN} characters.",
            metavar="FILE",
            usual="a new one is printed",
        ),
    ] = None,
    host: Annotated[
        str, option(NETWORK, "Address to listen on, 0.0.0.0 for all of this machine.", metavar="ADDRESS")
    ] = LOCAL,
    port: Annotated[
        int | None,
        option(NETWORK, "Where to listen.", usual=f"{USUAL_PORT}, or the next free one", min=0, max=65535),
    ] = None,
    allowed_host: AllowedHost = None,
    proxy: Proxy = None,
    certificate: Certificate = None,
    key: Key = None,
    config: Config = None,
    debug: Debug = False,
) -> None:
    """Answer programs over HTTP: tags for pictures, and why.

    The address /openapi.json describes all requests.

    [bold]Examples[/bold]

    \b
    tagrank serve model
    tagrank serve model --root photos/ --token-file token.txt
    tagrank serve model --host 0.0.0.0 --certificate cert.pem --key key.pem --workers 4
    """
    need_web()
    is_encrypted, proxies = check_encryption(certificate, key, host), check_proxies(proxy)
    token = _token(token_file)
    from tagrank.app.web.model_workers import ModelWorkers
    from tagrank.app.web.protection.guard import HostNames
    from tagrank.app.web.service import Root, service_app
    from tagrank.app.web.serving import address, listen
    from tagrank.app.web.serving import serve as run

    below = None if root is None else Root(root)
    with listen(host, USUAL_PORT if port is None else port, may_move=port is None) as listener:
        pool = ModelWorkers(model, n_workers=workers)
        try:
            app = service_app(
                pool,
                token=token,
                hosts=HostNames(host, allowed_host or ()),
                root=below,
                max_bytes=max_megabytes * 2**20,
            )

            def ready() -> None:
                show(f"The service answers at {address(listener, is_encrypted=is_encrypted)}")
                if token_file is None:
                    show(f"Authorization: Bearer {token}")
                say("Ctrl-C ends it")

            run(app, listener, certificate=certificate, key=key, proxies=proxies, on_ready=ready)
        finally:
            pool.close()


def _token(path: Path | None) -> str:
    """The token of a file, or a new one."""
    import secrets

    from tagrank.errors import ArgumentError
    from tagrank.files import open_text

    if path is None:
        return secrets.token_urlsafe(24)
    with open_text(path, max_bytes=2**16) as stream:
        token = stream.readline().strip()
    if len(token) < SHORTEST_TOKEN or not token.isascii() or not token.isprintable():
        raise ArgumentError(
            f"token_file {path} must begin with a line of at least {SHORTEST_TOKEN} plain characters"
        )
    return token

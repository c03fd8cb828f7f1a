"""`tagrank serve`"""

from pathlib import Path
from typing import Annotated

from tagrank.app.cli.console import say, show
from tagrank.app.cli.network import LOCAL, NETWORK, Network, check_encryption, check_proxies, need_web
from tagrank.commands.options import MODEL
from tagrank.options import PICTURES, Option

USUAL_PORT = 8478
SHORTEST_TOKEN = 16


def serve(
    model: Annotated[Path, MODEL],
    *,
    root: Annotated[Path | None, Option(PICTURES, metavar="FOLDER", usual="none")] = None,
    max_megabytes: Annotated[int, Option(PICTURES, low=1, high=4096)] = 64,
    workers: Annotated[int, Option(PICTURES, low=1, high=64)] = 1,
    token_file: Annotated[Path | None, Option(NETWORK, metavar="FILE", usual="a new one is printed")] = None,
    host: Annotated[str, Option(NETWORK, metavar="ADDRESS")] = LOCAL,
    port: Annotated[
        int | None, Option(NETWORK, usual=f"{USUAL_PORT}, or the next free one", low=0, high=65535)
    ] = None,
    network: Network = Network(),
) -> None:
    """Serve a model to programs over HTTP: tags for pictures, and the reasons.

    All requests are documented at /openapi.json.

    Parameters
    ----------
    model : folder of a model that 'tagrank train' wrote
    root : let programs name pictures in this folder by path
    max_megabytes : maximum size of an upload, in megabytes
    workers : number of processes that describe pictures
    token_file : file with the token that programs send, at least 16 characters, on its first line
    host : address to listen on, 0.0.0.0 for all addresses of this machine
    port : port to listen on
    network : how the service is reached

    Command line
    ------------
    tagrank serve model
    tagrank serve model --root photos/ --token-file token.txt
    tagrank serve model --host 0.0.0.0 --certificate cert.pem --key key.pem --workers 4
    """
    need_web()
    is_encrypted, proxies = (
        check_encryption(network.certificate, network.key, host),
        check_proxies(network.proxy),
    )
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
                hosts=HostNames(host, network.allowed_host),
                root=below,
                max_bytes=max_megabytes * 2**20,
            )

            def ready() -> None:
                show(f"The service is running at {address(listener, is_encrypted=is_encrypted)}")
                if token_file is None:
                    show(f"Authorization: Bearer {token}")
                say("Press Ctrl-C to stop it.")

            certificate, key = network.certificate, network.key
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
            f"the first line of token_file {path} must have at least {SHORTEST_TOKEN} ASCII characters"
        )
    return token
